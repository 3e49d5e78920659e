use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::io::Errno;

use super::Diagnostics;

/// How one run ended.
#[derive(Debug)]
pub enum CommandOutcome {
    /// Proof that the program was never executed, so that nothing can have happened.
    NotStarted(NotStarted),
    /// The program ended by itself or by a signal of someone else's, and everything it wrote was read.
    Exited(Exited),
    /// The program ran and its outcome was not seen: it may have acted.
    Lost(Lost),
}

/// Proof that the program was never executed.
///
/// Only a failure before or in the very act of executing makes one.
#[derive(Debug, thiserror::Error)]
#[error("the command did not start: {kind}")]
pub struct NotStarted {
    kind: NotStartedKind,
    #[source]
    source: io::Error,
}

/// What kept a program from being executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotStartedKind {
    /// `ENOENT`, `ENOTDIR`.
    #[error("its program, the program's interpreter, or its working directory does not exist")]
    Missing,
    /// `EACCES`, `EPERM`.
    #[error("its program may not be executed, or its working directory may not be entered")]
    NotPermitted,
    /// `E2BIG`.
    #[error("its arguments and environment are too large")]
    TooLarge,
    /// Too many processes, open files or too little memory at the moment; or the program is just being written.
    #[error("the system has no resources left for it at the moment")]
    Busy,
    /// Anything else, such as a file that is no program.
    #[error("the system cannot execute it")]
    Other,
}

/// A run that ended, with everything the program wrote.
pub struct Exited {
    /// How it ended.
    pub exit: Exit,
    /// Its standard output, byte for byte; nothing says yet that this is JSON, or even text.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub diagnostics: Diagnostics,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With an exit code, 0 to 255.
    Code(i32),
    /// Killed by the signal of that number.
    Signal(i32),
}

/// A run whose outcome was not seen.
#[derive(Debug)]
pub struct Lost {
    /// Why it was not seen.
    pub cause: LostCause,
    /// What the program wrote to standard error until then.
    pub diagnostics: Diagnostics,
}

/// Why the outcome of a run was not seen.
#[derive(Debug, thiserror::Error)]
pub enum LostCause {
    /// It did not end in time and was killed.
    #[error("the command did not end within {after:?} and was killed")]
    TimedOut {
        /// The timeout that passed.
        after: Duration,
    },
    /// It wrote more than it may and was killed, or had written so much when it ended.
    #[error("the command wrote more than {limit_bytes} bytes")]
    OutputTooLarge {
        /// The limit that was passed.
        limit_bytes: usize,
    },
    /// The system did not let us see how it ended.
    #[error("the end of the command could not be observed")]
    NotObserved {
        /// What the system said.
        #[source]
        error: io::Error,
    },
}

impl NotStarted {
    /// Takes the error of a step that comes before, or is, the execution of the program.
    pub(super) fn from_error(source: io::Error) -> Self {
        let kind =
            Errno::from_io_error(&source).map_or(NotStartedKind::Other, |errno| match errno {
                Errno::NOENT | Errno::NOTDIR => NotStartedKind::Missing,
                Errno::ACCESS | Errno::PERM => NotStartedKind::NotPermitted,
                Errno::TOOBIG => NotStartedKind::TooLarge,
                Errno::AGAIN | Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::TXTBSY => {
                    NotStartedKind::Busy
                }
                _ => NotStartedKind::Other,
            });
        Self { kind, source }
    }

    /// What kept the program from being executed.
    pub fn kind(&self) -> NotStartedKind {
        self.kind
    }

    /// Whether the same command may well start a moment later.
    pub fn is_temporary(&self) -> bool {
        match self.kind {
            NotStartedKind::Busy => true,
            NotStartedKind::Missing
            | NotStartedKind::NotPermitted
            | NotStartedKind::TooLarge
            | NotStartedKind::Other => false,
        }
    }
}

impl Exit {
    /// The exit code 0.
    pub const SUCCESS: Self = Self::Code(0);
    /// `EX_TEMPFAIL`: what a tool that declares it says when it did nothing and may be asked again later.
    pub const TEMPORARY_FAILURE: Self = Self::Code(75);

    pub(super) fn from_status(status: ExitStatus) -> Option<Self> {
        let code = status.code().map(Self::Code);
        code.or_else(|| status.signal().map(Self::Signal))
    }
}

/// Shows the size of the answer, not the answer.
impl std::fmt::Debug for Exited {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exited")
            .field("exit", &self.exit)
            .field("stdout_bytes", &self.stdout.len())
            .field("diagnostics", &self.diagnostics)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_kept_a_program_from_starting() {
        let cases = [
            (Errno::NOENT, NotStartedKind::Missing, false),
            (Errno::NOTDIR, NotStartedKind::Missing, false),
            (Errno::ACCESS, NotStartedKind::NotPermitted, false),
            (Errno::TOOBIG, NotStartedKind::TooLarge, false),
            (Errno::MFILE, NotStartedKind::Busy, true),
            (Errno::AGAIN, NotStartedKind::Busy, true),
            (Errno::IO, NotStartedKind::Other, false),
        ];
        for (errno, kind, temporary) in cases {
            let proof = NotStarted::from_error(errno.into());
            assert_eq!(
                (proof.kind(), proof.is_temporary()),
                (kind, temporary),
                "{errno:?}"
            );
        }
        let elsewhere = NotStarted::from_error(io::Error::other("no number"));
        assert_eq!(elsewhere.kind(), NotStartedKind::Other);
    }

    #[test]
    fn debug_output_keeps_the_answer() {
        let exited = Exited {
            exit: Exit::SUCCESS,
            stdout: b"hunter2".to_vec(),
            diagnostics: Diagnostics::default(),
        };
        let shown = format!("{exited:?}");
        assert!(shown.contains("stdout_bytes: 7"), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
