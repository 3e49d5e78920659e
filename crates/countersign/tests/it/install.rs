//! Putting Countersign in front of the servers in each client's configuration, and taking it away.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::program::{Finished, PROGRAM, countersign_with};
use crate::terminal::Session;

const SECRET: &str = "S3NTINEL-of-a-configuration";

/// What each client's own documentation shows, with what its users write beside it.
const FIXTURES: [(&str, &str, &str); 6] = [
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
        "{\n  \"globalShortcut\": \"Ctrl+Space\",\n  \"mcpServers\": {\n    \"filesystem\": {\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"@modelcontextprotocol/server-filesystem\",\n        \"/home/me/Desktop\"\n      ]\n    },\n    \"memory\": {\n      \"command\": \"uvx\"\n    }\n  }\n}",
    ),
    (
        "claude-code",
        ".claude.json",
        "{\n  \"numStartups\": 12,\n  \"oauthAccount\": {\n    \"token\": \"SECRET\"\n  },\n  \"mcpServers\": {\n    \"airtable\": {\n      \"type\": \"stdio\",\n      \"command\": \"npx\",\n      \"args\": [\"-y\", \"airtable-mcp-server\"],\n      \"env\": {\n        \"AIRTABLE_API_KEY\": \"SECRET\"\n      }\n    },\n    \"notion\": {\n      \"type\": \"http\",\n      \"url\": \"https://mcp.notion.com/mcp?key=SECRET\",\n      \"headers\": {\n        \"Authorization\": \"Bearer SECRET\"\n      }\n    }\n  }\n}\n",
    ),
    (
        "cursor",
        ".cursor/mcp.json",
        "{\"mcpServers\":{\"files\":{\"command\":\"npx\",\"args\":[\"-y\",\"files\"],\"envFile\":\".env\"},\"far\":{\"url\":\"https://example.com/mcp\",\"headers\":{\"API_KEY\":\"${env:SECRET}\"}}}}",
    ),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "{\r\n\t// What we use. SECRET\r\n\t\"inputs\": [\r\n\t\t{ \"type\": \"promptString\", \"id\": \"key\", \"password\": true },\r\n\t],\r\n\t\"servers\": {\r\n\t\t\"perplexity\": {\r\n\t\t\t\"type\": \"stdio\", // local\r\n\t\t\t\"command\": \"npx\",\r\n\t\t\t\"args\": [ \"-y\", \"server-perplexity-ask\", ],\r\n\t\t\t\"env\": { \"KEY\": \"${input:key}SECRET\" },\r\n\t\t},\r\n\t\t\"github\": {\r\n\t\t\t\"type\": \"http\",\r\n\t\t\t\"url\": \"https://api.githubcopilot.com/mcp\",\r\n\t\t},\r\n\t},\r\n}\r\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "model = \"gpt-5\" # SECRET\n\n# Servers\n[mcp_servers.context7]\ncommand = \"npx\"\nargs = [\"-y\", \"@upstash/context7-mcp\"] # pinned\nstartup_timeout_sec = 20\n\n[mcp_servers.context7.env]\nMY_ENV_VAR = \"SECRET\"\n\n[mcp_servers.figma]\nurl = \"https://mcp.figma.com/mcp\"\nhttp_headers = { \"X-Figma-Region\" = \"SECRET\" }\n\n[profiles.fast]\nmodel = 'SECRET'\n",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "{\n  \"theme\": \"Dracula\", // SECRET\n  \"mcpServers\": {\n    \"git\": {\n      \"command\": \"uvx\",\n      \"args\": [\"mcp-server-git\"],\n      \"cwd\": \"./work\",\n      \"trust\": false\n    },\n    \"far\": {\n      \"httpUrl\": \"https://example.com/mcp\",\n      \"headers\": { \"Authorization\": \"SECRET\" },\n      \"timeout\": 5000\n    }\n  }\n}\n",
    ),
];

