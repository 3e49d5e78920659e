//! Every golden line, on both sides.

use std::io::Read as _;

use base64::Engine as _;
use countersign_agreement::{Sides, compare_document, smallest};
use countersign_canonical::{Limits, Object, Utf8, Value, encode, parse};
use countersign_endpoint as endpoint;
use countersign_governed::{
    ShapeRegistry, answer_execution_result, answer_gate, answer_intent, answer_intent_build,
};

fn decompressed(compressed: &[u8]) -> Vec<Object> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(compressed)
        .read_to_end(&mut text)
        .unwrap();
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| {
            let line = parse(line, &Limits::passthrough()).unwrap();
            line.as_object().unwrap().clone()
        })
        .collect()
}

fn governed() -> Vec<Object> {
    decompressed(include_bytes!("../../../../testdata/governed.jsonl.gz"))
}

fn text<'v>(line: &'v Object, field: &str) -> &'v str {
    line.get(field).unwrap().as_str().unwrap()
}

fn truth(line: &Object, field: &str) -> bool {
    line.get(field).unwrap().as_bool().unwrap()
}

fn bytes(line: &Object, field: &str) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD
        .decode(text(line, field))
        .unwrap()
}

/// The endpoint's reading of a value that the host holds.
fn at_endpoint(value: &Value) -> endpoint::Value {
    endpoint::parse_respelled(&encode::<Utf8>(value)).unwrap()
}

fn ascii(value: &Value) -> String {
    endpoint::sha256_json_ascii(&at_endpoint(value)).to_string()
}

fn utf8(value: &Value) -> String {
    endpoint::sha256_json_utf8(&at_endpoint(value)).to_string()
}

/// Says what one line is judged, where that is not as recorded.
fn fault_of(sides: &Sides, line: &Object) -> Option<String> {
    match text(line, "kind") {
        "tool_args" => {
            let (tool, input) = (text(line, "tool"), bytes(line, "args_b64"));
            let verdicts = sides.judge_arguments(tool, &input);
            let found = (verdicts.host.is_ok(), verdicts.endpoint.is_ok());
            let expected = (truth(line, "host"), truth(line, "endpoint"));
            (found != expected)
                .then(|| format!("{verdicts}{}", shrunk_arguments(sides, tool, &input)))
        }
        "execution_request" => {
            let (path, input) = (text(line, "path_action_id"), bytes(line, "input_b64"));
            let verdicts = sides.judge_request(path, &input);
            let expected = truth(line, "endpoint");
            let wrong = verdicts.host.is_ok() != expected || verdicts.endpoint.is_ok() != expected;
            wrong.then(|| verdicts.to_string())
        }
        "intent" => {
            let input = bytes(line, "input_b64");
            let answer = answer_intent(&sides.host, &input);
            if answer.get("host") != line.get("host")
                || answer.get("display") != line.get("display")
            {
                return Some(format!("the host answers {answer:?}"));
            }
            let intent = parse(&input, &Limits::passthrough()).ok()?;
            truth(line, "host")
                .then(|| fault_of_intent(sides, &intent))
                .flatten()
        }
        "intent_build" => {
            let (args, context) = (line.get("args")?, line.get("context")?);
            let answer = answer_intent_build(&sides.host, text(line, "tool"), args, context);
            if answer.get("intent") != line.get("intent")
                || answer.get("error") != line.get("error")
            {
                return Some(format!("the host answers {answer:?}"));
            }
            fault_of_intent(sides, line.get("intent")?)
        }
        "gate" => {
            let answer = answer_gate(&sides.host, &ShapeRegistry::default(), line);
            if answer.get("host") != line.get("host")
                || answer.get("dispatchable") != line.get("dispatchable")
            {
                return Some(format!("the host answers {answer:?}"));
            }
            let gate = line.get("host")?.as_object()?;
            let receipts = line.get("receipts")?.as_array()?;
            let receipt = receipts
                .iter()
                .find(|receipt| receipt.get("kind").and_then(Value::as_str) == Some("gate"))?;
            let of_endpoint = utf8(receipt.get("evidence")?);
            (of_endpoint != text(gate, "evidence_sha256"))
                .then(|| format!("the endpoint hashes the evidence to {of_endpoint}"))
        }
        "execution_result" => {
            let answer = answer_execution_result(line);
            if answer.get("host") != line.get("host")
                || answer.get("normalized_sha256") != line.get("normalized_sha256")
            {
                return Some(format!("the host answers {answer:?}"));
            }
            truth(line, "host").then(|| fault_of_result(line)).flatten()
        }
        other => Some(format!("unknown kind {other}")),
    }
}

