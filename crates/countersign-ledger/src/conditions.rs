//! What a standing approval asks of a call's arguments.

use std::borrow::Cow;
use std::collections::BTreeMap;

use countersign_canonical::{Limits, Object, Utf8, Value, encode, parse};
use countersign_contract::Arguments;

/// The most arguments that a standing approval names.
pub const MAX_CONDITIONS: usize = 64;
/// The most bytes of all conditions in their canonical form.
pub const MAX_CONDITIONS_BYTES: usize = 64 << 10;

/// What one argument has to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Exactly this value.
    Is(Value),
    /// A text that begins like this and stays beneath it: one that climbs (`..`), that hides separators behind percent signs
    /// or that has control characters does not fit, since whoever reads it may find another place than it seems to name.
    BeginsWith(String),
    /// Anything, or nothing at all.
    Any,
}

/// What the arguments of a call have to be, one by one.
///
/// INVARIANT: an argument that no condition names is not covered, so that what a tool learns to take later is asked about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions(BTreeMap<String, Condition>);

impl Conditions {
    /// Takes conditions by argument; nothing where they are too many or too large, or where a beginning is empty.
    #[must_use]
    pub fn new(conditions: BTreeMap<String, Condition>) -> Option<Self> {
        let is_empty_beginning = |condition: &Condition| matches!(condition, Condition::BeginsWith(beginning) if beginning.is_empty());
        if conditions.len() > MAX_CONDITIONS || conditions.values().any(is_empty_beginning) {
            return None;
        }
        let conditions = Self(conditions);
        let bytes = encode::<Utf8>(&conditions.to_value()).len();
        (bytes <= MAX_CONDITIONS_BYTES).then_some(conditions)
    }

    /// The conditions by argument.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Condition)> {
        self.0
            .iter()
            .map(|(name, condition)| (name.as_str(), condition))
    }

    /// Tells whether a call with these arguments is covered: every argument is named, and every condition is kept.
    #[must_use]
    pub fn cover(&self, arguments: &Arguments) -> bool {
        let Some(arguments) = effective(arguments) else {
            return false;
        };
        let Some(object) = arguments.as_object() else {
            return false;
        };
        let is_named = object.iter().all(|(name, _)| self.0.contains_key(name));
        let is_kept = |(name, condition): (&String, &Condition)| match (condition, object.get(name))
        {
            (Condition::Any, _) => true,
            (Condition::Is(wanted), Some(value)) => is_the_same(wanted, value),
            (Condition::BeginsWith(beginning), Some(value)) => value
                .as_str()
                .is_some_and(|text| is_beneath(beginning, text)),
            (Condition::Is(_) | Condition::BeginsWith(_), None) => false,
        };
        is_named && self.0.iter().all(is_kept)
    }

    pub(crate) fn to_value(&self) -> Value {
        let members = self.0.iter().map(|(name, condition)| {
            let condition = match condition {
                Condition::Is(value) => Value::from([("is", value.clone())]),
                Condition::BeginsWith(beginning) => {
                    Value::from([("begins_with", beginning.as_str().into())])
                }
                Condition::Any => Value::from([("any", true.into())]),
            };
            (name.clone(), condition)
        });
        members.collect::<Object>().into()
    }

    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        let mut conditions = BTreeMap::new();
        for (name, condition) in value.as_object()?.iter() {
            conditions.insert(name.to_owned(), read(condition.as_object()?)?);
        }
        Self::new(conditions)
    }
}

fn read(condition: &Object) -> Option<Condition> {
    let mut members = condition.iter();
    let (Some((kind, value)), None) = (members.next(), members.next()) else {
        return None;
    };
    Some(match kind {
        "is" => Condition::Is(value.clone()),
        "begins_with" => Condition::BeginsWith(value.as_str()?.to_owned()),
        "any" if value.as_bool() == Some(true) => Condition::Any,
        _ => return None,
    })
}

/// The arguments as they will be sent; nothing where they cannot be told, which covers nothing.
fn effective(arguments: &Arguments) -> Option<Cow<'_, Value>> {
    match arguments.attachment() {
        None => Some(Cow::Borrowed(arguments.value())),
        Some(attachment) => {
            let value = parse(attachment.text().as_bytes(), &Limits::passthrough());
            value.ok().map(Cow::Owned)
        }
    }
}

/// As digests tell values apart.
fn is_the_same(one: &Value, other: &Value) -> bool {
    encode::<Utf8>(one) == encode::<Utf8>(other)
}

