//! The in-memory ledger, method by method and from many threads.

use std::sync::Barrier;
use std::thread;

use countersign_contract::{ApprovalDigest, Purpose};
use countersign_dispatch::{
    CallBound, Fence, Lease, Ledger, MemoryLedger, NotStarted, OperationState, Reservation,
    Reserved, Settled, Settlement, UnknownCause, ledger,
};
use proptest::prelude::*;

use crate::stored::Stored;

fn taken(reserved: Result<Reserved, ledger::Error>) -> Fence {
    match reserved.unwrap() {
        Reserved::Taken(lease) => lease.fence,
        other @ (Reserved::Occupied(_) | Reserved::ApprovalUnusable | Reserved::CallConflict) => {
            panic!("{other:?}")
        }
    }
}

fn state(ledger: &MemoryLedger, stored: &Stored) -> Option<OperationState> {
    let found = ledger
        .find_operation(
            &stored.scope(),
            &stored.identity(),
            &stored.fingerprint(Purpose::Dispatch),
        )
        .unwrap();
    found.map(|operation| operation.state)
}

#[test]
fn an_identity_is_bound_to_its_first_use() {
    let ledger = MemoryLedger::default();
    let stored = Stored::new("key", 1);
    let other = Stored::new("key", 2);
    let bind = |stored: &Stored, purpose| {
        ledger
            .bind_call(&stored.identity(), &stored.fingerprint(purpose))
            .unwrap()
    };
    assert_eq!(bind(&stored, Purpose::Dispatch), CallBound::Bound);
    assert_eq!(bind(&stored, Purpose::Dispatch), CallBound::Bound);
    assert_eq!(bind(&stored, Purpose::QueryStatus), CallBound::Conflict);
    assert_eq!(bind(&other, Purpose::Dispatch), CallBound::Conflict);
    assert_eq!(bind(&stored, Purpose::Dispatch), CallBound::Bound);
}

#[test]
fn a_scope_is_taken_once() {
    let ledger = MemoryLedger::default();
    let stored = Stored::new("key", 1);
    assert_eq!(state(&ledger, &stored), None);
    let fence = taken(ledger.reserve(&stored.reservation()));
    assert_eq!(
        state(&ledger, &stored),
        Some(OperationState::Executing(fence))
    );
    for second in [Stored::new("key", 1), Stored::new("key", 2)] {
        let reserved = ledger.reserve(&second.reservation()).unwrap();
        let Reserved::Occupied(operation) = reserved else {
            panic!("{reserved:?}")
        };
        assert_eq!(operation.terms, stored.reservation().proposal.terms);
    }
    assert_ne!(
        taken(ledger.reserve(&Stored::new("other", 1).reservation())),
        fence
    );
}

#[test]
fn an_approval_is_consumed_once_and_both_parts_name_it() {
    let ledger = MemoryLedger::default();
    let digest = |text: &str| ApprovalDigest::parse_hex(&text.repeat(64)).unwrap();
    let reserve = |key: &str, id: &str, digest| {
        let stored = Stored::new(key, 1);
        ledger
            .reserve(&stored.reservation_under(id, digest))
            .unwrap()
    };
    assert!(matches!(
        reserve("a", "id", digest("1")),
        Reserved::Taken(_)
    ));
    assert_eq!(reserve("b", "id", digest("1")), Reserved::ApprovalUnusable);
    // Nothing was left behind by the refusal.
    assert!(matches!(
        reserve("b", "id", digest("2")),
        Reserved::Taken(_)
    ));
    assert!(matches!(
        reserve("c", "other", digest("1")),
        Reserved::Taken(_)
    ));
}

#[test]
fn a_release_frees_key_approval_and_handle() {
    let ledger = MemoryLedger::default();
    let stored = Stored::new("key", 1);
    let first = taken(ledger.reserve(&stored.reservation()));
    assert!(
        ledger
            .find_queryable(&stored.status_ref())
            .unwrap()
            .is_some()
    );
    let settled = ledger.settle(
        &stored.scope(),
        first,
        &Settlement::Released(NotStarted::Unreachable),
    );
    assert_eq!(settled, Ok(Settled::Written));
    assert_eq!(state(&ledger, &stored), None);
    assert_eq!(ledger.find_queryable(&stored.status_ref()).unwrap(), None);

    // The next holder has another fence, and the first one's word counts no more.
    let second = taken(ledger.reserve(&stored.reservation()));
    assert!(second > first);
    for late in [
        Settlement::Succeeded(stored.answer(1)),
        Settlement::Unknown(UnknownCause::AnswerLost),
        Settlement::Released(NotStarted::Unreachable),
    ] {
        let settled = ledger.settle(&stored.scope(), first, &late);
        assert_eq!(settled, Ok(Settled::Stale), "{late:?}");
        assert_eq!(
            state(&ledger, &stored),
            Some(OperationState::Executing(second))
        );
    }
}

