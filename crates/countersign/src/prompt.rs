//! Asking a person on the controlling terminal, whatever standard input and output are.

mod secret;

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;

use anstyle::{AnsiColor, Effects, Style};
use countersign_canonical::{Limits, Value, parse};
use countersign_contract::{ApproverId, Arguments, Inert};
use countersign_policy::AccessRequest;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

use crate::sheet::Sheet;

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
        opened.ok().map(|tty| Self { tty })
    }

    /// Shows the whole call and asks for a yes. Everything else is a no, an end of input and an error included.
    ///
    /// While nobody answers, `is_overtaken` is asked again and again whether the question still stands.
    pub(crate) fn asks(
        &self,
        question: Question<'_>,
        is_overtaken: &mut dyn FnMut() -> bool,
    ) -> Answer {
        self.asks_text(&question.to_text(self.columns()), is_overtaken)
    }

    /// Asks for a yes to a text of our own, in which everything of others is inert.
    pub(crate) fn confirms(&self, text: &str) -> bool {
        self.asks_text(text, &mut || false) == Answer::Yes
    }

    fn asks_text(&self, question: &str, is_overtaken: &mut dyn FnMut() -> bool) -> Answer {
        // What was typed before the question was asked is no answer to it.
        if self.discard_input().is_err() || self.show(question).is_err() {
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

/// The arguments as they will be sent: where they are passed on as they came, what they say and not what stands for them.
pub(crate) fn effective(arguments: &Arguments) -> Cow<'_, Value> {
    let attached = arguments
        .attachment()
        .and_then(|attachment| parse(attachment.text().as_bytes(), &Limits::passthrough()).ok());
    attached.map_or(Cow::Borrowed(arguments.value()), Cow::Owned)
}

/// What a person is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'q> {
    /// What it is about, in a line of our own.
    pub(crate) heading: &'q str,
    /// The whole call.
    pub(crate) access: AccessRequest<'q>,
    /// What the tool is for.
    pub(crate) description: Option<&'q str>,
    /// More that a person should know, each under its label.
    pub(crate) details: &'q [(&'q str, String)],
    /// What a yes does, up to the name of whoever says it.
    pub(crate) deed: &'q str,
    /// Who says it.
    pub(crate) person: &'q ApproverId,
}

impl Question<'_> {
    /// Who asks, for which tool, with exactly which arguments.
    fn to_text(self, columns: usize) -> String {
        let warning = Style::new()
            .effects(Effects::BOLD)
            .fg_color(Some(AnsiColor::Yellow.into()));
        let mut sheet = Sheet::new(columns);
        sheet.line("");
        sheet.line(format!("{warning}{}{warning:#}", self.heading));
        tell_call(&mut sheet, &self.access, self.description);
        for (label, text) in self.details {
            sheet.tell(label, text);
        }
        sheet.block("arguments", &effective(&self.access.call.arguments));
        let person = Inert::new(self.person.as_str());
        sheet.line(format!("{}, as {person}? Type yes: ", self.deed));
        sheet.into_text()
    }
}

/// Tells what a call is, up to its arguments.
pub(crate) fn tell_call(sheet: &mut Sheet, access: &AccessRequest<'_>, description: Option<&str>) {
    let AccessRequest {
        principal,
        call,
        contract,
    } = access;
    let bold = Style::new().effects(Effects::BOLD);
    sheet.tell_in("tool", bold, call.name.as_str());
    if let Some(description) = description {
        sheet.tell("", description);
    }
    let (subject, tenant) = (&principal.subject_id, &principal.tenant_id);
    sheet.tell("for", &format!("{subject} of {tenant}"));
    let (id, response) = (&call.call_id, &call.response_id);
    sheet.tell("call", &format!("{id} in response {response}"));
    sheet.tell("effect", contract.revisions.effect.as_str());
}
