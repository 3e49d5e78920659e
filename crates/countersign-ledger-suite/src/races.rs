//! Races between threads, each with a connection of its own.

mod approval;
mod claims;
mod decisions;
mod fence;
mod grant;
mod joiners;
mod key;

pub(crate) use approval::{OneApproval, OneApprovalForManyKeys};
pub(crate) use claims::Claims;
pub(crate) use decisions::Decisions;
pub(crate) use fence::StaleHolder;
pub(crate) use grant::LastUse;
pub(crate) use joiners::Joiners;
pub(crate) use key::{OneKey, OneKeyForManyRequests};

use crate::build::Build;
use crate::race::in_threads;

/// Of 64 who bring the same write, each by a call and an approval of its own, one begins it.
pub fn one_of_many_takes_a_key<B: Build>(build: &B) {
    in_threads::<OneKey, B>(build);
}

/// Of many who want different things under one key, one begins; the others find its request there.
pub fn one_of_many_requests_takes_a_key<B: Build>(build: &B) {
    in_threads::<OneKeyForManyRequests, B>(build);
}

/// No two of 16 workers are given the same work, and none is left.
pub fn workers_share_what_is_due<B: Build>(build: &B) {
    in_threads::<Claims, B>(build);
}

/// A holder that lost its lease writes before it is found out, or nothing.
pub fn a_stale_holder_is_first_or_writes_nothing<B: Build>(build: &B) {
    in_threads::<StaleHolder, B>(build);
}

/// One of several decisions counts, and all others hear which.
pub fn one_decision_counts<B: Build>(build: &B) {
    in_threads::<Decisions, B>(build);
}

/// One approval begins its write once, whoever brings it.
pub fn one_approval_has_one_consumer<B: Build>(build: &B) {
    in_threads::<OneApproval, B>(build);
}

/// One approval is consumed for one key.
pub fn one_approval_serves_one_key<B: Build>(build: &B) {
    in_threads::<OneApprovalForManyKeys, B>(build);
}

/// Whoever waits for a result is woken by it, wherever it was written.
pub fn joiners_hear_the_one_result<B: Build>(build: &B) {
    in_threads::<Joiners, B>(build);
}

/// The last use of a grant is taken once.
pub fn the_last_use_is_taken_once<B: Build>(build: &B) {
    in_threads::<LastUse, B>(build);
}
