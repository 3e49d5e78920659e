use super::*;

fn kind(input: impl AsRef<[u8]>) -> Option<ParseErrorKind> {
    parse(input.as_ref()).err().map(|error| error.kind())
}

#[test]
fn refuses_each_kind_of_fault_where_it_stands() {
    use ParseErrorKind as Kind;
    let cases: &[(&[u8], Kind, usize)] = &[
        (b"", Kind::UnexpectedEnd, 0),
        (b"  ", Kind::UnexpectedEnd, 2),
        (b"{\"a\"", Kind::UnexpectedEnd, 4),
        (b"[1", Kind::UnexpectedEnd, 2),
        (b"\"a", Kind::UnexpectedEnd, 2),
        (b"\"\\", Kind::UnexpectedEnd, 2),
        (b"\xef\xbb\xbf{}", Kind::ByteOrderMark, 0),
        (b"{\"a\":\"\xff\"}", Kind::NotUtf8, 6),
        (b"\"\xed\xa0\x80\"", Kind::NotUtf8, 1),
        (b"\"\xc0\x80\"", Kind::NotUtf8, 1),
        (b"{} x", Kind::TrailingText, 3),
        (b"1 2", Kind::TrailingText, 2),
        (b"01", Kind::TrailingText, 1),
        (b"{} \xc2\xa0", Kind::TrailingText, 3),
        (b"\xc2\xa0{}", Kind::UnexpectedCharacter, 0),
        (b"NaN", Kind::UnexpectedCharacter, 0),
        (b"Infinity", Kind::UnexpectedCharacter, 0),
        (b"-Infinity", Kind::MalformedNumber, 0),
        (b"nul", Kind::UnexpectedCharacter, 0),
        (b"[1,]", Kind::UnexpectedCharacter, 3),
        (b"{\"a\":1,}", Kind::UnexpectedCharacter, 7),
        (b"{a:1}", Kind::UnexpectedCharacter, 1),
        (b"{'a':1}", Kind::UnexpectedCharacter, 1),
        (b"+1", Kind::UnexpectedCharacter, 0),
        (b".5", Kind::UnexpectedCharacter, 0),
        (b"-", Kind::MalformedNumber, 0),
        (b"1.", Kind::MalformedNumber, 0),
        (b"1.e3", Kind::MalformedNumber, 0),
        (b"1e", Kind::MalformedNumber, 0),
        (b"1e+-2", Kind::MalformedNumber, 0),
        (b"1e400", Kind::NumberNotFinite, 0),
        (b"-1e400", Kind::NumberNotFinite, 0),
        (b"9223372036854775808", Kind::IntegerTooLarge, 0),
        (b"-9223372036854775808", Kind::IntegerTooLarge, 0),
        (b"10000000000000000000", Kind::IntegerTooLarge, 0),
        (b"\"\\x\"", Kind::MalformedEscape, 1),
        (b"\"\\u12\"", Kind::MalformedEscape, 1),
        (b"\"\\u+123\"", Kind::MalformedEscape, 1),
        (b"\"\\u12\xc3\xa9\"", Kind::MalformedEscape, 1),
        (b"\"a\nb\"", Kind::ControlCharacter, 2),
        (b"\"a\0b\"", Kind::ControlCharacter, 2),
        (b"\"a\\u0000\"", Kind::NulCharacter, 2),
        (b"{\"\\u0000\":1}", Kind::NulCharacter, 2),
        (b"\"\\ud83d\"", Kind::LoneSurrogate, 1),
        (b"\"\\ud83dx\"", Kind::LoneSurrogate, 1),
        (b"\"\\ud83d\\n\"", Kind::LoneSurrogate, 1),
        (b"\"\\ud83d\\ud83d\"", Kind::LoneSurrogate, 1),
        (b"\"\\ude00\"", Kind::LoneSurrogate, 1),
        (b"{\"a\":1,\"b\":2,\"\\u0061\":3}", Kind::DuplicateKey, 13),
    ];
    for (input, kind, offset) in cases {
        let error = parse(input).expect_err("a fault");
        assert_eq!(
            (error.kind(), error.offset()),
            (*kind, *offset),
            "{}",
            input.escape_ascii()
        );
    }
}

#[test]
fn reads_what_is_written() {
    let value = parse(b" {\"b\" : [ 1 , -0 , -0.0 , 1E2 , null , true , false ] , \"a\":\"\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\\\\\\\"\x7f\" } \n")
        .expect("strict JSON");
    let members = value.as_object().expect("an object");
    assert_eq!(
        members.get("a").and_then(Value::as_text),
        Some("😀/\u{8}\u{c}\n\r\t\\\"\u{7f}")
    );
    let numbers = [
        Number::from_integer(1),
        Number::from_integer(0),
        Number::from_float(-0.0),
        Number::from_float(100.0),
    ];
    let mut expected: Vec<_> = numbers.into_iter().flatten().map(Value::Number).collect();
    expected.extend([Value::Null, Value::Bool(true), Value::Bool(false)]);
    assert_eq!(members.get("b"), Some(&Value::Array(expected)));
}

#[test]
fn integers_end_at_63_bits() {
    for good in [
        "9223372036854775807",
        "-9223372036854775807",
        "999999999999999999",
    ] {
        assert_eq!(kind(good), None, "{good}");
    }
}

#[test]
fn limits_hold_on_both_sides() {
    let padded = |length: usize| format!("{{}}{}", " ".repeat(length - 2));
    assert_eq!(kind(padded(REQUEST_MAX_BYTES)), None);
    assert_eq!(
        kind(padded(REQUEST_MAX_BYTES + 1)),
        Some(ParseErrorKind::TooManyBytes)
    );
    assert!(parse_respelled(padded(STORED_REQUEST_MAX_BYTES).as_bytes()).is_ok());
    assert!(parse_respelled(padded(STORED_REQUEST_MAX_BYTES + 1).as_bytes()).is_err());

    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(kind(nested(DEPTH_MAX)), None);
    assert_eq!(kind(nested(DEPTH_MAX + 1)), Some(ParseErrorKind::TooDeep));
    assert_eq!(
        kind("[".repeat(REQUEST_MAX_BYTES)),
        Some(ParseErrorKind::TooDeep)
    );

    let wide = |values: usize| format!("[{}]", vec!["0"; values].join(","));
    assert_eq!(kind(wide(NODES_MAX - 1)), None);
    assert_eq!(kind(wide(NODES_MAX)), Some(ParseErrorKind::TooManyNodes));

    let keyed = |members: usize, tail: &str| {
        let members: Vec<_> = (0..members).map(|index| format!("\"{index}\":0")).collect();
        format!("[{{{}}}{tail}]", members.join(","))
    };
    assert_eq!(
        kind(keyed(511, "")),
        None,
        "2 containers, 511 keys, 511 values: 1024"
    );
    assert_eq!(kind(keyed(511, ",0")), Some(ParseErrorKind::TooManyNodes));

    let text = |chars: usize| format!("\"{}\"", "é".repeat(chars));
    assert_eq!(kind(text(TEXT_MAX_CHARS)), None);
    assert_eq!(
        kind(text(TEXT_MAX_CHARS + 1)),
        Some(ParseErrorKind::TextTooLong)
    );
    let key = |chars: usize| format!("{{\"{}\":0}}", "k".repeat(chars));
    assert_eq!(kind(key(TEXT_MAX_CHARS)), None);
    assert_eq!(
        kind(key(TEXT_MAX_CHARS + 1)),
        Some(ParseErrorKind::TextTooLong)
    );
}
