//! The model-visible JSON Schema of a tool, generated from its rules.
//!
//! It says everything that the validator checks and JSON Schema can say, so
//! what it accepts the validator accepts, but for [`BEYOND_SCHEMA`].

use countersign_canonical::{Number, Object, Value};

use crate::catalog::rule::ArgumentRule;
use crate::catalog::tool::{Argument, Tool};
use crate::contract::{
    BOUNDED_JSON_INTEGER_MAX, BOUNDED_JSON_KEY_MAX_CHARS, BOUNDED_JSON_MAX_DEPTH,
    BOUNDED_JSON_MAX_NODES, BOUNDED_JSON_STRING_MAX_CHARS, IDENTIFIER_MAX_CHARS,
};

/// A rule of the validator that JSON Schema cannot say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeyondSchema {
    /// The rule's stable name.
    pub code: &'static str,
    /// The rule in words.
    pub rule: &'static str,
}

/// Every rule of the validator that the generated schemas do not say.
pub const BEYOND_SCHEMA: [BeyondSchema; 5] = [
    BeyondSchema {
        code: "integer_spelling",
        rule: "an integer is written without fraction and exponent: 24.0 and 24e0 are refused",
    },
    BeyondSchema {
        code: "total_values",
        rule: "an object argument holds at most 512 values in all, itself included, whatever their nesting",
    },
    BeyondSchema {
        code: "exact_integers",
        rule: "an integer inside of an object argument is below 2^63 in magnitude, also where a reader rounds to doubles",
    },
    BeyondSchema {
        code: "strict_json",
        rule: "member names are unique, and the text is strict JSON in UTF-8 without lone surrogates",
    },
    BeyondSchema {
        code: "request_size",
        rule: "the whole execution request stays within 32,768 bytes, 1,024 values and names, and 16 levels",
    },
];

// What Python's `str.strip` removes, in the notation that ECMAScript, Python and Rust read alike.
const SPACES: &str =
    r"\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";

impl Tool {
    /// Generates the JSON Schema (draft 2020-12) of the arguments.
    pub fn schema(&self) -> Value {
        let required = self
            .arguments
            .iter()
            .filter(|argument| argument.is_required());
        let mut members = vec![
            ("type", text("object")),
            ("additionalProperties", Value::Bool(false)),
            (
                "required",
                Value::Array(required.map(|argument| text(argument.name())).collect()),
            ),
            (
                "properties",
                Value::Object(
                    self.arguments
                        .iter()
                        .map(|argument| (argument.name.clone(), property(argument)))
                        .collect(),
                ),
            ),
        ];
        if self
            .arguments
            .iter()
            .any(|argument| matches!(argument.rule, ArgumentRule::Object))
        {
            members.push(("$defs", bounded_json_definitions()));
        }
        object(members)
    }
}

fn property(argument: &Argument) -> Value {
    let mut members = constraints(&argument.rule);
    members.extend(
        argument
            .description
            .as_deref()
            .map(|description| ("description", text(description))),
    );
    members.extend(
        argument
            .default()
            .map(|default| ("default", default.clone())),
    );
    object(members)
}

fn constraints(rule: &ArgumentRule) -> Vec<(&'static str, Value)> {
    match rule {
        ArgumentRule::Text {
            maximum_chars,
            allow_empty: true,
        } => vec![
            ("type", text("string")),
            ("maxLength", count(*maximum_chars)),
            ("pattern", text(r"^[^\u0000]*$")),
        ],
        ArgumentRule::Text {
            maximum_chars,
            allow_empty: false,
        } => vec![
            ("type", text("string")),
            ("minLength", count(1)),
            ("maxLength", count(*maximum_chars)),
            (
                "pattern",
                Value::String(format!(r"^[{SPACES}]*[^\u0000{SPACES}][^\u0000]*$")),
            ),
        ],
        ArgumentRule::Identifier => vec![
            ("type", text("string")),
            ("minLength", count(1)),
            ("maxLength", count(IDENTIFIER_MAX_CHARS)),
            (
                "pattern",
                text(r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,255}(?![\s\S])"),
            ),
        ],
        ArgumentRule::Integer { minimum, maximum } => vec![
            ("type", text("integer")),
            ("minimum", Value::from(*minimum)),
            ("maximum", Value::from(*maximum)),
        ],
        ArgumentRule::Number { minimum, maximum } => vec![
            ("type", text("number")),
            ("minimum", number(*minimum)),
            ("maximum", number(*maximum)),
        ],
        ArgumentRule::Choice { values } => vec![
            ("type", text("string")),
            (
                "enum",
                Value::Array(values.iter().map(|value| text(value)).collect()),
            ),
        ],
        ArgumentRule::Boolean => vec![("type", text("boolean"))],
        ArgumentRule::List {
            element,
            maximum_elements,
        } => vec![
            ("type", text("array")),
            ("maxItems", count(*maximum_elements)),
            ("items", object(constraints(element))),
        ],
        ArgumentRule::Object => bounded_json_object(1),
    }
}

/// An object whose members are at the given depth.
fn bounded_json_object(depth: usize) -> Vec<(&'static str, Value)> {
    let mut members = vec![
        ("type", text("object")),
        ("maxProperties", count(room_below(depth))),
    ];
    if depth <= BOUNDED_JSON_MAX_DEPTH {
        let key = object(vec![
            ("maxLength", count(BOUNDED_JSON_KEY_MAX_CHARS)),
            (
                "pattern",
                text(r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}(?![\s\S])"),
            ),
        ]);
        members.push(("propertyNames", key));
        members.push(("additionalProperties", reference(depth)));
    }
    members
}

fn bounded_json_definitions() -> Value {
    Value::Object(
        (1..=BOUNDED_JSON_MAX_DEPTH)
            .map(|depth| (definition(depth), bounded_json(depth)))
            .collect(),
    )
}

/// A value at the given depth.
fn bounded_json(depth: usize) -> Value {
    let below = depth.saturating_add(1);
    let mut array = vec![
        ("type", text("array")),
        ("maxItems", count(room_below(below))),
    ];
    if below <= BOUNDED_JSON_MAX_DEPTH {
        array.push(("items", reference(below)));
    }
    object(vec![(
        "anyOf",
        Value::Array(vec![
            object(vec![(
                "type",
                Value::Array(vec![text("null"), text("boolean")]),
            )]),
            object(vec![
                ("type", text("number")),
                ("minimum", Value::from(-BOUNDED_JSON_INTEGER_MAX)),
                ("maximum", Value::from(BOUNDED_JSON_INTEGER_MAX)),
            ]),
            object(vec![
                ("type", text("string")),
                ("maxLength", count(BOUNDED_JSON_STRING_MAX_CHARS)),
                ("pattern", text(r"^[^\u0000]*$")),
            ]),
            object(array),
            object(bounded_json_object(below)),
        ]),
    )])
}

/// How many values a container may hold whose members are at the given depth.
fn room_below(depth: usize) -> usize {
    if depth <= BOUNDED_JSON_MAX_DEPTH {
        BOUNDED_JSON_MAX_NODES.saturating_sub(depth)
    } else {
        0
    }
}

fn definition(depth: usize) -> String {
    format!("json_{depth}")
}

fn reference(depth: usize) -> Value {
    object(vec![(
        "$ref",
        Value::String(format!("#/$defs/{}", definition(depth))),
    )])
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn count(count: usize) -> Value {
    Value::from(i64::try_from(count).unwrap_or(i64::MAX))
}

fn number(number: f64) -> Value {
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

fn object(members: Vec<(&str, Value)>) -> Value {
    Value::Object(
        members
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<Object>(),
    )
}
