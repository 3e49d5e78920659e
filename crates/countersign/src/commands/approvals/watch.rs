//! `countersign approvals watch`.

mod form;
mod keys;
mod model;
mod render;
mod screen;

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use countersign_contract::{Inert, StatusRef};
use countersign_ledger::{
    Approvals as _, Changes as _, Decided, Decision, GrantAdded, Grants as _, Inspection as _,
    MAX_PAGE, OperationDetail, OperationFilter, Record, StateKind, Version, Work as _,
};
use zeroize::Zeroizing;

use self::form::GrantForm;
use self::model::{Action, Deed, Model, NO_KEY, Shown, View};
use self::render::{call_lines, middle_rows, render};
use self::screen::Screen;
use super::decide::CLOCK;
use crate::approver_key::{SealedKey, UnlockedKey};
use crate::cautions::cautions;
use crate::cli::WatchArguments;
use crate::commands::grants::grant_of;
use crate::granted::is_granted;
use crate::host_ledger::{FileLedger, open_existing};
use crate::input::describe;
use crate::ledger_advice::failed;
use crate::operation_text::standing;
use crate::output::{Verdict, complain};
use crate::prompt::Terminal;
use crate::unlocking::Signer;

/// How long one look waits for somebody to write.
const LOOK: Duration = Duration::from_millis(50);
/// The most operations that end in one look because their time is over.
const MAX_EXPIRED: usize = 64;
/// How many earlier operations of the same subject are shown.
const LATELY: usize = 5;
/// How many operations are looked through for them.
const MAX_LOOKED_THROUGH: usize = 200;
/// The most wrong passphrases in one run.
const MAX_WRONG: usize = 5;
/// The most programs that are told of a request and have not ended.
const MAX_CHILDREN: usize = 16;

pub(super) fn run(arguments: &WatchArguments) -> anyhow::Result<Verdict> {
    let ledger = open_existing(&arguments.ledger)?;
    let signer = Signer::of(&arguments.approver)?;
    let key = match Terminal::open() {
        Some(terminal) => signer.key(&terminal)?,
        // The screen says so.
        None => None,
    };
    let screen = Screen::open()?;
    let now = ledger.now().map_err(failed)?;
    let mut model = Model::new(arguments.approver.as_str().to_owned(), now);
    model.is_locked = key.is_some();
    model.has_key = key.is_some();
    let mut watch = Watch {
        arguments,
        ledger,
        key,
        unlocked: None,
        wrong: 0,
        screen,
        model,
        known: None,
        columns: 0,
        children: Vec::new(),
    };
    let ended = watch.go_on();
    // The terminal is given back before anything is said.
    drop(watch);
    ended?;
    complain("nothing is decided by ending this");
    Ok(Verdict::Good)
}

struct Watch<'w> {
    arguments: &'w WatchArguments,
    ledger: FileLedger,
    key: Option<SealedKey>,
    unlocked: Option<(UnlockedKey, Instant)>,
    wrong: usize,
    screen: Screen,
    model: Model,
    /// What waited at the last look; nothing before the first.
    known: Option<BTreeSet<StatusRef>>,
    /// How wide the terminal was.
    columns: usize,
    children: Vec<Child>,
}

