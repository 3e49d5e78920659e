//! Golden packages: accepted, their digests recomputed, and every one built again byte for byte.

use std::{fs::File, io::Read};

use base64::{Engine, prelude::BASE64_STANDARD};
use countersign_canonical::{InDomain, Value};
use countersign_contract::{
    ApprovalDigest, ApproverId, Call, CallFingerprint, Delivery, ErrorCode, HandlerAnswer, Package,
    Principal, Purpose, RequestDigest, Scope, StatusRef, UtcSecond,
};
use flate2::read::GzDecoder;

use crate::cases::{Case, large_json, registered};
use crate::editing::{at, json, with};
use crate::forger::{contract_object, digest, key, object, rebind, request_digest};

const SCENARIOS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/scenarios.jsonl.gz"
);

/// One golden step: the case, and the time at which it happened.
struct Step {
    case: Case,
    now: UtcSecond,
}

#[test]
fn golden_packages_are_accepted_and_built_again() {
    let (mut successes, mut errors) = (0, 0);
    for Step { case, now } in steps() {
        case.verify(&case.package)
            .unwrap_or_else(|faults| panic!("{:?}: {faults}", case.call));
        assert_eq!(rebind(&case, &case.package), case.package);
        let code = at(&case.package, "model_result.error");
        let package = if code.is_null() {
            successes += 1;
            success(&case)
        } else {
            errors += 1;
            let code = ErrorCode::parse(text(code, "code").unwrap()).unwrap();
            error(&case, code, now)
        };
        let golden = InDomain::check(&case.package).unwrap().encode();
        assert_eq!(package.to_canonical(), golden);
        assert_eq!(Value::from(&package), case.package);
        let model = at(&case.package, "model_result");
        let verified = case.verify(&Value::from(&package)).unwrap();
        let model = InDomain::check(model).unwrap().encode();
        assert_eq!(verified.model_result().as_bytes(), model);
        assert_eq!(verified.status(), package.model_result().status());
    }
    assert_eq!((successes, errors), (164, 809));
}

#[test]
fn arguments_are_refused_where_the_reference_refuses_them() {
    for Step { case, .. } in steps() {
        let Some(contract) = &case.contract else {
            continue;
        };
        let error = at(&case.package, "model_result.error");
        let refused = error.get("code") == Some(&"INVALID_ARGUMENTS".into());
        let verdict = contract.check_arguments(&case.call.arguments);
        assert_eq!(verdict.is_err(), refused, "{:?}", case.call.arguments);
    }
}

#[test]
fn digests_that_no_package_shows_are_the_reference_s() {
    for Step { case, .. } in steps() {
        let (principal, call) = (&case.principal, &case.call);
        let contract = contract_object(call, case.contract.as_ref());
        let request = RequestDigest::of(principal, call, case.contract.as_ref());
        let request_text = request_digest(principal, call, &contract);
        assert_eq!(request.to_string(), request_text);
        let context = object(&[
            ("provider", call.profile.provider().into()),
            ("api_family", call.profile.api_family().into()),
            ("response_id", call.response_id.as_str().into()),
            ("call_id", call.call_id.as_str().into()),
            ("operation_id", call.operation_id.as_str().into()),
            ("idempotency_key", key(call)),
            ("adapter_revision", call.profile.adapter_revision().into()),
            ("request_sha256", request_text.as_str().into()),
        ]);
        for (purpose, name) in [
            (Purpose::Dispatch, "dispatch"),
            (Purpose::QueryStatus, "query_status"),
        ] {
            let fingerprint = CallFingerprint::of(call, purpose, &request);
            assert_eq!(
                fingerprint.to_string(),
                digest(&with(&context, "purpose", name))
            );
        }
        if let Some(registered) = &case.contract {
            let approver = ApproverId::new("human-reviewer-1").unwrap();
            let mut bound = with(&context, "approver_id", approver.as_str());
            for name in [
                "input_schema_revision",
                "output_schema_revision",
                "effect_revision",
            ] {
                bound = with(&bound, name, at(&contract, name).clone());
            }
            let policy = at(&contract, "policy_revision").clone();
            bound = with(&bound, "approval_revision", policy);
            let approval = ApprovalDigest::of(call, registered, &request, &approver);
            assert_eq!(approval.to_string(), digest(&bound));
        }
        if let Some(scope) = Scope::of(principal, call) {
            let members = [
                principal.tenant_id.as_str(),
                principal.subject_id.as_str(),
                call.name.as_str(),
                scope.key.as_str(),
            ];
            let operation = object(&[
                ("scope", Value::Array(members.map(Value::from).into())),
                ("request_sha256", request_text.as_str().into()),
            ]);
            let status_ref = format!("status_{}", &digest(&operation).split_at(32).0);
            assert_eq!(StatusRef::of(&scope, &request).to_string(), status_ref);
        }
    }
}

