//! Looking at what is stored.

use countersign_contract::{StatusRef, TenantId};
use countersign_dispatch::ledger::Error;

use super::{DurableLedger, read_proposal};
use crate::audit::AuditEntry;
use crate::backend::Backend;
use crate::moment::Moment;
use crate::ports::{Inspection, OperationDetail};
use crate::proposal::read_receipt;
use crate::query::{Cursor, MAX_PAGE, OperationFilter, Page};
use crate::record::Record;

impl<B: Backend> Inspection for DurableLedger<B> {
    fn operations(
        &self,
        filter: &OperationFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Record>, Error> {
        let limit = limit.clamp(1, MAX_PAGE);
        let mut rows = self.backend.read("operations", |rows| {
            rows.operations(filter, after, limit + 1)
        })?;
        let is_last = rows.len() <= limit;
        rows.truncate(limit);
        let next = rows.last().map(|(cursor, _)| *cursor);
        let items: Result<Vec<_>, _> = rows.iter().map(|(_, row)| Record::from_row(row)).collect();
        Ok(Page {
            items: items?,
            next: next.filter(|_| !is_last),
        })
    }

    fn operation(&self, status_ref: &StatusRef) -> Result<Option<OperationDetail>, Error> {
        self.backend.read("operation_detail", |rows| {
            let Some(row) = rows.operation_by_ref(status_ref)? else {
                return Ok(None);
            };
            let record = Record::from_row(&row)?;
            let proposal = read_proposal(rows, &record)?;
            let receipt = rows.receipt(&record.scope)?;
            let answer = receipt.map(|document| read_receipt(&document, &record.scope, &proposal));
            Ok(Some(OperationDetail {
                answer: answer.transpose()?,
                record,
                proposal,
            }))
        })
    }

    fn audit(&self, tenant: &TenantId, after: u64, limit: usize) -> Result<Vec<AuditEntry>, Error> {
        let limit = limit.clamp(1, MAX_PAGE);
        let rows = self
            .backend
            .read("audit", |rows| rows.audit(tenant, after, limit))?;
        rows.iter().map(AuditEntry::from_row).collect()
    }

    fn now(&self) -> Result<Moment, Error> {
        self.backend.read("now", |rows| Ok(rows.now()))
    }
}
