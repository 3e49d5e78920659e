//! One production state machine on its way: each step is one call of one port, so that any number of them are under way at a
//! time, and a crash at any boundary simply drops them.

use std::time::Duration;

use countersign_contract::Package;
use countersign_dispatch::ledger::Error;
use countersign_dispatch::{
    BusinessState as _, Dispatch, DispatchRequest, Execution, NotStarted, Redelivery,
    RedeliveryRequest, Reserved, StatusQuery, StatusRequest, StatusSource as _,
};
use countersign_ledger::{Moment, Task};
use countersign_policy::ApprovalEvidence;

use crate::downstream::Ticket;
use crate::oracle::Warrant;
use crate::scene::{Process, Scene};
use crate::society::ActionNumber;

/// A machine, and what its driver remembers.
#[derive(Debug)]
pub(crate) struct Flight<'a> {
    machine: Option<Machine<'a>>,
    /// The action at which it began.
    started: ActionNumber,
    /// When its reservation was asked for, by a clock that nobody sets.
    asked_at: Duration,
    /// What it acts under, and when that was consumed.
    under: Option<(ApprovalEvidence, Option<Moment>)>,
    /// What it sent and waits for.
    sent: Option<(Ticket, Warrant)>,
}

#[derive(Debug)]
enum Machine<'a> {
    Dispatch(Dispatch<'a>),
    Query(StatusQuery<'a>),
    Again(Redelivery<'a>, &'a Task),
}

/// What its next step touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing that another job or a crash could meet: it may as well be taken at once.
    Local,
    /// The ledger, or what comes back.
    Shared,
    /// The downstream.
    Sends,
}

/// How far it is.
#[derive(Debug)]
pub(crate) enum Flown {
    GoesOn,
    Done(Box<Package>),
    /// Nothing is sent again.
    Drifted,
}

impl<'a> Flight<'a> {
    pub(crate) fn dispatch(request: &DispatchRequest<'a>, scene: &Scene<'a>) -> Self {
        Self::new(Machine::Dispatch(Dispatch::start(request)), None, scene)
    }

    pub(crate) fn query(request: &StatusRequest<'a>, scene: &Scene<'a>) -> Self {
        Self::new(Machine::Query(StatusQuery::start(request)), None, scene)
    }

    pub(crate) fn again(
        request: &RedeliveryRequest<'a>,
        task: &'a Task,
        scene: &Scene<'a>,
    ) -> Self {
        let under = Some((request.approval.clone(), None));
        Self::new(
            Machine::Again(Redelivery::start(request), task),
            under,
            scene,
        )
    }

    fn new(
        machine: Machine<'a>,
        under: Option<(ApprovalEvidence, Option<Moment>)>,
        scene: &Scene<'a>,
    ) -> Self {
        Self {
            machine: Some(machine),
            started: scene.society.action(),
            asked_at: scene.clocks.passed(),
            under,
            sent: None,
        }
    }

    /// What it acts on was looked up at an earlier action.
    pub(crate) fn since(self, started: ActionNumber) -> Self {
        Self { started, ..self }
    }

    pub(crate) fn next(&self) -> Next {
        match &self.machine {
            Some(Machine::Dispatch(state)) => match state {
                Dispatch::Execute(_) if self.sent.is_none() => Next::Sends,
                Dispatch::Authorize(_) | Dispatch::CheckState(_) | Dispatch::CheckApproval(_) => {
                    Next::Local
                }
                Dispatch::BindCall(_)
                | Dispatch::FindOperation(_)
                | Dispatch::Propose(_)
                | Dispatch::Reserve(_)
                | Dispatch::Execute(_)
                | Dispatch::Settle(_)
                | Dispatch::Done(_) => Next::Shared,
            },
            Some(Machine::Query(StatusQuery::Authorize(_))) => Next::Local,
            Some(Machine::Again(Redelivery::Authorize(_) | Redelivery::CheckApproval(_), _)) => {
                Next::Local
            }
            Some(Machine::Query(_) | Machine::Again(..)) | None => Next::Shared,
        }
    }

    /// Takes one step.
    pub(crate) fn step(&mut self, process: &Process, scene: &Scene<'a>) -> Result<Flown, Error> {
        let Some(machine) = self.machine.take() else {
            return Ok(Flown::Drifted);
        };
        let next = match machine {
            Machine::Dispatch(state) => Machine::Dispatch(self.dispatched(state, process, scene)?),
            Machine::Query(state) => Machine::Query(queried(state, process, scene)?),
            Machine::Again(state, task) => match self.repeated(state, task, process, scene)? {
                Redelivery::Dispatch(state) => Machine::Dispatch(*state),
                state @ (Redelivery::Authorize(_)
                | Redelivery::CheckApproval(_)
                | Redelivery::Begin(_)
                | Redelivery::Drifted) => Machine::Again(state, task),
            },
        };
        Ok(match next {
            Machine::Dispatch(Dispatch::Done(package))
            | Machine::Query(StatusQuery::Done(package)) => Flown::Done(Box::new(package)),
            Machine::Again(Redelivery::Drifted, _) => Flown::Drifted,
            next @ (Machine::Dispatch(_) | Machine::Query(_) | Machine::Again(..)) => {
                self.machine = Some(next);
                Flown::GoesOn
            }
        })
    }

