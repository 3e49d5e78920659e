//! Which key a call without one goes under.

use countersign_dispatch::ledger::Ledger;
use countersign_dispatch::{Intent, Settled, Settlement, UnknownCause};
use countersign_ledger::{Approvals, Intents, Rulings, Verdict};

use crate::build::Build;
use crate::sample::{Sample, approver, deny, note};
use crate::stage::{begun, events, host, propose, seconds};

fn meant<L: Intents>(ledger: &L, sample: &Sample) -> Intent {
    let digest = sample.intent_digest();
    let intent = ledger.intent(&sample.identity(), &digest).unwrap();
    assert_eq!(intent.digest, digest);
    intent
}

/// A sample under the key of what it means now.
fn under<L: Intents>(ledger: &L, sample: &Sample) -> Sample {
    sample.clone().under(meant(ledger, sample))
}

/// While an effect waits, runs or is unknown, the same arguments mean that one; asking changes nothing.
pub fn the_same_joins_what_is_open<B: Build>(build: &B) {
    let (ledger, elsewhere) = (host(build, "host-1"), host(build, "host-2"));
    let sample = Sample::new("1");
    let other_call = sample.clone().by_call("call-2");
    assert_eq!(meant(&ledger, &sample).generation, 0);
    let first = under(&ledger, &sample);
    let check = |step: &str| {
        for call in [&sample, &other_call] {
            assert_eq!(meant(&elsewhere, call).generation, 0, "{step}");
        }
    };
    propose(&ledger, &first);
    check("waiting");
    ledger.decide(&first.status_ref(), &deny("dana")).unwrap();
    check("denied: the key is free");
    let fence = begun(&ledger, &first);
    check("executing");
    let lost = Settlement::Unknown(UnknownCause::AnswerLost);
    ledger.settle(&first.scope(), fence, &lost).unwrap();
    build.clock().advance(seconds(1_000_000));
    check("unknown, however long ago");
    let different = sample.with_number(2).by_call("call-3");
    assert_ne!(meant(&ledger, &different), meant(&ledger, &first));
}

/// A recorded answer serves until it is acknowledged; then the same means another effect, save from the call that has one.
pub fn an_acknowledged_answer_is_over<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    let first = under(&ledger, &sample);
    let scope = first.scope();
    ledger.acknowledge(&scope).unwrap();
    let fence = begun(&ledger, &first);
    ledger.acknowledge(&scope).unwrap();
    let succeeded = Settlement::Succeeded(first.answer(7));
    assert_eq!(
        ledger.settle(&scope, fence, &succeeded),
        Ok(Settled::Written)
    );
    let second = sample.clone().by_call("call-2");
    assert_eq!(
        meant(&ledger, &second).generation,
        0,
        "nobody has shown to know it"
    );
    ledger.acknowledge(&scope).unwrap();
    ledger.acknowledge(&scope).unwrap();
    assert_eq!(meant(&ledger, &second).generation, 1);
    assert_eq!(
        meant(&ledger, &sample).generation,
        0,
        "the same call is the same effect"
    );
    begun(&ledger, &under(&ledger, &second));
    let third = sample.clone().by_call("call-3");
    assert_eq!(meant(&ledger, &third).generation, 1, "the second runs");
    assert_eq!(meant(&ledger, &sample).generation, 0, "still");
    assert_eq!(
        events(&ledger),
        ["begun", "succeeded", "acknowledged", "begun"]
    );
}

/// Where nobody acknowledges, an answer serves for a window, which ends exclusively.
pub fn an_answer_serves_for_a_window<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    for (name, number, is_ruled) in [("1", 1, false), ("2", 2, true)] {
        let sample = Sample::new(name).with_number(number);
        let first = under(&ledger, &sample);
        let fence = begun(&ledger, &first);
        if is_ruled {
            let lost = Settlement::Unknown(UnknownCause::AnswerLost);
            ledger.settle(&first.scope(), fence, &lost).unwrap();
            let (by, note) = (approver("dana"), note("seen"));
            ledger
                .rule(&first.status_ref(), &Verdict::Committed, &by, &note)
                .unwrap();
        } else {
            let succeeded = Settlement::Succeeded(first.answer(7));
            ledger.settle(&first.scope(), fence, &succeeded).unwrap();
        }
        let again = sample.by_call(&format!("again-{name}"));
        build.clock().advance(seconds(899));
        assert_eq!(meant(&ledger, &again).generation, 0);
        build.clock().advance(seconds(1));
        assert_eq!(meant(&ledger, &again).generation, 1);
    }
}
