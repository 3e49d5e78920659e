//! A directory with tools, a root that they work in, and responses.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

pub(crate) const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// What a broken tool says, for the operator only.
pub(crate) const SENTINEL: &str = "S3NTINEL-of-standard-error";
/// What a tool is given in a variable.
pub(crate) const SET_SENTINEL: &str = "S3NTINEL-of-a-variable";

const TOOLS: &str = r#"
approval_seconds = 600

[principal]
tenant_id = "local"
subject_id = "agent"
roles = ["writer"]

[policy]
approvers = ["operator"]

[[policy.rules]]
effect = "permit"
tools = ["read_file", "broken"]

[[policy.rules]]
effect = "permit"
tools = ["write_file", "note"]
approval = "person"

[[tools]]
name = "read_file"
risk = "read"
source_label = "workspace"
timeout_ms = 60_000
limits = { output_bytes = 10_000, output_depth = 1 }
command = { argv = ["EXAMPLES/tools/read_file.py", "--root", "root"] }
arguments.path = { type = "string", min_length = 1 }
[tools.output]
path = { type = "string", equals_argument = "path" }
text = { type = "string" }
bytes = { type = "integer" }
sha256 = { type = "string" }

[[tools]]
name = "write_file"
description = "Writes a file."
risk = "write"
source_label = "workspace"
timeout_ms = 60_000
limits = { output_bytes = 4_096, output_depth = 1 }
command = { argv = ["EXAMPLES/tools/write_file.py", "--root", "root"], not_started_exit_codes = [64, 65, 75] }
[tools.arguments]
path = { type = "string", min_length = 1 }
text = { type = "string" }
mode = { type = "string", enum = ["create", "replace"] }
[tools.output]
path = { type = "string", equals_argument = "path" }
mode = { type = "string", equals_argument = "mode" }
bytes = { type = "integer" }
sha256 = { type = "string" }

[[tools]]
name = "note"
description = "Adds a line to the notes."
risk = "write"
source_label = "notes"
timeout_ms = 60_000
limits = { output_bytes = 100, output_depth = 1 }
command = { argv = ["./note.sh"] }
arguments.text = { type = "string" }
output.noted = { type = "boolean" }

[[tools]]
name = "broken"
risk = "read"
source_label = "workspace"
timeout_ms = 60_000
limits = { output_bytes = 100, output_depth = 1 }
command = { argv = ["./broken.sh"], set = { TOKEN = "SET_SENTINEL" } }
arguments = {}
output = {}
"#;

/// The notes are what `note` has done, a line for each time.
const NOTE: &str = "#!/bin/sh\ncat >> root/notes\necho >> root/notes\necho '{\"noted\": true}'\n";

const BROKEN: &str = "#!/bin/sh\nprintf \"SENTINEL $TOKEN \\033[2Jend\\n\" >&2\necho \"$TOKEN\" > root/token\nexit 3\n";

pub(crate) struct Workplace {
    directory: TempDir,
}

impl Workplace {
    pub(crate) fn new() -> Self {
        let place = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(place.path("root")).unwrap();
        place.write("root/today.md", "Water the plants.\n");
        let tools = TOOLS
            .replace("EXAMPLES", EXAMPLES)
            .replace("SET_SENTINEL", SET_SENTINEL);
        place.write("tools.toml", &tools);
        place.write_program("note.sh", NOTE);
        place.write_program("broken.sh", &BROKEN.replace("SENTINEL", SENTINEL));
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The path as an argument.
    pub(crate) fn at(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// What `note` has done.
    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = fs::read_to_string(self.path("root/notes")).unwrap_or_default();
        notes.lines().map(str::to_owned).collect()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn write_program(&self, name: &str, text: &str) {
        self.write(name, text);
        self.set_mode(name, 0o755);
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        mode_of(&self.path(name))
    }

    /// Changes one text of the tools file, which has to be there.
    pub(crate) fn edit_tools(&self, was: &str, is: &str) {
        let tools = self.read("tools.toml");
        assert!(tools.contains(was), "{was}");
        self.write("tools.toml", &tools.replacen(was, is, 1));
    }

    /// The workplace's own ledger.
    pub(crate) fn ledger(&self) -> String {
        format!("sqlite:{}", self.at("ledger.db"))
    }

    /// The arguments of a turn over the response.
    pub(crate) fn turn(&self, response: &str, options: &[&str]) -> Vec<String> {
        self.write("response.json", response);
        let mut arguments = vec![
            "turn".to_owned(),
            "--tools".to_owned(),
            self.at("tools.toml"),
            "--ledger".to_owned(),
            self.ledger(),
        ];
        arguments.extend(options.iter().map(|text| (*text).to_owned()));
        arguments.push(self.at("response.json"));
        arguments
    }
}

pub(crate) fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

pub(crate) fn texts(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// The handle of the first write that is said to wait for a decision.
pub(crate) fn waiting_handle(stderr: &str) -> String {
    let (_, rest) = stderr
        .split_once("waits for a decision: countersign approvals show ")
        .expect(stderr);
    rest.lines().next().unwrap().to_owned()
}
