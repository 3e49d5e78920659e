//! Workers over the durable ledger and the demonstration shop: what was approved is performed once, what is unknown is asked
//! about, and what has changed meanwhile never begins.

use std::cell::Cell;
use std::time::Duration;

use countersign_contract::{ApprovalId, ErrorCode, Principal, Revision};
use countersign_dispatch::{
    DispatchRequest, Execution, ExecutionOrder, Executor, Receipt, Registry, StatusQuestion,
    StatusSource,
};
use countersign_ledger::{
    Approvals, Decided, Decision, DurableLedger, Inspection, InstanceId, Lifetimes, MemoryBackend,
    Moment, Note, OperationDetail, Ruled, Rulings, State, StateKind, Verdict, Work,
};
use countersign_runtime::{
    DispatchPorts, Poller, PollerSettings, PrincipalDirectory, Stop, Tick, WorkPorts, dispatch,
};
use countersign_shop::{Disturbance, OrderStatus, Shop, ShopExecutor, approver, registry};

use crate::attack::stage::{Attempt, NOW, SettableClock, said};

/// A shop, a ledger that several hosts may work on, and who is known.
struct Place {
    shop: Shop,
    clock: SettableClock,
    backend: MemoryBackend,
    registry: Registry,
    knows_principals: Cell<bool>,
    /// How often something was sent to the shop.
    sent: Cell<u32>,
    disturbance: Cell<Disturbance>,
}

type Host = DurableLedger<MemoryBackend>;
/// Something changes between the decision and the execution.
type Drift = fn(&mut Place);

const SETTINGS: PollerSettings = PollerSettings {
    batch: 16,
    pause: Duration::from_millis(1),
    first_delay: Duration::from_secs(1),
    longest_delay: Duration::from_mins(1),
    max_visits: 5,
    lease: Duration::from_secs(15),
};

impl Place {
    fn new() -> Self {
        let clock = SettableClock::at(Moment::from_milliseconds(NOW * 1000).unwrap());
        Self {
            shop: Shop::default(),
            backend: MemoryBackend::new(clock.clone()),
            clock,
            registry: registry(),
            knows_principals: Cell::new(true),
            sent: Cell::new(0),
            disturbance: Cell::new(Disturbance::None),
        }
    }

    fn host(&self, name: &str) -> Host {
        let instance = InstanceId::new(name).unwrap();
        DurableLedger::new(self.backend.clone(), instance, Lifetimes::default())
            .with_steady_clock(self.clock.clone())
    }

    fn ports<'p>(&'p self, ledger: &'p Host) -> WorkPorts<'p> {
        WorkPorts {
            ledger,
            registry: &self.registry,
            principals: self,
            authorizer: &self.shop,
            approvers: &self.shop,
            state: &self.shop,
            executor: self,
            source: self,
        }
    }

    fn tick(&self, ledger: &Host) -> Tick {
        let poller = Poller::new(self.ports(ledger), SETTINGS);
        poller.tick(&Stop::default()).unwrap()
    }

    /// Dispatches with what the caller offers; the caller's clock stands still.
    fn says(&self, ledger: &Host, attempt: &Attempt) -> &'static str {
        let ports = DispatchPorts {
            ledger,
            authorizer: &self.shop,
            approvers: &self.shop,
            state: &self.shop,
            executor: self,
        };
        said(&attempt.dispatch(&ports).unwrap())
    }

    /// A write that waits, and was approved.
    fn approved(&self, ledger: &Host) -> Attempt {
        let attempt = Attempt::refund();
        assert_eq!(self.says(ledger, &attempt), "APPROVAL_REQUIRED");
        let decided = approve(ledger, &attempt, 60);
        assert!(matches!(decided, Decided::Counts(_)), "{decided:?}");
        attempt
    }
}

fn approve(ledger: &Host, attempt: &Attempt, seconds: u64) -> Decided {
    let now = ledger.now().unwrap().second();
    let decision = Decision::Approve {
        by: approver(),
        approval_id: ApprovalId::new("approval-9").unwrap(),
        expires_at: now.checked_add(seconds).unwrap(),
    };
    ledger.decide(&attempt.status_ref(), &decision).unwrap()
}