    fn dispatched(
        &mut self,
        state: Dispatch<'a>,
        process: &Process,
        scene: &Scene<'a>,
    ) -> Result<Dispatch<'a>, Error> {
        let ledger = &process.pipeline;
        Ok(match state {
            Dispatch::BindCall(state) => {
                let bound = ledger.bind_call(state.identity(), state.fingerprint())?;
                state.answer(bound)
            }
            Dispatch::Authorize(state) => {
                let decision = scene.authorizer.decide(&state.request());
                state.answer(decision)
            }
            Dispatch::FindOperation(state) => {
                let found =
                    ledger.find_operation(state.scope(), state.identity(), state.fingerprint())?;
                state.answer(found.as_ref())
            }
            Dispatch::CheckState(state) => {
                let verdict = scene.society.verdict(state.authorized());
                state.answer(verdict)
            }
            Dispatch::CheckApproval(state) => state.answer(&*scene.society),
            Dispatch::Propose(state) => {
                let proposed = ledger.propose(state.proposal())?;
                state.answer(&proposed)
            }
            Dispatch::Reserve(state) => {
                self.asked_at = scene.clocks.passed();
                let reservation = state.reservation();
                let approval = reservation.approval.clone();
                let reserved = ledger.reserve(reservation)?;
                if matches!(reserved, Reserved::Taken(_)) {
                    self.under = Some((approval, Some(scene.clocks.of_ledger())));
                }
                state.answer(&reserved)
            }
            Dispatch::Execute(state) => match self.sent.take() {
                Some(sent) => {
                    let execution = scene.line.conclude(&scene.downstream, &state.order(), sent);
                    state.answer(execution)
                }
                None => self.begun(state, scene),
            },
            Dispatch::Settle(state) => {
                let settled = ledger.settle(state.scope(), state.fence(), state.settlement());
                state.answer(settled)
            }
            Dispatch::Done(package) => Dispatch::Done(package),
        })
    }

    /// Sends, if it is not too late: right before the first byte, as a driver does.
    fn begun(
        &mut self,
        state: countersign_dispatch::Execute<'a>,
        scene: &Scene<'a>,
    ) -> Dispatch<'a> {
        let held = scene.clocks.passed().saturating_sub(self.asked_at);
        if state.begin_within().is_some_and(|within| held >= within) {
            return state.answer(Execution::NotStarted(NotStarted::DeadlineExceeded));
        }
        let order = state.order();
        let warrant = scene.warrant(self.under.as_ref(), self.started, &order);
        let ticket = scene.line.send(&scene.downstream, &order, warrant.clone());
        self.sent = ticket.map(|ticket| (ticket, warrant));
        if self.sent.is_none() {
            return state.answer(Execution::Failed);
        }
        Dispatch::Execute(state)
    }

    fn repeated(
        &mut self,
        state: Redelivery<'a>,
        task: &'a Task,
        process: &Process,
        scene: &Scene<'a>,
    ) -> Result<Redelivery<'a>, Error> {
        Ok(match state {
            Redelivery::Authorize(state) => {
                let decision = scene.authorizer.decide(&state.request());
                state.answer(decision)
            }
            Redelivery::CheckApproval(state) => state.answer(&*scene.society),
            Redelivery::Begin(state) => {
                self.asked_at = scene.clocks.passed();
                let lease = process.work.send_again(task)?;
                state.answer(lease)
            }
            Redelivery::Dispatch(state) => Redelivery::Dispatch(state),
            Redelivery::Drifted => Redelivery::Drifted,
        })
    }
}

fn queried<'a>(
    state: StatusQuery<'a>,
    process: &Process,
    scene: &Scene<'a>,
) -> Result<StatusQuery<'a>, Error> {
    let ledger = &process.pipeline;
    Ok(match state {
        StatusQuery::BindCall(state) => {
            let bound = ledger.bind_call(state.identity(), state.fingerprint())?;
            state.answer(bound)
        }
        StatusQuery::Authorize(state) => {
            let decision = scene.authorizer.decide(&state.request());
            state.answer(decision)
        }
        StatusQuery::FindQueryable(state) => {
            let found = ledger.find_queryable(state.status_ref())?;
            state.answer(found)
        }
        StatusQuery::AskDownstream(state) => {
            let receipt = scene.downstream.receipt(&state.question());
            state.answer(receipt)
        }
        StatusQuery::Reconcile(state) => {
            let settled = ledger.reconcile(state.scope(), state.proven());
            state.answer(settled)
        }
        StatusQuery::Done(package) => StatusQuery::Done(package),
    })
}
