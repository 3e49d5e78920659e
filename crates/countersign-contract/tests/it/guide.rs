//! The guide's worked example, which has to be true.

use countersign_canonical::Value;
use countersign_contract::{
    Call, Delivery, HandlerAnswer, Package, Principal, RequestDigest, Scope, StatusRef,
    ToolContract, is_sensitive_key,
};

use crate::editing::json;

const GUIDE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/guides/tool-contract.md"
));

/// The text of the fenced JSON block of that name.
fn block(name: &str) -> Value {
    let (_, rest) = GUIDE
        .split_once(&format!("```json {name}\n"))
        .unwrap_or_else(|| panic!("the guide has no block `{name}`"));
    json(rest.split_once("\n```").unwrap().0)
}

#[test]
fn worked_example_gives_the_package_that_the_guide_shows() {
    let contract = ToolContract::from_value(&block("contract")).unwrap();
    let principal = Principal::from_value(&block("principal")).unwrap();
    let call = Call::from_value(&block("call")).unwrap();
    contract.check_arguments(&call.arguments).unwrap();
    let answer = HandlerAnswer {
        data: block("data"),
        producer_revision: "refunds-mock-v2".to_owned(),
        resource_revision: Some("draft-1-r1".to_owned()),
        observed_at: "2026-07-19T00:00:00Z".to_owned(),
        downstream_request_id: Some("refund-request-1".to_owned()),
        receipt_id: Some("refund-receipt-1".to_owned()),
    };
    let answer = answer.check(&contract, &call.arguments).unwrap();
    let request = RequestDigest::of(&principal, &call, Some(&contract));
    let status_ref = Scope::of(&principal, &call).map(|scope| StatusRef::of(&scope, &request));
    let package = Package::success(
        &principal,
        &call,
        &contract,
        request,
        &answer,
        status_ref,
        Delivery::Fresh,
    );
    let canonical = String::from_utf8(package.to_canonical()).unwrap();
    assert_eq!(Value::from(&package), block("package"), "{canonical}");
    assert!(GUIDE.contains(answer.observed_at().as_str()));
}

#[test]
fn guide_lists_exactly_the_names_that_no_answer_may_carry() {
    let (_, section) = GUIDE
        .split_once("### Names that no answer may carry")
        .expect("the guide has the section");
    let (list, _) = section.split_once(": in any case").unwrap();
    let names: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    assert_eq!(names.len(), 14);
    assert!(names.iter().all(|name| is_sensitive_key(name)), "{names:?}");
    assert!(names.is_sorted());
}
