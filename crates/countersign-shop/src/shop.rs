//! Orders, refund drafts and receipts.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_canonical::Value;
use countersign_contract::{ApproverId, Arguments, HandlerAnswer, RequestDigest, StatusRef};
use countersign_dispatch::{BusinessState, Receipt, StateVerdict, StatusQuestion, StatusSource};
use countersign_policy::{
    AccessRequest, ApprovalNeed, ApproverDirectory, ApproverStanding, Authorized, Authorizer,
    Decision,
};

use crate::contracts::proven;

const APPROVER: &str = "human-reviewer-1";

/// Who may approve refund drafts.
#[must_use]
pub fn approver() -> ApproverId {
    proven(ApproverId::new(APPROVER))
}
/// The role that sees every order of its tenant.
const SUPPORT_ROLE: &str = "support_admin";
/// The shop's clock stands still.
const OBSERVED_AT: &str = "2026-07-19T00:00:00Z";

/// An order shop in memory, with three orders of two tenants.
///
/// It answers every port but the ledger's; [`ShopExecutor`](crate::ShopExecutor) lets calls act on it.
#[derive(Debug)]
pub struct Shop {
    orders: Mutex<HashMap<&'static str, Order>>,
    drafts: Mutex<Drafts>,
}

#[derive(Debug)]
struct Order {
    tenant_id: &'static str,
    owner_id: &'static str,
    status: OrderStatus,
    revision: &'static str,
}

/// Where an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderStatus {
    /// Paid: a refund can be drafted.
    Paid,
    /// Not paid yet.
    Pending,
    /// Refunded already.
    Refunded,
}

impl OrderStatus {
    fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Pending => "pending",
            Self::Refunded => "refunded",
        }
    }
}

#[derive(Debug, Default)]
struct Drafts {
    count: u64,
    receipts: HashMap<StatusRef, Receipt>,
}

impl Default for Shop {
    fn default() -> Self {
        let order = |tenant_id, owner_id, revision| Order {
            tenant_id,
            owner_id,
            status: OrderStatus::Paid,
            revision,
        };
        let orders = HashMap::from([
            ("ORDER-7", order("tenant-a", "user-1", "order-7-r3")),
            ("ORDER-8", order("tenant-a", "user-2", "order-8-r2")),
            ("ORDER-9", order("tenant-b", "user-1", "order-9-r4")),
        ]);
        Self {
            orders: Mutex::new(orders),
            drafts: Mutex::default(),
        }
    }
}

impl Shop {
    /// How many refund drafts were created: the shop's own count of effects.
    #[must_use]
    pub fn effect_count(&self) -> u64 {
        lock(&self.drafts).count
    }

    /// Moves an order, as the shop's own business would.
    pub fn set_order_status(&self, order_ref: &str, status: OrderStatus) {
        if let Some(order) = lock(&self.orders).get_mut(order_ref) {
            order.status = status;
        }
    }

    pub(crate) fn order_answer(&self, arguments: &Arguments) -> Option<HandlerAnswer> {
        let orders = lock(&self.orders);
        let order_ref = text(arguments, "order_ref")?;
        let order = orders.get(order_ref)?;
        Some(HandlerAnswer {
            data: Value::from([
                ("order_ref", order_ref.into()),
                ("status", order.status.as_str().into()),
            ]),
            producer_revision: "orders-mock-v2".to_owned(),
            resource_revision: Some(order.revision.to_owned()),
            observed_at: OBSERVED_AT.to_owned(),
            downstream_request_id: Some("orders-request-1".to_owned()),
            receipt_id: None,
        })
    }

    /// The effect: a new draft, every time it is called.
    pub(crate) fn create_draft(&self, arguments: &Arguments) -> Option<HandlerAnswer> {
        let order_ref = text(arguments, "order_ref")?;
        let reason = text(arguments, "reason")?;
        let mut drafts = lock(&self.drafts);
        drafts.count += 1;
        let number = drafts.count;
        let draft_id = format!("DRAFT-{number}");
        Some(HandlerAnswer {
            data: Value::from([
                ("draft_id", draft_id.into()),
                ("order_ref", order_ref.into()),
                ("reason", reason.into()),
            ]),
            producer_revision: "refunds-mock-v2".to_owned(),
            resource_revision: Some(format!("draft-{number}-r1")),
            observed_at: OBSERVED_AT.to_owned(),
            downstream_request_id: Some(format!("refund-request-{number}")),
            receipt_id: Some(format!("refund-receipt-{number}")),
        })
    }

    pub(crate) fn keep_receipt(
        &self,
        status_ref: StatusRef,
        request: RequestDigest,
        answer: &HandlerAnswer,
    ) {
        let receipt = Receipt {
            request,
            status_ref,
            answer: answer.clone(),
        };
        lock(&self.drafts).receipts.insert(status_ref, receipt);
    }
}

impl Authorizer for Shop {
    /// An order is there for its owner and for support of its tenant. For everyone else it does not exist.
    fn decide(&self, request: &AccessRequest<'_>) -> Decision {
        let AccessRequest {
            principal, call, ..
        } = request;
        let orders = lock(&self.orders);
        let visible = text(&call.arguments, "order_ref")
            .and_then(|order_ref| orders.get(order_ref))
            .filter(|order| order.tenant_id == principal.tenant_id.as_str())
            .filter(|order| {
                order.owner_id == principal.subject_id.as_str()
                    || principal.roles.contains(SUPPORT_ROLE)
            });
        match visible {
            Some(_) => Decision::Allowed(ApprovalNeed::Person),
            None => Decision::Denied,
        }
    }
}

impl ApproverDirectory for Shop {
    fn standing(&self, approver: &ApproverId, _: &AccessRequest<'_>) -> ApproverStanding {
        if approver.as_str() == APPROVER {
            ApproverStanding::Entitled
        } else {
            ApproverStanding::NotEntitled
        }
    }
}

impl BusinessState for Shop {
    /// Only a paid order can be refunded.
    fn verdict(&self, authorized: &Authorized<'_>) -> StateVerdict {
        let orders = lock(&self.orders);
        let status = text(&authorized.call().arguments, "order_ref")
            .and_then(|order_ref| orders.get(order_ref))
            .map(|order| order.status);
        match status {
            Some(OrderStatus::Paid) => StateVerdict::Allows,
            Some(OrderStatus::Pending | OrderStatus::Refunded) | None => StateVerdict::Forbids,
        }
    }
}

impl StatusSource for Shop {
    fn receipt(&self, question: &StatusQuestion<'_>) -> Option<Receipt> {
        lock(&self.drafts)
            .receipts
            .get(&question.status_ref())
            .cloned()
    }
}

/// INVARIANT: nothing panics while a lock is held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    arguments.get(name)?.as_str()
}