/// What `uvx` runs may be gone tomorrow; what is named by the user is named all the same.
#[test]
#[expect(clippy::disallowed_methods, reason = "the program is what is tested")]
fn a_program_in_a_cache_is_not_written_into_a_configuration() {
    let home = Home::new();
    home.write(".cursor/mcp.json", FIXTURES[2].2);
    let cached = home.path(".cache/uv/archive-v0/VSm5e0sd/bin/countersign");
    fs::create_dir_all(cached.parent().unwrap()).unwrap();
    fs::copy(PROGRAM, &cached).unwrap();
    let install = |options: &[&str]| {
        let run = Command::new(&cached)
            .args(["install", "cursor", "--all", "--dry-run"])
            .args(options)
            .env_clear()
            .env("HOME", home.directory.path())
            .output()
            .unwrap();
        let stderr = String::from_utf8(run.stderr).unwrap();
        (run.status.code(), stderr)
    };
    let (code, stderr) = install(&[]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("uv tool install"), "{stderr}");
    let (code, stderr) = install(&["--program", cached.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{stderr}");
}

/// Clients start programs with an environment of their own choice.
#[test]
fn data_that_clients_may_not_find_is_told_of() {
    let home = Home::new();
    home.write(".cursor/mcp.json", FIXTURES[2].2);
    let usual = home.path(".local/share");
    let install = |data: &str| {
        let variables = [
            ("HOME", home.directory.path().to_str().unwrap()),
            ("XDG_DATA_HOME", data),
        ];
        let arguments = [
            "install",
            "cursor",
            "--all",
            "--dry-run",
            "--program",
            PROGRAM,
        ];
        countersign_with(&arguments, b"", &variables).stderr
    };
    assert!(install("/srv/data").contains("XDG_DATA_HOME is set here"));
    assert!(!install(usual.to_str().unwrap()).contains("XDG_DATA_HOME"));
}

struct Home {
    directory: TempDir,
}

impl Home {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let text = text.replace("SECRET", SECRET);
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), &text).unwrap();
        text
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        let home = self.directory.path().to_str().unwrap();
        let data = format!("{home}/.local/share");
        countersign_with(arguments, b"", &[("HOME", home), ("XDG_DATA_HOME", &data)])
    }

    fn session(&self, arguments: &[&str]) -> Session<'static> {
        Session::new(arguments).with_variable("HOME", self.directory.path().to_str().unwrap())
    }
}

#[test]
fn every_client_s_servers_are_wrapped_and_unwrapped_to_the_byte() {
    for (client, name, text) in FIXTURES {
        let home = Home::new();
        let before = home.write(name, text);
        fs::set_permissions(home.path(name), fs::Permissions::from_mode(0o640)).unwrap();
        let install = ["install", client, "--all", "--program", PROGRAM];

        let dry = home.run(&[&install[..], &["--dry-run"]].concat());
        assert_eq!(dry.code, 0, "{}", dry.stderr);
        assert_eq!(home.read(name), before);
        let shown = dry.stdout.replace(PROGRAM, "/bin/countersign");
        insta::assert_snapshot!(format!("install-{client}"), shown);

        let made = home.run(&[&install[..], &["--yes"]].concat());
        assert_eq!(
            (made.code, &made.stdout),
            (0, &dry.stdout),
            "{}",
            made.stderr
        );
        let wrapped = home.read(name);
        assert_ne!(wrapped, before);
        let backup = format!("{name}.countersign-backup-1");
        assert_eq!(home.read(&backup), before);
        let mode_of =
            |name: &str| fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode_of(name), mode_of(&backup)), (0o640, 0o600));

        let again = home.run(&[&install[..], &["--yes"]].concat());
        assert_eq!((again.code, again.stdout.as_str()), (0, ""));
        assert_eq!(home.read(name), wrapped);

        let ended = home
            .session(&["uninstall", client])
            .answering("yes\n")
            .run();
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert_eq!(home.read(name), before);
        for said in [
            &dry.stdout,
            &made.stderr,
            &again.stderr,
            &ended.terminal,
            &ended.stderr,
        ] {
            assert!(!said.contains(SECRET), "{said}");
        }
        let left = fs::read_dir(home.path(name).parent().unwrap()).unwrap();
        let drafts = left.filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_string_lossy().ends_with(".countersign")
        });
        assert_eq!(drafts.count(), 0);
    }
}

