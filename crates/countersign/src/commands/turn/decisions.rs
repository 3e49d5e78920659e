//! Waiting for somebody to decide about a write: here, or elsewhere.

use std::time::Duration;

use countersign_contract::{Arguments, ErrorCode, RequestDigest, Risk, StatusRef};
use countersign_ledger::{Decided, Decision, OperationDetail, StateKind};
use countersign_policy::{AccessRequest, Approval};
use countersign_providers::Turn;

use super::host::{Asking, CannotDispatch, Host, Pending, note};
use crate::approver_key::UnlockedKey;
use crate::identity::new_approval_id;
use crate::operation_text::standing as standing_of;
use crate::output::complain;
use crate::prompt::{Answer, Question, Terminal};
use crate::standing_question::StandingQuestion;
use crate::unlocking::Signer;

/// The longest that nobody looks whether a decision has come, should its news be lost.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

const HEADING: &str = "A write waits for your approval.";
const DEED: &str = "Approve exactly this";

impl Host<'_> {
    /// Waits for a decision about the operation that the call waits with. Tells whether there is one now.
    pub(super) fn is_decided(&self, pending: &Pending<'_>) -> Result<bool, CannotDispatch> {
        let Some(scope) = &pending.scope else {
            return Ok(false);
        };
        let Some(task) = self.ledger.task(scope)? else {
            return Ok(true);
        };
        if task.record.kind() != StateKind::AwaitingApproval {
            return Ok(true);
        }
        let status_ref = task.record.terms.status_ref;
        match self.asking {
            Asking::Here => match self.terminal() {
                Some(terminal) => self.ask(terminal, status_ref),
                None => Ok(left_waiting(pending, status_ref)),
            },
            Asking::Elsewhere(at_most) => {
                left_waiting(pending, status_ref);
                self.wait(status_ref, at_most)
            }
            Asking::Nobody => Ok(left_waiting(pending, status_ref)),
        }
    }

    /// Tells whether somebody can be asked here.
    pub(super) fn can_ask(&self) -> bool {
        self.terminal().is_some()
    }

    /// The terminal, opened when somebody is first to be asked.
    pub(super) fn terminal(&self) -> Option<&Terminal> {
        match self.asking {
            Asking::Here => self.terminal.get_or_init(open_terminal).as_ref(),
            Asking::Elsewhere(_) | Asking::Nobody => None,
        }
    }

    /// Asks on the terminal about exactly the call that is stored, and records what is answered. The first decision counts.
    fn ask(&self, terminal: &Terminal, status_ref: StatusRef) -> Result<bool, CannotDispatch> {
        let mut standing =
            StandingQuestion::new(self.ledger, status_ref, StateKind::AwaitingApproval);
        let Some(call) = self.ledger.operation(&status_ref)? else {
            return Ok(true);
        };
        let OperationDetail {
            record, proposal, ..
        } = &call;
        let Some(approver) = self.tools.approver(&proposal.principal) else {
            complain(NO_APPROVER);
            return Ok(false);
        };
        let signer = Signer::of(approver).map_err(CannotDispatch::Key)?;
        let question = Question {
            heading: HEADING,
            access: proposal.access(),
            description: self.tools.description(&proposal.call.name),
            details: &[],
            deed: DEED,
            person: approver,
        };
        let decision = match terminal.asks(question, &mut || standing.is_overtaken()) {
            Answer::Overtaken => {
                self.tell_standing(status_ref)?;
                return Ok(true);
            }
            Answer::No => Decision::Deny {
                by: approver.clone(),
                reason: None,
            },
            Answer::Yes => {
                let Some(key) = self.key(terminal, &signer)? else {
                    complain("no passphrase was given: nothing was decided");
                    return Ok(false);
                };
                // The time a person takes does not count: the approval's begins now.
                let now = self.ledger.now()?.second();
                let expires_at = now.checked_add(self.tools.approval_seconds());
                let expires_at = expires_at.ok_or(CannotDispatch::Clock)?;
                key.approve(&call, approver, expires_at)
                    .map_err(CannotDispatch::Key)?
            }
        };
        match self.ledger.decide_on(record, &decision)? {
            Decided::Counts(_) | Decided::NotFound => {}
            Decided::TooLate(record) => complain(&format!(
                "that came too late: {}",
                standing_of(&record.state)
            )),
            Decided::Unusable => complain("the approval could not be used"),
        }
        Ok(true)
    }

    /// The key of whoever approves here, opened once for all calls of this run.
    fn key(
        &self,
        terminal: &Terminal,
        signer: &Signer,
    ) -> Result<Option<&UnlockedKey>, CannotDispatch> {
        if self.key.get().is_none()
            && let Some(key) = signer.unlock(terminal).map_err(CannotDispatch::Key)?
        {
            let _ = self.key.set(key);
        }
        Ok(self.key.get())
    }

    /// Says how it stands, after somebody else was first.
    fn tell_standing(&self, status_ref: StatusRef) -> Result<(), CannotDispatch> {
        if let Some(found) = self.ledger.operation(&status_ref)? {
            let standing = standing_of(&found.record.state);
            complain(&format!("somebody else was first: {standing}"));
        }
        Ok(())
    }

    fn is_waiting(&self, status_ref: StatusRef) -> Result<bool, CannotDispatch> {
        let found = self.ledger.operation(&status_ref)?;
        Ok(found.is_some_and(|found| found.record.kind() == StateKind::AwaitingApproval))
    }

    /// Waits for a decision that somebody makes elsewhere. The time counts against nothing else.
    fn wait(&self, status_ref: StatusRef, at_most: Duration) -> Result<bool, CannotDispatch> {
        let mut left = at_most;
        loop {
            let version = self.ledger.version();
            if !self.is_waiting(status_ref)? {
                return Ok(true);
            }
            if left.is_zero() {
                return Ok(false);
            }
            let pause = left.min(LOOK_INTERVAL);
            let before = self.ledger.now()?;
            self.ledger.wait(version, pause);
            let waited = self.ledger.now()?.since(before);
            left = left.saturating_sub(waited.clamp(Duration::from_millis(1), pause));
        }
    }

    /// Asks for every call that lacks nothing but an approval, and runs nothing.
    pub(super) fn ask_for_all(&self, turn: &Turn) -> anyhow::Result<Vec<Approval>> {
        let mut approvals = Vec::new();
        let proposals = turn.proposals().iter();
        for proposed in proposals.filter_map(|proposal| proposal.proposed()) {
            let (Ok(arguments), Some(terminal)) = (
                Arguments::new(proposed.arguments().clone()),
                self.terminal(),
            ) else {
                continue;
            };
            let pending = self.pending(turn, proposed, arguments)?;
            if pending
                .contract
                .is_none_or(|contract| contract.risk == Risk::Read)
            {
                continue;
            }
            let package = self.dispatch(&pending, &[])?;
            if package.model_result().error_code() == Some(ErrorCode::ApprovalRequired) {
                approvals.extend(self.ask_for(terminal, &pending)?);
            }
        }
        Ok(approvals)
    }

    /// Asks about this very call, and gives the approval to keep in a file.
    fn ask_for(
        &self,
        terminal: &Terminal,
        pending: &Pending<'_>,
    ) -> Result<Option<Approval>, CannotDispatch> {
        let Some(contract) = pending.contract else {
            return Ok(None);
        };
        let Some(approver) = self.tools.approver(self.principal) else {
            complain(NO_APPROVER);
            return Ok(None);
        };
        let access = AccessRequest {
            principal: self.principal,
            call: &pending.call,
            contract,
        };
        let question = Question {
            heading: HEADING,
            access,
            description: self.tools.description(&pending.call.name),
            details: &[],
            deed: DEED,
            person: approver,
        };
        if terminal.asks(question, &mut || false) != Answer::Yes {
            return Ok(None);
        }
        let now = self.ledger.now()?.second();
        let expires_at = now.checked_add(self.tools.approval_seconds());
        let expires_at = expires_at.ok_or(CannotDispatch::Clock)?;
        let request = RequestDigest::of(self.principal, &pending.call, Some(contract));
        let approval_id = new_approval_id().as_str().to_owned();
        Ok(Some(Approval::of(
            &access,
            &request,
            approval_id,
            approver,
            expires_at,
        )))
    }
}

const NO_APPROVER: &str = "the tools file lists no approver other than the subject that calls, so nothing can be approved";

/// Says under which handle somebody can decide. Nothing is decided so far.
fn left_waiting(pending: &Pending<'_>, status_ref: StatusRef) -> bool {
    let how = format!("waits for a decision: countersign approvals show {status_ref}");
    note(pending.call.name.as_str(), &how);
    false
}

fn open_terminal() -> Option<Terminal> {
    let terminal = Terminal::open();
    if terminal.is_none() {
        complain("there is no terminal to ask on: writes stay unapproved");
    }
    terminal
}
