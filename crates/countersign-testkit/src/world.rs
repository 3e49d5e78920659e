//! A world in which actions happen one after the other, and are judged after each.

use std::collections::BTreeMap;
use std::time::Duration;

use countersign_contract::StatusRef;
use countersign_dispatch::ledger::Error;
use countersign_dispatch::{Execution, ExecutionOrder, Executor, Registry};
use countersign_ledger::{
    Decided, Decision, MAX_PAGE, OperationDetail, OperationFilter, Record, Ruled, State, StateKind,
    Verdict, Version,
};
use countersign_policy::ApprovalEvidence;
use countersign_runtime::{Poller, Stop, WorkPorts};

use crate::action::Action;
use crate::invariants::{INVARIANTS, View};
use crate::job::{Job, Next, SETTINGS};
use crate::oracle::{Standing as Stands, Warrant};
use crate::run::Setting;
use crate::scene::{Process, Scene, Shelves, instance};
use crate::society::PEOPLE;
use crate::tools::{approval_id, approver_id, note, present, proven, tenant};

/// How many processes run at a time.
pub(crate) const PROCESSES: u8 = 3;
/// The most jobs under way at a time; more are not begun.
const MAX_JOBS: usize = 16;
/// The most steps that one job takes.
const MAX_STEPS: usize = 1000;
/// By how much the ledger's clock may be off, in milliseconds: an hour.
const MAX_LEDGER_AHEAD: i64 = 3_600_000;
/// The rounds of workers after faults have stopped: short pauses for what is performed, long ones for what expires.
const ROUNDS: [(usize, Duration); 2] =
    [(24, Duration::from_secs(40)), (36, Duration::from_mins(5))];

/// How far a world has come. Each process knows at once of its own writes only, so that all are asked.
#[derive(Debug, PartialEq, Eq)]
struct Standing {
    started: usize,
    versions: Vec<Version>,
    effects: usize,
    told: usize,
}

/// One world.
pub(crate) struct World<'a> {
    scene: Scene<'a>,
    processes: Vec<Process>,
    jobs: Vec<Job<'a>>,
    /// How many processes ever started.
    started: usize,
    observer: Process,
    operations: BTreeMap<StatusRef, OperationDetail>,
    /// What was read last, and what was judged last.
    looked: Option<Standing>,
    judged: Option<Standing>,
}

impl<'a> World<'a> {
    pub(crate) fn new(shelves: &'a Shelves, setting: Setting) -> Self {
        let scene = Scene::new(shelves, setting.keeper, setting.variant);
        let observer = scene.start(0);
        let mut world = Self {
            observer,
            scene,
            processes: Vec::new(),
            jobs: Vec::new(),
            started: 0,
            operations: BTreeMap::new(),
            looked: None,
            judged: None,
        };
        for _ in 0..PROCESSES {
            let process = world.start();
            world.processes.push(process);
        }
        world
    }

    fn start(&mut self) -> Process {
        self.started += 1;
        self.scene.start(self.started)
    }

    /// Lets something happen.
    pub(crate) fn happen(&mut self, action: Action) {
        self.scene.society.next_action();
        if action.is_by_person() && self.look().is_err() {
            // Whoever sees nothing does nothing; that the ledger cannot be read, the judge says.
            return;
        }
        match action {
            Action::Call {
                process,
                wish,
                brings,
            } => self.begin(process, |process| Job::call(process, wish, brings)),
            Action::Query { process, wish } => {
                self.begin(process, |process| Job::query(process, wish));
            }
            Action::Work { process } => self.begin(process, Job::work),
            Action::Step { job } => self.step(usize::from(job)),
            Action::Finish { job } => self.finish(usize::from(job)),
            Action::Approve {
                process,
                operation,
                approver,
                seconds,
            } => self.approve((process, operation), approver, seconds),
            Action::Deny {
                process,
                operation,
                approver,
            } => self.deny((process, operation), approver),
            Action::Rule {
                process,
                operation,
                with_answer,
            } => self.rule((process, operation), with_answer),
            Action::Acknowledge { process, operation } => {
                let succeeded = self.nth(operation, StateKind::Succeeded);
                if let (Some(detail), Some(process)) = (succeeded, self.acting(process)) {
                    // An answer that is lost costs the caller nothing: it shows to know it again.
                    let _ = process.ledger.acknowledge(&detail.record.scope);
                }
            }
            Action::Heartbeat { process } => {
                if let Some(process) = self.acting(process) {
                    // One that fails is tried again at the next beat.
                    let _ = process.work.heartbeat();
                }
            }
            Action::Crash { process } => self.crash(process),
            Action::Line(fate) => self.scene.downstream.meet(fate),
            Action::Ledger(fault) => self.scene.store.faults().meet(Some(fault)),
            Action::Pass { milliseconds } => {
                self.pass(Duration::from_millis(u64::from(milliseconds)));
            }
            Action::SetLedgerClock { milliseconds } => {
                let ahead = i64::from(milliseconds).clamp(-MAX_LEDGER_AHEAD, MAX_LEDGER_AHEAD);
                self.scene.clocks.set_ledger_ahead(ahead);
            }
            Action::SetProcessClock { process, seconds } => {
                let number = usize::from(process % PROCESSES);
                if let Some(process) = self.processes.get_mut(number) {
                    process.ahead = i64::from(seconds) * 1000;
                }
            }
            Action::SetRole { subject, holds } => self.scene.society.set_role(subject, holds),
            Action::SetApprover { approver, is_one } => {
                self.scene.society.set_approver(approver, is_one);
            }
            Action::SetBusiness { allows } => self.scene.society.set_business(allows),
            Action::Revise { tool, part } => self.scene.society.revise(tool, part),
            Action::SetReceipts { shown } => self.scene.downstream.show_receipts(shown),
        }
    }

