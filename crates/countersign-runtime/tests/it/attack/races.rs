//! Many threads at once on one in-memory ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;
use std::thread;

use countersign_contract::{ModelResult, Package};
use countersign_dispatch::{Execution, ExecutionOrder, Executor};
use countersign_shop::{Disturbance, ShopExecutor};

use super::stage::{Attempt, FRESH, RECONCILED, REPLAY, Said, Stage, revision, said};

const THREADS: usize = 64;

/// How often each word was said.
type Tally = BTreeMap<Said, usize>;

/// Acts slowly, so that the others come while it is at it.
struct Slow<'s>(ShopExecutor<'s>);

impl Executor for Slow<'_> {
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
        for _ in 0..50 {
            thread::yield_now();
        }
        let execution = self.0.execute(order);
        for _ in 0..50 {
            thread::yield_now();
        }
        execution
    }
}

/// Dispatches every attempt on a thread of its own, all at the same moment.
fn race(stage: &Stage, attempts: &[Attempt]) -> Vec<Package> {
    let start = Barrier::new(attempts.len());
    thread::scope(|scope| {
        let racers: Vec<_> = attempts
            .iter()
            .map(|attempt| {
                let start = &start;
                scope.spawn(move || {
                    let executor = Slow(stage.line(attempt.disturbance));
                    let ports = stage.ports(&executor);
                    start.wait();
                    attempt.dispatch(&ports).unwrap()
                })
            })
            .collect();
        racers
            .into_iter()
            .map(|racer| racer.join().unwrap())
            .collect()
    })
}

fn tally(packages: &[Package]) -> Tally {
    packages.iter().fold(Tally::new(), |mut tally, package| {
        *tally.entry(said(package)).or_default() += 1;
        tally
    })
}

fn only(tally: &Tally, words: &[Said]) {
    assert!(tally.keys().all(|word| words.contains(word)), "{tally:?}");
}

