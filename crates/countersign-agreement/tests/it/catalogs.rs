//! The two tables of tools, and what becomes of the agreement when one of them is wrong.

use countersign_agreement::{Call, Sides, probes, probes_of, signed_request, smallest};
use countersign_canonical::{Limits, Number, Object, Utf8, Value, encode, parse};
use countersign_endpoint::{self as endpoint, ArgumentRule, Blank};
use countersign_governed as host;

use crate::action::ACTION_ID;

/// A call of the tool over which the sides part.
fn disagreement(sides: &Sides, tool: &str) -> Option<Call> {
    probes_of(sides, tool)
        .into_iter()
        .find(|call| parts(sides, call))
}

fn parts(sides: &Sides, call: &Call) -> bool {
    let request = signed_request(ACTION_ID, &call.tool, &call.arguments);
    !sides
        .judge_request(ACTION_ID, &encode::<Utf8>(&request))
        .agree()
}

#[test]
fn both_tables_are_the_same_at_every_bound() {
    let sides = Sides::colony();
    let calls = probes(&sides);
    assert!(calls.len() > 500, "{}", calls.len());
    let accepted = calls.iter().filter(|call| {
        let arguments = encode::<Utf8>(&call.arguments);
        let verdicts = sides.judge_arguments(&call.tool, &arguments);
        assert!(
            verdicts.agree(),
            "{} {:.200}: {verdicts}",
            call.tool,
            String::from_utf8_lossy(&arguments)
        );
        verdicts.accepted()
    });
    assert!(accepted.count() > 100);
    for call in calls {
        assert!(
            !parts(&sides, &call),
            "the sides part over {} {}",
            call.tool,
            least(&sides, &call)
        );
    }
}

/// The smallest arguments of a call over which the sides still part.
fn least(sides: &Sides, call: &Call) -> String {
    let part = |arguments: &Value| {
        let call = Call {
            tool: call.tool.clone(),
            arguments: arguments.clone(),
        };
        parts(sides, &call)
    };
    String::from_utf8(encode::<Utf8>(&smallest(&call.arguments, part))).unwrap()
}

/// The host's table with one tool changed, where the change makes a catalog at all.
fn host_with(tool: &str, change: impl FnOnce(&mut Object)) -> Option<Sides> {
    let document = host::Catalog::colony_document().as_bytes();
    let mut document = parse(document, &Limits::passthrough())
        .unwrap()
        .as_object()
        .unwrap()
        .clone();
    let mut tools = document.get("tools").unwrap().as_object().unwrap().clone();
    let mut changed = tools.get(tool).unwrap().as_object().unwrap().clone();
    // A display may name what the change takes away.
    let plain = Value::from([
        ("summary", "s".into()),
        ("target", "t".into()),
        ("risk", "r".into()),
    ]);
    changed.insert("display".to_owned(), plain);
    change(&mut changed);
    tools.insert(tool.to_owned(), changed.into());
    document.insert("tools".to_owned(), tools.into());
    Some(Sides {
        host: host::Catalog::from_value(&document.into()).ok()?,
        ..Sides::colony()
    })
}

/// Every argument that differs from this one in one rule.
fn changed_arguments(argument: &Object) -> Vec<(String, Object)> {
    let mut changes: Vec<(String, Object)> = Vec::new();
    let mut change = |what: &str, members: Vec<(&str, Value)>| {
        let mut argument = argument.clone();
        argument.remove("default");
        for (name, value) in members {
            argument.insert(name.to_owned(), value);
        }
        changes.push((what.to_owned(), argument));
    };
    let required = argument.get("required").and_then(Value::as_bool).unwrap();
    change("required", vec![("required", (!required).into())]);
    for bound in ["minimum", "maximum", "maximum_chars"] {
        let Some(number) = argument.get(bound).and_then(Value::as_number) else {
            continue;
        };
        let steps: Vec<Value> = match number.as_i64() {
            Some(integer) => vec![(integer - 1).into(), (integer + 1).into()],
            None => [0.25, -0.25]
                .map(|step| {
                    Number::from_f64(number.as_f64().unwrap() + step)
                        .unwrap()
                        .into()
                })
                .into(),
        };
        for step in steps {
            change(bound, vec![(bound, step)]);
        }
    }
    if let Some(allowed) = argument.get("allow_empty").and_then(Value::as_bool) {
        change("allow_empty", vec![("allow_empty", (!allowed).into())]);
    }
    if let Some(values) = argument.get("values").and_then(Value::as_array) {
        let more = values.iter().cloned().chain(["another".into()]).collect();
        change("values", vec![("values", Value::Array(more))]);
        for index in 0..values.len() {
            let mut fewer = values.to_vec();
            fewer.remove(index);
            change("values", vec![("values", Value::Array(fewer))]);
        }
    }
    changes
}

/// A request ends at 16,000 code points a text, so that a rule which allows more allows nothing more.
fn changes_nothing(what: &str, argument: &Object) -> bool {
    what == "maximum_chars" && argument.get(what).and_then(Value::as_i64) == Some(16_001)
}

