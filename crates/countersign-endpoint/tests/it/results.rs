//! Results as they go over the wire, and rows as they come back from a ledger.

use countersign_endpoint::{
    Action, ActionRow, Begin, EXECUTION_RESULT_MAX_BYTES, HandlerOutcome, Members, Number,
    PutDecision, Stored, Value, canonical_json_utf8, decide_put, parse,
};
use serde_json::{Value as Json, json};

use crate::sample::{ACTION, at, instance, request, sign, unsigned, worker};

fn verification() -> Members {
    let mut members = Members::new();
    members.insert_new("state".to_owned(), Value::from("snoozed"));
    members.insert_new(
        "hours".to_owned(),
        Value::from(Number::from_float(24.0).expect("finite")),
    );
    members
}

/// The same action in each of its states.
fn rows() -> Vec<ActionRow> {
    let put = || {
        let PutDecision::Store { write, admitted } = decide_put(
            Stored::default(),
            request(ACTION),
            &worker("colony"),
            at(1.0),
        ) else {
            panic!("a first PUT");
        };
        (write, admitted)
    };
    let start = || {
        let Begin::Start(starting) = put().1.begin(instance(1), at(2.0)) else {
            panic!("alive")
        };
        starting
    };
    let performed = HandlerOutcome::Performed {
        effect_id: "eff-1".to_owned(),
        outcome: "snoozed".to_owned(),
        verification: verification(),
    };
    let Begin::Fail { write: failed, .. } = put().1.begin(instance(1), at(600.0)) else {
        panic!("dead")
    };
    vec![
        put().0.row().clone(),
        start().write().row().clone(),
        start()
            .committed()
            .finish(performed, at(3.5))
            .write()
            .row()
            .clone(),
        start()
            .committed()
            .finish(HandlerOutcome::Unknown, at(4.0))
            .write()
            .row()
            .clone(),
        failed.row().clone(),
    ]
}

#[test]
fn results_of_all_states() {
    let results: Vec<_> = rows()
        .iter()
        .map(|row| {
            let result = Action::from_row(row).expect("a row of ours").result();
            let value = parse(result.as_bytes()).expect("strict JSON");
            assert_eq!(canonical_json_utf8(&value), result.as_str(), "canonical");
            let document: Json = serde_json::from_str(result.as_str()).expect("JSON");
            serde_json::to_string_pretty(&document).expect("JSON")
        })
        .collect();
    insta::assert_snapshot!(results.join("\n"));
}

#[test]
fn rows_survive_and_damage_is_noticed() {
    for row in rows() {
        assert_eq!(Action::from_row(&row).expect("a row of ours").to_row(), row);
        let accidents: [fn(&mut ActionRow); 11] = [
            |row| row.action_id = "dde138d8-4270-45f6-8a2e-36117bcec85d".to_owned(),
            |row| row.execution_digest = "00".repeat(32),
            |row| row.owner = String::new(),
            |row| row.content = row.content.replace("24", "25"),
            |row| row.content = row.content.replacen(',', ", ", 1),
            |row| row.state = "done".to_owned(),
            |row| row.since = f64::NAN,
            |row| {
                row.executor = match row.executor {
                    Some(_) => None,
                    None => Some("instance-1".to_owned()),
                };
            },
            |row| {
                row.result = match row.result {
                    Some(_) => None,
                    None => Some("{}".to_owned()),
                };
            },
            |row| row.result = Some("{}".to_owned()),
            |row| {
                row.state = match row.state.as_str() {
                    "completed" => "failed",
                    "failed" => "ambiguous",
                    "ambiguous" => "completed",
                    "prepared" => "executing",
                    _ => "prepared",
                }
                .to_owned();
            },
        ];
        for (index, accident) in accidents.into_iter().enumerate() {
            let mut spoilt = row.clone();
            accident(&mut spoilt);
            if spoilt.since.is_nan() || spoilt != row {
                assert!(
                    Action::from_row(&spoilt).is_err(),
                    "accident {index} to {}",
                    row.state
                );
            }
        }
    }
}

#[test]
fn a_damaged_stored_result_is_never_replayed() {
    let rows = rows();
    let completed = rows
        .iter()
        .find(|row| row.state == "completed")
        .expect("a row");
    let result = completed.result.as_deref().expect("a result");
    for (from, to) in [
        ("\"hours\":24.0", "\"hours\":25.0"),
        ("\"hours\":24.0", "\"hours\":24.00"),
        ("\"performed\"", "\"uncertain\""),
        ("\"version\":1", "\"version\":1.0"),
        ("eff-1", "eff-2"),
        ("\"observed_at\":1784000003.5", "\"observed_at\":-1.0"),
        (
            "\"observed_at\":1784000003.5",
            "\"observed_at\":1784000003.5,\"extra\":1",
        ),
    ] {
        let spoilt = result.replacen(from, to, 1);
        assert_ne!(spoilt, result, "{from}");
        let row = ActionRow {
            result: Some(spoilt),
            ..completed.clone()
        };
        assert!(Action::from_row(&row).is_err(), "{from} {to}");
    }
}

#[test]
fn content_that_grows_when_escaped_still_comes_back() {
    let mut document = unsigned(ACTION);
    document["args"]["reason"] = json!("\u{7f}é😀".repeat(2_000));
    let read = crate::sample::read(&sign(document)).expect("a valid request");
    let PutDecision::Store { write, .. } =
        decide_put(Stored::default(), read, &worker("colony"), at(1.0))
    else {
        panic!("a first PUT");
    };
    assert!(write.row().content.len() > 32 * 1024);
    assert!(Action::from_row(write.row()).is_ok());
}

#[test]
fn the_longest_effect_makes_a_result_in_bounds() {
    let mut members = Members::new();
    for key in ["a", "b", "c"] {
        members.insert_new(key.to_owned(), Value::from("x".repeat(2_048).as_str()));
    }
    members.insert_new("d".to_owned(), Value::from("x".repeat(1_400).as_str()));
    let PutDecision::Store { admitted, .. } = decide_put(
        Stored::default(),
        request(ACTION),
        &worker("colony"),
        at(1.0),
    ) else {
        panic!("a first PUT");
    };
    let Begin::Start(starting) = admitted.begin(instance(1), at(2.0)) else {
        panic!("alive")
    };
    let outcome = HandlerOutcome::Performed {
        effect_id: "e".repeat(256),
        outcome: "o".repeat(256),
        verification: members,
    };
    let finished = starting.committed().finish(outcome, at(3.0));
    let result = finished.settled().result();
    assert!(result.as_str().contains("\"completed\""));
    assert!(result.as_bytes().len() <= EXECUTION_RESULT_MAX_BYTES);
}
