//! The tools file: contracts, commands and rules, in TOML.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use countersign_canonical::{Limits, Object, Utf8, Value, digest};
use countersign_contract::{
    ApproverId, FaultCollector, Inert, Path as Place, Principal, Problem, ToolContract, ToolName,
    read_contract, read_principal,
};
use countersign_dispatch::Registry;
use countersign_policy::{RuleBook, read_rule_book};
use countersign_runtime::command::{CommandSpec, CommandSpecError, Diagnostics};
use countersign_runtime::{Answers, CommandHandler, Handlers, StatusSources, SystemClock};

use sha2::{Digest as _, Sha256};

use crate::input;
use crate::output::complain;
use crate::toml_document::read_toml;

/// The most bytes of a tools file.
const MAX_FILE_BYTES: usize = 1 << 20;
/// The most bytes of a tool's program that are digested into its handler revision.
const MAX_PROGRAM_BYTES: usize = 256 << 20;
const MAX_TOOLS: usize = 256;
/// How long an approval lives where the file does not say: 15 minutes.
const DEFAULT_APPROVAL_SECONDS: u64 = 900;
const MAX_APPROVAL_SECONDS: u64 = 86_400;

/// What a tools file declares.
pub(crate) struct ToolsFile {
    registry: Registry,
    handlers: Handlers,
    descriptions: BTreeMap<ToolName, String>,
    rules: RuleBook,
    approvers: Vec<ApproverId>,
    principal: Option<Principal>,
    approval_seconds: u64,
    status: StatusSources,
    downstream_memory: BTreeMap<ToolName, Duration>,
}

impl ToolsFile {
    /// Loads a file; relative paths in it start from where it lies.
    pub(crate) fn load(file: &Path) -> anyhow::Result<Self> {
        let bytes = input::read("tools file", Some(file), MAX_FILE_BYTES)?;
        let value = read_toml("tools file", bytes)?;
        let place = std::path::absolute(file).context("cannot find where the tools file lies")?;
        let directory = place.parent().unwrap_or(Path::new("/")).to_owned();
        let mut faults = FaultCollector::new();
        let tools = Reader { directory }.read(&value, &mut faults);
        faults
            .finish_with(tools)
            .map_err(|faults| anyhow!("{faults}"))
            .context("the tools file is not in order")
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn handlers(&self) -> &Handlers {
        &self.handlers
    }

    /// The tools' status operations.
    pub(crate) fn status(&self) -> &StatusSources {
        &self.status
    }

    /// How long a tool's downstream knows our key again.
    pub(crate) fn downstream_memory(&self, tool: &ToolName) -> Option<Duration> {
        self.downstream_memory.get(tool).copied()
    }

    pub(crate) fn rules(&self) -> &RuleBook {
        &self.rules
    }

    /// Who approves on the terminal: the first of the listed approvers who does not make the call.
    pub(crate) fn approver(&self, principal: &Principal) -> Option<&ApproverId> {
        let subject = principal.subject_id.as_str();
        self.approvers
            .iter()
            .find(|approver| approver.as_str() != subject)
    }

    /// On whose behalf: the principal of a JSON document, or else the file's own.
    pub(crate) fn principal_or(&self, file: Option<&Path>) -> anyhow::Result<Principal> {
        match (file, &self.principal) {
            (Some(file), _) => {
                let value = input::read_json("principal", file, &Limits::tool_result())?;
                Principal::from_value(&value).context("the principal is not in order")
            }
            (None, Some(principal)) => Ok(principal.clone()),
            (None, None) => {
                bail!("on whose behalf? name a --principal, or put one into the tools file")
            }
        }
    }

    /// Tells whether a tool has a status operation.
    pub(crate) fn has_status(&self, tool: &ToolName) -> bool {
        self.status.knows(tool)
    }

    /// What a tool is for, in the file's words.
    pub(crate) fn description(&self, tool: &ToolName) -> Option<&str> {
        self.descriptions.get(tool).map(String::as_str)
    }

    /// How long an approval lives.
    pub(crate) fn approval_seconds(&self) -> u64 {
        self.approval_seconds
    }
}

struct Reader {
    directory: PathBuf,
}

/// One tool, read.
struct Tool {
    contract: ToolContract,
    description: Option<String>,
    handler: CommandHandler<SystemClock>,
    status: Option<CommandHandler<SystemClock>>,
    downstream_memory: Option<Duration>,
}

impl Reader {
    fn read(&self, value: &Value, faults: &mut FaultCollector) -> Option<ToolsFile> {
        let root = Place::root();
        let (required, optional) = (["tools", "policy"], ["principal", "approval_seconds"]);
        // A mistyped name here hides no fault beneath it.
        let object = faults.object_of(&root, value, &required, &optional);
        let object = object.or(value.as_object())?;
        let policy = object.get("policy");
        let rules =
            policy.and_then(|policy| read_rule_book(&Place::fixed("policy"), policy, faults));
        let approvers = policy.map(listed_approvers).unwrap_or_default();
        let policy_revision = revision_of(policy.unwrap_or(&Value::Null));
        let principal = object.get("principal");
        let principal =
            principal.and_then(|value| read_principal(&Place::fixed("principal"), value, faults));
        let approval_seconds = match object.get("approval_seconds") {
            None => Some(DEFAULT_APPROVAL_SECONDS),
            Some(value) => {
                let seconds = value
                    .as_i64()
                    .and_then(|seconds| u64::try_from(seconds).ok());
                let seconds =
                    seconds.filter(|seconds| (1..=MAX_APPROVAL_SECONDS).contains(seconds));
                let due = Problem::Expected("an integer from 1 to 86400");
                faults.take(&Place::fixed("approval_seconds"), seconds.ok_or(due))
            }
        };
        let tools = self.read_tools(object.get("tools")?, &policy_revision, faults)?;
        let mut contracts = Vec::new();
        let mut handlers = Handlers::new();
        let mut descriptions = BTreeMap::new();
        let (mut status, mut downstream_memory) = (StatusSources::new(), BTreeMap::new());
        for tool in tools {
            let name = tool.contract.name.clone();
            if let Some(source) = tool.status {
                status = status.with(name.clone(), source);
            }
            downstream_memory.extend(tool.downstream_memory.map(|memory| (name.clone(), memory)));
            handlers = handlers.with(name.clone(), tool.handler);
            descriptions.extend(tool.description.map(|text| (name, text)));
            contracts.push(tool.contract);
        }
        let registry = Registry::new(contracts)
            .map_err(|error| Problem::ExpectedThat(format!("free of repetitions: {error}")));
        let registry = faults.take(&Place::fixed("tools"), registry);
        Some(ToolsFile {
            registry: registry?,
            handlers,
            descriptions,
            rules: rules?,
            approvers,
            principal,
            approval_seconds: approval_seconds?,
            status,
            downstream_memory,
        })
    }

