//! What a process does for a caller or on its own, one call of a port at a time: the same sequence as the runtime's own hosts
//! and workers, which do not stop between the steps.

use countersign_contract::{
    Call, CallId, ErrorCode, IntentDigest, Package, Principal, RequestDigest, ResponseId, Scope,
    StatusRef, ToolContract,
};
use countersign_dispatch::ledger::Error;
use countersign_dispatch::{
    CallIdentity, DispatchRequest, Intent, RedeliveryRequest, StatusRequest,
};
use countersign_ledger::{State, StateKind, Task};
use countersign_policy::{AccessRequest, Approval, ApprovalEvidence};
use countersign_runtime::{Plan, PollerSettings, plan};

use crate::action::Brings;
pub(crate) use crate::flight::Next;
use crate::flight::{Flight, Flown};
use crate::oracle::Told;
use crate::scene::{Process, Scene};
use crate::society::ActionNumber;
use crate::tools::{Tool, Wish, approval_id, approver_id, present, proven};

/// The most operations of one round of a worker.
const BATCH: usize = 4;
/// How workers put off what came to nothing.
pub(crate) const SETTINGS: PollerSettings = PollerSettings {
    batch: BATCH,
    pause: std::time::Duration::from_secs(1),
    first_delay: std::time::Duration::from_secs(1),
    longest_delay: std::time::Duration::from_mins(1),
    max_visits: 6,
    lease: std::time::Duration::from_secs(15),
};

/// A job under way.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) process: usize,
    /// What is to be done, last first.
    todo: Vec<Todo<'a>>,
}

