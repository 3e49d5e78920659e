//! Calls at, just inside and just outside every bound of both catalogs.

use std::collections::BTreeSet;

use countersign_canonical::{Number, Object, Value};
use countersign_endpoint as endpoint;
use countersign_governed as host;

use crate::sides::Sides;

/// A proposed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

/// Lists calls that tell two catalogs apart wherever they differ in a tool, an argument or a bound.
///
/// The bounds are those of both catalogs, so that neither side's table is the measure of the other's.
pub fn probes(sides: &Sides) -> Vec<Call> {
    let of_host = sides.host.tools().map(|tool| tool.name().as_str());
    let of_endpoint = sides.endpoint.iter().map(|tool| tool.name().as_str());
    let tools: BTreeSet<&str> = of_host.chain(of_endpoint).collect();
    let mut calls: Vec<_> = tools
        .into_iter()
        .flat_map(|tool| probes_of(sides, tool))
        .collect();
    calls.extend(probes_of(sides, "colony_unknown"));
    calls
}

/// Lists those calls of one tool.
pub fn probes_of(sides: &Sides, tool: &str) -> Vec<Call> {
    let calls = calls_of(&sides.arguments_of(tool)).into_iter();
    calls
        .map(|arguments| Call {
            tool: tool.to_owned(),
            arguments,
        })
        .collect()
}

/// One argument of a tool, as far as it matters for probing.
struct Probed {
    name: String,
    is_required: bool,
    /// One that every side should take.
    plain: Value,
    values: Vec<Value>,
}

fn calls_of(arguments: &[Probed]) -> Vec<Value> {
    let with = |name: &str, value: Value| {
        let others = arguments
            .iter()
            .filter(|argument| argument.is_required && argument.name != name);
        let mut call: Object = others
            .map(|other| (other.name.clone(), other.plain.clone()))
            .collect();
        call.insert(name.to_owned(), value);
        Value::Object(call)
    };
    let required = || arguments.iter().filter(|argument| argument.is_required);
    let plain: Object = required()
        .map(|argument| (argument.name.clone(), argument.plain.clone()))
        .collect();
    let mut calls = vec![
        Value::Object(plain.clone()),
        Value::Null,
        Value::Array(Vec::new()),
        with("no_argument_of_this_tool", Value::Null),
    ];
    for argument in arguments {
        let mut without = plain.clone();
        without.remove(&argument.name);
        calls.push(without.into());
        let values = argument.values.iter().chain([&argument.plain]);
        calls.extend(values.map(|value| with(&argument.name, value.clone())));
    }
    calls
}

impl Sides {
    /// Joins what both sides say of a tool's arguments.
    fn arguments_of(&self, tool: &str) -> Vec<Probed> {
        let mut joined: Vec<Probed> = Vec::new();
        let mut join =
            |name: &str, is_required: bool, (plain, values): (Value, Vec<Value>)| match joined
                .iter_mut()
                .find(|probed| probed.name == name)
            {
                Some(probed) => {
                    probed.is_required |= is_required;
                    probed.values.push(plain);
                    probed.values.extend(values);
                }
                None => joined.push(Probed {
                    name: name.to_owned(),
                    is_required,
                    plain,
                    values,
                }),
            };
        for argument in self.host.tool(tool).map_or(&[][..], host::Tool::arguments) {
            let values = probe_host(argument.rule());
            join(argument.name(), argument.is_required(), values);
        }
        let of_endpoint = self.endpoint.tool(tool);
        for argument in of_endpoint.map_or(&[][..], endpoint::Tool::arguments) {
            let values = probe_endpoint(argument.rule());
            join(argument.name(), argument.is_required(), values);
        }
        joined
    }
}

fn probe_host(rule: &host::ArgumentRule) -> (Value, Vec<Value>) {
    use host::ArgumentRule as Rule;
    match rule {
        Rule::Text { maximum_chars, .. } => texts(*maximum_chars),
        Rule::Identifier => texts(endpoint::IDENTIFIER_MAX_CHARS),
        Rule::Integer { minimum, maximum } => integers(*minimum, *maximum),
        Rule::Number { minimum, maximum } => numbers(*minimum, *maximum),
        Rule::Choice { values } => choices(values),
        Rule::Boolean => (true.into(), of_every_kind()),
        Rule::List {
            element,
            maximum_elements,
        } => {
            let (plain, values) = probe_host(element);
            let long = |count: usize| Value::Array(vec![plain.clone(); count]);
            let mut lists = of_every_kind();
            lists.extend(values.into_iter().map(|value| Value::Array(vec![value])));
            lists.extend([long(*maximum_elements), long(maximum_elements + 1)]);
            (Value::Array(vec![plain.clone()]), lists)
        }
        Rule::Object => objects(),
    }
}

