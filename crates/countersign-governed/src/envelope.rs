//! The envelope: the document that carries an intent on the wire and in the store.

use countersign_canonical::{Digest, Object, Utf8, Value, digest};

use crate::catalog::{Catalog, read};
use crate::contract::{
    ACTION_SOURCE_PREFIX, ACTION_TYPE, INTENT_ENVELOPE_FIELDS, INTENT_ENVELOPE_SCHEMA,
    INTENT_MAX_BYTES,
};
use crate::fault::{Faults, FieldReason, Report};
use crate::intent::Intent;
use crate::place::Path;
use crate::scalars::{Fields, is_one, literal};

/// An intent in its envelope, as written: the payload of a stored action.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    intent: Intent,
    value: Value,
    sha256: Digest<Utf8>,
}

impl Envelope {
    /// Puts an intent into its envelope.
    pub fn build(intent: Intent) -> Self {
        let value = Value::Object(Object::from_iter([
            ("intent".to_owned(), intent.to_value()),
            ("schema".to_owned(), Value::from(INTENT_ENVELOPE_SCHEMA)),
            ("version".to_owned(), Value::from(1_i64)),
        ]));
        let sha256 = digest::<Utf8>(&value);
        Self {
            intent,
            value,
            sha256,
        }
    }

    /// Reads an envelope, or says everything that is wrong with it.
    pub fn parse(catalog: &Catalog, input: &[u8]) -> Result<Self, Faults> {
        Self::from_value(catalog, &read(input, INTENT_MAX_BYTES)?)
    }

    /// Checks an envelope that our strict parser has read.
    pub fn from_value(catalog: &Catalog, document: &Value) -> Result<Self, Faults> {
        let mut report = Report::default();
        let envelope = Self::check(catalog, document, &Path::ROOT, &mut report);
        report.finish(envelope)
    }

    pub(crate) fn check(
        catalog: &Catalog,
        document: &Value,
        path: &Path<'_>,
        report: &mut Report,
    ) -> Option<Self> {
        let fields = Fields::exact(document, &INTENT_ENVELOPE_FIELDS, path, report)?;
        fields.read("schema", path, report, |value| {
            literal(value, INTENT_ENVELOPE_SCHEMA)
        });
        fields.require("version", path, report, is_one, FieldReason::MustBeOne);
        let intent = Intent::check(
            catalog,
            fields.find("intent")?,
            &path.member("intent"),
            report,
        )?;
        Some(Self {
            intent,
            value: document.clone(),
            sha256: digest::<Utf8>(document),
        })
    }

    /// Shows the intent inside.
    pub fn intent(&self) -> &Intent {
        &self.intent
    }

    /// Shows the document as written.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Shows the digest of the document as written: the action's `payload_sha256`, also called `action_digest`.
    pub fn sha256(&self) -> Digest<Utf8> {
        self.sha256
    }

    /// Names the stored action's source for a principal. Keys are unique per source.
    pub fn action_source(principal: &str) -> String {
        format!("{ACTION_SOURCE_PREFIX}{principal}")
    }

    /// Names the stored action's type.
    pub fn action_type() -> &'static str {
        ACTION_TYPE
    }
}
