//! Standing approvals.

use countersign_contract::{ApproverId, SubjectId, TenantId, ToolName};
use countersign_dispatch::ledger::Error;

use super::DurableLedger;
use crate::audit::{Event, append_for_tenant};
use crate::backend::Backend;
use crate::grant::Grant;
use crate::names::GrantId;
use crate::ports::Grants;
use crate::query::MAX_PAGE;
use crate::tables::{GrantRow, Tables};

impl<B: Backend> Grants for DurableLedger<B> {
    fn grant_add(&self, grant: &Grant) -> Result<bool, Error> {
        let grant = grant.clone();
        self.backend.write("grant_add", move |tables| {
            if let Some(row) = tables.grant(&grant.grant)? {
                return Ok(Grant::from_row(&row)? == grant);
            }
            tables.grant_put(&grant.to_row())?;
            let event = Event::GrantAdded(grant.clone());
            append_for_tenant(tables, &grant.tenant_id, &event)?;
            Ok(true)
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
            let now = rows.now();
            let grants = read_all(&rows.grants_for(tenant, subject, tool, MAX_PAGE)?)?;
            Ok(grants
                .into_iter()
                .filter(|grant| grant.is_usable(now))
                .collect())
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

    fn grant_take(&self, grant: &GrantId) -> Result<Option<Grant>, Error> {
        let id = grant.clone();
        self.backend.write("grant_take", move |tables| {
            let now = tables.now();
            let Some(grant) = read_grant(tables, &id)?.filter(|grant| grant.is_usable(now)) else {
                return Ok(None);
            };
            let taken = Grant {
                uses_left: grant.uses_left.saturating_sub(1),
                ..grant
            };
            tables.grant_put(&taken.to_row())?;
            append_for_tenant(tables, &taken.tenant_id, &Event::GrantUsed(id.clone()))?;
            Ok(Some(taken))
        })
    }
}

fn read_grant(tables: &mut dyn Tables, grant: &GrantId) -> Result<Option<Grant>, Error> {
    let row = tables.grant(grant)?;
    row.as_ref().map(Grant::from_row).transpose()
}

fn read_all(rows: &[GrantRow]) -> Result<Vec<Grant>, Error> {
    rows.iter().map(Grant::from_row).collect()
}
