//! The machine against a ledger that can lose answers, under any sequence of events.

use std::collections::BTreeMap;

use countersign_endpoint::{
    Action, ActionRow, Begin, Condition, Execution, ExecutorGone, HandlerOutcome, InstanceId,
    InstanceLease, Members, PutDecision, PutRefusal, Refusal, StateName, Stored, Write, decide_put,
    observe, recover,
};
use proptest::prelude::*;
use serde_json::json;

use crate::sample::{ACTION, OTHER_ACTION, at, instance, request, sign, unsigned, worker};

/// A ledger as [`Write`] asks for it, which also checks every step.
#[derive(Default)]
struct Ledger {
    rows: BTreeMap<String, ActionRow>,
}

impl Ledger {
    fn apply(&mut self, write: &Write) -> bool {
        let row = write.row();
        let current = self.rows.get(&row.action_id);
        let holds = match write.condition() {
            Condition::Absent => {
                current.is_none()
                    && self
                        .rows
                        .values()
                        .all(|other| other.execution_digest != row.execution_digest)
            }
            Condition::InState(state) => {
                current.is_some_and(|current| current.state == state.as_str())
            }
        };
        if holds {
            let next = StateName::parse(&row.state).expect("a state");
            match current {
                None => assert_eq!(next, StateName::Prepared),
                Some(current) => {
                    assert!(
                        StateName::parse(&current.state)
                            .expect("a state")
                            .may_become(next)
                    );
                    assert_eq!(
                        (&current.content, &current.owner),
                        (&row.content, &row.owner)
                    );
                }
            }
            self.rows.insert(row.action_id.clone(), row.clone());
        }
        holds
    }

    fn action(&self, id: &str) -> Option<Action> {
        self.rows.get(id).map(|row| {
            let action = Action::from_row(row).expect("a row of ours");
            assert_eq!(&action.to_row(), row, "rows survive a round trip");
            action
        })
    }

