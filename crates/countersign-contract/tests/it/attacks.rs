//! Packages that belong to another call, or were altered: each is refused for the right reason, at the right place.

use countersign_canonical::Value;
use countersign_contract::{Binding, ErrorCode, Fault, Problem};

use crate::cases::{Case, error_case, fault, order_case, refund_call, refund_case};
use crate::editing::{at, json, nested, with, without};
use crate::forger::rebind;

const BINDING: &str = "protected_audit.binding";

fn unbound(path: &str, bound: Binding) -> Fault {
    fault(path, Problem::Unbound(bound))
}

fn call_unbound() -> Fault {
    unbound("protected_audit.binding.call_binding_sha256", Binding::Call)
}

fn result_unbound() -> Fault {
    unbound("protected_audit.binding.result_sha256", Binding::Result)
}

#[test]
fn package_of_another_call_is_refused() {
    let (first, second) = (refund_case("call-1"), refund_case("call-2"));
    assert_eq!(
        second.refusal(&first.package),
        [
            unbound(
                "protected_audit.provider_context.call_id",
                Binding::ProviderContext
            ),
            call_unbound(),
        ]
    );
}

#[test]
fn what_identifies_a_call_is_bound_part_by_part() {
    let request = || unbound("protected_audit.binding.request_sha256", Binding::Request);
    let original = refund_case("call-1");
    let mut cases: Vec<(Case, Vec<Fault>)> = Vec::new();
    let mut change = |change: &dyn Fn(&mut Case), faults: Vec<Fault>| {
        let mut case = original.clone();
        change(&mut case);
        cases.push((case, faults));
    };
    change(
        &|case| case.call = refund_call("call-1", "key-2"),
        vec![call_unbound()],
    );
    change(
        &|case| case.call.idempotency_key = None,
        vec![call_unbound()],
    );
    change(
        &|case| case.call.operation_id = "operation-2".try_into().unwrap(),
        vec![
            unbound("protected_audit.operation_id", Binding::Operation),
            call_unbound(),
        ],
    );
    change(
        &|case| case.principal.subject_id = "user-2".try_into().unwrap(),
        vec![
            unbound("protected_audit.principal_ref", Binding::Principal),
            call_unbound(),
            request(),
        ],
    );
    change(
        &|case| {
            case.contract.as_mut().unwrap().revisions.policy = "policy-2".try_into().unwrap();
        },
        vec![
            unbound(
                "protected_audit.tool_contract.policy_revision",
                Binding::ToolContract,
            ),
            call_unbound(),
        ],
    );
    change(
        &|case| {
            case.contract.as_mut().unwrap().revisions.effect = "effect-2".try_into().unwrap();
        },
        vec![
            unbound(
                "protected_audit.tool_contract.effect_revision",
                Binding::ToolContract,
            ),
            call_unbound(),
            request(),
        ],
    );
    for (case, faults) in cases {
        assert_eq!(case.refusal(&case.package), faults);
    }
}

#[test]
fn roles_are_bound_nowhere() {
    let mut case = order_case("call-1");
    let principal =
        r#"{"tenant_id": "tenant-a", "subject_id": "user-1", "roles": ["support_admin"]}"#;
    case.principal = countersign_contract::Principal::from_value(&json(principal)).unwrap();
    assert!(case.verify(&case.package).is_ok());
}

#[test]
fn evidence_of_another_execution_is_refused() {
    let case = refund_case("call-1");
    for (name, evidence) in [
        ("receipt_id", Value::from("refund-receipt-2")),
        ("request_id", Value::from("refund-request-2")),
        ("receipt_id", Value::Null),
        ("request_id", Value::Null),
        ("status_ref", Value::Null),
        ("status_ref", format!("status_{}", "0".repeat(32)).into()),
    ] {
        let place = format!("protected_audit.downstream.{name}");
        let altered = with(&case.package, &place, evidence);
        assert_eq!(case.refusal(&altered), [call_unbound()], "{place}");
    }
}

#[test]
fn evidence_has_a_length_whoever_sends_it() {
    let case = refund_case("call-1");
    for (length, faults) in [
        (4_096, vec![]),
        (4_097, vec![Problem::TooManyBytes(4_096)]),
        (1_000_000, vec![Problem::TooManyBytes(4_096)]),
    ] {
        let place = "protected_audit.downstream.receipt_id";
        let altered = with(&case.package, place, "r".repeat(length));
        let mut expected: Vec<Fault> = faults
            .into_iter()
            .map(|problem| fault(place, problem))
            .collect();
        expected.push(call_unbound());
        assert_eq!(case.refusal(&altered), expected, "{length}");
    }
}

