//! A tool contract's JSON form.

use std::collections::BTreeMap;
use std::time::Duration;

use countersign_canonical::{Number, NumberKind, Object, Value};

use super::{read_identifier, read_integer};
use crate::fault::{FaultCollector, Faults, Path, Problem, echo};
use crate::identifier::Revision;
use crate::rule::{MemberRule, Members, Pattern, Rule, StringRule};
use crate::sensitive_key::is_sensitive_key;
use crate::tool_contract::{OutputLimits, Revisions, Risk, ToolContract};

impl ToolContract {
    /// Reads a contract's JSON form.
    ///
    /// ```
    /// use countersign_canonical::{Limits, parse};
    /// use countersign_contract::ToolContract;
    ///
    /// let document = br#"{
    ///   "name": "get_order",
    ///   "risk": "read",
    ///   "source_label": "orders",
    ///   "revisions": {
    ///     "input_schema": "get-order-input-v1", "output_schema": "get-order-output-v2",
    ///     "effect": "read-order-v1", "handler": "get-order-handler-v2",
    ///     "producer": "orders-mock-v2", "policy": "get-order-policy-v1"
    ///   },
    ///   "arguments": {"order_ref": {"type": "string", "min_length": 1, "max_length": 64}},
    ///   "output": {
    ///     "order_ref": {"type": "string", "equals_argument": "order_ref"},
    ///     "status": {"type": "string", "enum": ["paid", "pending", "refunded"]}
    ///   },
    ///   "limits": {"output_bytes": 256, "output_depth": 1},
    ///   "timeout_ms": 500
    /// }"#;
    /// let value = parse(document, &Limits::tool_result())?;
    /// let contract = ToolContract::from_value(&value)?;
    /// assert_eq!(contract.name.as_str(), "get_order");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_value(value: &Value) -> Result<Self, Faults> {
        let mut faults = FaultCollector::new();
        let contract = read_contract(&Path::root(), value, &mut faults);
        faults.finish_with(contract)
    }
}

/// The longest time one execution may be given: one day.
const MAX_TIMEOUT_MS: i64 = 86_400_000;

/// Reads a contract as part of a larger document.
pub fn read_contract(
    path: &Path,
    value: &Value,
    faults: &mut FaultCollector,
) -> Option<ToolContract> {
    let members = [
        "name",
        "risk",
        "source_label",
        "revisions",
        "arguments",
        "output",
        "limits",
        "timeout_ms",
    ];
    let object = faults.exact_object(path, value, &members)?;
    let name = read_identifier(path, object, "name", faults);
    let source_label = read_identifier(path, object, "source_label", faults);
    let risk = match object.get("risk").and_then(Value::as_str) {
        Some("read") => Some(Risk::Read),
        Some("write") => Some(Risk::Write),
        _ => {
            faults.push(
                path.member("risk"),
                Problem::Expected("\"read\" or \"write\""),
            );
            None
        }
    };
    let revisions = read_revisions(&path.member("revisions"), object.get("revisions")?, faults);
    let arguments = read_members(
        &path.member("arguments"),
        object.get("arguments")?,
        0,
        faults,
    );
    let output = read_members(&path.member("output"), object.get("output")?, 0, faults);
    check_references(&path.member("arguments"), &arguments, None, faults);
    check_references(&path.member("output"), &output, Some(&arguments), faults);
    let limits = read_limits(&path.member("limits"), object.get("limits")?, faults);
    let timeout = read_integer(path, object, "timeout_ms", 1, MAX_TIMEOUT_MS, faults);
    Some(ToolContract {
        name: name?,
        risk: risk?,
        source_label: source_label?,
        revisions: revisions?,
        arguments,
        output,
        limits: limits?,
        timeout: Duration::from_millis(timeout?.unsigned_abs()),
    })
}

fn read_revisions(path: &Path, value: &Value, faults: &mut FaultCollector) -> Option<Revisions> {
    let members = [
        "input_schema",
        "output_schema",
        "effect",
        "handler",
        "producer",
        "policy",
    ];
    let object = faults.exact_object(path, value, &members)?;
    let mut revision = |name| read_identifier::<Revision>(path, object, name, faults);
    let (input_schema, output_schema) = (revision("input_schema"), revision("output_schema"));
    let (effect, handler) = (revision("effect"), revision("handler"));
    let (producer, policy) = (revision("producer"), revision("policy"));
    Some(Revisions {
        input_schema: input_schema?,
        output_schema: output_schema?,
        effect: effect?,
        handler: handler?,
        producer: producer?,
        policy: policy?,
    })
}

