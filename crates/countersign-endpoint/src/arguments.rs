//! Checks a call's arguments against its tool's rules.

use crate::catalog::{Argument, Catalog};
use crate::fault::{Fault, FaultKind, Faults, Location};
use crate::grammar::{IDENTIFIER_MAX_CHARS, exceeds_chars, is_blank, is_identifier};
use crate::number::{INTEGER_MAX, Number, NumberKind};
use crate::value::{Members, Value};

/// The most values of a bounded object, itself included; keys do not count.
pub const BOUNDED_JSON_NODES_MAX: usize = 512;
/// The deepest value of a bounded object; the object is at depth 0.
pub const BOUNDED_JSON_DEPTH_MAX: usize = 8;
/// The longest text in a bounded object, in code points.
pub const BOUNDED_JSON_TEXT_MAX_CHARS: usize = 4_096;
/// The longest key in a bounded object, in characters.
pub const BOUNDED_JSON_KEY_MAX_CHARS: usize = 128;

/// What an argument's value must be. Nothing is ever coerced.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentRule {
    /// Text without U+0000.
    Text {
        /// The most code points.
        maximum_chars: usize,
        /// Whether it may be empty or all white space.
        blank: Blank,
    },
    /// An identifier of at most 256 characters.
    Identifier,
    /// One of the texts listed.
    Choice(Vec<String>),
    /// An integer in a range, both ends included. `1.0` is none.
    Integer {
        /// The least value.
        minimum: i64,
        /// The greatest value.
        maximum: i64,
    },
    /// An integer or float in a range, both ends included.
    Number {
        /// The least value.
        minimum: f64,
        /// The greatest value.
        maximum: f64,
    },
    /// `true` or `false`.
    Boolean,
    /// An object of bounded size whose keys are identifiers.
    BoundedObject,
}

/// Whether a text may be blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blank {
    /// Empty and all-white texts pass.
    Allowed,
    /// Some character must not be white space.
    Refused,
}

impl Catalog {
    /// Checks a call's arguments and reports every fault.
    pub fn check_arguments(&self, tool: &str, arguments: &Value) -> Result<(), Faults> {
        let mut faults = Vec::new();
        check_arguments(self, tool, arguments, &mut faults);
        if faults.is_empty() {
            Ok(())
        } else {
            Err(Faults::new(faults))
        }
    }
}

/// Appends the faults of a call to those already found.
pub(crate) fn check_arguments(
    catalog: &Catalog,
    tool: &str,
    arguments: &Value,
    faults: &mut Vec<Fault>,
) {
    let mut fault = |location, kind| faults.push(Fault::new(location, kind));
    let Some(tool) = catalog.tool(tool) else {
        return fault(Location::Field("tool_name"), FaultKind::UnknownTool);
    };
    let Some(members) = arguments.as_object() else {
        return fault(Location::Field("args"), FaultKind::NotAnObject);
    };
    let mut known = 0;
    for argument in tool.arguments() {
        let location = || Location::Argument(argument.name().to_owned());
        let Some(value) = members.get(argument.name()) else {
            if argument.is_required() {
                fault(location(), FaultKind::Missing);
            }
            continue;
        };
        known += 1;
        if let Err(kind) = check_value(argument, value) {
            fault(location(), kind);
        }
    }
    if members.len() > known {
        fault(Location::Field("args"), FaultKind::UnknownField);
    }
}

fn check_value(argument: &Argument, value: &Value) -> Result<(), FaultKind> {
    match argument.rule() {
        ArgumentRule::Text {
            maximum_chars,
            blank,
        } => check_text(value, *maximum_chars, *blank),
        ArgumentRule::Identifier => {
            let text = value.as_text().ok_or(FaultKind::NotText)?;
            ensure(
                is_identifier(text, IDENTIFIER_MAX_CHARS),
                FaultKind::NotAnIdentifier,
            )
        }
        ArgumentRule::Choice(allowed) => {
            let text = value.as_text().ok_or(FaultKind::NotText)?;
            ensure(
                allowed.iter().any(|choice| choice == text),
                FaultKind::NotAllowed,
            )
        }
        ArgumentRule::Integer { minimum, maximum } => match value.as_number().map(Number::kind) {
            Some(NumberKind::Integer(integer)) => ensure(
                (*minimum..=*maximum).contains(&integer),
                FaultKind::OutOfRange,
            ),
            Some(NumberKind::Float(_)) | None => Err(FaultKind::NotAnInteger),
        },
        ArgumentRule::Number { minimum, maximum } => {
            let number = value.as_number().ok_or(FaultKind::NotANumber)?;
            ensure(is_within(number, *minimum, *maximum), FaultKind::OutOfRange)
        }
        ArgumentRule::Boolean => ensure(matches!(value, Value::Bool(_)), FaultKind::NotABoolean),
        ArgumentRule::BoundedObject => {
            let members = value.as_object().ok_or(FaultKind::NotAnObject)?;
            let mut values = 1;
            check_bounded_members(members, 0, &mut values)
        }
    }
}

