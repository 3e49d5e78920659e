use std::fmt::Write;

use countersign_canonical::{
    Ascii, InDomain, Limits, Number, OpenForm, Utf8, Value, digest, encode, parse,
};
use proptest::{collection::vec, prelude::*};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-d]{0,3}",
        ".{0,12}",
        vec(any::<char>(), 0..24).prop_map(String::from_iter),
        vec(
            prop_oneof![
                Just('"'),
                Just('\\'),
                Just('\n'),
                Just('\u{7f}'),
                Just('é'),
                Just('x')
            ],
            0..40
        )
        .prop_map(String::from_iter),
    ]
}

fn any_number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        (-1_000_i64..1_000).prop_map(Number::from),
        any::<u64>().prop_filter_map("finite", |bits| Number::from_f64(f64::from_bits(bits))),
        (any::<i32>(), -30..30).prop_filter_map("finite", |(significand, exponent)| {
            Number::from_f64(f64::from(significand) * 10_f64.powi(exponent))
        }),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any_number().prop_map(Value::Number),
        any_text().prop_map(Value::String),
    ];
    scalar.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..8).prop_map(Value::Array),
            vec((any_text(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn read(bytes: &[u8]) -> Value {
    parse(bytes, &Limits::tool_result()).expect("an encoding is strict JSON")
}

fn is_fixed_point<F: OpenForm>(value: &Value) -> Result<(), TestCaseError> {
    let encoding = encode::<F>(value);
    let again = read(&encoding);
    prop_assert_eq!(&again, value);
    prop_assert_eq!(encode::<F>(&again), encoding);
    prop_assert_eq!(digest::<F>(&again), digest::<F>(value));
    Ok(())
}

/// Writes a value with white space, escapes, and members in reverse.
fn write_loosely(value: &Value, text: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            text.push_str(std::str::from_utf8(&encode::<Utf8>(value)).expect("text"));
        }
        Value::String(string) => escape_all(string, text),
        Value::Array(items) => {
            text.push_str("[ ");
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index > 0 { " ,\t" } else { "" });
                write_loosely(item, text);
            }
            text.push_str("\r\n]");
        }
        Value::Object(object) => {
            text.push('{');
            for (index, (key, member)) in object.iter().rev().enumerate() {
                text.push_str(if index > 0 { "\n, " } else { " " });
                escape_all(key, text);
                text.push_str(" : ");
                write_loosely(member, text);
            }
            text.push('}');
        }
    }
}

fn escape_all(string: &str, text: &mut String) {
    text.push('"');
    for unit in string.encode_utf16() {
        write!(text, "\\u{unit:04X}").expect("text takes text");
    }
    text.push('"');
}

proptest! {
    #[test]
    fn encodings_parse_to_their_value_and_encode_to_themselves(value in any_value()) {
        is_fixed_point::<Utf8>(&value)?;
        is_fixed_point::<Ascii>(&value)?;
        prop_assert!(encode::<Ascii>(&value).is_ascii());
        if let Ok(checked) = InDomain::check(&value) {
            prop_assert_eq!(checked.encode(), encode::<Utf8>(&value));
            prop_assert_eq!(checked.digest().to_string(), digest::<Utf8>(&value).to_string());
            prop_assert_eq!(checked.encode_with_digest(), (checked.encode(), checked.digest()));
        }
    }

    #[test]
    fn digests_ignore_white_space_escapes_and_the_order_of_members(value in any_value()) {
        let mut text = String::new();
        write_loosely(&value, &mut text);
        let loose = read(text.as_bytes());
        prop_assert_eq!(digest::<Utf8>(&loose), digest::<Utf8>(&value));
    }

    #[test]
    fn floats_read_as_the_nearest_double(
        whole in "(0|-?[1-9][0-9]{0,20})",
        fraction in "(\\.[0-9]{1,20})?",
        exponent in "[eE][+-]?[0-9]{1,3}",
    ) {
        let text = format!("{whole}{fraction}{exponent}");
        let nearest: f64 = text.parse().expect("a float");
        let parsed = parse(text.as_bytes(), &Limits::tool_result());
        if nearest.is_finite() {
            let value = parsed.expect("a float");
            let read = value.as_number().and_then(Number::as_f64).map(f64::to_bits);
            prop_assert_eq!(read, Some(nearest.to_bits()));
        } else {
            prop_assert!(parsed.is_err());
        }
    }

    #[test]
    fn no_bytes_make_the_parser_panic(bytes in vec(any::<u8>(), 0..64)) {
        let _ = parse(&bytes, &Limits::passthrough());
    }

    #[test]
    fn mutated_documents_are_refused_or_still_canonical(
        value in any_value(),
        place in any::<prop::sample::Index>(),
        byte in prop_oneof![any::<u8>(), prop::sample::select(&b"[]{}\",:\\0-e.tn"[..])],
        length in 0_usize..2,
    ) {
        let mut bytes = encode::<Utf8>(&value);
        let start = place.index(bytes.len());
        bytes.splice(start..start + length, [byte]);
        match parse(&bytes, &Limits::passthrough()) {
            Ok(value) => is_fixed_point::<Utf8>(&value)?,
            Err(error) => prop_assert!(error.offset() <= bytes.len()),
        }
    }
}
