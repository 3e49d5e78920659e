//! Every change of every member of a valid package, with its digests left alone.

use countersign_canonical::{Number, Value};
use countersign_contract::Fault;
use proptest::prelude::*;

use crate::cases::every_case;
use crate::editing::{at, json, nested, places, with, without};

/// The only part of a package that no digest covers.
const UNBOUND: &str = "protected_audit.redactions";

#[test]
fn every_member_replaced_is_refused_at_its_place() {
    for (name, case) in every_case() {
        assert!(case.verify(&case.package).is_ok(), "{name}");
        for place in places(&case.package) {
            for replacement in replacements(at(&case.package, &place)) {
                let altered = with(&case.package, &place, replacement.clone());
                let faults = case.refusal(&altered);
                if place == UNBOUND && replacement.as_array().is_some() {
                    assert!(faults.is_empty(), "{name}, {place}: {faults:?}");
                } else {
                    assert_names(&faults, &place, &format!("{name}: {replacement:?}"));
                }
            }
        }
    }
}

#[test]
fn every_member_removed_and_every_member_added_is_refused_at_its_object() {
    for (name, case) in every_case() {
        for place in places(&case.package) {
            let altered = without(&case.package, &place);
            assert_names(&case.refusal(&altered), &place, name);
            if at(&case.package, &place).as_object().is_some() {
                for extra in ["", "extra", "status ", "Status", "constructor"] {
                    let altered = with(&case.package, &format!("{place}.{extra}"), Value::Null);
                    assert_names(&case.refusal(&altered), &place, name);
                }
            }
        }
        let altered = with(&case.package, "extra", Value::Null);
        assert!(!case.refusal(&altered).is_empty(), "{name}");
    }
}

#[test]
fn redactions_are_any_list_of_texts() {
    let (_, case) = &every_case()[0];
    for (redactions, accepted) in [
        (r#"["a", "b"]"#, true),
        (r#"["a", ""]"#, false),
        (r#"["\u001c"]"#, false),
        (r#"["a", 1]"#, false),
        (r#"[["a"]]"#, false),
        (r"{}", false),
        (r"null", false),
    ] {
        let altered = with(&case.package, UNBOUND, json(redactions));
        assert_eq!(case.verify(&altered).is_ok(), accepted, "{redactions}");
    }
}

/// Values of every kind that differ from the one there; of its own kind, some that are almost it.
fn replacements(held: &Value) -> Vec<Value> {
    let mut values = [r#""x""#, "0", "1.5", "null", "[]", "{}", "true", "false"]
        .map(json)
        .to_vec();
    match held {
        Value::String(text) => {
            values.extend([
                format!("{text} ").into(),
                format!("{text}\u{0}").into(),
                text.to_uppercase().into(),
                text.chars().skip(1).collect::<String>().into(),
                "2026-07-19T00:00:01Z".into(),
                "succeeded".into(),
                "failed".into(),
                "unknown".into(),
                "local_replay".into(),
                "receipt_reconciled".into(),
                "NOT_FOUND".into(),
                "TOOL_ERROR".into(),
                "".into(),
            ]);
        }
        Value::Number(number) => {
            let integer = number.as_i64().unwrap();
            values.push((integer + 1).into());
            let same = i32::try_from(integer).unwrap();
            values.push(Number::from_f64(f64::from(same)).unwrap().into());
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {}
    }
    values.retain(|value| value != held);
    values
}

/// Some fault names the place, what is in it, or what holds it; or else a digest that covers it.
fn assert_names(faults: &[Fault], place: &str, context: &str) {
    let named = faults.iter().any(|fault| {
        let path = fault.path.as_str();
        place.starts_with(path)
            || path.starts_with(place)
            || path.starts_with("protected_audit.binding.")
    });
    assert!(named, "{context}: {place} gave {faults:?}");
}

pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |float| Number::from_f64(float).map(Value::from)),
        any::<String>().prop_map(Value::from),
        "(succeeded|failed|unknown|fresh|status_[0-9a-f]{32}|[0-9a-f]{64}|[A-Z_]{4,12})"
            .prop_map(Value::from),
        (4_000_usize..70_000).prop_map(|length| "é".repeat(length).into()),
        (1_usize..600).prop_map(nested),
        Just(json("123456789012345678901234567890")),
    ];
    leaf.prop_recursive(4, 48, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            proptest::collection::vec(("[a-z_]{0,8}|[aA]uthorization", inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn arbitrary_member_never_panics_and_never_passes(
        which in any::<prop::sample::Index>(),
        member in any::<prop::sample::Index>(),
        value in any_value(),
    ) {
        let (_, case) = which.get(every_case());
        let places = places(&case.package);
        let place = member.get(&places);
        let altered = with(&case.package, place, value.clone());
        let accepted = case.verify(&altered).is_ok();
        let same = at(&case.package, place) == &value;
        prop_assert!(same || place == UNBOUND || !accepted, "{place}");
    }

    #[test]
    fn arbitrary_package_never_panics(value in any_value()) {
        let (_, case) = &every_case()[0];
        prop_assert!(case.verify(&value).is_err());
    }
}
