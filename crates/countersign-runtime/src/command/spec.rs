use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most arguments a command may have after its program.
pub const MAX_ARGUMENTS: usize = 1_024;
/// The longest timeout a command may have.
pub const MAX_TIMEOUT: Duration = Duration::from_hours(24);
/// The largest limit for an answer.
pub const MAX_OUTPUT_BYTES: usize = 64 << 20;
/// The largest limit for captured standard error.
pub const MAX_DIAGNOSTICS_BYTES: usize = 1 << 20;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const DEFAULT_OUTPUT_BYTES: usize = 1 << 20;
const DEFAULT_DIAGNOSTICS_BYTES: usize = 16 << 10;

/// What to run, and within which bounds; every value was checked when it was set.
///
/// Starts with an empty environment, the host's working directory, a timeout of 30 seconds, and room for 1 MiB of
/// answer and 16 KiB of diagnostics.
#[derive(Clone)]
pub struct CommandSpec {
    program: OsString,
    arguments: Vec<OsString>,
    directory: Option<PathBuf>,
    environment: BTreeMap<OsString, OsString>,
    timeout: Duration,
    output_limit_bytes: usize,
    diagnostics_limit_bytes: usize,
}

/// Why a command cannot be described that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommandSpecError {
    /// The command names no program.
    #[error("the command names no program")]
    NoProgram,
    /// The program is a relative path, which would depend on the host's working directory.
    #[error("the command's program must be an absolute path, or a bare name to find on its PATH")]
    RelativeProgram,
    /// More than [`MAX_ARGUMENTS`] arguments.
    #[error("the command has more than {MAX_ARGUMENTS} arguments")]
    TooManyArguments,
    /// An argument, a variable, or the directory contains U+0000, which no process can be given.
    #[error("the command contains a NUL character")]
    Nul,
    /// The working directory is a relative path.
    #[error("the command's working directory must be an absolute path")]
    RelativeDirectory,
    /// The name of a variable is empty or contains `=`.
    #[error("an environment variable's name is empty or contains `=`")]
    VariableName,
    /// The timeout is zero or longer than [`MAX_TIMEOUT`].
    #[error("the command's timeout must be more than zero and at most 24 hours")]
    Timeout,
    /// The answer's limit is zero or larger than [`MAX_OUTPUT_BYTES`].
    #[error("the command's output limit must be 1 to {MAX_OUTPUT_BYTES} bytes")]
    OutputLimit,
    /// The diagnostics' limit is larger than [`MAX_DIAGNOSTICS_BYTES`].
    #[error("the command's diagnostics limit must be at most {MAX_DIAGNOSTICS_BYTES} bytes")]
    DiagnosticsLimit,
}

impl CommandSpec {
    /// Describes the command `argv`: a program and its fixed arguments, none of which is ever interpreted by a shell.
    ///
    /// The program is an absolute path, or a bare name that is looked up on the `PATH` of the command's *own*
    /// environment (the system's default path where it has none).
    pub fn new<A: Into<OsString>>(
        argv: impl IntoIterator<Item = A>,
    ) -> Result<Self, CommandSpecError> {
        let mut argv = argv.into_iter().map(Into::into);
        let program = argv.next().ok_or(CommandSpecError::NoProgram)?;
        let arguments: Vec<OsString> = argv.take(MAX_ARGUMENTS + 1).collect();
        if program.is_empty() {
            return Err(CommandSpecError::NoProgram);
        }
        if arguments.len() > MAX_ARGUMENTS {
            return Err(CommandSpecError::TooManyArguments);
        }
        refuse_nul(&program)?;
        arguments
            .iter()
            .try_for_each(|argument| refuse_nul(argument))?;
        if program.as_bytes().contains(&b'/') && !Path::new(&program).is_absolute() {
            return Err(CommandSpecError::RelativeProgram);
        }
        Ok(Self {
            program,
            arguments,
            directory: None,
            environment: BTreeMap::new(),
            timeout: DEFAULT_TIMEOUT,
            output_limit_bytes: DEFAULT_OUTPUT_BYTES,
            diagnostics_limit_bytes: DEFAULT_DIAGNOSTICS_BYTES,
        })
    }

    /// Sets the working directory.
    pub fn with_directory(
        mut self,
        directory: impl Into<PathBuf>,
    ) -> Result<Self, CommandSpecError> {
        let directory = directory.into();
        refuse_nul(directory.as_os_str())?;
        if !directory.is_absolute() {
            return Err(CommandSpecError::RelativeDirectory);
        }
        self.directory = Some(directory);
        Ok(self)
    }

    /// Sets the whole environment: the program sees these variables and no others.
    pub fn with_environment(
        mut self,
        environment: BTreeMap<OsString, OsString>,
    ) -> Result<Self, CommandSpecError> {
        for (name, value) in &environment {
            refuse_nul(name)?;
            refuse_nul(value)?;
            if name.is_empty() || name.as_bytes().contains(&b'=') {
                return Err(CommandSpecError::VariableName);
            }
        }
        self.environment = environment;
        Ok(self)
    }

    /// Sets how long the program may run, measured on a monotonic clock from before its start.
    pub fn with_timeout(mut self, timeout: Duration) -> Result<Self, CommandSpecError> {
        if timeout.is_zero() || timeout > MAX_TIMEOUT {
            return Err(CommandSpecError::Timeout);
        }
        self.timeout = timeout;
        Ok(self)
    }

