//! The names of causes in documents.

use countersign_dispatch::{NotStarted, UnknownCause};

const NOT_STARTED: [NotStarted; 3] = [
    NotStarted::DeadlineExceeded,
    NotStarted::RateLimited,
    NotStarted::Unreachable,
];

const UNKNOWN: [UnknownCause; 4] = [
    UnknownCause::AnswerLost,
    UnknownCause::HandlerFailed,
    UnknownCause::OutsideContract,
    UnknownCause::HolderLost,
];

/// Why nothing began, as documents name it.
#[must_use]
pub fn not_started_name(cause: NotStarted) -> &'static str {
    match cause {
        NotStarted::DeadlineExceeded => "deadline_exceeded",
        NotStarted::RateLimited => "rate_limited",
        NotStarted::Unreachable => "unreachable",
    }
}

pub(crate) fn parse_not_started(name: &str) -> Option<NotStarted> {
    NOT_STARTED
        .into_iter()
        .find(|cause| not_started_name(*cause) == name)
}

/// Why an outcome is unknown, as documents name it.
#[must_use]
pub fn unknown_name(cause: UnknownCause) -> &'static str {
    match cause {
        UnknownCause::AnswerLost => "answer_lost",
        UnknownCause::HandlerFailed => "handler_failed",
        UnknownCause::OutsideContract => "outside_contract",
        UnknownCause::HolderLost => "holder_lost",
    }
}

pub(crate) fn parse_unknown(name: &str) -> Option<UnknownCause> {
    UNKNOWN
        .into_iter()
        .find(|cause| unknown_name(*cause) == name)
}
