//! Payloads against those of the protocol's reference program, byte for byte.

use std::{fs::File, io::Read as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use countersign_canonical::{Limits, Object, Utf8, Value, encode, parse};
use countersign_contract::{Call, Principal, verify};
use countersign_providers::{Family, payload};
use flate2::read::GzDecoder;

use crate::tools::contract;

#[test]
fn payloads_equal_the_references() {
    let mut count = 0;
    for scenario in scenarios() {
        let Some(Value::Array(packages)) = scenario.get("packages") else {
            continue;
        };
        let payloads = list(&scenario, "provider_payloads");
        let fixture = fixture(&scenario);
        let cases = list(&fixture, "cases");
        for ((case, packages), payloads) in cases.iter().zip(packages).zip(payloads) {
            let principal = Principal::from_value(case.get("principal").unwrap()).unwrap();
            let steps = list(case, "steps").iter();
            let results = packages
                .as_array()
                .unwrap()
                .iter()
                .zip(payloads.as_array().unwrap());
            for (step, (package, expected)) in steps.zip(results) {
                let call = call(step);
                let contract = contract(call.name.as_str());
                let package = verify(&principal, &call, contract.as_ref(), package).unwrap();
                let family = Family::of_profile(call.profile).unwrap();
                assert_eq!(text(&payload(family, &package).unwrap()), text(expected));
                count += 1;
            }
        }
    }
    assert_eq!(count, COUNT);
}

/// All steps of the scenarios that the reference ran.
const COUNT: usize = 973;

fn scenarios() -> impl Iterator<Item = Value> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/scenarios.jsonl.gz"
    );
    let mut lines = String::new();
    GzDecoder::new(File::open(path).unwrap())
        .read_to_string(&mut lines)
        .unwrap();
    let parsed: Vec<Value> = lines.lines().map(|line| json(line.as_bytes())).collect();
    parsed.into_iter()
}

fn fixture(scenario: &Value) -> Value {
    let encoded = scenario.get("fixture_b64").and_then(Value::as_str).unwrap();
    json(&BASE64_STANDARD.decode(encoded).unwrap())
}

/// The call of a step: its execution context and its proposal, in one object.
fn call(step: &Value) -> Call {
    let members: Object = ["execution_context", "proposal"]
        .into_iter()
        .flat_map(|part| step.get(part).and_then(Value::as_object).unwrap().clone())
        .collect();
    Call::from_value(&members.into()).unwrap()
}

fn list<'v>(value: &'v Value, member: &str) -> &'v [Value] {
    value.get(member).and_then(Value::as_array).unwrap()
}

fn text(value: &Value) -> String {
    String::from_utf8(encode::<Utf8>(value)).unwrap()
}

fn json(text: &[u8]) -> Value {
    parse(text, &Limits::passthrough()).unwrap()
}
