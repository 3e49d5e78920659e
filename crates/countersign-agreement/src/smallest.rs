//! Shrinks a document to the least that still shows something.

use countersign_canonical::{Number, NumberKind, Object, Utf8, Value, encode};

/// Most documents that are tried.
const MAXIMUM_TRIALS: usize = 20_000;

/// Finds a document, as small as greedy steps lead, of which `shows` still holds.
///
/// `document` itself is what comes back where nothing smaller shows it. Smaller
/// is: shorter in its canonical form or, at equal length, earlier in byte order.
pub fn smallest(document: &Value, mut shows: impl FnMut(&Value) -> bool) -> Value {
    let mut found = document.clone();
    let mut trials = 0;
    loop {
        let size = size_of(&found);
        let mut candidates: Vec<_> = simpler(&found)
            .into_iter()
            .map(|candidate| (size_of(&candidate), candidate))
            .filter(|(candidate, _)| *candidate < size)
            .collect();
        candidates.sort_by(|left, right| left.0.cmp(&right.0));
        let better = candidates.into_iter().find(|(_, candidate)| {
            trials += 1;
            trials <= MAXIMUM_TRIALS && shows(candidate)
        });
        match better {
            Some((_, candidate)) => found = candidate,
            None => return found,
        }
    }
}

fn size_of(value: &Value) -> (usize, Vec<u8>) {
    let bytes = encode::<Utf8>(value);
    (bytes.len(), bytes)
}

/// One step towards less, in every place.
fn simpler(value: &Value) -> Vec<Value> {
    match value {
        Value::Null | Value::Bool(_) => vec![0_i64.into()],
        Value::Number(number) => simpler_numbers(number),
        Value::String(text) => simpler_texts(text).into_iter().map(Value::from).collect(),
        Value::Array(items) => simpler_arrays(items),
        Value::Object(members) => simpler_objects(members),
    }
}

fn simpler_numbers(number: &Number) -> Vec<Value> {
    let mut values = vec![0_i64.into(), 1_i64.into()];
    match number.kind() {
        NumberKind::Integer(integer) => {
            let steps = [integer / 10, integer / 2, integer.saturating_sub(1)];
            values.extend(steps.map(Value::from));
        }
        NumberKind::BigInteger(_) => values.push(i64::MAX.into()),
        NumberKind::Float(float) => {
            let steps = [0.5, float.trunc(), float / 10.0, float / 2.0];
            values.extend(
                steps
                    .into_iter()
                    .filter_map(Number::from_f64)
                    .map(Value::from),
            );
        }
    }
    values
}

fn simpler_texts(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let (front, back) = characters.split_at(characters.len() / 2);
    let mut texts = vec![
        String::new(),
        front.iter().collect(),
        back.iter().collect(),
        characters.iter().skip(1).collect(),
        characters.iter().rev().skip(1).rev().collect(),
        "0".repeat(characters.len()),
        "a".repeat(characters.len()),
    ];
    // Where one character is the point, it alone is left.
    if characters.len() <= 16 {
        texts.extend(characters.iter().map(char::to_string));
    }
    texts
}

fn simpler_arrays(items: &[Value]) -> Vec<Value> {
    let mut values = vec![0_i64.into(), Value::Array(Vec::new())];
    values.extend(items.iter().cloned());
    let (front, back) = items.split_at(items.len() / 2);
    values.extend([front.to_vec().into(), back.to_vec().into()]);
    for (index, item) in items.iter().enumerate() {
        let with = |replacement: Option<Value>| {
            let others = items.iter().enumerate().filter_map(|(at, other)| {
                if at == index {
                    replacement.clone()
                } else {
                    Some(other.clone())
                }
            });
            Value::Array(others.collect())
        };
        values.push(with(None));
        values.extend(simpler(item).into_iter().map(|item| with(Some(item))));
    }
    values
}

fn simpler_objects(members: &Object) -> Vec<Value> {
    let mut values = vec![0_i64.into(), Object::new().into()];
    values.extend(members.iter().map(|(_, member)| member.clone()));
    for (name, member) in members.iter() {
        let mut without = members.clone();
        without.remove(name);
        values.push(without.clone().into());
        for candidate in simpler(member) {
            let mut with = members.clone();
            with.insert(name.to_owned(), candidate);
            values.push(with.into());
        }
        for candidate in simpler_texts(name) {
            if !members.contains_key(&candidate) {
                let mut renamed = without.clone();
                renamed.insert(candidate, member.clone());
                values.push(renamed.into());
            }
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use countersign_canonical::{Limits, parse};

    use super::*;

    fn shrunk(json: &str, shows: impl FnMut(&Value) -> bool) -> String {
        let document = parse(json.as_bytes(), &Limits::passthrough()).unwrap();
        String::from_utf8(encode::<Utf8>(&smallest(&document, shows))).unwrap()
    }

    #[test]
    fn what_does_not_matter_goes() {
        let json = r#"{"a":[1,{"hours":4711,"reason":"long"}],"b":"x","c":null}"#;
        let holds_hours = |value: &Value| {
            let Some([_, object]) = value.get("a").and_then(Value::as_array) else {
                return false;
            };
            object.get("hours").and_then(Value::as_i64) > Some(168)
        };
        assert_eq!(shrunk(json, holds_hours), r#"{"a":[0,{"hours":169}]}"#);
        assert_eq!(shrunk(json, |_| true), "0");
    }

    #[test]
    fn a_long_text_is_cut_to_its_point() {
        let json = format!("[\"{}\\u0000{}\"]", "x".repeat(500), "y".repeat(700));
        let has_nul = |value: &Value| {
            value
                .as_array()
                .and_then(<[Value]>::first)
                .and_then(Value::as_str)
                .is_some_and(|text| text.contains('\0'))
        };
        assert_eq!(shrunk(&json, has_nul), r#"["\u0000"]"#);
    }

    #[test]
    fn what_shows_nothing_smaller_stays() {
        let json = r#"{"a":[1.5,"é"]}"#;
        let document = parse(json.as_bytes(), &Limits::passthrough()).unwrap();
        assert_eq!(smallest(&document, |_| false), document);
    }
}
