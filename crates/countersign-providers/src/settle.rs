use std::collections::HashMap;

use countersign_contract::{CallId, ToolName};

use crate::{
    Ending, Family, Proposal, ProposedCall, Refusal, RefusedCall,
    draft::DraftCall,
    proposal::{Address, AnswerForm},
};

/// Gives every call an id of its own and decides which calls are let in.
///
/// Of several reasons against a call, the one that explains the others comes first.
pub(crate) fn settle(family: Family, ending: Ending, calls: Vec<DraftCall>) -> Vec<Proposal> {
    let mut ids = Ids::of(&calls);
    calls
        .into_iter()
        .map(|call| settle_call(family, ending, &mut ids, call))
        .collect()
}

fn settle_call(family: Family, ending: Ending, ids: &mut Ids, call: DraftCall) -> Proposal {
    let (call_id, id_refusal) = match ids.claim(family, &call.address) {
        Claim::Given(id) => (id, None),
        Claim::Local(refusal) => (ids.local(), refusal),
    };
    let name = call
        .address
        .given_name
        .as_deref()
        .and_then(|name| ToolName::new(name).ok());
    let reason = refusal_of_ending(ending, call.last).or(id_refusal);
    let outcome = match (reason, name, call.arguments) {
        (Some(reason), _, _) | (None, _, Err(reason)) => Err(reason),
        (None, None, Ok(_)) => Err(Refusal::NameInvalid),
        (None, Some(name), Ok(arguments)) => Ok((name, arguments)),
    };
    match outcome {
        Ok((name, arguments)) => Proposal::Proposed(ProposedCall {
            call_id,
            name,
            arguments: arguments.into(),
            address: call.address,
        }),
        Err(reason) => Proposal::Refused(RefusedCall {
            call_id,
            reason,
            address: call.address,
        }),
    }
}

/// What the end of the response says about a call.
///
/// A response that ran into a length limit cuts its last item only: models
/// write one after the other, and a call that something follows was finished.
fn refusal_of_ending(ending: Ending, last: bool) -> Option<Refusal> {
    match ending {
        Ending::Complete => None,
        Ending::Truncated => last.then_some(Refusal::Truncated),
        Ending::Withheld => Some(Refusal::Withheld),
        Ending::Unfinished => Some(Refusal::Unfinished),
    }
}

/// The ids of one response: which were given, how often, and the next of ours.
struct Ids {
    given: HashMap<String, usize>,
    next: usize,
}

enum Claim {
    Given(CallId),
    Local(Option<Refusal>),
}

impl Ids {
    fn of(calls: &[DraftCall]) -> Self {
        let mut given = HashMap::new();
        for call in calls {
            if let Some(id) = &call.address.given_id {
                *given.entry(id.clone()).or_insert(0) += 1;
            }
        }
        Self { given, next: 0 }
    }

    fn claim(&self, family: Family, address: &Address) -> Claim {
        let Some(given) = address.given_id.as_deref() else {
            return Claim::Local(
                requires_id(family, &address.form).then_some(Refusal::CallIdMissing),
            );
        };
        if self.given.get(given).is_some_and(|count| *count > 1) {
            return Claim::Local(Some(Refusal::CallIdDuplicate));
        }
        match CallId::new(given) {
            Ok(id) => Claim::Given(id),
            Err(_) => Claim::Local(Some(Refusal::CallIdInvalid)),
        }
    }

    /// Makes the next id that no call of the response was given.
    fn local(&mut self) -> CallId {
        loop {
            let text = format!("call-{}", self.next);
            self.next += 1;
            // Such a text is always an id, so that only given ids cost another round.
            if !self.given.contains_key(&text)
                && let Ok(id) = CallId::new(text)
            {
                return id;
            }
        }
    }
}

/// Whether such a call has an id in its protocol, by which its answer is found.
fn requires_id(family: Family, form: &AnswerForm) -> bool {
    match family {
        Family::GeminiGenerateContent => false,
        Family::OpenAiChatCompletions => *form != AnswerForm::LegacyFunction,
        Family::OpenAiResponses | Family::AnthropicMessages | Family::GeminiInteractions => true,
    }
}
