//! How much a schema is once its references are followed.

use std::collections::{BTreeMap, BTreeSet};

use countersign_canonical::Value;

/// The most schemas that one may unfold to.
const MAX_UNFOLDED: u64 = 50_000;
/// How many schemas may stand within each other, references followed.
const MAX_DEPTH: usize = 512;

/// Whether a schema stays small when its references are followed: a few that refer to each other twice, level by level, would
/// be judged for longer than anybody lives.
///
/// A schema that comes back to itself is bounded by the answer's depth and counts once each time.
pub(super) fn is_bounded(schema: &Value) -> bool {
    let mut walk = Walk::default();
    name_all(schema, &mut walk.named, 0);
    walk.root = Some(schema);
    walk.extent(schema, 0)
        .is_some_and(|extent| extent <= MAX_UNFOLDED)
}

#[derive(Default)]
struct Walk<'s> {
    root: Option<&'s Value>,
    /// Schemas by the names that they give themselves: `$id`, and anchors behind a `#`.
    named: BTreeMap<String, &'s Value>,
    known: BTreeMap<&'s str, u64>,
    open: BTreeSet<&'s str>,
}

impl<'s> Walk<'s> {
    fn extent(&mut self, value: &'s Value, depth: usize) -> Option<u64> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut extent = 1_u64;
        match value {
            Value::Object(object) => {
                for (name, child) in object.iter() {
                    let more = match (name, child) {
                        ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
                            self.referred(to.as_str(), depth)?
                        }
                        // Data, and schemas that are judged only where something refers to them.
                        (
                            "enum" | "const" | "default" | "examples" | "$defs" | "definitions",
                            _,
                        ) => 0,
                        _ => self.extent(child, depth + 1)?,
                    };
                    extent = extent.saturating_add(more);
                }
            }
            Value::Array(items) => {
                for item in items {
                    extent = extent.saturating_add(self.extent(item, depth + 1)?);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Some(extent)
    }

    fn referred(&mut self, to: &'s str, depth: usize) -> Option<u64> {
        if let Some(known) = self.known.get(to) {
            return Some(*known);
        }
        if !self.open.insert(to) {
            return Some(1);
        }
        let extent = match self.target(to) {
            Some(target) => self.extent(target, depth + 1)?,
            None => 1,
        };
        self.open.remove(to);
        self.known.insert(to, extent);
        Some(extent)
    }

    fn target(&self, to: &str) -> Option<&'s Value> {
        if let Some(named) = self.named.get(to) {
            return Some(named);
        }
        let (base, pointer) = to.split_once('#').unwrap_or((to, ""));
        let base = if base.is_empty() {
            self.root?
        } else {
            self.named.get(base)?
        };
        let mut parts = pointer.split('/').skip(1);
        parts.try_fold(base, |value, part| {
            let part = part.replace("~1", "/").replace("~0", "~");
            match value {
                Value::Array(items) => items.get(part.parse::<usize>().ok()?),
                Value::Object(object) => object.get(&part),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
            }
        })
    }
}

fn name_all<'s>(value: &'s Value, named: &mut BTreeMap<String, &'s Value>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(object) => {
            for (name, child) in object.iter() {
                match (name, child.as_str()) {
                    ("$id" | "id", Some(id)) => {
                        named.insert(id.trim_end_matches('#').to_owned(), value);
                    }
                    ("$anchor" | "$dynamicAnchor", Some(anchor)) => {
                        named.insert(format!("#{anchor}"), value);
                    }
                    _ => name_all(child, named, depth + 1),
                }
            }
        }
        Value::Array(items) => items
            .iter()
            .for_each(|item| name_all(item, named, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use countersign_canonical::{Limits, parse};

    use super::*;

    fn is_bounded_text(text: &str) -> bool {
        is_bounded(&parse(text.as_bytes(), &Limits::passthrough()).unwrap())
    }

    fn doubling(levels: usize, refer: impl Fn(usize) -> String) -> String {
        let level = |number| {
            let next = refer(number + 1);
            format!(
                r#""a{number}":{{"$anchor":"n{number}","allOf":[{{"$ref":"{next}"}},{{"$ref":"{next}"}}]}}"#
            )
        };
        let levels_text: Vec<_> = (0..levels).map(level).collect();
        let (first, last) = (
            refer(0),
            format!(r#""a{levels}":{{"$anchor":"n{levels}"}}"#),
        );
        format!(
            r#"{{"$ref":"{first}","$defs":{{{},{last}}}}}"#,
            levels_text.join(",")
        )
    }

    #[test]
    fn references_that_double_are_too_much() {
        let pointer = |number| format!("#/$defs/a{number}");
        let anchor = |number| format!("#n{number}");
        assert!(is_bounded_text(&doubling(8, pointer)));
        assert!(!is_bounded_text(&doubling(40, pointer)));
        assert!(is_bounded_text(&doubling(8, anchor)));
        assert!(!is_bounded_text(&doubling(40, anchor)));
    }

    #[test]
    fn what_comes_back_to_itself_is_bounded_by_the_answer() {
        for schema in [
            r##"{"$ref":"#"}"##,
            r##"{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#"}},{"additionalProperties":{"$ref":"#"}}]}"##,
            r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}"##,
            r#"{"$ref":"elsewhere"}"#,
            "true",
        ] {
            assert!(is_bounded_text(schema), "{schema}");
        }
    }

    #[test]
    fn a_long_chain_is_too_deep() {
        let chain: Vec<_> = (0..2000)
            .map(|number| format!(r##""a{number}":{{"$ref":"#/$defs/a{}"}}"##, number + 1))
            .collect();
        let schema = format!(
            r##"{{"$ref":"#/$defs/a0","$defs":{{{}}}}}"##,
            chain.join(",")
        );
        assert!(!is_bounded_text(&schema));
    }
}
