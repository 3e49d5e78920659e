//! The stage for attacks: the demonstration shop behind a real pipeline, and a counter of what it did.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_canonical::{Limits, parse};
use countersign_contract::{
    ApproverId, Arguments, Call, CallId, Delivery, ErrorCode, IdempotencyKey, ModelResult,
    OperationId, Package, Principal, Profile, RequestDigest, ResponseId, Revision, Role, Roles,
    StatusRef, SubjectId, TenantId, ToolContract, ToolName, UtcSecond,
};
use countersign_dispatch::{DispatchRequest, Executor, Ledger, StatusRequest, ledger};
use countersign_ledger::{
    BootId, DurableLedger, InstanceId, LedgerClock, Lifetimes, MemoryBackend, Moment, Steady,
    SteadyClock,
};
use countersign_policy::{AccessRequest, Approval};
use countersign_runtime::{DispatchPorts, StatusPorts, dispatch, query_status};
use countersign_shop::{Disturbance, Shop, ShopExecutor, approver};

/// When everything happens unless a test says otherwise.
pub(crate) const NOW: u64 = 1_784_419_200;
/// When approvals die unless a test says otherwise.
pub(crate) const EXPIRY: u64 = NOW + 60;

/// What a model was told, in a word: an error's code, or how a success came to it.
pub(crate) type Said = &'static str;

pub(crate) const FRESH: Said = "fresh";
pub(crate) const REPLAY: Said = "local_replay";
pub(crate) const RECONCILED: Said = "receipt_reconciled";

/// Changes something in place.
pub(crate) type Change<T> = fn(&mut T);

/// A shop with its ledger: the durable one, over a back-end in memory.
pub(crate) struct Stage {
    pub(crate) shop: Shop,
    pub(crate) ledger: Box<dyn Ledger + Sync>,
}

impl Default for Stage {
    fn default() -> Self {
        let now = Moment::of_second(UtcSecond::new(NOW).unwrap());
        let backend = MemoryBackend::new(SettableClock::at(now));
        let instance = InstanceId::new("host-1").unwrap();
        Self {
            shop: Shop::default(),
            ledger: Box::new(DurableLedger::new(backend, instance, Lifetimes::default())),
        }
    }
}

/// A ledger's clock that a test sets.
#[derive(Clone)]
pub(crate) struct SettableClock(Arc<Mutex<(Moment, Duration)>>);

impl SettableClock {
    pub(crate) fn at(now: Moment) -> Self {
        Self(Arc::new(Mutex::new((now, Duration::ZERO))))
    }

    pub(crate) fn pass(&self, duration: Duration) {
        let mut shown = self.0.lock().unwrap();
        *shown = (shown.0.after(duration), shown.1 + duration);
    }

    /// Sets what the ledger's clock shows; what has passed has passed.
    pub(crate) fn set(&self, now: Moment) {
        self.0.lock().unwrap().0 = now;
    }
}

impl LedgerClock for SettableClock {
    fn now(&self) -> Result<Moment, ledger::Error> {
        Ok(self.0.lock().unwrap().0)
    }
}

/// One call as it reaches the host, and what goes wrong on the way to the shop.
#[derive(Clone)]
pub(crate) struct Attempt {
    pub(crate) principal: Principal,
    pub(crate) call: Call,
    pub(crate) contract: ToolContract,
    pub(crate) approvals: Vec<Approval>,
    pub(crate) now: u64,
    pub(crate) disturbance: Disturbance,
}

impl Stage {
    /// Dispatches over the shop's own line, and says what came of it with the shop's count of effects.
    pub(crate) fn says(&self, attempt: &Attempt) -> (Said, u64) {
        let package = self.package(attempt).unwrap();
        (said(&package), self.shop.effect_count())
    }

    /// As [`Self::says`], with another executor.
    pub(crate) fn says_by(&self, executor: &dyn Executor, attempt: &Attempt) -> (Said, u64) {
        let ports = DispatchPorts {
            executor,
            ..self.ports(executor)
        };
        let package = attempt.dispatch(&ports).unwrap();
        (said(&package), self.shop.effect_count())
    }