impl Watch<'_> {
    fn go_on(&mut self) -> anyhow::Result<()> {
        let mut seen: Option<Version> = None;
        while !self.screen.is_over() {
            let version = match seen {
                Some(seen) => self.ledger.wait(seen, LOOK),
                None => self.ledger.version(),
            };
            self.model.now = self.ledger.now().map_err(failed)?;
            if seen != Some(version) || self.has_ended() {
                seen = Some(version);
                self.look()?;
            }
            self.lock_in_time();
            let (columns, rows) = self.screen.size();
            if columns != self.columns {
                // What was broken for another width would be cut off.
                self.columns = columns;
                if let Some(shown) = self.model.shown() {
                    self.open(shown.call.record.terms.status_ref, false)?;
                }
            }
            let frame = render(&self.model, columns, rows);
            self.screen.show(frame).map_err(|error| unusable(&error))?;
            self.model.is_shown(middle_rows(rows));
            for key in self.screen.keys().map_err(|error| unusable(&error))? {
                let Some(action) = self.model.press(key, middle_rows(rows)) else {
                    continue;
                };
                if !self.act(action)? {
                    return Ok(());
                }
                // What was pressed behind it was not meant for what comes now.
                break;
            }
        }
        Ok(())
    }

    /// Whether the time of something in the queue is over.
    fn has_ended(&self) -> bool {
        let ends = self.model.queue.iter();
        let mut ends = ends.filter_map(|record| record.state.expires_at());
        ends.any(|end| end <= self.model.now)
    }

    /// Reads the queue anew, and tells of what is new in it.
    fn look(&mut self) -> anyhow::Result<()> {
        self.ledger.expire(MAX_EXPIRED).map_err(failed)?;
        let filter = OperationFilter {
            states: vec![StateKind::AwaitingApproval],
            ..OperationFilter::default()
        };
        let page = self.ledger.operations(&filter, None, MAX_PAGE);
        let mut queue = page.map_err(failed)?.items;
        queue.sort_by_key(|record| record.opened_at);
        let waiting: BTreeSet<_> = queue.iter().map(|record| record.terms.status_ref).collect();
        if let Some(known) = &self.known {
            let fresh: Vec<_> = waiting.difference(known).copied().collect();
            self.announce(&fresh)?;
        }
        self.known = Some(waiting);
        self.model.take_queue(queue);
        self.check_shown()
    }

    /// What is shown has to be what waits: otherwise it is shown anew, and nothing can be decided about what it was.
    fn check_shown(&mut self) -> anyhow::Result<()> {
        let Some(shown) = self.model.shown() else {
            return Ok(());
        };
        let record = &shown.call.record;
        let status_ref = record.terms.status_ref;
        let is_the_same = |found: &OperationDetail| {
            found.record.terms == record.terms && found.record.opened_at == record.opened_at
        };
        let found = self.ledger.operation(&status_ref).map_err(failed)?;
        match found {
            Some(found) if found.record.kind() != StateKind::AwaitingApproval => {
                self.model.leave(&standing(&found.record.state));
            }
            Some(found) if !is_the_same(&found) => {
                self.open(status_ref, true)?;
                "it was asked for anew: read it again".clone_into(&mut self.model.notice);
            }
            Some(_) => {}
            None => self.model.leave("it is gone from the ledger"),
        }
        Ok(())
    }

    fn announce(&mut self, fresh: &[StatusRef]) -> anyhow::Result<()> {
        if fresh.is_empty() {
            return Ok(());
        }
        if !self.arguments.no_bell {
            self.screen.bell().map_err(|error| unusable(&error))?;
        }
        self.children
            .retain_mut(|child| !matches!(child.try_wait(), Ok(Some(_)) | Err(_)));
        let Some(program) = &self.arguments.exec else {
            return Ok(());
        };
        for status_ref in fresh {
            if self.children.len() >= MAX_CHILDREN {
                "--exec is not run: too many of it have not ended"
                    .clone_into(&mut self.model.notice);
                return Ok(());
            }
            match tell(program, status_ref) {
                Some(child) => self.children.push(child),
                None => "--exec cannot be run".clone_into(&mut self.model.notice),
            }
        }
        Ok(())
    }

    /// Does what a key asked for. False where that is the end.
    fn act(&mut self, action: Action) -> anyhow::Result<bool> {
        match action {
            Action::Quit => return Ok(false),
            Action::Open(status_ref) => self.open(status_ref, false)?,
            Action::Unlock(passphrase) => self.unlock(&passphrase)?,
            Action::Do(deed) => self.carry_out(&deed)?,
        }
        Ok(true)
    }

    fn open(&mut self, status_ref: StatusRef, is_replacing: bool) -> anyhow::Result<()> {
        let Some(call) = self.ledger.operation(&status_ref).map_err(failed)? else {
            self.model.leave("it is gone from the ledger");
            return Ok(());
        };
        let lately = self.lately(&call.record)?;
        let cautions = cautions(&self.ledger, &call)?;
        let (columns, _) = self.screen.size();
        self.model.view = View::Call(Shown {
            lines: call_lines(&call, &cautions, &lately, self.model.now, columns),
            call,
            scroll: 0,
            is_read: false,
            is_replacing,
        });
        Ok(())
    }

    /// What the same subject asked for last.
    fn lately(&self, record: &Record) -> anyhow::Result<Vec<Record>> {
        let scope = &record.scope;
        let filter = OperationFilter {
            tenant: Some(scope.tenant_id.clone()),
            ..OperationFilter::default()
        };
        let page = self.ledger.operations(&filter, None, MAX_LOOKED_THROUGH);
        let mut items = page.map_err(failed)?.items;
        items.retain(|other| other.scope.subject_id == scope.subject_id && other.scope != *scope);
        items.truncate(LATELY);
        Ok(items)
    }

    fn unlock(&mut self, passphrase: &Zeroizing<String>) -> anyhow::Result<()> {
        let View::Passphrase(shown, deed, _) = &self.model.view else {
            return Ok(());
        };
        let (shown, deed, record) = (shown.clone(), deed.clone(), shown.call.record.clone());
        let Some(key) = &self.key else {
            return Ok(());
        };
        let Some(unlocked) = key.open(passphrase)? else {
            self.wrong += 1;
            if self.wrong >= MAX_WRONG {
                bail!("the passphrase was wrong {MAX_WRONG} times: nothing was decided");
            }
            "that is not the passphrase".clone_into(&mut self.model.notice);
            return Ok(());
        };
        self.wrong = 0;
        self.unlocked = Some((unlocked, monotonic_now()));
        self.model.is_locked = false;
        self.model.view = View::Call(shown);
        // What was typed took time: it has to be what waits still.
        self.check_shown()?;
        let is_the_same = |shown: &Shown| shown.is_read && shown.call.record == record;
        if self.model.shown().is_some_and(is_the_same) {
            self.carry_out(&deed)?;
        }
        if self.arguments.unlock_for.is_zero() {
            self.lock();
        }
        Ok(())
    }

    fn lock_in_time(&mut self) {
        let is_over = self
            .unlocked
            .as_ref()
            .is_some_and(|(_, since)| since.elapsed() >= self.arguments.unlock_for);
        if is_over {
            self.lock();
        }
    }

    fn lock(&mut self) {
        self.unlocked = None;
        self.model.is_locked = self.key.is_some();
    }

    fn carry_out(&mut self, deed: &Deed) -> anyhow::Result<()> {
        let Some(shown) = self.model.shown() else {
            return Ok(());
        };
        let call = shown.call.clone();
        let subject = call.record.scope.subject_id.as_str();
        if subject == self.arguments.approver.as_str() {
            let subject = Inert::new(subject);
            let notice = format!("{subject} asks for this, and nobody decides about their own");
            self.model.leave(&notice);
            return Ok(());
        }
        match deed {
            Deed::Approve => {
                let now = self.ledger.now().map_err(failed)?.second();
                let expires_at = now.checked_add(self.arguments.seconds);
                let expires_at = expires_at.ok_or_else(|| anyhow!(CLOCK))?;
                let Some(key) = self.signer() else {
                    self.model.leave(NO_KEY);
                    return Ok(());
                };
                let decision = key.approve(&call, &self.arguments.approver, expires_at)?;
                self.decide(&call, &decision)
            }
            Deed::Deny(reason) => {
                let decision = Decision::Deny {
                    by: self.arguments.approver.clone(),
                    reason: reason.clone(),
                };
                self.decide(&call, &decision)
            }
            Deed::Grant(form) => self.grant(&call, form),
        }
    }

    fn signer(&self) -> Option<&UnlockedKey> {
        self.unlocked.as_ref().map(|(key, _)| key)
    }

    fn decide(&mut self, call: &OperationDetail, decision: &Decision) -> anyhow::Result<()> {
        match self
            .ledger
            .decide_on(&call.record, decision)
            .map_err(failed)?
        {
            Decided::Counts(record) | Decided::TooLate(record)
                if record.kind() != StateKind::AwaitingApproval =>
            {
                self.model.leave(&standing(&record.state));
            }
            Decided::Counts(_) | Decided::TooLate(_) => {
                self.open(call.record.terms.status_ref, true)?;
                "nothing was decided: it was asked for anew, read it again"
                    .clone_into(&mut self.model.notice);
            }
            Decided::Unusable => self.model.leave("nothing was decided: its time is over"),
            Decided::NotFound => self.model.leave("it is gone from the ledger"),
        }
        Ok(())
    }

    fn grant(&mut self, call: &OperationDetail, form: &GrantForm) -> anyhow::Result<()> {
        let Some(conditions) = form.conditions() else {
            self.model
                .leave("the arguments are too many or too large to be granted");
            return Ok(());
        };
        if !conditions.cover(&call.proposal.call.arguments) {
            self.model
                .leave("this call is not like that itself: nothing is granted");
            return Ok(());
        }
        let now = self.ledger.now().map_err(failed)?;
        let approver = &self.arguments.approver;
        let grant = grant_of(call, conditions, approver, now, form.bounds())?;
        let Some(key) = self.signer() else {
            self.model.leave(NO_KEY);
            return Ok(());
        };
        let grant = key.grant(grant)?;
        let added = self.ledger.grant_add(&grant).map_err(failed)?;
        if added != GrantAdded::Added {
            self.model
                .leave("nothing was granted: there are too many grants for this tool");
            return Ok(());
        }
        is_granted(&self.ledger, &call.record.scope)?;
        let until = grant.expires_at.second();
        self.model
            .leave(&format!("{} is granted until {until}", grant.grant));
        Ok(())
    }
}

/// Runs a program, without a shell, that is told which request is new and nothing else of it.
fn tell(program: &str, status_ref: &StatusRef) -> Option<Child> {
    #[expect(
        clippy::disallowed_methods,
        reason = "what the user wants to be told by"
    )]
    let mut command = Command::new(program);
    command
        .arg(status_ref.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()
}

/// A key that is open does not stay so because somebody sets the clock.
fn monotonic_now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "how long a key has been open")]
    Instant::now()
}

fn unusable(error: &std::io::Error) -> anyhow::Error {
    anyhow!("the terminal cannot be used: {}", describe(error))
}