#[test]
fn every_change_of_the_hosts_table_is_found_out() {
    let document = host::Catalog::colony_document().as_bytes();
    let document = parse(document, &Limits::passthrough()).unwrap();
    let mut found = 0;
    for (tool, definition) in document.get("tools").unwrap().as_object().unwrap().iter() {
        let arguments = definition.get("arguments").unwrap().as_object().unwrap();
        let mut changes: Vec<(String, Object)> = Vec::new();
        let mut more = arguments.clone();
        let flag = Value::from([("kind", "boolean".into()), ("required", false.into())]);
        more.insert("surplus".to_owned(), flag);
        changes.push(("one more".to_owned(), more));
        for (name, argument) in arguments.iter() {
            let mut fewer = arguments.clone();
            fewer.remove(name);
            changes.push((format!("{name} gone"), fewer));
            for (what, argument) in changed_arguments(argument.as_object().unwrap()) {
                if changes_nothing(&what, &argument) {
                    continue;
                }
                let mut other = arguments.clone();
                other.insert(name.to_owned(), argument.into());
                changes.push((format!("{name}.{what}"), other));
            }
        }
        for (what, arguments) in changes {
            let sides = host_with(tool, |tool| {
                tool.insert("arguments".to_owned(), arguments.into());
            });
            if let Some(sides) = sides {
                assert!(disagreement(&sides, tool).is_some(), "{tool}: {what}");
                found += 1;
            }
        }
    }
    assert!(found > 80, "{found}");
}

fn changed_rules(rule: &ArgumentRule) -> Vec<ArgumentRule> {
    match rule.clone() {
        ArgumentRule::Text {
            maximum_chars,
            blank,
        } => vec![
            ArgumentRule::Text {
                maximum_chars: maximum_chars - 1,
                blank,
            },
            ArgumentRule::Text {
                maximum_chars,
                blank: if blank == Blank::Allowed {
                    Blank::Refused
                } else {
                    Blank::Allowed
                },
            },
            ArgumentRule::Identifier,
        ],
        ArgumentRule::Identifier => {
            vec![
                ArgumentRule::Text {
                    maximum_chars: 256,
                    blank: Blank::Refused,
                },
                ArgumentRule::Boolean,
            ]
        }
        ArgumentRule::Choice(choices) => vec![ArgumentRule::Choice(choices[1..].to_vec())],
        ArgumentRule::Integer { minimum, maximum } => vec![
            ArgumentRule::Integer {
                minimum: minimum - 1,
                maximum,
            },
            ArgumentRule::Integer {
                minimum,
                maximum: maximum + 1,
            },
            #[expect(clippy::cast_precision_loss, reason = "small bounds")]
            ArgumentRule::Number {
                minimum: minimum as f64,
                maximum: maximum as f64,
            },
        ],
        ArgumentRule::Number { minimum, maximum } => vec![
            ArgumentRule::Number {
                minimum: minimum.next_down(),
                maximum,
            },
            ArgumentRule::Number {
                minimum,
                maximum: maximum.next_up(),
            },
        ],
        ArgumentRule::Boolean => vec![ArgumentRule::BoundedObject],
        ArgumentRule::BoundedObject => vec![ArgumentRule::Boolean],
    }
}

#[test]
fn every_change_of_the_endpoints_table_is_found_out() {
    let tables: Vec<endpoint::Tool> = endpoint::Catalog::colony().iter().cloned().collect();
    let with = |index: usize, tool: Option<endpoint::Tool>| {
        let mut tools = tables.clone();
        tools.remove(index);
        tools.extend(tool);
        Sides {
            endpoint: endpoint::Catalog::new(tools).unwrap(),
            ..Sides::colony()
        }
    };
    let mut found = 0;
    let mut assert_found = |sides: &Sides, tool: &str, what: &str| {
        assert!(disagreement(sides, tool).is_some(), "{what}");
        found += 1;
    };
    for (index, tool) in tables.iter().enumerate() {
        let name = tool.name().as_str();
        assert_found(&with(index, None), name, name);
        for at in 0..tool.arguments().len() {
            let argument = &tool.arguments()[at];
            let mut changes = vec![];
            for rule in changed_rules(argument.rule()) {
                changes.push(if argument.is_required() {
                    endpoint::Argument::required(argument.name(), rule)
                } else {
                    endpoint::Argument::optional(argument.name(), rule)
                });
            }
            let rule = argument.rule().clone();
            changes.push(if argument.is_required() {
                endpoint::Argument::optional(argument.name(), rule)
            } else {
                endpoint::Argument::required(argument.name(), rule)
            });
            for change in changes {
                let mut arguments = tool.arguments().to_vec();
                let what = format!("{name}: {change:?}");
                arguments[at] = change;
                assert_found(
                    &with(index, Some(endpoint::Tool::new(name, arguments).unwrap())),
                    name,
                    &what,
                );
            }
        }
    }
    assert!(found > 60, "{found}");
}

/// The least that shows what is wrong is what a person is told.
#[test]
fn a_disagreement_is_told_by_its_smallest_call() {
    let sides = host_with("colony_task_snooze", |tool| {
        let mut arguments = tool.get("arguments").unwrap().as_object().unwrap().clone();
        let mut hours = arguments.get("hours").unwrap().as_object().unwrap().clone();
        hours.insert("maximum".to_owned(), 1_000_i64.into());
        arguments.insert("hours".to_owned(), hours.into());
        tool.insert("arguments".to_owned(), arguments.into());
    })
    .unwrap();
    let call = disagreement(&sides, "colony_task_snooze").unwrap();
    assert_eq!(least(&sides, &call), r#"{"hours":169,"task_id":"0"}"#);
}