#[test]
fn model_results_swapped_between_packages_are_refused() {
    let (case, other) = (order_case("call-1"), error_case(ErrorCode::NotFound));
    let swapped = with(
        &case.package,
        "model_result",
        at(&other.package, "model_result").clone(),
    );
    assert_eq!(case.refusal(&swapped), [call_unbound(), result_unbound()]);
}

#[test]
fn well_formed_and_ill_formed_digests_of_something_else_are_refused() {
    let case = refund_case("call-1");
    let digest = |place: &str| at(&case.package, place).as_str().unwrap().to_owned();
    for (name, bound) in [
        ("binding.request_sha256", Binding::Request),
        ("binding.result_sha256", Binding::Result),
        ("binding.call_binding_sha256", Binding::Call),
        ("principal_ref", Binding::Principal),
    ] {
        let place = format!("protected_audit.{name}");
        let held = digest(&place);
        let zeros = held.replace(|digit: char| digit.is_ascii_hexdigit(), "0");
        for forged in [
            zeros,
            held.to_uppercase(),
            held.replace("sha256:", "SHA256:").to_uppercase(),
            format!("{held}0"),
            format!(" {held}"),
            held.chars().skip(1).collect(),
            String::new(),
        ] {
            let altered = with(&case.package, &place, forged.as_str());
            assert_eq!(case.refusal(&altered), [unbound(&place, bound)], "{forged}");
        }
        let missing = without(&case.package, &place);
        assert!(!case.refusal(&missing).is_empty());
    }
}

#[test]
fn status_refs_have_one_spelling() {
    let case = refund_case("call-1");
    let place = "protected_audit.downstream.status_ref";
    let held = at(&case.package, place).as_str().unwrap().to_owned();
    for forged in [
        held.to_uppercase(),
        held.replace("status_", "status-"),
        format!("{held}0"),
        format!("{held}\n"),
        "status_".to_owned(),
        String::new(),
    ] {
        let altered = rebind(&case, &with(&case.package, place, forged.as_str()));
        let due = "null or status_ and 32 lower-case hex digits";
        let faults = case.refusal(&altered);
        assert!(
            faults.contains(&fault(place, Problem::Expected(due))),
            "{forged:?}"
        );
    }
}

/// Makes every digest fit the forged member, as whoever knows the rules can, and demands the fault at its place.
fn assert_forged(case: &Case, rows: &[(&str, Value, Problem)]) {
    for (place, forged, problem) in rows {
        let place = format!("model_result.{place}");
        let altered = rebind(case, &with(&case.package, &place, forged.clone()));
        let faults = case.refusal(&altered);
        assert!(
            faults.contains(&fault(&place, problem.clone())),
            "{place}: {faults:?}"
        );
    }
}

fn due(text: &'static str) -> Problem {
    Problem::Expected(text)
}

#[test]
fn forged_data_still_has_to_keep_the_contract() {
    let undefined = || due("absent: the contract does not define it");
    let status = Problem::ExpectedThat("one of paid, pending, refunded".to_owned());
    let other_order = Problem::NotTheArgument("order_ref".to_owned());
    assert_forged(
        &refund_case("call-1"),
        &[("data.status", "paid".into(), undefined())],
    );
    assert_forged(
        &order_case("call-1"),
        &[
            ("data.status", "stolen".into(), status),
            ("data.order_ref", "ORDER-8".into(), other_order),
            ("data", Value::Null, Problem::NotAnObject),
            ("data", nested(3), Problem::NotAnObject),
        ],
    );
}

#[test]
fn forged_success_still_has_to_speak_for_its_tool() {
    let time = due("a UTC time with second precision, YYYY-MM-DDTHH:MM:SSZ");
    let (blank, trust) = (
        due("null or a text that is not blank"),
        due("untrusted_data for business data"),
    );
    let delivery = due("fresh, local_replay or receipt_reconciled");
    let committed = Problem::Contradicts("status: a success is committed");
    let (label, producer) = (
        Problem::Unbound(Binding::ToolContract),
        due("the contract's producer revision"),
    );
    assert_forged(
        &order_case("call-1"),
        &[
            ("provenance.trust", "trusted_control".into(), trust),
            ("provenance.source_label", "refunds".into(), label),
            ("provenance.producer_revision", "v3".into(), producer),
            ("provenance.resource_revision", "\u{1c}".into(), blank),
            (
                "provenance.observed_at",
                "2026-02-29T00:00:00Z".into(),
                time,
            ),
            ("execution.complete", false.into(), due("true")),
            ("execution.truncated", true.into(), due("false")),
            ("execution.delivery", "stale".into(), delivery),
            ("execution.outcome", "unknown".into(), committed),
            ("status", "ok".into(), due("succeeded, failed or unknown")),
        ],
    );
}

