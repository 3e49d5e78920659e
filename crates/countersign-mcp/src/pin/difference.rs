//! What has changed of a tool, so that a person can read it.

use std::fmt;

use countersign_canonical::{Utf8, Value, encode};
use countersign_contract::Inert;

use crate::tools::Facets;

/// The most differences that are listed; more are only counted as one more.
pub const MAX_DIFFERENCES: usize = 32;

/// The most characters that are shown of a place or a value.
const MAX_SHOWN_CHARS: usize = 240;

/// One place where a tool is described in another way than it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where, such as `input schema /properties/path/type`.
    pub place: String,
    /// What stood there; nothing where nothing did.
    pub was: Option<String>,
    /// What stands there; nothing where nothing does.
    pub is: Option<String>,
}

/// Everything in it is safe to be shown on a terminal.
impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, was, is } = self;
        match (was, is) {
            (Some(was), Some(is)) => write!(formatter, "{place}: was {was}, is {is}"),
            (None, Some(is)) => write!(formatter, "{place}: is new: {is}"),
            (Some(was), None) => write!(formatter, "{place}: is gone: {was}"),
            (None, None) => write!(formatter, "{place}: there are more differences"),
        }
    }
}

pub(super) fn differences(was: &Facets, is: &Facets) -> Vec<Difference> {
    let mut found = Vec::new();
    for (what, was, is) in [
        ("text", &was.description, &is.description),
        ("annotations", &was.annotations, &is.annotations),
        ("input schema", &was.input_schema, &is.input_schema),
        ("output schema", &was.output_schema, &is.output_schema),
    ] {
        walk(&format!("{what} "), Some(was), Some(is), &mut found);
    }
    if found.len() > MAX_DIFFERENCES {
        found.truncate(MAX_DIFFERENCES);
        found.push(Difference {
            place: "elsewhere".to_owned(),
            was: None,
            is: None,
        });
    }
    found
}

/// Recurses no deeper than the parser lets values be.
fn walk(place: &str, was: Option<&Value>, is: Option<&Value>, found: &mut Vec<Difference>) {
    if was == is || found.len() > MAX_DIFFERENCES {
        return;
    }
    if let (Some(Value::Object(before)), Some(Value::Object(after))) = (was, is) {
        let names = before
            .keys()
            .chain(after.keys().filter(|name| !before.contains_key(name)));
        for name in names {
            let inner = format!("{place}/{}", Inert::beginning(name, MAX_SHOWN_CHARS));
            walk(&inner, before.get(name), after.get(name), found);
        }
        return;
    }
    if let (Some(Value::Array(before)), Some(Value::Array(after))) = (was, is) {
        for index in 0..before.len().max(after.len()) {
            walk(
                &format!("{place}/{index}"),
                before.get(index),
                after.get(index),
                found,
            );
        }
        return;
    }
    found.push(Difference {
        place: Inert::beginning(place.trim_end(), MAX_SHOWN_CHARS).to_string(),
        was: was.filter(|value| !value.is_null()).map(shown),
        is: is.filter(|value| !value.is_null()).map(shown),
    });
}

fn shown(value: &Value) -> String {
    let text = String::from_utf8(encode::<Utf8>(value)).unwrap_or_default();
    Inert::beginning(&text, MAX_SHOWN_CHARS).to_string()
}
