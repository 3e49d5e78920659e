//! One change anywhere, and the other side refuses.

use countersign_agreement::{Sides, resign};
use countersign_canonical::{Limits, Number, Object, Utf8, Value, encode, parse};
use countersign_endpoint as endpoint;
use countersign_governed::ExecutionResult;
use proptest::prelude::*;

use crate::action::{ACTION_ID, now, perform, plain_request};

/// Every document that differs from this one in one place.
fn spoiled(value: &Value) -> Vec<(String, Value)> {
    let mut documents: Vec<_> = substitutes(value)
        .into_iter()
        .filter(|other| other != value)
        .map(|other| (String::new(), other))
        .collect();
    if let Value::Object(members) = value {
        let mut more = members.clone();
        more.insert("surplus".to_owned(), Value::Null);
        documents.push(("/surplus".to_owned(), more.into()));
        for (name, member) in members.iter() {
            let place = format!("/{name}");
            let mut without = members.clone();
            without.remove(name);
            documents.push((place.clone(), without.clone().into()));
            for renamed in [name.to_uppercase(), format!("{name}\n")] {
                let mut other = without.clone();
                other.insert(renamed, member.clone());
                documents.push((place.clone(), other.into()));
            }
            for (below, member) in spoiled(member) {
                let mut other: Object = members.clone();
                other.insert(name.to_owned(), member);
                documents.push((format!("{place}{below}"), other.into()));
            }
        }
    }
    documents
}

fn substitutes(value: &Value) -> Vec<Value> {
    let float = |float| Value::Number(Number::from_f64(float).unwrap());
    let mut values = vec![
        Value::Null,
        true.into(),
        1_i64.into(),
        float(1.0),
        2_i64.into(),
        (-1_i64).into(),
        float(1e300),
        i64::MIN.into(),
        Value::Number(u64::MAX.into()),
        "".into(),
        "1".into(),
        "0".repeat(64).into(),
        "completed".into(),
        "not_performed".into(),
        "APR-000000000000".into(),
        Value::Array(vec![value.clone()]),
        Object::new().into(),
    ];
    if let Value::String(text) = value {
        let texts = [
            format!("{text}\n"),
            format!("{text}0"),
            text.to_uppercase(),
            text.chars().skip(1).collect(),
            format!("\u{1c}{text}"),
            format!("{text}\0"),
            text.chars().rev().collect(),
        ];
        values.extend(texts.map(Value::from));
    }
    values
}

#[test]
fn a_request_changed_in_any_place_is_refused_on_both_sides() {
    let sides = Sides::colony();
    let request = plain_request();
    let documents = spoiled(request.value());
    assert!(documents.len() > 500, "{}", documents.len());
    for (place, document) in documents {
        let verdicts = sides.judge_request(ACTION_ID, &encode::<Utf8>(&document));
        assert!(verdicts.refused(), "{place}: {verdicts}");
    }
    assert!(sides.judge_request(ACTION_ID, &request.body()).accepted());
    let other = "dde138d8-4270-45f6-8a2e-36117bcec85d";
    assert!(sides.judge_request(other, &request.body()).refused());
}

/// With its digests made right again a change may be another good request; the sides must then agree.
#[test]
fn a_changed_request_with_right_digests_is_judged_alike() {
    let sides = Sides::colony();
    let request = plain_request();
    let (mut accepted, mut refused) = (0, 0);
    for (place, document) in spoiled(request.value()) {
        let document = resign(&document);
        let verdicts = sides.judge_request(ACTION_ID, &encode::<Utf8>(&document));
        assert!(verdicts.agree(), "{place}: {verdicts}");
        accepted += usize::from(verdicts.accepted());
        refused += usize::from(verdicts.refused());
    }
    assert!(accepted > 10 && refused > 300, "{accepted} {refused}");
}

/// A request whose approval was decided and expires at these times.
fn approved(decided_at: Value, expires_at: Value) -> Value {
    let request = plain_request();
    let mut members = request.value().as_object().unwrap().clone();
    let mut approval = members
        .get("approval")
        .unwrap()
        .as_object()
        .unwrap()
        .clone();
    approval.insert("decided_at".to_owned(), decided_at);
    approval.insert("expires_at".to_owned(), expires_at);
    members.insert("approval".to_owned(), approval.into());
    resign(&members.into())
}

