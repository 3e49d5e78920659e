use crate::{Number, Object};

/// A JSON value whose meaning is settled: nothing in it is encoded in two ways.
///
/// Parsed values are at most [`Limits::MAX_DEPTH`](crate::Limits::MAX_DEPTH)
/// deep. Code that builds values keeps to that too, since they are dropped,
/// compared and encoded recursively.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum Value {
    /// The literal `null`.
    #[default]
    Null,
    /// The literals `true` and `false`.
    Bool(bool),
    /// An exact integer or a finite double.
    Number(Number),
    /// Unicode text.
    String(String),
    /// Items in their order.
    Array(Vec<Value>),
    /// Members with unique keys.
    Object(Object),
}

impl Value {
    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self {
            Some(*value)
        } else {
            None
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self {
            Some(number)
        } else {
            None
        }
    }

    /// The integer, if it is one and fits 64 bits.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    /// The text, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// The items, if it is an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(items) = self {
            Some(items)
        } else {
            None
        }
    }

    /// The members, if it is an object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self {
            Some(object)
        } else {
            None
        }
    }

    /// The value of a member, if it is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Number(value.into())
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<Vec<Self>> for Value {
    fn from(items: Vec<Self>) -> Self {
        Self::Array(items)
    }
}

impl<const N: usize> From<[(&str, Self); N]> for Value {
    fn from(members: [(&str, Self); N]) -> Self {
        Self::Object(members.into())
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}
