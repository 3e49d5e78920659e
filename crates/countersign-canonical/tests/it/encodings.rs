use countersign_canonical::{
    Ascii, Limits, Number, NumberKind, Object, Utf8, Value, digest, encode, parse,
};
use sha2::{Digest as _, Sha256};

fn read(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::tool_result()).expect("the document is strict JSON")
}

fn written(value: &Value) -> (String, String) {
    let text = |bytes| String::from_utf8(bytes).expect("an encoding is text");
    (text(encode::<Utf8>(value)), text(encode::<Ascii>(value)))
}

fn sha256(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

#[test]
fn numbers_are_written_as_python_writes_them() {
    for (read_as, written_as) in [
        ("0", "0"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("0e5", "0.0"),
        ("-0e-5", "-0.0"),
        ("1.0", "1.0"),
        ("1e2", "100.0"),
        ("1E+2", "100.0"),
        ("0.1", "0.1"),
        ("0.0001", "0.0001"),
        ("0.00012345", "0.00012345"),
        ("0.0000999999", "9.99999e-05"),
        ("0.00001", "1e-05"),
        ("-0.000012345", "-1.2345e-05"),
        ("0.000001", "1e-06"),
        ("1e-7", "1e-07"),
        ("1e-10", "1e-10"),
        ("1e15", "1000000000000000.0"),
        ("9999999999999998.0", "9999999999999998.0"),
        ("1e16", "1e+16"),
        ("12345678901234567.0", "1.2345678901234568e+16"),
        ("-1.5e300", "-1.5e+300"),
        ("5e-324", "5e-324"),
        ("2.2250738585072014e-308", "2.2250738585072014e-308"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("1e-400", "0.0"),
        ("-1e-400", "-0.0"),
        ("9007199254740993.0", "9007199254740992.0"),
        ("123456789012345e22", "1.23456789012345e+36"),
        ("123456789012345e-22", "1.23456789012345e-08"),
        ("999999999999999e23", "9.99999999999999e+37"),
        ("0.1e00000000000000000000000000001", "1.0"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("123456789012345678", "123456789012345678"),
        ("1234567890123456789", "1234567890123456789"),
        (
            "1234567890123456789012345678901234567890",
            "1234567890123456789012345678901234567890",
        ),
    ] {
        assert_eq!(
            written(&read(read_as)),
            (written_as.into(), written_as.into()),
            "{read_as}"
        );
    }
}

#[test]
fn text_is_escaped_as_its_form_demands() {
    for (read_as, utf8, ascii) in [
        (r#""""#, r#""""#, r#""""#),
        (r#""\/""#, r#""/""#, r#""/""#),
        (
            r#""\b\f\n\r\t\"\\""#,
            r#""\b\f\n\r\t\"\\""#,
            r#""\b\f\n\r\t\"\\""#,
        ),
        (
            r#""\u0000\u001F\u000B""#,
            r#""\u0000\u001f\u000b""#,
            r#""\u0000\u001f\u000b""#,
        ),
        (r#""\u0020\u007e""#, r#"" ~""#, r#"" ~""#),
        ("\"\u{7f}\"", "\"\u{7f}\"", r#""\u007f""#),
        ("\"\u{80}\u{ff}\"", "\"\u{80}\u{ff}\"", r#""\u0080\u00ff""#),
        (r#""\u00E9 \u20AC""#, "\"é €\"", r#""\u00e9 \u20ac""#),
        (r#""\ud83d\uDE00""#, "\"😀\"", r#""\ud83d\ude00""#),
        (
            "\"\u{2028}\u{feff}\u{10ffff}\"",
            "\"\u{2028}\u{feff}\u{10ffff}\"",
            r#""\u2028\ufeff\udbff\udfff""#,
        ),
        (
            r#""0123456\"01234567\"é""#,
            r#""0123456\"01234567\"é""#,
            r#""0123456\"01234567\"\u00e9""#,
        ),
    ] {
        assert_eq!(
            written(&read(read_as)),
            (utf8.into(), ascii.into()),
            "{read_as}"
        );
    }
}

#[test]
fn each_byte_is_found_at_each_place_of_a_word() {
    for place in 0..24 {
        for character in (0..=0x2ff).filter_map(char::from_u32) {
            let text = format!("{}{character}{}", "x".repeat(place), "y".repeat(9));
            let value = Value::String(text.clone());
            let (utf8, ascii) = written(&value);
            let reference = serde_json::to_string(&text).expect("text is JSON");
            assert_eq!(utf8, reference);
            let escaped = format!("\\u{:04x}", u32::from(character));
            let reference = if character >= '\u{7f}' {
                reference.replace(character, &escaped)
            } else {
                reference
            };
            assert_eq!(ascii, reference);
            assert_eq!(digest::<Utf8>(&value).as_bytes(), &sha256(&utf8));
            assert_eq!(digest::<Ascii>(&value).as_bytes(), &sha256(&ascii));
        }
    }
}

#[test]
fn keys_are_sorted_by_code_point_and_not_by_utf16_unit() {
    let value =
        read("{\"\u{ff5e}\":1, \"\u{1f600}\":2, \"b\":3, \"\":4, \"a\":5, \"aa\":6, \"B\":7}");
    let expected = "{\"\":4,\"B\":7,\"a\":5,\"aa\":6,\"b\":3,\"\u{ff5e}\":1,\"\u{1f600}\":2}";
    assert_eq!(written(&value).0, expected);
}

#[test]
fn empty_containers_are_written_without_white_space() {
    assert_eq!(written(&read(" [ [ ] , { } ] ")).0, "[[],{}]");
}

#[test]
fn built_values_equal_parsed_ones() {
    let built: Object = [
        ("b".to_owned(), Value::from(1_i64)),
        ("a".to_owned(), Value::from("first")),
        ("a".to_owned(), Value::from("last")),
    ]
    .into_iter()
    .collect();
    assert_eq!(Value::Object(built.clone()), read(r#"{"a":"last","b":1}"#));

    let mut inserted = Object::new();
    assert_eq!(inserted.insert("b".into(), Value::Null), None);
    assert_eq!(inserted.insert("a".into(), "last".into()), None);
    assert_eq!(inserted.insert("b".into(), 1_i64.into()), Some(Value::Null));
    assert_eq!(inserted, built);
    assert_eq!(inserted.remove("b"), Some(1_i64.into()));
    assert_eq!(inserted.remove("b"), None);
    assert!(!inserted.contains_key("b"));
    assert_eq!(inserted.len(), 1);
}

#[test]
fn numbers_are_equal_when_they_are_encoded_alike() {
    for (left, right, equal) in [
        ("1", "1.0", false),
        ("0.0", "-0.0", false),
        ("-0", "0", true),
        ("1e2", "100.0", true),
        ("9223372036854775808", "9223372036854775808.0", false),
    ] {
        assert_eq!(read(left) == read(right), equal, "{left} and {right}");
    }
    assert_eq!(Number::from_f64(f64::NAN), None);
    assert_eq!(Number::from_f64(f64::INFINITY), None);
    assert_eq!(
        Number::from(u64::MAX).kind(),
        NumberKind::BigInteger("18446744073709551615")
    );
    assert_eq!(Number::from(7_u64).as_i64(), Some(7));
}