/// What the host accepts as an intent the endpoint must be able to perform, and hash alike.
fn fault_of_intent(sides: &Sides, intent: &Value) -> Option<String> {
    let args = intent.get("args")?;
    let tool = intent.get("tool_name")?.as_str()?;
    let verdicts = sides.judge_arguments(tool, &encode::<Utf8>(args));
    if !verdicts.accepted() {
        return Some(verdicts.to_string());
    }
    let mut unsigned = intent.as_object()?.clone();
    // An intent hashes the literal 1.
    unsigned.insert("version".to_owned(), 1_i64.into());
    unsigned.remove("intent_digest");
    let expected = [
        ("args_sha256", ascii(args)),
        ("context_sha256", ascii(intent.get("context")?)),
        ("intent_digest", ascii(&unsigned.into())),
    ];
    expected.into_iter().find_map(|(field, of_endpoint)| {
        let of_host = intent.get(field)?.as_str()?;
        (of_host != of_endpoint).then(|| format!("{field}: the endpoint hashes to {of_endpoint}"))
    })
}

/// What the host accepts as a result some endpoint must have been able to make.
fn fault_of_result(line: &Object) -> Option<String> {
    let effect = line.get("result")?.get("effect")?;
    let endpoint::Value::Object(verification) = at_endpoint(effect.get("verification")?) else {
        return Some("the verification is no object".to_owned());
    };
    let made = endpoint::Effect::new(
        effect.get("effect_id")?.as_str()?,
        effect.get("outcome")?.as_str()?,
        verification,
    );
    let of_endpoint = match made {
        Ok(effect) => effect.digest().to_string(),
        Err(error) => return Some(format!("the endpoint could not have made it: {error}")),
    };
    let of_host = line.get("result")?.get("effect_digest")?.as_str()?;
    (of_host != of_endpoint).then(|| format!("the endpoint hashes the effect to {of_endpoint}"))
}

/// The least that both sides part over, for whoever has to find out why.
fn shrunk_arguments(sides: &Sides, tool: &str, input: &[u8]) -> String {
    let Ok(arguments) = parse(input, &Limits::passthrough()) else {
        return String::new();
    };
    let part = |value: &Value| !sides.judge_arguments(tool, &encode::<Utf8>(value)).agree();
    let least = smallest(&arguments, part);
    format!(
        "smallest: {}",
        String::from_utf8_lossy(&encode::<Utf8>(&least))
    )
}

#[test]
fn every_governed_line_is_judged_as_recorded_on_both_sides() {
    let sides = Sides::colony();
    let lines = governed();
    assert_eq!(lines.len(), 1_800);
    let wrong: Vec<_> = lines
        .iter()
        .enumerate()
        .filter_map(|(index, line)| {
            let fault = fault_of(&sides, line)?;
            Some(format!(
                "line {} ({}): {fault}",
                index + 1,
                text(line, "kind")
            ))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_canonical_line_is_read_and_written_alike() {
    let lines = decompressed(include_bytes!("../../../../testdata/canonical.jsonl.gz"));
    let wrong: Vec<_> = lines
        .iter()
        .enumerate()
        .filter_map(|(index, line)| {
            let fault = compare_document(&bytes(line, "input_b64")).err()?;
            Some(format!("line {}: {fault}", index + 1))
        })
        .collect();
    assert!(
        lines.len() > 1_000 && wrong.is_empty(),
        "{}",
        wrong.join("\n")
    );
}

/// A side that goes by another table is found out, and by something small.
#[test]
fn a_golden_line_that_parts_the_sides_is_shrunk() {
    let document = countersign_governed::Catalog::colony_document();
    let changed = document.replace("\"maximum\": 168", "\"maximum\": 9999");
    let changed = changed.replace("\"snoozed\"", "\"other\"");
    let sides = Sides {
        host: countersign_governed::Catalog::parse(changed.as_bytes()).unwrap(),
        ..Sides::colony()
    };
    let lines = governed();
    let faults: Vec<_> = lines
        .iter()
        .filter_map(|line| fault_of(&sides, line))
        .collect();
    assert_eq!(
        faults,
        [
            "the host refuses: /action: must be one of: acknowledged, actioned, dismissed, other
\
          the endpoint accepts
\
          smallest: {\"action\":\"snoozed\",\"initiative_id\":\"0\"}"
        ]
    );
    let input = br#"{"task_id": "t-1", "hours": 4711, "reason": "later, when there is time"}"#;
    assert_eq!(
        shrunk_arguments(&sides, "colony_task_snooze", input),
        "smallest: {\"hours\":169,\"task_id\":\"0\"}"
    );
}