fn detail(ledger: &Host, attempt: &Attempt) -> OperationDetail {
    ledger.operation(&attempt.status_ref()).unwrap().unwrap()
}

fn state(ledger: &Host, attempt: &Attempt) -> StateKind {
    detail(ledger, attempt).record.kind()
}

impl Executor for Place {
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
        self.sent.set(self.sent.get() + 1);
        let line = ShopExecutor {
            shop: &self.shop,
            disturbance: self.disturbance.get(),
        };
        line.execute(order)
    }
}

impl StatusSource for Place {
    fn receipt(&self, question: &StatusQuestion<'_>) -> Option<Receipt> {
        self.shop.receipt(question)
    }
}

impl PrincipalDirectory for Place {
    fn current(&self, stored: &Principal) -> Option<Principal> {
        self.knows_principals.get().then(|| stored.clone())
    }
}

#[test]
fn what_was_approved_is_performed_once_though_nobody_waits_for_it() {
    let place = Place::new();
    let (one, other) = (place.host("one"), place.host("other"));
    let attempt = place.approved(&one);
    assert_eq!(place.says(&one, &attempt), "OUTCOME_UNKNOWN");
    assert_eq!(place.tick(&other).done, 1);
    assert!(place.tick(&one).is_idle());
    assert_eq!(place.shop.effect_count(), 1);
    assert_eq!(place.says(&one, &attempt), "local_replay");
    assert_eq!(state(&one, &attempt), StateKind::Succeeded);
}

#[test]
fn whatever_has_changed_before_it_begins_blocks_it_for_good() {
    let drifts: [(&str, Drift, ErrorCode); 4] = [
        (
            "the order was refunded",
            |place| {
                place
                    .shop
                    .set_order_status("ORDER-7", OrderStatus::Refunded);
            },
            ErrorCode::BusinessRuleViolation,
        ),
        (
            "the principal is gone",
            |place| place.knows_principals.set(false),
            ErrorCode::NotFound,
        ),
        (
            "the policy has another revision",
            |place| {
                let contracts = registry();
                let changed = contracts.iter().cloned().map(|mut contract| {
                    contract.revisions.policy = Revision::new("another").unwrap();
                    contract
                });
                place.registry = Registry::new(changed).unwrap();
            },
            ErrorCode::ApprovalInvalid,
        ),
        (
            "its time is over",
            |place| place.clock.pass(Duration::from_secs(61)),
            ErrorCode::ApprovalInvalid,
        ),
    ];
    for (name, drift, cause) in drifts {
        let mut place = Place::new();
        let host = place.host("host");
        let attempt = place.approved(&host);
        drift(&mut place);
        let tick = place.tick(&host);
        assert_eq!(tick.blocked + tick.expired, 1, "{name}");
        let detail = detail(&host, &attempt);
        assert_eq!(detail.record.state, State::Blocked { cause }, "{name}");
        assert_eq!((place.sent.get(), place.shop.effect_count()), (0, 0));
        // It needs another approval: this one is used up.
        assert!(place.tick(&host).is_idle(), "{name}");
    }
}

#[test]
fn an_unknown_outcome_is_asked_about_and_ends_with_the_receipt() {
    let place = Place::new();
    let host = place.host("host");
    let attempt = place.approved(&host);
    place.disturbance.set(Disturbance::AnswerLost);
    let tick = place.tick(&host);
    assert_eq!((tick.done, tick.postponed), (0, 1));
    assert_eq!(state(&host, &attempt), StateKind::Unknown);
    place.clock.pass(Duration::from_secs(2));
    assert_eq!(place.tick(&host).done, 1);
    assert_eq!(state(&host, &attempt), StateKind::Succeeded);
    assert_eq!(place.says(&host, &attempt), "local_replay");
    assert_eq!((place.sent.get(), place.shop.effect_count()), (1, 1));
}

