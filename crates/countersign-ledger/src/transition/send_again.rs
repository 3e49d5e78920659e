//! A downstream that knows our key answers a repetition with what it did the first time.

use super::reserve::longest_attempt;
use super::{Change, Reading};
use crate::audit::Event;
use crate::moment::Moment;
use crate::names::InstanceId;
use crate::record::Record;
use crate::state::{Attempt, Lifetimes, State};
use crate::steady::SteadySpan;

/// The change, where the last attempt is over and the downstream still knows the key for as long as another one may take.
pub(crate) fn send_again(
    record: Record,
    holder: &InstanceId,
    clock: Reading<'_>,
    lifetimes: &Lifetimes,
) -> Option<Change> {
    let State::Unknown { attempt, .. } = &record.state else {
        return None;
    };
    let Reading { now, steady } = clock;
    let is_over = attempt.is_over(now, steady);
    if !is_over || now >= until_when_sendable(&record, clock, lifetimes)? {
        return None;
    }
    let longest = longest_attempt(&record, lifetimes);
    let attempt = Attempt {
        holder: holder.clone(),
        over_at: now.after(longest),
        steady: attempt
            .steady
            .clone()
            .zip(steady)
            .map(|(span, now)| SteadySpan {
                over_at: now.after(longest),
                ..span
            }),
        ..attempt.clone()
    };
    Some(Change {
        record: Record {
            fence: record.fence + 1,
            ..record.into_state(State::Executing(attempt), now, None)
        },
        event: Event::SentAgain {
            holder: holder.clone(),
        },
    })
}

/// Until when an operation of unknown outcome may be sent again; nothing where it never may any more.
///
/// The downstream forgets by time that really passes. A clock that somebody has set back would show less of it, so that a
/// steady clock has to say the same; where it cannot, since the machine was started anew, nothing is sent again.
pub(crate) fn until_when_sendable(
    record: &Record,
    clock: Reading<'_>,
    lifetimes: &Lifetimes,
) -> Option<Moment> {
    let State::Unknown { attempt, .. } = &record.state else {
        return None;
    };
    // What is sent last still has to arrive while the downstream remembers.
    let usable = record
        .downstream_memory?
        .checked_sub(longest_attempt(record, lifetimes))?;
    let passed = clock.steady?.since(&attempt.steady.as_ref()?.first_sent)?;
    (passed < usable).then(|| attempt.first_sent.after(usable))
}
