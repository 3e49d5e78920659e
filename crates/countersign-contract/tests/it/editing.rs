//! Reading and changing JSON values by place: `model_result.error.code`.

use countersign_canonical::{Limits, Object, Value, parse};

pub(crate) fn json(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::passthrough())
        .unwrap_or_else(|error| panic!("{error} in {text}"))
}

pub(crate) fn at<'v>(value: &'v Value, place: &str) -> &'v Value {
    place.split('.').fold(value, |value, name| {
        value
            .get(name)
            .unwrap_or_else(|| panic!("{place} leads to nothing"))
    })
}

/// The value with another member at the place, which may be a new one.
pub(crate) fn with(value: &Value, place: &str, member: impl Into<Value>) -> Value {
    edit(value, place, Some(member.into()))
}

pub(crate) fn without(value: &Value, place: &str) -> Value {
    edit(value, place, None)
}

fn edit(value: &Value, place: &str, member: Option<Value>) -> Value {
    let mut object = value
        .as_object()
        .unwrap_or_else(|| panic!("{place} leads to nothing"))
        .clone();
    let (name, member) = match place.split_once('.') {
        None => (place, member),
        Some((name, rest)) => (name, Some(edit(at(value, name), rest, member))),
    };
    match member {
        Some(member) => object.insert(name.to_owned(), member),
        None => object.remove(name),
    };
    Value::Object(object)
}

/// The place of every member inside the value, containers before what they hold.
pub(crate) fn places(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect("", value, &mut found);
    found
}

fn collect(place: &str, value: &Value, found: &mut Vec<String>) {
    for (name, member) in value.as_object().into_iter().flat_map(Object::iter) {
        let place = if place.is_empty() {
            name.to_owned()
        } else {
            format!("{place}.{name}")
        };
        found.push(place.clone());
        collect(&place, member, found);
    }
}

/// A value of nested lists.
pub(crate) fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
}