#[test]
fn what_nobody_can_tell_is_left_to_a_person_and_is_never_sent_again() {
    let place = Place::new();
    let host = place.host("host");
    let attempt = place.approved(&host);
    place.disturbance.set(Disturbance::AnswerAndReceiptLost);
    let mut given_up = 0;
    for _ in 0..20 {
        given_up += place.tick(&host).given_up;
        place.clock.pass(Duration::from_mins(2));
    }
    assert_eq!((given_up, place.sent.get()), (1, 1));
    let record = detail(&host, &attempt).record;
    assert!(record.is_dead_letter);
    assert_eq!(record.kind(), StateKind::Unknown);
    // A person looked: it was not executed, which frees the key for another approval.
    let note = Note::new("the shop has no draft").unwrap();
    let ruled = host.rule(
        &attempt.status_ref(),
        &Verdict::NotExecuted,
        &approver(),
        &note,
    );
    assert!(matches!(ruled, Ok(Ruled::Counts(_))), "{ruled:?}");
    assert_eq!(place.says(&host, &attempt), "APPROVAL_REQUIRED");
}

#[test]
fn a_holder_that_is_gone_leaves_an_unknown_outcome_and_a_living_one_does_not() {
    let place = Place::new();
    let (gone, alive) = (place.host("gone"), place.host("alive"));
    let attempt = Attempt::approved_refund();
    // While the holder performs it, another host looks again and again.
    let looks = |_: &ExecutionOrder<'_>| {
        place.clock.pass(Duration::from_secs(10));
        gone.heartbeat().unwrap();
        place.clock.pass(Duration::from_secs(10));
        assert_eq!(alive.recover(16), Ok(0));
        assert_eq!(state(&alive, &attempt), StateKind::Executing);
        // Now it stops being heard of.
        place.clock.pass(Duration::from_secs(16));
        assert_eq!(alive.recover(16), Ok(1));
        assert_eq!(state(&alive, &attempt), StateKind::Unknown);
        Execution::AnswerLost
    };
    let ports = DispatchPorts {
        ledger: &gone,
        authorizer: &place.shop,
        approvers: &place.shop,
        state: &place.shop,
        executor: &Meanwhile(&looks),
    };
    assert_eq!(said(&attempt.dispatch(&ports).unwrap()), "OUTCOME_UNKNOWN");
    assert_eq!(state(&alive, &attempt), StateKind::Unknown);
}

/// Something happens while a holder performs.
struct Meanwhile<'m>(&'m dyn Fn(&ExecutionOrder<'_>) -> Execution);

impl Executor for Meanwhile<'_> {
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
        (self.0)(order)
    }
}

#[test]
fn a_write_whose_downstream_knows_the_key_is_sent_again_while_it_remembers() {
    let place = Place::new();
    let host = place.host("host");
    let attempt = Attempt::refund();
    let request = |approvals| DispatchRequest {
        principal: &attempt.principal,
        call: &attempt.call,
        contract: Some(&attempt.contract),
        approvals,
        intent: None,
        downstream_memory: Some(Duration::from_hours(1)),
        now: host.now().unwrap().second(),
    };
    let ports = DispatchPorts {
        ledger: &host,
        authorizer: &place.shop,
        approvers: &place.shop,
        state: &place.shop,
        executor: &Meanwhile(&|_| Execution::AnswerLost),
    };
    let approvals = [attempt.approval()];
    let package = dispatch(&ports, &request(&approvals)).unwrap();
    assert_eq!(said(&package), "OUTCOME_UNKNOWN");
    // The attempt may still be under way: nothing is sent.
    assert_eq!(place.tick(&host).postponed, 1);
    assert_eq!(place.sent.get(), 0);
    place.clock.pass(Duration::from_mins(1));
    // A refusal to begin again proves nothing about the first attempt.
    place.disturbance.set(Disturbance::RateLimit);
    assert_eq!(place.tick(&host).postponed, 1);
    assert_eq!(state(&host, &attempt), StateKind::Unknown);
    place.disturbance.set(Disturbance::None);
    place.clock.pass(Duration::from_mins(1));
    assert_eq!(place.tick(&host).done, 1);
    assert_eq!((place.sent.get(), place.shop.effect_count()), (2, 1));
}

