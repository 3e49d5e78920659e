//! The reference's two tools, calls of them, and a package of every kind.

use std::sync::LazyLock;

use countersign_canonical::{Limits, Value, parse};
use countersign_contract::{
    Call, CheckedAnswer, Delivery, ErrorCode, Fault, Faults, HandlerAnswer, Outcome, Package, Path,
    Principal, Problem, RequestDigest, Scope, StatusRef, ToolContract, UtcSecond, VerifiedPackage,
    verify,
};

use crate::editing::json;

const GET_ORDER: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/contracts/get_order.json"
));
const CREATE_REFUND_DRAFT: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/contracts/create_refund_draft.json"
));

/// A package together with what it has to be verified against.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) principal: Principal,
    pub(crate) call: Call,
    pub(crate) contract: Option<ToolContract>,
    pub(crate) package: Value,
}

impl Case {
    pub(crate) fn verify(&self, package: &Value) -> Result<VerifiedPackage<'_>, Faults> {
        verify(&self.principal, &self.call, self.contract.as_ref(), package)
    }

    pub(crate) fn refusal(&self, package: &Value) -> Vec<Fault> {
        match self.verify(package) {
            Ok(_) => Vec::new(),
            Err(faults) => faults.iter().cloned().collect(),
        }
    }
}

static CONTRACTS: LazyLock<[ToolContract; 2]> = LazyLock::new(|| {
    [GET_ORDER, CREATE_REFUND_DRAFT].map(|document| {
        ToolContract::from_value(&json(document)).expect("the contract is in order")
    })
});

/// The registered contract of a tool, if it has one.
pub(crate) fn registered(name: &str) -> Option<ToolContract> {
    let mut contracts = CONTRACTS.iter();
    contracts
        .find(|contract| contract.name.as_str() == name)
        .cloned()
}

pub(crate) fn principal() -> Principal {
    let document = r#"{"tenant_id": "tenant-a", "subject_id": "user-1", "roles": []}"#;
    Principal::from_value(&json(document)).expect("the principal is in order")
}

pub(crate) fn get_order_call(call_id: &str) -> Call {
    call(call_id, "null", "get_order", r#"{"order_ref": "ORDER-7"}"#)
}

pub(crate) fn refund_call(call_id: &str, key: &str) -> Call {
    call(
        call_id,
        &format!("{key:?}"),
        "create_refund_draft",
        r#"{"order_ref": "ORDER-7", "reason": "damaged"}"#,
    )
}

fn call(call_id: &str, key: &str, name: &str, arguments: &str) -> Call {
    let document = format!(
        r#"{{
            "provider": "openai", "api_family": "responses", "adapter_revision": "openai-responses-v1",
            "response_id": "response-1", "call_id": "{call_id}", "operation_id": "operation-1",
            "idempotency_key": {key}, "name": "{name}", "arguments": {arguments}
        }}"#
    );
    Call::from_value(&json(&document)).expect("the call is in order")
}

pub(crate) fn order_answer() -> HandlerAnswer {
    HandlerAnswer {
        data: json(r#"{"order_ref": "ORDER-7", "status": "paid"}"#),
        producer_revision: "orders-mock-v2".to_owned(),
        resource_revision: Some("order-7-r3".to_owned()),
        observed_at: "2026-07-19T00:00:00Z".to_owned(),
        downstream_request_id: Some("orders-request-1".to_owned()),
        receipt_id: None,
    }
}

pub(crate) fn refund_answer() -> HandlerAnswer {
    HandlerAnswer {
        data: json(r#"{"draft_id": "DRAFT-1", "order_ref": "ORDER-7", "reason": "damaged"}"#),
        producer_revision: "refunds-mock-v2".to_owned(),
        resource_revision: Some("draft-1-r1".to_owned()),
        observed_at: "2026-07-19T00:00:00Z".to_owned(),
        downstream_request_id: Some("refund-request-1".to_owned()),
        receipt_id: Some("refund-receipt-1".to_owned()),
    }
}

pub(crate) fn order_case(call_id: &str) -> Case {
    success_case(get_order_call(call_id), order_answer(), Delivery::Fresh)
}

pub(crate) fn refund_case(call_id: &str) -> Case {
    success_case(
        refund_call(call_id, "key-1"),
        refund_answer(),
        Delivery::Fresh,
    )
}

fn success_case(call: Call, answer: HandlerAnswer, delivery: Delivery) -> Case {
    let (principal, contract) = (principal(), registered(call.name.as_str()).unwrap());
    let answer: CheckedAnswer = answer.check(&contract, &call.arguments).unwrap();
    let request = RequestDigest::of(&principal, &call, Some(&contract));
    let status_ref = Scope::of(&principal, &call).map(|scope| StatusRef::of(&scope, &request));
    let package = Package::success(
        &principal, &call, &contract, request, &answer, status_ref, delivery,
    );
    Case {
        package: Value::from(&package),
        principal,
        call,
        contract: Some(contract),
    }
}

pub(crate) fn error_case(code: ErrorCode) -> Case {
    let (principal, mut call) = (principal(), refund_call("call-1", "key-1"));
    if code == ErrorCode::UnknownTool {
        call.name = "drop_table".try_into().unwrap();
    }
    let contract = registered(call.name.as_str());
    let request = RequestDigest::of(&principal, &call, contract.as_ref());
    let status_ref = (code.entry().outcome == Outcome::Unknown)
        .then(|| StatusRef::of(&Scope::of(&principal, &call).unwrap(), &request));
    let now = UtcSecond::new(1_784_419_200).unwrap();
    let package = Package::error(
        &principal,
        &call,
        contract.as_ref(),
        request,
        code,
        now,
        status_ref,
    );
    Case {
        package: Value::from(&package),
        principal,
        call,
        contract,
    }
}

/// A valid package of every kind: successes of a read and a write, by each delivery, and every error.
pub(crate) fn every_case() -> &'static [(String, Case)] {
    static CASES: LazyLock<Vec<(String, Case)>> = LazyLock::new(build_every_case);
    &CASES
}

fn build_every_case() -> Vec<(String, Case)> {
    let mut cases = vec![("read".to_owned(), order_case("call-1"))];
    for delivery in Delivery::ALL {
        let case = success_case(refund_call("call-1", "key-1"), refund_answer(), *delivery);
        cases.push((format!("write, {delivery}"), case));
    }
    for code in ErrorCode::ALL {
        cases.push((code.to_string(), error_case(*code)));
    }
    cases
}

/// Reads a document of the tests that is larger than a tool may send.
pub(crate) fn large_json(text: &str) -> Value {
    let limits = Limits::tool_result().with_bytes(usize::MAX);
    parse(text.as_bytes(), &limits).expect("the document is JSON")
}

pub(crate) fn fault(path: &str, problem: Problem) -> Fault {
    let mut names = path.split('.').filter(|name| !name.is_empty());
    Fault {
        path: names
            .by_ref()
            .fold(Path::root(), |path, name| path.member(name)),
        problem,
    }
}
