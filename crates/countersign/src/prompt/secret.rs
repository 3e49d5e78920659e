//! A text that is typed and not shown.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use zeroize::Zeroizing;

use super::Terminal;

/// The most bytes of a secret.
const MAX_SECRET_BYTES: usize = 1024;

impl Terminal {
    /// Asks for a text and shows nothing of it. Nothing where whoever was asked gives up, with Ctrl-C or Ctrl-D, or where a signal
    /// ends it: the terminal is given back as it was.
    ///
    /// What was typed before the question was asked is discarded.
    pub(crate) fn secret(&self, question: &str) -> io::Result<Option<Zeroizing<String>>> {
        let signals = Signals::held_back()?;
        let quiet = Quiet::of(&self.tty)?;
        self.show(question)?;
        let read = self.read_secret(&signals);
        drop(quiet);
        drop(signals);
        self.show("\n")?;
        read
    }

    /// Tells something.
    pub(crate) fn tell(&self, text: &str) -> io::Result<()> {
        self.show(text)
    }

    fn read_secret(&self, signals: &Signals) -> io::Result<Option<Zeroizing<String>>> {
        // It never grows, so that no copy of its beginning is left behind.
        let mut typed = Zeroizing::new(Vec::with_capacity(MAX_SECRET_BYTES));
        let mut byte = Zeroizing::new([0_u8; 1]);
        loop {
            if signals.have_come() {
                return Ok(None);
            }
            if !self.has_input()? {
                continue;
            }
            match rustix::io::read(&self.tty, &mut *byte) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let [pressed] = *byte;
            match pressed {
                b'\n' | b'\r' => break,
                // Ctrl-C, Ctrl-D
                0x03 | 0x04 => return Ok(None),
                // Backspace
                0x08 | 0x7f => erase(&mut typed),
                // Ctrl-U
                0x15 => typed.clear(),
                pressed if typed.len() < MAX_SECRET_BYTES => typed.push(pressed),
                _ => return Err(io::ErrorKind::InvalidInput.into()),
            }
        }
        match str::from_utf8(&typed) {
            Ok(text) => Ok(Some(Zeroizing::new(text.to_owned()))),
            Err(_) => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Takes back the last character.
fn erase(typed: &mut Vec<u8>) {
    while let Some(byte) = typed.pop() {
        // The bytes of a character that follow its first one.
        if byte & 0xc0 != 0x80 {
            break;
        }
    }
}

/// Signals that would end the program while the terminal is not as it was. They are noted instead, until this goes.
struct Signals(&'static Watched);

struct Watched {
    /// Whether the signals do what they usually do.
    are_usual: Arc<AtomicBool>,
    have_come: Arc<AtomicBool>,
}

impl Signals {
    fn held_back() -> io::Result<Self> {
        static WATCHED: OnceLock<Watched> = OnceLock::new();
        if WATCHED.get().is_none() {
            // Whoever was first is right.
            let _ = WATCHED.set(Watched::new()?);
        }
        let watched = WATCHED.get().ok_or(io::ErrorKind::Other)?;
        watched.are_usual.store(false, Ordering::Release);
        Ok(Self(watched))
    }

    fn have_come(&self) -> bool {
        self.0.have_come.load(Ordering::Acquire)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.0.are_usual.store(true, Ordering::Release);
    }
}

impl Watched {
    fn new() -> io::Result<Self> {
        let (are_usual, have_come) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        are_usual.store(true, Ordering::Release);
        for signal in [SIGTERM, SIGHUP, SIGINT] {
            flag::register_conditional_default(signal, Arc::clone(&are_usual))?;
            flag::register(signal, Arc::clone(&have_come))?;
        }
        Ok(Self {
            are_usual,
            have_come,
        })
    }
}

/// A terminal that shows nothing of what is typed and passes on every key, until this goes.
struct Quiet<'t> {
    tty: &'t File,
    before: Termios,
}

impl<'t> Quiet<'t> {
    fn of(tty: &'t File) -> io::Result<Self> {
        let before = tcgetattr(tty)?;
        let mut quiet = before.clone();
        quiet.local_modes -=
            LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG;
        tcsetattr(tty, OptionalActions::Flush, &quiet)?;
        Ok(Self { tty, before })
    }
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        // There is nobody left to tell.
        let _ = tcsetattr(self.tty, OptionalActions::Flush, &self.before);
    }
}
