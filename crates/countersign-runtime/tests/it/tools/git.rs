//! `git_log.py`, `git_show.py`, `git_commit.py`, with real repositories.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use countersign_runtime::command::Exit;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Tool;

/// A root with one repository of two commits.
struct Workshop {
    directory: TempDir,
}

impl Workshop {
    fn new() -> Self {
        let workshop = Self {
            directory: TempDir::new().unwrap(),
        };
        fs::create_dir_all(workshop.repository().join("src")).unwrap();
        workshop.git(&["init", "--quiet", "--initial-branch=main"]);
        for (text, subject) in [("one\n", "First: größer"), ("two\n", "Second")] {
            fs::write(workshop.repository().join("src/file.txt"), text).unwrap();
            workshop.git(&["add", "."]);
            workshop.git(&["commit", "--quiet", "-m", subject, "-m", "With a body."]);
        }
        workshop
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    fn repository(&self) -> PathBuf {
        self.root().join("repository")
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(&self.repository(), arguments)
    }

    fn tool(&self, name: &str) -> Tool {
        Tool::beneath(name, self.root())
    }

    fn committer(&self) -> Tool {
        self.tool("git_commit")
            .with_option("--author-name", "Desk")
            .with_option("--author-email", "desk@example.com")
    }

    /// Configures the repository so that git would leave a mark whenever it ran somebody's program.
    fn lay_traps(&self) -> PathBuf {
        let mark = self.root().join("mark");
        let trap = self.root().join("trap.sh");
        fs::write(&trap, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).unwrap();
        fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
        let trap = trap.to_str().unwrap();
        for name in [
            "core.pager",
            "core.fsmonitor",
            "core.editor",
            "diff.external",
            "diff.trapped.textconv",
            "gpg.program",
            "pager.log",
            "pager.show",
            "sequence.editor",
        ] {
            self.git(&["config", name, trap]);
        }
        self.git(&["config", "log.showSignature", "true"]);
        self.git(&["config", "commit.gpgSign", "true"]);
        fs::write(
            self.repository().join(".git/info/attributes"),
            "* diff=trapped\n",
        )
        .unwrap();
        let hooks = self.repository().join(".git/hooks");
        fs::create_dir_all(&hooks).unwrap();
        for hook in [
            "pre-commit",
            "commit-msg",
            "post-commit",
            "reference-transaction",
            "post-index-change",
        ] {
            let _ = fs::remove_file(hooks.join(hook));
            symlink(trap, hooks.join(hook)).unwrap();
        }
        mark
    }
}

fn git(directory: &Path, arguments: &[&str]) -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test prepares its repository"
    )]
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.org",
            "-c",
            "commit.gpgSign=false",
        ])
        .args([
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.fsmonitor=false",
        ])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .unwrap()
        .trim_end()
        .to_owned()
}

fn commit(paths: &[&str], message: &str) -> Value {
    json!({"repository": "repository", "paths": paths, "message": message})
}

const BAD_REVISIONS: [&str; 12] = [
    "--output=stolen",
    "-n1",
    "--all",
    "HEAD..main",
    "^HEAD",
    ":/First",
    "HEAD:src/file.txt",
    "main@{upstream}",
    "no-such",
    "",
    "HEAD main",
    "$(touch stolen)",
];

#[test]
fn lists_commits() {
    let workshop = Workshop::new();
    let log = workshop.tool("git_log");
    let answer = log.answer(&json!({"repository": "repository"}));
    let commits = answer["commits"].as_array().unwrap();
    assert_eq!(commits.len(), 2);
    assert_eq!(commits[0]["commit"], workshop.git(&["rev-parse", "HEAD"]));
    assert_eq!(commits[1]["subject"], "First: größer");
    assert_eq!(commits[1]["author"], "Ada <ada@example.org>");
    assert_eq!(answer["complete"], true);

    let one = log.answer(&json!({"repository": "repository", "max_count": 1}));
    assert_eq!(
        (one["commits"].as_array().unwrap().len(), &one["complete"]),
        (1, &json!(false))
    );
    let first = log.answer(&json!({"repository": "repository", "revision": "main~1"}));
    assert_eq!(first["commits"][0]["subject"], "First: größer");
    let elsewhere = log.answer(&json!({"repository": "repository", "path": "src/other"}));
    assert_eq!(elsewhere["commits"], json!([]));
}