/// Compares exactly, also where an integer has no double of its own.
fn is_within(number: Number, minimum: f64, maximum: f64) -> bool {
    match number.kind() {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a bound beyond i128 saturates, which compares the same"
        )]
        NumberKind::Integer(integer) => {
            (minimum.ceil() as i128..=maximum.floor() as i128).contains(&i128::from(integer))
        }
        NumberKind::Float(float) => (minimum..=maximum).contains(&float),
    }
}

fn check_text(value: &Value, maximum: usize, blank: Blank) -> Result<(), FaultKind> {
    let text = value.as_text().ok_or(FaultKind::NotText)?;
    ensure(
        !exceeds_chars(text, maximum),
        FaultKind::TooLong { maximum },
    )?;
    ensure(!text.contains('\0'), FaultKind::ForbiddenCharacter)?;
    match blank {
        Blank::Allowed => Ok(()),
        Blank::Refused => ensure(!is_blank(text), FaultKind::Blank),
    }
}

fn check_bounded(value: &Value, depth: usize, values: &mut usize) -> Result<(), FaultKind> {
    *values += 1;
    ensure(
        *values <= BOUNDED_JSON_NODES_MAX && depth <= BOUNDED_JSON_DEPTH_MAX,
        FaultKind::TooComplex,
    )?;
    match value {
        Value::Null | Value::Bool(_) => Ok(()),
        Value::Number(number) => match number.kind() {
            // Holds for every `Number`; stated here because the contract states it here.
            NumberKind::Integer(integer) => ensure(integer >= -INTEGER_MAX, FaultKind::OutOfRange),
            NumberKind::Float(float) => ensure(float.is_finite(), FaultKind::OutOfRange),
        },
        Value::Text(_) => check_text(value, BOUNDED_JSON_TEXT_MAX_CHARS, Blank::Allowed),
        Value::Array(items) => items
            .iter()
            .try_for_each(|item| check_bounded(item, depth + 1, values)),
        Value::Object(members) => check_bounded_members(members, depth, values),
    }
}

fn check_bounded_members(
    members: &Members,
    depth: usize,
    values: &mut usize,
) -> Result<(), FaultKind> {
    members.iter().try_for_each(|(key, value)| {
        ensure(
            is_identifier(key, BOUNDED_JSON_KEY_MAX_CHARS),
            FaultKind::NotAnIdentifier,
        )?;
        check_bounded(value, depth + 1, values)
    })
}

