//! Standing approvals: a person approves a tool for a subject under conditions, for a time and a number of uses.

use countersign_canonical::Value;
use countersign_contract::{ApproverId, SubjectId, TenantId, ToolName};
use countersign_dispatch::ledger::Error;

use crate::document::{Document, number};
use crate::moment::Moment;
use crate::names::GrantId;
use crate::tables::GrantRow;

const SCHEMA: &str = "countersign-grant-v1";
const DAMAGED: &str = "a grant is not what was written";

/// A standing approval. Each use is one approval of one call, minted for it; the grant counts how many there may be.
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
    /// What the arguments have to keep: rules by argument, in the form of a policy's `when`.
    pub conditions: Value,
    /// Who approves.
    pub approver: ApproverId,
    /// The first moment at which it is dead.
    pub expires_at: Moment,
    /// How many uses are left.
    pub uses_left: u64,
    /// Whether somebody took it back.
    pub is_revoked: bool,
}

impl Grant {
    /// Tells whether it may be used.
    #[must_use]
    pub fn is_usable(&self, now: Moment) -> bool {
        !self.is_revoked && self.uses_left > 0 && now < self.expires_at
    }

    pub(crate) fn to_value(&self) -> Value {
        Value::from([
            ("schema", SCHEMA.into()),
            ("grant", self.grant.as_str().into()),
            ("tenant_id", self.tenant_id.as_str().into()),
            ("subject_id", self.subject_id.as_str().into()),
            ("tool", self.tool.as_str().into()),
            ("conditions", self.conditions.clone()),
            ("approver_id", self.approver.as_str().into()),
            ("expires_at", number(self.expires_at.as_milliseconds())),
            ("uses_left", number(self.uses_left)),
            ("is_revoked", self.is_revoked.into()),
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
            document: Document::of(&self.to_value()),
        }
    }

    /// Reads a row; an error where it is not as it was written.
    pub fn from_row(row: &GrantRow) -> Result<Self, Error> {
        let grant = row.document.read_with(DAMAGED, |members| {
            if members.text("schema")? != SCHEMA {
                return None;
            }
            Some(Self {
                grant: GrantId::new(members.text("grant")?)?,
                tenant_id: TenantId::new(members.text("tenant_id")?).ok()?,
                subject_id: SubjectId::new(members.text("subject_id")?).ok()?,
                tool: ToolName::new(members.text("tool")?).ok()?,
                conditions: members.value("conditions")?.clone(),
                approver: ApproverId::new(members.text("approver_id")?).ok()?,
                expires_at: Moment::from_milliseconds(members.number("expires_at")?)?,
                uses_left: members.number("uses_left")?,
                is_revoked: members.flag("is_revoked")?,
            })
        })?;
        let is_of_row = grant.grant == row.grant
            && grant.tenant_id == row.tenant_id
            && grant.subject_id == row.subject_id
            && grant.tool == row.tool;
        if is_of_row {
            Ok(grant)
        } else {
            Err(Error::Damaged(DAMAGED))
        }
    }
}
