//! What one side makes the other takes.

use countersign_canonical::{Limits, Number, Utf8, Value, encode, parse};
use countersign_endpoint as endpoint;
use countersign_governed::ExecutionResult;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use crate::action::{Approval, now, perform, plain_request, request};
use crate::strategies::{bounded_object, call, context};

fn seconds(float: f64, as_integer: bool) -> Value {
    if as_integer {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole seconds of this century"
        )]
        return (float as i64).into();
    }
    Number::from_f64(float).unwrap().into()
}

/// Approvals around every limit of time; some are no approvals at all.
fn approval() -> impl Strategy<Value = Approval> {
    let offsets = (-100_000.0..40.0_f64, 0.001..100_000.0_f64);
    (
        offsets,
        any::<[bool; 2]>(),
        any::<bool>(),
        "[A-Za-z0-9][a-z0-9._:/-]{0,140}",
    )
        .prop_map(
            |((ago, lifetime), [decided_whole, expires_whole], by_grant, decision_id)| {
                let decided_at = crate::action::NOW + ago;
                Approval {
                    decision_id,
                    decided_at: seconds(decided_at, decided_whole),
                    expires_at: seconds(decided_at + lifetime, expires_whole),
                    by_grant,
                }
            },
        )
}

fn verification() -> impl Strategy<Value = Value> {
    prop_oneof![4 => bounded_object(), 1 => crate::strategies::document()]
}

fn members(value: &Value) -> Option<endpoint::Members> {
    let value = endpoint::parse_respelled(&encode::<Utf8>(value)).ok()?;
    value.as_object().cloned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_request_that_the_host_builds_the_endpoint_accepts(
        call in call(), context in context(), approval in approval(),
    ) {
        if let Ok(built) = request(&call, &context, &approval) {
            let path = built.action_id().as_str();
            let read = endpoint::ExecutionRequest::parse(path, &built.body(), &endpoint::Catalog::colony());
            let read = read.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(read.execution_digest().to_string(), built.execution_digest().to_string());
            prop_assert_eq!(read.tool_name().as_str(), call.0.as_str());
        }
    }

    #[test]
    fn a_plain_approval_of_any_call_is_built_performed_and_believed(
        call in call(), context in context(), verification in bounded_object(),
    ) {
        let built = request(&call, &context, &Approval::default()).map_err(TestCaseError::fail)?;
        let outcome = endpoint::HandlerOutcome::Performed {
            effect_id: "eff@1".to_owned(),
            outcome: "created".to_owned(),
            verification: members(&verification).unwrap(),
        };
        let result = perform(&built, outcome).map_err(TestCaseError::fail)?;
        let believed = ExecutionResult::parse(built.binding(), result.as_bytes(), now());
        let believed = believed.map_err(|faults| TestCaseError::fail(faults.to_string()))?;
        prop_assert_eq!(believed.effect_id().as_str(), "eff@1");
        // What is kept is what was sent: the time was a float already.
        prop_assert_eq!(encode::<Utf8>(believed.value()), result.as_bytes());
    }

    #[test]
    fn every_result_of_the_endpoint_is_believed_exactly_where_it_says_performed(
        effect_id in "[A-Za-z0-9][A-Za-z0-9._:@/-]{0,260}", outcome in "[a-z0-9 ]{1,3}", verification in verification(),
    ) {
        let built = plain_request();
        let outcome = members(&verification).map_or(endpoint::HandlerOutcome::Unknown, |verification| {
            endpoint::HandlerOutcome::Performed { effect_id, outcome, verification }
        });
        let result = perform(&built, outcome).map_err(TestCaseError::fail)?;
        let believed = ExecutionResult::parse(built.binding(), result.as_bytes(), now());
        let says_performed = result.as_str().contains(r#""effect_state":"performed""#);
        prop_assert_eq!(believed.is_ok(), says_performed, "{:?}", believed);
    }
}

/// The generators above must reach both sides of what they test.
#[test]
fn the_generators_make_requests_and_results_of_both_kinds() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut built, mut performed) = (0, 0);
    for _ in 0..100 {
        let tree = (call(), context(), approval(), verification())
            .new_tree(&mut runner)
            .unwrap();
        let (call, context, approval, verification) = tree.current();
        built += usize::from(request(&call, &context, &approval).is_ok());
        let is_effect = |members| endpoint::Effect::new("e", "o", members).is_ok();
        performed += usize::from(members(&verification).is_some_and(is_effect));
    }
    assert!(
        (5..95).contains(&built) && (5..100).contains(&performed),
        "{built} {performed}"
    );
}

#[test]
fn results_without_a_performed_effect_are_not_believed() {
    let built = plain_request();
    let result = perform(&built, endpoint::HandlerOutcome::Unknown).unwrap();
    let document = parse(result.as_bytes(), &Limits::passthrough()).unwrap();
    assert_eq!(document.get("status"), Some(&"ambiguous".into()));
    let refused = ExecutionResult::parse(built.binding(), result.as_bytes(), now()).unwrap_err();
    assert!(
        refused.to_string().contains("/effect_state: must be"),
        "{refused}"
    );
}
