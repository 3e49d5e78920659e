//! Worlds in which one thing is built wrong. Each is a decorator around a sound part, so that what is simulated is the
//! production code in every one of them; that each is found shows that the invariants can fail.

mod cached_authorizer;
mod callers_clock;
mod early_receipt;
mod forgetful;
mod retrying_line;
mod timing_out;
mod unfenced;

use std::rc::Rc;
use std::sync::Arc;

use countersign_dispatch::Ledger;
use countersign_ledger::{LedgerClock, Work};
use countersign_policy::Authorizer;

pub(crate) use self::forgetful::Forgetful;

use self::cached_authorizer::CachedAuthorizer;
use self::callers_clock::CallersClock;
use self::early_receipt::EarlyReceipt;
use self::retrying_line::RetryingLine;
use self::timing_out::TimingOut;
use self::unfenced::Unfenced;
use crate::clock::Clocks;
use crate::ledger::HostLedger;
use crate::line::{Line, PlainLine};
use crate::society::Society;

/// What is wrong with a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Nothing.
    #[default]
    Sound,
    /// A holder settles whatever attempt is the last one.
    NoFence,
    /// A success is told before it is written.
    ReceiptBeforeCommit,
    /// What was sent and not answered is sent again.
    RetryAfterSend,
    /// An approval that has begun something may begin again.
    ApprovalNotConsumed,
    /// Whoever was allowed once stays allowed.
    AuthorizationCached,
    /// The ledger goes by the clock of whoever asks.
    CallersClock,
    /// What is unknown for long counts as not executed.
    UnknownTimesOut,
}

impl Variant {
    /// All that are broken.
    pub const BROKEN: [Self; 7] = [
        Self::NoFence,
        Self::ReceiptBeforeCommit,
        Self::RetryAfterSend,
        Self::ApprovalNotConsumed,
        Self::AuthorizationCached,
        Self::CallersClock,
        Self::UnknownTimesOut,
    ];

    pub(crate) fn ledger_clock(self, clocks: &Clocks) -> Arc<dyn LedgerClock> {
        if self == Self::CallersClock {
            Arc::new(CallersClock(clocks.clone()))
        } else {
            Arc::new(clocks.clone())
        }
    }

    pub(crate) fn authorizer(self, society: &Rc<Society>) -> Box<dyn Authorizer> {
        if self == Self::AuthorizationCached {
            Box::new(CachedAuthorizer::over(Rc::clone(society)))
        } else {
            Box::new(SoundAuthorizer(Rc::clone(society)))
        }
    }

    pub(crate) fn line(self) -> Box<dyn Line> {
        if self == Self::RetryAfterSend {
            Box::new(RetryingLine)
        } else {
            Box::new(PlainLine)
        }
    }

    pub(crate) fn pipeline(self, ledger: &Rc<dyn HostLedger>) -> Box<dyn Ledger> {
        let ledger = Rc::clone(ledger);
        match self {
            Self::NoFence => Box::new(Unfenced(ledger)),
            Self::ReceiptBeforeCommit => Box::new(EarlyReceipt::over(ledger)),
            Self::Sound
            | Self::RetryAfterSend
            | Self::ApprovalNotConsumed
            | Self::AuthorizationCached
            | Self::CallersClock
            | Self::UnknownTimesOut => Box::new(SoundLedger(ledger)),
        }
    }

    pub(crate) fn work(self, ledger: &Rc<dyn HostLedger>) -> Box<dyn Work> {
        let ledger = Rc::clone(ledger);
        if self == Self::UnknownTimesOut {
            Box::new(TimingOut(ledger))
        } else {
            Box::new(SoundWork(ledger))
        }
    }
}

/// The society's own decisions.
#[derive(Debug)]
struct SoundAuthorizer(Rc<Society>);

impl Authorizer for SoundAuthorizer {
    fn decide(
        &self,
        request: &countersign_policy::AccessRequest<'_>,
    ) -> countersign_policy::Decision {
        self.0.decide(request)
    }
}

