//! Properties of the parser and the encodings.

use countersign_endpoint::{
    Catalog, ExecutionRequest, Number, NumberKind, Value, canonical_json_ascii,
    canonical_json_utf8, parse, parse_respelled,
};
use proptest::prelude::*;
use proptest::string::string_regex;

use crate::sample::{ACTION, sign, unsigned};

/// JSON text with strange spellings, mostly well-formed.
fn json_text() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|integer| integer.to_string()),
        any::<f64>().prop_map(|float| format!("{float:?}")),
        string_regex(r"-?[0-9]{1,21}(\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?").expect("a pattern"),
        any::<String>().prop_map(|text| serde_json::to_string(&text).expect("JSON")),
        string_regex(r#""(\\u[dD][89a-fA-F][0-9a-f]{2}|\\[nrtbf/]|[a-z é😀])*""#)
            .expect("a pattern"),
    ];
    scalar.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6)
                .prop_map(|items| format!("[ {} ]", items.join(" ,"))),
            prop::collection::vec((any::<String>(), inner), 0..6).prop_map(|members| {
                let members: Vec<_> = members
                    .into_iter()
                    .map(|(key, value)| {
                        format!("{}: {value}", serde_json::to_string(&key).expect("JSON"))
                    })
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        if let Err(error) = parse(&bytes) {
            prop_assert!(error.offset() <= bytes.len());
        }
    }

    #[test]
    fn no_damage_to_a_request_panics(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut body = sign(unsigned(ACTION));
        let whole = body.clone();
        let at = at.index(body.len());
        if cut { body.truncate(at) } else { body[at] = byte }
        let read = ExecutionRequest::parse(ACTION, &body, &Catalog::colony());
        // Every byte is bound by a digest or a grammar; the one blank spelling is an escape's case.
        prop_assert_eq!(read.is_ok(), body == whole);
    }

    #[test]
    fn encodings_are_fixed_points(text in json_text()) {
        if let Ok(value) = parse(text.as_bytes()) {
            let ascii = canonical_json_ascii(&value);
            let utf8 = canonical_json_utf8(&value);
            prop_assert!(ascii.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
            prop_assert_eq!(&parse_respelled(ascii.as_bytes()).expect("strict JSON"), &value);
            prop_assert_eq!(&parse_respelled(utf8.as_bytes()).expect("strict JSON"), &value);
            prop_assert_eq!(canonical_json_ascii(&parse_respelled(utf8.as_bytes()).expect("strict JSON")), ascii);
        }
    }

    #[test]
    fn what_passes_here_passes_elsewhere_with_the_same_meaning(text in json_text()) {
        if let Ok(value) = parse(text.as_bytes()) {
            let elsewhere: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            prop_assert!(is_same(&value, &elsewhere), "{value:?} {elsewhere}");
        }
    }

    #[test]
    fn doubles_survive(bits in any::<u64>()) {
        if let Some(number) = Number::from_float(f64::from_bits(bits)) {
            let text = canonical_json_utf8(&Value::Number(number));
            let Ok(Value::Number(read)) = parse(text.as_bytes()) else { panic!("{text}") };
            prop_assert!(matches!(read.kind(), NumberKind::Float(float) if float.to_bits() == bits));
        }
    }
}

/// Compares with a reader that keeps the last of equal keys and may round the last digit of a double.
fn is_same(ours: &Value, theirs: &serde_json::Value) -> bool {
    match ours {
        Value::Null => theirs.is_null(),
        Value::Bool(flag) => theirs.as_bool() == Some(*flag),
        Value::Number(number) => match number.kind() {
            NumberKind::Integer(integer) => {
                theirs.as_i64() == Some(integer) || theirs.as_f64() == Some(0.0)
            }
            NumberKind::Float(float) => theirs.as_f64().is_some_and(|other| {
                (float - other).abs() <= 4.0 * f64::EPSILON * float.abs().max(f64::MIN_POSITIVE)
            }),
        },
        Value::Text(text) => theirs.as_str() == Some(text),
        Value::Array(values) => theirs.as_array().is_some_and(|others| {
            values.len() == others.len()
                && values
                    .iter()
                    .zip(others)
                    .all(|(value, other)| is_same(value, other))
        }),
        Value::Object(members) => theirs.as_object().is_some_and(|others| {
            members.len() == others.len()
                && members
                    .iter()
                    .all(|(key, value)| others.get(key).is_some_and(|other| is_same(value, other)))
        }),
    }
}