#[test]
fn what_is_settled_stays_settled() {
    for settlement in [
        Settlement::Succeeded(Stored::new("key", 1).answer(1)),
        Settlement::Unknown(UnknownCause::AnswerLost),
    ] {
        let ledger = MemoryLedger::default();
        let stored = Stored::new("key", 1);
        let fence = taken(ledger.reserve(&stored.reservation()));
        let settle = |settlement: &Settlement| ledger.settle(&stored.scope(), fence, settlement);
        assert_eq!(settle(&settlement), Ok(Settled::Written));
        let after = state(&ledger, &stored);
        for late in [
            Settlement::Succeeded(stored.answer(2)),
            Settlement::Unknown(UnknownCause::AnswerLost),
            Settlement::Released(NotStarted::Unreachable),
        ] {
            assert_eq!(settle(&late), Ok(Settled::Stale));
            assert_eq!(state(&ledger, &stored), after);
        }
    }
    let ledger = MemoryLedger::default();
    let nothing = ledger.settle(
        &Stored::new("key", 1).scope(),
        Fence::new(1),
        &Settlement::Unknown(UnknownCause::AnswerLost),
    );
    assert_eq!(nothing, Ok(Settled::Stale));
}

#[test]
fn a_receipt_turns_unknown_into_success_and_nothing_back() {
    let ledger = MemoryLedger::default();
    let stored = Stored::new("key", 1);
    let reconcile = |number| ledger.reconcile(&stored.scope(), &stored.answer(number));
    assert_eq!(reconcile(1), Ok(Settled::Stale), "nothing is known");

    let fence = taken(ledger.reserve(&stored.reservation()));
    let settled = ledger.settle(
        &stored.scope(),
        fence,
        &Settlement::Unknown(UnknownCause::AnswerLost),
    );
    assert_eq!(settled, Ok(Settled::Written));
    assert_eq!(reconcile(1), Ok(Settled::Written));
    assert_eq!(reconcile(1), Ok(Settled::Written), "it can be repeated");
    assert_eq!(reconcile(2), Ok(Settled::Stale), "and not be contradicted");
    assert_eq!(
        state(&ledger, &stored),
        Some(OperationState::Succeeded(stored.answer(1)))
    );
    assert!(
        ledger
            .find_queryable(&stored.status_ref())
            .unwrap()
            .is_some()
    );
}

#[test]
fn the_status_of_a_plain_success_cannot_be_asked_for() {
    let ledger = MemoryLedger::default();
    let stored = Stored::new("key", 1);
    let fence = taken(ledger.reserve(&stored.reservation()));
    let success = Settlement::Succeeded(stored.answer(1));
    assert_eq!(
        ledger.settle(&stored.scope(), fence, &success),
        Ok(Settled::Written)
    );
    assert_eq!(ledger.find_queryable(&stored.status_ref()).unwrap(), None);
}

#[test]
fn a_full_ledger_still_knows_what_it_holds() {
    let ledger = MemoryLedger::with_capacity(1);
    let first = Stored::new("key", 1);
    let second = Stored::new("other", 1);
    let fence = taken(ledger.reserve(&first.reservation()));
    assert_eq!(
        ledger.reserve(&second.reservation()),
        Err(ledger::Error::Full {
            what: "operations",
            limit: 1
        })
    );
    // The refusal consumed nothing, and a place that becomes free can be taken.
    let released = ledger.settle(
        &first.scope(),
        fence,
        &Settlement::Released(NotStarted::Unreachable),
    );
    assert_eq!(released, Ok(Settled::Written));
    taken(ledger.reserve(&second.reservation()));
    let occupied = ledger.reserve(&second.reservation());
    assert!(matches!(occupied, Ok(Reserved::Occupied(_))));
}

