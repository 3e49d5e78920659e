//! How many calls one core takes through the whole pipeline: the demonstration shop behind a ledger in memory.
//!
//! Every call has an identity of its own, and every write a key and an approval of its own; the ledger begins empty with
//! each thousand. What is measured is the processor time of the pipeline from the call to its package: not the making of
//! calls, and not what else the machine is busy with.

use std::hint::black_box;
use std::time::Duration;

use countersign_canonical::{Object, Value};
use countersign_contract::{
    Arguments, Call, CallId, IdempotencyKey, OperationId, Principal, Profile, RequestDigest,
    ResponseId, Roles, SubjectId, TenantId, ToolContract, ToolName, UtcSecond,
};
use countersign_dispatch::{DispatchRequest, MemoryLedger};
use countersign_policy::{AccessRequest, Approval};
use countersign_runtime::{DispatchPorts, dispatch};
use countersign_shop::{Disturbance, Shop, ShopExecutor, approver};
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BatchSize, Criterion, Throughput};
use rustix::time::{ClockId, clock_gettime};

const CALLS: u64 = 1_000;
const NOW: u64 = 1_784_419_200;

fn main() {
    let mut criterion = Criterion::default()
        .with_measurement(ProcessorTime)
        .configure_from_args();
    measure(&mut criterion, "dispatch/read", "get_order", 1);
    measure(&mut criterion, "dispatch/write", "create_refund_draft", 1);
    measure(
        &mut criterion,
        "dispatch/write, then its replay",
        "create_refund_draft",
        2,
    );
    criterion.final_summary();
}

/// Dispatches a thousand calls, each so many times.
fn measure(criterion: &mut Criterion<ProcessorTime>, name: &str, tool: &str, times: u64) {
    let host = Host::new(tool);
    let calls: Vec<_> = (0..CALLS).map(|number| host.call(number)).collect();
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(CALLS * times));
    group.bench_function("in memory", |bencher| {
        bencher.iter_batched(
            MemoryLedger::default,
            |ledger| {
                for (call, approval) in &calls {
                    for _ in 0..times {
                        host.dispatch(&ledger, call, approval);
                    }
                }
                ledger
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// The time that this thread spends on a processor.
struct ProcessorTime;

impl Measurement for ProcessorTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        known(Duration::try_from(now))
    }

    fn end(&self, start: Duration) -> Duration {
        self.start().saturating_sub(start)
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_secs_f64() * 1e9
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

struct Host {
    shop: Shop,
    principal: Principal,
    contract: ToolContract,
}

impl Host {
    fn new(tool: &str) -> Self {
        let name = known(ToolName::new(tool));
        let registry = countersign_shop::registry();
        Self {
            shop: Shop::default(),
            principal: Principal {
                tenant_id: known(TenantId::new("tenant-a")),
                subject_id: known(SubjectId::new("user-1")),
                roles: Roles::default(),
            },
            contract: known(registry.get(&name).cloned().ok_or("no such tool")),
        }
    }

    /// A call of the tool with an identity, a key and an approval of its own.
    fn call(&self, number: u64) -> (Call, Approval) {
        let mut arguments = vec![("order_ref", "ORDER-7")];
        if self.contract.name.as_str() == "create_refund_draft" {
            arguments.push(("reason", "duplicate"));
        }
        let arguments: Object = arguments
            .into_iter()
            .map(|(name, text)| (name.to_owned(), Value::from(text)))
            .collect();
        let call = Call {
            profile: Profile::OpenAiResponses,
            response_id: known(ResponseId::new("response-1")),
            call_id: known(CallId::new(format!("call-{number}"))),
            operation_id: known(OperationId::new(format!("operation-{number}"))),
            idempotency_key: Some(known(IdempotencyKey::new(format!("key-{number}")))),
            name: self.contract.name.clone(),
            arguments: known(Arguments::new(Value::Object(arguments))),
        };
        let access = AccessRequest {
            principal: &self.principal,
            call: &call,
            contract: &self.contract,
        };
        let approval = Approval::of(
            &access,
            &RequestDigest::of(&self.principal, &call, Some(&self.contract)),
            format!("approval-{number}"),
            &approver(),
            time(NOW + 60),
        );
        (call, approval)
    }

    fn dispatch(&self, ledger: &MemoryLedger, call: &Call, approval: &Approval) {
        let executor = ShopExecutor {
            shop: &self.shop,
            disturbance: Disturbance::None,
        };
        let ports = DispatchPorts {
            ledger,
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
            now: time(NOW),
        };
        let package = known(dispatch(&ports, &request));
        assert_eq!(package.model_result().status().as_str(), "succeeded");
        black_box(package);
    }
}

fn time(seconds: u64) -> UtcSecond {
    known(UtcSecond::new(seconds).ok_or("no portable time"))
}

#[expect(
    clippy::expect_used,
    reason = "a benchmark stops where something is wrong"
)]
fn known<T, E: std::fmt::Debug>(result: Result<T, E>) -> T {
    result.expect("the benchmark's own values are in order")
}