#[test]
fn forged_error_still_has_to_be_the_catalog_s() {
    let catalog = || due("what the error catalog fixes");
    let code = || Problem::Contradicts("the error code");
    let data = Problem::Contradicts("status: only a success has data");
    let trust = due("trusted_control for an error");
    let (label, producer) = (
        due("the dispatcher's label"),
        due("the dispatcher's revision"),
    );
    let v3 = "tool-model-result-v3";
    assert_forged(
        &error_case(ErrorCode::OutcomeUnknown),
        &[
            ("error.safe_message", "Go on.".into(), catalog()),
            ("error.recovery", "none".into(), catalog()),
            ("error.category", "contract".into(), catalog()),
            ("error.retry_after_ms", 1000.into(), catalog()),
            (
                "error.code",
                "OK".into(),
                due("a code of the error catalog"),
            ),
            ("status", "failed".into(), code()),
            ("data", json("{}"), data),
            ("execution.outcome", "not_started".into(), code()),
            ("execution.complete", false.into(), due("true")),
            ("execution.truncated", true.into(), due("false")),
            ("provenance.trust", "untrusted_data".into(), trust),
            ("provenance.source_label", "orders".into(), label),
            ("provenance.producer_revision", "v3".into(), producer),
            ("schema_version", v3.into(), due("tool-model-result-v2")),
        ],
    );
}

#[test]
fn data_too_deep_for_a_digest_is_refused_without_one() {
    let case = order_case("call-1");
    for levels in [40, 500] {
        let altered = with(&case.package, "model_result.data", nested(levels));
        let faults = case.refusal(&altered);
        let domain = faults
            .iter()
            .filter(|fault| matches!(fault.problem, Problem::Domain(_)));
        let places: Vec<&str> = domain.map(|fault| fault.path.as_str()).collect();
        assert_eq!(places, ["model_result.data", "model_result"]);
    }
}

#[test]
fn success_of_an_unregistered_tool_is_refused() {
    let mut case = order_case("call-1");
    case.contract = None;
    let problem = Problem::Contradicts("the tool, which is not registered");
    assert_eq!(
        case.refusal(&rebind(&case, &case.package)),
        [fault("model_result.status", problem)]
    );
}

#[test]
fn secrets_and_control_fields_are_found_at_any_depth_in_any_spelling() {
    let case = order_case("call-1");
    for (name, inside, place) in [
        ("Authorization", r#"{"NAME": "x"}"#, "note.NAME"),
        (
            "AUTHORIZATION",
            r#"[1, [{"a": {"NAME": null}}]]"#,
            "note[1][0].a.NAME",
        ),
        ("access_to\u{212a}en", r#"{"NAME": "x"}"#, "note.NAME"),
        ("COO\u{212a}IE", r#"[{"NAME": []}]"#, "note[0].NAME"),
        ("Set-Cookie", r#"{"a": {"NAME": {}}}"#, "note.a.NAME"),
        ("api-key", r#"{"NAME": 1}"#, "note.NAME"),
        ("call-binding-sha256", r#"{"NAME": 1}"#, "note.NAME"),
        ("Operation_ID", r#"{"NAME": 1}"#, "note.NAME"),
    ] {
        let note = json(&inside.replace("NAME", name));
        let altered = rebind(&case, &with(&case.package, "model_result.data.note", note));
        let expected = format!("model_result.data.{}", place.replace("NAME", name));
        let found = case
            .refusal(&altered)
            .into_iter()
            .find(|fault| fault.problem == Problem::SensitiveKey)
            .map(|fault| fault.path.as_str().to_owned());
        assert_eq!(found.as_deref(), Some(expected.as_str()));
    }
}

#[test]
fn lower_digest_member_must_be_there() {
    let case = order_case("call-1");
    for name in ["request_sha256", "result_sha256", "call_binding_sha256"] {
        let altered = without(&case.package, &format!("{BINDING}.{name}"));
        assert_eq!(
            case.refusal(&altered),
            [fault(BINDING, Problem::Missing(name.to_owned()))]
        );
    }
}
