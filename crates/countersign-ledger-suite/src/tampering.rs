//! What was changed past the back-end is damage, and never a result. A builder that offers no changes has nothing to show.

use countersign_dispatch::ledger::{Error, Ledger};
use countersign_dispatch::{Settled, Settlement};
use countersign_ledger::{GrantAdded, Grants, Inspection, Intents, OperationFilter};

use crate::build::{Build, Part};
use crate::rows::standing::grant;
use crate::sample::{Sample, tenant};
use crate::stage::{host, seconds};

/// A write that succeeded under a key of the host's, and a grant. Both are what every tampering finds.
fn furnish<B: Build>(build: &B) -> Sample {
    let ledger = host(build, "host-1");
    let plain = Sample::new("1");
    let intent = ledger
        .intent(&plain.identity(), &plain.intent_digest())
        .unwrap();
    let sample = plain.under(intent);
    let fence = crate::stage::begun(&ledger, &sample);
    let succeeded = Settlement::Succeeded(sample.answer(7));
    let settled = ledger.settle(&sample.scope(), fence, &succeeded);
    assert_eq!(settled, Ok(Settled::Written));
    let given = grant(build, "g", &sample, 2);
    assert_eq!(ledger.grant_add(&given), Ok(GrantAdded::Added));
    sample
}

/// Applies each change that the builder knows, to tables of its own each time, and looks.
fn each_is_damage<B: Build>(_: &B, part: Part, look: impl Fn(&B, &Sample) -> Vec<Error>) {
    for number in 0..1000 {
        let build = B::default();
        let sample = furnish(&build);
        let Some(what) = build.tamper(part, number) else {
            return;
        };
        for error in look(&build, &sample) {
            assert!(matches!(error, Error::Damaged(_)), "{what}: {error:?}");
        }
    }
    panic!("there is no end of changes");
}

fn error<T: std::fmt::Debug>(answer: Result<T, Error>) -> Error {
    answer.expect_err("a result in spite of damage")
}

/// An operation's row: every column and the document.
pub fn a_changed_operation_is_damage<B: Build>(build: &B) {
    each_is_damage(build, Part::Operation, |build, _| {
        let ledger = host(build, "host-2");
        let any = OperationFilter::default();
        vec![error(ledger.operations(&any, None, 9))]
    });
}

/// What was asked for.
pub fn a_changed_proposal_is_damage<B: Build>(build: &B) {
    each_is_damage(build, Part::Proposal, |build, sample| {
        let ledger = host(build, "host-2");
        let (scope, identity) = (sample.scope(), sample.identity());
        vec![
            error(ledger.operation(&sample.status_ref())),
            error(ledger.find_operation(&scope, &identity, &sample.fingerprint())),
        ]
    });
}

/// What was answered.
pub fn a_changed_receipt_is_damage<B: Build>(build: &B) {
    each_is_damage(build, Part::Receipt, |build, sample| {
        let ledger = host(build, "host-2");
        let (scope, identity) = (sample.scope(), sample.identity());
        let reservation = sample.reservation("other");
        vec![
            error(ledger.operation(&sample.status_ref())),
            error(ledger.find_operation(&scope, &identity, &sample.fingerprint())),
            error(ledger.reserve(&reservation)),
        ]
    });
}

/// Which effect an intent means: another number would be another key, and a second effect.
pub fn a_changed_intent_is_damage<B: Build>(build: &B) {
    each_is_damage(build, Part::Intent, |build, sample| {
        let ledger = host(build, "host-2");
        build.clock().advance(seconds(1));
        let other = sample.clone().by_call("another");
        vec![error(
            ledger.intent(&other.identity(), &sample.intent_digest()),
        )]
    });
}

/// A standing approval.
pub fn a_changed_grant_is_damage<B: Build>(build: &B) {
    each_is_damage(build, Part::Grant, |build, _| {
        let ledger = host(build, "host-2");
        vec![error(ledger.grants(None, None, 9))]
    });
}

/// An entry of the trail.
pub fn a_changed_audit_entry_is_damage<B: Build>(build: &B) {
    each_is_damage(build, Part::Audit, |build, _| {
        let ledger = host(build, "host-2");
        let (of_tenant, after) = (tenant("tenant-a"), 0);
        vec![error(ledger.audit(&of_tenant, after, 9))]
    });
}