fn ensure(holds: bool, kind: FaultKind) -> Result<(), FaultKind> {
    if holds { Ok(()) } else { Err(kind) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::parse;

    fn accepted(tool: &str, arguments: &str) -> bool {
        let arguments = parse(arguments.as_bytes()).expect("strict JSON");
        Catalog::colony().check_arguments(tool, &arguments).is_ok()
    }

    fn faults(tool: &str, arguments: &str) -> String {
        let arguments = parse(arguments.as_bytes()).expect("strict JSON");
        let catalog = Catalog::colony();
        catalog
            .check_arguments(tool, &arguments)
            .expect_err("faults")
            .to_string()
    }

    #[test]
    fn every_fault_is_reported_without_the_callers_text() {
        insta::assert_snapshot!(
            faults("colony_task_snooze", r#"{"hours":1.0,"reason":7,"secret-key":"secret"}"#),
            @"args.task_id: is required; args.hours: must be an integer; args.reason: must be text; args: has a field that the contract does not know"
        );
        insta::assert_snapshot!(faults("colony_unknown", "{}"), @"tool_name: names a tool that is not in the catalog");
        insta::assert_snapshot!(faults("colony_research", "[]"), @"args: must be an object");
    }

    #[test]
    fn integers_take_no_floats_and_numbers_take_both() {
        let snooze = |hours: &str| {
            accepted(
                "colony_task_snooze",
                &format!(r#"{{"task_id":"t","hours":{hours}}}"#),
            )
        };
        assert!(snooze("1") && snooze("168"));
        for bad in [
            "0",
            "169",
            "1.0",
            "1e2",
            "true",
            "null",
            "\"1\"",
            "-1",
            "9223372036854775807",
        ] {
            assert!(!snooze(bad), "{bad}");
        }
        let insight = |confidence: &str| {
            accepted(
                "colony_record_insight",
                &format!(r#"{{"content":"c","insight_type":"fact","confidence":{confidence}}}"#),
            )
        };
        for good in ["0", "1", "0.0", "1.0", "-0.0", "0.7", "1e-300"] {
            assert!(insight(good), "{good}");
        }
        for bad in [
            "1.0000000000000002",
            "-5e-324",
            "2",
            "-1",
            "true",
            "\"1\"",
            "null",
        ] {
            assert!(!insight(bad), "{bad}");
        }
    }

    #[test]
    fn text_bounds_are_in_code_points() {
        for (tool, name, maximum, rest) in [
            ("colony_research", "topic", 1_400, ""),
            ("colony_create_commitment", "description", 8_000, ""),
            (
                "colony_create_commitment",
                "due_at",
                256,
                r#","description":"d""#,
            ),
            (
                "colony_resolve_commitment",
                "reason",
                8_000,
                r#","commitment_id":"c""#,
            ),
            (
                "colony_record_insight",
                "content",
                16_000,
                r#","insight_type":"fact""#,
            ),
        ] {
            for character in ["x", "é"] {
                let call =
                    |chars: usize| format!(r#"{{"{name}":"{}"{rest}}}"#, character.repeat(chars));
                assert!(accepted(tool, &call(maximum)), "{tool} {name}");
                // One more than 16,000 does not even pass the parser.
                if maximum < crate::parser::TEXT_MAX_CHARS {
                    assert!(!accepted(tool, &call(maximum + 1)), "{tool} {name}");
                }
            }
        }
    }

    #[test]
    fn blank_text_is_refused_only_where_it_must_not_be_empty() {
        for blank in ["", " ", "\\u001c", "\\u001f\\u0085\\u00a0\\u2003"] {
            assert!(
                !accepted("colony_research", &format!(r#"{{"topic":"{blank}"}}"#)),
                "{blank}"
            );
            assert!(
                accepted(
                    "colony_create_commitment",
                    &format!(r#"{{"description":"d","due_at":"{blank}"}}"#)
                ),
                "{blank}"
            );
            assert!(
                accepted(
                    "colony_task_snooze",
                    &format!(r#"{{"task_id":"t","reason":"{blank}"}}"#)
                ),
                "{blank}"
            );
        }
        assert!(accepted("colony_research", r#"{"topic":"\u200b"}"#));
    }

    #[test]
    fn details_are_bounded_on_both_sides() {
        let details = |details: &str| {
            accepted(
                "colony_initiative_feedback",
                &format!(r#"{{"initiative_id":"i","action":"snoozed","details":{details}}}"#),
            )
        };
        let list = |items: usize| format!(r#"{{"n":[{}]}}"#, vec!["0"; items].join(","));
        assert!(details(&list(510)), "object, list, 510 items: 512 values");
        assert!(!details(&list(511)), "513 values");

        let deep = |lists: usize| format!(r#"{{"k":{}1{}}}"#, "[".repeat(lists), "]".repeat(lists));
        assert!(details(&deep(7)), "the number is at depth 8");
        assert!(!details(&deep(8)), "the number is at depth 9");

        let keyed = |chars: usize| format!(r#"{{"{}":0}}"#, "k".repeat(chars));
        assert!(details(&keyed(128)) && !details(&keyed(129)));
        let text = |chars: usize| format!(r#"{{"s":"{}"}}"#, "😀".repeat(chars));
        assert!(details(&text(4_096)) && !details(&text(4_097)));
        for good in [
            "{}",
            r#"{"a":9223372036854775807}"#,
            r#"{"a":""}"#,
            r#"{"a":{"b":[null,true,1.5]}}"#,
        ] {
            assert!(details(good), "{good}");
        }
        for bad in [
            "[]",
            "null",
            "\"x\"",
            r#"{"":0}"#,
            r#"{"bad key":0}"#,
            r#"{"a@b":0}"#,
            r#"{"k":{"é":0}}"#,
            r#"{"k\n":0}"#,
        ] {
            assert!(!details(bad), "{bad}");
        }
    }

    #[test]
    fn identifiers_are_exact() {
        let complete =
            |id: &str| accepted("colony_task_complete", &format!(r#"{{"task_id":"{id}"}}"#));
        assert!(complete("a/b:c.d_e-f") && complete(&"A".repeat(256)));
        for bad in ["", "ok\\n", "x y", "t@x", "-bad", "é1", &*"A".repeat(257)] {
            assert!(!complete(bad), "{bad}");
        }
    }
}