#[test]
fn a_clock_that_was_set_back_sends_nothing_to_a_downstream_that_has_forgotten() {
    let place = Place::new();
    let host = place.host("host");
    let attempt = Attempt::refund();
    let approvals = [attempt.approval()];
    let begun = host.now().unwrap();
    let request = DispatchRequest {
        principal: &attempt.principal,
        call: &attempt.call,
        contract: Some(&attempt.contract),
        approvals: &approvals,
        intent: None,
        downstream_memory: Some(Duration::from_hours(1)),
        now: begun.second(),
    };
    let ports = DispatchPorts {
        ledger: &host,
        authorizer: &place.shop,
        approvers: &place.shop,
        state: &place.shop,
        executor: &Meanwhile(&|_| Execution::AnswerLost),
    };
    dispatch(&ports, &request).unwrap();
    place.clock.pass(Duration::from_hours(2));
    place.clock.set(begun.after(Duration::from_mins(5)));
    for _ in 0..10 {
        place.tick(&host);
        place.clock.pass(Duration::from_mins(2));
    }
    assert_eq!(place.sent.get(), 0);
    assert!(detail(&host, &attempt).record.is_dead_letter);
}

#[test]
fn a_clock_that_was_set_ahead_lets_nobody_say_too_early_that_nothing_was_executed() {
    let place = Place::new();
    let host = place.host("host");
    let attempt = place.approved(&host);
    place.disturbance.set(Disturbance::AnswerAndReceiptLost);
    place.tick(&host);
    place
        .clock
        .set(host.now().unwrap().after(Duration::from_hours(1)));
    let rule = || {
        let note = Note::new("looked").unwrap();
        let status_ref = attempt.status_ref();
        host.rule(&status_ref, &Verdict::NotExecuted, &approver(), &note)
    };
    assert!(matches!(rule(), Ok(Ruled::TooEarly(_))));
    place.clock.pass(Duration::from_mins(1));
    assert!(matches!(rule(), Ok(Ruled::Counts(_))));
}

#[test]
fn a_person_decides_about_what_they_were_shown_and_nothing_else() {
    let place = Place::new();
    let host = place.host("host");
    let attempt = Attempt::refund();
    assert_eq!(place.says(&host, &attempt), "APPROVAL_REQUIRED");
    let shown = detail(&host, &attempt).record;
    // The policy changes, and the same call is asked for again under another call identity.
    let anew = attempt.clone().call_id("call-2").with(|attempt| {
        attempt.contract.revisions.policy = Revision::new("another").unwrap();
    });
    assert_eq!(anew.status_ref(), attempt.status_ref());
    assert_eq!(place.says(&host, &anew), "APPROVAL_REQUIRED");
    let decision = Decision::Approve {
        by: approver(),
        approval_id: ApprovalId::new("approval-9").unwrap(),
        expires_at: host.now().unwrap().second().checked_add(60).unwrap(),
    };
    let decided = host.decide_on(&shown, &decision).unwrap();
    assert!(matches!(decided, Decided::TooLate(_)), "{decided:?}");
    assert_eq!(state(&host, &attempt), StateKind::AwaitingApproval);
    let decided = host
        .decide_on(&detail(&host, &anew).record, &decision)
        .unwrap();
    assert!(matches!(decided, Decided::Counts(_)), "{decided:?}");
}

#[test]
fn a_stopped_poller_leaves_what_it_claimed_to_others_at_once() {
    let place = Place::new();
    let (one, other) = (place.host("one"), place.host("other"));
    place.approved(&one);
    let stop = Stop::default();
    let poller = Poller::new(place.ports(&one), SETTINGS);
    stop.stop();
    assert!(poller.tick(&stop).unwrap().is_idle());
    assert_eq!(place.tick(&other).done, 1);
    poller.run(&stop, &|_| {}, &|_| {}).unwrap();
    let gauges = poller.gauges().unwrap();
    assert_eq!(gauges.open.reserved + gauges.open.unknown, 0);
}

#[test]
fn delays_double_to_a_bound_and_vary() {
    let delay = |visits, jitter| SETTINGS.delay(visits, jitter);
    assert_eq!(delay(1, 1.0), Duration::from_secs(1));
    assert_eq!(delay(3, 1.0), Duration::from_secs(4));
    assert_eq!(delay(3, 0.0), Duration::from_secs(2));
    assert_eq!(delay(u32::MAX, 1.0), Duration::from_mins(1));
    assert_eq!(delay(0, 2.0), Duration::from_secs(1));
}
