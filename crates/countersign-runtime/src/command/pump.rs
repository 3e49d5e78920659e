use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::diagnostics::{Diagnostics, DiagnosticsBuffer};
use super::process::Pipes;
use super::spec::CommandSpec;

/// How much is read from one stream before the others, and the clock, are looked at again.
const TURN_BYTES: usize = 64 << 10;
/// How much is read from a stream after the program's end: the most a pipe holds for an unprivileged program.
/// What the program wrote is in there; what follows comes from processes that it left behind.
const DRAIN_BYTES: usize = 1 << 20;

/// Moves bytes both ways between us and a program, in one thread, whoever of the two is slow.
pub(super) struct Pump<'a> {
    unwritten: &'a [u8],
    stdin: Option<PipeWriter>,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    answer: Vec<u8>,
    answer_limit_bytes: usize,
    diagnostics: DiagnosticsBuffer,
}

/// Why the pump stopped.
pub(super) enum Ended {
    /// The program has ended; what it wrote last may still be in the pipes.
    Exited,
    DeadlinePassed,
    OutputTooLarge,
    /// The system refused to wait.
    Failed(io::Error),
}

/// The program's answer is over its limit.
#[derive(Debug)]
pub(super) struct TooLarge;

/// A span of a monotonic clock that began at the run's start.
pub(super) struct Deadline {
    started: Instant,
    allowed: Duration,
}

#[derive(Clone, Copy)]
enum Source {
    Stdin,
    Stdout,
    Stderr,
    Exit,
}

impl<'a> Pump<'a> {
    pub(super) fn new(pipes: Pipes, arguments: &'a [u8], spec: &CommandSpec) -> Self {
        Self {
            unwritten: arguments,
            stdin: Some(pipes.stdin),
            stdout: Some(pipes.stdout),
            stderr: Some(pipes.stderr),
            answer: Vec::new(),
            answer_limit_bytes: spec.output_limit_bytes(),
            diagnostics: DiagnosticsBuffer::new(spec.diagnostics_limit_bytes()),
        }
    }

    /// Moves bytes until the program has ended or may no longer run.
    pub(super) fn run(&mut self, exit_notice: Option<&PipeReader>, deadline: &Deadline) -> Ended {
        loop {
            // Past the deadline one more look decides: a program that ended in time, while this thread was not
            // scheduled, is not lost.
            let remaining = deadline.remaining();
            let ready = match self.wait(exit_notice, remaining.unwrap_or_default()) {
                Ok(ready) => ready,
                Err(Errno::INTR) => Vec::new(),
                Err(error) => return Ended::Failed(error.into()),
            };
            let mut exited = false;
            for source in ready {
                match source {
                    Source::Stdin => self.write_arguments(),
                    Source::Stdout => {
                        if self.read_answer(TURN_BYTES).is_err() {
                            return Ended::OutputTooLarge;
                        }
                    }
                    Source::Stderr => {
                        self.read_diagnostics();
                    }
                    Source::Exit => exited = true,
                }
            }
            if exited {
                return Ended::Exited;
            }
            if remaining.is_none() {
                return Ended::DeadlinePassed;
            }
        }
    }

    /// Reads what is left in the pipes, waiting for nobody.
    pub(super) fn drain(&mut self) -> Result<(), TooLarge> {
        for _ in 0..DRAIN_BYTES.div_ceil(TURN_BYTES) {
            if self.read_diagnostics() < TURN_BYTES {
                break;
            }
        }
        self.read_answer(DRAIN_BYTES)
    }

    pub(super) fn into_output(self) -> (Vec<u8>, Diagnostics) {
        (self.answer, self.diagnostics.finish())
    }