/// Implements the pipeline's port by handing everything to field 0, save for what is named.
macro_rules! pipeline {
    ($(#[$doc:meta])* $name:ident($inner:ident) { $($settle:item)* }) => {
        impl countersign_dispatch::Ledger for $name {
            fn bind_call(
                &self,
                identity: &countersign_dispatch::CallIdentity,
                fingerprint: &countersign_contract::CallFingerprint,
            ) -> Result<countersign_dispatch::CallBound, countersign_dispatch::ledger::Error> {
                self.$inner().bind_call(identity, fingerprint)
            }

            fn find_operation(
                &self,
                scope: &countersign_contract::Scope,
                identity: &countersign_dispatch::CallIdentity,
                fingerprint: &countersign_contract::CallFingerprint,
            ) -> Result<Option<countersign_dispatch::Operation>, countersign_dispatch::ledger::Error>
            {
                self.$inner().find_operation(scope, identity, fingerprint)
            }

            fn find_queryable(
                &self,
                status_ref: &countersign_contract::StatusRef,
            ) -> Result<Option<countersign_dispatch::Operation>, countersign_dispatch::ledger::Error>
            {
                self.$inner().find_queryable(status_ref)
            }

            fn propose(
                &self,
                proposal: &countersign_dispatch::Proposal<'_>,
            ) -> Result<countersign_dispatch::Proposed, countersign_dispatch::ledger::Error> {
                self.$inner().propose(proposal)
            }

            fn reserve(
                &self,
                reservation: &countersign_dispatch::Reservation<'_>,
            ) -> Result<countersign_dispatch::Reserved, countersign_dispatch::ledger::Error> {
                self.$inner().reserve(reservation)
            }

            fn reconcile(
                &self,
                scope: &countersign_contract::Scope,
                answer: &countersign_contract::CheckedAnswer,
            ) -> Result<countersign_dispatch::Settled, countersign_dispatch::ledger::Error> {
                self.$inner().reconcile(scope, answer)
            }

            $($settle)*
        }
    };
}
pub(crate) use pipeline;

/// Implements what workers use by handing everything to field 0, save for `recover`.
macro_rules! work {
    ($name:ident { $($recover:item)* }) => {
        impl countersign_ledger::Work for $name {
            fn heartbeat(&self) -> Result<(), countersign_dispatch::ledger::Error> {
                self.0.heartbeat()
            }

            fn leave(&self) -> Result<(), countersign_dispatch::ledger::Error> {
                self.0.leave()
            }

            fn claim(
                &self,
                tools: &[countersign_contract::ToolName],
                limit: usize,
            ) -> Result<Vec<countersign_ledger::Task>, countersign_dispatch::ledger::Error> {
                self.0.claim(tools, limit)
            }

            fn task(
                &self,
                scope: &countersign_contract::Scope,
            ) -> Result<Option<countersign_ledger::Task>, countersign_dispatch::ledger::Error> {
                self.0.task(scope)
            }

            fn postpone(
                &self,
                task: &countersign_ledger::Task,
                delay: std::time::Duration,
            ) -> Result<(), countersign_dispatch::ledger::Error> {
                self.0.postpone(task, delay)
            }

            fn give_up(
                &self,
                task: &countersign_ledger::Task,
            ) -> Result<(), countersign_dispatch::ledger::Error> {
                self.0.give_up(task)
            }

            fn block(
                &self,
                task: &countersign_ledger::Task,
                cause: countersign_contract::ErrorCode,
            ) -> Result<(), countersign_dispatch::ledger::Error> {
                self.0.block(task, cause)
            }

            fn send_again(
                &self,
                task: &countersign_ledger::Task,
            ) -> Result<Option<countersign_dispatch::Lease>, countersign_dispatch::ledger::Error>
            {
                self.0.send_again(task)
            }

            fn expire(&self, limit: usize) -> Result<usize, countersign_dispatch::ledger::Error> {
                self.0.expire(limit)
            }

            fn open_counts(
                &self,
            ) -> Result<
                (countersign_ledger::OpenCounts, countersign_ledger::Moment),
                countersign_dispatch::ledger::Error,
            > {
                self.0.open_counts()
            }

            $($recover)*
        }
    };
}
pub(crate) use work;

/// The ledger as it is.
struct SoundLedger(Rc<dyn HostLedger>);

impl SoundLedger {
    fn sound(&self) -> &dyn HostLedger {
        &*self.0
    }
}

pipeline! { SoundLedger(sound) {
    fn settle(
        &self,
        scope: &countersign_contract::Scope,
        fence: countersign_dispatch::Fence,
        settlement: &countersign_dispatch::Settlement,
    ) -> Result<countersign_dispatch::Settled, countersign_dispatch::ledger::Error> {
        self.0.settle(scope, fence, settlement)
    }
} }

/// The ledger as it is, for workers.
struct SoundWork(Rc<dyn HostLedger>);

work! { SoundWork {
    fn recover(&self, limit: usize) -> Result<usize, countersign_dispatch::ledger::Error> {
        self.0.recover(limit)
    }
} }
