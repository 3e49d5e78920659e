//! Random histories against a small model that was written from the protocol, not from the code.

use std::collections::BTreeMap;

use countersign_contract::{ModelResult, Package};
use countersign_shop::{Disturbance, OrderStatus};
use proptest::collection::vec;
use proptest::prelude::*;

use super::stage::{Attempt, FRESH, RECONCILED, REPLAY, Said, Stage, principal, said};

const KEYS: [&str; 3] = ["key-a", "key-b", "key-c"];
const REASONS: [&str; 2] = ["duplicate", "damaged"];
const CALLS: [&str; 5] = ["call-0", "call-1", "call-2", "call-3", "call-4"];

/// A request: which key, if any, and which reason.
type Request = (Option<usize>, usize);

#[derive(Clone, Debug)]
enum Step {
    Dispatch {
        call: usize,
        request: Request,
        line: Disturbance,
        approved: bool,
        entitled: bool,
    },
    Query {
        call: usize,
        request: Request,
        /// Whose handle is named.
        about: (usize, usize),
        entitled: bool,
    },
    /// The shop moves the order.
    Move(OrderStatus),
}

fn request() -> impl Strategy<Value = Request> {
    (prop::option::weighted(0.9, 0..KEYS.len()), 0..REASONS.len())
}

fn line() -> impl Strategy<Value = Disturbance> {
    prop_oneof![
        3 => Just(Disturbance::None),
        1 => Just(Disturbance::TimeoutBeforeExecute),
        1 => Just(Disturbance::RateLimit),
        1 => Just(Disturbance::Unreachable),
        2 => Just(Disturbance::AnswerLost),
        1 => Just(Disturbance::AnswerAndReceiptLost),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let call = 0..CALLS.len();
    let about = (0..KEYS.len(), 0..REASONS.len());
    let mostly = || prop::bool::weighted(0.9);
    prop_oneof![
        6 => (call.clone(), request(), line(), mostly(), mostly()).prop_map(
            |(call, request, line, approved, entitled)| Step::Dispatch { call, request, line, approved, entitled }
        ),
        3 => (call, request(), about, mostly()).prop_map(
            |(call, request, about, entitled)| Step::Query { call, request, about, entitled }
        ),
        1 => prop_oneof![Just(OrderStatus::Paid), Just(OrderStatus::Refunded)].prop_map(Step::Move),
    ]
}

/// What the protocol says has happened, and nothing of how.
#[derive(Debug)]
struct Model {
    is_paid: bool,
    effects: u64,
    /// What each call identity was first used for: asking or not, and for which request.
    calls: BTreeMap<usize, (bool, Request)>,
    /// What is known under each key.
    known: BTreeMap<usize, Known>,
}

#[derive(Clone, Debug)]
struct Known {
    reason: usize,
    was_unknown: bool,
    outcome: Outcome,
}

#[derive(Clone, Debug)]
enum Outcome {
    Unknown { has_receipt: bool },
    Done,
}

impl Model {
    fn new() -> Self {
        Self {
            is_paid: true,
            effects: 0,
            calls: BTreeMap::new(),
            known: BTreeMap::new(),
        }
    }

    fn expect(&mut self, step: &Step) -> Option<Said> {
        match *step {
            Step::Move(status) => {
                self.is_paid = status == OrderStatus::Paid;
                None
            }
            Step::Dispatch {
                call,
                request,
                line,
                approved,
                entitled,
            } => Some(self.dispatch(call, request, line, approved, entitled)),
            Step::Query {
                call,
                request,
                about,
                entitled,
            } => Some(self.query(call, request, about, entitled)),
        }
    }

    fn is_bound(&mut self, call: usize, asks: bool, request: Request) -> bool {
        *self.calls.entry(call).or_insert((asks, request)) == (asks, request)
    }

    fn dispatch(
        &mut self,
        call: usize,
        request: Request,
        line: Disturbance,
        approved: bool,
        entitled: bool,
    ) -> Said {
        if !self.is_bound(call, false, request) {
            return "CALL_ID_CONFLICT";
        }
        if !entitled {
            return "NOT_FOUND";
        }
        let (Some(key), reason) = request else {
            return "IDEMPOTENCY_KEY_REQUIRED";
        };
        if let Some(known) = self.known.get(&key) {
            return match known.outcome {
                _ if known.reason != reason => "IDEMPOTENCY_CONFLICT",
                Outcome::Done => REPLAY,
                Outcome::Unknown { .. } => "OUTCOME_UNKNOWN",
            };
        }
        if !self.is_paid {
            return "BUSINESS_RULE_VIOLATION";
        }
        if !approved {
            return "APPROVAL_REQUIRED";
        }
        let (outcome, word) = match line {
            Disturbance::TimeoutBeforeExecute => return "TIMEOUT_BEFORE_EXECUTE",
            Disturbance::RateLimit => return "RATE_LIMIT",
            Disturbance::Unreachable => return "TOOL_ERROR",
            Disturbance::None => (Outcome::Done, FRESH),
            Disturbance::AnswerLost => (Outcome::Unknown { has_receipt: true }, "OUTCOME_UNKNOWN"),
            Disturbance::AnswerAndReceiptLost => {
                (Outcome::Unknown { has_receipt: false }, "OUTCOME_UNKNOWN")
            }
        };
        self.effects += 1;
        let was_unknown = matches!(outcome, Outcome::Unknown { .. });
        let known = Known {
            reason,
            was_unknown,
            outcome,
        };
        self.known.insert(key, known);
        word
    }

    fn query(
        &mut self,
        call: usize,
        request: Request,
        about: (usize, usize),
        entitled: bool,
    ) -> Said {
        if !self.is_bound(call, true, request) {
            return "CALL_ID_CONFLICT";
        }
        if !entitled {
            return "NOT_FOUND";
        }
        let (key, reason) = about;
        let found = self
            .known
            .get_mut(&key)
            .filter(|known| known.reason == reason && known.was_unknown);
        let Some(known) = found else {
            return "NOT_FOUND";
        };
        if request != (Some(key), reason) {
            return "STATUS_CONFLICT";
        }
        if let Outcome::Unknown { has_receipt: false } = known.outcome {
            return "OUTCOME_UNKNOWN";
        }
        known.outcome = Outcome::Done;
        RECONCILED
    }
}

fn attempt(call: usize, (key, reason): Request, entitled: bool) -> Attempt {
    let roles: &[&str] = if entitled { &["support_admin"] } else { &[] };
    let reason = REASONS[reason];
    let attempt = Attempt::refund()
        .call_id(CALLS[call])
        .arguments(&format!(
            r#"{{"order_ref": "ORDER-8", "reason": "{reason}"}}"#
        ))
        .with(|attempt| {
            attempt.principal = principal("tenant-a", "helper", roles);
            attempt.call.idempotency_key = None;
        });
    match key {
        Some(key) => attempt.key(KEYS[key]),
        None => attempt,
    }
}

/// Does the step; every package that comes of it is proven to belong to its call on the way.
fn perform(stage: &Stage, step: &Step) -> Option<Package> {
    match *step {
        Step::Move(status) => {
            stage.shop.set_order_status("ORDER-8", status);
            None
        }
        Step::Dispatch {
            call,
            request,
            line,
            approved,
            entitled,
        } => {
            let attempt = attempt(call, request, entitled).disturbed(line);
            let attempt = if approved {
                attempt.approved()
            } else {
                attempt
            };
            Some(stage.package(&attempt).unwrap())
        }
        Step::Query {
            call,
            request,
            about: (key, reason),
            entitled,
        } => {
            let asker = attempt(call, request, entitled);
            let about = attempt(call, (Some(key), reason), entitled);
            let package = asker.query(&stage.status_ports(), about.status_ref(), asker.request());
            Some(package.unwrap())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_history_goes_as_the_protocol_says(steps in vec(step(), 1..40)) {
        let stage = Stage::default();
        let mut model = Model::new();
        let mut drafts: BTreeMap<usize, String> = BTreeMap::new();
        for (n, step) in steps.iter().enumerate() {
            let expected = model.expect(step);
            let package = perform(&stage, step);
            prop_assert_eq!(package.as_ref().map(said), expected, "step {} of {:?}", n, steps);
            prop_assert_eq!(stage.shop.effect_count(), model.effects);
            prop_assert!(model.effects <= KEYS.len() as u64);

            let key = match step {
                Step::Dispatch { request: (Some(key), _), .. } | Step::Query { request: (Some(key), _), .. } => *key,
                Step::Dispatch { .. } | Step::Query { .. } | Step::Move(_) => continue,
            };
            // Under one key there is one draft, whoever asks and however often.
            if let Some(ModelResult::Success(success)) = package.as_ref().map(Package::model_result) {
                prop_assert!(stage.shop.effect_count() > 0);
                let draft = success.data.get("draft_id").unwrap().as_str().unwrap().to_owned();
                prop_assert_eq!(drafts.entry(key).or_insert_with(|| draft.clone()), &draft);
            }
        }
        let distinct: std::collections::BTreeSet<_> = drafts.values().collect();
        prop_assert_eq!(distinct.len(), drafts.len(), "two keys share a draft: {:?}", drafts);
    }
}
