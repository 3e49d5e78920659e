//! The sample tools, run by the command runner as a host would run them.

mod files;
mod git;
mod mail;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_runtime::command::{self, CommandOutcome, CommandSpec, Exit, Exited};
use serde_json::Value;

/// The command line is wrong: nothing was done.
const USAGE: Exit = Exit::Code(64);
/// The call is refused: nothing was done.
const REFUSED: Exit = Exit::Code(65);
/// Something failed: the tool may have acted.
const FAILED: Exit = Exit::Code(70);

#[test]
fn every_tool_explains_itself_and_takes_json_only() {
    for name in [
        "read_file",
        "list_files",
        "write_file",
        "send_mail",
        "git_log",
        "git_show",
        "git_commit",
    ] {
        let help = Tool::new(name, &["--help"]).run("");
        assert_eq!(help.exit, Exit::SUCCESS, "{name}");
        let help = String::from_utf8(help.stdout).unwrap();
        for part in ["usage:", "Arguments:", "Answer:"] {
            assert!(help.contains(part), "{name} does not say: {part}");
        }
        assert_eq!(
            Tool::new(name, &["--no-such-option"]).run("{}").exit,
            USAGE,
            "{name}"
        );

        let fixed = match name {
            "send_mail" => &["--from", "desk@example.com"][..],
            "git_commit" => &[
                "--root",
                "/",
                "--author-name",
                "Ada",
                "--author-email",
                "ada@example.org",
            ],
            _ => &["--root", "/"],
        };
        Tool::new(name, fixed).refuses("[]");
    }
}

#[test]
fn arguments_are_one_strict_json_object() {
    let deep = format!(
        r#"{{"path": {}{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let large = format!(r#"{{"path": "{}"}}"#, "x".repeat(4 << 20));
    let tool = Tool::new("list_files", &["--root", "/"]);
    for bad in [
        "",
        "{",
        "null",
        "{} {}",
        "\u{feff}{}",
        r#"{"path": NaN}"#,
        r#"{"path": ".", "path": "."}"#,
        r#"{"Path": "."}"#,
        &deep,
        &large,
    ] {
        tool.refuses(bad);
    }
}

/// One sample tool with its fixed command line.
struct Tool {
    path: PathBuf,
    options: Vec<OsString>,
    variables: BTreeMap<OsString, OsString>,
}

impl Tool {
    fn new<O: AsRef<std::ffi::OsStr>>(name: &str, options: &[O]) -> Self {
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tools");
        Self {
            path: tools.join(name).with_extension("py"),
            options: options
                .iter()
                .map(|option| option.as_ref().to_owned())
                .collect(),
            variables: [("PATH".into(), search_path())].into(),
        }
    }

    fn beneath(name: &str, root: &Path) -> Self {
        Self::new(name, &["--root".as_ref(), root.as_os_str()])
    }

    fn with_option(mut self, name: &str, value: &str) -> Self {
        self.options.extend([name.into(), value.into()]);
        self
    }

    fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    fn run(&self, arguments: &str) -> Exited {
        let argv = [self.path.clone().into_os_string()]
            .into_iter()
            .chain(self.options.clone());
        let spec = CommandSpec::new(argv)
            .unwrap()
            .with_environment(self.variables.clone())
            .unwrap()
            .with_timeout(Duration::from_mins(1))
            .unwrap();
        match command::run(&spec, arguments.as_bytes()) {
            CommandOutcome::Exited(exited) => exited,
            CommandOutcome::NotStarted(proof) => panic!("{proof}"),
            CommandOutcome::Lost(lost) => panic!("{}", lost.cause),
        }
    }

    fn answer(&self, arguments: &Value) -> Value {
        let exited = self.run(&arguments.to_string());
        let said = exited.diagnostics.for_operator();
        assert_eq!(exited.exit, Exit::SUCCESS, "{arguments}: {said}");
        let text = String::from_utf8(exited.stdout).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Expects an end without an answer and with an explanation; gives the explanation.
    fn ends_with(&self, exit: Exit, arguments: &str) -> String {
        let exited = self.run(arguments);
        let said = exited.diagnostics.for_operator();
        let start: String = arguments.chars().take(200).collect();
        assert_eq!(exited.exit, exit, "{start}: {said}");
        assert_eq!(exited.stdout, b"", "{start}");
        assert!(!said.trim().is_empty(), "{start}");
        said
    }

    fn refuses(&self, arguments: &str) -> String {
        self.ends_with(REFUSED, arguments)
    }
}

/// Where Python and git are found; the system's own first, since wrappers of Python make every start slow.
#[expect(
    clippy::disallowed_methods,
    reason = "the tests run what this machine has"
)]
fn search_path() -> OsString {
    let mut path = OsString::from("/usr/bin:/bin:");
    path.push(std::env::var_os("PATH").unwrap());
    path
}
