use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio, retry_on_intr};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::{CommandSpec, Exit, NotStarted};

/// How long a killed program may take to vanish. Longer means that it hangs inside the kernel.
const VANISH_LIMIT: Duration = Duration::from_secs(5);

/// A started program, the leader of a process group of its own.
///
/// INVARIANT: the group is signalled only while its leader is not reaped, so that its number cannot have passed to
/// another group. Dropping it, even in a panic, kills the group and reaps the leader.
pub(super) struct Process {
    /// `None` once it is reaped, or given up.
    leader: Option<Child>,
    group: Pid,
    watch: Option<ExitWatch>,
}

/// Our ends of the program's standard streams, none of which ever blocks.
pub(super) struct Pipes {
    pub(super) stdin: PipeWriter,
    pub(super) stdout: PipeReader,
    pub(super) stderr: PipeReader,
}

/// Says when the leader has ended, without reaping it: the pipe closes.
struct ExitWatch {
    thread: JoinHandle<()>,
    notice: PipeReader,
}

impl Process {
    /// Executes the program.
    ///
    /// Each error is a proof that it was not executed: all of our own that can fail comes first, and the standard library
    /// returns an error only when the new process ended before it became the program.
    pub(super) fn start(spec: &CommandSpec) -> Result<(Self, Pipes), NotStarted> {
        Self::try_start(spec).map_err(NotStarted::from_error)
    }

    fn try_start(spec: &CommandSpec) -> io::Result<(Self, Pipes)> {
        let (their_stdin, stdin) = io::pipe()?;
        let (stdout, their_stdout) = io::pipe()?;
        let (stderr, their_stderr) = io::pipe()?;
        ioctl_fionbio(&stdin, true)?;
        ioctl_fionbio(&stdout, true)?;
        ioctl_fionbio(&stderr, true)?;
        let (leader_sender, watch) = ExitWatch::prepare()?;

        #[expect(
            clippy::disallowed_methods,
            reason = "this is the command handler, where processes start"
        )]
        let mut command = Command::new(spec.program());
        command
            .args(spec.arguments())
            .env_clear()
            .envs(spec.environment())
            .process_group(0)
            .stdin(their_stdin)
            .stdout(their_stdout)
            .stderr(their_stderr);
        if let Some(directory) = spec.directory() {
            command.current_dir(directory);
        }
        let leader = command.spawn()?;
        // From here on the program runs, and nothing may fail.
        drop(command);

        let group = Pid::from_child(&leader);
        // The receiver waits for exactly this message; were it gone, the closed pipe would say so.
        let _ = leader_sender.send(group);
        let process = Self {
            leader: Some(leader),
            group,
            watch: Some(watch),
        };
        let pipes = Pipes {
            stdin,
            stdout,
            stderr,
        };
        Ok((process, pipes))
    }

    /// The pipe that is closed when the leader has ended; `None` after [`Self::end`].
    pub(super) fn exit_notice(&self) -> Option<&PipeReader> {
        self.watch.as_ref().map(|watch| &watch.notice)
    }

    /// Kills whatever is left of the group, waits for the leader's end, and reaps it.
    ///
    /// A leader that had ended before keeps its own exit; the signal comes too late for it.
    pub(super) fn end(&mut self) -> io::Result<Exit> {
        let (Some(mut leader), Some(watch)) = (self.leader.take(), self.watch.take()) else {
            return Err(Errno::CHILD.into());
        };
        // It fails only where nobody is left to kill.
        let _ = kill_process_group(self.group, Signal::KILL);
        if !watch.wait(VANISH_LIMIT) {
            reap_later(leader);
            return Err(Errno::TIMEDOUT.into());
        }
        let status = leader.try_wait();
        watch.join();
        if let Some(status) = status? {
            return Exit::from_status(status).ok_or_else(|| Errno::CHILD.into());
        }
        reap_later(leader);
        Err(Errno::CHILD.into())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

impl ExitWatch {
    /// Starts the watching thread, which waits to be told whom to watch.
    fn prepare() -> io::Result<(mpsc::SyncSender<Pid>, Self)> {
        let (notice, closed_at_exit) = io::pipe()?;
        let (sender, receiver) = mpsc::sync_channel::<Pid>(1);
        let thread = thread::Builder::new()
            .name("command-exit".to_owned())
            .spawn(move || {
                // No message: the program did not start.
                if let Ok(leader) = receiver.recv() {
                    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                    // An error means that there is nothing to wait for; whoever reaps finds the same.
                    let _ = retry_on_intr(|| waitid(WaitId::Pid(leader), options));
                }
                drop(closed_at_exit);
            })?;
        Ok((sender, Self { thread, notice }))
    }

    /// Waits for the leader's end; `false` when it did not come within the limit.
    fn wait(&self, limit: Duration) -> bool {
        let limit = Timespec::try_from(limit).ok();
        let mut notice = [PollFd::new(&self.notice, PollFlags::IN)];
        // Interruptions may prolong this wait by as much again each; they are signals to this host, and few.
        matches!(retry_on_intr(|| poll(&mut notice, limit.as_ref())), Ok(1..))
    }

    /// Ends the watching thread's life; a panic of its becomes ours.
    fn join(self) {
        if let Err(panic) = self.thread.join()
            && !thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Leaves the reaping of a program that does not vanish to a thread, so that no zombie stays behind.
fn reap_later(mut leader: Child) {
    // Where no thread can be had the zombie stays until the host ends; nothing depends on it.
    let _ = thread::Builder::new()
        .name("command-reaper".to_owned())
        .spawn(move || {
            let _ = leader.wait();
        });
}

#[cfg(test)]
mod tests {
    use rustix::process::test_kill_process_group;

    use super::*;

    #[test]
    fn a_dropped_process_is_killed_and_reaped() {
        let spec = CommandSpec::new(["/bin/sleep", "600"]).unwrap();
        let (process, _pipes) = Process::start(&spec).unwrap();
        let group = process.group;
        assert!(test_kill_process_group(group).is_ok());
        drop(process);
        assert_eq!(test_kill_process_group(group), Err(Errno::SRCH));
    }

    #[test]
    fn a_second_end_finds_nothing() {
        let spec = CommandSpec::new(["/bin/sh", "-c", "exit 3"]).unwrap();
        let (mut process, _pipes) = Process::start(&spec).unwrap();
        assert!(process.exit_notice().is_some());
        assert!(process.watch.as_ref().unwrap().wait(Duration::from_mins(1)));
        assert_eq!(process.end().unwrap(), Exit::Code(3));
        assert!(process.exit_notice().is_none());
        assert!(process.end().is_err());
    }
}
