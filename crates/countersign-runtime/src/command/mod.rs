//! Runs one local program as a tool: JSON arguments on its standard input, its answer on its standard output.
//!
//! The heart of it is one distinction. [`CommandOutcome::NotStarted`] is a proof: the program was never executed.
//! [`CommandOutcome::Exited`] is a fact. [`CommandOutcome::Lost`] is neither: the program ran, may have acted, and
//! its outcome was not seen.
//!
//! Invariants:
//! - The program is executed directly, never through a shell, in a process group of its own.
//! - It sees exactly the environment of its [`CommandSpec`]; this module never reads the host's.
//! - Everything that can fail on our side is set up before the program starts, so that such a failure is a proven
//!   not-started.
//! - The run ends with the program that was started. Whatever of its process group is left then, or at the timeout,
//!   is killed (`SIGKILL`: after the timeout nothing acts any more, not even a clean-up). A process that left the
//!   group on purpose, such as a daemon, is out of reach; it cannot hold the run up either.
//! - A run lasts at most the timeout plus five seconds, the time a killed program is given to vanish.
//! - The started program is reaped. Only where the system cannot end it in those five seconds does a thread do it later.
//! - Standard error is for the host's own eyes ([`Diagnostics`]); no type here lets it into an answer.
//!
//! The host must leave `SIGCHLD` at its default and reap no children of others; otherwise exits cannot be observed
//! and every run is [`CommandOutcome::Lost`]. It must also ignore `SIGPIPE`, as Rust programs do by themselves.
//!
//! | file | what it is |
//! |---|---|
//! | `spec` | what to run, validated |
//! | `outcome` | how a run ended, and the proof of not having started |
//! | `diagnostics` | captured standard error |
//! | `process` | start, kill, reap |
//! | `pump` | moves bytes both ways without threads or deadlock |

mod diagnostics;
mod outcome;
mod process;
mod pump;
mod spec;

pub use self::{
    diagnostics::Diagnostics,
    outcome::{CommandOutcome, Exit, Exited, Lost, LostCause, NotStarted, NotStartedKind},
    spec::{
        CommandSpec, CommandSpecError, MAX_ARGUMENTS, MAX_DIAGNOSTICS_BYTES, MAX_OUTPUT_BYTES,
        MAX_TIMEOUT,
    },
};

use self::{
    process::Process,
    pump::{Deadline, Ended, Pump},
};

/// Runs the program once, with `arguments` on its standard input, and blocks until the run is over.
///
/// It never runs twice, whatever happens: retrying is the caller's decision. A program that exits without reading
/// its input has done nothing wrong.
pub fn run(spec: &CommandSpec, arguments: &[u8]) -> CommandOutcome {
    let deadline = Deadline::start(spec.timeout());
    let (mut process, pipes) = match Process::start(spec) {
        Ok(started) => started,
        Err(not_started) => return CommandOutcome::NotStarted(not_started),
    };
    let mut pump = Pump::new(pipes, arguments, spec);
    let ended = pump.run(process.exit_notice(), &deadline);
    // Killing comes before draining: what the group still writes is then finite.
    let exit = process.end();
    let drained = pump.drain();

    let cause = match (ended, exit) {
        (Ended::Exited, Ok(exit)) if drained.is_ok() => {
            let (stdout, diagnostics) = pump.into_output();
            return CommandOutcome::Exited(Exited {
                exit,
                stdout,
                diagnostics,
            });
        }
        (Ended::Exited, Ok(_)) | (Ended::OutputTooLarge, _) => LostCause::OutputTooLarge {
            limit_bytes: spec.output_limit_bytes(),
        },
        (Ended::DeadlinePassed, _) => LostCause::TimedOut {
            after: spec.timeout(),
        },
        (Ended::Exited, Err(error)) | (Ended::Failed(error), _) => LostCause::NotObserved { error },
    };
    let (_, diagnostics) = pump.into_output();
    CommandOutcome::Lost(Lost { cause, diagnostics })
}