    fn read_tools(
        &self,
        value: &Value,
        policy_revision: &str,
        faults: &mut FaultCollector,
    ) -> Option<Vec<Tool>> {
        let path = Place::fixed("tools");
        let items = value
            .as_array()
            .filter(|items| (1..=MAX_TOOLS).contains(&items.len()));
        let due = Problem::Expected("a list of 1 to 256 tools, each under [[tools]]");
        let items = faults.take(&path, items.ok_or(due))?;
        let tools = items.iter().enumerate();
        let tools = tools
            .map(|(index, item)| self.read_tool(&path.index(index), item, policy_revision, faults));
        // Every tool is read before the first that is not in order ends the reading.
        tools.collect::<Vec<_>>().into_iter().collect()
    }

    fn read_tool(
        &self,
        path: &Place,
        value: &Value,
        policy_revision: &str,
        faults: &mut FaultCollector,
    ) -> Option<Tool> {
        let Some(object) = value.as_object() else {
            faults.push(path.clone(), Problem::NotAnObject);
            return None;
        };
        let mut document = object.clone();
        let description = document.remove("description");
        let command = document.remove("command");
        let status = document.remove("status");
        let memory = document.remove("downstream_memory_seconds");
        let memory = memory.map(|value| read_memory(path, &value, faults));
        let description_path = path.member("description");
        let description = description.and_then(|value| {
            let text = value.as_str().map(str::to_owned);
            faults.take(&description_path, text.ok_or(Problem::Expected("a string")))
        });
        if command.is_none() {
            faults.push(path.clone(), Problem::Missing("command".to_owned()));
        }
        let is_missing = command.is_none();
        let command = command.unwrap_or_default();
        let command_path = path.member("command");
        let program = self.program(&command_path, &command, faults);
        let revisions = derived_revisions(&document, &command, program.as_deref(), policy_revision);
        document.insert("revisions".to_owned(), revisions);
        let contract = read_contract(path, &document.into(), faults);
        let timeout = contract
            .as_ref()
            .map_or(Duration::from_secs(1), |contract| contract.timeout);
        let output = contract
            .as_ref()
            .map_or(1, |contract| contract.limits.bytes);
        // An answer may be written less tightly than its canonical form is.
        let bounds = |spec: CommandSpec| {
            spec.with_timeout(timeout)?
                .with_output_limit(output.saturating_mul(4).max(4096))
        };
        let handler = if is_missing {
            None
        } else {
            self.read_command(&command_path, &command, bounds, faults)
        };
        let status_path = path.member("status");
        let status = status.map(|status| self.read_command(&status_path, &status, bounds, faults));
        Some(Tool {
            contract: contract?,
            description,
            handler: handler?,
            // What could not be read has left a fault.
            status: status.flatten(),
            downstream_memory: memory.flatten(),
        })
    }

