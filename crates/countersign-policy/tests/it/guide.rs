//! The guide's book is one, and decides what the guide's table says.

use countersign_policy::{ApprovalNeed, Authorizer, Decision, RuleBook};

use crate::call::{Asked, json};

const GUIDE: &str = include_str!("../../../../docs/guides/policy.md");

#[test]
fn the_worked_example_decides_as_it_says() {
    let book = between(GUIDE, "```json\n", "```");
    let book = RuleBook::from_value(&json(book)).unwrap();
    let rows: Vec<_> = GUIDE
        .lines()
        .skip_while(|line| !line.starts_with("| tenant |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let ["", tenant, subject, roles, tool, arguments, expected, ""] = cells[..] else {
            panic!("{row}")
        };
        let roles: Vec<&str> = roles.split_whitespace().collect();
        let asked = Asked::new([tenant, subject], &roles, tool, arguments);
        let expected = match expected {
            "denied" => Decision::Denied,
            "allowed" | "allowed, a person approves" => Decision::Allowed(ApprovalNeed::Person),
            "allowed, the policy approves" => Decision::Allowed(ApprovalNeed::Policy),
            other => panic!("{other}"),
        };
        assert_eq!(book.decide(&asked.access()), expected, "{row}");
    }
}

#[test]
fn the_examples_of_mistakes_are_what_is_said() {
    let book = r#"{
        "rules": [
            {"effect": "permit", "tools": ["get_order", "*_order"]},
            {"effect": "permit", "tools": ["get_order"]},
            {"effect": "permit", "tools": ["get_order"], "approval": "nobody"}
        ],
        "approvers": [" "]
    }"#;
    let faults = RuleBook::from_value(&json(book)).unwrap_err();
    assert_eq!(
        faults.to_string(),
        between(GUIDE, "```text\n", "```").trim_end()
    );
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    text.split_once(before)
        .unwrap()
        .1
        .split_once(after)
        .unwrap()
        .0
}
