//! What the audit trail says: one entry for each change, in the transaction that makes it.

use countersign_canonical::Value;
use countersign_contract::{ApproverId, ErrorCode, TenantId};
use countersign_dispatch::ledger::Error;
use countersign_dispatch::{NotStarted, UnknownCause};
use countersign_policy::ApprovalEvidence;

use crate::cause::{not_started_name, unknown_name};
use crate::document::{Document, number, optional};
use crate::grant::Grant;
use crate::moment::Moment;
use crate::names::{GrantId, InstanceId, Note};
use crate::record::Record;
use crate::state::Ruling;
use crate::tables::{AuditRow, Tables};

const SCHEMA: &str = "countersign-audit-v1";

/// What happened to an operation or a grant. It names digests and people, never arguments or results.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    Proposed,
    Superseded,
    Approved(ApprovalEvidence),
    Denied {
        by: ApproverId,
        reason: Option<Note>,
    },
    Expired,
    Begun {
        approval: ApprovalEvidence,
        holder: InstanceId,
    },
    SentAgain {
        holder: InstanceId,
    },
    Succeeded,
    BecameUnknown(UnknownCause),
    NotStarted(NotStarted),
    Reconciled,
    Blocked(ErrorCode),
    RuledCommitted {
        ruling: Ruling,
        has_answer: bool,
    },
    RuledNotExecuted(Ruling),
    Acknowledged,
    GaveUp,
    GrantAdded(Box<Grant>),
    GrantUsed {
        grant: GrantId,
        uses_left: u64,
    },
    GrantRevoked {
        grant: GrantId,
        by: ApproverId,
    },
}

impl Event {
    fn name(&self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Superseded => "superseded",
            Self::Approved(_) => "approved",
            Self::Denied { .. } => "denied",
            Self::Expired => "expired",
            Self::Begun { .. } => "begun",
            Self::SentAgain { .. } => "sent_again",
            Self::Succeeded => "succeeded",
            Self::BecameUnknown(_) => "became_unknown",
            Self::NotStarted(_) => "not_started",
            Self::Reconciled => "reconciled",
            Self::Blocked(_) => "blocked",
            Self::RuledCommitted { .. } => "ruled_committed",
            Self::RuledNotExecuted(_) => "ruled_not_executed",
            Self::Acknowledged => "acknowledged",
            Self::GaveUp => "gave_up",
            Self::GrantAdded(_) => "grant_added",
            Self::GrantUsed { .. } => "grant_used",
            Self::GrantRevoked { .. } => "grant_revoked",
        }
    }

    fn details(&self) -> Value {
        match self {
            Self::Proposed
            | Self::Superseded
            | Self::Expired
            | Self::Succeeded
            | Self::Reconciled
            | Self::Acknowledged
            | Self::GaveUp => Value::Null,
            Self::Approved(approval) => evidence(approval),
            Self::Denied { by, reason } => Value::from([
                ("by", by.as_str().into()),
                ("reason", optional(reason.as_ref().map(Note::as_str))),
            ]),
            Self::Begun { approval, holder } => Value::from([
                ("approval", evidence(approval)),
                ("holder", holder.as_str().into()),
            ]),
            Self::SentAgain { holder } => Value::from([("holder", holder.as_str().into())]),
            Self::BecameUnknown(cause) => Value::from([("cause", unknown_name(*cause).into())]),
            Self::NotStarted(cause) => Value::from([("cause", not_started_name(*cause).into())]),
            Self::Blocked(cause) => Value::from([("cause", cause.as_str().into())]),
            Self::RuledCommitted { ruling, has_answer } => Value::from([
                ("by", ruling.by.as_str().into()),
                ("has_answer", (*has_answer).into()),
                ("note", ruling.note.as_str().into()),
            ]),
            Self::RuledNotExecuted(ruling) => Value::from([
                ("by", ruling.by.as_str().into()),
                ("note", ruling.note.as_str().into()),
            ]),
            Self::GrantAdded(grant) => grant.to_value(),
            Self::GrantUsed { grant, uses_left } => Value::from([
                ("grant", grant.as_str().into()),
                ("uses_left", number(*uses_left)),
            ]),
            Self::GrantRevoked { grant, by } => {
                Value::from([("by", by.as_str().into()), ("grant", grant.as_str().into())])
            }
        }
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

/// Appends what happened to an operation.
pub(crate) fn append(tables: &mut dyn Tables, record: &Record, event: &Event) -> Result<(), Error> {
    let operation = Value::from([
        ("fence", number(record.fence)),
        ("idempotency_key", record.scope.key.as_str().into()),
        ("request_sha256", record.terms.request.to_string().into()),
        ("state", record.kind().as_str().into()),
        ("status_ref", record.terms.status_ref.to_string().into()),
        ("subject_id", record.scope.subject_id.as_str().into()),
        ("tool", record.scope.tool.as_str().into()),
    ]);
    append_about(tables, &record.scope.tenant_id, operation, event)
}

/// Appends what happened to a grant.
pub(crate) fn append_for_tenant(
    tables: &mut dyn Tables,
    tenant: &TenantId,
    event: &Event,
) -> Result<(), Error> {
    append_about(tables, tenant, Value::Null, event)
}

fn append_about(
    tables: &mut dyn Tables,
    tenant: &TenantId,
    operation: Value,
    event: &Event,
) -> Result<(), Error> {
    let sequence = tables.audit_head(tenant)? + 1;
    let document = Document::of(&Value::from([
        ("schema", SCHEMA.into()),
        ("tenant_id", tenant.as_str().into()),
        ("sequence", number(sequence)),
        ("at", number(tables.now().as_milliseconds())),
        ("event", event.name().into()),
        ("details", event.details()),
        ("operation", operation),
    ]));
    tables.audit_append(&AuditRow {
        tenant_id: tenant.clone(),
        sequence,
        document,
    })
}

/// An entry of the audit trail, read.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// 1, 2, 3, … within the tenant.
    pub sequence: u64,
    /// When.
    pub at: Moment,
    /// What happened.
    pub event: String,
    /// All of it.
    pub value: Value,
}

impl AuditEntry {
    /// Reads a row; an error where it is not as it was written.
    pub fn from_row(row: &AuditRow) -> Result<Self, Error> {
        const DAMAGED: &str = "an audit entry is not what was written";
        let value = row.document.read(DAMAGED)?;
        let entry = row.document.read_with(DAMAGED, |members| {
            let is_of_row = members.text("schema")? == SCHEMA
                && members.text("tenant_id")? == row.tenant_id.as_str()
                && members.number("sequence")? == row.sequence;
            is_of_row.then_some(())?;
            Some((
                Moment::from_milliseconds(members.number("at")?)?,
                members.text("event")?.to_owned(),
            ))
        });
        let (at, event) = entry?;
        Ok(Self {
            sequence: row.sequence,
            at,
            event,
            value,
        })
    }
}
