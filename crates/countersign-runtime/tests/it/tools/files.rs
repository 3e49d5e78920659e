//! `read_file.py`, `list_files.py`, `write_file.py`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use super::Tool;

/// A root with a secret beside it, and ways that lead there.
fn root() -> (TempDir, std::path::PathBuf) {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join("root");
    fs::create_dir_all(root.join("notes/.git")).unwrap();
    fs::write(directory.path().join("secret"), "hunter2").unwrap();
    fs::write(root.join("notes/today.txt"), "Grüße\n").unwrap();
    symlink("../secret", root.join("link")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("notes", root.join("inside")).unwrap();
    (directory, root)
}

const WAYS_OUT: [&str; 15] = [
    "../secret",
    "notes/../../secret",
    "/etc/passwd",
    "link",
    "up/secret",
    "inside/today.txt",
    "",
    ".",
    "./notes/today.txt",
    "notes//today.txt",
    "notes/",
    "notes/today.txt/",
    "notes/today.txt/x",
    "notes/\u{0}",
    "notes",
];

#[test]
fn reads_text_beneath_the_root() {
    let (_directory, root) = root();
    let answer = Tool::beneath("read_file", &root).answer(&json!({"path": "notes/today.txt"}));
    assert_eq!(
        answer,
        json!({
            "path": "notes/today.txt",
            "text": "Grüße\n",
            "bytes": 8,
            "sha256": "b1de61b8108f15d9913e0fa2e6371ed737fbe2be84e63a89ca8ae7a370322371",
        })
    );
}

#[test]
fn reads_nothing_else() {
    let (_directory, root) = root();
    fs::write(root.join("binary"), b"\xff\xfe").unwrap();
    fs::write(root.join("nul"), b"a\0b").unwrap();
    fs::write(root.join("large"), "x".repeat(11)).unwrap();
    fs::write(root.join("fits"), "x".repeat(10)).unwrap();
    let everyone = rustix::fs::Mode::from_raw_mode(0o666);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("pipe"),
        rustix::fs::FileType::Fifo,
        everyone,
        0,
    )
    .unwrap();

    let tool = Tool::beneath("read_file", &root).with_option("--max-bytes", "10");
    for path in WAYS_OUT
        .into_iter()
        .chain(["binary", "nul", "large", "pipe", "absent"])
    {
        let said = tool.refuses(&json!({"path": path}).to_string());
        assert!(!said.contains("hunter2"));
    }
    for arguments in [
        json!({}),
        json!({"path": 1}),
        json!({"path": "fits", "root": "/"}),
    ] {
        tool.refuses(&arguments.to_string());
    }
    tool.refuses(r#"{"path": "\ud800"}"#);
    assert_eq!(tool.answer(&json!({"path": "fits"}))["bytes"], 10);
}

#[test]
fn lists_one_directory() {
    let (_directory, root) = root();
    let tool = Tool::beneath("list_files", &root);
    assert_eq!(
        tool.answer(&json!({})),
        json!({
            "path": ".",
            "entries": [
                {"name": "inside", "kind": "symlink", "bytes": 0},
                {"name": "link", "kind": "symlink", "bytes": 0},
                {"name": "notes", "kind": "directory", "bytes": 0},
                {"name": "up", "kind": "symlink", "bytes": 0},
            ],
            "total": 4,
            "complete": true,
        })
    );
    let part = tool.answer(&json!({"path": "notes", "max_entries": 1}));
    assert_eq!(
        (&part["total"], &part["complete"]),
        (&json!(2), &json!(false))
    );

    for path in WAYS_OUT
        .into_iter()
        .filter(|path| !["", ".", "notes"].contains(path))
    {
        tool.refuses(&json!({"path": path}).to_string());
    }
    for most in [json!(0), json!(1001), json!(true), json!(1.0), json!("1")] {
        tool.refuses(&json!({"max_entries": most}).to_string());
    }
}

#[test]
fn a_name_that_is_no_text_makes_a_list_incomplete() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join(OsStr::from_bytes(b"\xff")), "").unwrap();
    let answer = Tool::beneath("list_files", directory.path()).answer(&json!({}));
    assert_eq!(
        answer,
        json!({"path": ".", "entries": [], "total": 1, "complete": false})
    );
}

#[test]
fn creates_and_replaces_whole_files() {
    let (_directory, root) = root();
    let tool = Tool::beneath("write_file", &root);
    let target = root.join("notes/new.txt");
    let write =
        |text: &str, mode: &str| json!({"path": "notes/new.txt", "text": text, "mode": mode});

    tool.refuses(&write("zero", "replace").to_string());
    assert!(!target.exists());
    let answer = tool.answer(&write("one ü", "create"));
    assert_eq!(
        (&answer["bytes"], &answer["mode"]),
        (&json!(6), &json!("create"))
    );
    tool.refuses(&write("two", "create").to_string());
    assert_eq!(fs::read_to_string(&target).unwrap(), "one ü");

    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    tool.answer(&write("three", "replace"));
    assert_eq!(fs::read_to_string(&target).unwrap(), "three");
    assert_eq!(
        fs::metadata(&target).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(names(&root.join("notes")), [".git", "new.txt", "today.txt"]);
}

#[test]
fn writes_nowhere_else() {
    let (directory, root) = root();
    let tool = Tool::beneath("write_file", &root).with_option("--max-bytes", "10");
    for path in WAYS_OUT
        .into_iter()
        .chain(["notes/.git/config", "notes/.GIT/config", "absent/x"])
    {
        tool.refuses(&json!({"path": path, "text": "x", "mode": "create"}).to_string());
    }
    for path in [
        "../secret",
        "link",
        "up/secret",
        "inside/today.txt",
        "notes",
    ] {
        tool.refuses(&json!({"path": path, "text": "x", "mode": "replace"}).to_string());
    }
    for arguments in [
        json!({"path": "x", "text": "x"}),
        json!({"path": "x", "text": "x", "mode": "append"}),
        json!({"path": "x", "text": "ü".repeat(6), "mode": "create"}),
        json!({"path": "x", "text": "x", "mode": "create", "force": true}),
    ] {
        tool.refuses(&arguments.to_string());
    }
    assert_eq!(
        fs::read_to_string(directory.path().join("secret")).unwrap(),
        "hunter2"
    );
    assert_eq!(names(directory.path()), ["root", "secret"]);
    assert_eq!(names(&root), ["inside", "link", "notes", "up"]);
    assert_eq!(names(&root.join("notes")), [".git", "today.txt"]);
    assert!(names(&root.join("notes/.git")).is_empty());
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
