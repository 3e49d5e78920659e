//! An operation's document, written.

use countersign_canonical::Value;
use countersign_policy::ApprovalEvidence;

use super::Record;
use crate::cause::{not_started_name, unknown_name};
use crate::document::{number, optional};
use crate::grant::revisions_value;
use crate::moment::Moment;
use crate::names::Note;
use crate::state::{Attempt, Proof, Ruling, State};
use crate::steady::SteadySpan;

pub(super) const SCHEMA: &str = "countersign-operation-v1";

pub(super) fn value(record: &Record) -> Value {
    let Record {
        scope,
        terms,
        state,
        fence,
        was_unknown,
        intent,
        downstream_memory,
        timeout,
        opened_at,
        changed_at,
        due_at,
        visits,
        is_dead_letter,
    } = record;
    let intent = intent.map(|intent| {
        Value::from([
            ("generation", number(intent.generation)),
            ("sha256", intent.digest.to_string().into()),
        ])
    });
    Value::from([
        ("schema", SCHEMA.into()),
        ("tenant_id", scope.tenant_id.as_str().into()),
        ("subject_id", scope.subject_id.as_str().into()),
        ("tool", scope.tool.as_str().into()),
        ("idempotency_key", scope.key.as_str().into()),
        ("request_sha256", terms.request.to_string().into()),
        ("provider", terms.profile.provider().into()),
        ("api_family", terms.profile.api_family().into()),
        ("revisions", revisions_value(&terms.revisions)),
        ("status_ref", terms.status_ref.to_string().into()),
        ("state", state_value(state)),
        ("fence", number(*fence)),
        ("was_unknown", (*was_unknown).into()),
        ("intent", optional(intent)),
        (
            "downstream_memory_ms",
            optional(downstream_memory.map(milliseconds)),
        ),
        ("timeout_ms", milliseconds(*timeout)),
        ("opened_at", moment(*opened_at)),
        ("changed_at", moment(*changed_at)),
        ("due_at", optional(due_at.map(moment))),
        ("visits", number(u64::from(*visits))),
        ("is_dead_letter", (*is_dead_letter).into()),
    ])
}

fn state_value(state: &State) -> Value {
    let kind = ("kind", Value::from(state.kind().as_str()));
    match state {
        State::AwaitingApproval { until } | State::Expired { until } => {
            Value::from([kind, ("until", moment(*until))])
        }
        State::Denied { by, reason, until } => Value::from([
            kind,
            ("by", by.as_str().into()),
            ("reason", optional(reason.as_ref().map(Note::as_str))),
            ("until", moment(*until)),
        ]),
        State::Reserved { approval, until } => Value::from([
            kind,
            ("approval", evidence(approval)),
            ("until", moment(*until)),
        ]),
        State::Executing(attempt) => Value::from([kind, ("attempt", attempt_value(attempt))]),
        State::Blocked { cause } => Value::from([kind, ("cause", cause.as_str().into())]),
        State::Failed { cause } => Value::from([kind, ("cause", not_started_name(*cause).into())]),
        State::Unknown { attempt, cause } => Value::from([
            kind,
            ("attempt", attempt_value(attempt)),
            ("cause", unknown_name(*cause).into()),
        ]),
        State::Succeeded {
            proof,
            is_acknowledged,
        } => Value::from([
            kind,
            ("is_acknowledged", (*is_acknowledged).into()),
            ("proof", proof_name(*proof).into()),
        ]),
        State::ResolvedCommitted { ruling, has_answer } => Value::from([
            kind,
            ("has_answer", (*has_answer).into()),
            ("ruling", ruling_value(ruling)),
        ]),
        State::ResolvedNotExecuted { ruling } => {
            Value::from([kind, ("ruling", ruling_value(ruling))])
        }
    }
}

pub(super) fn proof_name(proof: Proof) -> &'static str {
    match proof {
        Proof::Answer => "answer",
        Proof::Receipt => "receipt",
    }
}

fn evidence(approval: &ApprovalEvidence) -> Value {
    Value::from([
        ("approval_id", approval.approval_id.as_str().into()),
        ("approver_id", approval.approver.as_str().into()),
        ("expires_at", number(approval.expires_at.as_unix_seconds())),
        ("sha256", approval.digest.to_string().into()),
    ])
}

fn attempt_value(attempt: &Attempt) -> Value {
    Value::from([
        ("approval", evidence(&attempt.approval)),
        ("first_sent", moment(attempt.first_sent)),
        ("holder", attempt.holder.as_str().into()),
        ("over_at", moment(attempt.over_at)),
        ("steady", optional(attempt.steady.as_ref().map(span_value))),
    ])
}

fn span_value(span: &SteadySpan) -> Value {
    Value::from([
        ("boot", span.first_sent.boot.as_str().into()),
        ("first_sent_ms", milliseconds(span.first_sent.passed)),
        ("over_at_boot", span.over_at.boot.as_str().into()),
        ("over_at_ms", milliseconds(span.over_at.passed)),
    ])
}

fn ruling_value(ruling: &Ruling) -> Value {
    Value::from([
        ("at", moment(ruling.at)),
        ("by", ruling.by.as_str().into()),
        ("note", ruling.note.as_str().into()),
    ])
}

fn moment(moment: Moment) -> Value {
    number(moment.as_milliseconds())
}

fn milliseconds(duration: std::time::Duration) -> Value {
    number(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}