    /// The bytes of a tool's own program, where it is a file and no name that is looked up.
    fn program(
        &self,
        path: &Place,
        command: &Value,
        faults: &mut FaultCollector,
    ) -> Option<Vec<u8>> {
        let program = command.get("argv")?.as_array()?.first()?.as_str()?;
        if !program.contains('/') {
            return None;
        }
        let bytes = input::read(
            "program",
            Some(&self.directory.join(program)),
            MAX_PROGRAM_BYTES,
        );
        let bytes = bytes.map_err(|error| Problem::ExpectedThat(format!("a program: {error}")));
        faults.take(&path.member("argv").index(0), bytes)
    }

    fn read_command(
        &self,
        path: &Place,
        value: &Value,
        bounds: impl Fn(CommandSpec) -> Result<CommandSpec, CommandSpecError>,
        faults: &mut FaultCollector,
    ) -> Option<CommandHandler<SystemClock>> {
        let optional = [
            "directory",
            "environment",
            "set",
            "answers",
            "not_started_exit_codes",
        ];
        let object = faults.object_of(path, value, &["argv"], &optional)?;
        let argv = self.read_argv(&path.member("argv"), object.get("argv")?, faults);
        let directory = match object.get("directory").map(Value::as_str) {
            None => Some(self.directory.clone()),
            Some(Some(text)) => Some(self.directory.join(text)),
            Some(None) => {
                faults.push(path.member("directory"), Problem::Expected("a string"));
                None
            }
        };
        let environment = read_environment(path, object, faults);
        let answers = match object.get("answers").map(Value::as_str) {
            None | Some(Some("data")) => Some(Answers::Data),
            Some(Some("evidence")) => Some(Answers::WithEvidence),
            Some(_) => {
                faults.push(
                    path.member("answers"),
                    Problem::Expected("\"data\" or \"evidence\""),
                );
                None
            }
        };
        let codes = read_exit_codes(&path.member("not_started_exit_codes"), object, faults);
        let (argv, directory, environment) = (argv?, directory?, environment?);
        let spec = CommandSpec::new(argv)
            .and_then(|spec| spec.with_directory(directory))
            .and_then(|spec| spec.with_environment(environment))
            .and_then(bounds)
            .map_err(|error| Problem::ExpectedThat(format!("a command that can run: {error}")));
        let handler = CommandHandler::new(faults.take(path, spec)?, SystemClock)
            .answering(answers?)
            .trusting_not_started(codes?)
            .reporting_to(Box::new(report_diagnostics));
        Some(handler)
    }

    /// The program's place starts from the tools file; a bare name is looked up on the command's own `PATH`.
    fn read_argv(
        &self,
        path: &Place,
        value: &Value,
        faults: &mut FaultCollector,
    ) -> Option<Vec<OsString>> {
        let texts = read_texts(path, value, faults)?;
        let mut argv: Vec<OsString> = texts.into_iter().map(OsString::from).collect();
        if let Some(program) = argv.first_mut()
            && program.as_encoded_bytes().contains(&b'/')
        {
            *program = self.directory.join(&*program).into_os_string();
        }
        Some(argv)
    }
}

/// The longest that a downstream is trusted to remember a key: 30 days.
const MAX_MEMORY_SECONDS: u64 = 30 * 86_400;

fn read_memory(path: &Place, value: &Value, faults: &mut FaultCollector) -> Option<Duration> {
    let seconds = value
        .as_i64()
        .and_then(|seconds| u64::try_from(seconds).ok());
    let seconds = seconds.filter(|seconds| (1..=MAX_MEMORY_SECONDS).contains(seconds));
    let due = Problem::Expected("an integer from 1 to 2592000");
    let path = path.member("downstream_memory_seconds");
    faults
        .take(&path, seconds.ok_or(due))
        .map(Duration::from_secs)
}

/// Passes a tool's standard error on to the operator, each line under the tool's name, so that none can pass for ours.
fn report_diagnostics(tool: &ToolName, diagnostics: &Diagnostics) {
    let tool = Inert::beginning(tool.as_str(), 64);
    for line in diagnostics.for_operator().trim_end().lines() {
        complain(&format!("{tool} says: {}", Inert::new(line)));
    }
}

/// The variables that a command gets where the file names none.
const DEFAULT_ENVIRONMENT: [&str; 1] = ["PATH"];

/// What the command sees: the named variables of ours, and those that the file sets.
fn read_environment(
    path: &Place,
    object: &Object,
    faults: &mut FaultCollector,
) -> Option<BTreeMap<OsString, OsString>> {
    let names = match object.get("environment") {
        None => Some(DEFAULT_ENVIRONMENT.map(str::to_owned).to_vec()),
        Some(value) => read_texts(&path.member("environment"), value, faults),
    };
    let set = match object.get("set") {
        None => Some(BTreeMap::new()),
        Some(value) => read_set(&path.member("set"), value, faults),
    };
    let mut environment = BTreeMap::new();
    for name in names? {
        #[expect(
            clippy::disallowed_methods,
            reason = "the tools file names what may be passed on"
        )]
        let value = std::env::var_os(&name);
        environment.extend(value.map(|value| (OsString::from(name), value)));
    }
    environment.extend(set?);
    Some(environment)
}