const THREADS: usize = 64;

/// Reserves on a thread of its own each, all at the same moment, and counts who won.
fn winners(ledger: &MemoryLedger, all: &[Reservation<'_>]) -> usize {
    let start = Barrier::new(all.len());
    thread::scope(|scope| {
        let racers: Vec<_> = all
            .iter()
            .map(|reservation| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    matches!(ledger.reserve(reservation), Ok(Reserved::Taken(_)))
                })
            })
            .collect();
        racers
            .into_iter()
            .map(|racer| usize::from(racer.join().unwrap()))
            .sum()
    })
}

#[test]
fn of_many_racers_one_takes_the_key() {
    let ledger = MemoryLedger::default();
    let stored = Stored::new("key", 1);
    let same = vec![stored.reservation(); THREADS];
    assert_eq!(winners(&ledger, &same), 1);
    let ledger = MemoryLedger::default();
    let numbers = 0..u32::try_from(THREADS).unwrap();
    let stored: Vec<_> = numbers.map(|number| Stored::new("key", number)).collect();
    let different: Vec<_> = stored.iter().map(Stored::reservation).collect();
    assert_eq!(winners(&ledger, &different), 1);
}

#[test]
fn of_many_keys_one_consumes_the_approval() {
    let ledger = MemoryLedger::default();
    let digest = ApprovalDigest::of_nothing();
    let stored: Vec<_> = (0..THREADS)
        .map(|n| Stored::new(&format!("key-{n}"), 1))
        .collect();
    let all: Vec<_> = stored
        .iter()
        .map(|stored| stored.reservation_under("id", digest))
        .collect();
    assert_eq!(winners(&ledger, &all), 1);
}

#[derive(Clone, Debug)]
enum Step {
    Reserve,
    /// With the fence of the reservation so many ago.
    Settle(usize, u8),
    Reconcile(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Reserve),
        (0..3_usize, 0..3_u8).prop_map(|(ago, how)| Step::Settle(ago, how)),
        (0..2_u32).prop_map(Step::Reconcile),
    ]
}

proptest! {
    /// Whatever happens under one key: only the last holder settles, a success is for good, and unknown ends with a
    /// receipt only.
    #[test]
    fn one_key_moves_one_way(steps in prop::collection::vec(step(), 1..24)) {
        let ledger = MemoryLedger::default();
        let stored = Stored::new("key", 1);
        let mut fences: Vec<Fence> = Vec::new();
        for step in steps {
            let before = state(&ledger, &stored);
            match step {
                Step::Reserve => match ledger.reserve(&stored.reservation()).unwrap() {
                    Reserved::Taken(Lease { fence, .. }) => {
                        prop_assert_eq!(&before, &None);
                        prop_assert!(fences.iter().all(|earlier| *earlier < fence));
                        fences.push(fence);
                    }
                    Reserved::Occupied(_) => prop_assert!(before.is_some()),
                    Reserved::ApprovalUnusable | Reserved::CallConflict => {
                        prop_assert!(false, "the approval and the identity were free");
                    }
                },
                Step::Settle(ago, how) => {
                    let Some(fence) = fences.iter().rev().nth(ago).copied() else { continue };
                    let settlement = match how {
                        0 => Settlement::Succeeded(stored.answer(0)),
                        1 => Settlement::Unknown(UnknownCause::AnswerLost),
                        _ => Settlement::Released(NotStarted::Unreachable),
                    };
                    let settled = ledger.settle(&stored.scope(), fence, &settlement).unwrap();
                    let is_holder = before == Some(OperationState::Executing(fence));
                    prop_assert_eq!(settled == Settled::Written, is_holder);
                }
                Step::Reconcile(number) => {
                    ledger.reconcile(&stored.scope(), &stored.answer(number)).unwrap();
                    prop_assert_eq!(before.is_none(), state(&ledger, &stored).is_none());
                }
            }
            let after = state(&ledger, &stored);
            if matches!(before, Some(OperationState::Succeeded(_))) {
                prop_assert_eq!(&after, &before);
            }
            if matches!(before, Some(OperationState::Unknown)) {
                prop_assert!(matches!(after, Some(OperationState::Unknown | OperationState::Succeeded(_))));
            }
        }
    }
}
