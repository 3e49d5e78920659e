//! Standing approvals: a person approves a tool for a subject under conditions, for a time and a number of uses.

use countersign_canonical::Value;
use countersign_contract::{
    ApprovalId, ApproverId, Revision, Revisions, SubjectId, TenantId, ToolName,
};
use countersign_dispatch::ledger::Error;

use crate::conditions::Conditions;
use crate::document::{Document, Members, number, optional};
use crate::moment::Moment;
use crate::names::GrantId;
use crate::proposal::StoredProposal;
use crate::record::Record;
use crate::tables::GrantRow;

const SCHEMA: &str = "countersign-grant-v1";
const DAMAGED: &str = "a grant is not what was written";
/// What the name of an approval begins with that a grant gave.
const GRANTED: &str = "granted_";

/// A standing approval. Each use is one approval of one call, minted for it; the grant counts how many there may be.
///
/// It is given for the tool as its contract stood: whatever revision changes, it covers nothing any more.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// Its name.
    pub grant: GrantId,
    /// Of which tenant.
    pub tenant_id: TenantId,
    /// For which subject.
    pub subject_id: SubjectId,
    /// For which tool.
    pub tool: ToolName,
    /// Under which contract.
    pub revisions: Revisions,
    /// What the arguments have to be.
    pub conditions: Conditions,
    /// Who approves.
    pub approver: ApproverId,
    /// Since when.
    pub given_at: Moment,
    /// The first moment at which it is dead.
    pub expires_at: Moment,
    /// How many uses were given.
    pub uses: u64,
    /// How many of them are left.
    pub uses_left: u64,
    /// Whether somebody took it back.
    pub is_revoked: bool,
    /// What proves that the approver gave it, for whoever performs writes under it. The ledger keeps it and does not look.
    pub signature: Option<String>,
}

impl Grant {
    /// Tells whether it may be used.
    #[must_use]
    pub fn is_usable(&self, now: Moment) -> bool {
        self.is_open() && now < self.expires_at
    }

    /// Tells whether it covers a write that somebody asks for. Whether it may be used now is another question.
    #[must_use]
    pub fn covers(&self, record: &Record, proposal: &StoredProposal) -> bool {
        self.is_about(record) && self.conditions.cover(&proposal.call.arguments)
    }

    /// Tells whether it is for this subject and this tool as its contract stands, and not given by the subject itself.
    pub(crate) fn is_about(&self, record: &Record) -> bool {
        let scope = &record.scope;
        self.tenant_id == scope.tenant_id
            && self.subject_id == scope.subject_id
            && self.tool == scope.tool
            && self.revisions == record.terms.revisions
            && self.approver.as_str() != self.subject_id.as_str()
    }

    /// The name of an approval that it gives.
    pub(crate) fn approval_id(&self, nonce: u128) -> Option<ApprovalId> {
        ApprovalId::new(format!("{GRANTED}{nonce:032x}_{}", self.grant)).ok()
    }

    /// Whose grant gave an approval; nothing where none did.
    #[must_use]
    pub fn of_approval(approval: &ApprovalId) -> Option<GrantId> {
        let (_, grant) = approval.as_str().strip_prefix(GRANTED)?.split_once('_')?;
        GrantId::new(grant)
    }

    /// What the approver gave, without what became of it since: the text that a signature is over.
    #[must_use]
    pub fn statement(&self) -> Value {
        Value::from([
            ("schema", SCHEMA.into()),
            ("grant", self.grant.as_str().into()),
            ("tenant_id", self.tenant_id.as_str().into()),
            ("subject_id", self.subject_id.as_str().into()),
            ("tool", self.tool.as_str().into()),
            ("revisions", revisions_value(&self.revisions)),
            ("conditions", self.conditions.to_value()),
            ("approver_id", self.approver.as_str().into()),
            ("given_at", number(self.given_at.as_milliseconds())),
            ("expires_at", number(self.expires_at.as_milliseconds())),
            ("uses", number(self.uses)),
        ])
    }

    pub(crate) fn to_value(&self) -> Value {
        Value::from([
            ("statement", self.statement()),
            ("uses_left", number(self.uses_left)),
            ("is_revoked", self.is_revoked.into()),
            ("signature", optional(self.signature.as_deref())),
        ])
    }

    /// The row to keep.
    #[must_use]
    pub fn to_row(&self) -> GrantRow {
        GrantRow {
            grant: self.grant.clone(),
            tenant_id: self.tenant_id.clone(),
            subject_id: self.subject_id.clone(),
            tool: self.tool.clone(),
            expires_at: self.expires_at,
            is_open: self.is_open(),
            document: Document::of(&self.to_value()),
        }
    }

    /// Reads a row; an error where it is not as it was written.
    pub fn from_row(row: &GrantRow) -> Result<Self, Error> {
        let grant = row.document.read_with(DAMAGED, read)?;
        let is_of_row = grant.grant == row.grant
            && grant.tenant_id == row.tenant_id
            && grant.subject_id == row.subject_id
            && grant.tool == row.tool
            && grant.expires_at == row.expires_at
            && grant.is_open() == row.is_open;
        if is_of_row {
            Ok(grant)
        } else {
            Err(Error::Damaged(DAMAGED))
        }
    }

    /// Whether nothing but time can still end it.
    fn is_open(&self) -> bool {
        !self.is_revoked && self.uses_left > 0
    }
}

fn read(members: Members<'_>) -> Option<Grant> {
    let given = members.members("statement")?;
    if given.text("schema")? != SCHEMA {
        return None;
    }
    let signature = members.optional("signature", |value| value.as_str().map(str::to_owned))?;
    Some(Grant {
        grant: GrantId::new(given.text("grant")?)?,
        tenant_id: TenantId::new(given.text("tenant_id")?).ok()?,
        subject_id: SubjectId::new(given.text("subject_id")?).ok()?,
        tool: ToolName::new(given.text("tool")?).ok()?,
        revisions: read_revisions(given.members("revisions")?)?,
        conditions: Conditions::from_value(given.value("conditions")?)?,
        approver: ApproverId::new(given.text("approver_id")?).ok()?,
        given_at: Moment::from_milliseconds(given.number("given_at")?)?,
        expires_at: Moment::from_milliseconds(given.number("expires_at")?)?,
        uses: given.number("uses")?,
        uses_left: members.number("uses_left")?,
        is_revoked: members.flag("is_revoked")?,
        signature,
    })
}

pub(crate) fn revisions_value(revisions: &Revisions) -> Value {
    Value::from([
        ("effect", revisions.effect.as_str().into()),
        ("handler", revisions.handler.as_str().into()),
        ("input_schema", revisions.input_schema.as_str().into()),
        ("output_schema", revisions.output_schema.as_str().into()),
        ("policy", revisions.policy.as_str().into()),
        ("producer", revisions.producer.as_str().into()),
    ])
}

pub(crate) fn read_revisions(members: Members<'_>) -> Option<Revisions> {
    let revision = |name| Revision::new(members.text(name)?).ok();
    Some(Revisions {
        input_schema: revision("input_schema")?,
        output_schema: revision("output_schema")?,
        effect: revision("effect")?,
        handler: revision("handler")?,
        producer: revision("producer")?,
        policy: revision("policy")?,
    })
}
