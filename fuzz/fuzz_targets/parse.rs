//! Bytes to values, in every form and against another parser.
#![no_main]

use countersign_canonical::{
    Ascii, ErrorClass, InDomain, Limits, OpenForm, ParseErrorKind, ToolResult, Utf8, Value, digest,
    digest_tool_result_with, digest_with, encode, parse,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // A pass-through document may be deep; a domain check then refuses it.
    let limits = Limits::passthrough();
    let parsed = parse(input, &limits);
    match &parsed {
        Ok(value) => {
            assert_fixed_point::<Utf8>(value, &limits);
            assert_fixed_point::<Ascii>(value, &limits);
            assert!(
                encode::<Ascii>(value)
                    .iter()
                    .all(|byte| matches!(byte, b' '..=b'~'))
            );
            assert_tool_result_form(value);
            assert!(
                accepted_elsewhere(input),
                "another parser refuses this document"
            );
        }
        Err(error) => {
            assert!(error.offset() <= input.len());
            assert!(error.line() >= 1 && error.column() >= 1);
            if is_plain_syntax(error.kind()) {
                assert!(
                    !accepted_elsewhere(input),
                    "{error}, but another parser accepts it"
                );
            }
        }
    }
    assert_shallow_limits_agree(input, parsed.as_ref().ok());
});

fn assert_fixed_point<F: OpenForm>(value: &Value, limits: &Limits) {
    let encoding = encode::<F>(value);
    let generous = limits.with_bytes(usize::MAX);
    let again = parse(&encoding, &generous).expect("an encoding is strict JSON");
    assert_eq!(&again, value);
    assert_eq!(encode::<F>(&again), encoding);
    let streamed = digest_with::<F>(|encoder| {
        encoder.value(value);
    });
    assert_eq!(digest::<F>(value), streamed);
    assert_eq!(digest::<F>(value), digest::<F>(&again));
}

fn assert_tool_result_form(value: &Value) {
    let streamed = digest_tool_result_with(|encoder| {
        encoder.value(value);
    });
    match InDomain::check(value) {
        Ok(checked) => {
            assert_eq!(checked.encode(), encode::<Utf8>(value));
            assert_eq!(streamed, Ok(checked.digest()));
            let bytes = *digest::<Utf8>(value).as_bytes();
            assert_eq!(
                streamed
                    .map(|digest: countersign_canonical::Digest<ToolResult>| *digest.as_bytes()),
                Ok(bytes)
            );
        }
        Err(error) => assert_eq!(streamed, Err(error)),
    }
}

/// Tighter limits refuse a document or change nothing.
fn assert_shallow_limits_agree(input: &[u8], parsed: Option<&Value>) {
    let tight = Limits {
        bytes: 1 << 16,
        depth: 3,
        nodes: 16,
        string_chars: 8,
        members: 4,
    };
    match parse(input, &tight) {
        Ok(value) => assert_eq!(Some(&value), parsed),
        Err(error) => match error.class() {
            ErrorClass::Depth | ErrorClass::Limit => {}
            ErrorClass::Parse | ErrorClass::Domain => assert_eq!(parsed, None),
        },
    }
}

fn accepted_elsewhere(input: &[u8]) -> bool {
    jiter::JsonValue::parse(input, false).is_ok()
}

/// Whether all parsers agree that this is no JSON. They differ over what JSON
/// says nothing about: duplicate names, lone surrogates, long integers.
fn is_plain_syntax(kind: ParseErrorKind) -> bool {
    kind.class() == ErrorClass::Parse
        && !matches!(
            kind,
            ParseErrorKind::DuplicateKey
                | ParseErrorKind::LoneSurrogate
                | ParseErrorKind::IntegerTooLong
                | ParseErrorKind::NonFiniteConstant
        )
}
