//! An operation as programs read it. The names are stable.

use countersign_canonical::{Object, Value};
use countersign_contract::{CheckedAnswer, UtcSecond};
use countersign_ledger::{
    Attempt, AuditEntry, Moment, Note, OperationDetail, Proof, Record, Ruling, State,
    not_started_name, unknown_name,
};
use countersign_policy::ApprovalEvidence;

/// What a list says of an operation.
pub(crate) fn summary(record: &Record) -> Value {
    summary_members(record).into()
}

/// All that is known of an operation.
pub(crate) fn detail(detail: &OperationDetail, trail: &[AuditEntry]) -> Value {
    let OperationDetail {
        record,
        proposal,
        answer,
    } = detail;
    let mut object = summary_members(record);
    let trail = trail.iter().map(|entry| entry.value.clone()).collect();
    let members = [
        ("schema", "countersign-operation-v1".into()),
        ("request_sha256", record.terms.request.to_string().into()),
        ("timeout_ms", milliseconds(record.timeout)),
        (
            "downstream_memory_seconds",
            record
                .downstream_memory
                .map_or(Value::Null, |memory| number(memory.as_secs())),
        ),
        ("was_unknown", record.was_unknown.into()),
        ("principal", proposal.principal.to_value()),
        ("call", proposal.call.to_value()),
        ("contract", proposal.contract.to_value()),
        ("answer", answer.as_ref().map_or(Value::Null, receipt)),
        ("audit", Value::Array(trail)),
    ];
    for (name, value) in members {
        object.insert(name.to_owned(), value);
    }
    object.into()
}

fn summary_members(record: &Record) -> Object {
    let scope = &record.scope;
    Object::from([
        ("status_ref", record.terms.status_ref.to_string().into()),
        ("state", record.kind().as_str().into()),
        ("details", details(&record.state)),
        ("tool", scope.tool.as_str().into()),
        ("tenant_id", scope.tenant_id.as_str().into()),
        ("subject_id", scope.subject_id.as_str().into()),
        ("idempotency_key", scope.key.as_str().into()),
        ("opened_at", time(record.opened_at)),
        ("changed_at", time(record.changed_at)),
        ("due_at", optional(record.due_at.map(time))),
        ("attempts", number(record.fence)),
        ("visits", number(record.visits.into())),
        ("is_dead_letter", record.is_dead_letter.into()),
    ])
}

/// What belongs to the state.
fn details(state: &State) -> Value {
    match state {
        State::AwaitingApproval { until } | State::Expired { until } => {
            Value::from([("until", time(*until))])
        }
        State::Denied { by, reason, until } => Value::from([
            ("by", by.as_str().into()),
            (
                "reason",
                optional(reason.as_ref().map(|reason| Note::as_str(reason).into())),
            ),
            ("until", time(*until)),
        ]),
        State::Reserved { approval, until } => {
            Value::from([("approval", evidence(approval)), ("until", time(*until))])
        }
        State::Executing(attempt) => Value::from([("attempt", attempted(attempt))]),
        State::Blocked { cause } => Value::from([("cause", cause.as_str().into())]),
        State::Failed { cause } => Value::from([("cause", not_started_name(*cause).into())]),
        State::Unknown { attempt, cause } => Value::from([
            ("attempt", attempted(attempt)),
            ("cause", unknown_name(*cause).into()),
        ]),
        State::Succeeded {
            proof,
            is_acknowledged,
        } => Value::from([
            ("proof", proof_name(*proof).into()),
            ("is_acknowledged", (*is_acknowledged).into()),
        ]),
        State::ResolvedCommitted { ruling, has_answer } => Value::from([
            ("ruling", ruled(ruling)),
            ("has_answer", (*has_answer).into()),
        ]),
        State::ResolvedNotExecuted { ruling } => Value::from([("ruling", ruled(ruling))]),
    }
}

fn evidence(approval: &ApprovalEvidence) -> Value {
    Value::from([
        ("approval_id", approval.approval_id.as_str().into()),
        ("approver_id", approval.approver.as_str().into()),
        ("expires_at", second(approval.expires_at)),
        ("sha256", approval.digest.to_string().into()),
    ])
}

fn attempted(attempt: &Attempt) -> Value {
    Value::from([
        ("approval", evidence(&attempt.approval)),
        ("first_sent_at", time(attempt.first_sent)),
        ("holder", attempt.holder.as_str().into()),
        ("over_at", time(attempt.over_at)),
    ])
}

fn ruled(ruling: &Ruling) -> Value {
    Value::from([
        ("at", time(ruling.at)),
        ("by", ruling.by.as_str().into()),
        ("note", ruling.note.as_str().into()),
    ])
}

pub(crate) fn proof_name(proof: Proof) -> &'static str {
    match proof {
        Proof::Answer => "answer",
        Proof::Receipt => "receipt",
    }
}

fn receipt(answer: &CheckedAnswer) -> Value {
    let text = |text: Option<&str>| optional(text.map(Value::from));
    Value::from([
        ("data", answer.data().clone()),
        (
            "downstream_request_id",
            text(answer.downstream_request_id()),
        ),
        (
            "observed_at",
            answer.as_answer().observed_at.as_str().into(),
        ),
        ("receipt_id", text(answer.receipt_id())),
        ("resource_revision", text(answer.resource_revision())),
    ])
}

/// A moment as programs read it: the second in which it lies.
pub(crate) fn time(moment: Moment) -> Value {
    second(moment.second())
}

fn second(second: UtcSecond) -> Value {
    second.to_string().into()
}

fn milliseconds(duration: std::time::Duration) -> Value {
    number(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

fn optional(value: Option<Value>) -> Value {
    value.unwrap_or_default()
}

/// A count as programs read it.
pub(crate) fn number(number: u64) -> Value {
    Value::Number(number.into())
}
