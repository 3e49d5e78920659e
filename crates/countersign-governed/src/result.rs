//! Execution results: what a host accepts as proof that the effect was performed.

use countersign_canonical::{Digest, Object, Utf8, Value, digest, digest_with};

use crate::catalog::read;
use crate::contract::{
    EFFECT_FIELDS, EFFECT_SCHEMA, EXECUTION_RESULT_FIELDS, EXECUTION_RESULT_MAX_BYTES,
    EXECUTION_RESULT_SCHEMA, GATE_CLOCK_SKEW_SECONDS, VERIFICATION_MAX_DEPTH,
    VERIFICATION_MAX_NODES, VERIFICATION_STRING_MAX_CHARS,
};
use crate::digests::{claimed, hex};
use crate::epoch::Epoch;
use crate::fault::{
    BindingReason, Faults, FieldReason, Kind, Reason, Report, TimeReason, ValueReason,
};
use crate::grammar::Grammar;
use crate::names::EffectId;
use crate::place::Path;
use crate::request::RequestBinding;
use crate::scalars::{
    Fields, NestedLimits, check_nested, grammar_text, is_longer_than, is_one, literal,
};

/// The limits of an effect's verification.
const VERIFICATION: NestedLimits = NestedLimits {
    nodes: VERIFICATION_MAX_NODES,
    depth: VERIFICATION_MAX_DEPTH,
    text: |text| {
        if is_longer_than(text, VERIFICATION_STRING_MAX_CHARS) {
            return Err(ValueReason::TooLong {
                maximum: VERIFICATION_STRING_MAX_CHARS,
            }
            .into());
        }
        if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            return Err(ValueReason::ForbiddenCharacter.into());
        }
        Ok(())
    },
    key: |key| {
        if Grammar::SafeId.matches(key) {
            Ok(())
        } else {
            Err(ValueReason::NotOfGrammar(Grammar::SafeId).into())
        }
    },
};

/// The answer of an endpoint that performed exactly what was requested.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionResult {
    // INVARIANT: the document as written, with `observed_at` as a float.
    normalized: Value,
    effect_id: EffectId,
    outcome: String,
    observed_at: Epoch,
}

impl ExecutionResult {
    /// Reads an answer of at most 16 KiB, or says everything that is wrong with it.
    pub fn parse(binding: &RequestBinding, input: &[u8], now: Epoch) -> Result<Self, Faults> {
        Self::from_value(binding, &read(input, EXECUTION_RESULT_MAX_BYTES)?, now)
    }

    /// Checks an answer that our strict parser has read.
    pub fn from_value(
        binding: &RequestBinding,
        document: &Value,
        now: Epoch,
    ) -> Result<Self, Faults> {
        let mut report = Report::default();
        let result = Self::check(binding, document, now, &Path::ROOT, &mut report);
        report.finish(result)
    }

    /// Names the effect at the endpoint.
    pub fn effect_id(&self) -> &EffectId {
        &self.effect_id
    }

    /// Shows the effect's outcome, an identifier.
    pub fn outcome(&self) -> &str {
        &self.outcome
    }

    /// Shows when the endpoint saw the effect performed.
    pub fn observed_at(&self) -> Epoch {
        self.observed_at
    }

    /// Shows the answer as it is kept, with `observed_at` as a float.
    pub fn value(&self) -> &Value {
        &self.normalized
    }

    /// Hashes the answer as it is kept.
    pub fn sha256(&self) -> Digest<Utf8> {
        digest::<Utf8>(&self.normalized)
    }

    pub(crate) fn check(
        binding: &RequestBinding,
        document: &Value,
        now: Epoch,
        path: &Path<'_>,
        report: &mut Report,
    ) -> Option<Self> {
        let fields = Fields::exact(document, &EXECUTION_RESULT_FIELDS, path, report)?;
        fields.read("schema", path, report, |value| {
            literal(value, EXECUTION_RESULT_SCHEMA)
        });
        fields.require("version", path, report, is_one, FieldReason::MustBeOne);
        fields.read("status", path, report, |value| literal(value, "completed"));
        fields.read("effect_state", path, report, |value| {
            literal(value, "performed")
        });
        for (field, expected) in [
            ("execution_digest", hex(&binding.execution_digest).as_str()),
            ("action_id", binding.action_id.as_str()),
            ("action_digest", hex(&binding.action_digest).as_str()),
            ("intent_id", binding.intent_id.as_str()),
            ("intent_digest", hex(&binding.intent_digest).as_str()),
            ("tool_name", binding.tool_name.as_str()),
        ] {
            let same = |value: &Value| value.as_str() == Some(expected);
            fields.require(
                field,
                path,
                report,
                same,
                BindingReason::Differs {
                    from: "the request",
                },
            );
        }
        let effect = fields.find("effect");
        let named = effect.and_then(|effect| check_effect(effect, &path.member("effect"), report));
        let effect_digest = fields.read("effect_digest", path, report, claimed);
        if let (Some(effect), Some(_), Some(found)) = (effect, &named, effect_digest) {
            let of = BindingReason::DigestMismatch { of: "the effect" };
            report.require(
                &path.member("effect_digest"),
                found == digest_of_effect(effect),
                of,
            );
        }
        let observed_at = fields.read("observed_at", path, report, |value| {
            Epoch::from_value(value).ok_or_else(|| Reason::from(FieldReason::MustBe(Kind::Epoch)))
        })?;
        report.require(
            &path.member("observed_at"),
            !observed_at.is_ahead_of(now, GATE_CLOCK_SKEW_SECONDS),
            TimeReason::InFuture,
        );
        let (effect_id, outcome) = named?;
        let mut normalized = document.as_object()?.clone();
        normalized.insert("observed_at".to_owned(), observed_at.to_value());
        Some(Self {
            normalized: Value::Object(normalized),
            effect_id,
            outcome,
            observed_at,
        })
    }
}

fn check_effect(
    effect: &Value,
    path: &Path<'_>,
    report: &mut Report,
) -> Option<(EffectId, String)> {
    let fields = Fields::exact(effect, &EFFECT_FIELDS, path, report)?;
    fields.read("schema", path, report, |value| {
        literal(value, EFFECT_SCHEMA)
    });
    fields.require("version", path, report, is_one, FieldReason::MustBeOne);
    let effect_id = fields.read("effect_id", path, report, |value| {
        grammar_text(value, Grammar::SafeId)
    });
    let outcome = fields.read("outcome", path, report, |value| {
        grammar_text(value, Grammar::SafeId)
    });
    if let Some(verification) = fields.find("verification") {
        let path = path.member("verification");
        if verification.as_object().is_some() {
            check_nested(verification, VERIFICATION, &path, report);
        } else {
            report.add(&path, FieldReason::MustBe(Kind::Object));
        }
    }
    Some((EffectId::parse(effect_id?).ok()?, outcome?.to_owned()))
}

/// Hashes an effect with the literal version 1, however its version was written.
fn digest_of_effect(effect: &Value) -> Digest<Utf8> {
    digest_with::<Utf8>(|encoder| {
        encoder.begin_object();
        for (name, value) in effect.as_object().into_iter().flat_map(Object::iter) {
            encoder.key(name);
            if name == "version" {
                encoder.integer(1);
            } else {
                encoder.value(value);
            }
        }
        encoder.end_object();
    })
}
