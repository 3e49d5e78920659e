//! Decides what a GET answers. It takes the record by reference: observing changes nothing.

use crate::action::Action;
use crate::admission::Worker;
use crate::refusal::Refusal;
use crate::result::ResultDocument;

/// Answers with the action's result as recorded.
pub fn observe(action: Option<&Action>, worker: &Worker) -> Result<ResultDocument, Refusal> {
    let action = action.ok_or(Refusal::NotFound)?;
    if action.subject().owner() != worker.owner() {
        return Err(Refusal::AuthorityDenied);
    }
    Ok(action.result())
}
