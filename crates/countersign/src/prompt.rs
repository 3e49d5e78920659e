//! Asking a person on the controlling terminal, whatever standard input and output are.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use anstyle::{AnsiColor, Effects, Style};
use countersign_canonical::indented;
use countersign_contract::{ApproverId, Inert};
use countersign_policy::AccessRequest;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

use crate::output::complain;

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Yes.
    Yes,
    /// No, or nothing that is a yes.
    No,
    /// The question was settled elsewhere before somebody answered here.
    Overtaken,
}

/// The terminal that controls the process. An agent that pipes our input and output does not hold it.
pub(crate) struct Terminal {
    tty: File,
}

/// How long nobody looks whether a question still stands: 50 ms.
const LOOK_INTERVAL_NANOSECONDS: i64 = 50_000_000;
/// The longest line that is read as an answer.
const MAX_ANSWER_BYTES: u64 = 64;

impl Terminal {
    /// Opens it; nothing where there is none.
    pub(crate) fn open() -> Option<Self> {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlags::NOCTTY.bits().cast_signed())
            .open("/dev/tty");
        let Ok(tty) = opened else {
            complain("there is no terminal to ask on: writes stay unapproved");
            return None;
        };
        Some(Self { tty })
    }

    /// Shows the whole call and asks for a yes. Everything else is a no, an end of input and an error included.
    ///
    /// While nobody answers, `is_overtaken` is asked again and again whether the question still stands.
    pub(crate) fn asks_for(
        &self,
        access: &AccessRequest<'_>,
        description: Option<&str>,
        approver: &ApproverId,
        is_overtaken: &mut dyn FnMut() -> bool,
    ) -> Answer {
        // What was typed before the question was asked is no answer to it.
        let question = question(access, description, approver, self.columns());
        if self.discard_input().is_err() || self.show(&question).is_err() {
            return Answer::No;
        }
        loop {
            match self.has_input() {
                Ok(true) => break,
                Ok(false) if is_overtaken() => {
                    // Nothing is left to be shown it.
                    let _ = self.show("\n");
                    return Answer::Overtaken;
                }
                Ok(false) => {}
                Err(_) => return Answer::No,
            }
        }
        match self.read_answer() {
            Ok(answer) if is_yes(&answer) => Answer::Yes,
            Ok(_) | Err(_) => Answer::No,
        }
    }

    /// Waits a moment for a whole line.
    fn has_input(&self) -> io::Result<bool> {
        let mut waited = [PollFd::new(&self.tty, PollFlags::IN)];
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: LOOK_INTERVAL_NANOSECONDS,
        };
        match poll(&mut waited, Some(&pause)) {
            Ok(count) => Ok(count > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Shows a text, with colours where they are wanted and the terminal shows them.
    fn show(&self, text: &str) -> io::Result<()> {
        let mut output = anstream::AutoStream::auto(self.tty.try_clone()?);
        output.write_all(text.as_bytes())?;
        output.flush()
    }

    fn columns(&self) -> usize {
        let size = tcgetwinsize(&self.tty).ok().map(|size| size.ws_col);
        size.filter(|columns| *columns > 0).map_or(80, usize::from)
    }

    fn discard_input(&self) -> io::Result<()> {
        Ok(tcflush(&self.tty, QueueSelector::IFlush)?)
    }

    /// Reads one line. What follows on an overlong one answers no other question, and reaches no shell after us.
    fn read_answer(&self) -> io::Result<String> {
        let mut line = String::new();
        let input = io::Read::take(&self.tty, MAX_ANSWER_BYTES);
        BufReader::new(input).read_line(&mut line)?;
        if !line.ends_with('\n') {
            self.discard_input()?;
            self.show("\n")?;
        }
        Ok(line)
    }
}

/// A whole line that says yes; one that an end of input or the limit cut off does not.
fn is_yes(line: &str) -> bool {
    line.strip_suffix('\n')
        .is_some_and(|answer| answer.trim().eq_ignore_ascii_case("yes"))
}

/// Who asks, for which tool, with exactly which arguments. Nothing of it can act on the terminal, nor pass for ours.
fn question(
    access: &AccessRequest<'_>,
    description: Option<&str>,
    approver: &ApproverId,
    columns: usize,
) -> String {
    let bold = Style::new().effects(Effects::BOLD);
    let warning = bold.fg_color(Some(AnsiColor::Yellow.into()));
    let AccessRequest {
        principal,
        call,
        contract,
    } = access;
    let mut lines = vec![
        String::new(),
        format!("{warning}A write waits for your approval.{warning:#}"),
    ];
    let mut tell = |label: &str, style: Style, text: String| {
        for (index, row) in rows(&text, columns.saturating_sub(13)).iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            lines.push(format!("  {label:<10} {style}{row}{style:#}"));
        }
    };
    let plain = Style::new();
    tell("tool", bold, Inert::new(call.name.as_str()).to_string());
    if let Some(description) = description {
        tell("", plain, Inert::new(description).to_string());
    }
    let subject = Inert::new(principal.subject_id.as_str());
    let tenant = Inert::new(principal.tenant_id.as_str());
    tell("for", plain, format!("{subject} of {tenant}"));
    let id = Inert::new(call.call_id.as_str());
    let response = Inert::new(call.response_id.as_str());
    tell("call", plain, format!("{id} in response {response}"));
    let effect = Inert::new(contract.revisions.effect.as_str());
    tell("effect", plain, effect.to_string());
    lines.push("  arguments".to_owned());
    let arguments = indented(call.arguments.value());
    for line in String::from_utf8_lossy(&arguments).lines() {
        let line = Inert::new(line).to_string();
        let rows = rows(&line, columns.saturating_sub(6));
        lines.extend(rows.iter().map(|row| format!("    | {row}")));
    }
    lines.push(format!(
        "Approve exactly this, as {}? Type yes: ",
        Inert::new(approver.as_str())
    ));
    lines.join("\n")
}

/// The fewest columns that a row gets, however narrow the terminal.
const MIN_COLUMNS: usize = 16;

/// Breaks a text into rows that fit, so that the terminal breaks none: a row at its edge could pass for a line of ours.
fn rows(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(MIN_COLUMNS);
    let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
    for character in text.chars() {
        // Without a table of widths, whatever is not ASCII counts as wide.
        let width = if character.is_ascii() { 1 } else { 2 };
        if used + width > columns {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        row.push(character);
        used += width;
    }
    rows.push(row);
    rows
}
