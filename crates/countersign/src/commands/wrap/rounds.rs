//! Rounds: a stateless client asks again, with a handle that says what it goes on with.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_canonical::{Digest, Utf8, digest_with};
use countersign_contract::Arguments;
use uuid::Uuid;

use super::caller::Waiting;

/// The most rounds in which a call waits for approval; after them it is answered that it waits.
pub(super) const MAX_ROUNDS: u32 = 8;
/// The most handles that have been given out and not used; beyond them, the oldest are void.
const MAX_OPEN: usize = 1024;

/// The handles that have been given out. Each serves once, for the very request that it was given out for.
///
/// They live in this process only: whoever comes with one of an earlier process asks anew, and joins what waits.
#[derive(Default)]
pub(super) struct Rounds {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    count: u64,
    given_out: BTreeMap<String, GivenOut>,
}

struct GivenOut {
    number: u64,
    request: RoundDigest,
    resumes: Resumes,
}

/// What a client goes on with.
pub(super) enum Resumes {
    /// Waiting for approval, in this round.
    Waiting { round: u32 },
    /// A call that is under way, and waits for what its server has asked for.
    UnderWay(SyncSender<Continued>),
}

/// What a client brings for a call that is under way.
pub(super) struct Continued {
    pub(super) waiting: Waiting,
    /// The answers to what the server has asked for, as they came.
    pub(super) inputs: String,
}

/// Why a handle resumes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RoundError {
    /// It was never given out, has been used, or is of an earlier run.
    #[error("this requestState has been used, or is not known here: call again without it")]
    Unknown,
    /// It was given out for other arguments or another tool.
    #[error("this requestState belongs to another call")]
    Foreign,
}

/// Which request a handle is for: a tool, and what its arguments mean. The principal is the connection's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoundDigest(Digest<Utf8>);

impl RoundDigest {
    pub(super) fn of(tool: &str, arguments: &Arguments) -> Self {
        let content = arguments.value();
        Self(digest_with::<Utf8>(|encoder| {
            encoder.begin_array();
            encoder.string("countersign-round-v1");
            encoder.string(tool);
            encoder.value(content);
            encoder.end_array();
        }))
    }
}

impl Rounds {
    /// Gives out a handle.
    pub(super) fn give_out(&self, request: RoundDigest, resumes: Resumes) -> String {
        let handle = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let mut open = self.lock();
        open.count += 1;
        let number = open.count;
        if open.given_out.len() >= MAX_OPEN {
            let oldest = open.given_out.iter().min_by_key(|(_, given)| given.number);
            if let Some(oldest) = oldest.map(|(handle, _)| handle.clone()) {
                open.given_out.remove(&oldest);
            }
        }
        open.given_out.insert(
            handle.clone(),
            GivenOut {
                number,
                request,
                resumes,
            },
        );
        handle
    }

    /// Takes a handle back, once. One that is for another request stays as it is.
    pub(super) fn take_back(
        &self,
        handle: &str,
        request: RoundDigest,
    ) -> Result<Resumes, RoundError> {
        let mut open = self.lock();
        let given = open.given_out.get(handle).ok_or(RoundError::Unknown)?;
        if given.request != request {
            return Err(RoundError::Foreign);
        }
        let given = open.given_out.remove(handle).ok_or(RoundError::Unknown)?;
        Ok(given.resumes)
    }

    /// Nobody goes on with this any more.
    pub(super) fn withdraw(&self, handle: &str) {
        self.lock().given_out.remove(handle);
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use countersign_mcp::passthrough;

    use super::*;

    fn request(tool: &str, arguments: &str) -> RoundDigest {
        RoundDigest::of(tool, &passthrough::arguments(Some(arguments)).unwrap())
    }

    #[test]
    fn a_handle_serves_once_and_for_its_own_request_only() {
        let rounds = Rounds::default();
        let (own, other) = (request("t", r#"{"a":1,"b":2}"#), request("t", r#"{"a":2}"#));
        let handle = rounds.give_out(own, Resumes::Waiting { round: 3 });
        assert!(handle.len() == 64, "{handle}");
        let refused = |given: &str, request| rounds.take_back(given, request).err();
        assert_eq!(refused(&handle, other), Some(RoundError::Foreign));
        assert_eq!(
            refused(&handle, request("u", r#"{"a":1,"b":2}"#)),
            Some(RoundError::Foreign)
        );
        assert_eq!(refused(&"0".repeat(64), own), Some(RoundError::Unknown));
        let same = request("t", r#"{ "b":2, "a":1 }"#);
        let resumed = rounds.take_back(&handle, same);
        assert!(matches!(resumed, Ok(Resumes::Waiting { round: 3 })));
        assert_eq!(refused(&handle, own), Some(RoundError::Unknown));
    }

    #[test]
    fn handles_that_nobody_uses_are_void_in_the_end() {
        let rounds = Rounds::default();
        let own = request("t", "{}");
        let first = rounds.give_out(own, Resumes::Waiting { round: 1 });
        for _ in 0..MAX_OPEN {
            rounds.give_out(own, Resumes::Waiting { round: 1 });
        }
        assert_eq!(rounds.lock().given_out.len(), MAX_OPEN);
        let taken = rounds.take_back(&first, own).err();
        assert_eq!(taken, Some(RoundError::Unknown));
    }
}
