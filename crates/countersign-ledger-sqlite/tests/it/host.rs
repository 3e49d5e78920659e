//! A host of the demonstration shop, whose writes go through a ledger in a file.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_canonical::Value;
use countersign_contract::{
    Arguments, Call, CallId, IdempotencyKey, OperationId, Principal, Profile, RequestDigest,
    ResponseId, Roles, Scope, StatusRef, SubjectId, TenantId, ToolContract, ToolName, UtcSecond,
};
use countersign_dispatch::{DispatchRequest, ledger};
use countersign_ledger::{DurableLedger, InstanceId, LedgerClock, Lifetimes, Moment};
use countersign_ledger_sqlite::{Limits, SqliteBackend};
use countersign_policy::{AccessRequest, Approval};
use countersign_runtime::{DispatchPorts, dispatch};
use countersign_shop::{Disturbance, Shop, ShopExecutor, approver};

const TOOL: &str = "create_refund_draft";
const NOW: u64 = 1_784_419_200;

pub(crate) struct Host {
    pub(crate) shop: Shop,
    pub(crate) ledger: DurableLedger<SqliteBackend>,
    pub(crate) principal: Principal,
    contract: ToolContract,
}

#[derive(Debug)]
struct StandingClock;

impl LedgerClock for StandingClock {
    fn now(&self) -> Result<Moment, ledger::Error> {
        Ok(Moment::of_second(now()).after(Duration::from_millis(1)))
    }
}

fn now() -> UtcSecond {
    UtcSecond::new(NOW).unwrap()
}

impl Host {
    pub(crate) fn open(path: &Path) -> Self {
        Self::over(
            SqliteBackend::open_with(path, Limits::default(), Arc::new(StandingClock)).unwrap(),
        )
    }

    fn over(backend: SqliteBackend) -> Self {
        let registry = countersign_shop::registry();
        let instance = InstanceId::new("host-1").unwrap();
        Self {
            shop: Shop::default(),
            ledger: DurableLedger::new(backend, instance, Lifetimes::default()),
            principal: Principal {
                tenant_id: TenantId::new("tenant-a").unwrap(),
                subject_id: SubjectId::new("user-1").unwrap(),
                roles: Roles::default(),
            },
            contract: registry.get(&ToolName::new(TOOL).unwrap()).unwrap().clone(),
        }
    }

    /// A write with an identity and a key of its own.
    pub(crate) fn call(&self, name: &str) -> Call {
        let arguments = Value::from([
            ("order_ref", Value::from("ORDER-7")),
            ("reason", "duplicate".into()),
        ]);
        Call {
            profile: Profile::OpenAiResponses,
            response_id: ResponseId::new("response-1").unwrap(),
            call_id: CallId::new(format!("call-{name}")).unwrap(),
            operation_id: OperationId::new(format!("operation-{name}")).unwrap(),
            idempotency_key: Some(IdempotencyKey::new(format!("key-{name}")).unwrap()),
            name: self.contract.name.clone(),
            arguments: Arguments::new(arguments).unwrap(),
        }
    }

    /// Dispatches with an approval, and says what the model hears.
    pub(crate) fn dispatch(&self, call: &Call) -> Result<String, ledger::Error> {
        self.dispatch_with(call, &[self.approval(call)], Disturbance::None)
    }

    pub(crate) fn dispatch_with(
        &self,
        call: &Call,
        approvals: &[Approval],
        disturbance: Disturbance,
    ) -> Result<String, ledger::Error> {
        let executor = ShopExecutor {
            shop: &self.shop,
            disturbance,
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
            approvals,
            intent: None,
            downstream_memory: None,
            now: now(),
        };
        let package = dispatch(&ports, &request)?;
        let result = package.model_result();
        Ok(match result.error_code() {
            Some(error) => error.as_str().to_owned(),
            None => result.status().as_str().to_owned(),
        })
    }

    pub(crate) fn approval(&self, call: &Call) -> Approval {
        let access = AccessRequest {
            principal: &self.principal,
            call,
            contract: &self.contract,
        };
        Approval::of(
            &access,
            &self.request(call),
            format!("approval-{}", call.call_id.as_str()),
            &approver(),
            UtcSecond::new(NOW + 60).unwrap(),
        )
    }

    pub(crate) fn status_ref(&self, call: &Call) -> StatusRef {
        let scope = Scope::of(&self.principal, call).unwrap();
        StatusRef::of(&scope, &self.request(call))
    }

    fn request(&self, call: &Call) -> RequestDigest {
        RequestDigest::of(&self.principal, call, Some(&self.contract))
    }
}