/// What a reader further down may take for a separator, a dot, or another percent sign: also in UTF-8 that is longer than it has to
/// be, and in a form that was never standard.
const HIDDEN: [&str; 9] = [
    "%2e", "%2f", "%5c", "%25", "%c0", "%c1", "%e0%8", "%f0%8", "%u",
];

fn is_beneath(beginning: &str, text: &str) -> bool {
    let Some(rest) = text.strip_prefix(beginning) else {
        return false;
    };
    let hides = rest.to_ascii_lowercase();
    let is_plain =
        !rest.chars().any(char::is_control) && !HIDDEN.iter().any(|hidden| hides.contains(hidden));
    is_plain && !text.split(['/', '\\']).any(|segment| segment == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        parse(text.as_bytes(), &Limits::passthrough()).unwrap()
    }

    fn conditions(text: &str) -> Conditions {
        Conditions::from_value(&json(text)).unwrap()
    }

    /// As they stand, and as they are passed on: the two agree wherever both can be.
    fn covers(conditions: &Conditions, arguments: &str) -> bool {
        let attachment = countersign_contract::Attachment::read(arguments).unwrap();
        let covers = conditions.cover(&Arguments::attached(attachment));
        if let Ok(plain) = Arguments::new(json(arguments)) {
            assert_eq!(conditions.cover(&plain), covers, "{arguments}");
        }
        covers
    }

    #[test]
    fn every_argument_is_named_and_every_condition_kept() {
        let given = conditions(
            r#"{"path": {"begins_with": "/tmp/"}, "mode": {"is": "create"}, "text": {"any": true}}"#,
        );
        for covered in [
            r#"{"path": "/tmp/a", "mode": "create", "text": "x"}"#,
            r#"{"path": "/tmp/", "mode": "create"}"#,
            r#"{"path": "/tmp/a..b/...", "mode": "create", "text": [1, {"n": null}]}"#,
        ] {
            assert!(covers(&given, covered), "{covered}");
        }
        for other in [
            r#"{"path": "/tmp", "mode": "create"}"#,
            r#"{"path": "/tmp/../etc", "mode": "create"}"#,
            r#"{"path": "/tmp/a\\..\\b", "mode": "create"}"#,
            r#"{"path": "/tmp/%2E%2e/etc", "mode": "create"}"#,
            r#"{"path": "/tmp/%252e", "mode": "create"}"#,
            r#"{"path": "/tmp/%c0%AE%c0%ae/etc", "mode": "create"}"#,
            r#"{"path": "/tmp/%e0%80%ae./etc", "mode": "create"}"#,
            r#"{"path": "/tmp/%u002e./etc", "mode": "create"}"#,
            r#"{"path": "/tmp/a\u0000", "mode": "create"}"#,
            r#"{"path": ["/tmp/a"], "mode": "create"}"#,
            r#"{"path": "/tmp/a", "mode": "Create"}"#,
            r#"{"path": "/tmp/a", "mode": "create", "more": 1}"#,
            r#"{"path": "/tmp/a"}"#,
            r#"{"mode": "create"}"#,
            "{}",
            "[]",
            "null",
        ] {
            assert!(!covers(&given, other), "{other}");
        }
    }

    #[test]
    fn numbers_are_the_same_as_digests_say() {
        let given = conditions(r#"{"n": {"is": 9007199254740993}}"#);
        assert!(covers(&given, r#"{"n": 9007199254740993}"#));
        assert!(!covers(&given, r#"{"n": 9007199254740992}"#));
        assert!(!covers(&conditions(r#"{"n": {"is": 1}}"#), r#"{"n": "1"}"#));
    }

    #[test]
    fn conditions_have_bounds() {
        let many = |count: usize| {
            let named = (0..count).map(|number| (number.to_string(), Condition::Any));
            Conditions::new(named.collect())
        };
        assert!(many(MAX_CONDITIONS).is_some());
        assert!(many(MAX_CONDITIONS + 1).is_none());
        let large = Condition::Is("x".repeat(MAX_CONDITIONS_BYTES).as_str().into());
        assert!(Conditions::new([("a".to_owned(), large)].into()).is_none());
        for damaged in [
            r#"{"a": {"begins_with": ""}}"#,
            r#"{"a": {"any": false}}"#,
            r#"{"a": {"is": 1, "any": true}}"#,
            r#"{"a": {}}"#,
            r#"{"a": true}"#,
            "[]",
        ] {
            assert!(
                Conditions::from_value(&json(damaged)).is_none(),
                "{damaged}"
            );
        }
    }
}
