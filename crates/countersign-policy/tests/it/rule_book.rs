//! What rule books decide.

use countersign_contract::ApproverId;
use countersign_policy::{
    ApprovalNeed, ApproverDirectory, ApproverStanding, Authorizer, Decision, RuleBook,
};
use proptest::prelude::*;

use crate::call::{Asked, book};

const PERSON: Decision = Decision::Allowed(ApprovalNeed::Person);
const POLICY: Decision = Decision::Allowed(ApprovalNeed::Policy);
const DENIED: Decision = Decision::Denied;

fn alex(roles: &[&str], tool: &str, arguments: &str) -> Asked {
    Asked::new(["acme", "alex"], roles, tool, arguments)
}

fn rules(rules: &str) -> RuleBook {
    book(&format!(r#"{{"rules": [{rules}]}}"#))
}

#[test]
fn an_empty_book_denies_everything() {
    for empty in [RuleBook::default(), rules("")] {
        let asked = alex(&["support", "z"], "get_order", "{}");
        assert_eq!(empty.decide(&asked.access()), DENIED);
        let approver = ApproverId::new("dana").unwrap();
        assert_eq!(
            empty.standing(&approver, &asked.access()),
            ApproverStanding::NotEntitled
        );
    }
}

#[test]
fn forbid_beats_permit_and_a_person_beats_the_policy() {
    let by = |approval: &str| {
        format!(r#"{{"effect": "permit", "tools": ["a"], "approval": "{approval}"}}"#)
    };
    let (person, policy) = (by("person"), by("policy"));
    let (plain, forbid) = (
        r#"{"effect": "permit", "tools": ["a"]}"#,
        r#"{"effect": "forbid", "tools": ["a"]}"#,
    );
    let elsewhere = r#"{"effect": "forbid", "tools": ["b"]}"#;
    let cases: [(&[&str], Decision); 7] = [
        (&[plain], PERSON),
        (&[&person], PERSON),
        (&[&policy], POLICY),
        (&[&policy, &policy], POLICY),
        (&[&policy, &person], PERSON),
        (&[&policy, plain, elsewhere], PERSON),
        (&[&policy, plain, forbid], DENIED),
    ];
    for (list, expected) in cases {
        let mut list = list.to_vec();
        // The order of rules never matters.
        for _ in 0..list.len() {
            list.rotate_left(1);
            let book = rules(&list.join(","));
            assert_eq!(
                book.decide(&alex(&[], "a", "{}").access()),
                expected,
                "{list:?}"
            );
        }
    }
    assert_eq!(
        rules(forbid).decide(&alex(&[], "c", "{}").access()),
        DENIED,
        "not to forbid is not to permit"
    );
}

#[test]
fn names_match_exactly_or_up_to_a_final_star() {
    let cases = [
        ("get_order", "get_order", true),
        ("get_order", "get_orders", false),
        ("get_order", "Get_Order", false),
        ("get_order", "get_orde", false),
        ("get_*", "get_order", true),
        ("get_*", "get_", true),
        ("get_*", "get", false),
        ("get_*", "forget_order", false),
        ("*", "anything", true),
        ("é*", "éa", true),
        ("e\u{301}*", "éa", false),
        (".*", "get_order", false),
    ];
    for (pattern, name, matches) in cases {
        let expected = if matches { PERSON } else { DENIED };
        let rule = |member: &str| {
            rules(&format!(
                r#"{{"effect": "permit", "tools": ["*"], "{member}": ["nobody", "{pattern}"]}}"#
            ))
        };
        let tools = rules(&format!(
            r#"{{"effect": "permit", "tools": ["nothing", "{pattern}"]}}"#
        ));
        let said = [
            ("tools", tools.decide(&alex(&[], name, "{}").access())),
            (
                "tenants",
                rule("tenants").decide(&Asked::new([name, "alex"], &[], "a", "{}").access()),
            ),
            (
                "subjects",
                rule("subjects").decide(&Asked::new(["acme", name], &[], "a", "{}").access()),
            ),
            (
                "roles",
                rule("roles").decide(&alex(&[name], "a", "{}").access()),
            ),
        ];
        for (member, decision) in said {
            assert_eq!(decision, expected, "{member}: {pattern} against {name}");
        }
    }
}

#[test]
fn one_of_the_roles_is_enough_and_none_is_none() {
    let book = rules(r#"{"effect": "permit", "tools": ["a"], "roles": ["finance", "support"]}"#);
    let decide = |roles: &[&str]| book.decide(&alex(roles, "a", "{}").access());
    assert_eq!(decide(&["support"]), PERSON);
    assert_eq!(decide(&["audit", "finance"]), PERSON);
    assert_eq!(decide(&["audit", "finance2"]), DENIED);
    assert_eq!(decide(&[]), DENIED);
    // Not even every role there is makes one of someone who has none.
    let any = rules(r#"{"effect": "permit", "tools": ["a"], "roles": ["*"]}"#);
    assert_eq!(any.decide(&alex(&[], "a", "{}").access()), DENIED);
    assert_eq!(any.decide(&alex(&["x"], "a", "{}").access()), PERSON);
}

#[test]
fn all_members_of_a_rule_count() {
    let book = rules(
        r#"{"effect": "permit", "tools": ["a"], "tenants": ["acme"], "subjects": ["alex"], "roles": ["r"],
            "when": {"n": {"type": "integer", "minimum": 1}}}"#,
    );
    let right = Asked::new(["acme", "alex"], &["r"], "a", r#"{"n": 1}"#);
    assert_eq!(book.decide(&right.access()), PERSON);
    let wrong = [
        Asked::new(["other", "alex"], &["r"], "a", r#"{"n": 1}"#),
        Asked::new(["acme", "kim"], &["r"], "a", r#"{"n": 1}"#),
        Asked::new(["acme", "alex"], &["s"], "a", r#"{"n": 1}"#),
        Asked::new(["acme", "alex"], &["r"], "b", r#"{"n": 1}"#),
        Asked::new(["acme", "alex"], &["r"], "a", r#"{"n": 0}"#),
    ];
    for asked in wrong {
        assert_eq!(book.decide(&asked.access()), DENIED, "{asked:?}");
    }
}

/// Conditions, and the arguments that they hold for and not.
const CONDITIONS: [(&str, &[&str], &[&str]); 7] = [
    (
        r#"{"type": "integer", "minimum": 1, "maximum": 10}"#,
        &["1", "10"],
        &["0", "11", "5.0", "\"5\"", "true", "null", "[5]"],
    ),
    (
        r#"{"type": "number", "maximum": 0.5}"#,
        &["0.5", "-7", "0"],
        &["0.50000000000000011102230246251565", "1", "\"0.5\""],
    ),
    (
        r#"{"type": "string", "enum": ["a", "b"]}"#,
        &["\"b\""],
        &["\"B\"", "\"b \"", "\"\""],
    ),
    (
        r#"{"type": "string", "pattern": "ORDER-[0-9]+"}"#,
        &["\"ORDER-7\""],
        &["\"ORDER-7\\n\"", "\"xORDER-7\"", "\"ORDER-٧\""],
    ),
    (r#"{"type": "boolean"}"#, &["false", "true"], &["null", "0"]),
    (
        r#"{"type": "array", "items": {"type": "string"}, "max_items": 1}"#,
        &["[]", "[\"a\"]"],
        &["[\"a\", \"b\"]", "[1]", "\"a\""],
    ),
    (
        r#"{"type": "object", "members": {"n": {"type": "boolean"}}}"#,
        &[r#"{"n": true}"#],
        &["{}", r#"{"n": 1}"#, r#"{"n": true, "m": 1}"#],
    ),
];

#[test]
fn conditions_never_convert_and_absent_arguments_never_match() {
    for (condition, holding, others) in CONDITIONS {
        let when = format!(r#""when": {{"x": {condition}}}"#);
        let permit = rules(&format!(
            r#"{{"effect": "permit", "tools": ["a"], {when}}}"#
        ));
        let forbid = rules(&format!(
            r#"{{"effect": "permit", "tools": ["a"]}}, {{"effect": "forbid", "tools": ["a"], {when}}}"#
        ));
        let decide = |arguments: &str| {
            let asked = alex(&[], "a", arguments);
            (
                permit.decide(&asked.access()),
                forbid.decide(&asked.access()),
            )
        };
        let with = |argument: &str| decide(&format!(r#"{{"x": {argument}, "y": 1}}"#));
        for argument in holding {
            assert_eq!(with(argument), (PERSON, DENIED), "{condition}: {argument}");
        }
        for argument in others {
            assert_eq!(with(argument), (DENIED, PERSON), "{condition}: {argument}");
        }
        for absent in [
            "{}",
            r#"{"X": 1}"#,
            r#"{"x ": 5}"#,
            r#"[{"x": 5}]"#,
            r#""x""#,
            "null",
        ] {
            assert_eq!(decide(absent), (DENIED, PERSON), "{condition}: {absent}");
        }
    }
}

#[test]
fn approvers_are_those_listed_and_never_the_caller() {
    let book = book(r#"{"rules": [], "approvers": ["alex", "dana", "dan*"]}"#);
    let asked = alex(&[], "a", "{}");
    let standing = |name: &str| book.standing(&ApproverId::new(name).unwrap(), &asked.access());
    assert_eq!(standing("dana"), ApproverStanding::Entitled);
    for name in ["alex", "Dana", "dana ", "daniel", "kim", "policy:policy-v1"] {
        assert_eq!(standing(name), ApproverStanding::NotEntitled, "{name}");
    }
    // An approver is a name, and no pattern.
    assert_eq!(standing("dan*"), ApproverStanding::Entitled);
}

proptest! {
    /// Whatever is added to a book, a `forbid` takes away and never gives, and a `permit` gives and never takes away.
    #[test]
    fn adding_a_rule_moves_a_decision_one_way(
        before in prop::collection::vec(rule(), 0..5),
        added in rule(),
        tool in "[ab]{1,2}",
        role in prop::option::of("[rs]"),
        amount in 0..4_i64,
    ) {
        let roles: Vec<&str> = role.iter().map(String::as_str).collect();
        let asked = alex(&roles, &tool, &format!(r#"{{"amount": {amount}}}"#));
        let decide = |list: &[String]| rank(rules(&list.join(",")).decide(&asked.access()));
        let mut after = before.clone();
        after.push(added.clone());
        let (before, after) = (decide(&before), decide(&after));
        if added.contains("forbid") {
            prop_assert!(after == before || after == 0);
        } else {
            // Nor does it ever weaken what a person has to do.
            prop_assert!(after >= before);
        }
    }
}

fn rank(decision: Decision) -> u8 {
    match decision {
        Decision::Denied => 0,
        Decision::Allowed(ApprovalNeed::Policy) => 1,
        Decision::Allowed(ApprovalNeed::Person) => 2,
    }
}

fn rule() -> impl Strategy<Value = String> {
    let effect = prop_oneof![
        Just(r#""effect": "forbid""#),
        Just(r#""effect": "permit""#),
        Just(r#""effect": "permit", "approval": "policy""#),
    ];
    let tools = prop_oneof![Just("*"), Just("a*"), Just("b"), Just("ab")];
    let more = prop_oneof![
        Just(""),
        Just(r#", "roles": ["r"]"#),
        Just(r#", "roles": ["*"]"#),
        Just(r#", "when": {"amount": {"type": "integer", "maximum": 2}}"#),
        Just(r#", "subjects": ["al*"]"#),
        Just(r#", "tenants": ["other"]"#),
    ];
    (effect, tools, more)
        .prop_map(|(effect, tools, more)| format!(r#"{{{effect}, "tools": ["{tools}"]{more}}}"#))
}
