use countersign_canonical::{Object, Value};

use crate::{
    Ending, Label, ReadError, Refusal, Skipped,
    limits::{MAX_CALLS, MAX_ITEMS},
    proposal::{Address, AnswerForm},
    turn::Duty,
};

/// What one family's reader finds in a response, before ids are settled.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) response_id: Option<String>,
    pub(crate) ending: Ending,
    pub(crate) calls: Vec<DraftCall>,
    pub(crate) skipped: Vec<Skipped>,
}

/// One call as it stands in the response.
#[derive(Debug)]
pub(crate) struct DraftCall {
    pub(crate) address: Address,
    /// Whether nothing of the response follows it.
    pub(crate) last: bool,
    pub(crate) arguments: Result<Object, Refusal>,
}

impl Draft {
    pub(crate) fn new(response_id: Option<String>, ending: Ending) -> Self {
        Self {
            response_id,
            ending,
            calls: Vec::new(),
            skipped: Vec::new(),
        }
    }

    pub(crate) fn call(&mut self, call: DraftCall) -> Result<(), ReadError> {
        if self.calls.len() == MAX_CALLS {
            return Err(ReadError::TooManyCalls { limit: MAX_CALLS });
        }
        self.calls.push(call);
        Ok(())
    }

    pub(crate) fn skip(&mut self, kind: &str, duty: Duty) {
        self.skipped.push(Skipped {
            kind: Label::of(kind),
            duty,
        });
    }
}

impl DraftCall {
    pub(crate) fn function(
        given_id: Option<String>,
        given_name: Option<String>,
        arguments: Result<Object, Refusal>,
    ) -> Self {
        Self {
            address: Address {
                given_id,
                given_name,
                form: AnswerForm::Function,
            },
            last: false,
            arguments,
        }
    }

    pub(crate) fn refused(
        given_id: Option<String>,
        given_name: Option<String>,
        form: AnswerForm,
        reason: Refusal,
    ) -> Self {
        Self {
            address: Address {
                given_id,
                given_name,
                form,
            },
            last: false,
            arguments: Err(reason),
        }
    }

    pub(crate) fn at_end(self, last: bool) -> Self {
        Self { last, ..self }
    }
}

/// The items of a response with the knowledge which is the last.
pub(crate) fn items(values: Vec<Value>) -> Result<impl Iterator<Item = (bool, Value)>, ReadError> {
    if values.len() > MAX_ITEMS {
        return Err(ReadError::TooManyItems { limit: MAX_ITEMS });
    }
    let count = values.len();
    Ok(values
        .into_iter()
        .enumerate()
        .map(move |(index, value)| (index + 1 == count, value)))
}