#[derive(Debug)]
enum Todo<'a> {
    FindKey(Wish, Brings),
    FindTask(Asked<'a>),
    Own(Asked<'a>),
    FindQueried(Wish),
    Expire,
    Recover,
    Claim,
    Perform(&'a Task),
    SendAgain(&'a Task),
    Block(&'a Task, ErrorCode),
    PutOff(&'a Task),
    Fly(Box<Flight<'a>>, Then<'a>),
}

/// What becomes of a flight's end.
#[derive(Clone, Copy, Debug)]
enum Then<'a> {
    /// A caller is told.
    Tell(&'a Principal, &'a Call),
    /// A worker began an operation.
    Begun(&'a Task),
    /// A worker asked about one; whether it may send it again.
    Asked(&'a Task, bool),
    /// A worker sent one again.
    SentAgain(&'a Task),
}

/// A caller's call, under its key.
#[derive(Debug)]
struct Asked<'a> {
    principal: &'a Principal,
    call: &'a Call,
    contract: Option<&'a ToolContract>,
    intent: Option<Intent>,
    scope: Scope,
    approvals: &'a [Approval],
    /// The action at which principal and contract were looked up.
    since: ActionNumber,
}

impl<'a> Job<'a> {
    pub(crate) fn call(process: usize, wish: Wish, brings: Brings) -> Self {
        let todo = vec![Todo::FindKey(wish, brings)];
        Self { process, todo }
    }

    pub(crate) fn query(process: usize, wish: Wish) -> Self {
        let todo = vec![Todo::FindQueried(wish)];
        Self { process, todo }
    }

    pub(crate) fn work(process: usize) -> Self {
        let todo = vec![Todo::Claim, Todo::Recover, Todo::Expire];
        Self { process, todo }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.todo.is_empty()
    }

    pub(crate) fn next(&self) -> Next {
        match self.todo.last() {
            Some(Todo::Fly(flight, _)) => flight.next(),
            Some(Todo::Own(_) | Todo::Perform(_) | Todo::SendAgain(_)) => Next::Local,
            Some(
                Todo::FindKey(..)
                | Todo::FindTask(_)
                | Todo::FindQueried(_)
                | Todo::Expire
                | Todo::Recover
                | Todo::Claim
                | Todo::Block(..)
                | Todo::PutOff(_),
            )
            | None => Next::Shared,
        }
    }

    /// Takes one step. An error of the ledger ends the job, as it does in a host.
    pub(crate) fn step(&mut self, process: &Process, scene: &Scene<'a>) {
        let Some(todo) = self.todo.pop() else {
            return;
        };
        if self.take(todo, process, scene).is_err() {
            self.todo.clear();
        }
    }

    fn take(&mut self, todo: Todo<'a>, process: &Process, scene: &Scene<'a>) -> Result<(), Error> {
        let next = match todo {
            Todo::FindKey(wish, brings) => {
                let asked = find_key(wish, brings, process, scene)?;
                asked.map(Todo::FindTask)
            }
            Todo::FindTask(asked) => {
                let task = process.work.task(&asked.scope)?;
                let reserved = task.filter(|task| task.record.kind() == StateKind::Reserved);
                let task = reserved.and_then(|task| scene.shelves.tasks.keep(task));
                self.todo.push(Todo::Own(asked));
                task.map(Todo::Perform)
            }
            Todo::Own(asked) => {
                let request = DispatchRequest {
                    principal: asked.principal,
                    call: asked.call,
                    contract: asked.contract,
                    approvals: asked.approvals,
                    intent: asked.intent,
                    downstream_memory: memory(asked.call),
                    now: scene.clocks.of_caller(),
                };
                let flight = Flight::dispatch(&request, scene).since(asked.since);
                Some(fly(flight, Then::Tell(asked.principal, asked.call)))
            }
            Todo::FindQueried(wish) => find_queried(wish, process, scene)?,
            Todo::Expire => {
                process.work.expire(BATCH)?;
                None
            }
            Todo::Recover => {
                process.work.recover(BATCH)?;
                None
            }
            Todo::Claim => {
                let tools = Tool::ALL.map(Tool::name);
                for task in process.work.claim(&tools, BATCH)? {
                    let task = scene.shelves.tasks.keep(task);
                    self.todo.extend(task.map(Todo::Perform));
                }
                None
            }
            Todo::Perform(task) => Some(perform(task, scene)),
            Todo::SendAgain(task) => send_again(task, scene),
            Todo::Block(task, code) => {
                process.work.block(task, code)?;
                None
            }
            Todo::PutOff(task) => {
                put_off(task, process)?;
                None
            }
            Todo::Fly(mut flight, then) => match flight.step(process, scene)? {
                Flown::GoesOn => Some(Todo::Fly(flight, then)),
                Flown::Done(package) => then.after(Some(&package), scene),
                Flown::Drifted => then.after(None, scene),
            },
        };
        self.todo.extend(next);
        Ok(())
    }
}

fn fly<'a>(flight: Flight<'a>, then: Then<'a>) -> Todo<'a> {
    Todo::Fly(Box::new(flight), then)
}

fn memory(call: &Call) -> Option<std::time::Duration> {
    Tool::named(&call.name).and_then(Tool::memory)
}

/// A call as its host understands it: for whom, under which contract, under whose key.
fn find_key<'a>(
    wish: Wish,
    brings: Brings,
    process: &Process,
    scene: &Scene<'a>,
) -> Result<Option<Asked<'a>>, Error> {
    let shelves = scene.shelves;
    let Some(principal) = shelves
        .principals
        .keep(scene.society.principal(wish.subject))
    else {
        return Ok(None);
    };
    let mut call = wish.call();
    let contract = scene.society.contract(&call.name);
    let contract = contract.and_then(|contract| shelves.contracts.keep(contract));
    let mut intent = None;
    if call.idempotency_key.is_none() {
        let digest = IntentDigest::of(principal, &call);
        let identity = CallIdentity::of(principal, &call);
        let found = process.ledger.intent(&identity, &digest)?;
        call.idempotency_key = Some(digest.key(found.generation));
        intent = Some(found);
    }
    let Some(call) = shelves.calls.keep(call) else {
        return Ok(None);
    };
    Ok(Scope::of(principal, call).map(|scope| Asked {
        approvals: brought(brings, principal, call, contract, scene),
        principal,
        call,
        contract,
        intent,
        scope,
        since: scene.society.action(),
    }))
}

fn brought<'a>(
    brings: Brings,
    principal: &'a Principal,
    call: &'a Call,
    contract: Option<&'a ToolContract>,
    scene: &Scene<'a>,
) -> &'a [Approval] {
    let kept: Vec<Approval> = match brings {
        Brings::Nothing => Vec::new(),
        Brings::Kept => {
            let oracle = scene.oracle.borrow();
            let of_call = |approval: &&Approval| approval.call_id == call.call_id.as_str();
            oracle.signed.iter().filter(of_call).cloned().collect()
        }
        Brings::Signed { approver, seconds } => {
            let signed = contract
                .and_then(|contract| sign(principal, call, contract, (approver, seconds), scene));
            signed.into_iter().collect()
        }
    };
    scene
        .shelves
        .approvals
        .keep(kept)
        .map_or(&[], Vec::as_slice)
}

/// A person looks at a call and signs for it, apart from any ledger.
fn sign(
    principal: &Principal,
    call: &Call,
    contract: &ToolContract,
    (approver, seconds): (u8, u16),
    scene: &Scene<'_>,
) -> Option<Approval> {
    let mut oracle = scene.oracle.borrow_mut();
    let approver = approver_id(approver % crate::society::PEOPLE);
    let now = scene.clocks.of_ledger().second();
    let expires_at = now.checked_add(u64::from(seconds))?;
    let id = approval_id(oracle.given.len());
    let request = RequestDigest::of(principal, call, Some(contract));
    let access = AccessRequest {
        principal,
        call,
        contract,
    };
    let approval = Approval::of(
        &access,
        &request,
        id.as_str().to_owned(),
        &approver,
        expires_at,
    );
    oracle.given.push(ApprovalEvidence {
        approval_id: id,
        digest: countersign_contract::ApprovalDigest::of(call, contract, &request, &approver),
        approver,
        expires_at,
    });
    oracle.signed.push(approval.clone());
    Some(approval)
}

/// A question about a call that somebody made before, under a call identity of its own.
fn find_queried<'a>(
    wish: Wish,
    process: &Process,
    scene: &Scene<'a>,
) -> Result<Option<Todo<'a>>, Error> {
    let Some(asked) = find_key(wish, Brings::Nothing, process, scene)? else {
        return Ok(None);
    };
    let request = RequestDigest::of(asked.principal, asked.call, asked.contract);
    let status_ref = StatusRef::of(&asked.scope, &request);
    let (response, id) = (
        ResponseId::new("questions"),
        format!("question-{}", wish.id),
    );
    let call = Call {
        response_id: proven(response),
        call_id: proven(CallId::new(id)),
        ..asked.call.clone()
    };
    let Some(call) = scene.shelves.calls.keep(call) else {
        return Ok(None);
    };
    let request = StatusRequest {
        principal: asked.principal,
        call,
        contract: asked.contract,
        status_ref,
        expected_request: request,
        now: scene.clocks.of_caller(),
    };
    let flight = Flight::query(&request, scene);
    Ok(Some(fly(flight, Then::Tell(asked.principal, call))))
}

