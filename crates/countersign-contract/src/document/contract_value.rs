//! A tool contract written out in its JSON form.

use countersign_canonical::{Number, Object, Value};

use crate::rule::{MemberRule, Members, Rule, StringRule};
use crate::tool_contract::{Revisions, Risk, ToolContract};

impl ToolContract {
    /// Writes the contract in the form that [`ToolContract::from_value`] reads; what it reads from it is equal.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let risk = match self.risk {
            Risk::Read => "read",
            Risk::Write => "write",
        };
        let limits = Value::from([
            ("output_bytes", size(self.limits.bytes)),
            ("output_depth", size(self.limits.depth)),
        ]);
        let timeout_ms = i64::try_from(self.timeout.as_millis()).unwrap_or(i64::MAX);
        Value::from([
            ("name", Value::from(self.name.as_str())),
            ("risk", Value::from(risk)),
            ("source_label", Value::from(self.source_label.as_str())),
            ("revisions", revisions(&self.revisions)),
            ("arguments", members(&self.arguments)),
            ("output", members(&self.output)),
            ("limits", limits),
            ("timeout_ms", Value::from(timeout_ms)),
        ])
    }
}

fn revisions(revisions: &Revisions) -> Value {
    Value::from(
        [
            ("input_schema", &revisions.input_schema),
            ("output_schema", &revisions.output_schema),
            ("effect", &revisions.effect),
            ("handler", &revisions.handler),
            ("producer", &revisions.producer),
            ("policy", &revisions.policy),
        ]
        .map(|(name, revision)| (name, Value::from(revision.as_str()))),
    )
}

fn members(members: &Members) -> Value {
    let written = members
        .iter()
        .map(|(name, rule)| (name.to_owned(), member(rule)));
    Value::Object(written.collect())
}

fn member(member: &MemberRule) -> Value {
    let mut written = rule(&member.rule);
    if member.optional {
        put(&mut written, "optional", Some(Value::from(true)));
    }
    let argument = member.equals_argument.as_deref().map(Value::from);
    put(&mut written, "equals_argument", argument);
    Value::Object(written)
}

fn rule(rule: &Rule) -> Object {
    let mut written = Object::new();
    let kind = match rule {
        Rule::String(rule) => {
            put_string_rule(&mut written, rule);
            "string"
        }
        Rule::Integer { minimum, maximum } => {
            put(&mut written, "minimum", minimum.map(Value::from));
            put(&mut written, "maximum", maximum.map(Value::from));
            "integer"
        }
        Rule::Number { minimum, maximum } => {
            put(&mut written, "minimum", minimum.and_then(double));
            put(&mut written, "maximum", maximum.and_then(double));
            "number"
        }
        Rule::Boolean => "boolean",
        Rule::Array {
            items,
            min_items,
            max_items,
        } => {
            let items = Value::Object(self::rule(items));
            put(&mut written, "items", Some(items));
            put(&mut written, "min_items", min_items.map(size));
            put(&mut written, "max_items", max_items.map(size));
            "array"
        }
        Rule::Object(exact) => {
            put(&mut written, "members", Some(members(exact)));
            "object"
        }
    };
    put(&mut written, "type", Some(Value::from(kind)));
    written
}

fn put_string_rule(written: &mut Object, rule: &StringRule) {
    put(written, "min_length", rule.min_length.map(size));
    put(written, "max_length", rule.max_length.map(size));
    let one_of = rule
        .one_of
        .as_ref()
        .map(|texts| Value::Array(texts.iter().map(|text| text.as_str().into()).collect()));
    put(written, "enum", one_of);
    let pattern = rule.pattern.as_ref();
    put(
        written,
        "pattern",
        pattern.map(|pattern| pattern.as_str().into()),
    );
}

fn put(written: &mut Object, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        written.insert(name.to_owned(), value);
    }
}

fn double(bound: f64) -> Option<Value> {
    Number::from_f64(bound).map(Value::from)
}

fn size(size: usize) -> Value {
    Value::from(i64::try_from(size).unwrap_or(i64::MAX))
}
