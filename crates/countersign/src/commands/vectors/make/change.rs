//! Changes a document in one place, and bytes in one byte.

use countersign_canonical::{Ascii, Object, Utf8, Value, encode, indented};

use super::arguments::{any_value, random_text};
use crate::commands::vectors::random::Random;

/// Changes one place, chosen on the way down.
pub(super) fn change(random: &mut Random, value: &Value) -> Value {
    match value {
        Value::Object(members) if !members.is_empty() && !random.once_in(12) => {
            change_member(random, members).into()
        }
        Value::Array(items) if !items.is_empty() && random.once_in(2) => {
            let at = random.below(items.len());
            let mut items = items.clone();
            if let Some(item) = items.get_mut(at) {
                *item = change(random, item);
            }
            Value::Array(items)
        }
        Value::String(text) => change_text(random, text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            any_value(random)
        }
    }
}

fn change_member(random: &mut Random, members: &Object) -> Object {
    let at = random.below(members.len());
    let name = members.keys().nth(at).unwrap_or_default().to_owned();
    let mut changed = members.clone();
    match random.below(10) {
        0 => {
            changed.remove(&name);
        }
        1 => {
            changed.insert("extra".to_owned(), any_value(random));
        }
        2 => {
            let member = changed.remove(&name).unwrap_or_default();
            changed.insert(name.to_uppercase(), member);
        }
        _ => {
            let member = members.get(&name).map(|member| change(random, member));
            changed.insert(name, member.unwrap_or_default());
        }
    }
    changed
}

fn change_text(random: &mut Random, text: &str) -> Value {
    let changed = match random.below(8) {
        0 => format!("{text}\n"),
        1 => text.to_uppercase(),
        2 => text.chars().skip(1).collect(),
        3 => format!("{text}0"),
        4 => text.chars().rev().collect(),
        5 => random_text(random),
        6 => format!("{text}{}", "x".repeat(random.pick(&[128, 256, 512]))),
        _ => return any_value(random),
    };
    changed.into()
}

/// Writes a document in one of several spellings; rarely, damaged.
pub(super) fn spell(random: &mut Random, value: &Value) -> Vec<u8> {
    let bytes = match random.below(3) {
        0 => encode::<Ascii>(value),
        1 => encode::<Utf8>(value),
        _ => indented(value),
    };
    if random.once_in(8) {
        damage(random, bytes)
    } else {
        bytes
    }
}

fn damage(random: &mut Random, mut bytes: Vec<u8>) -> Vec<u8> {
    let at = random.below(bytes.len());
    match random.below(7) {
        0 => bytes.truncate(at),
        1 => bytes.extend_from_slice(b" ,"),
        2 => bytes.splice(0..0, [0xef, 0xbb, 0xbf]).for_each(drop),
        3 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.pick(&[0, b'"', b'{', b',', 0xff, b'\\', b'0']);
            }
        }
        4 => {
            // Doubles the first member, if there is one.
            let twice: &[u8] = b"{\"schema\":1,\"schema\":1,";
            if bytes.first() == Some(&b'{') {
                bytes.splice(0..1, twice.iter().copied()).for_each(drop);
            }
        }
        5 => replace_first(&mut bytes, b"1", b"1e999"),
        _ => replace_first(&mut bytes, b"\"t", b"\"\\ud800"),
    }
    bytes
}

fn replace_first(bytes: &mut Vec<u8>, from: &[u8], to: &[u8]) {
    let at = bytes.windows(from.len()).position(|window| window == from);
    if let Some(at) = at {
        bytes
            .splice(at..at + from.len(), to.iter().copied())
            .for_each(drop);
    }
}