fn read_limits(path: &Path, value: &Value, faults: &mut FaultCollector) -> Option<OutputLimits> {
    let object = faults.exact_object(path, value, &["output_bytes", "output_depth"])?;
    let (max_bytes, max_depth) = (
        bound(OutputLimits::MAX_BYTES),
        bound(OutputLimits::MAX_DEPTH),
    );
    let bytes = read_integer(path, object, "output_bytes", 2, max_bytes, faults);
    let depth = read_integer(path, object, "output_depth", 1, max_depth, faults);
    Some(OutputLimits {
        bytes: size(bytes?),
        depth: size(depth?),
    })
}

/// How deep rules may nest; the value domain ends there.
const MAX_RULE_DEPTH: usize = 32;

fn read_members(path: &Path, value: &Value, depth: usize, faults: &mut FaultCollector) -> Members {
    let mut members = BTreeMap::new();
    let Some(object) = value.as_object() else {
        faults.push(path.clone(), Problem::NotAnObject);
        return Members(members);
    };
    for (name, rule) in object.iter() {
        if let Some(rule) = read_member(&path.member(name), rule, depth, faults) {
            members.insert(name.to_owned(), rule);
        }
    }
    Members(members)
}

fn read_member(
    path: &Path,
    value: &Value,
    depth: usize,
    faults: &mut FaultCollector,
) -> Option<MemberRule> {
    let Some(object) = value.as_object() else {
        faults.push(path.clone(), Problem::NotAnObject);
        return None;
    };
    let optional = object.get("optional").is_some_and(|value| {
        let optional = value.as_bool().ok_or(Problem::Expected("true or false"));
        faults
            .take(&path.member("optional"), optional)
            .unwrap_or_default()
    });
    let equals_argument = read_optional_text(path, object, "equals_argument", faults);
    let rule = read_rule(
        path,
        object,
        &["optional", "equals_argument"],
        depth,
        faults,
    );
    Some(MemberRule {
        rule: rule?,
        optional,
        equals_argument,
    })
}

/// Reads the rule of one value: `{"type": …}` and what the type allows.
pub fn read_value_rule(path: &Path, value: &Value, faults: &mut FaultCollector) -> Option<Rule> {
    let Some(object) = value.as_object() else {
        faults.push(path.clone(), Problem::NotAnObject);
        return None;
    };
    read_rule(path, object, &[], 0, faults)
}

/// Reads the rule proper; `beside` names the members that belong to its surroundings.
fn read_rule(
    path: &Path,
    object: &Object,
    beside: &[&str],
    depth: usize,
    faults: &mut FaultCollector,
) -> Option<Rule> {
    if depth >= MAX_RULE_DEPTH {
        faults.push(path.clone(), Problem::TooDeep(MAX_RULE_DEPTH));
        return None;
    }
    let kind = object.get("type").and_then(Value::as_str);
    let allowed: &[&str] = match kind {
        Some("string") => &["min_length", "max_length", "enum", "pattern"],
        Some("integer" | "number") => &["minimum", "maximum"],
        Some("boolean") => &[],
        Some("array") => &["items", "min_items", "max_items"],
        Some("object") => &["members"],
        _ => {
            let due = "\"string\", \"integer\", \"number\", \"boolean\", \"array\" or \"object\"";
            faults.push(path.member("type"), Problem::Expected(due));
            return None;
        }
    };
    for (name, _) in object.iter() {
        if name != "type" && !allowed.contains(&name) && !beside.contains(&name) {
            faults.push(path.clone(), Problem::Unexpected(echo(name)));
        }
    }
    match kind {
        Some("string") => Some(Rule::String(read_string_rule(path, object, faults))),
        Some("integer") => {
            let minimum = read_optional_integer(path, object, "minimum", i64::MIN, faults);
            let maximum = read_optional_integer(path, object, "maximum", i64::MIN, faults);
            check_range(path, ["minimum", "maximum"], minimum, maximum, faults);
            Some(Rule::Integer { minimum, maximum })
        }
        Some("number") => {
            let minimum = read_optional_number(path, object, "minimum", faults);
            let maximum = read_optional_number(path, object, "maximum", faults);
            check_range(path, ["minimum", "maximum"], minimum, maximum, faults);
            Some(Rule::Number { minimum, maximum })
        }
        Some("boolean") => Some(Rule::Boolean),
        Some("array") => read_array_rule(path, object, depth, faults),
        _ => {
            let Some(members) = object.get("members") else {
                faults.push(path.clone(), Problem::Missing("members".to_owned()));
                return None;
            };
            let members = read_members(&path.member("members"), members, depth + 1, faults);
            Some(Rule::Object(members))
        }
    }
}

fn read_array_rule(
    path: &Path,
    object: &Object,
    depth: usize,
    faults: &mut FaultCollector,
) -> Option<Rule> {
    let items_path = path.member("items");
    let Some(items) = object.get("items").and_then(Value::as_object) else {
        faults.push(items_path, Problem::Expected("the rule of one item"));
        return None;
    };
    let items = read_rule(&items_path, items, &[], depth + 1, faults);
    let min_items = read_optional_integer(path, object, "min_items", 0, faults);
    let max_items = read_optional_integer(path, object, "max_items", 0, faults);
    check_range(
        path,
        ["min_items", "max_items"],
        min_items,
        max_items,
        faults,
    );
    Some(Rule::Array {
        items: Box::new(items?),
        min_items: min_items.map(size),
        max_items: max_items.map(size),
    })
}