    /// A process that is about to act: from now on its clock is the caller's.
    fn acting(&self, process: u8) -> Option<&Process> {
        let process = self.processes.get(usize::from(process % PROCESSES))?;
        self.scene.clocks.set_caller_ahead(process.ahead);
        Some(process)
    }

    fn begin(&mut self, process: u8, job: impl FnOnce(usize) -> Job<'a>) {
        if self.jobs.len() < MAX_JOBS {
            self.jobs.push(job(usize::from(process % PROCESSES)));
        }
    }

    fn step(&mut self, number: usize) {
        let Some(index) = self.newest(number) else {
            return;
        };
        self.step_at(index);
    }

    /// The how-manieth job, newest first.
    fn newest(&self, number: usize) -> Option<usize> {
        let behind = number.checked_rem(self.jobs.len())?;
        Some(self.jobs.len() - 1 - behind)
    }

    fn step_at(&mut self, index: usize) {
        let Some(job) = self.jobs.get_mut(index) else {
            return;
        };
        if let Some(process) = self.processes.get(job.process) {
            self.scene.clocks.set_caller_ahead(process.ahead);
            job.step(process, &self.scene);
        }
        if job.is_done() {
            self.jobs.remove(index);
        }
    }

    fn finish(&mut self, number: usize) {
        let Some(index) = self.newest(number) else {
            return;
        };
        let before = self.jobs.len();
        for _ in 0..MAX_STEPS {
            self.step_at(index);
            if self.jobs.len() < before {
                return;
            }
        }
    }

    fn crash(&mut self, process: u8) {
        let number = usize::from(process % PROCESSES);
        self.jobs.retain(|job| job.process != number);
        let process = self.start();
        if let Some(place) = self.processes.get_mut(number) {
            *place = process;
        }
    }

    /// The step of a job that nothing else could meet, if there is one.
    pub(crate) fn local_step(&self) -> Option<Action> {
        let is_local = |job: &Job<'a>| job.next() == Next::Local;
        let behind = self.jobs.iter().rev().position(is_local)?;
        let job = u8::try_from(behind).ok()?;
        Some(Action::Step { job })
    }

    /// What each job's next step touches, oldest first, with its process.
    pub(crate) fn nexts(&self) -> Vec<(usize, Next)> {
        let nexts = self.jobs.iter().map(|job| (job.process, job.next()));
        nexts.collect()
    }

    /// Whether anything waits for a decision, and whether any outcome is unknown.
    pub(crate) fn open_kinds(&self) -> (bool, bool) {
        let is = |kind| {
            self.operations
                .values()
                .any(|detail| detail.record.kind() == kind)
        };
        (is(StateKind::AwaitingApproval), is(StateKind::Unknown))
    }

    /// Everything that tells this world from another one that began alike.
    pub(crate) fn portrait(&self) -> String {
        let names = (0..=self.started).map(instance);
        let rows = self
            .scene
            .store
            .portrait(names, &self.scene.oracle.borrow().given);
        let Self { jobs, scene, .. } = self;
        let passed = scene.clocks.passed();
        format!("{passed:?}{rows}{jobs:?}{}", scene.downstream.portrait())
    }

    fn pass(&self, time: Duration) {
        self.scene.clocks.pass(time);
        self.scene.downstream.go_on();
    }

    /// The how-manieth operation in a state; where there is none in it, of any.
    fn nth(&self, number: u8, kind: StateKind) -> Option<&OperationDetail> {
        let in_state = |detail: &&OperationDetail| detail.record.kind() == kind;
        let count = self.operations.values().filter(in_state).count();
        if let Some(index) = usize::from(number).checked_rem(count) {
            return self.operations.values().filter(in_state).nth(index);
        }
        let index = usize::from(number).checked_rem(self.operations.len())?;
        self.operations.values().nth(index)
    }