    pub(crate) fn package(&self, attempt: &Attempt) -> Result<Package, ledger::Error> {
        attempt.dispatch(&self.ports(&self.line(attempt.disturbance)))
    }

    /// Asks for the outcome of an attempt, under a call identity of the question's own.
    pub(crate) fn status(&self, of: &Attempt, call_id: &str) -> (Said, u64) {
        self.status_as(&of.asking(call_id), of.status_ref(), of.request())
    }

    /// Asks with everything chosen by the asker.
    pub(crate) fn status_as(
        &self,
        asker: &Attempt,
        status_ref: StatusRef,
        expected_request: RequestDigest,
    ) -> (Said, u64) {
        let package = asker
            .query(&self.status_ports(), status_ref, expected_request)
            .unwrap();
        (said(&package), self.shop.effect_count())
    }

    pub(crate) fn line(&self, disturbance: Disturbance) -> ShopExecutor<'_> {
        ShopExecutor {
            shop: &self.shop,
            disturbance,
        }
    }

    pub(crate) fn ports<'s>(&'s self, executor: &'s dyn Executor) -> DispatchPorts<'s> {
        DispatchPorts {
            ledger: &*self.ledger,
            authorizer: &self.shop,
            approvers: &self.shop,
            state: &self.shop,
            executor,
        }
    }

    pub(crate) fn status_ports(&self) -> StatusPorts<'_> {
        StatusPorts {
            ledger: &*self.ledger,
            authorizer: &self.shop,
            source: &self.shop,
        }
    }
}

impl SteadyClock for SettableClock {
    fn steady(&self) -> Option<Steady> {
        Some(Steady {
            boot: BootId::new("boot-1").unwrap(),
            passed: self.0.lock().unwrap().1,
        })
    }
}

impl Attempt {
    /// A refund draft for the owner's own order, with a key and without an approval.
    pub(crate) fn refund() -> Self {
        Self::new(
            "create_refund_draft",
            r#"{"order_ref": "ORDER-7", "reason": "duplicate"}"#,
        )
    }

    /// The same with a living approval.
    pub(crate) fn approved_refund() -> Self {
        Self::refund().approved()
    }

    /// A look at the owner's own order.
    pub(crate) fn read() -> Self {
        let mut attempt = Self::new("get_order", r#"{"order_ref": "ORDER-7"}"#);
        attempt.call.idempotency_key = None;
        attempt
    }

    fn new(tool: &str, arguments: &str) -> Self {
        let name = ToolName::new(tool).unwrap();
        let contract = countersign_shop::registry().get(&name).unwrap().clone();
        Self {
            principal: principal("tenant-a", "user-1", &[]),
            call: Call {
                profile: Profile::OpenAiResponses,
                response_id: ResponseId::new("response-1").unwrap(),
                call_id: CallId::new("call-1").unwrap(),
                operation_id: OperationId::new("operation-1").unwrap(),
                idempotency_key: Some(IdempotencyKey::new("key-1").unwrap()),
                name,
                arguments: self::arguments(arguments),
            },
            contract,
            approvals: Vec::new(),
            now: NOW,
            disturbance: Disturbance::None,
        }
    }

    /// With a change.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub(crate) fn call_id(self, id: &str) -> Self {
        self.with(|attempt| attempt.call.call_id = CallId::new(id).unwrap())
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.with(|attempt| attempt.call.idempotency_key = Some(IdempotencyKey::new(key).unwrap()))
    }

    pub(crate) fn arguments(self, text: &str) -> Self {
        self.with(|attempt| attempt.call.arguments = arguments(text))
    }

    pub(crate) fn disturbed(self, disturbance: Disturbance) -> Self {
        self.with(|attempt| attempt.disturbance = disturbance)
    }

    pub(crate) fn at(self, now: u64) -> Self {
        self.with(|attempt| attempt.now = now)
    }

    /// With the approval that it needs as it stands, in place of others.
    pub(crate) fn approved(self) -> Self {
        let approval = self.approval();
        self.offering(approval)
    }

