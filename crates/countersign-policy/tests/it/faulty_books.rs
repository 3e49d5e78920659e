//! What is said about a faulty book: everything, each with its place.

use countersign_policy::RuleBook;

use crate::call::json;

#[test]
fn every_fault_is_listed_with_its_place() {
    let books = [
        "null",
        "[]",
        "{}",
        r#"{"rules": {}, "approvers": "dana"}"#,
        r#"{"rules": [], "approver": ["dana"]}"#,
        r#"{
            "rules": [
                7,
                {"effect": "permit"},
                {"effect": "allow", "tools": ["a"]},
                {"effect": "permit", "tools": "a"},
                {"effect": "permit", "tools": []},
                {"effect": "forbid", "tools": ["*delete*", "", "a", 7, "**"]},
                {"effect": "permit", "tools": ["a"], "approval": "nobody"},
                {"effect": "permit", "tools": ["a"], "approval": null},
                {"effect": "forbid", "tools": ["a"], "approval": "person"},
                {"effect": "permit", "tools": ["a"], "roles": [], "tenants": null, "subjects": ["a*b"]},
                {"effect": "permit", "tools": ["a"], "when": []},
                {
                    "effect": "permit", "tools": ["a"],
                    "when": {
                        "amount": {"type": "money"},
                        "count": {"type": "integer", "minimum": "one"},
                        "note": {"type": "string", "pattern": "("},
                        "order": {"type": "string", "optional": true},
                        "reason": "damaged"
                    }
                },
                {"effect": "permit", "tools": ["a"], "unless": {}}
            ],
            "approvers": ["dana", "", 7, "policy:v1"]
        }"#,
    ];
    let said: Vec<String> = books
        .iter()
        .map(|book| RuleBook::from_value(&json(book)).unwrap_err().to_string())
        .collect();
    insta::assert_snapshot!(said.join("\n\n"));
}

#[test]
fn a_book_is_bounded() {
    let rules = |count: usize| {
        let rule = r#"{"effect": "permit", "tools": ["a"]}"#;
        format!(r#"{{"rules": [{}]}}"#, vec![rule; count].join(","))
    };
    let approvers = |count: usize| {
        format!(
            r#"{{"rules": [], "approvers": [{}]}}"#,
            vec![r#""a""#; count].join(",")
        )
    };
    let names = |count: usize| {
        let names = vec![r#""a""#; count].join(",");
        format!(r#"{{"rules": [{{"effect": "permit", "tools": [{names}]}}]}}"#)
    };
    for book in [rules, approvers, names].map(|book: fn(usize) -> String| book) {
        assert!(RuleBook::from_value(&json(&book(1024))).is_ok());
        let faults = RuleBook::from_value(&json(&book(1025))).unwrap_err();
        assert!(
            faults.to_string().contains("a list of at most 1024 items"),
            "{faults}"
        );
    }
}
