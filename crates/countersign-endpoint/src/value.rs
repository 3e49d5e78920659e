//! The values of a strictly parsed document.

use crate::number::Number;

/// A JSON value with unique, sorted keys and admissible numbers only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A 63-bit integer or a finite double.
    Number(Number),
    /// A text of Unicode scalar values.
    Text(String),
    /// An array.
    Array(Vec<Self>),
    /// An object.
    Object(Members),
}

impl Value {
    /// The text, if the value is one.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// The number, if the value is one. A boolean is none.
    pub fn as_number(&self) -> Option<Number> {
        if let Self::Number(number) = self {
            Some(*number)
        } else {
            None
        }
    }

    /// The members, if the value is an object.
    pub fn as_object(&self) -> Option<&Members> {
        if let Self::Object(members) = self {
            Some(members)
        } else {
            None
        }
    }

    /// The members themselves, if the value is an object.
    pub(crate) fn into_object(self) -> Option<Members> {
        if let Self::Object(members) = self {
            Some(members)
        } else {
            None
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

/// The members of an object, sorted by key in code point order.
// INVARIANT: strictly ascending keys, hence no key twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Members(Vec<(String, Value)>);

impl Members {
    /// Makes an object without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let position = self.position(key).ok()?;
        self.0.get(position).map(|(_, value)| value)
    }

    /// All members, in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a member and tells whether its key was new; an existing one is left as it is.
    pub fn insert_new(&mut self, key: String, value: Value) -> bool {
        // Senders mostly write in order, and the search is then over at once.
        if self.0.last().is_none_or(|(last, _)| *last < key) {
            self.0.push((key, value));
            return true;
        }
        match self.position(&key) {
            Ok(_) => false,
            Err(position) => {
                self.0.insert(position, (key, value));
                true
            }
        }
    }

    /// Takes a member out.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        let position = self.position(key).ok()?;
        Some(self.0.remove(position).1)
    }

    /// Adds a member of a fixed document shape.
    pub(crate) fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.insert_new(key.to_owned(), value.into());
        self
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.0
            .binary_search_by(|(existing, _)| existing.as_str().cmp(key))
    }
}

impl From<Members> for Value {
    fn from(members: Members) -> Self {
        Self::Object(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_by_code_point_and_unique() {
        let mut members = Members::new();
        // U+FF61 sorts before U+1F600 by code point, after it in UTF-16.
        for key in ["b", "\u{1f600}", "a", "\u{ff61}", ""] {
            assert!(members.insert_new(key.to_owned(), Value::Null));
        }
        assert!(!members.insert_new("a".to_owned(), Value::Bool(true)));
        let keys: Vec<_> = members.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["", "a", "b", "\u{ff61}", "\u{1f600}"]);
        assert_eq!(members.get("a"), Some(&Value::Null));
        assert_eq!(members.take("a"), Some(Value::Null));
        assert_eq!(members.take("a"), None);
        assert_eq!(members.len(), 4);
    }
}
