//! An operation's document, read. What is not as `encode` writes it is damage.

use std::time::Duration;

use countersign_canonical::Value;
use countersign_contract::{
    ApprovalDigest, ApprovalId, ApproverId, ErrorCode, IdempotencyKey, IntentDigest, Profile,
    RequestDigest, Scope, StatusRef, SubjectId, TenantId, ToolName, UtcSecond,
};
use countersign_dispatch::{Intent, Terms};
use countersign_policy::ApprovalEvidence;

use super::Record;
use super::encode::{SCHEMA, proof_name};
use crate::cause::{parse_not_started, parse_unknown};
use crate::document::{Members, read_number};
use crate::grant::read_revisions;
use crate::moment::Moment;
use crate::names::{BootId, InstanceId, Note};
use crate::state::{Attempt, Proof, Ruling, State, StateKind};
use crate::steady::{Steady, SteadySpan};

pub(super) fn record(members: Members<'_>) -> Option<Record> {
    if members.text("schema")? != SCHEMA {
        return None;
    }
    let scope = Scope {
        tenant_id: TenantId::new(members.text("tenant_id")?).ok()?,
        subject_id: SubjectId::new(members.text("subject_id")?).ok()?,
        tool: ToolName::new(members.text("tool")?).ok()?,
        key: IdempotencyKey::new(members.text("idempotency_key")?).ok()?,
    };
    let terms = Terms {
        request: RequestDigest::parse_hex(members.text("request_sha256")?)?,
        profile: Profile::find(members.text("provider")?, members.text("api_family")?)?,
        revisions: read_revisions(members.members("revisions")?)?,
        status_ref: StatusRef::parse(members.text("status_ref")?)?,
    };
    Some(Record {
        scope,
        terms,
        state: state(members.members("state")?)?,
        fence: members.number("fence")?,
        was_unknown: members.flag("was_unknown")?,
        intent: members.optional("intent", intent)?,
        downstream_memory: members.optional("downstream_memory_ms", duration)?,
        timeout: duration(members.value("timeout_ms")?)?,
        opened_at: moment(members.value("opened_at")?)?,
        changed_at: moment(members.value("changed_at")?)?,
        due_at: members.optional("due_at", moment)?,
        visits: u32::try_from(members.number("visits")?).ok()?,
        is_dead_letter: members.flag("is_dead_letter")?,
    })
}

fn state(members: Members<'_>) -> Option<State> {
    let until = || moment(members.value("until")?);
    Some(match StateKind::parse(members.text("kind")?)? {
        StateKind::AwaitingApproval => State::AwaitingApproval { until: until()? },
        StateKind::Denied => State::Denied {
            by: approver(members, "by")?,
            reason: members.optional("reason", note)?,
            until: until()?,
        },
        StateKind::Expired => State::Expired { until: until()? },
        StateKind::Reserved => State::Reserved {
            approval: evidence(members.members("approval")?)?,
            until: until()?,
        },
        StateKind::Executing => State::Executing(attempt(members.members("attempt")?)?),
        StateKind::Blocked => State::Blocked {
            cause: ErrorCode::parse(members.text("cause")?)?,
        },
        StateKind::Failed => State::Failed {
            cause: parse_not_started(members.text("cause")?)?,
        },
        StateKind::Unknown => State::Unknown {
            attempt: attempt(members.members("attempt")?)?,
            cause: parse_unknown(members.text("cause")?)?,
        },
        StateKind::Succeeded => State::Succeeded {
            proof: proof(members.text("proof")?)?,
            is_acknowledged: members.flag("is_acknowledged")?,
        },
        StateKind::ResolvedCommitted => State::ResolvedCommitted {
            ruling: ruling(members.members("ruling")?)?,
            has_answer: members.flag("has_answer")?,
        },
        StateKind::ResolvedNotExecuted => State::ResolvedNotExecuted {
            ruling: ruling(members.members("ruling")?)?,
        },
    })
}

fn proof(name: &str) -> Option<Proof> {
    [Proof::Answer, Proof::Receipt]
        .into_iter()
        .find(|proof| proof_name(*proof) == name)
}

fn evidence(members: Members<'_>) -> Option<ApprovalEvidence> {
    Some(ApprovalEvidence {
        approval_id: ApprovalId::new(members.text("approval_id")?).ok()?,
        approver: approver(members, "approver_id")?,
        digest: ApprovalDigest::parse_hex(members.text("sha256")?)?,
        expires_at: UtcSecond::new(members.number("expires_at")?)?,
    })
}

fn attempt(members: Members<'_>) -> Option<Attempt> {
    Some(Attempt {
        approval: evidence(members.members("approval")?)?,
        holder: InstanceId::new(members.text("holder")?)?,
        first_sent: moment(members.value("first_sent")?)?,
        over_at: moment(members.value("over_at")?)?,
        steady: members.optional("steady", span)?,
    })
}

fn span(value: &Value) -> Option<SteadySpan> {
    let steady = |boot: &str, passed: &str| {
        Some(Steady {
            boot: BootId::new(value.get(boot)?.as_str()?)?,
            passed: duration(value.get(passed)?)?,
        })
    };
    Some(SteadySpan {
        first_sent: steady("boot", "first_sent_ms")?,
        over_at: steady("over_at_boot", "over_at_ms")?,
    })
}

fn ruling(members: Members<'_>) -> Option<Ruling> {
    Some(Ruling {
        by: approver(members, "by")?,
        note: Note::new(members.text("note")?)?,
        at: moment(members.value("at")?)?,
    })
}

fn approver(members: Members<'_>, name: &str) -> Option<ApproverId> {
    ApproverId::new(members.text(name)?).ok()
}

fn note(value: &Value) -> Option<Note> {
    Note::new(value.as_str()?)
}

fn intent(value: &Value) -> Option<Intent> {
    Some(Intent {
        digest: IntentDigest::parse_hex(value.get("sha256")?.as_str()?)?,
        generation: read_number(value.get("generation")?)?,
    })
}

fn moment(value: &Value) -> Option<Moment> {
    Moment::from_milliseconds(read_number(value)?)
}

fn duration(value: &Value) -> Option<Duration> {
    Some(Duration::from_millis(read_number(value)?))
}