    pub(crate) fn offering(self, approval: Approval) -> Self {
        self.with(|attempt| attempt.approvals = vec![approval])
    }

    /// An approval of exactly this attempt.
    pub(crate) fn approval(&self) -> Approval {
        self.approval_by(approver().as_str())
    }

    pub(crate) fn approval_by(&self, approver: &str) -> Approval {
        Approval::of(
            &self.access(),
            &self.request(),
            "approval-1".to_owned(),
            &ApproverId::new(approver).unwrap(),
            UtcSecond::new(EXPIRY).unwrap(),
        )
    }

    pub(crate) fn access(&self) -> AccessRequest<'_> {
        AccessRequest {
            principal: &self.principal,
            call: &self.call,
            contract: &self.contract,
        }
    }

    /// The same request asked about instead of made.
    pub(crate) fn asking(&self, call_id: &str) -> Self {
        self.clone().call_id(call_id)
    }

    pub(crate) fn request(&self) -> RequestDigest {
        RequestDigest::of(&self.principal, &self.call, Some(&self.contract))
    }

    pub(crate) fn status_ref(&self) -> StatusRef {
        let scope = countersign_contract::Scope::of(&self.principal, &self.call).unwrap();
        StatusRef::of(&scope, &self.request())
    }

    /// Dispatches, and proves that the result belongs to the call.
    pub(crate) fn dispatch(&self, ports: &DispatchPorts<'_>) -> Result<Package, ledger::Error> {
        let request = DispatchRequest {
            principal: &self.principal,
            call: &self.call,
            contract: Some(&self.contract),
            approvals: &self.approvals,
            intent: None,
            downstream_memory: None,
            now: UtcSecond::new(self.now).unwrap(),
        };
        let package = dispatch(ports, &request)?;
        self.prove(&package);
        Ok(package)
    }

    /// Asks, and proves that the result belongs to the question.
    pub(crate) fn query(
        &self,
        ports: &StatusPorts<'_>,
        status_ref: StatusRef,
        expected_request: RequestDigest,
    ) -> Result<Package, ledger::Error> {
        let request = StatusRequest {
            principal: &self.principal,
            call: &self.call,
            contract: Some(&self.contract),
            status_ref,
            expected_request,
            now: UtcSecond::new(self.now).unwrap(),
        };
        let package = query_status(ports, &request)?;
        self.prove(&package);
        Ok(package)
    }

    fn prove(&self, package: &Package) {
        let proof = package
            .verify(&self.principal, &self.call, Some(&self.contract))
            .unwrap();
        assert_eq!(proof.status(), package.model_result().status());
        let audit = package.protected_audit();
        let names_a_ref = audit.downstream.status_ref.is_some();
        if names_a_ref {
            assert_ne!(
                audit.tool_contract.name.as_str(),
                "get_order",
                "a read has no handle"
            );
        }
    }
}

pub(crate) fn said(package: &Package) -> Said {
    match package.model_result() {
        ModelResult::Success(success) => success.delivery.as_str(),
        ModelResult::Error { code, .. } => code.as_str(),
    }
}

pub(crate) fn principal(tenant: &str, subject: &str, roles: &[&str]) -> Principal {
    let roles = roles.iter().map(|role| Role::new(role).unwrap()).collect();
    Principal {
        tenant_id: TenantId::new(tenant).unwrap(),
        subject_id: SubjectId::new(subject).unwrap(),
        roles: Roles::new(roles).unwrap(),
    }
}

pub(crate) fn arguments(text: &str) -> Arguments {
    Arguments::new(parse(text.as_bytes(), &Limits::tool_result()).unwrap()).unwrap()
}

pub(crate) fn revision(text: &str) -> Revision {
    Revision::new(text).unwrap()
}

#[test]
fn words_are_what_the_wire_says() {
    assert_eq!(FRESH, Delivery::Fresh.as_str());
    assert_eq!(REPLAY, Delivery::LocalReplay.as_str());
    assert_eq!(RECONCILED, Delivery::ReceiptReconciled.as_str());
    assert_eq!(ErrorCode::OutcomeUnknown.as_str(), "OUTCOME_UNKNOWN");
}
