//! The demonstration shop behind a ledger in a file.

use std::path::Path;
use std::sync::Arc;

use countersign_canonical::Value;
use countersign_contract::{
    Arguments, Call, CallFingerprint, CallId, IdempotencyKey, OperationId, Principal, Profile,
    Purpose, RequestDigest, ResponseId, Roles, Scope, StatusRef, SubjectId, TenantId, ToolContract,
    ToolName, UtcSecond,
};
use countersign_dispatch::{
    DispatchRequest, Ledger, Proposal, Reservation, Reserved, Terms, ledger,
};
use countersign_ledger::{DurableLedger, InstanceId, LedgerClock, Lifetimes, Moment, Work};
use countersign_ledger_sqlite::{Counts, Limits, SqliteBackend};
use countersign_policy::{AccessRequest, Approval};
use countersign_runtime::{DispatchPorts, dispatch};
use countersign_shop::{Disturbance, Shop, ShopExecutor, approver};

const TOOL: &str = "create_refund_draft";
const NOW: u64 = 1_784_419_200;

pub(crate) struct Host {
    shop: Shop,
    pub(crate) ledger: DurableLedger<SqliteBackend>,
    principal: Principal,
    contract: ToolContract,
}

struct StandingClock;

impl LedgerClock for StandingClock {
    fn now(&self) -> Result<Moment, ledger::Error> {
        Ok(Moment::of_second(second(NOW)))
    }
}

fn second(seconds: u64) -> UtcSecond {
    UtcSecond::new(seconds).expect("a time")
}

impl Host {
    pub(crate) fn open(path: &Path) -> Self {
        let backend = SqliteBackend::open_with(path, Limits::default(), Arc::new(StandingClock));
        let registry = countersign_shop::registry();
        let tool = ToolName::new(TOOL).expect("a name");
        let instance = InstanceId::new("host-1").expect("a name");
        Self {
            shop: Shop::default(),
            ledger: DurableLedger::new(backend.expect("a ledger"), instance, Lifetimes::default()),
            principal: Principal {
                tenant_id: TenantId::new("tenant-a").expect("a name"),
                subject_id: SubjectId::new("user-1").expect("a name"),
                roles: Roles::default(),
            },
            contract: registry.get(&tool).expect("the tool").clone(),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.ledger.backend().engine().counts()
    }

    /// A write with an identity, a key and an approval of its own.
    pub(crate) fn call(&self, name: &str) -> (Call, Approval) {
        let arguments = Value::from([
            ("order_ref", Value::from("ORDER-7")),
            ("reason", "duplicate".into()),
        ]);
        let call = Call {
            profile: Profile::OpenAiResponses,
            response_id: ResponseId::new("response-1").expect("a name"),
            call_id: CallId::new(format!("call-{name}")).expect("a name"),
            operation_id: OperationId::new(format!("operation-{name}")).expect("a name"),
            idempotency_key: Some(IdempotencyKey::new(format!("key-{name}")).expect("a key")),
            name: self.contract.name.clone(),
            arguments: Arguments::new(arguments).expect("arguments"),
        };
        let access = AccessRequest {
            principal: &self.principal,
            call: &call,
            contract: &self.contract,
        };
        let approval = Approval::of(
            &access,
            &self.request(&call),
            format!("approval-{name}"),
            &approver(),
            second(NOW + 60),
        );
        (call, approval)
    }

    pub(crate) fn dispatch(&self, call: &Call, approval: &Approval) {
        let executor = ShopExecutor {
            shop: &self.shop,
            disturbance: Disturbance::None,
        };
        let ports = DispatchPorts {
            ledger: &self.ledger,
            authorizer: &self.shop,
            approvers: &self.shop,
            state: &self.shop,
            executor: &executor,
        };
        let request = DispatchRequest {
            principal: &self.principal,
            call,
            contract: Some(&self.contract),
            approvals: std::slice::from_ref(approval),
            intent: None,
            downstream_memory: None,
            now: second(NOW),
        };
        let package = dispatch(&ports, &request).expect("a sound ledger");
        assert_eq!(package.model_result().status().as_str(), "succeeded");
    }

    /// Reserves an operation that nobody will settle.
    pub(crate) fn reserve(&self, name: &str) {
        let (call, approval) = self.call(name);
        let request = self.request(&call);
        let scope = Scope::of(&self.principal, &call).expect("a key");
        let proposal = Proposal {
            terms: Terms {
                request,
                profile: call.profile,
                revisions: self.contract.revisions.clone(),
                status_ref: StatusRef::of(&scope, &request),
            },
            scope,
            principal: &self.principal,
            fingerprint: CallFingerprint::of(&call, Purpose::Dispatch, &request),
            call: &call,
            contract: &self.contract,
            intent: None,
            downstream_memory: None,
        };
        let reservation = Reservation {
            approval: evidence(&approval),
            proposal,
        };
        let reserved = self.ledger.reserve(&reservation).expect("a sound ledger");
        assert!(matches!(reserved, Reserved::Taken(_)));
    }

    pub(crate) fn leave(&self) {
        self.ledger.leave().expect("a sound ledger");
    }

    fn request(&self, call: &Call) -> RequestDigest {
        RequestDigest::of(&self.principal, call, Some(&self.contract))
    }
}

fn evidence(approval: &Approval) -> countersign_policy::ApprovalEvidence {
    countersign_policy::ApprovalEvidence {
        approval_id: countersign_contract::ApprovalId::new(&approval.approval_id).expect("a name"),
        approver: approver(),
        digest: countersign_contract::ApprovalDigest::of_nothing(),
        expires_at: second(NOW + 60),
    }
}
