//! What is built wrong is found: the invariants can fail.

use countersign_testkit::{Keeper, Listed, Setting, Variant, find};

/// Within how many worlds each fault has to show.
const SEEDS: u64 = 10_000;

fn is_found(variant: Variant) {
    let setting = Setting {
        keeper: Keeper::Memory,
        variant,
    };
    let found = find(0..SEEDS, setting).expect("the fault shows");
    println!(
        "{variant:?}: found after {} seeds, by: {} ({})\n{}",
        found.seed + 1,
        found.violation.invariant,
        found.violation.said,
        Listed(&found.actions)
    );
}

#[test]
fn no_fence() {
    is_found(Variant::NoFence);
}

#[test]
fn receipt_before_commit() {
    is_found(Variant::ReceiptBeforeCommit);
}

#[test]
fn retry_after_send() {
    is_found(Variant::RetryAfterSend);
}

#[test]
fn approval_not_consumed() {
    is_found(Variant::ApprovalNotConsumed);
}

#[test]
fn authorization_cached() {
    is_found(Variant::AuthorizationCached);
}

#[test]
fn callers_clock() {
    is_found(Variant::CallersClock);
}

#[test]
fn unknown_times_out() {
    is_found(Variant::UnknownTimesOut);
}