#[test]
fn shows_one_commit() {
    let workshop = Workshop::new();
    let show = workshop.tool("git_show");
    let answer = show.answer(&json!({"repository": "repository"}));
    assert_eq!(answer["message"], "Second\n\nWith a body.");
    let patch = answer["patch"].as_str().unwrap();
    assert!(patch.ends_with("@@ -1 +1 @@\n-one\n+two\n"), "{patch}");
    assert_eq!(
        (&answer["complete"], &answer["exact"]),
        (&json!(true), &json!(true))
    );

    let cut = show
        .with_option("--max-bytes", "40")
        .answer(&json!({"repository": "repository"}));
    assert_eq!(cut["complete"], false);
    assert!(patch.starts_with(cut["patch"].as_str().unwrap()), "{cut}");

    fs::write(workshop.repository().join("src/file.txt"), b"caf\xe9\n").unwrap();
    workshop.git(&["commit", "--quiet", "-am", "Latin"]);
    let latin = workshop
        .tool("git_show")
        .answer(&json!({"repository": "repository"}));
    assert_eq!(latin["exact"], false);
}

#[test]
fn git_runs_nobody_elses_program() {
    let workshop = Workshop::new();
    let mark = workshop.lay_traps();
    let bend = |tool: Tool| {
        tool.with_variable("GIT_DIR", "/nonexistent")
            .with_variable("GIT_EXTERNAL_DIFF", workshop.root().join("trap.sh"))
            .with_variable("GIT_PAGER", workshop.root().join("trap.sh"))
            .with_variable("GIT_CONFIG_PARAMETERS", "'alias.log'='!false'")
    };
    bend(workshop.tool("git_log")).answer(&json!({"repository": "repository"}));
    bend(workshop.tool("git_show")).answer(&json!({"repository": "repository"}));
    fs::write(workshop.repository().join("src/file.txt"), "three\n").unwrap();
    bend(workshop.committer()).answer(&commit(&["src/file.txt"], "Third"));
    assert!(!mark.exists());
}

#[test]
fn reads_no_other_repository_and_takes_no_options() {
    let workshop = Workshop::new();
    git(workshop.root(), &["init", "--quiet", "outside"]);
    fs::create_dir(workshop.root().join("root")).unwrap();
    symlink("../repository", workshop.root().join("root/link")).unwrap();
    fs::create_dir(workshop.root().join("root/pointer")).unwrap();
    fs::write(
        workshop.root().join("root/pointer/.git"),
        "gitdir: ../../repository/.git\n",
    )
    .unwrap();
    fs::create_dir(workshop.root().join("root/plain")).unwrap();

    let inside = workshop.root().join("root");
    for name in ["git_log", "git_show"] {
        for repository in [
            "../repository",
            "link",
            "pointer",
            "plain",
            ".",
            "absent",
            "/",
        ] {
            Tool::beneath(name, &inside).refuses(&json!({"repository": repository}).to_string());
        }
        let tool = workshop.tool(name);
        for revision in BAD_REVISIONS {
            tool.refuses(&json!({"repository": "repository", "revision": revision}).to_string());
        }
        tool.refuses(&json!({"repository": "outside"}).to_string());
        tool.answer(&json!({"repository": "repository", "path": ":(top)--output=stolen"}));
    }
    assert!(!workshop.repository().join("stolen").exists());
}

