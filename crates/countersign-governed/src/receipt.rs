//! Receipts of an action, as its store holds them.

use countersign_canonical::{Digest, Utf8, Value};

use crate::digests::claimed;
use crate::fault::{FieldReason, Kind, Reason, Report};
use crate::names::ActionId;
use crate::place::Path;
use crate::scalars::{Fields, bounded_text, grammar_text};

const RECEIPT_FIELDS: [&str; 6] = [
    "evidence",
    "evidence_sha256",
    "external_id",
    "kind",
    "receipt_key",
    "status",
];
const ACTION_FIELDS: [&str; 2] = ["action_id", "payload_sha256"];
const RECEIPT_TEXT_MAX_CHARS: usize = 512;

/// What a gate must name of the action it authorizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionBinding {
    /// The action's id.
    pub action_id: ActionId,
    /// The digest of the action's payload: its envelope.
    pub payload_sha256: Digest<Utf8>,
}

impl ActionBinding {
    pub(crate) fn check(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<Self> {
        let fields = Fields::exact(value, &ACTION_FIELDS, path, report)?;
        let action_id = fields.read("action_id", path, report, |value| {
            grammar_text(value, crate::grammar::Grammar::ActionId)
        });
        let payload_sha256 = fields.read("payload_sha256", path, report, claimed);
        Some(Self {
            action_id: ActionId::parse(action_id?).ok()?,
            payload_sha256: payload_sha256?,
        })
    }
}

/// One receipt. Only its evidence's digest makes it trustworthy, and only to whoever recomputes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// The key that is unique within the action.
    pub receipt_key: String,
    /// What the receipt is of.
    pub kind: String,
    /// How it went.
    pub status: String,
    /// The other side's id for it.
    pub external_id: Option<String>,
    /// What was seen.
    pub evidence: Value,
    /// The digest of the evidence.
    pub evidence_sha256: Digest<Utf8>,
}

impl Receipt {
    pub(crate) fn check(value: &Value, path: &Path<'_>, report: &mut Report) -> Option<Self> {
        let fields = Fields::exact(value, &RECEIPT_FIELDS, path, report)?;
        let mut text = |field: &str| fields.read(field, path, report, receipt_text);
        let (receipt_key, kind, status) = (text("receipt_key"), text("kind"), text("status"));
        let external_id = fields.read("external_id", path, report, |value| {
            if value.is_null() {
                Ok(None)
            } else {
                text_of(value).map(|text| Some(text.to_owned()))
            }
        });
        let evidence_sha256 = fields.read("evidence_sha256", path, report, claimed);
        Some(Self {
            receipt_key: receipt_key?,
            kind: kind?,
            status: status?,
            external_id: external_id?,
            evidence: fields.find("evidence")?.clone(),
            evidence_sha256: evidence_sha256?,
        })
    }
}

fn receipt_text(value: &Value) -> Result<String, Reason> {
    bounded_text(value, RECEIPT_TEXT_MAX_CHARS, false).map(str::to_owned)
}

fn text_of(value: &Value) -> Result<&str, Reason> {
    value
        .as_str()
        .ok_or_else(|| FieldReason::MustBe(Kind::Text).into())
}
