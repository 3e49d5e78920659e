//! Servers that people use: what they are asked, and what a write of theirs leaves behind.

use std::process::Command;

use serde_json::json;

use crate::program::{PROGRAM, data_directory};
use crate::real_client::{PYTHON_1, PYTHON_2, Step, node_program, python_program};
use crate::workplace::Workplace;

/// A server on a workplace.
pub(crate) struct RealServer {
    /// The command that starts it, or its address alone.
    pub(crate) command: Vec<String>,
    /// What `--read` has to name, since the server's hints do not.
    pub(crate) read: &'static str,
    /// Requests that change nothing.
    pub(crate) reads: Vec<Step>,
    pub(crate) write: Option<Write>,
}

/// A call that changes something.
pub(crate) struct Write {
    pub(crate) call: Step,
    /// How often it has been carried out, as far as can be seen.
    pub(crate) count: fn(&Workplace) -> usize,
    /// Takes away what it did where doing it twice would look like doing it once.
    pub(crate) undo: fn(&Workplace),
}

impl RealServer {
    /// The command that starts us in front of it.
    pub(crate) fn wrapped(&self, place: &Workplace, options: &[&str]) -> Vec<String> {
        let (ledger, pins) = (place.ledger(), place.at("pins"));
        // Not every client passes on its environment.
        let data = format!("XDG_DATA_HOME={}", data_directory());
        ["env", &data, PROGRAM, "wrap"]
            .into_iter()
            .chain(["--ledger", &ledger, "--pins", &pins])
            .chain(["--server", "real", "--read", self.read])
            .chain(options.iter().copied())
            .chain([if self.command[0].starts_with("http") {
                "--url"
            } else {
                "--"
            }])
            .chain(self.command.iter().map(String::as_str))
            .map(str::to_owned)
            .collect()
    }
}

pub(crate) fn filesystem(place: &Workplace) -> RealServer {
    let mut command = node_program("mcp-server-filesystem").to_vec();
    command.push(place.at("root"));
    let call = |name: &str, path: &str| {
        (
            "tools/call",
            json!({"name": name, "arguments": {"path": place.at(path)}}),
        )
    };
    RealServer {
        command,
        read: "",
        reads: vec![
            ("tools/list", json!({})),
            call("read_text_file", "root/today.md"),
            call("list_directory", "root"),
            call("read_text_file", "root/none"),
        ],
        write: Some(Write {
            call: (
                "tools/call",
                json!({"name": "write_file", "arguments": {"path": place.at("root/made"), "content": "once\n"}}),
            ),
            count: |place| usize::from(place.path("root/made").exists()),
            undo: |place| std::fs::remove_file(place.path("root/made")).unwrap(),
        }),
    }
}

pub(crate) fn memory(place: &Workplace) -> RealServer {
    let entity =
        |name: &str| json!({"name": name, "entityType": "plant", "observations": ["likes water"]});
    let stored = json!({"type": "entity", "name": "fern", "entityType": "plant", "observations": ["likes shade"]});
    place.write("root/memory.jsonl", &format!("{stored}\n"));
    let file = format!("MEMORY_FILE_PATH={}", place.at("root/memory.jsonl"));
    let mut command = vec!["env".to_owned(), file];
    command.extend(node_program("mcp-server-memory"));
    RealServer {
        command,
        read: "",
        reads: vec![
            ("tools/list", json!({})),
            (
                "tools/call",
                json!({"name": "search_nodes", "arguments": {"query": "shade"}}),
            ),
            ("tools/call", json!({"name": "read_graph", "arguments": {}})),
        ],
        write: Some(Write {
            call: (
                "tools/call",
                json!({"name": "create_entities", "arguments": {"entities": [entity("moss"), entity("ivy")]}}),
            ),
            count: |place| place.read("root/memory.jsonl").matches("moss").count(),
            undo: |place| place.write("root/memory.jsonl", ""),
        }),
    }
}

pub(crate) fn git(place: &Workplace) -> RealServer {
    let repository = place.at("root");
    run_git(&repository, &["init", "--quiet"]);
    run_git(&repository, &["config", "user.name", "t"]);
    run_git(&repository, &["config", "user.email", "t@example.com"]);
    run_git(&repository, &["add", "today.md"]);
    run_git(&repository, &["commit", "--quiet", "-m", "first"]);
    place.write("root/more.md", "Turn the pots.\n");
    run_git(&repository, &["add", "more.md"]);
    let call = |name: &str, arguments: serde_json::Value| {
        let mut arguments = arguments;
        arguments["repo_path"] = repository.as_str().into();
        ("tools/call", json!({"name": name, "arguments": arguments}))
    };
    RealServer {
        command: vec![
            python_program(PYTHON_2, "mcp-server-git"),
            "--repository".to_owned(),
            repository.clone(),
        ],
        read: "git_status,git_diff*,git_log",
        reads: vec![
            ("tools/list", json!({})),
            call("git_status", json!({})),
            call("git_log", json!({"max_count": 3})),
        ],
        write: Some(Write {
            call: call("git_commit", json!({"message": "made once"})),
            count: |place| {
                run_git(&place.at("root"), &["log", "--format=%s"])
                    .matches("made once")
                    .count()
            },
            undo: |place| {
                run_git(&place.at("root"), &["reset", "--soft", "HEAD~1"]);
            },
        }),
    }
}

