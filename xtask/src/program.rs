//! Starting other programs: every one is named on standard error before it runs.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, bail};

/// One program with its arguments, ready to run.
#[derive(Debug)]
pub(crate) struct Program {
    command: Command,
    line: String,
}

impl Program {
    pub(crate) fn new(name: &str, directory: &Path) -> Self {
        let mut command = Command::new(name);
        command.current_dir(directory).stdin(Stdio::null());
        Self {
            command,
            line: name.to_owned(),
        }
    }

    /// The cargo that runs this command, without what `cargo run` put into the environment for it: build scripts
    /// watch some of those variables, and would run again each time.
    pub(crate) fn cargo(directory: &Path) -> Self {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let mut program = Self::new(&cargo, directory).without_cargo_run();
        "cargo".clone_into(&mut program.line);
        program
    }

    /// Takes away what `cargo run` put into the environment: also for other programs that start cargo.
    pub(crate) fn without_cargo_run(mut self) -> Self {
        for (name, _) in std::env::vars_os() {
            if set_by_cargo_run(&name) {
                self.command.env_remove(&name);
            }
        }
        self
    }

    pub(crate) fn argument(mut self, argument: &str) -> Self {
        self.command.arg(argument);
        self.line.push(' ');
        self.line.push_str(argument);
        self
    }

    pub(crate) fn arguments<T: AsRef<str>>(self, arguments: impl IntoIterator<Item = T>) -> Self {
        arguments.into_iter().fold(self, |program, argument| {
            program.argument(argument.as_ref())
        })
    }

    pub(crate) fn environment(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without_environment(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Runs it in the open: its output is ours.
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        self.announce();
        let status = self.command.status().with_context(|| self.cannot_start())?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.line);
        }
        Ok(())
    }

    /// Runs it in the open, and also hands each line of its standard output to `on_line`.
    pub(crate) fn stream(mut self, mut on_line: impl FnMut(&str)) -> anyhow::Result<()> {
        self.announce();
        let mut child = self
            .command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| self.cannot_start())?;
        if let Some(output) = child.stdout.take() {
            for line in BufReader::new(output).split(b'\n') {
                let line =
                    line.with_context(|| format!("cannot read the output of `{}`", self.line))?;
                let line = String::from_utf8_lossy(&line);
                println!("{line}");
                on_line(&line);
            }
        }
        let status = child.wait().with_context(|| self.cannot_start())?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.line);
        }
        Ok(())
    }

    /// Runs it silently and returns its standard output.
    pub(crate) fn output(mut self) -> anyhow::Result<String> {
        let output = self.command.output().with_context(|| self.cannot_start())?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!(
                "`{}` failed ({}):\n{}",
                self.line,
                output.status,
                said.trim_end()
            );
        }
        String::from_utf8(output.stdout)
            .with_context(|| format!("the output of `{}` is not UTF-8", self.line))
    }

    /// Starts it with pipes for its standard input and output.
    pub(crate) fn start(mut self) -> anyhow::Result<Child> {
        self.announce();
        self.command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| self.cannot_start())
    }

    /// Whether it starts and succeeds; its output is thrown away.
    pub(crate) fn succeeds(mut self) -> bool {
        self.command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    fn announce(&self) {
        eprintln!("+ {}", self.line);
    }

    fn cannot_start(&self) -> String {
        format!("cannot start `{}`", self.line)
    }
}

fn set_by_cargo_run(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| {
        name.starts_with("CARGO_PKG_")
            || name.starts_with("CARGO_MANIFEST_")
            || matches!(
                name,
                "CARGO_BIN_NAME" | "CARGO_CRATE_NAME" | "CARGO_PRIMARY_PACKAGE" | "OUT_DIR"
            )
    })
}