fn time() -> impl Strategy<Value = Value> {
    let float = |float: f64| Value::Number(Number::from_f64(float).unwrap());
    prop_oneof![
        (i64::MIN..=i64::MAX).prop_map(Value::from),
        (-100_000_i64..100_000).prop_map(Value::from),
        ((1_i64 << 53) - 100_000..(1 << 53) + 100_000).prop_map(Value::from),
        (-1e16..1e16_f64).prop_map(float),
        (1_783_900_000_i64..1_784_100_000).prop_map(Value::from),
        (1_783_900_000.0..1_784_100_000.0_f64).prop_map(float),
        prop::sample::select(vec![
            -1.0,
            -0.0,
            0.0,
            5e-324,
            1.0,
            86_400.0,
            86_400.000_000_000_01,
            86_401.0,
            1e300
        ])
        .prop_map(float),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn times_of_approvals_are_judged_alike(decided_at in time(), lifetime in 0_i64..86_500, expires_at in time()) {
        let sides = Sides::colony();
        let after = decided_at.as_i64().map_or(expires_at.clone(), |decided_at| decided_at.saturating_add(lifetime).into());
        for expires_at in [after, expires_at, decided_at.clone()] {
            let request = approved(decided_at.clone(), expires_at);
            let verdicts = sides.judge_request(ACTION_ID, &encode::<Utf8>(&request));
            prop_assert!(verdicts.agree(), "{:?}: {}", request.get("approval"), verdicts);
        }
    }
}

/// Both sides give the verdict stated, where one of them could easily round or forget a sign.
#[test]
fn times_at_the_bounds_are_judged_as_stated_on_both_sides() {
    let sides = Sides::colony();
    let large = 1_i64 << 53;
    let float = |seconds: f64| Value::Number(Number::from_f64(seconds).unwrap());
    for (decided_at, expires_at, good) in [
        (1.into(), 60.into(), true),
        (0.into(), 60.into(), false),
        ((-5).into(), 10.into(), false),
        (float(-0.0), 60.into(), false),
        (large.into(), (large + 1).into(), true),
        ((large + 1).into(), large.into(), false),
        ((large + 3).into(), (large + 3 + 86_400).into(), true),
        ((large + 3).into(), (large + 3 + 86_401).into(), false),
        (float(9_007_199_254_740_992.0), (large + 1).into(), false),
        ((large + 1).into(), float(9_007_199_254_740_994.0), true),
        ((large + 3).into(), float(9_007_199_254_827_396.0), true),
        ((i64::MAX - 1).into(), i64::MAX.into(), true),
        (1.into(), i64::MAX.into(), false),
        (1.into(), Value::Number((1_u64 << 63).into()), false),
    ] {
        let request = approved(decided_at, expires_at);
        let verdicts = sides.judge_request(ACTION_ID, &encode::<Utf8>(&request));
        let alike = if good {
            verdicts.accepted()
        } else {
            verdicts.refused()
        };
        assert!(alike, "{:?}: {verdicts}", request.get("approval"));
    }
}

/// What a result may say otherwise without being another result: its versions as `1.0`, and when it was seen.
fn may_be_accepted(place: &str, document: &Value) -> bool {
    match place {
        "/version" | "/effect/version" => true,
        "/observed_at" => {
            let observed_at = document.get("observed_at").and_then(Value::as_number);
            let seconds = observed_at.and_then(Number::as_f64);
            let seconds = seconds.or(document
                .get("observed_at")
                .and_then(Value::as_i64)
                .map(|_| 1.0));
            seconds.is_some_and(|seconds| seconds < 1e10)
        }
        _ => false,
    }
}

#[test]
fn a_result_changed_in_any_place_is_refused_by_the_host() {
    let request = plain_request();
    let mut verification = endpoint::Members::new();
    verification.insert_new("state".to_owned(), "created".into());
    verification.insert_new("seen".to_owned(), endpoint::Value::Bool(true));
    let outcome = endpoint::HandlerOutcome::Performed {
        effect_id: "eff-1".to_owned(),
        outcome: "created".to_owned(),
        verification,
    };
    let result = perform(&request, outcome).unwrap();
    let document = parse(result.as_bytes(), &Limits::passthrough()).unwrap();
    let believed = |document: &Value| {
        ExecutionResult::parse(request.binding(), &encode::<Utf8>(document), now())
    };
    assert!(believed(&document).is_ok());
    let documents = spoiled(&document);
    assert!(documents.len() > 500, "{}", documents.len());
    let mut excepted = 0;
    for (place, document) in documents {
        if believed(&document).is_ok() {
            assert!(may_be_accepted(&place, &document), "{place}: {document:?}");
            excepted += 1;
        }
    }
    // `1.0` for each version; a time of 1, 1.0 and 2 seconds.
    assert_eq!(excepted, 5);
}