fn success(case: &Case) -> Package {
    let contract = case.contract.as_ref().unwrap();
    let provenance = at(&case.package, "model_result.provenance");
    let downstream = at(&case.package, "protected_audit.downstream");
    let owned = |object, name| text(object, name).map(str::to_owned);
    let answer = HandlerAnswer {
        data: at(&case.package, "model_result.data").clone(),
        producer_revision: owned(provenance, "producer_revision").unwrap(),
        resource_revision: owned(provenance, "resource_revision"),
        observed_at: owned(provenance, "observed_at").unwrap(),
        downstream_request_id: owned(downstream, "request_id"),
        receipt_id: owned(downstream, "receipt_id"),
    };
    let answer = answer.check(contract, &case.call.arguments).unwrap();
    let delivery = text(at(&case.package, "model_result.execution"), "delivery");
    let request = RequestDigest::of(&case.principal, &case.call, Some(contract));
    let status_ref = status_ref(case);
    if let (Some(status_ref), Some(scope)) = (status_ref, Scope::of(&case.principal, &case.call)) {
        assert_eq!(status_ref, StatusRef::of(&scope, &request));
    }
    Package::success(
        &case.principal,
        &case.call,
        contract,
        request,
        &answer,
        status_ref,
        Delivery::parse(delivery.unwrap()).unwrap(),
    )
}

fn error(case: &Case, code: ErrorCode, now: UtcSecond) -> Package {
    let contract = case.contract.as_ref();
    let request = RequestDigest::of(&case.principal, &case.call, contract);
    Package::error(
        &case.principal,
        &case.call,
        contract,
        request,
        code,
        now,
        status_ref(case),
    )
}

fn status_ref(case: &Case) -> Option<StatusRef> {
    let downstream = at(&case.package, "protected_audit.downstream");
    text(downstream, "status_ref").map(|text| StatusRef::parse(text).unwrap())
}

fn text<'v>(object: &'v Value, name: &str) -> Option<&'v str> {
    at(object, name).as_str()
}

/// Every step of every golden scenario that has packages.
fn steps() -> Vec<Step> {
    let mut lines = String::new();
    GzDecoder::new(File::open(SCENARIOS).expect("the scenarios are committed"))
        .read_to_string(&mut lines)
        .expect("the scenarios are compressed text");
    let mut steps = Vec::new();
    for line in lines.lines().map(large_json) {
        if at(&line, "exit").as_i64() == Some(2) {
            continue;
        }
        let fixture = BASE64_STANDARD.decode(text(&line, "fixture_b64").unwrap());
        let fixture = json(&String::from_utf8(fixture.unwrap()).unwrap());
        let cases = at(&fixture, "cases").as_array().unwrap();
        let packages = at(&line, "packages").as_array().unwrap();
        for (case, packages) in cases.iter().zip(packages) {
            let principal = Principal::from_value(at(case, "principal")).unwrap();
            let written = at(case, "steps").as_array().unwrap();
            for (step, package) in written.iter().zip(packages.as_array().unwrap()) {
                steps.push(read_step(&principal, step, package));
            }
        }
    }
    steps
}

fn read_step(principal: &Principal, step: &Value, package: &Value) -> Step {
    let call = with(
        at(step, "execution_context"),
        "name",
        at(step, "proposal.name").clone(),
    );
    let call = with(&call, "arguments", at(step, "proposal.arguments").clone());
    let call = Call::from_value(&call).unwrap();
    let now = at(step, "now").as_i64().unwrap().unsigned_abs();
    Step {
        case: Case {
            principal: principal.clone(),
            contract: registered(call.name.as_str()),
            call,
            package: package.clone(),
        },
        now: UtcSecond::new(now).unwrap(),
    }
}