    fn stored(&self, id: &str) -> Stored {
        Stored {
            action: self.action(id),
            execution_digest_holder: None,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Event {
    /// A PUT by one of two workers. `foreign` is another owner's, `other` has other content.
    Put {
        instance: u32,
        foreign: bool,
        other: bool,
        commit: Commit,
    },
    Get {
        foreign: bool,
    },
    /// A running handler ends.
    Finish {
        performed: bool,
        in_bounds: bool,
        commit: Commit,
    },
    /// A process dies with all its permissions; its lease is left to expire.
    Crash {
        instance: u32,
    },
    /// Recovery by an expired lease, or by an exclusive lock after all processes died.
    Recover {
        instance: u32,
        exclusive: bool,
    },
    Wait {
        seconds: u32,
    },
}

/// What becomes of a write.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Commit {
    Made,
    NotMade,
    /// Made, but the answer was lost: the caller must not go on.
    AnswerLost,
}

fn event() -> impl Strategy<Value = Event> {
    let commit = || prop_oneof![4 => Just(Commit::Made), 1 => Just(Commit::NotMade), 1 => Just(Commit::AnswerLost)];
    prop_oneof![
        4 => (0..2_u32, prop::bool::weighted(0.1), prop::bool::weighted(0.1), commit())
            .prop_map(|(instance, foreign, other, commit)| Event::Put { instance, foreign, other, commit }),
        2 => prop::bool::weighted(0.2).prop_map(|foreign| Event::Get { foreign }),
        2 => (any::<bool>(), prop::bool::weighted(0.8), commit())
            .prop_map(|(performed, in_bounds, commit)| Event::Finish { performed, in_bounds, commit }),
        1 => (0..2_u32).prop_map(|instance| Event::Crash { instance }),
        2 => (0..2_u32, any::<bool>()).prop_map(|(instance, exclusive)| Event::Recover { instance, exclusive }),
        1 => (0..400_u32).prop_map(|seconds| Event::Wait { seconds }),
    ]
}

#[derive(Default)]
struct World {
    ledger: Ledger,
    running: Vec<(InstanceId, Execution)>,
    runs: usize,
    clock: f64,
    /// Results of settled states, which may never change again.
    settled: Option<Vec<u8>>,
}

impl World {
    fn step(&mut self, event: Event) {
        let before = self.ledger.action(ACTION).map(|action| action.state());
        match event {
            Event::Put {
                instance: number,
                foreign,
                other,
                commit,
            } => self.put(number, foreign, other, commit),
            Event::Get { foreign } => self.get(foreign),
            Event::Finish {
                performed,
                in_bounds,
                commit,
            } => self.finish(performed, in_bounds, commit),
            Event::Crash { instance: number } => {
                self.running.retain(|(owner, _)| *owner != instance(number));
            }
            Event::Recover {
                instance: number,
                exclusive,
            } => self.recover(number, exclusive),
            Event::Wait { seconds } => self.clock += f64::from(seconds),
        }
        self.check(before);
    }

    fn commit(&mut self, write: &Write, commit: Commit) -> bool {
        match commit {
            Commit::Made => self.ledger.apply(write),
            Commit::NotMade => false,
            Commit::AnswerLost => {
                self.ledger.apply(write);
                false
            }
        }
    }

    fn put(&mut self, number: u32, foreign: bool, other: bool, commit: Commit) {
        let worker = worker(if foreign { "stranger" } else { "colony" });
        let mut document = unsigned(ACTION);
        if other {
            document["args"]["hours"] = json!(25);
        }
        let request = crate::sample::read(&sign(document)).expect("a valid request");
        let before = self.ledger.action(ACTION);
        let now = at(self.clock);
        let admitted = match decide_put(self.ledger.stored(ACTION), request, &worker, now) {
            PutDecision::Store { write, admitted } => {
                assert!(before.is_none() && self.clock < 600.0);
                if !self.commit(&write, commit) {
                    return;
                }
                admitted
            }
            PutDecision::Resume(admitted) => admitted,
            PutDecision::Replay(result) => {
                assert_eq!(Some(result), before.map(|action| action.result()));
                return;
            }
            PutDecision::Fail { write, result } => {
                if self.commit(&write, commit) {
                    assert!(result.as_str().contains("\"not_performed\""));
                }
                return;
            }
            PutDecision::Refuse(refusal) => {
                let expected = match refusal {
                    PutRefusal::ForeignOwner | PutRefusal::OtherContent => Refusal::Conflict,
                    PutRefusal::ApprovalExpired => Refusal::Invalid,
                    PutRefusal::ExecutionDigestTaken | PutRefusal::ApprovalDecidedAhead => {
                        panic!("{refusal}")
                    }
                };
                assert_eq!(refusal.refusal(), expected);
                return;
            }
        };
        match admitted.begin(instance(number), now) {
            Begin::Start(starting) => {
                let write = starting.write().clone();
                if self.commit(&write, commit) {
                    self.runs += 1;
                    self.running.push((instance(number), starting.committed()));
                }
            }
            Begin::Fail { write, .. } => {
                self.commit(&write, commit);
            }
        }
    }

    fn get(&self, foreign: bool) {
        let action = self.ledger.action(ACTION);
        let answer = observe(
            action.as_ref(),
            &worker(if foreign { "stranger" } else { "colony" }),
        );
        match action {
            None => assert_eq!(answer, Err(Refusal::NotFound)),
            Some(action)
                if action.subject().owner().as_str()
                    == if foreign { "stranger" } else { "colony" } =>
            {
                assert_eq!(answer, Ok(action.result()));
            }
            Some(_) => assert_eq!(answer, Err(Refusal::AuthorityDenied)),
        }
    }

    fn finish(&mut self, performed: bool, in_bounds: bool, commit: Commit) {
        let Some((_, execution)) = self.running.pop() else {
            return;
        };
        let outcome = if performed {
            HandlerOutcome::Performed {
                effect_id: if in_bounds { "eff-1" } else { "bad id" }.to_owned(),
                outcome: "done".to_owned(),
                verification: Members::new(),
            }
        } else {
            HandlerOutcome::Unknown
        };
        let finished = execution.finish(outcome, at(self.clock));
        let expected = if performed && in_bounds {
            StateName::Completed
        } else {
            StateName::Ambiguous
        };
        assert_eq!(finished.settled().ending().state(), expected);
        self.commit(&finished.write().clone(), commit);
    }

    fn recover(&mut self, number: u32, exclusive: bool) {
        let now = at(self.clock);
        // A lease lives as long as its process; an exclusive lock means that none lives.
        let gone = if exclusive {
            self.running
                .is_empty()
                .then(|| ExecutorGone::by_exclusive_ledger_lock(instance(9)))
        } else {
            let lives = self
                .running
                .iter()
                .any(|(owner, _)| *owner == instance(number));
            let expires_at = at(self.clock + if lives { 1.0 } else { 0.0 });
            ExecutorGone::by_expired_lease(
                &InstanceLease {
                    instance: instance(number),
                    expires_at,
                },
                now,
            )
        };
        if let (Some(gone), Some(action)) = (gone, self.ledger.action(ACTION))
            && let Some(finished) = recover(action, &gone, now)
        {
            assert!(self.ledger.apply(finished.write()));
        }
    }

    fn check(&mut self, before: Option<StateName>) {
        assert!(self.runs <= 1, "a handler ran twice");
        let Some(action) = self.ledger.action(ACTION) else {
            assert!(before.is_none(), "a row vanished");
            return;
        };
        let after = action.state();
        if before == Some(StateName::Executing) {
            assert!(matches!(
                after,
                StateName::Executing | StateName::Completed | StateName::Ambiguous
            ));
        }
        if after == StateName::Failed {
            assert_eq!(self.runs, 0, "failed says that nothing was performed");
        }
        if matches!(
            after,
            StateName::Completed | StateName::Failed | StateName::Ambiguous
        ) {
            let bytes = action.result().as_bytes().to_vec();
            assert_eq!(
                self.settled.get_or_insert_with(|| bytes.clone()),
                &bytes,
                "a settled result changed"
            );
        } else {
            assert!(self.settled.is_none(), "a settled action came back");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_runs_twice_under_any_sequence(events in prop::collection::vec(event(), 1..24)) {
        let mut world = World::default();
        for event in events {
            world.step(event);
        }
    }
}

fn stored_prepared() -> Ledger {
    let mut ledger = Ledger::default();
    let PutDecision::Store { write, .. } = decide_put(
        Stored::default(),
        request(ACTION),
        &worker("colony"),
        at(0.0),
    ) else {
        panic!("a first PUT");
    };
    assert!(ledger.apply(&write));
    ledger
}

#[test]
fn an_approval_that_is_dead_at_the_first_put_stores_nothing() {
    for (offset, expected) in [
        (-30.25, Some(PutRefusal::ApprovalDecidedAhead)),
        (-30.0, None),
        (599.75, None),
        (600.0, Some(PutRefusal::ApprovalExpired)),
    ] {
        match decide_put(
            Stored::default(),
            request(ACTION),
            &worker("colony"),
            at(offset),
        ) {
            PutDecision::Store { .. } => assert_eq!(expected, None, "{offset}"),
            PutDecision::Refuse(refusal) => {
                assert_eq!(Some(refusal), expected, "{offset}");
                assert_eq!(refusal.refusal(), Refusal::Invalid);
            }
            decision @ (PutDecision::Resume(_)
            | PutDecision::Replay(_)
            | PutDecision::Fail { .. }) => {
                panic!("{offset}: {decision:?}")
            }
        }
    }
}

#[test]
fn a_prepared_action_resumes_while_alive_and_fails_when_dead() {
    let ledger = stored_prepared();
    let again = |offset| {
        decide_put(
            ledger.stored(ACTION),
            request(ACTION),
            &worker("colony"),
            at(offset),
        )
    };
    let PutDecision::Resume(admitted) = again(599.0) else {
        panic!("alive")
    };
    // It dies between the decision and the execution.
    let Begin::Fail { write, result } = admitted.begin(instance(1), at(600.0)) else {
        panic!("dead")
    };
    assert_eq!(
        (write.row().state.as_str(), write.condition()),
        ("failed", Condition::InState(StateName::Prepared))
    );
    assert!(result.as_str().contains("\"status\":\"failed\""));
    assert!(matches!(again(600.0), PutDecision::Fail { .. }));
}

#[test]
fn only_the_faster_of_two_replicas_executes() {
    let mut ledger = stored_prepared();
    let start = |ledger: &Ledger, number| {
        let decision = decide_put(
            ledger.stored(ACTION),
            request(ACTION),
            &worker("colony"),
            at(1.0),
        );
        let PutDecision::Resume(admitted) = decision else {
            panic!("alive")
        };
        let Begin::Start(starting) = admitted.begin(instance(number), at(1.0)) else {
            panic!("alive")
        };
        starting
    };
    let (first, second) = (start(&ledger, 1), start(&ledger, 2));
    assert!(ledger.apply(first.write()));
    assert!(
        !ledger.apply(second.write()),
        "the second finds the row executing"
    );
}

#[test]
fn a_taken_execution_digest_is_a_conflict() {
    let holder = countersign_endpoint::ActionId::parse(OTHER_ACTION);
    let stored = Stored {
        action: None,
        execution_digest_holder: holder,
    };
    let decision = decide_put(stored, request(ACTION), &worker("colony"), at(0.0));
    let PutDecision::Refuse(refusal) = decision else {
        panic!("a conflict")
    };
    assert_eq!(
        (refusal, refusal.refusal()),
        (PutRefusal::ExecutionDigestTaken, Refusal::Conflict)
    );
}

#[test]
fn content_is_compared_as_written_not_as_meant() {
    let ledger = stored_prepared();
    let mut document = unsigned(ACTION);
    document["version"] = json!(1.0);
    let float = crate::sample::read(&sign(document)).expect("a valid request");
    let decision = decide_put(ledger.stored(ACTION), float, &worker("colony"), at(1.0));
    assert!(matches!(
        decision,
        PutDecision::Refuse(PutRefusal::OtherContent)
    ));
}

#[test]
fn recovery_needs_proof_about_the_very_executor() {
    let mut ledger = stored_prepared();
    let lease = |number| InstanceLease {
        instance: instance(number),
        expires_at: at(10.0),
    };
    assert!(ExecutorGone::by_expired_lease(&lease(1), at(9.75)).is_none());
    let first = ExecutorGone::by_expired_lease(&lease(1), at(10.0)).expect("expired");
    let second = ExecutorGone::by_expired_lease(&lease(2), at(10.0)).expect("expired");
    assert_eq!(
        recover(ledger.action(ACTION).expect("a row"), &first, at(10.0)),
        None,
        "prepared is not touched"
    );

    let decision = decide_put(
        ledger.stored(ACTION),
        request(ACTION),
        &worker("colony"),
        at(1.0),
    );
    let PutDecision::Resume(admitted) = decision else {
        panic!("alive")
    };
    let Begin::Start(starting) = admitted.begin(instance(1), at(1.0)) else {
        panic!("alive")
    };
    assert!(ledger.apply(starting.write()));
    let action = || ledger.action(ACTION).expect("a row");
    assert_eq!(recover(action(), &second, at(10.0)), None);
    assert_eq!(
        recover(
            action(),
            &ExecutorGone::by_exclusive_ledger_lock(instance(1)),
            at(10.0)
        ),
        None
    );
    assert!(
        recover(
            action(),
            &ExecutorGone::by_exclusive_ledger_lock(instance(2)),
            at(10.0)
        )
        .is_some()
    );
    let finished = recover(action(), &first, at(10.0)).expect("recovered");
    // The executor was alive after all and comes late: its write finds the row settled.
    let late = starting
        .committed()
        .finish(HandlerOutcome::Unknown, at(11.0));
    assert!(ledger.apply(finished.write()));
    assert!(!ledger.apply(late.write()));
}