fn probe_endpoint(rule: &endpoint::ArgumentRule) -> (Value, Vec<Value>) {
    use endpoint::ArgumentRule as Rule;
    match rule {
        Rule::Text { maximum_chars, .. } => texts(*maximum_chars),
        Rule::Identifier => texts(endpoint::IDENTIFIER_MAX_CHARS),
        Rule::Integer { minimum, maximum } => integers(*minimum, *maximum),
        Rule::Number { minimum, maximum } => numbers(*minimum, *maximum),
        Rule::Choice(values) => choices(values),
        Rule::Boolean => (true.into(), of_every_kind()),
        Rule::BoundedObject => objects(),
    }
}

fn of_every_kind() -> Vec<Value> {
    vec![
        Value::Null,
        false.into(),
        0_i64.into(),
        1_i64.into(),
        float(1.0),
        float(0.5),
        "".into(),
        "1".into(),
        "x".into(),
        Value::Array(Vec::new()),
        Object::new().into(),
    ]
}

fn texts(maximum_chars: usize) -> (Value, Vec<Value>) {
    let mut values = of_every_kind();
    for character in ["x", "é", "🍵"] {
        let long = |chars: usize| Value::from(character.repeat(chars));
        values.extend([long(maximum_chars), long(maximum_chars + 1)]);
    }
    let marked = [
        " ",
        "\u{1c}",
        "\u{1f}\u{85}\u{a0}\u{3000}",
        "\u{200b}",
        "\u{feff}",
        "a\0",
        "a\n",
        "\na",
        "\u{7f}",
        "a b",
        "a@b",
        "-a",
        ".a",
        "a/b:c.d_e-f",
        "A",
        "0",
        "é1",
        "a\u{2028}",
        "\u{10ffff}",
    ];
    values.extend(marked.map(Value::from));
    ("x".into(), values)
}

fn choices(allowed: &[String]) -> (Value, Vec<Value>) {
    let mut values = of_every_kind();
    for choice in allowed {
        let near = [
            choice.clone(),
            choice.to_uppercase(),
            format!("{choice} "),
            format!("{choice}\n"),
        ];
        values.extend(near.map(Value::from));
    }
    (allowed.first().cloned().unwrap_or_default().into(), values)
}

fn integers(minimum: i64, maximum: i64) -> (Value, Vec<Value>) {
    let mut values = of_every_kind();
    let around = [
        minimum.saturating_sub(1),
        minimum,
        minimum.saturating_add(1),
        maximum.saturating_sub(1),
        maximum,
        maximum.saturating_add(1),
        i64::MIN,
        -i64::MAX,
        i64::MAX,
    ];
    values.extend(around.map(Value::from));
    values.extend([minimum, maximum].map(|bound| bound.to_string().into()));
    values.push(Value::Number(u64::MAX.into()));
    values.extend([2.5, -0.0, 1e300].map(float));
    (minimum.into(), values)
}

fn numbers(minimum: f64, maximum: f64) -> (Value, Vec<Value>) {
    let mut values = of_every_kind();
    for bound in [minimum, maximum] {
        let around = [
            bound,
            bound.next_up(),
            bound.next_down(),
            bound - 0.5,
            bound + 0.5,
            bound.trunc(),
        ];
        values.extend(around.map(float));
    }
    values.extend([-0.0, 5e-324, -5e-324, f64::MAX, f64::MIN].map(float));
    values.extend([-1, 2, i64::MAX, -i64::MAX, i64::MIN].map(Value::from));
    values.push(Value::Number(u64::MAX.into()));
    (float(minimum), values)
}

fn objects() -> (Value, Vec<Value>) {
    let object = |key: &str, value: Value| Value::from([(key, value)]);
    let list = |count: usize| object("k", Value::Array(vec![0_i64.into(); count]));
    let nested = |depth: usize| {
        let deep = (0..depth).fold(0_i64.into(), |inner, _| Value::Array(vec![inner]));
        object("k", deep)
    };
    let text = |character: &str, chars: usize| object("k", character.repeat(chars).into());
    let mut values = of_every_kind();
    values.extend([list(510), list(511), nested(7), nested(8), nested(9)]);
    for character in ["x", "é", "🍵"] {
        values.extend([text(character, 4_096), text(character, 4_097)]);
    }
    values.extend([128, 129].map(|chars| object(&"k".repeat(chars), Value::Null)));
    let keys = ["", "a b", "a@b", "-a", "é", "k\n", "\0", "a/b:c.d_e-f"];
    values.extend(keys.map(|key| object(key, 1_i64.into())));
    let inside = [
        "a\0".into(),
        "".into(),
        Value::Bool(true),
        Value::Null,
        i64::MIN.into(),
        (-i64::MAX).into(),
        i64::MAX.into(),
        Value::Number(u64::MAX.into()),
        float(1e300),
        float(-0.0),
        float(5e-324),
        Object::new().into(),
    ];
    values.extend(inside.map(|value| object("k", value)));
    (Object::new().into(), values)
}

/// A bound that is no finite number has no number of its own: null stands for it.
fn float(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}
