//! Reads tool calls from providers' raw responses and renders their answers.
//!
//! [`read`] takes the raw, whole response of a model and gives a [`Turn`]: every
//! tool call in order, each either proposed or refused, so that every call can
//! be answered with something. Nothing is repaired: what was cut off, coerced or
//! ambiguous is refused. [`Turn::answers`] collects one answer for each call and
//! renders them together, in the shape and order that the provider takes.
//!
//! Invariants:
//! - The strict parser sees the raw bytes first, and the text of arguments too.
//! - Call ids are unique within a turn, and each proposal keeps the id and name
//!   that its provider knows it by.
//! - A proposed call is whole: its arguments are an object, its id and name are
//!   identifiers, and neither the response nor its item says that it was cut.
//! - Nothing of a provider's free text gets into an error.
//! - A turn is rendered with exactly one answer for each call, or not at all; a
//!   result is taken only for the very call its package is verified for.
//!
//! Module map: `read` (entry), `document`, `identify`, `family` (one reader
//! each), `arguments`, `draft`, `settle` (ids and refusals), `turn`, `proposal`,
//! `refusal` (catalog), `read_error`, `label`, `limits`; `answers`, `render`.

mod answers;
mod arguments;
mod document;
mod draft;
mod family;
mod identify;
mod label;
mod limits;
mod proposal;
mod read;
mod read_error;
mod refusal;
mod render;
mod settle;
mod turn;

pub use answers::{AnswerError, Answers, payload};
pub use family::{Family, UnknownFamily};
pub use label::Label;
pub use limits::{ARGUMENT_LIMITS, MAX_CALLS, MAX_ITEMS, RESPONSE_LIMITS};
pub use proposal::{Proposal, ProposedCall, RefusedCall};
pub use read::{detect, read, read_as};
pub use read_error::ReadError;
pub use refusal::{REFUSAL_SCHEMA, Refusal};
pub use turn::{Duty, Ending, Skipped, Turn};
