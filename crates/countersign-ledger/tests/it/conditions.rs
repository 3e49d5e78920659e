//! What a grant covers, whatever the call: judged anew here, by other means.

use std::collections::BTreeMap;

use countersign_canonical::{Limits, Object, Value, parse};
use countersign_contract::{Arguments, Attachment};
use countersign_ledger::{Condition, Conditions};
use proptest::prelude::*;

const BEGINNING: &str = "/tmp/a/";

/// Pieces that paths are hidden in.
fn path() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "/",
        "/",
        "..",
        ".",
        "a",
        "b",
        "...",
        "\\",
        "%2e",
        "%2E",
        "%2f",
        "%5C",
        "%25",
        "%",
        "2e",
        "%c0%ae",
        "%e0%80%ae",
        "%u002e",
        "\u{0}",
        "\n",
        "tmp",
        " ",
        "\u{7f}",
    ]);
    let rest = prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat());
    (prop::bool::weighted(0.9), rest).prop_map(|(is_beneath, rest)| {
        if is_beneath {
            format!("{BEGINNING}{rest}")
        } else {
            rest
        }
    })
}

fn scalar() -> impl Strategy<Value = Value> {
    let text = prop::sample::select(vec![
        "1",
        "1.0",
        "9007199254740993",
        "true",
        "null",
        "\"1\"",
        "\"x\"",
    ]);
    text.prop_map(|text| parse(text.as_bytes(), &Limits::passthrough()).unwrap())
}

fn condition() -> impl Strategy<Value = Condition> {
    prop_oneof![
        scalar().prop_map(Condition::Is),
        Just(Condition::BeginsWith(BEGINNING.to_owned())),
        Just(Condition::Any),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "path"]).prop_map(str::to_owned)
}

fn arguments() -> impl Strategy<Value = BTreeMap<String, Value>> {
    let value = prop_oneof![scalar(), path().prop_map(|path| Value::from(path.as_str()))];
    prop::collection::btree_map(name(), value, 0..4)
}

fn covers(conditions: &BTreeMap<String, Condition>, arguments: &BTreeMap<String, Value>) -> bool {
    let conditions = Conditions::new(conditions.clone()).unwrap();
    let object: Object = arguments.clone().into_iter().collect();
    let text = String::from_utf8(countersign_canonical::indented(&object.clone().into())).unwrap();
    let attached = Arguments::attached(Attachment::read(&text).unwrap());
    let covers = conditions.cover(&attached);
    if let Ok(plain) = Arguments::new(object.into()) {
        assert_eq!(conditions.cover(&plain), covers);
    }
    covers
}

/// Where a reader arrives that decodes percent signs for as long as there are any, and takes both slashes.
fn resolved(path: &str) -> Vec<String> {
    let mut text = path.to_owned();
    for (hidden, plain) in [("%c0%ae", "."), ("%e0%80%ae", "."), ("%u002e", ".")] {
        text = text.replace(hidden, plain);
    }
    for _ in 0..8 {
        for (hidden, plain) in [("%25", "%"), ("%2e", "."), ("%2f", "/"), ("%5c", "\\")] {
            for hidden in [hidden.to_owned(), hidden.to_uppercase()] {
                text = text.replace(&hidden, plain);
            }
        }
    }
    let mut place = Vec::new();
    for segment in text.split(['/', '\\']) {
        match segment {
            "" | "." => {}
            ".." => {
                place.pop();
            }
            segment => place.push(segment.to_owned()),
        }
    }
    place
}

fn is_kept(condition: &Condition, value: Option<&Value>) -> bool {
    match (condition, value) {
        (Condition::Any, _) => true,
        (Condition::Is(wanted), Some(value)) => {
            countersign_canonical::indented(wanted) == countersign_canonical::indented(value)
        }
        (Condition::BeginsWith(_), Some(value)) => value.as_str().is_some_and(|path| {
            let place = resolved(path);
            path.starts_with(BEGINNING)
                && place.get(..2) == Some(&["tmp".to_owned(), "a".to_owned()])
        }),
        (Condition::Is(_) | Condition::BeginsWith(_), None) => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn what_is_covered_keeps_every_condition(
        conditions in prop::collection::btree_map(name(), condition(), 0..4),
        arguments in arguments(),
    ) {
        if covers(&conditions, &arguments) {
            for (name, condition) in &conditions {
                prop_assert!(is_kept(condition, arguments.get(name)), "{name} {arguments:?}");
            }
            for name in arguments.keys() {
                prop_assert!(conditions.contains_key(name), "{name} {arguments:?}");
            }
        }
    }

    #[test]
    fn an_argument_that_nobody_named_is_never_covered(
        conditions in prop::collection::btree_map(name(), condition(), 0..4),
        arguments in arguments(),
        value in scalar(),
    ) {
        let mut more = arguments;
        more.insert("new".to_owned(), value);
        prop_assert!(!covers(&conditions, &more));
    }

    /// Whoever reads a covered path, however often it is decoded, stays beneath the beginning.
    #[test]
    fn nothing_that_is_covered_leads_elsewhere(paths in prop::collection::vec(path(), 16)) {
        let condition = Condition::BeginsWith(BEGINNING.to_owned());
        let conditions = BTreeMap::from([("path".to_owned(), condition.clone())]);
        for path in paths {
            let path = Value::from(path.as_str());
            let arguments = BTreeMap::from([("path".to_owned(), path.clone())]);
            if covers(&conditions, &arguments) {
                prop_assert!(is_kept(&condition, Some(&path)), "{path:?}");
            }
        }
    }

    /// A call covers itself under conditions that were made of it.
    #[test]
    fn what_is_exactly_so_is_covered(arguments in arguments()) {
        let same = arguments.iter().map(|(name, value)| (name.clone(), Condition::Is(value.clone())));
        prop_assert!(covers(&same.collect(), &arguments));
        let any = arguments.keys().map(|name| (name.clone(), Condition::Any));
        prop_assert!(covers(&any.collect(), &arguments));
    }

    #[test]
    fn what_lies_beneath_in_plain_words_is_covered(rest in "[a-z]{1,8}(/[a-z0-9_. -]{1,3}x){0,3}") {
        let conditions = BTreeMap::from([("path".to_owned(), Condition::BeginsWith(BEGINNING.to_owned()))]);
        let path = format!("{BEGINNING}{rest}");
        let arguments = BTreeMap::from([("path".to_owned(), Value::from(path.as_str()))]);
        prop_assert!(covers(&conditions, &arguments), "{path}");
    }
}