fn read_string_rule(path: &Path, object: &Object, faults: &mut FaultCollector) -> StringRule {
    let min_length = read_optional_integer(path, object, "min_length", 0, faults);
    let max_length = read_optional_integer(path, object, "max_length", 0, faults);
    check_range(
        path,
        ["min_length", "max_length"],
        min_length,
        max_length,
        faults,
    );
    let one_of = object.get("enum").and_then(|value| {
        let due = Problem::Expected("a list of at least one string");
        faults.take(&path.member("enum"), texts(value).ok_or(due))
    });
    let pattern = read_optional_text(path, object, "pattern", faults).and_then(|source| {
        let due = Problem::Expected(
            "a regular expression of moderate size, without look-around and back-references",
        );
        faults.take(&path.member("pattern"), Pattern::new(&source).ok_or(due))
    });
    StringRule {
        min_length: min_length.map(size),
        max_length: max_length.map(size),
        one_of,
        pattern,
    }
}

/// Nothing lies between a least and a smaller most: such a rule refuses everything, and is a mistake.
fn check_range<T: PartialOrd>(
    path: &Path,
    [least, most]: [&'static str; 2],
    minimum: Option<T>,
    maximum: Option<T>,
    faults: &mut FaultCollector,
) {
    if let (Some(minimum), Some(maximum)) = (minimum, maximum)
        && minimum > maximum
    {
        faults.push(path.member(most), Problem::Contradicts(least));
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array().filter(|items| !items.is_empty())?;
    items
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect()
}

/// Only an output's own members can be bound to arguments, and only to arguments that exist; and no output can have a
/// member that the scan for sensitive keys refuses.
fn check_references(
    path: &Path,
    members: &Members,
    arguments: Option<&Members>,
    faults: &mut FaultCollector,
) {
    for (name, member) in members.iter() {
        let path = path.member(name);
        if arguments.is_some() && is_sensitive_key(name) {
            faults.push(path.clone(), Problem::SensitiveKey);
        }
        if let Some(argument) = &member.equals_argument {
            let due = match arguments {
                None => Some(OUTPUT_ONLY),
                Some(arguments) if arguments.get(argument).is_none() => {
                    Some("the name of an argument")
                }
                Some(_) => None,
            };
            if let Some(due) = due {
                faults.push(path.member("equals_argument"), Problem::Expected(due));
            }
        }
        check_nested(&path, &member.rule, arguments.is_some(), faults);
    }
}

const OUTPUT_ONLY: &str = "used on an output's own members only";

fn check_nested(path: &Path, rule: &Rule, is_output: bool, faults: &mut FaultCollector) {
    match rule {
        Rule::Object(members) => {
            for (name, member) in members.iter() {
                let path = path.member(name);
                if is_output && is_sensitive_key(name) {
                    faults.push(path.clone(), Problem::SensitiveKey);
                }
                if member.equals_argument.is_some() {
                    faults.push(
                        path.member("equals_argument"),
                        Problem::Expected(OUTPUT_ONLY),
                    );
                }
                check_nested(&path, &member.rule, is_output, faults);
            }
        }
        Rule::Array { items, .. } => check_nested(path, items, is_output, faults),
        Rule::String(_) | Rule::Integer { .. } | Rule::Number { .. } | Rule::Boolean => {}
    }
}

fn read_optional_text(
    path: &Path,
    object: &Object,
    name: &str,
    faults: &mut FaultCollector,
) -> Option<String> {
    let value = object.get(name)?;
    let text = value
        .as_str()
        .map(str::to_owned)
        .ok_or(Problem::Expected("a string"));
    faults.take(&path.member(name), text)
}

fn read_optional_integer(
    path: &Path,
    object: &Object,
    name: &str,
    minimum: i64,
    faults: &mut FaultCollector,
) -> Option<i64> {
    object.get(name)?;
    read_integer(path, object, name, minimum, i64::MAX, faults)
}

fn read_optional_number(
    path: &Path,
    object: &Object,
    name: &str,
    faults: &mut FaultCollector,
) -> Option<f64> {
    let value = object.get(name)?;
    let number = match value.as_number().map(Number::kind) {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a bound is compared as a double"
        )]
        Some(NumberKind::Integer(integer)) => Ok(integer as f64),
        Some(NumberKind::Float(float)) => Ok(float),
        Some(NumberKind::BigInteger(_)) | None => Err(Problem::Expected("a number")),
    };
    faults.take(&path.member(name), number)
}

fn bound(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn size(integer: i64) -> usize {
    usize::try_from(integer).unwrap_or(0)
}