    fn wait(
        &self,
        exit_notice: Option<&PipeReader>,
        limit: Duration,
    ) -> Result<Vec<Source>, Errno> {
        let (readable, writable) = (PollFlags::IN, PollFlags::OUT);
        let mut sources = Vec::with_capacity(4);
        let mut polled = Vec::with_capacity(4);
        let mut add = |source, descriptor| {
            sources.push(source);
            polled.push(descriptor);
        };
        if let Some(pipe) = &self.stdin {
            add(Source::Stdin, PollFd::new(pipe, writable));
        }
        if let Some(pipe) = &self.stdout {
            add(Source::Stdout, PollFd::new(pipe, readable));
        }
        if let Some(pipe) = &self.stderr {
            add(Source::Stderr, PollFd::new(pipe, readable));
        }
        if let Some(pipe) = exit_notice {
            add(Source::Exit, PollFd::new(pipe, readable));
        }
        let limit = Timespec::try_from(limit).map_err(|_| Errno::INVAL)?;
        poll(&mut polled, Some(&limit))?;
        let ready = polled.iter().zip(sources);
        Ok(ready
            .filter(|(descriptor, _)| !descriptor.revents().is_empty())
            .map(|(_, source)| source)
            .collect())
    }

    /// Writes as much as the pipe takes; closes it after the last byte, or when the program does not want more.
    fn write_arguments(&mut self) {
        let Some(pipe) = &mut self.stdin else { return };
        while !self.unwritten.is_empty() {
            match pipe.write(self.unwritten) {
                Ok(written) => self.unwritten = self.unwritten.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The program closed its input: its own business, and no error.
                Err(_) => break,
            }
        }
        self.stdin = None;
    }

    fn read_answer(&mut self, at_most: usize) -> Result<(), TooLarge> {
        let room = self.answer_limit_bytes.saturating_sub(self.answer.len());
        // One byte more than there is room for, to tell full from too full.
        read_available(
            &mut self.stdout,
            room.saturating_add(1).min(at_most),
            &mut self.answer,
        );
        if self.answer.len() > self.answer_limit_bytes {
            return Err(TooLarge);
        }
        Ok(())
    }

    /// Gives the number of bytes that were there, up to one turn.
    fn read_diagnostics(&mut self) -> usize {
        let mut piece = Vec::new();
        read_available(&mut self.stderr, TURN_BYTES, &mut piece);
        self.diagnostics.push(&piece);
        piece.len()
    }
}

impl Deadline {
    pub(super) fn start(allowed: Duration) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "a timeout of a real process is measured on the real monotonic clock"
        )]
        let started = Instant::now();
        Self { started, allowed }
    }

    /// What is left; `None` once it has passed.
    fn remaining(&self) -> Option<Duration> {
        self.allowed
            .checked_sub(self.started.elapsed())
            .filter(|left| !left.is_zero())
    }
}

/// Appends what the pipe has, up to a number of bytes, and drops the pipe at its end.
fn read_available(pipe: &mut Option<PipeReader>, at_most: usize, into: &mut Vec<u8>) {
    let Some(reader) = pipe else { return };
    let limit = u64::try_from(at_most).unwrap_or(u64::MAX);
    match reader.take(limit).read_to_end(into) {
        Ok(read) if read == at_most => {}
        // What came before the error is in the buffer.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
        Ok(_) | Err(_) => *pipe = None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::command::process::Process;

    #[test]
    fn a_program_that_ended_in_time_is_seen_after_the_deadline() {
        let spec = CommandSpec::new(["/bin/sh", "-c", "echo answer; exit 3"]).unwrap();
        let (mut process, pipes) = Process::start(&spec).unwrap();
        // Blocks until the program has ended: the state that a host wakes up to which was not scheduled in time.
        let mut notice = process.exit_notice().unwrap();
        assert_eq!(notice.read(&mut [0]).unwrap(), 0);
        let mut pump = Pump::new(pipes, b"{}", &spec);
        let passed = Deadline::start(Duration::ZERO);
        assert!(passed.remaining().is_none());
        assert!(matches!(
            pump.run(process.exit_notice(), &passed),
            Ended::Exited
        ));
        assert_eq!(process.end().unwrap(), crate::command::Exit::Code(3));
        assert!(pump.drain().is_ok());
        assert_eq!(pump.into_output().0, b"answer\n");
    }

    #[test]
    fn a_deadline_holds_for_a_program_that_runs() {
        let spec = CommandSpec::new(["/bin/sleep", "600"]).unwrap();
        let (process, pipes) = Process::start(&spec).unwrap();
        let mut pump = Pump::new(pipes, b"{}", &spec);
        let passed = Deadline::start(Duration::ZERO);
        assert!(matches!(
            pump.run(process.exit_notice(), &passed),
            Ended::DeadlinePassed
        ));
    }
}