fn read_set(
    path: &Place,
    value: &Value,
    faults: &mut FaultCollector,
) -> Option<BTreeMap<OsString, OsString>> {
    let set = faults.take(path, value.as_object().ok_or(Problem::NotAnObject))?;
    let variable = |(name, value): (&str, &Value)| {
        let text = value.as_str().ok_or(Problem::Expected("a string"));
        let text = faults.take(&path.member(name), text)?;
        Some((name.into(), text.into()))
    };
    // Every variable is read before the first that is not in order ends the reading.
    let variables: Vec<_> = set.iter().map(variable).collect();
    variables.into_iter().collect()
}

fn read_exit_codes(path: &Place, object: &Object, faults: &mut FaultCollector) -> Option<Vec<i32>> {
    let Some(value) = object.get("not_started_exit_codes") else {
        return Some(Vec::new());
    };
    let code = |item: &Value| {
        let code = item.as_i64().and_then(|code| i32::try_from(code).ok());
        code.filter(|code| (1..=255).contains(code))
    };
    let codes = value
        .as_array()
        .and_then(|items| items.iter().map(code).collect());
    faults.take(
        path,
        codes.ok_or(Problem::Expected("a list of exit codes from 1 to 255")),
    )
}

fn read_texts(path: &Place, value: &Value, faults: &mut FaultCollector) -> Option<Vec<String>> {
    let text = |item: &Value| item.as_str().map(str::to_owned);
    let texts = value
        .as_array()
        .and_then(|items| items.iter().map(text).collect());
    faults.take(path, texts.ok_or(Problem::Expected("a list of strings")))
}

/// The approvers, in the file's order. What is wrong with them the rule book's own reader says.
fn listed_approvers(policy: &Value) -> Vec<ApproverId> {
    let items = policy.get("approvers").and_then(Value::as_array);
    let names = items.unwrap_or_default().iter().filter_map(Value::as_str);
    names
        .filter_map(|name| ApproverId::new(name).ok())
        .collect()
}

/// The revisions that the file does not name, derived from what they stand for: change a rule, a command or a program, and
/// approvals made before are dead.
fn derived_revisions(
    document: &Object,
    command: &Value,
    program: Option<&[u8]>,
    policy_revision: &str,
) -> Value {
    let part = |name: &str| document.get(name).cloned().unwrap_or_default();
    let parts = |names: &[&str]| Value::Array(names.iter().map(|name| part(name)).collect());
    let program = program.map(sha256_hex).map(Value::from).unwrap_or_default();
    let runs = Value::Array(vec![command.clone(), program.clone()]);
    // An approval binds the effect and not the handler, and what a tool does follows from what runs.
    let derived = [
        ("input_schema", revision_of(&part("arguments"))),
        ("output_schema", revision_of(&parts(&["output", "limits"]))),
        (
            "effect",
            revision_of(&Value::Array(vec![parts(&["name", "risk"]), runs.clone()])),
        ),
        ("handler", revision_of(&runs)),
        (
            "producer",
            revision_of(&Value::Array(vec![part("source_label"), program])),
        ),
        ("policy", policy_revision.to_owned()),
    ];
    let mut revisions = match document.get("revisions") {
        None => Object::new(),
        Some(Value::Object(named)) => named.clone(),
        Some(other) => return other.clone(),
    };
    for (name, revision) in derived {
        if !revisions.contains_key(name) {
            revisions.insert(name.to_owned(), revision.into());
        }
    }
    revisions.into()
}

fn revision_of(value: &Value) -> String {
    format!("sha256:{}", digest::<Utf8>(value))
}

fn sha256_hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