    /// Sets how many bytes the answer may have; a program that writes more is killed.
    pub fn with_output_limit(mut self, bytes: usize) -> Result<Self, CommandSpecError> {
        if bytes == 0 || bytes > MAX_OUTPUT_BYTES {
            return Err(CommandSpecError::OutputLimit);
        }
        self.output_limit_bytes = bytes;
        Ok(self)
    }

    /// Sets how many bytes of standard error are kept: the last ones. Writing more harms nobody.
    pub fn with_diagnostics_limit(mut self, bytes: usize) -> Result<Self, CommandSpecError> {
        if bytes > MAX_DIAGNOSTICS_BYTES {
            return Err(CommandSpecError::DiagnosticsLimit);
        }
        self.diagnostics_limit_bytes = bytes;
        Ok(self)
    }

    /// The program: an absolute path or a bare name.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// The fixed arguments after the program.
    pub fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// The working directory; the host's when there is none.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// The whole environment of the program.
    pub fn environment(&self) -> &BTreeMap<OsString, OsString> {
        &self.environment
    }

    /// How long the program may run.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// How many bytes the answer may have.
    pub fn output_limit_bytes(&self) -> usize {
        self.output_limit_bytes
    }

    /// How many bytes of standard error are kept.
    pub fn diagnostics_limit_bytes(&self) -> usize {
        self.diagnostics_limit_bytes
    }
}

/// Shows neither arguments nor values of variables: both may hold secrets.
impl std::fmt::Debug for CommandSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandSpec")
            .field("program", &self.program)
            .field("argument_count", &self.arguments.len())
            .field("directory", &self.directory)
            .field("variables", &self.environment.keys().collect::<Vec<_>>())
            .field("timeout", &self.timeout)
            .field("output_limit_bytes", &self.output_limit_bytes)
            .field("diagnostics_limit_bytes", &self.diagnostics_limit_bytes)
            .finish()
    }
}

fn refuse_nul(text: &OsStr) -> Result<(), CommandSpecError> {
    if text.as_bytes().contains(&0) {
        return Err(CommandSpecError::Nul);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_only_commands_that_can_run_predictably() {
        let argv_cases: [(&[&str], CommandSpecError); 7] = [
            (&[], CommandSpecError::NoProgram),
            (&[""], CommandSpecError::NoProgram),
            (&["./tool"], CommandSpecError::RelativeProgram),
            (&["bin/tool"], CommandSpecError::RelativeProgram),
            (&["../tool"], CommandSpecError::RelativeProgram),
            (&["/bin/to\0ol"], CommandSpecError::Nul),
            (&["tool", "a\0b"], CommandSpecError::Nul),
        ];
        for (argv, expected) in argv_cases {
            assert_eq!(
                CommandSpec::new(argv.iter().copied()).unwrap_err(),
                expected,
                "{argv:?}"
            );
        }
        let many = vec!["x"; MAX_ARGUMENTS + 2];
        assert_eq!(
            CommandSpec::new(many).unwrap_err(),
            CommandSpecError::TooManyArguments
        );
        assert!(CommandSpec::new(vec!["x"; MAX_ARGUMENTS + 1]).is_ok());
    }

    #[test]
    fn bounds_every_setting() {
        let spec = CommandSpec::new(["tool"]).unwrap();
        let with = |name: &str, value: &str| {
            spec.clone()
                .with_environment([(name.into(), value.into())].into())
                .map(|_| ())
        };
        assert_eq!(with("", "x"), Err(CommandSpecError::VariableName));
        assert_eq!(with("A=B", "x"), Err(CommandSpecError::VariableName));
        assert_eq!(with("A", "x\0"), Err(CommandSpecError::Nul));
        assert_eq!(with("A", "="), Ok(()));

        let timeout = |value| spec.clone().with_timeout(value).map(|_| ());
        assert_eq!(timeout(Duration::ZERO), Err(CommandSpecError::Timeout));
        assert_eq!(timeout(MAX_TIMEOUT), Ok(()));
        assert_eq!(
            timeout(MAX_TIMEOUT + Duration::from_nanos(1)),
            Err(CommandSpecError::Timeout)
        );

        let output = |bytes| spec.clone().with_output_limit(bytes).map(|_| ());
        assert_eq!(output(0), Err(CommandSpecError::OutputLimit));
        assert_eq!(output(MAX_OUTPUT_BYTES), Ok(()));
        assert_eq!(
            output(MAX_OUTPUT_BYTES + 1),
            Err(CommandSpecError::OutputLimit)
        );

        let diagnostics = |bytes| spec.clone().with_diagnostics_limit(bytes).map(|_| ());
        assert_eq!(diagnostics(0), Ok(()));
        assert_eq!(
            diagnostics(MAX_DIAGNOSTICS_BYTES + 1),
            Err(CommandSpecError::DiagnosticsLimit)
        );

        assert_eq!(
            spec.clone().with_directory("work").unwrap_err(),
            CommandSpecError::RelativeDirectory
        );
    }

    #[test]
    fn debug_output_keeps_secrets() {
        let spec = CommandSpec::new(["tool", "--key=hunter2"])
            .unwrap()
            .with_environment([("TOKEN".into(), "hunter2".into())].into())
            .unwrap();
        let shown = format!("{spec:?}");
        assert!(shown.contains("TOKEN"), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
