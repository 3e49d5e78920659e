//! A terminal that a program has to itself, given back as it was, however the program ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::anyhow;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use zeroize::Zeroizing;

use super::keys::{Key, keys};
use crate::input::describe;

/// The most bytes that are taken at once: a paste is many keys, a person's are few.
const MAX_INPUT_BYTES: usize = 256;
/// How long a look waits for a key: 50 ms.
const LOOK_NANOSECONDS: i64 = 50_000_000;
/// The other screen, without a cursor.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[2J";
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";
/// The frame is shown when it is whole, where the terminal can do that.
const BEGIN_FRAME: &str = "\u{1b}[?2026h\u{1b}[H";
const END_FRAME: &str = "\u{1b}[J\u{1b}[?2026l";

/// The controlling terminal, as a full screen.
pub(super) struct Screen {
    tty: File,
    before: Termios,
    shown: Vec<String>,
    is_over: Arc<AtomicBool>,
}

impl Screen {
    pub(super) fn open() -> anyhow::Result<Self> {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(OFlags::NOCTTY.bits().cast_signed())
            .open("/dev/tty");
        let tty = opened.map_err(|_| {
            anyhow!(
                "there is no terminal to watch on: for a program there is \"countersign approvals list\""
            )
        })?;
        let cannot = |error: io::Error| anyhow!("cannot use the terminal: {}", describe(&error));
        let is_over = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&is_over)).map_err(cannot)?;
        }
        let before = tcgetattr(&tty).map_err(|error| cannot(error.into()))?;
        let screen = Self {
            tty,
            before,
            shown: Vec::new(),
            is_over,
        };
        let mut modes = screen.before.clone();
        modes.local_modes -= LocalModes::ECHO
            | LocalModes::ECHONL
            | LocalModes::ICANON
            | LocalModes::ISIG
            | LocalModes::IEXTEN;
        tcsetattr(&screen.tty, OptionalActions::Flush, &modes)
            .map_err(|error| cannot(error.into()))?;
        screen.write(ENTER).map_err(cannot)?;
        Ok(screen)
    }

    /// Whether somebody wants the program to end.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (usize, usize) {
        let size = tcgetwinsize(&self.tty).ok();
        let size = size.filter(|size| size.ws_col > 0 && size.ws_row > 0);
        size.map_or((80, 24), |size| (size.ws_col.into(), size.ws_row.into()))
    }

    /// Shows a frame, where it is not the one that is shown.
    pub(super) fn show(&mut self, frame: Vec<String>) -> io::Result<()> {
        if frame == self.shown {
            return Ok(());
        }
        let lines: Vec<String> = frame.iter().map(|line| format!("{line}\u{1b}[K")).collect();
        self.write(&format!("{BEGIN_FRAME}{}{END_FRAME}", lines.join("\r\n")))?;
        self.shown = frame;
        Ok(())
    }

    pub(super) fn bell(&self) -> io::Result<()> {
        self.write("\u{7}")
    }

    /// What was pressed within a moment. The terminal's end is one that interrupts.
    pub(super) fn keys(&self) -> io::Result<Vec<Key>> {
        let mut waited = [PollFd::new(&self.tty, PollFlags::IN)];
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: LOOK_NANOSECONDS,
        };
        match poll(&mut waited, Some(&pause)) {
            Ok(0) | Err(Errno::INTR) => return Ok(Vec::new()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut bytes = Zeroizing::new([0; MAX_INPUT_BYTES]);
        match rustix::io::read(&self.tty, &mut *bytes) {
            Ok(0) => Ok(vec![Key::Interrupt]),
            Ok(count) => Ok(keys(bytes.get(..count).unwrap_or_default())),
            Err(Errno::INTR) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    fn write(&self, text: &str) -> io::Result<()> {
        (&self.tty).write_all(text.as_bytes())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // There is nobody left to tell.
        let _ = self.write(LEAVE);
        let _ = tcsetattr(&self.tty, OptionalActions::Flush, &self.before);
    }
}