pub(crate) fn time(_place: &Workplace) -> RealServer {
    RealServer {
        command: vec![
            python_program(PYTHON_2, "mcp-server-time"),
            "--local-timezone=Etc/UTC".to_owned(),
        ],
        read: "*",
        reads: vec![
            ("tools/list", json!({})),
            (
                "tools/call",
                json!({"name": "convert_time", "arguments": {"source_timezone": "Asia/Tokyo", "time": "10:30", "target_timezone": "Etc/UTC"}}),
            ),
            (
                "tools/call",
                json!({"name": "convert_time", "arguments": {"source_timezone": "Nowhere", "time": "10:30", "target_timezone": "Etc/UTC"}}),
            ),
        ],
        write: None,
    }
}

pub(crate) fn sqlite(place: &Workplace) -> RealServer {
    let database = place.at("root/plants.db");
    query(place, "CREATE TABLE plants (name TEXT)");
    let call = |name: &str, query: &str| {
        (
            "tools/call",
            json!({"name": name, "arguments": {"query": query}}),
        )
    };
    RealServer {
        command: vec![
            python_program(PYTHON_1, "mcp-server-sqlite"),
            "--db-path".to_owned(),
            database,
        ],
        read: "read_query,list_tables,describe_table",
        reads: vec![
            ("tools/list", json!({})),
            ("resources/list", json!({})),
            ("resources/read", json!({"uri": "memo://insights"})),
            ("prompts/list", json!({})),
            call("read_query", "SELECT count(*) FROM plants"),
            call("read_query", "SELECT * FROM stones"),
        ],
        write: Some(Write {
            call: call("write_query", "INSERT INTO plants VALUES ('moss')"),
            count: |place| query(place, "SELECT * FROM plants").lines().count(),
            undo: |_| {},
        }),
    }
}

/// It notes lines down, and may hold back what came of it.
pub(crate) fn noting(place: &Workplace) -> RealServer {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/noting_server.py");
    RealServer {
        command: vec![
            python_program(PYTHON_2, "python"),
            script.to_owned(),
            place.at("root/lines"),
        ],
        read: "",
        reads: vec![
            ("tools/list", json!({})),
            ("tools/call", json!({"name": "count", "arguments": {}})),
        ],
        write: Some(Write {
            call: (
                "tools/call",
                json!({"name": "note", "arguments": {"text": "once"}}),
            ),
            count: |place| place.read("root/lines").lines().count(),
            undo: |_| {},
        }),
    }
}

/// The same at an address.
pub(crate) fn noting_at(port: u16) -> RealServer {
    RealServer {
        command: vec![format!("http://127.0.0.1:{port}/mcp")],
        ..noting(&Workplace::new())
    }
}

/// It has a tool, a resource or a prompt for everything that the protocol can carry.
pub(crate) fn everything(_place: &Workplace) -> RealServer {
    let mut command = node_program("mcp-server-everything").to_vec();
    command.push("stdio".to_owned());
    let call = |name: &str, arguments: serde_json::Value| {
        ("tools/call", json!({"name": name, "arguments": arguments}))
    };
    RealServer {
        command,
        read: "",
        reads: vec![
            ("tools/list", json!({})),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("prompts/list", json!({})),
            ("prompts/get", json!({"name": "simple-prompt"})),
            (
                "resources/read",
                json!({"uri": "demo://resource/static/document/features.md"}),
            ),
            call("echo", json!({"message": "ä \u{1F331} \u{0}"})),
            call("get-tiny-image", json!({})),
            call("get-structured-content", json!({"location": "Chicago"})),
            call(
                "get-annotated-message",
                json!({"messageType": "error", "includeImage": true}),
            ),
            call("get-sum", json!({"a": 1, "b": 2})),
            call("get-sum", json!({"a": "no number"})),
        ],
        write: None,
    }
}

#[expect(clippy::disallowed_methods, reason = "a repository is made by git")]
fn run_git(repository: &str, arguments: &[&str]) -> String {
    let run = Command::new("git")
        .args(["-C", repository])
        .args(arguments)
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    String::from_utf8(run.stdout).unwrap()
}

/// Asks the database without the server.
#[expect(clippy::disallowed_methods, reason = "Python has SQLite with it")]
fn query(place: &Workplace, query: &str) -> String {
    let program = "import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as db:\n for row in db.execute(sys.argv[2]): print(*row)";
    let run = Command::new("python3")
        .args(["-c", program, &place.at("root/plants.db"), query])
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    String::from_utf8(run.stdout).unwrap()
}
