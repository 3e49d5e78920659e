//! A program that serves until it is no longer needed, and says at its start where.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// How long it may take to say where it serves.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running server. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Daemon {
    child: Child,
    url: String,
}

impl Daemon {
    /// Starts it, and waits for the first line that names a URL, on whichever stream. All lines go into the log.
    pub(crate) fn start(mut command: Command, log: &Path) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", log.display()))?;
        let (sender, lines) = mpsc::channel();
        let streams: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|stream| Box::new(stream) as _),
            child.stderr.take().map(|stream| Box::new(stream) as _),
        ];
        let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        for stream in streams.into_iter().flatten() {
            let (sender, mut file) = (sender.clone(), file.try_clone()?);
            thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let _ = writeln!(file, "{line}");
                    let _ = sender.send(line);
                }
            });
        }
        drop(sender);
        // From here on, whatever happens, it is killed.
        let mut daemon = Self {
            child,
            url: String::new(),
        };
        let start = Instant::now();
        loop {
            match lines.recv_timeout(PATIENCE.saturating_sub(start.elapsed())) {
                Ok(line) => {
                    if let Some(url) = url_in(&line) {
                        url.clone_into(&mut daemon.url);
                        return Ok(daemon);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    bail!(
                        "a server does not say where it serves: see {}",
                        log.display()
                    )
                }
                Err(RecvTimeoutError::Disconnected) => {
                    bail!("a server has ended at its start: see {}", log.display())
                }
            }
        }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first word of a line that is a URL on this machine.
fn url_in(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("http://127.0.0.1:")?;
    let start = line
        .len()
        .checked_sub(rest.len() + "http://127.0.0.1:".len())?;
    line.get(start..)?
        .split(|end: char| end.is_whitespace() || matches!(end, '"' | '\'' | ',' | ';'))
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_ends_where_its_word_ends() {
        assert_eq!(
            url_in("serving at http://127.0.0.1:8080/mcp, until the end"),
            Some("http://127.0.0.1:8080/mcp")
        );
        assert_eq!(
            url_in("http://127.0.0.1:1/mcp"),
            Some("http://127.0.0.1:1/mcp")
        );
        assert_eq!(url_in("starting"), None);
    }

    #[test]
    #[cfg(unix)]
    fn a_server_that_ends_at_once_is_an_error() {
        let log = std::env::temp_dir().join(format!("xtask-daemon-{}", std::process::id()));
        let error = Daemon::start(Command::new("true"), &log).unwrap_err();
        assert!(
            error.to_string().contains("has ended at its start"),
            "{error}"
        );
        let _ = std::fs::remove_file(log);
    }
}
