//! The process that performs writes for its clients, and the downstream that it reaches.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use countersign_canonical::{Limits, Value, parse};
use countersign_contract::{
    ApprovalId, ApproverId, Arguments, Call, CallId, HandlerAnswer, IdempotencyKey, OperationId,
    Principal, Profile, ResponseId, Scope, StatusRef, ToolContract,
};
use countersign_dispatch::{
    BusinessState, DispatchRequest, Execution, ExecutionOrder, Executor, Receipt, Registry,
    StateVerdict, StatusQuestion, StatusSource,
};
use countersign_ledger::{Approvals, Decision, DurableLedger, Inspection, InstanceId, Lifetimes};
use countersign_ledger_sqlite::SqliteBackend;
use countersign_policy::{Authorized, RuleBook};
use countersign_runtime::{
    DispatchPorts, Poller, PollerSettings, PrincipalDirectory, Stop, WorkPorts, dispatch,
    while_alive,
};

use super::pause;

/// The file that the downstream writes its effects to.
const EFFECTS: &str = "effects";
/// The file that clients write to what they were told has succeeded.
pub(crate) const TOLD: &str = "told";

/// What the process says when it begins to serve.
pub(crate) const SERVES: &str = "it serves";
const CLIENTS: u32 = 6;
/// How many keys a client works on in a round; half of them are those of earlier rounds.
const KEYS_OF_A_ROUND: u32 = 40;

const LIFETIMES: Lifetimes = Lifetimes {
    approval_wait: Duration::from_mins(10),
    cool_down: Duration::from_millis(1),
    lease: Duration::from_millis(400),
    claim: Duration::from_millis(200),
    repeat_window: Duration::from_mins(10),
    run_margin: Duration::from_millis(50),
    max_waiting: 10_000,
};

const SETTINGS: PollerSettings = PollerSettings {
    batch: 64,
    pause: Duration::from_millis(5),
    first_delay: Duration::from_millis(20),
    longest_delay: Duration::from_millis(100),
    max_visits: 20,
    lease: LIFETIMES.lease,
};

type Ledger = DurableLedger<SqliteBackend>;

pub(crate) struct Host {
    pub(crate) ledger: Ledger,
    downstream: Downstream,
    registry: Registry,
    rules: RuleBook,
}

/// Serves clients, and performs what is due, until it is killed.
pub(crate) fn serve(place: &Path, round: u32) {
    let host = Host::open(place, round);
    println!("{SERVES}");
    while_alive(&host.ledger, LIFETIMES.lease, || {
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                let host = &host;
                scope.spawn(move || host.ask_for_ever(place, round, client));
            }
            loop {
                host.tick();
                pause(SETTINGS.pause);
            }
        });
    });
}

impl Host {
    pub(crate) fn open(place: &Path, round: u32) -> Self {
        let backend = SqliteBackend::open(&place.join("ledger.db")).unwrap();
        let instance = InstanceId::new(&format!("round-{round}")).unwrap();
        Self {
            ledger: DurableLedger::new(backend, instance, LIFETIMES),
            downstream: Downstream::at(place),
            registry: Registry::new([contract()]).unwrap(),
            rules: RuleBook::from_value(&json(
                r#"{"rules": [{"effect": "permit", "tools": ["count"]}], "approvers": ["dana"]}"#,
            ))
            .unwrap(),
        }
    }

    pub(crate) fn tick(&self) {
        let ports = WorkPorts {
            ledger: &self.ledger,
            registry: &self.registry,
            principals: self,
            authorizer: &self.rules,
            approvers: &self.rules,
            state: self,
            executor: &self.downstream,
            source: &self.downstream,
        };
        Poller::new(ports, SETTINGS).tick(&Stop::default()).unwrap();
    }

    /// A client: asks for each of its keys until it is told of a success, approves where that is needed, and asks again.
    fn ask_for_ever(&self, place: &Path, round: u32, client: u32) {
        let mut told = append_to(&place.join(TOLD));
        let mut random = fastrand::Rng::new();
        loop {
            let from = round.saturating_sub(random.u32(0..2)) * KEYS_OF_A_ROUND;
            // Two clients share a key, and each asks under its own call.
            let number = from + random.u32(0..KEYS_OF_A_ROUND);
            let key = format!("key-{}-{number}", client / 2);
            let call = call(&key, &format!("call-{client}"));
            if self.says(&call) == "OK" {
                told.write_all(format!("{key}\n").as_bytes()).unwrap();
            }
        }
    }

