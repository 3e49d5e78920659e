use countersign_canonical::{Limits, ParseErrorKind, Value, parse};

const BASE: Limits = Limits::tool_result();

#[test]
fn each_limit_holds_on_both_sides_of_its_boundary() {
    let nested = |depth: usize| format!("{}0{}", "[".repeat(depth), "]".repeat(depth));
    let objects = |depth: usize| format!("{}0{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let cases: &[(Limits, String, String, ParseErrorKind, usize)] = &[
        (
            BASE.with_bytes(4),
            "1234".into(),
            "12345".into(),
            ParseErrorKind::TooManyBytes { limit: 4 },
            4,
        ),
        (
            BASE,
            nested(32),
            nested(33),
            ParseErrorKind::TooDeep { limit: 32 },
            32,
        ),
        (
            BASE,
            objects(32),
            objects(33),
            ParseErrorKind::TooDeep { limit: 32 },
            160,
        ),
        (
            Limits {
                depth: usize::MAX,
                ..BASE
            },
            nested(Limits::MAX_DEPTH),
            nested(Limits::MAX_DEPTH + 1),
            ParseErrorKind::TooDeep {
                limit: Limits::MAX_DEPTH,
            },
            Limits::MAX_DEPTH,
        ),
        (
            Limits { depth: 0, ..BASE },
            "0".into(),
            "[]".into(),
            ParseErrorKind::TooDeep { limit: 0 },
            0,
        ),
        (
            Limits { nodes: 3, ..BASE },
            "{\"a\":1,\"b\":2}".into(),
            "{\"a\":1,\"b\":[2]}".into(),
            ParseErrorKind::TooManyNodes { limit: 3 },
            12,
        ),
        (
            Limits {
                string_chars: 3,
                ..BASE
            },
            "[\"äöü\",\"\\u00e4\\n\\ud83d\\ude00\"]".into(),
            "[\"äöü\",\"äöüß\"]".into(),
            ParseErrorKind::StringTooLong { limit: 3 },
            10,
        ),
        (
            Limits {
                string_chars: 3,
                ..BASE
            },
            "{\"abc\":1}".into(),
            "{\"abcd\":1}".into(),
            ParseErrorKind::StringTooLong { limit: 3 },
            1,
        ),
        (
            Limits { members: 2, ..BASE },
            "[1,2]".into(),
            "[1,2, 3]".into(),
            ParseErrorKind::TooManyMembers { limit: 2 },
            6,
        ),
        (
            Limits { members: 2, ..BASE },
            "{\"a\":[1,2],\"b\":2}".into(),
            "{\"a\":1,\"b\":2,\"c\":3}".into(),
            ParseErrorKind::TooManyMembers { limit: 2 },
            13,
        ),
        (
            BASE,
            format!("-{}", "9".repeat(4_300)),
            format!("-{}", "9".repeat(4_301)),
            ParseErrorKind::IntegerTooLong,
            0,
        ),
    ];
    for (limits, within, beyond, kind, offset) in cases {
        let accepted = parse(within.as_bytes(), limits);
        assert!(accepted.is_ok(), "{kind}: {accepted:?}");
        let error = parse(beyond.as_bytes(), limits).expect_err("beyond the limit");
        assert_eq!((error.kind(), error.offset()), (*kind, *offset));
    }
}

#[test]
fn no_members_are_within_a_limit_of_none() {
    let limits = Limits { members: 0, ..BASE };
    assert_eq!(parse(b"[]", &limits), Ok(Value::Array(Vec::new())));
    let error = parse(b"[1]", &limits).expect_err("beyond the limit");
    assert_eq!(error.kind(), ParseErrorKind::TooManyMembers { limit: 0 });
    let error = parse(b"{\"a\":1}", &limits).expect_err("beyond the limit");
    assert_eq!(error.kind(), ParseErrorKind::TooManyMembers { limit: 0 });
}

#[test]
fn long_digits_of_a_float_are_no_integer() {
    let digits = "1".repeat(5_000);
    let value = parse(format!("{digits}e-4999").as_bytes(), &BASE).expect("a float");
    let number = value.as_number().expect("a number");
    assert_eq!(number.as_f64(), Some(1.111_111_111_111_111_2));
}
