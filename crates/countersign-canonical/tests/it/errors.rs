use countersign_canonical::{ErrorClass, Limits, ParseErrorKind, parse};

use ParseErrorKind::{
    ByteOrderMark, ControlCharacter, DuplicateKey, ExpectedColon, ExpectedCommaOrBrace,
    ExpectedCommaOrBracket, ExpectedKey, ExpectedValue, FloatOverflow, InvalidEscape,
    InvalidNumber, InvalidUtf8, LoneSurrogate, NonFiniteConstant, TooDeep, TrailingText,
    UnexpectedEnd,
};

#[test]
fn every_error_has_its_kind_and_place() {
    type Case = (&'static [u8], ParseErrorKind, (usize, usize, usize));
    let cases: &[Case] = &[
        (b"", UnexpectedEnd, (0, 1, 1)),
        (b" \r\n\t", UnexpectedEnd, (4, 2, 2)),
        (b"[1, 2", UnexpectedEnd, (5, 1, 6)),
        (b"[1,\n 2", UnexpectedEnd, (6, 2, 3)),
        (b"{", UnexpectedEnd, (1, 1, 2)),
        (b"{\"a\"", UnexpectedEnd, (4, 1, 5)),
        (b"{\"a\":", UnexpectedEnd, (5, 1, 6)),
        (b"\"a", UnexpectedEnd, (2, 1, 3)),
        (b"\"a\\", UnexpectedEnd, (3, 1, 4)),
        (b"\"\\u12", UnexpectedEnd, (5, 1, 6)),
        (b"-", UnexpectedEnd, (1, 1, 2)),
        (b"1.", UnexpectedEnd, (2, 1, 3)),
        (b"1e+", UnexpectedEnd, (3, 1, 4)),
        (b"tru", UnexpectedEnd, (3, 1, 4)),
        (b"trie", ExpectedValue, (2, 1, 3)),
        (b"True", ExpectedValue, (0, 1, 1)),
        (b"'a'", ExpectedValue, (0, 1, 1)),
        (b"[,]", ExpectedValue, (1, 1, 2)),
        (b"[1,]", ExpectedValue, (3, 1, 4)),
        (b"[1]]", TrailingText, (3, 1, 4)),
        (b"+1", ExpectedValue, (0, 1, 1)),
        (b".5", ExpectedValue, (0, 1, 1)),
        (b"\x0c1", ExpectedValue, (0, 1, 1)),
        (b"[1 2]", ExpectedCommaOrBracket, (3, 1, 4)),
        (b"[1}", ExpectedCommaOrBracket, (2, 1, 3)),
        (b"{\"a\":1 \"b\"}", ExpectedCommaOrBrace, (7, 1, 8)),
        (b"{\"a\":1]", ExpectedCommaOrBrace, (6, 1, 7)),
        (b"{a:1}", ExpectedKey, (1, 1, 2)),
        (b"{1:1}", ExpectedKey, (1, 1, 2)),
        (b"{\"a\":1,}", ExpectedKey, (7, 1, 8)),
        (b"{\"a\" 1}", ExpectedColon, (5, 1, 6)),
        (b"1 1", TrailingText, (2, 1, 3)),
        (b"nullx", TrailingText, (4, 1, 5)),
        (b"1\x00", TrailingText, (1, 1, 2)),
        (b"01", InvalidNumber, (1, 1, 2)),
        (b"-01", InvalidNumber, (2, 1, 3)),
        (b"-a", InvalidNumber, (1, 1, 2)),
        (b"[1.]", InvalidNumber, (3, 1, 4)),
        (b"[1e]", InvalidNumber, (3, 1, 4)),
        (b"[1e+]", InvalidNumber, (4, 1, 5)),
        (b"0x10", TrailingText, (1, 1, 2)),
        (b"1_000", TrailingText, (1, 1, 2)),
        (b"[NaN]", NonFiniteConstant, (1, 1, 2)),
        (b"Infinity", NonFiniteConstant, (0, 1, 1)),
        (b"[-Infinity]", NonFiniteConstant, (1, 1, 2)),
        (b"-Inf", ExpectedValue, (0, 1, 1)),
        (b"[1e400]", FloatOverflow, (1, 1, 2)),
        (b"[1,-1e309,1e400]", FloatOverflow, (3, 1, 4)),
        (b"\"a\nb\"", ControlCharacter, (2, 1, 3)),
        (b"\"a\tb\"", ControlCharacter, (2, 1, 3)),
        (b"\"\\n\x1f\"", ControlCharacter, (3, 1, 4)),
        (b"\"ab\\q\"", InvalidEscape, (3, 1, 4)),
        (b"\"\\u00g0\"", InvalidEscape, (1, 1, 2)),
        (b"\"\\U0041\"", InvalidEscape, (1, 1, 2)),
        (b"\"\\ud83d\\u00g0\"", InvalidEscape, (7, 1, 8)),
        (b"\"x\\ud800\"", LoneSurrogate, (2, 1, 3)),
        (b"\"\\ud800\\n\"", LoneSurrogate, (1, 1, 2)),
        (b"\"\\ud800\\u0041\"", LoneSurrogate, (1, 1, 2)),
        (b"\"\\udc00\\ud800\"", LoneSurrogate, (1, 1, 2)),
        (b"\"\\ud83d\\ud83d\\ude00\"", LoneSurrogate, (1, 1, 2)),
        (b"{\"a\":1,\"b\":2,\"a\":3}", DuplicateKey, (13, 1, 14)),
        (b"{\"a\":1,\n \"\\u0061\":2}", DuplicateKey, (9, 2, 2)),
        (
            b"[{\"b\":{\"b\":0},\"c\":0,\"b\":0}]",
            DuplicateKey,
            (20, 1, 21),
        ),
        (
            b"{\"a\":0,\"b\":0,\"b\":0,\"a\":0}",
            DuplicateKey,
            (13, 1, 14),
        ),
        (b"\xef\xbb\xbf1", ByteOrderMark, (0, 1, 1)),
        (b"\"\xc3\xa4\" \xff", InvalidUtf8, (5, 1, 5)),
        (b"[\xed\xa0\x80]", InvalidUtf8, (1, 1, 2)),
        (b"\"\xc3\xa4\xe6\x9d\xb1\" x", TrailingText, (8, 1, 6)),
    ];
    for (input, kind, place) in cases {
        let error = parse(input, &Limits::tool_result()).expect_err("the document is refused");
        let shown = String::from_utf8_lossy(input);
        assert_eq!(error.kind(), *kind, "{shown:?}");
        let found = (error.offset(), error.line(), error.column());
        assert_eq!(found, *place, "{shown:?}");
    }
}

#[test]
fn utf8_comes_before_nesting_and_nesting_before_syntax() {
    let deep = "[".repeat(33);
    let too_deep = TooDeep { limit: 32 };
    let cases: &[(Vec<u8>, ParseErrorKind, usize)] = &[
        (deep.clone().into(), too_deep, 32),
        (format!("!{deep}").into(), too_deep, 33),
        (format!("]]]{deep}").into(), too_deep, 35),
        (format!("{{\"a\":1,\"a\":2}} {deep}").into(), too_deep, 46),
        (format!("[1e400,{deep}").into(), too_deep, 38),
        ([deep.as_bytes(), b"\xff"].concat(), InvalidUtf8, 33),
        (format!("\"{deep}").into(), UnexpectedEnd, 34),
        (
            format!("[1e400] {}", "[".repeat(32)).into(),
            TrailingText,
            8,
        ),
        ("[1e400,{\"a\":1,\"a\":2}]".into(), DuplicateKey, 14),
    ];
    for (input, kind, offset) in cases {
        let error = parse(input, &Limits::tool_result()).expect_err("the document is refused");
        let found = (error.kind(), error.offset());
        assert_eq!(
            found,
            (*kind, *offset),
            "{}",
            String::from_utf8_lossy(input)
        );
    }
}

#[test]
fn messages_name_the_place_and_repeat_nothing() {
    for (input, message) in [
        (
            "{\"secret\":1,\"secret\":2}",
            "this name appears twice in its object (line 1, column 13)",
        ),
        ("[hunter2]", "a value is due here (line 1, column 2)"),
        (
            "\n\n  [1 2]",
            "a comma or a closing bracket is due here (line 3, column 6)",
        ),
        (
            "1e999",
            "this number is too large for a double (line 1, column 1)",
        ),
    ] {
        let error = parse(input.as_bytes(), &Limits::tool_result());
        assert_eq!(error.expect_err("refused").to_string(), message);
    }
}

#[test]
fn classes_tell_callers_what_to_answer() {
    let tight = Limits {
        nodes: 2,
        ..Limits::tool_result()
    };
    for (input, class) in [
        ("[1,", ErrorClass::Parse),
        ("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1", ErrorClass::Depth),
        ("1e400", ErrorClass::Domain),
        ("[1,2]", ErrorClass::Limit),
    ] {
        let error = parse(input.as_bytes(), &tight).expect_err("the document is refused");
        assert_eq!(error.class(), class, "{input}");
    }
}