#[test]
fn nobody_but_a_person_on_the_terminal_takes_protection_away() {
    let home = Home::new();
    let (client, name, text) = FIXTURES[0];
    home.write(name, text);
    assert_eq!(home.run(&["install", client, "--all", "--yes"]).code, 0);
    let wrapped = home.read(name);
    let refused = home
        .session(&["uninstall", client])
        .reading("yes\n")
        .without_terminal()
        .run();
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("there is no terminal to ask on"),
        "{}",
        refused.stderr
    );
    let denied = home.session(&["uninstall", client]).answering("no\n").run();
    assert_eq!(denied.code, 1);
    assert_eq!(home.run(&["uninstall", client, "--yes"]).code, 2);
    assert_eq!(home.read(name), wrapped);
}

#[test]
fn installing_asks_unless_it_is_told_not_to() {
    let home = Home::new();
    let (client, name, text) = FIXTURES[0];
    let before = home.write(name, text);
    let denied = home
        .session(&["install", client, "--all"])
        .answering("n\n")
        .run();
    assert_eq!((denied.code, home.read(name)), (1, before));
    let agreed = home
        .session(&["install", client, "--server", "memory"])
        .answering("yes\n")
        .run();
    assert_eq!(agreed.code, 0, "{}", agreed.stderr);
    assert_eq!(home.read(name).matches("\"wrap\"").count(), 1);
}

#[test]
fn a_link_stays_a_link() {
    let home = Home::new();
    let (client, name, text) = FIXTURES[2];
    home.write("dotfiles/mcp.json", text);
    fs::create_dir_all(home.path(".cursor")).unwrap();
    symlink("../dotfiles/mcp.json", home.path(name)).unwrap();
    assert_eq!(home.run(&["install", client, "--all", "--yes"]).code, 0);
    assert!(fs::symlink_metadata(home.path(name)).unwrap().is_symlink());
    assert!(home.read("dotfiles/mcp.json").contains("\"wrap\""));
    assert!(home.path("dotfiles/mcp.json.countersign-backup-1").exists());
}

#[test]
fn what_cannot_be_done_is_refused_with_what_to_do() {
    let home = Home::new();
    let mut said = Vec::new();
    let mut note = |what: &str, finished: Finished| {
        said.push(format!("{what}: {}\n{}", finished.code, finished.stderr));
    };
    note("no file", home.run(&["install", "cursor"]));
    let (client, name, text) = FIXTURES[1];
    home.write(name, text);
    note("several servers", home.run(&["install", client]));
    note(
        "unknown server",
        home.run(&["install", client, "--server", "x\u{1b}"]),
    );
    note(
        "relative program",
        home.run(&["install", client, "--all", "--program", "countersign"]),
    );
    note(
        "other program",
        home.run(&["install", client, "--all", "--program", "/bin/sh"]),
    );
    note(
        "no project",
        home.run(&["install", "claude-desktop", "--project"]),
    );
    home.write(name, "{\n  \"mcpServers\": {\n    // SECRET\n  }\n}");
    note("comment in strict JSON", home.run(&["install", client]));
    home.write(
        name,
        "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"command\": \"SECRET\"}}}",
    );
    note("a member twice", home.run(&["install", client]));
    home.write(name, "{\"mcpServers\": [\"SECRET\"]}");
    note("no object", home.run(&["install", client]));
    home.write(".codex/config.toml", "[mcp_servers.a]\ncommand = SECRET\n");
    note("no TOML", home.run(&["install", "codex"]));
    home.write(
        name,
        "{\"mcpServers\": {\"a\": {\"type\": \"sse\", \"url\": \"https://example.com/SECRET\"}}}",
    );
    note("not to be wrapped", home.run(&["install", client, "--all"]));
    note(
        "not to be wrapped, named",
        home.run(&["install", client, "--server", "a"]),
    );
    let said = said.join("\n");
    assert!(!said.contains(SECRET), "{said}");
    insta::assert_snapshot!(said);
}
