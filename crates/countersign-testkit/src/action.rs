//! What happens in a world, one thing after the other. A list of actions is a whole run: nothing else decides anything.

use std::fmt;

use countersign_ledger_suite::LedgerFault;

use crate::tools::{Tool, Wish};

/// One thing that happens. Numbers that are too large stand for what they leave as a remainder, so that every part of a
/// list is a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A caller has a process begin a call.
    Call {
        /// Which process.
        process: u8,
        /// What is wanted.
        wish: Wish,
        /// Which approvals the caller brings along.
        brings: Brings,
    },
    /// A caller asks what became of a call.
    Query {
        /// Which process.
        process: u8,
        /// About what.
        wish: Wish,
    },
    /// A worker of a process begins a round.
    Work {
        /// Which process.
        process: u8,
    },
    /// One job takes one step: one call of a port.
    Step {
        /// The how-manieth job under way, newest first.
        job: u8,
    },
    /// One job goes on until it is done.
    Finish {
        /// The how-manieth job under way, newest first.
        job: u8,
    },
    /// A person approves what waits.
    Approve {
        /// Which process.
        process: u8,
        /// The how-manieth operation.
        operation: u8,
        /// Who.
        approver: u8,
        /// For how long.
        seconds: u16,
    },
    /// A person denies what waits.
    Deny {
        /// Which process.
        process: u8,
        /// The how-manieth operation.
        operation: u8,
        /// Who.
        approver: u8,
    },
    /// A person who looked at the downstream rules on an unknown outcome, truthfully.
    Rule {
        /// Which process.
        process: u8,
        /// The how-manieth operation.
        operation: u8,
        /// Whether the answer is known too, where it acted.
        with_answer: bool,
    },
    /// A caller shows to know an answer.
    Acknowledge {
        /// Which process.
        process: u8,
        /// The how-manieth operation.
        operation: u8,
    },
    /// A process says that it is alive.
    Heartbeat {
        /// Which process.
        process: u8,
    },
    /// A process dies with all its jobs; another one starts in its place.
    Crash {
        /// Which process.
        process: u8,
    },
    /// What happens to the next thing that is sent.
    Line(Fate),
    /// What happens to the next write to the ledger.
    Ledger(LedgerFault),
    /// Time passes, and nobody does anything.
    Pass {
        /// So much.
        milliseconds: u32,
    },
    /// Somebody sets the ledger's clock.
    SetLedgerClock {
        /// By how much it is ahead from now on.
        milliseconds: i32,
    },
    /// Somebody sets a process's clock.
    SetProcessClock {
        /// Which process.
        process: u8,
        /// By how much it is ahead from now on.
        seconds: i16,
    },
    /// A subject gets or loses its role.
    SetRole {
        /// Which subject.
        subject: u8,
        /// Whether it has it from now on.
        holds: bool,
    },
    /// An approver becomes one, or is removed.
    SetApprover {
        /// Which approver.
        approver: u8,
        /// Whether the approver is one from now on.
        is_one: bool,
    },
    /// The resources come into a state.
    SetBusiness {
        /// Whether it allows anything.
        allows: bool,
    },
    /// A tool's contract gets another revision.
    Revise {
        /// Which tool.
        tool: Tool,
        /// Of what.
        part: Part,
    },
    /// The downstream's status operation stops or goes on.
    SetReceipts {
        /// Whether it answers.
        shown: bool,
    },
}

impl Action {
    /// Whether somebody does it who looks at the ledger first.
    pub(crate) fn is_by_person(&self) -> bool {
        matches!(
            self,
            Self::Approve { .. } | Self::Deny { .. } | Self::Rule { .. } | Self::Acknowledge { .. }
        )
    }
}

/// Which approvals a caller brings along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brings {
    /// None.
    Nothing,
    /// All that were ever signed for such a call.
    Kept,
    /// One that an approver signs for this very call.
    Signed {
        /// Who.
        approver: u8,
        /// For how long.
        seconds: u16,
    },
}

/// What happens to something that is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    /// The downstream acts and answers.
    #[default]
    Acts,
    /// It acts, and the answer is lost.
    ActsUnheard,
    /// It acts and answers that it failed.
    ActsAndFails,
    /// It acts, and what it answers is nothing that the contract allows.
    ActsBadly,
    /// It acts after a while, within the tool's time.
    ActsLate {
        /// After how long.
        milliseconds: u16,
    },
    /// It never arrives, and nobody says so.
    GetsLost,
    /// It fails before it acts.
    Fails,
    /// The downstream takes no more, and proves that it did not begin.
    IsRefused,
    /// The downstream cannot be reached.
    IsUnreachable,
}

/// A part of a contract that is revised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its policy.
    Policy,
    /// Its handler.
    Handler,
    /// Its effect.
    Effect,
}

/// A list as it is printed: what can be pasted into a test.
#[derive(Clone, Copy)]
pub struct Listed<'l>(pub &'l [Action]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for action in self.0 {
            writeln!(formatter, "    {action:?},")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Listed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
