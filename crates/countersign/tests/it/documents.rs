//! `canonical` and `vectors`: bytes in, bytes out.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::program::{countersign, countersign_with};

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata");

#[test]
fn each_form_and_its_digest() {
    let document = "{ \"b\": 1.0, \"a\": \"é\u{1F642}\\u001f\", \"B\": [-0.0, 1e22] }";
    let mut report = String::new();
    for form in ["tool-result", "ascii", "utf8"] {
        let plain = countersign_with(&["canonical", "--form", form], document.as_bytes(), &[]);
        let digest = countersign_with(
            &["canonical", "--form", form, "--digest", "-"],
            document.as_bytes(),
            &[],
        );
        assert_eq!(
            (plain.code, digest.code),
            (0, 0),
            "{} {}",
            plain.stderr,
            digest.stderr
        );
        write!(report, "{form}\n{}{}", plain.stdout, digest.stdout).unwrap();
    }
    insta::assert_snapshot!(report);
}

#[test]
fn errors_name_line_and_column() {
    let deep = format!("{}{}", "[".repeat(40), "]".repeat(40));
    let documents: [(&[u8], &str); 12] = [
        (b"", "utf8"),
        (b"{\"a\": 1,\n \"a\": 2}", "utf8"),
        (b"{\"a\": 1}\n\n  x", "utf8"),
        (b"[1,\n 2,\n]", "utf8"),
        (b"[NaN]", "utf8"),
        (b"[\"\xff\"]", "utf8"),
        (b"[\"\\ud800\"]", "utf8"),
        (b"\xef\xbb\xbf{}", "utf8"),
        (b"[1e999]", "utf8"),
        (b"{\"a\": [9007199254740993]}", "tool-result"),
        (b"{\"a\": [9007199254740993]}", "utf8"),
        (deep.as_bytes(), "ascii"),
    ];
    let mut report = String::new();
    for (document, form) in documents {
        let finished = countersign_with(&["canonical", "--form", form], document, &[]);
        let shown = String::from_utf8_lossy(&document[..document.len().min(24)]);
        let said = format!("{}{}", finished.stdout, finished.stderr);
        writeln!(report, "{form} {shown:?}: {}\n{said}", finished.code).unwrap();
    }
    insta::assert_snapshot!(report);
}

#[test]
fn golden_canonical_vectors_are_answered_right() {
    let answered = answered("canonical");
    assert_eq!(answered.len(), 2_400);
    for (number, (golden, answer)) in (1..).zip(&answered) {
        for form in ["strict", "ascii", "utf8"] {
            assert_eq!(answer[form], golden[form], "line {number}: {form}");
        }
    }
}

#[test]
fn golden_scenarios_are_answered_right() {
    let answered = answered("scenarios");
    assert_eq!(answered.len(), 160);
    for (number, (golden, answer)) in (1..).zip(&answered) {
        for part in ["exit", "summary", "packages", "provider_payloads"] {
            assert_eq!(answer[part], golden[part], "line {number}: {part}");
        }
    }
}

/// The golden lines, and the program's answer to each.
fn answered(kind: &str) -> Vec<(Value, Value)> {
    let file = File::open(format!("{TESTDATA}/{kind}.jsonl.gz")).unwrap();
    let mut lines = Vec::new();
    GzDecoder::new(file).read_to_end(&mut lines).unwrap();
    let finished = countersign_with(&["vectors", "answer", kind], &lines, &[]);
    assert_eq!((finished.code, finished.stderr.as_str()), (0, ""));
    let golden: Vec<Value> = BufReader::new(lines.as_slice())
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    let answers: Vec<Value> = finished
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), golden.len());
    golden.into_iter().zip(answers).collect()
}

#[test]
fn lines_that_are_no_vectors_are_refused_by_number() {
    let mut report = String::new();
    for lines in [
        "{\"input_b64\": \"e30=\"}\n{\"input_b64\": 5}\n",
        "\n\n[]\n",
        "{\"input_b64\": \"?\"}\n",
        "{\n",
    ] {
        let finished = countersign_with(&["vectors", "answer", "canonical"], lines.as_bytes(), &[]);
        assert_eq!(finished.code, 2);
        report.push_str(&finished.stderr);
    }
    insta::assert_snapshot!(report);
}

#[test]
fn a_document_that_is_not_there_is_said_to_be_missing() {
    let finished = countersign(&["canonical", "/no/such/file"]);
    assert_eq!(finished.code, 2);
    assert_eq!(
        finished.stderr,
        "countersign: cannot read the document: there is no such file\n"
    );
}