/// What a worker does about an operation.
fn perform<'a>(task: &'a Task, scene: &Scene<'a>) -> Todo<'a> {
    match (plan(task), &task.record.state) {
        (Plan::Begin, State::Reserved { approval, .. }) => begin(task, approval, scene),
        (Plan::Ask, _) => ask(task, false, scene),
        (Plan::AskOrSendAgain, _) => ask(task, true, scene),
        (Plan::Begin | Plan::Nothing, _) => Todo::PutOff(task),
    }
}

fn begin<'a>(task: &'a Task, approval: &ApprovalEvidence, scene: &Scene<'a>) -> Todo<'a> {
    let (stored, shelves) = (&task.proposal, scene.shelves);
    let offered = vec![stored.approval(&task.record, approval)];
    let request = DispatchRequest {
        principal: current(task, scene),
        call: &stored.call,
        contract: registered(task, scene),
        approvals: shelves.approvals.keep(offered).map_or(&[], Vec::as_slice),
        intent: task.record.intent,
        downstream_memory: task.record.downstream_memory,
        now: task.at.second(),
    };
    fly(Flight::dispatch(&request, scene), Then::Begun(task))
}

fn current<'a>(task: &'a Task, scene: &Scene<'a>) -> &'a Principal {
    use countersign_runtime::PrincipalDirectory as _;
    let stored = &task.proposal.principal;
    let now = scene.society.current(stored);
    now.and_then(|now| scene.shelves.principals.keep(now))
        .unwrap_or(stored)
}

