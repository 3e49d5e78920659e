//! What really happens: a downstream that counts its effects, knows keys again for a while if it is one of those, and has
//! receipts. Between it and the hosts lies a line on which everything gets lost.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;

use countersign_contract::{HandlerAnswer, RequestDigest, Scope, StatusRef};
use countersign_dispatch::{
    Execution, ExecutionOrder, NotStarted, Receipt, StatusQuestion, StatusSource,
};

use crate::action::Fate;
use crate::clock::Clocks;
use crate::oracle::Warrant;
use crate::tools::{TIMEOUT, Tool, answer};

/// Something that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(usize);

/// The world behind the hosts. It is the judge of what happened: no host can read its counts.
#[derive(Debug)]
pub(crate) struct Downstream {
    clocks: Clocks,
    sendings: RefCell<Vec<Sending>>,
    effects: RefCell<Vec<Effect>>,
    /// Until when a key is known again, and what was answered under it.
    memory: RefCell<BTreeMap<StatusRef, (Duration, HandlerAnswer)>>,
    next_fate: Cell<Fate>,
    shows_receipts: Cell<bool>,
}

/// Something that was sent, on its way or arrived.
#[derive(Debug)]
struct Sending {
    scope: Scope,
    status_ref: StatusRef,
    request: RequestDigest,
    order: String,
    fate: Fate,
    /// When it acts, where it has yet to.
    acts_at: Option<Duration>,
    answer: Option<HandlerAnswer>,
    warrant: Warrant,
}

/// Something that the downstream did.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub(crate) scope: Scope,
    pub(crate) status_ref: StatusRef,
    pub(crate) request: RequestDigest,
    pub(crate) answer: HandlerAnswer,
    /// Under what it was sent.
    pub(crate) warrant: Warrant,
}

impl Downstream {
    pub(crate) fn new(clocks: Clocks) -> Self {
        Self {
            clocks,
            sendings: RefCell::default(),
            effects: RefCell::default(),
            memory: RefCell::default(),
            next_fate: Cell::default(),
            shows_receipts: Cell::new(true),
        }
    }

    /// What happens to the next thing that is sent.
    pub(crate) fn meet(&self, fate: Fate) {
        self.next_fate.set(fate);
    }

    pub(crate) fn show_receipts(&self, shown: bool) {
        self.shows_receipts.set(shown);
    }

    /// Everything that it did.
    pub(crate) fn effects(&self) -> Vec<Effect> {
        self.effects.borrow().clone()
    }

    pub(crate) fn effect_count(&self) -> usize {
        self.effects.borrow().len()
    }

    /// What it did, to somebody who looks.
    pub(crate) fn effect(&self, scope: &Scope) -> Option<Effect> {
        let effects = self.effects.borrow();
        effects
            .iter()
            .find(|effect| effect.scope == *scope)
            .cloned()
    }

    /// What tells it from another one.
    pub(crate) fn portrait(&self) -> String {
        let sendings = self.sendings.borrow();
        let sendings: Vec<_> = sendings
            .iter()
            .map(|one| (one.scope.key.as_str(), one.fate, one.acts_at, &one.answer))
            .collect();
        format!("{sendings:?}{}", self.effects.borrow().len())
    }

    /// Something arrives, or does not.
    pub(crate) fn send(&self, order: &ExecutionOrder<'_>, warrant: Warrant) -> Option<Ticket> {
        let scope = Scope::of(order.principal(), order.call())?;
        let fate = self.next_fate.take();
        let acts_at = match fate {
            Fate::Acts | Fate::ActsUnheard | Fate::ActsAndFails | Fate::ActsBadly => {
                Some(Duration::ZERO)
            }
            Fate::ActsLate { milliseconds } => {
                let delay = Duration::from_millis(u64::from(milliseconds)).min(TIMEOUT);
                Some(self.clocks.passed() + delay)
            }
            Fate::GetsLost | Fate::Fails | Fate::IsRefused | Fate::IsUnreachable => None,
        };
        let arguments = &order.call().arguments;
        let about = arguments.get("order").and_then(|order| order.as_str());
        let sending = Sending {
            scope,
            status_ref: order.status_ref()?,
            request: *order.request(),
            order: about.unwrap_or_default().to_owned(),
            fate,
            acts_at,
            answer: None,
            warrant,
        };
        let ticket = Ticket(self.sendings.borrow().len());
        self.sendings.borrow_mut().push(sending);
        self.go_on();
        Some(ticket)
    }

    /// Does what is due by now.
    pub(crate) fn go_on(&self) {
        let now = self.clocks.passed();
        for sending in self.sendings.borrow_mut().iter_mut() {
            if sending.acts_at.is_some_and(|at| at <= now) {
                sending.acts_at = None;
                sending.answer = Some(self.act(sending, now));
            }
        }
    }

    fn act(&self, sending: &Sending, now: Duration) -> HandlerAnswer {
        let memory = Tool::named(&sending.scope.tool).and_then(Tool::memory);
        let mut remembered = self.memory.borrow_mut();
        if memory.is_some()
            && let Some((until, answer)) = remembered.get(&sending.status_ref)
            && now < *until
        {
            return answer.clone();
        }
        let mut effects = self.effects.borrow_mut();
        let answer = answer(effects.len() + 1, &sending.order);
        effects.push(Effect {
            scope: sending.scope.clone(),
            status_ref: sending.status_ref,
            request: sending.request,
            answer: answer.clone(),
            warrant: sending.warrant.clone(),
        });
        if let Some(memory) = memory {
            remembered.insert(sending.status_ref, (now + memory, answer.clone()));
        }
        answer
    }

    /// What comes back to whoever waits for the answer now.
    pub(crate) fn conclude(&self, ticket: Ticket) -> Execution {
        let sendings = self.sendings.borrow();
        let Some(sending) = sendings.get(ticket.0) else {
            return Execution::Failed;
        };
        let answered = sending.answer.clone().map(Execution::Answered);
        match sending.fate {
            Fate::Acts | Fate::ActsLate { .. } => answered.unwrap_or(Execution::AnswerLost),
            Fate::ActsUnheard | Fate::GetsLost => Execution::AnswerLost,
            Fate::ActsAndFails | Fate::Fails => Execution::Failed,
            Fate::ActsBadly => Execution::Answered(HandlerAnswer {
                producer_revision: "another producer".to_owned(),
                ..answer(1, &sending.order)
            }),
            Fate::IsRefused => Execution::NotStarted(NotStarted::RateLimited),
            Fate::IsUnreachable => Execution::NotStarted(NotStarted::Unreachable),
        }
    }
}

impl StatusSource for Downstream {
    fn receipt(&self, question: &StatusQuestion<'_>) -> Option<Receipt> {
        if !self.shows_receipts.get() {
            return None;
        }
        let effects = self.effects.borrow();
        let status_ref = question.status_ref();
        let effect = effects
            .iter()
            .find(|effect| effect.status_ref == status_ref)?;
        Some(Receipt {
            request: effect.request,
            status_ref,
            answer: effect.answer.clone(),
        })
    }
}
