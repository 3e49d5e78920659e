//! The results of a whole turn: none missing, none twice, none swapped, none more.

use countersign_canonical::Value;
use countersign_contract::{Binding, Call, Faults, Path, Problem, verify_result_set};

use crate::cases::{Case, error_case, order_case, principal, refund_case, registered};
use crate::editing::{at, json, with, without};

/// Faults by the path and problem they name.
type Listed = Vec<(&'static str, Problem)>;

/// Verifies the packages against a turn of three calls.
fn check(turn: &[Case], packages: &[Value]) -> Result<Vec<String>, Vec<(String, Problem)>> {
    let calls: Vec<&Call> = turn.iter().map(|case| &case.call).collect();
    let (order, refund) = (registered("get_order"), registered("create_refund_draft"));
    let contract = |call: &Call| match call.name.as_str() {
        "get_order" => order.as_ref(),
        "create_refund_draft" => refund.as_ref(),
        _ => None,
    };
    match verify_result_set(&principal(), &calls, contract, packages) {
        Ok(proofs) => Ok(proofs
            .iter()
            .map(|proof| proof.call().call_id.as_str().to_owned())
            .collect()),
        Err(faults) => Err(listed(&faults)),
    }
}

fn listed(faults: &Faults) -> Vec<(String, Problem)> {
    faults
        .iter()
        .map(|fault| (fault.path.as_str().to_owned(), fault.problem.clone()))
        .collect()
}

fn turn() -> Vec<Case> {
    vec![
        order_case("call-1"),
        refund_case("call-2"),
        order_case("call-3"),
    ]
}

fn packages(turn: &[Case], order: &[usize]) -> Vec<Value> {
    order
        .iter()
        .map(|index| turn[*index].package.clone())
        .collect()
}

#[test]
fn complete_set_is_accepted_in_any_order_and_answered_in_the_calls_order() {
    let turn = turn();
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let proven = check(&turn, &packages(&turn, &order)).unwrap();
        assert_eq!(proven, ["call-1", "call-2", "call-3"]);
    }
    assert_eq!(check(&[], &[]).unwrap(), [""; 0]);
}

#[test]
fn missing_duplicate_and_extra_results_are_named() {
    let turn = turn();
    let extra = order_case("call-4").package;
    let with_extra = |order: &[usize]| {
        let mut packages = packages(&turn, order);
        packages.push(extra.clone());
        packages
    };
    let rows: Vec<(Vec<Value>, Listed)> = vec![
        (
            packages(&turn, &[0, 2]),
            vec![("calls[1].result", Problem::Absent)],
        ),
        (
            packages(&turn, &[]),
            vec![
                ("calls[0].result", Problem::Absent),
                ("calls[1].result", Problem::Absent),
                ("calls[2].result", Problem::Absent),
            ],
        ),
        (
            packages(&turn, &[0, 1, 2, 1]),
            vec![("packages[3]", Problem::Duplicate)],
        ),
        (
            with_extra(&[0, 1, 2]),
            vec![("packages[3]", Problem::NotAskedFor)],
        ),
        (
            with_extra(&[0, 1]),
            vec![
                ("calls[2].result", Problem::Absent),
                ("packages[2]", Problem::NotAskedFor),
            ],
        ),
        (
            packages(&turn, &[0, 0, 0]),
            vec![
                ("packages[1]", Problem::Duplicate),
                ("packages[2]", Problem::Duplicate),
                ("calls[1].result", Problem::Absent),
                ("calls[2].result", Problem::Absent),
            ],
        ),
    ];
    for (packages, expected) in rows {
        let expected: Vec<(String, Problem)> = expected
            .into_iter()
            .map(|(path, problem)| (path.to_owned(), problem))
            .collect();
        assert_eq!(check(&turn, &packages).unwrap_err(), expected);
    }
}

#[test]
fn results_swapped_under_each_other_s_names_are_refused() {
    let turn = turn();
    let swap = |place: &str| {
        let mut packages = packages(&turn, &[0, 1, 2]);
        let (first, third) = (
            at(&packages[0], place).clone(),
            at(&packages[2], place).clone(),
        );
        packages[0] = with(&packages[0], place, third);
        packages[2] = with(&packages[2], place, first);
        check(&turn, &packages)
    };
    // The two reads answered alike, so only what names the call can give the swap away.
    assert!(swap("model_result").is_ok());
    let unbound = |index: usize| {
        let path = Path::fixed("packages").index(index);
        (
            path.member("protected_audit.binding.call_binding_sha256")
                .as_str()
                .to_owned(),
            Problem::Unbound(Binding::Call),
        )
    };
    assert_eq!(
        swap("protected_audit.provider_context").unwrap_err(),
        [unbound(2), unbound(0)]
    );
    assert_eq!(
        swap("protected_audit.binding").unwrap_err(),
        [unbound(0), unbound(2)]
    );
    let mut packages = packages(&turn, &[0, 1, 2]);
    let refund = at(&packages[1], "model_result").clone();
    packages[0] = with(&packages[0], "model_result", refund);
    let faults = check(&turn, &packages).unwrap_err();
    assert!(faults.contains(&unbound(0)), "{faults:?}");
}

#[test]
fn package_that_names_no_call_is_none() {
    let turn = vec![error_case(countersign_contract::ErrorCode::NotFound)];
    let package = &turn[0].package;
    let due = "a package that names its response and call";
    for nameless in [
        Value::Null,
        json("[]"),
        without(package, "protected_audit"),
        with(package, "protected_audit.provider_context", Value::Null),
        with(package, "protected_audit.provider_context.call_id", 1),
        without(package, "protected_audit.provider_context.response_id"),
    ] {
        let expected = [
            ("packages[0]".to_owned(), Problem::Expected(due)),
            ("calls[0].result".to_owned(), Problem::Absent),
        ];
        assert_eq!(check(&turn, &[nameless]).unwrap_err(), expected);
    }
}

#[test]
fn two_calls_under_one_identity_are_refused() {
    let turn = vec![order_case("call-1"), refund_case("call-1")];
    let faults = check(&turn, &[turn[0].package.clone()]).unwrap_err();
    assert_eq!(faults, [("calls[1]".to_owned(), Problem::Duplicate)]);
}
