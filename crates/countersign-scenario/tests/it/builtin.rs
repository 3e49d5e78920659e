//! The scenarios that ship with the program.

use std::collections::BTreeSet;

use countersign_scenario::{Fixture, MAX_FIXTURE_BYTES, builtin, run};

#[test]
fn shipped_scenarios_pass_and_reach_what_a_fixture_can_reach() {
    let bytes = builtin();
    assert!(bytes.len() <= MAX_FIXTURE_BYTES);
    let run = run(&Fixture::read(bytes).unwrap()).unwrap();
    assert!(run.passed());
    assert!(run.cases.len() >= 30, "{} cases", run.cases.len());
    let steps = run.cases.iter().flat_map(|case| &case.steps);
    let mut codes = BTreeSet::new();
    let mut deliveries = BTreeSet::new();
    for step in steps {
        codes.insert(step.code());
        deliveries.insert(step.package.model_result().delivery().to_string());
    }
    insta::assert_snapshot!(format!("{codes:#?}\n{deliveries:#?}"));
}

#[test]
fn a_wrong_expectation_is_noticed() {
    for (was, is) in [
        (r#""side_effect_count":1"#, r#""side_effect_count":2"#),
        (r#""code":"OUTCOME_UNKNOWN""#, r#""code":"TOOL_ERROR""#),
        (r#""draft_id":"DRAFT-1""#, r#""draft_id":"DRAFT-2""#),
        (r#""recovery":"query_status""#, r#""recovery":"none""#),
        (
            r#""delivery":"receipt_reconciled""#,
            r#""delivery":"fresh""#,
        ),
    ] {
        let text = crate::sample::fixture().to_string();
        assert!(
            run(&Fixture::read(text.as_bytes()).unwrap())
                .unwrap()
                .passed()
        );
        let changed = text.replacen(was, is, 1);
        assert_ne!(changed, text, "{was}");
        let run = run(&Fixture::read(changed.as_bytes()).unwrap()).unwrap();
        assert!(!run.passed(), "{is}");
    }
}
