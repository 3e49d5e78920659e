//! `send_mail.py`, with a stand-in for sendmail.

use std::fs;
use std::path::Path;

use countersign_runtime::command::Exit;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{FAILED, Tool, USAGE};

fn desk(directory: &Path) -> Tool {
    let sendmail = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/fake_sendmail.sh");
    Tool::new(
        "send_mail",
        &[
            "--from",
            "Häuser Desk <desk@example.com>",
            "--sendmail",
            sendmail,
        ],
    )
    .with_variable("FAKE_SENDMAIL_DIRECTORY", directory)
}

fn mail(to: &str, subject: &str, text: &str) -> Value {
    json!({"to": [to], "subject": subject, "text": text})
}

#[test]
fn hands_a_proper_mail_over() {
    let directory = TempDir::new().unwrap();
    let answer = desk(directory.path()).answer(&json!({
        "to": ["ada@example.org", "o'neil+x@sub.example.org"],
        "cc": ["bob@example.net"],
        "subject": "Ticket 7: größer\u{3000}als gedacht",
        "text": "Hello\n.\nBcc: eve@example.org\n",
    }));
    let sent = fs::read_to_string(directory.path().join("mail")).unwrap();
    let (headers, body) = sent.split_once("\n\n").unwrap();
    let message_id = answer["message_id"].as_str().unwrap();
    for header in [
        "To: ada@example.org, o'neil+x@sub.example.org",
        "Cc: bob@example.net",
        "Auto-Submitted: auto-generated",
        "MIME-Version: 1.0",
        &format!("Message-ID: {message_id}"),
    ] {
        let found = headers
            .lines()
            .any(|line| line.eq_ignore_ascii_case(header));
        assert!(found, "no {header} in:\n{headers}");
    }
    assert!(message_id.ends_with("@example.com>"), "{message_id}");
    assert!(headers.starts_with("From: =?utf-8?"), "{headers}");
    assert!(headers.is_ascii());
    assert!(!headers.contains("eve"), "{headers}");
    assert_eq!(body, "Hello\n.\nBcc: eve@example.org\n");
    assert_eq!(answer["recipients"].as_array().unwrap().len(), 3);
    // No recipient and no text on the command line.
    assert_eq!(
        fs::read_to_string(directory.path().join("arguments")).unwrap(),
        "-t\n-i\n"
    );
}

#[test]
fn sends_any_text_through_any_mail_system() {
    let directory = TempDir::new().unwrap();
    let long_line = "größer ".repeat(500);
    desk(directory.path()).answer(&mail(
        "ada@example.org",
        "x",
        &format!("{long_line}\r\nπ\n"),
    ));
    let sent = fs::read_to_string(directory.path().join("mail")).unwrap();
    assert!(sent.is_ascii());
    assert!(sent.lines().all(|line| line.len() <= 998));
}

#[test]
fn refuses_what_would_bend_the_headers() {
    let directory = TempDir::new().unwrap();
    let tool = desk(directory.path());
    for subject in [
        "a\nBcc: eve@example.org",
        "a\r\nX: y",
        "a\rb",
        "a\u{2028}b",
        "a\u{85}b",
        "",
        "  ",
    ] {
        tool.refuses(&mail("ada@example.org", subject, "x").to_string());
    }
    for to in [
        "",
        "ada",
        "ada@example.org\nBcc: eve@example.org",
        "ada@example.org\n",
        "ada@example.org, eve@example.org",
        "Ada <ada@example.org>",
        "-oQ/tmp@example.org -X",
        "\"a b\"@example.org",
        "ada@[127.0.0.1]",
        "ada@-example.org",
        "ädä@example.org",
        "|/bin/sh",
    ] {
        tool.refuses(&mail(to, "x", "x").to_string());
    }
    for arguments in [
        json!({"to": [], "subject": "x", "text": "x"}),
        json!({"to": "ada@example.org", "subject": "x", "text": "x"}),
        json!({"to": vec!["ada@example.org"; 51], "subject": "x", "text": "x"}),
        json!({"to": vec!["a@b.org"; 40], "cc": vec!["a@b.org"; 11], "subject": "x", "text": "x"}),
        json!({"to": ["ada@example.org"], "bcc": ["eve@example.org"], "subject": "x", "text": "x"}),
        json!({"to": ["ada@example.org"], "from": "eve@example.org", "subject": "x", "text": "x"}),
    ] {
        tool.refuses(&arguments.to_string());
    }
    assert!(!directory.path().join("mail").exists());
}

#[test]
fn sends_only_where_it_may() {
    let directory = TempDir::new().unwrap();
    let tool = desk(directory.path()).with_option("--allow-domain", "Example.org");
    for to in [
        "eve@example.net",
        "eve@sub.example.org",
        "eve@example.org.example.net",
    ] {
        tool.refuses(&mail(to, "x", "x").to_string());
    }
    assert!(!directory.path().join("mail").exists());
    tool.answer(&mail("ada@EXAMPLE.org", "x", "x"));
    assert!(directory.path().join("mail").exists());
}

#[test]
fn tells_not_started_from_unknown() {
    let directory = TempDir::new().unwrap();
    let good = mail("ada@example.org", "x", "x").to_string();
    let missing = Tool::new(
        "send_mail",
        &[
            "--from",
            "desk@example.com",
            "--sendmail",
            "/no/such/program",
        ],
    );
    missing.ends_with(Exit::TEMPORARY_FAILURE, &good);
    for code in ["1", "75"] {
        let failing = desk(directory.path()).with_variable("FAKE_SENDMAIL_EXIT", code);
        failing.ends_with(FAILED, &good);
    }
    let nobody = Tool::new("send_mail", &["--from", "nobody"]);
    nobody.ends_with(USAGE, &good);
}