fn registered<'a>(task: &Task, scene: &Scene<'a>) -> Option<&'a ToolContract> {
    let contract = scene.society.contract(&task.proposal.call.name)?;
    scene.shelves.contracts.keep(contract)
}

fn ask<'a>(task: &'a Task, may_send: bool, scene: &Scene<'a>) -> Todo<'a> {
    let status_ref = task.record.terms.status_ref;
    let call = Call {
        response_id: proven(ResponseId::new("countersign-host")),
        call_id: proven(CallId::new(status_ref.to_string())),
        ..task.proposal.call.clone()
    };
    let call = present(scene.shelves.calls.keep(call));
    let principal = current(task, scene);
    let contract = registered(task, scene);
    let request = StatusRequest {
        principal,
        call,
        contract,
        status_ref,
        expected_request: RequestDigest::of(principal, call, contract),
        now: task.at.second(),
    };
    fly(Flight::query(&request, scene), Then::Asked(task, may_send))
}

fn send_again<'a>(task: &'a Task, scene: &Scene<'a>) -> Option<Todo<'a>> {
    let State::Unknown { attempt, .. } = &task.record.state else {
        return None;
    };
    let request = RedeliveryRequest {
        principal: current(task, scene),
        call: &task.proposal.call,
        contract: registered(task, scene),
        terms: &task.record.terms,
        approval: &attempt.approval,
        now: task.at.second(),
    };
    let flight = Flight::again(&request, task, scene);
    Some(fly(flight, Then::SentAgain(task)))
}

fn put_off(task: &Task, process: &Process) -> Result<(), Error> {
    let may_be_sent = task.record.kind() == StateKind::Unknown
        && task.sendable_until.is_some_and(|until| task.at < until);
    if task.record.visits >= SETTINGS.max_visits && !may_be_sent {
        return process.work.give_up(task);
    }
    let delay = SETTINGS.delay(task.record.visits, 0.5);
    process.work.postpone(task, delay)
}

impl<'a> Then<'a> {
    fn after(self, package: Option<&Package>, scene: &Scene<'a>) -> Option<Todo<'a>> {
        let code = package.and_then(|package| package.model_result().error_code());
        match self {
            Self::Tell(principal, call) => {
                let data = package.and_then(|package| package.model_result().data());
                if let (Some(data), Some(scope)) = (data, Scope::of(principal, call)) {
                    let data = data.clone();
                    scene.oracle.borrow_mut().told.push(Told { scope, data });
                }
                None
            }
            Self::Begun(task) => match code {
                None => None,
                Some(ErrorCode::OutcomeUnknown | ErrorCode::OutputContractViolation) => {
                    Some(Todo::PutOff(task))
                }
                Some(code) => Some(Todo::Block(task, code)),
            },
            Self::Asked(task, may_send) => match (code, may_send) {
                (None, _) => None,
                (Some(_), true) => Some(Todo::SendAgain(task)),
                (Some(_), false) => Some(Todo::PutOff(task)),
            },
            Self::SentAgain(task) => match (package, code) {
                (Some(_), None) => None,
                (None | Some(_), _) => Some(Todo::PutOff(task)),
            },
        }
    }
}
