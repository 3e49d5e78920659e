//! Vectors, answered and made.

use std::collections::BTreeMap;
use std::io::Read as _;

use serde_json::{Map, Value};

use crate::program::{Run, run};

fn golden() -> Vec<u8> {
    let compressed = include_bytes!("../../../../testdata/governed.jsonl.gz");
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&compressed[..])
        .read_to_end(&mut text)
        .unwrap();
    text
}

fn lines(text: &[u8]) -> Vec<Map<String, Value>> {
    let lines = text.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// The fields of each kind that are the answer.
fn answer_fields(kind: &str) -> &'static [&'static str] {
    match kind {
        "tool_args" => &["host", "endpoint"],
        "intent" => &["host", "display"],
        "intent_build" => &["intent", "error"],
        "execution_request" => &["endpoint"],
        "gate" => &["host", "dispatchable"],
        "execution_result" => &["host", "normalized_sha256"],
        other => panic!("unknown kind {other}"),
    }
}

fn answer_of(line: &Map<String, Value>) -> Map<String, Value> {
    let fields = answer_fields(line["kind"].as_str().unwrap());
    let answer = line
        .iter()
        .filter(|(name, _)| fields.contains(&name.as_str()));
    answer
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn assert_answered(vectors: &[u8]) {
    let answered = run(&["vectors", "answer", "governed"], vectors);
    assert_eq!((answered.exit, answered.stderr.as_str()), (Some(0), ""));
    let (vectors, answers) = (lines(vectors), lines(&answered.stdout));
    assert_eq!(vectors.len(), answers.len());
    for (index, (vector, answer)) in vectors.iter().zip(&answers).enumerate() {
        assert_eq!(*answer, answer_of(vector), "line {}", index + 1);
    }
}

#[test]
fn every_golden_line_of_governed_actions_is_answered_as_recorded() {
    let golden = golden();
    assert_eq!(lines(&golden).len(), 1_800);
    assert_answered(&golden);
}

fn make(arguments: &[&str]) -> Run {
    run(&[&["vectors", "make"], arguments].concat(), b"")
}

#[test]
fn what_is_made_is_answered_as_it_says() {
    let made = make(&["--seed", "7", "--count", "1200"]);
    assert_eq!((made.exit, made.stderr.as_str()), (Some(0), ""));
    assert_answered(&made.stdout);
    let again = make(&["--seed", "7", "--count", "1200"]);
    assert!(
        made.stdout == again.stdout,
        "the same seed gives the same vectors"
    );
    let other = make(&["--seed", "8", "--count", "1200"]);
    assert!(made.stdout != other.stdout);
}

/// Vectors that are all refused test nothing, nor do those that are all accepted.
#[test]
fn every_kind_is_made_with_both_answers() {
    let made = make(&["--seed", "1", "--count", "1800"]);
    let mut accepted: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for line in lines(&made.stdout) {
        let kind = line["kind"].as_str().unwrap();
        let good = match kind {
            "intent_build" => line.get("error").is_none(),
            "execution_request" => line["endpoint"] == true,
            "gate" => !line["host"].is_null(),
            _ => line["host"] == true,
        };
        let counts = accepted.entry(kind.to_owned()).or_default();
        counts.0 += usize::from(good);
        counts.1 += 1;
        if kind == "tool_args" {
            assert_eq!(line["host"], line["endpoint"], "{line:?}");
        }
    }
    assert_eq!(accepted.len(), 6);
    for (kind, (good, all)) in accepted {
        assert_eq!(all, 300, "{kind}");
        assert!((45..=255).contains(&good), "{kind}: {good} of {all}");
    }
}

#[test]
fn one_kind_can_be_asked_for() {
    let made = make(&["--seed", "3", "--count", "5", "--kind", "gate"]);
    let kinds: Vec<_> = lines(&made.stdout)
        .into_iter()
        .map(|line| line["kind"].clone())
        .collect();
    assert_eq!(kinds, ["gate"; 5]);
    assert_eq!(
        make(&["--seed", "3", "--count", "5", "--kind", "gates"]).exit,
        Some(2)
    );
}

#[test]
fn a_line_that_is_no_vector_is_named() {
    for (input, reason) in [
        (
            "{\"kind\":\"gates\"}",
            "line 1: kind is none of a vector of governed actions",
        ),
        ("\n{}", "line 2: kind must be a string"),
        (
            "{\"kind\":\"tool_args\",\"tool\":\"t\",\"args_b64\":\"?\"}",
            "line 1: args_b64 must be base64",
        ),
        ("[]", "line 1: not an object"),
    ] {
        let answered = run(&["vectors", "answer", "governed"], input.as_bytes());
        assert_eq!(answered.exit, Some(2), "{input}");
        assert!(answered.stderr.contains(reason), "{}", answered.stderr);
    }
}