    fn approve(&self, (process, operation): (u8, u8), approver: u8, seconds: u16) {
        let Some(detail) = self.nth(operation, StateKind::AwaitingApproval) else {
            return;
        };
        let (Some(process), record) = (self.acting(process), &detail.record) else {
            return;
        };
        let by = approver_id(approver % PEOPLE);
        let approval_id = approval_id(self.scene.oracle.borrow().given.len());
        let now = self.scene.clocks.of_ledger().second();
        let expires_at = present(now.checked_add(u64::from(seconds)));
        let proposal = &detail.proposal;
        let request = &record.terms.request;
        let given = ApprovalEvidence {
            digest: countersign_contract::ApprovalDigest::of(
                &proposal.call,
                &proposal.contract,
                request,
                &by,
            ),
            approval_id: approval_id.clone(),
            approver: by.clone(),
            expires_at,
        };
        let mut oracle = self.scene.oracle.borrow_mut();
        oracle.signed.push(proposal.approval(record, &given));
        oracle.given.push(given);
        oracle.pends("approved", "approval_id", approval_id.as_str().to_owned());
        let decision = Decision::Approve {
            by,
            approval_id,
            expires_at,
        };
        let decided = process.ledger.decide_on(record, &decision);
        oracle.stands(decided_stands(&decided));
    }

    fn deny(&self, (process, operation): (u8, u8), approver: u8) {
        let Some(detail) = self.nth(operation, StateKind::AwaitingApproval) else {
            return;
        };
        let Some(process) = self.acting(process) else {
            return;
        };
        let mut oracle = self.scene.oracle.borrow_mut();
        let reason = note(oracle.facts.len());
        oracle.pends("denied", "reason", reason.as_str().to_owned());
        let decision = Decision::Deny {
            by: approver_id(approver % PEOPLE),
            reason: Some(reason),
        };
        let decided = process.ledger.decide_on(&detail.record, &decision);
        oracle.stands(decided_stands(&decided));
    }

    /// A person looks at the downstream, and says what there is to see.
    fn rule(&self, (process, operation): (u8, u8), with_answer: bool) {
        let Some(detail) = self.nth(operation, StateKind::Unknown) else {
            return;
        };
        let Some(process) = self.acting(process) else {
            return;
        };
        let (record, proposal) = (&detail.record, &detail.proposal);
        let verdict = match self.scene.downstream.effect(&record.scope) {
            None => Verdict::NotExecuted,
            Some(effect) if with_answer => {
                let arguments = &proposal.call.arguments;
                let answer = effect.answer.check(&proposal.contract, arguments);
                Verdict::CommittedWith(proven(answer))
            }
            Some(_) => Verdict::Committed,
        };
        let mut oracle = self.scene.oracle.borrow_mut();
        let note = note(oracle.facts.len());
        oracle.pends("ruled", "note", note.as_str().to_owned());
        let status_ref = &record.terms.status_ref;
        let ruled = process
            .ledger
            .rule(status_ref, &verdict, &approver_id(0), &note);
        oracle.stands(match &ruled {
            Ok(Ruled::Counts(_)) => Stands::Acked,
            Ok(Ruled::NotUnknown(_) | Ruled::TooEarly(_) | Ruled::NotFound) => Stands::Absent,
            Err(error) => failed_stands(*error),
        });
    }

    /// Holds every invariant against what there is now, if anything has changed.
    pub(crate) fn judge(&mut self, is_over: bool) -> Result<(), (&'static str, String)> {
        let standing = self.standing();
        if self.judged.as_ref() == Some(&standing) && !is_over {
            return Ok(());
        }
        self.look()
            .map_err(|error| ("the ledger can be read", error.to_string()))?;
        self.judged = Some(standing);
        let effects = self.scene.downstream.effects();
        let view = View {
            operations: &self.operations,
            effects: &effects,
            oracle: &self.scene.oracle.borrow(),
            is_over,
        };
        INVARIANTS
            .iter()
            .try_for_each(|(name, check)| check(&view).map_err(|said| (*name, said)))
    }

    fn standing(&self) -> Standing {
        Standing {
            started: self.started,
            versions: self
                .processes
                .iter()
                .map(|process| process.ledger.version())
                .collect(),
            effects: self.scene.downstream.effect_count(),
            told: self.scene.oracle.borrow().told.len(),
        }
    }

