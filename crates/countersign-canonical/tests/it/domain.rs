use countersign_canonical::{DomainErrorKind, InDomain, Limits, Object, Value, parse};

const PASSTHROUGH: Limits = Limits::passthrough();

fn read(text: &str) -> Value {
    parse(text.as_bytes(), &PASSTHROUGH).expect("the document is strict JSON")
}

fn string(length: usize) -> Value {
    Value::String("ü".repeat(length))
}

fn object(members: usize) -> Value {
    let members = (0..members).map(|index| (index.to_string(), Value::Null));
    Value::Object(members.collect::<Object>())
}

fn keyed(length: usize) -> Value {
    Value::Object([("ü".repeat(length), Value::Null)].into_iter().collect())
}

fn nested(depth: usize, innermost: &str) -> Value {
    read(&format!(
        "{}{innermost}{}",
        "[".repeat(depth),
        "]".repeat(depth)
    ))
}

#[test]
fn each_bound_holds_on_both_sides() {
    use DomainErrorKind::{ArrayTooLong, ObjectTooLarge, StringTooLong, TooDeep, UnsafeInteger};
    let deepest = format!("${}", "[0]".repeat(33));
    let deepest_key = format!("${}.<key>", "[0]".repeat(32));
    for (within, beyond, kind, path) in [
        (
            read("9007199254740991"),
            read("9007199254740992"),
            UnsafeInteger,
            "$",
        ),
        (
            read("-9007199254740991"),
            read("-9007199254740992"),
            UnsafeInteger,
            "$",
        ),
        (
            read("1e300"),
            read("9223372036854775808"),
            UnsafeInteger,
            "$",
        ),
        (
            read("[0, -0.0]"),
            read("[0, -9223372036854775808]"),
            UnsafeInteger,
            "$[1]",
        ),
        (string(65_536), string(65_537), StringTooLong, "$"),
        (keyed(65_536), keyed(65_537), StringTooLong, "$.<key>"),
        (
            vec![Value::Null; 1_024].into(),
            vec![Value::Null; 1_025].into(),
            ArrayTooLong,
            "$",
        ),
        (object(1_024), object(1_025), ObjectTooLarge, "$"),
        (nested(32, "0"), nested(33, "0"), TooDeep, &*deepest),
        (
            nested(31, "{\"a\":0}"),
            nested(32, "{\"a\":0}"),
            TooDeep,
            &*deepest_key,
        ),
        (nested(32, "{}"), nested(33, "{}"), TooDeep, &*deepest),
    ] {
        let accepted = InDomain::check(&within).map(|_| ());
        assert_eq!(accepted, Ok(()));
        let error = InDomain::check(&beyond).expect_err("beyond the domain");
        assert_eq!((error.kind(), error.path()), (kind, path));
    }
}

#[test]
fn a_value_may_be_checked_for_a_place_below_the_root() {
    let value = nested(31, "0");
    for (depth, accepted) in [(0, true), (1, true), (2, false), (usize::MAX, false)] {
        assert_eq!(
            InDomain::check_at(&value, depth).is_ok(),
            accepted,
            "{depth}"
        );
    }
}

#[test]
fn messages_name_the_place() {
    let long = "k".repeat(65);
    let text = format!(r#"{{"items":[0,{{"{long}":[9007199254740992]}}]}}"#);
    let error = InDomain::check(&read(&text))
        .map(|_| ())
        .expect_err("beyond the domain");
    let cut = "k".repeat(64);
    assert_eq!(
        error.to_string(),
        format!(
            "$.items[1].{cut}…[0] is an integer beyond 9007199254740991, \
             which not every JSON reader keeps exact"
        ),
    );
}
