//! Golden fixtures: exit, summary, packages and provider payloads.

use std::fs::File;
use std::io::{BufRead as _, BufReader};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use countersign_canonical::{Utf8, encode};
use countersign_scenario::{Fixture, run};
use flate2::read::GzDecoder;
use serde_json::{Map, Value};

const SCENARIOS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/scenarios.jsonl.gz"
);

fn own(value: &countersign_canonical::Value) -> Value {
    serde_json::from_slice(&encode::<Utf8>(value)).unwrap()
}

fn answer(fixture: &[u8]) -> Map<String, Value> {
    let run = Fixture::read(fixture)
        .ok()
        .and_then(|fixture| run(&fixture).ok());
    let members = match run {
        None => [
            ("exit", 2.into()),
            ("summary", Value::Null),
            ("packages", Value::Null),
            ("provider_payloads", Value::Null),
        ],
        Some(run) => [
            ("exit", i32::from(!run.passed()).into()),
            ("summary", own(&run.summary().into())),
            ("packages", own(&run.packages())),
            ("provider_payloads", own(&run.provider_payloads())),
        ],
    };
    members
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[test]
fn golden_fixtures_come_out_as_they_have_to() {
    let lines = BufReader::new(GzDecoder::new(File::open(SCENARIOS).unwrap())).lines();
    let mut exits = [0; 3];
    for (number, line) in (1..).zip(lines) {
        let mut golden: Map<String, Value> = serde_json::from_str(&line.unwrap()).unwrap();
        let fixture = golden.remove("fixture_b64").unwrap();
        let fixture = BASE64_STANDARD.decode(fixture.as_str().unwrap()).unwrap();
        let answer = answer(&fixture);
        for (name, due) in &golden {
            assert_eq!(&answer[name], due, "line {number}: {name}");
        }
        assert_eq!(answer.len(), golden.len(), "line {number}");
        let exit = usize::try_from(golden["exit"].as_u64().unwrap()).unwrap();
        exits[exit] += 1;
    }
    assert_eq!(exits.iter().sum::<i32>(), 160);
    assert!(exits.iter().all(|count| *count > 0), "{exits:?}");
}
