//! Standing approvals.

use countersign_contract::{ApproverId, Scope, SubjectId, TenantId, ToolName, UtcSecond};
use countersign_dispatch::ledger::Error;
use countersign_policy::ApprovalEvidence;

use super::approvals::decide;
use super::{DurableLedger, read_proposal, read_record};
use crate::approval_check::ApprovalCheck;
use crate::audit::{self, Event, append_for_tenant};
use crate::backend::Backend;
use crate::grant::Grant;
use crate::moment::Moment;
use crate::names::GrantId;
use crate::ports::{Decided, Decision, GrantAdded, Granted, Grants, MAX_USABLE_GRANTS};
use crate::query::MAX_PAGE;
use crate::record::Record;
use crate::state::{Lifetimes, State};
use crate::tables::{GrantRow, Rows, Tables};

/// How long an approval lives that a grant gives: whoever asks for it is there to begin.
const GIVEN_SECONDS: u64 = 60;

impl<B: Backend> Grants for DurableLedger<B> {
    fn grant_add(&self, grant: &Grant) -> Result<GrantAdded, Error> {
        if grant.approver.as_str() == grant.subject_id.as_str() {
            return Ok(GrantAdded::OwnSubject);
        }
        let grant = grant.clone();
        self.backend.write("grant_add", move |tables| {
            if let Some(row) = tables.grant(&grant.grant)? {
                let is_the_same = Grant::from_row(&row)?.statement() == grant.statement();
                return Ok(if is_the_same {
                    GrantAdded::Added
                } else {
                    GrantAdded::NameTaken
                });
            }
            let (tenant, subject, tool) = (&grant.tenant_id, &grant.subject_id, &grant.tool);
            let usable = tables.grants_for(tenant, subject, tool, MAX_USABLE_GRANTS)?;
            if usable.len() >= MAX_USABLE_GRANTS {
                return Ok(GrantAdded::TooMany);
            }
            tables.grant_put(&grant.to_row())?;
            let event = Event::GrantAdded(Box::new(grant.clone()));
            append_for_tenant(tables, &grant.tenant_id, &event)?;
            Ok(GrantAdded::Added)
        })
    }

    fn grant_revoke(&self, grant: &GrantId, by: &ApproverId) -> Result<bool, Error> {
        let (id, by) = (grant.clone(), by.clone());
        self.backend.write("grant_revoke", move |tables| {
            let Some(grant) = read_grant(tables, &id)? else {
                return Ok(false);
            };
            if grant.is_revoked {
                return Ok(true);
            }
            let revoked = Grant {
                is_revoked: true,
                ..grant
            };
            tables.grant_put(&revoked.to_row())?;
            let event = Event::GrantRevoked {
                grant: id.clone(),
                by: by.clone(),
            };
            append_for_tenant(tables, &revoked.tenant_id, &event)?;
            Ok(true)
        })
    }

    fn grants_for(
        &self,
        tenant: &TenantId,
        subject: &SubjectId,
        tool: &ToolName,
    ) -> Result<Vec<Grant>, Error> {
        self.backend.read("grants_for", |rows| {
            read_all(&rows.grants_for(tenant, subject, tool, MAX_USABLE_GRANTS)?)
        })
    }

    fn grants(
        &self,
        tenant: Option<&TenantId>,
        after: Option<&GrantId>,
        limit: usize,
    ) -> Result<Vec<Grant>, Error> {
        let limit = limit.clamp(1, MAX_PAGE);
        self.backend.read("grants", |rows| {
            read_all(&rows.grants(tenant, after, limit)?)
        })
    }

    fn grant(&self, grant: &GrantId) -> Result<Option<Grant>, Error> {
        self.backend.read("grant", |rows| read_grant(rows, grant))
    }

    fn grant_use(&self, scope: &Scope, nonce: u128) -> Result<Option<Granted>, Error> {
        // Most calls have no grant: nobody waits for the writer on their behalf.
        let covering = self
            .backend
            .read("grant_find", |rows| covering(rows, scope))?;
        let is_accepted =
            |grant: &Grant| self.check.as_ref().is_none_or(|check| check.accepts(grant));
        let Some(chosen) = covering.into_iter().find(is_accepted) else {
            return Ok(None);
        };
        let (scope, lifetimes) = (scope.clone(), self.lifetimes);
        self.backend.write("grant_use", move |tables| {
            use_one(tables, &scope, nonce, &chosen, &lifetimes)
        })
    }
}