#[test]
fn commits_exactly_the_named_files() {
    let workshop = Workshop::new();
    let repository = workshop.repository();
    let before = workshop.git(&["rev-parse", "HEAD"]);
    fs::write(repository.join("src/file.txt"), "three\n").unwrap();
    fs::write(repository.join("new *.txt"), "new\n").unwrap();
    fs::write(repository.join("new x.txt"), "not meant\n").unwrap();
    fs::write(repository.join("staged.txt"), "staged by somebody\n").unwrap();
    workshop.git(&["add", "staged.txt"]);

    let message = "-F/etc/passwd\n\nBody: ü";
    let answer = workshop
        .committer()
        .answer(&commit(&["src/file.txt", "new *.txt"], message));
    let head = workshop.git(&["rev-parse", "HEAD"]);
    assert_eq!(
        answer,
        json!({"commit": head, "parent": before, "paths": ["src/file.txt", "new *.txt"], "index_updated": true})
    );
    let changed = workshop.git(&["diff-tree", "--no-commit-id", "--name-only", "-r", "HEAD"]);
    assert_eq!(changed, "new *.txt\nsrc/file.txt");
    assert_eq!(
        workshop.git(&["show", "--no-patch", "--format=%an <%ae>%n%B"]),
        format!("Desk <desk@example.com>\n{message}")
    );
    assert_eq!(workshop.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(
        workshop.git(&["status", "--porcelain"]),
        "A  staged.txt\n?? \"new x.txt\""
    );

    fs::remove_file(repository.join("src/file.txt")).unwrap();
    workshop
        .committer()
        .answer(&commit(&["src/file.txt"], "Delete"));
    assert_eq!(
        workshop.git(&["diff-tree", "--no-commit-id", "--name-status", "-r", "HEAD"]),
        "D\tsrc/file.txt"
    );
}

#[test]
fn makes_a_first_commit() {
    let directory = TempDir::new().unwrap();
    git(
        directory.path(),
        &["init", "--quiet", "--initial-branch=main"],
    );
    fs::write(directory.path().join("file"), "one\n").unwrap();
    let tool = Tool::beneath("git_commit", directory.path())
        .with_option("--author-name", "Desk")
        .with_option("--author-email", "desk@example.com");
    let answer = tool.answer(&json!({"paths": ["file"], "message": "First"}));
    assert_eq!(answer["parent"], "");
    assert_eq!(git(directory.path(), &["status", "--porcelain"]), "");
}

#[test]
fn refuses_to_commit_what_is_not_meant() {
    let workshop = Workshop::new();
    let repository = workshop.repository();
    fs::write(repository.join(".gitignore"), "ignored\n").unwrap();
    fs::write(repository.join("ignored"), "x").unwrap();
    fs::write(repository.join("new"), "x").unwrap();
    symlink("src", repository.join("link")).unwrap();
    let before = (
        workshop.git(&["rev-parse", "HEAD"]),
        workshop.git(&["status", "--porcelain"]),
    );
    let tool = workshop.committer();
    for paths in [
        &[][..],
        &["src"],
        &["."],
        &["absent"],
        &["ignored"],
        &["../repository/new"],
        &[".git/config"],
        &["link/file.txt"],
        &["*"],
        &["-A"],
        &[":/"],
        &["src/file.txt"],
        &["new", "absent"],
    ] {
        tool.refuses(&commit(paths, "Message").to_string());
    }
    tool.refuses(&commit(&["new"], " \n").to_string());
    fs::write(repository.join(".git/MERGE_HEAD"), &before.0).unwrap();
    tool.refuses(&commit(&["new"], "Message").to_string());
    fs::remove_file(repository.join(".git/MERGE_HEAD")).unwrap();
    let after = (
        workshop.git(&["rev-parse", "HEAD"]),
        workshop.git(&["status", "--porcelain"]),
    );
    assert_eq!(before, after);
}

#[test]
fn a_held_lock_is_later_or_only_the_index() {
    let workshop = Workshop::new();
    let repository = workshop.repository();
    fs::write(repository.join("new"), "x").unwrap();
    let before = workshop.git(&["rev-parse", "HEAD"]);
    let branch_lock = repository.join(".git/refs/heads/main.lock");
    fs::write(&branch_lock, "").unwrap();
    let later = commit(&["new"], "Message").to_string();
    workshop
        .committer()
        .ends_with(Exit::TEMPORARY_FAILURE, &later);
    assert_eq!(workshop.git(&["rev-parse", "HEAD"]), before);
    fs::remove_file(branch_lock).unwrap();

    // Made all the same: the commit does not depend on the index.
    fs::write(repository.join(".git/index.lock"), "").unwrap();
    let answer = workshop.committer().answer(&commit(&["new"], "Message"));
    assert_eq!(answer["index_updated"], false);
    assert_eq!(answer["parent"], before);
}

#[test]
fn a_branch_that_moves_meanwhile_is_left_alone() {
    let workshop = Workshop::new();
    let first = workshop.git(&["rev-parse", "HEAD~1"]);
    // While the commit is prepared, a filter of the repository's owner moves the branch.
    let mover = format!("git update-ref refs/heads/main {first}; cat");
    workshop.git(&["config", "filter.mover.clean", &mover]);
    fs::write(
        workshop.repository().join(".git/info/attributes"),
        "new filter=mover\n",
    )
    .unwrap();
    fs::write(workshop.repository().join("new"), "x").unwrap();
    workshop.committer().ends_with(
        Exit::TEMPORARY_FAILURE,
        &commit(&["new"], "Message").to_string(),
    );
    assert_eq!(workshop.git(&["rev-parse", "main"]), first);
}
