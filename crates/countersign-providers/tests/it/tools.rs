//! The two tools of the samples, and results of calls to them.

use countersign_canonical::{Limits, Object, Value, parse};
use countersign_contract::{
    Arguments, Call, Delivery, ErrorCode, HandlerAnswer, OperationId, Package, Principal,
    RequestDigest, ToolContract, UtcSecond, VerifiedPackage,
};
use countersign_providers::{ProposedCall, Turn};

/// The contract of a tool, if it is one of the two.
pub(crate) fn contract(name: &str) -> Option<ToolContract> {
    let document = match name {
        "get_order" => include_str!("../../../../testdata/contracts/get_order.json"),
        "create_refund_draft" => {
            include_str!("../../../../testdata/contracts/create_refund_draft.json")
        }
        _ => return None,
    };
    let value = parse(document.as_bytes(), &Limits::tool_result()).unwrap();
    Some(ToolContract::from_value(&value).unwrap())
}

/// The principal who makes the samples' calls.
pub(crate) fn principal() -> Principal {
    let document = br#"{"tenant_id":"tenant-a","subject_id":"user-1","roles":[]}"#;
    Principal::from_value(&parse(document, &Limits::tool_result()).unwrap()).unwrap()
}

/// A proposed call with the identity that the host gives it.
pub(crate) fn call(turn: &Turn, proposed: &ProposedCall) -> Call {
    Call {
        profile: turn.family().profile(),
        response_id: turn.response_id().clone(),
        call_id: proposed.call_id().clone(),
        operation_id: OperationId::new("operation-1").unwrap(),
        idempotency_key: None,
        name: proposed.name().clone(),
        arguments: Arguments::new(proposed.arguments().clone()).unwrap(),
    }
}

/// An error as the dispatcher packages it.
pub(crate) fn error(call: &Call, code: ErrorCode) -> Package {
    let contract = contract(call.name.as_str());
    let request = RequestDigest::of(&principal(), call, contract.as_ref());
    let now = UtcSecond::new(1_795_003_200).unwrap();
    Package::error(
        &principal(),
        call,
        contract.as_ref(),
        request,
        code,
        now,
        None,
    )
}

/// The result of a read, as the dispatcher packages it.
pub(crate) fn order(call: &Call) -> Package {
    let contract = contract("get_order").unwrap();
    let request = RequestDigest::of(&principal(), call, Some(&contract));
    let data: Object = [
        (
            "order_ref".to_owned(),
            call.arguments.get("order_ref").unwrap().clone(),
        ),
        ("status".to_owned(), Value::from("paid")),
    ]
    .into_iter()
    .collect();
    let answer = HandlerAnswer {
        data: data.into(),
        producer_revision: "orders-mock-v2".to_owned(),
        resource_revision: Some("order-7-r3".to_owned()),
        observed_at: "2026-11-18T12:00:00Z".to_owned(),
        downstream_request_id: None,
        receipt_id: None,
    };
    let answer = answer.check(&contract, &call.arguments).unwrap();
    Package::success(
        &principal(),
        call,
        &contract,
        request,
        &answer,
        None,
        Delivery::Fresh,
    )
}

/// What the dispatcher answers a call with: the order, or that a write needs approval.
pub(crate) fn result(call: &Call) -> Package {
    if call.name.as_str() == "get_order" {
        order(call)
    } else {
        error(call, ErrorCode::ApprovalRequired)
    }
}

/// Proves that a package belongs to its call.
pub(crate) fn verified<'c>(call: &'c Call, package: &Package) -> VerifiedPackage<'c> {
    let contract = contract(call.name.as_str());
    package
        .verify(&principal(), call, contract.as_ref())
        .unwrap()
}