    /// Reads what anybody can read of the ledger.
    fn look(&mut self) -> Result<(), Error> {
        let standing = self.standing();
        if self.looked.as_ref() == Some(&standing) {
            return Ok(());
        }
        self.looked = Some(standing);
        let ledger = &self.observer.ledger;
        let page = ledger.operations(&OperationFilter::default(), None, MAX_PAGE)?;
        let mut operations = BTreeMap::new();
        for record in page.items {
            let status_ref = record.terms.status_ref;
            let detail = match self.operations.remove(&status_ref) {
                Some(detail) if detail.record == record => Some(detail),
                Some(_) | None => ledger.operation(&status_ref)?,
            };
            operations.extend(detail.map(|detail| (status_ref, detail)));
        }
        self.operations = operations;
        let trail = &mut self.scene.oracle.borrow_mut().trail;
        let read = trail.len() as u64;
        trail.extend(ledger.audit(&tenant(), read, MAX_PAGE)?);
        Ok(())
    }

    /// Faults stop, what is under way ends, and workers work until nothing is left to do.
    pub(crate) fn settle_down(&mut self, seed: u64) -> Result<(), (&'static str, String)> {
        self.scene.society.next_action();
        self.scene.store.faults().meet(None);
        self.scene.downstream.meet(crate::action::Fate::Acts);
        self.scene.downstream.show_receipts(true);
        while !self.jobs.is_empty() {
            self.finish(0);
            self.judge(false)?;
        }
        // What varies the workers' delays follows from the seed too.
        fastrand::seed(seed);
        let host = self.start();
        self.processes.push(host);
        let host = self.processes.len() - 1;
        self.scene.clocks.set_caller_ahead(0);
        for (rounds, pause) in ROUNDS {
            for _ in 0..rounds {
                self.scene.society.next_action();
                self.work(host)
                    .map_err(|error| ("workers can work", error.to_string()))?;
                self.judge(false)?;
                if self.is_settled() {
                    return self.judge(true);
                }
                self.pass(pause);
            }
        }
        self.judge(true)
    }

    fn is_settled(&self) -> bool {
        let is_settled = |record: &Record| !record.kind().is_open() || record.is_dead_letter;
        self.operations
            .values()
            .all(|detail| is_settled(&detail.record))
    }

    /// One round of the runtime's own worker.
    fn work(&self, host: usize) -> Result<(), Error> {
        let Some(host) = self.processes.get(host) else {
            return Ok(());
        };
        let registry = proven(Registry::new(self.scene.society.contracts()));
        let ports = WorkPorts {
            ledger: &*host.ledger,
            registry: &registry,
            principals: &*self.scene.society,
            authorizer: &*self.scene.authorizer,
            approvers: &*self.scene.society,
            state: &*self.scene.society,
            executor: &DirectLine {
                scene: &self.scene,
                host,
            },
            source: &*self.scene.downstream,
        };
        Poller::new(ports, SETTINGS).tick(&Stop::default())?;
        Ok(())
    }
}

fn decided_stands(decided: &Result<Decided, Error>) -> Stands {
    match decided {
        Ok(Decided::Counts(_)) => Stands::Acked,
        Ok(Decided::TooLate(_) | Decided::Unusable | Decided::NotFound) => Stands::Absent,
        Err(error) => failed_stands(*error),
    }
}

fn failed_stands(error: Error) -> Stands {
    match error {
        Error::Unconfirmed => Stands::Unknown,
        Error::Full { .. } | Error::Busy | Error::Unavailable(_) | Error::Damaged(_) => {
            Stands::Absent
        }
    }
}

/// Takes the orders of the runtime's own worker to the downstream, undisturbed.
struct DirectLine<'s, 'a> {
    scene: &'s Scene<'a>,
    host: &'s Process,
}

impl Executor for DirectLine<'_, '_> {
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
        let sent = self.scene.downstream.send(order, self.warrant(order));
        sent.map_or(Execution::Failed, |ticket| {
            self.scene.downstream.conclude(ticket)
        })
    }
}

impl DirectLine<'_, '_> {
    /// What is sent is under way in the ledger already: it says under which approval.
    fn warrant(&self, order: &ExecutionOrder<'_>) -> Warrant {
        let scope = countersign_contract::Scope::of(order.principal(), order.call());
        let task = scope.and_then(|scope| self.host.ledger.task(&scope).ok().flatten());
        let attempt = task.and_then(|task| match task.record.state {
            State::Executing(attempt) => Some(attempt),
            State::AwaitingApproval { .. }
            | State::Denied { .. }
            | State::Expired { .. }
            | State::Reserved { .. }
            | State::Blocked { .. }
            | State::Failed { .. }
            | State::Unknown { .. }
            | State::Succeeded { .. }
            | State::ResolvedCommitted { .. }
            | State::ResolvedNotExecuted { .. } => None,
        });
        let under = attempt.map(|attempt| (attempt.approval, Some(attempt.first_sent)));
        self.scene
            .warrant(under.as_ref(), self.scene.society.action(), order)
    }
}
