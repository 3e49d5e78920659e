//! Looks for what is due, again and again, until it is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_contract::ToolName;
use countersign_dispatch::ledger;
use countersign_ledger::{Lifetimes, OpenCounts, StateKind, Task};

use crate::heartbeat::while_alive;
use crate::work::{Performed, WorkPorts, perform};

/// For so many pauses a poller leaves alone what others are to perform.
const FOREIGN_PAUSES: u32 = 3;

/// How a poller works.
#[derive(Clone, Copy, Debug)]
pub struct PollerSettings {
    /// The most operations of one round.
    pub batch: usize,
    /// How long it waits after a round in which nothing was due, unless something is written meanwhile.
    pub pause: Duration,
    /// The delay after the first look at an operation that came to nothing. It doubles with each look.
    pub first_delay: Duration,
    /// The longest delay.
    pub longest_delay: Duration,
    /// After so many looks that came to nothing, an operation is left to a person.
    pub max_visits: u32,
    /// How long the ledger takes a silent host for alive; the poller lets itself be heard well within it.
    pub lease: Duration,
}

impl Default for PollerSettings {
    fn default() -> Self {
        Self {
            batch: 16,
            pause: Duration::from_secs(1),
            first_delay: Duration::from_secs(1),
            longest_delay: Duration::from_mins(5),
            max_visits: 12,
            lease: Lifetimes::default().lease,
        }
    }
}

impl PollerSettings {
    /// The delay after the so-manieth look: between half and the whole of what doubling comes to, by `jitter` from 0 to 1, so
    /// that pollers do not keep step.
    #[must_use]
    pub fn delay(&self, visits: u32, jitter: f64) -> Duration {
        let doublings = visits.saturating_sub(1).min(31);
        let whole = self.first_delay.saturating_mul(1 << doublings);
        let whole = whole.min(self.longest_delay);
        whole.mul_f64(0.5 + 0.5 * jitter.clamp(0.0, 1.0))
    }
}

/// What one round came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tick {
    /// Ended, since nobody decided or began in time.
    pub expired: usize,
    /// Marked as unknown, since whoever performed them went away.
    pub recovered: usize,
    /// Performed to their end.
    pub done: usize,
    /// Blocked, since something had changed.
    pub blocked: usize,
    /// Put off.
    pub postponed: usize,
    /// Left to a person.
    pub given_up: usize,
}

impl Tick {
    /// Tells whether there was nothing to be done.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        *self == Self::default()
    }
}

/// What is open, for whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gauges {
    /// How much, by state.
    pub open: OpenCounts,
    /// How long ago the longest overdue work was due.
    pub lag: Duration,
}

/// Stops a poller. A clone stops the same one.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks it to stop when it has finished what it is at.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Tells whether it was asked to.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Performs what is due. Any number of them may work on one ledger.
#[derive(Debug)]
pub struct Poller<'p> {
    ports: WorkPorts<'p>,
    tools: Vec<ToolName>,
    settings: PollerSettings,
    jitter: fn() -> f64,
}

impl<'p> Poller<'p> {
    /// A poller for the tools that are registered.
    #[must_use]
    pub fn new(ports: WorkPorts<'p>, settings: PollerSettings) -> Self {
        let tools = ports.registry.iter().map(|contract| contract.name.clone());
        Self {
            tools: tools.collect(),
            ports,
            settings,
            jitter: fastrand::f64,
        }
    }

    /// One round. What one operation comes to never depends on another's: an error that concerns one comes out when all others
    /// have had their turn, and that one is due again when its claim runs out.
    pub fn tick(&self, stop: &Stop) -> Result<Tick, ledger::Error> {
        let ledger = self.ports.ledger;
        let mut tick = Tick {
            expired: ledger.expire(self.settings.batch)?,
            recovered: ledger.recover(self.settings.batch)?,
            ..Tick::default()
        };
        let mut outcome = Ok(());
        for task in ledger.claim(&self.tools, self.settings.batch)? {
            if stop.is_stopped() {
                // What was claimed and not begun is due again at once.
                ledger.postpone(&task, Duration::ZERO)?;
                continue;
            }
            if !self.ports.principals.serves(&task.proposal.principal) {
                ledger.postpone(&task, self.settings.pause * FOREIGN_PAUSES)?;
                continue;
            }
            outcome = outcome.and(self.perform(&task, &mut tick));
        }
        outcome.map(|()| tick)
    }

    fn perform(&self, task: &Task, tick: &mut Tick) -> Result<(), ledger::Error> {
        match perform(&self.ports, task)? {
            Performed::Done(_) => tick.done += 1,
            Performed::Blocked(_) => tick.blocked += 1,
            Performed::StillUnknown | Performed::Nothing => self.put_off(task, tick)?,
        }
        Ok(())
    }

    fn put_off(&self, task: &Task, tick: &mut Tick) -> Result<(), ledger::Error> {
        // What can be sent again is not given up before that time is over.
        let may_be_sent = task.record.kind() == StateKind::Unknown
            && task.sendable_until.is_some_and(|until| task.at < until);
        if task.record.visits >= self.settings.max_visits && !may_be_sent {
            tick.given_up += 1;
            return self.ports.ledger.give_up(task);
        }
        tick.postponed += 1;
        let delay = self.settings.delay(task.record.visits, (self.jitter)());
        self.ports.ledger.postpone(task, delay)
    }

    /// How much is open, and how late.
    pub fn gauges(&self) -> Result<Gauges, ledger::Error> {
        let (open, now) = self.ports.ledger.open_counts()?;
        let lag = open.oldest_due.map(|due| now.since(due));
        Ok(Gauges {
            open,
            lag: lag.unwrap_or_default(),
        })
    }

    /// Works until it is stopped, and leaves then: what it claimed or performed is finished or free. `wait` waits for so long,
    /// or until something is written; errors of the ledger are reported and tried again.
    pub fn run(
        &self,
        stop: &Stop,
        wait: &dyn Fn(Duration),
        report: &dyn Fn(&ledger::Error),
    ) -> Result<(), ledger::Error> {
        while_alive(self.ports.ledger, self.settings.lease, || {
            while !stop.is_stopped() {
                match self.tick(stop) {
                    Ok(tick) if tick.is_idle() => wait(self.settings.pause),
                    Ok(_) => {}
                    Err(error) => {
                        report(&error);
                        wait(self.settings.pause);
                    }
                }
            }
        });
        self.ports.ledger.leave()
    }
}