/// The usable grants that cover what waits under a scope.
fn covering(rows: &mut (impl Rows + ?Sized), scope: &Scope) -> Result<Vec<Grant>, Error> {
    let Some(record) = read_record(rows, scope)?.filter(is_waiting) else {
        return Ok(Vec::new());
    };
    let (tenant, subject) = (&scope.tenant_id, &scope.subject_id);
    let usable = rows.grants_for(tenant, subject, &scope.tool, MAX_USABLE_GRANTS)?;
    if usable.is_empty() {
        return Ok(Vec::new());
    }
    let proposal = read_proposal(rows, &record)?;
    let usable = read_all(&usable)?.into_iter();
    Ok(usable
        .filter(|grant| grant.covers(&record, &proposal))
        .collect())
}

/// Approves under a grant as it stands now, and takes the use: both, or neither.
fn use_one(
    tables: &mut dyn Tables,
    scope: &Scope,
    nonce: u128,
    chosen: &Grant,
    lifetimes: &Lifetimes,
) -> Result<Option<Granted>, Error> {
    let now = tables.now();
    let Some(record) = read_record(tables, scope)?.filter(is_waiting) else {
        return Ok(None);
    };
    let grant = read_grant(tables, &chosen.grant)?.filter(|grant| grant.is_usable(now));
    let is_chosen = |grant: &Grant| {
        grant.statement() == chosen.statement() && grant.signature == chosen.signature
    };
    let Some(grant) = grant.filter(is_chosen) else {
        return Ok(None);
    };
    if !grant.covers(&record, &read_proposal(tables, &record)?) {
        return Ok(None);
    }
    let Some(approval_id) = grant.approval_id(nonce) else {
        return Ok(None);
    };
    let decision = Decision::Approve {
        by: grant.approver.clone(),
        approval_id,
        expires_at: given_until(now, &grant),
    };
    let Decided::Counts(record) = decide(tables, record, &decision, lifetimes)? else {
        return Ok(None);
    };
    let grant = Grant {
        uses_left: grant.uses_left.saturating_sub(1),
        ..grant
    };
    tables.grant_put(&grant.to_row())?;
    let event = Event::GrantUsed {
        grant: grant.grant.clone(),
        uses_left: grant.uses_left,
    };
    audit::append(tables, &record, &event)?;
    Ok(Some(Granted {
        record: *record,
        grant,
    }))
}

/// Tells whether an approval still counts when its write begins. The grant that gave it has to stand and to cover the call: what
/// was decided beforehand is taken back up to the last moment. What was decided in the ledger is judged by more than that it
/// stands there; what the host brings itself, such as its policy's word, it believes.
pub(super) fn still_holds(
    tables: &mut dyn Tables,
    approval: &ApprovalEvidence,
    record: &Record,
    was_decided_here: bool,
    check: Option<&dyn ApprovalCheck>,
) -> Result<bool, Error> {
    let grant = match Grant::of_approval(&approval.approval_id) {
        None => None,
        Some(_) if !was_decided_here => return Ok(false),
        Some(id) => {
            let (now, proposal) = (tables.now(), read_proposal(tables, record)?);
            let gives = |grant: &Grant| {
                !grant.is_revoked
                    && now < grant.expires_at
                    && grant.approver == approval.approver
                    && grant.covers(record, &proposal)
            };
            match read_grant(tables, &id)?.filter(gives) {
                Some(grant) => Some(grant),
                None => return Ok(false),
            }
        }
    };
    let is_believed = |check: &dyn ApprovalCheck| check.holds(record, approval, grant.as_ref());
    Ok(!was_decided_here || check.is_none_or(is_believed))
}

fn given_until(now: Moment, grant: &Grant) -> UtcSecond {
    let soon = now.second().checked_add(GIVEN_SECONDS);
    soon.unwrap_or(UtcSecond::MAX)
        .min(grant.expires_at.second())
}

fn is_waiting(record: &Record) -> bool {
    matches!(record.state, State::AwaitingApproval { .. })
}

fn read_grant(tables: &mut (impl Rows + ?Sized), grant: &GrantId) -> Result<Option<Grant>, Error> {
    let row = tables.grant(grant)?;
    row.as_ref().map(Grant::from_row).transpose()
}

fn read_all(rows: &[GrantRow]) -> Result<Vec<Grant>, Error> {
    rows.iter().map(Grant::from_row).collect()
}