    /// Dispatches the call, approved if it has to be, and says what came of it.
    fn says(&self, call: &Call) -> &'static str {
        let principal = principal();
        let contract = contract();
        let ports = DispatchPorts {
            ledger: &self.ledger,
            authorizer: &self.rules,
            approvers: &self.rules,
            state: self,
            executor: &self.downstream,
        };
        let scope = Scope::of(&principal, call).unwrap();
        let approvals: Vec<_> = self
            .ledger
            .live_approval(&scope)
            .unwrap()
            .into_iter()
            .collect();
        let request = DispatchRequest {
            principal: &principal,
            call,
            contract: Some(&contract),
            approvals: &approvals,
            intent: None,
            downstream_memory: None,
            now: self.ledger.now().unwrap().second(),
        };
        let package = dispatch(&ports, &request).unwrap();
        let code = package.model_result().error_code();
        let code = code.map_or("OK", countersign_contract::ErrorCode::as_str);
        if code == "APPROVAL_REQUIRED" {
            self.approve(&principal, call, &contract);
        }
        code
    }

    fn approve(&self, principal: &Principal, call: &Call, contract: &ToolContract) {
        let scope = Scope::of(principal, call).unwrap();
        let request = countersign_contract::RequestDigest::of(principal, call, Some(contract));
        let now = self.ledger.now().unwrap().second();
        let decision = Decision::Approve {
            by: ApproverId::new("dana").unwrap(),
            approval_id: ApprovalId::new(format!("approval-{}", fastrand::u64(..))).unwrap(),
            expires_at: now.checked_add(600).unwrap(),
        };
        let status_ref = StatusRef::of(&scope, &request);
        self.ledger.decide(&status_ref, &decision).unwrap();
    }
}

impl PrincipalDirectory for Host {
    fn current(&self, stored: &Principal) -> Option<Principal> {
        Some(stored.clone())
    }
}

impl BusinessState for Host {
    fn verdict(&self, _: &Authorized<'_>) -> StateVerdict {
        StateVerdict::Allows
    }
}

/// A downstream that writes down each effect under its key, in a file that outlives its callers. It never refuses a key it
/// knows: the host alone sees to it that none comes twice.
pub(crate) struct Downstream {
    file: PathBuf,
}

impl Downstream {
    pub(crate) fn at(place: &Path) -> Self {
        Self {
            file: place.join(EFFECTS),
        }
    }

    pub(crate) fn effects(&self) -> Vec<String> {
        super::lines(&self.file)
    }
}

impl Executor for Downstream {
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
        let key = order.idempotency_key().unwrap();
        // A kill may come before, in between and after.
        pause(Duration::from_micros(fastrand::u64(0..300)));
        append_to(&self.file)
            .write_all(format!("{key}\n").as_bytes())
            .unwrap();
        pause(Duration::from_micros(fastrand::u64(0..300)));
        if fastrand::u8(..) < 8 {
            return Execution::AnswerLost;
        }
        Execution::Answered(answer())
    }
}

impl StatusSource for Downstream {
    fn receipt(&self, question: &StatusQuestion<'_>) -> Option<Receipt> {
        let key = question.idempotency_key().as_str();
        let is_there = self.effects().iter().any(|effect| effect == key);
        is_there.then(|| Receipt {
            request: *question.request(),
            status_ref: question.status_ref(),
            answer: answer(),
        })
    }
}

fn append_to(file: &Path) -> File {
    let mut options = OpenOptions::new();
    options.append(true).create(true).open(file).unwrap()
}

fn answer() -> HandlerAnswer {
    HandlerAnswer {
        data: json(r#"{"n": 1}"#),
        producer_revision: "p1".to_owned(),
        resource_revision: None,
        observed_at: "2026-07-19T00:00:00Z".to_owned(),
        downstream_request_id: None,
        receipt_id: Some("receipt".to_owned()),
    }
}

fn contract() -> ToolContract {
    ToolContract::from_value(&json(
        r#"{
            "name": "count", "risk": "write", "source_label": "test",
            "revisions": {
                "input_schema": "i1", "output_schema": "o1", "effect": "e1",
                "handler": "h1", "producer": "p1", "policy": "r1"
            },
            "arguments": {"n": {"type": "integer"}}, "output": {"n": {"type": "integer"}},
            "limits": {"output_bytes": 64, "output_depth": 1}, "timeout_ms": 50
        }"#,
    ))
    .unwrap()
}

fn principal() -> Principal {
    let principal = r#"{"tenant_id": "tenant", "subject_id": "subject", "roles": []}"#;
    Principal::from_value(&json(principal)).unwrap()
}

fn call(key: &str, call_id: &str) -> Call {
    Call {
        profile: Profile::OpenAiResponses,
        response_id: ResponseId::new(key).unwrap(),
        call_id: CallId::new(call_id).unwrap(),
        operation_id: OperationId::new(key).unwrap(),
        idempotency_key: Some(IdempotencyKey::new(key).unwrap()),
        name: contract().name,
        arguments: Arguments::new(json(r#"{"n": 1}"#)).unwrap(),
    }
}

fn json(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::tool_result()).unwrap()
}
