//! Every golden line of the kinds that an endpoint answers.

use std::io::Read as _;

use base64::Engine as _;
use countersign_endpoint::{
    Catalog, Effect, ExecutionRequest, Location, RequestError, Value, parse, parse_respelled,
    sha256_json_ascii, sha256_json_utf8,
};
use serde_json::Value as Json;

pub(crate) fn lines(kind: &str) -> Vec<Json> {
    let compressed = include_bytes!("../../../../testdata/governed.jsonl.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&compressed[..])
        .read_to_string(&mut text)
        .expect("gzip");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).expect("JSON"));
    let lines: Vec<_> = lines.filter(|line| line["kind"] == kind).collect();
    assert_eq!(lines.len(), 300, "{kind}");
    lines
}

pub(crate) fn bytes(line: &Json, field: &str) -> Vec<u8> {
    let text = line[field].as_str().expect("base64");
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .expect("base64")
}

#[test]
fn tool_arguments_are_judged_as_recorded() {
    let catalog = Catalog::colony();
    for (index, line) in lines("tool_args").iter().enumerate() {
        let tool = line["tool"].as_str().expect("a tool");
        let arguments = parse_respelled(&bytes(line, "args_b64"));
        let accepted = arguments.is_ok_and(|value| catalog.check_arguments(tool, &value).is_ok());
        assert_eq!(
            Some(accepted),
            line["endpoint"].as_bool(),
            "tool_args {index}: {line}"
        );
    }
}

#[test]
fn execution_requests_are_judged_as_recorded() {
    let catalog = Catalog::colony();
    for (index, line) in lines("execution_request").iter().enumerate() {
        let path = line["path_action_id"].as_str().expect("an id");
        let read = ExecutionRequest::parse(path, &bytes(line, "input_b64"), &catalog);
        assert_eq!(
            Some(read.is_ok()),
            line["endpoint"].as_bool(),
            "execution_request {index}: {read:?}"
        );
    }
}

#[test]
fn both_encodings_are_those_recorded() {
    let compressed = include_bytes!("../../../../testdata/canonical.jsonl.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&compressed[..])
        .read_to_string(&mut text)
        .expect("gzip");
    let mut compared = 0;
    for line in text.lines() {
        let line: Json = serde_json::from_str(line).expect("JSON");
        // This side's limits are narrower: what it refuses says nothing.
        let Ok(value) = parse_respelled(&bytes(&line, "input_b64")) else {
            continue;
        };
        let ascii = sha256_json_ascii(&value).to_string();
        assert_eq!(
            Some(ascii.as_str()),
            line["ascii"]["sha256"].as_str(),
            "{line}"
        );
        let utf8 = sha256_json_utf8(&value).to_string();
        assert_eq!(
            Some(utf8.as_str()),
            line["utf8"]["sha256"].as_str(),
            "{line}"
        );
        compared += 1;
    }
    assert!(compared > 500, "{compared}");
}

/// The results in the vectors were made by an endpoint, so their effects tell its bounds.
#[test]
fn effects_are_judged_as_recorded() {
    let mut accepted = 0;
    for (index, line) in lines("execution_result").iter().enumerate() {
        let effect = &line["result"]["effect"];
        let read = || {
            let verification = parse(effect["verification"].to_string().as_bytes()).ok()?;
            let Value::Object(verification) = verification else {
                return None;
            };
            Effect::new(
                effect["effect_id"].as_str()?,
                effect["outcome"].as_str()?,
                verification,
            )
            .ok()
        };
        if line["host"] == true {
            let effect = read().unwrap_or_else(|| panic!("execution_result {index}"));
            assert_eq!(
                Some(effect.digest().to_string().as_str()),
                line["result"]["effect_digest"].as_str()
            );
            accepted += 1;
        }
    }
    assert_eq!(accepted, 32);
}

#[test]
fn requests_beside_results_keep_their_digests() {
    let catalog = Catalog::colony();
    let mut accepted = 0;
    for line in lines("execution_result") {
        let path = line["request"]["action_id"].as_str().expect("an id");
        let body = line["request"].to_string();
        let read = ExecutionRequest::parse(path, body.as_bytes(), &catalog);
        accepted += usize::from(read.is_ok());
        if line["host"] == true
            && let Err(error) = read
        {
            // Whether a result matches its request says nothing about the approval in it.
            let RequestError::Contract(faults) = error else {
                panic!("{error}")
            };
            for fault in faults.as_slice() {
                assert!(
                    matches!(fault.location(), Location::ApprovalField(_)),
                    "{fault}"
                );
            }
        }
    }
    assert_eq!(accepted, 100);
}