fn drafts(packages: &[Package]) -> BTreeSet<String> {
    let successes = packages
        .iter()
        .filter_map(|package| match package.model_result() {
            ModelResult::Success(success) => Some(success),
            ModelResult::Error { .. } => None,
        });
    successes
        .map(|success| {
            success
                .data
                .get("draft_id")
                .unwrap()
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

#[test]
fn one_call_posted_by_everyone_acts_once() {
    let stage = Stage::default();
    let packages = race(&stage, &vec![Attempt::approved_refund(); THREADS]);
    let tally = tally(&packages);
    assert_eq!(stage.shop.effect_count(), 1);
    assert_eq!(tally.get(FRESH), Some(&1), "{tally:?}");
    only(&tally, &[FRESH, REPLAY, "OUTCOME_UNKNOWN"]);
    assert_eq!(drafts(&packages).len(), 1);
    assert_eq!(stage.says(&Attempt::approved_refund()), (REPLAY, 1));
}

#[test]
fn one_key_under_many_calls_acts_once() {
    let stage = Stage::default();
    let attempts: Vec<_> = (0..THREADS)
        .map(|n| Attempt::refund().call_id(&format!("call-{n}")).approved())
        .collect();
    let packages = race(&stage, &attempts);
    let tally = tally(&packages);
    assert_eq!(stage.shop.effect_count(), 1);
    assert_eq!(tally.get(FRESH), Some(&1), "{tally:?}");
    only(&tally, &[FRESH, REPLAY, "OUTCOME_UNKNOWN"]);
    assert_eq!(drafts(&packages).len(), 1);
    for attempt in &attempts {
        assert_eq!(stage.says(attempt), (REPLAY, 1));
    }
}

#[test]
fn many_requests_under_one_key_act_once() {
    let stage = Stage::default();
    let attempts: Vec<_> = (0..THREADS)
        .map(|n| {
            let attempt = Attempt::refund().call_id(&format!("call-{n}"));
            attempt
                .with(|attempt| {
                    attempt.contract.revisions.output_schema = revision(&format!("output-{n}"));
                })
                .approved()
        })
        .collect();
    let tally = tally(&race(&stage, &attempts));
    assert_eq!(stage.shop.effect_count(), 1);
    let expected = Tally::from([(FRESH, 1), ("IDEMPOTENCY_CONFLICT", THREADS - 1)]);
    assert_eq!(tally, expected);
}

#[test]
fn one_approval_serves_one_call() {
    let stage = Stage::default();
    let first = Attempt::approved_refund();
    let second = first.clone().key("key-2").call_id("call-2");
    let attempts: Vec<_> = [first, second].into_iter().cycle().take(THREADS).collect();
    let packages = race(&stage, &attempts);
    assert_eq!(stage.shop.effect_count(), 1);
    for (n, package) in packages.iter().enumerate() {
        let is_second = n % 2 == 1;
        assert_eq!(said(package) == "APPROVAL_INVALID", is_second, "{n}");
    }
}

#[test]
fn many_keys_at_once_act_once_each() {
    const KEYS: usize = 200;
    const CALLERS: usize = 8;
    let stage = Stage::default();
    let attempts: Vec<_> = (0..KEYS)
        .map(|n| {
            let attempt = Attempt::refund().key(&format!("key-{n}"));
            attempt.call_id(&format!("call-{n}")).approved()
        })
        .collect();
    let start = Barrier::new(CALLERS);
    let packages: Vec<Package> = thread::scope(|scope| {
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let (start, stage, attempts) = (&start, &stage, &attempts);
                scope.spawn(move || {
                    let line = stage.line(Disturbance::None);
                    let ports = stage.ports(&line);
                    start.wait();
                    // Half of them from the other end.
                    let order = |n: usize| if caller % 2 == 0 { n } else { KEYS - 1 - n };
                    (0..KEYS)
                        .map(|n| attempts[order(n)].dispatch(&ports).unwrap())
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        callers
            .into_iter()
            .flat_map(|caller| caller.join().unwrap())
            .collect()
    });
    let tally = tally(&packages);
    assert_eq!(stage.shop.effect_count(), KEYS as u64);
    assert_eq!(tally.get(FRESH), Some(&KEYS), "{tally:?}");
    only(&tally, &[FRESH, REPLAY, "OUTCOME_UNKNOWN"]);
    assert_eq!(drafts(&packages).len(), KEYS);
}

#[test]
fn a_key_that_is_given_back_under_way_still_acts_once() {
    let stage = Stage::default();
    // Most are refused by the shop before anything begins, and give the key back while others wait for it.
    let attempts: Vec<_> = (0..THREADS)
        .map(|n| {
            let attempt = Attempt::refund().call_id(&format!("call-{n}")).approved();
            if n % 8 == 0 {
                attempt
            } else {
                attempt.disturbed(Disturbance::RateLimit)
            }
        })
        .collect();
    let packages = race(&stage, &attempts);
    let tally = tally(&packages);
    let effects = stage.shop.effect_count();
    assert!(effects <= 1, "{tally:?}");
    assert_eq!(tally.get(FRESH).copied().unwrap_or(0) as u64, effects);
    only(&tally, &[FRESH, REPLAY, "OUTCOME_UNKNOWN", "RATE_LIMIT"]);
    // Afterwards nothing is stuck: it has acted, or it can.
    let (word, effects) = stage.says(&attempts[0]);
    assert!([FRESH, REPLAY].contains(&word), "{word}");
    assert_eq!(effects, 1);
}

#[test]
fn questions_under_way_act_never_and_agree_in_the_end() {
    let stage = Stage::default();
    let attempt = Attempt::approved_refund();
    let start = Barrier::new(THREADS);
    let words: Vec<Said> = thread::scope(|scope| {
        let racers: Vec<_> = (0..THREADS)
            .map(|n| {
                let (start, stage, attempt) = (&start, &stage, &attempt);
                scope.spawn(move || {
                    let executor = Slow(stage.line(Disturbance::AnswerLost));
                    let ports = stage.ports(&executor);
                    start.wait();
                    if n % 4 == 0 {
                        said(&attempt.dispatch(&ports).unwrap())
                    } else {
                        stage.status(attempt, &format!("question-{n}")).0
                    }
                })
            })
            .collect();
        racers
            .into_iter()
            .map(|racer| racer.join().unwrap())
            .collect()
    });
    assert_eq!(stage.shop.effect_count(), 1);
    let known = [REPLAY, RECONCILED, "OUTCOME_UNKNOWN", "NOT_FOUND"];
    assert!(words.iter().all(|word| known.contains(word)), "{words:?}");
    assert_eq!(stage.status(&attempt, "question"), (RECONCILED, 1));
    assert_eq!(stage.says(&attempt), (REPLAY, 1));
}
