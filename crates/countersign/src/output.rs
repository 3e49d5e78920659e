//! What the program prints, and where: results on standard output, everything else on standard error.

use std::io::{self, IsTerminal as _, Write as _};

use countersign_canonical::{Value, indented};

/// What a command came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All is as it should be.
    Good,
    /// Something is not as it should be; the output says what.
    Bad,
    /// The input could not be used.
    Unusable,
    /// A program that stands behind this one ended with this code, which passes through.
    Passed(u8),
}

/// Decides for the whole program when to use colour.
pub(crate) fn use_color(choice: clap::ColorChoice) {
    let choice = match choice {
        clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
        clap::ColorChoice::Always => anstream::ColorChoice::Always,
        clap::ColorChoice::Never => anstream::ColorChoice::Never,
    };
    choice.write_global();
}

/// Tells whether a person reads the output.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// How many columns the terminal has, where there is one.
pub(crate) fn terminal_width() -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(size.ws_col).filter(|columns| *columns > 0)
}

/// Prints a value for programs: sorted keys, indented, text as it is, a final newline.
pub(crate) fn print_json(value: &Value) -> anyhow::Result<()> {
    let mut bytes = indented(value);
    bytes.push(b'\n');
    print_bytes(&bytes)
}

/// Prints bytes as they are.
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(bytes)
        .and_then(|()| stdout.flush())
        .map_err(anyhow::Error::new)
}

/// Prints text for people; colours go where the terminal shows them.
pub(crate) fn print_text(text: &str) -> anyhow::Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(anyhow::Error::new)
}

/// Says on standard error what went wrong.
pub(crate) fn complain(text: &str) {
    // Standard error may be closed; there is nowhere left to say so.
    let _ = writeln!(anstream::stderr().lock(), "countersign: {text}");
}

/// Says why a command could not be run. A reader that went away is nobody's fault.
pub(crate) fn report(error: &anyhow::Error) -> Verdict {
    let is_closed_pipe = error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
    if is_closed_pipe {
        return Verdict::Good;
    }
    complain(&told(error));
    Verdict::Unusable
}

/// The error and its causes; a list of faults starts on a line of its own, and what an error repeats of its cause is said once.
fn told(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if text.ends_with(&cause) {
            continue;
        }
        let joint = match (text.is_empty(), cause.contains('\n')) {
            (true, _) => "",
            (false, false) => ": ",
            (false, true) => ":\n",
        };
        text.push_str(joint);
        text.push_str(&cause);
    }
    text
}
