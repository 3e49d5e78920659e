//! The digests of a package computed anew from plain values, independently of the crate's own way of encoding them.
//!
//! Applied to a golden package it has to change nothing. Applied to an altered one it does what a forger would do who
//! knows every rule, so that what is left is refused for its content.

use countersign_canonical::{InDomain, Value};
use countersign_contract::{Call, Principal, ToolContract};

use crate::cases::Case;
use crate::editing::{at, with};

pub(crate) fn rebind(case: &Case, package: &Value) -> Value {
    let (principal, call) = (&case.principal, &case.call);
    let contract = contract_object(call, case.contract.as_ref());
    let request = request_digest(principal, call, &contract);
    let result = digest(at(package, "model_result"));
    let binding = object(&[
        ("tenant_id", principal.tenant_id.as_str().into()),
        ("subject_id", principal.subject_id.as_str().into()),
        ("provider", call.profile.provider().into()),
        ("api_family", call.profile.api_family().into()),
        ("response_id", call.response_id.as_str().into()),
        ("call_id", call.call_id.as_str().into()),
        ("operation_id", call.operation_id.as_str().into()),
        ("idempotency_key", key(call)),
        ("adapter_revision", call.profile.adapter_revision().into()),
        ("tool_contract", contract.clone()),
        ("request_sha256", request.as_str().into()),
        ("result_sha256", result.as_str().into()),
        (
            "downstream",
            at(package, "protected_audit.downstream").clone(),
        ),
    ]);
    let principal_reference = digest(&object(&[
        ("tenant_id", principal.tenant_id.as_str().into()),
        ("subject_id", principal.subject_id.as_str().into()),
    ]));
    let mut package = package.clone();
    for (place, text) in [
        ("binding.request_sha256", request),
        ("binding.result_sha256", result),
        ("binding.call_binding_sha256", digest(&binding)),
        ("principal_ref", format!("sha256:{principal_reference}")),
    ] {
        package = with(&package, &format!("protected_audit.{place}"), text);
    }
    with(&package, "protected_audit.tool_contract", contract)
}

pub(crate) fn contract_object(call: &Call, contract: Option<&ToolContract>) -> Value {
    let revisions = contract.map(|contract| &contract.revisions);
    let text = |revision: Option<&countersign_contract::Revision>| {
        Value::from(revision.map_or("unregistered", |revision| revision.as_str()))
    };
    object(&[
        ("name", call.name.as_str().into()),
        (
            "input_schema_revision",
            text(revisions.map(|of| &of.input_schema)),
        ),
        (
            "output_schema_revision",
            text(revisions.map(|of| &of.output_schema)),
        ),
        ("effect_revision", text(revisions.map(|of| &of.effect))),
        ("handler_revision", text(revisions.map(|of| &of.handler))),
        ("producer_revision", text(revisions.map(|of| &of.producer))),
        ("policy_revision", text(revisions.map(|of| &of.policy))),
    ])
}

pub(crate) fn request_digest(principal: &Principal, call: &Call, contract: &Value) -> String {
    digest(&object(&[
        ("tenant_id", principal.tenant_id.as_str().into()),
        ("subject_id", principal.subject_id.as_str().into()),
        ("tool", call.name.as_str().into()),
        ("arguments", call.arguments.value().clone()),
        (
            "input_schema_revision",
            at(contract, "input_schema_revision").clone(),
        ),
        (
            "output_schema_revision",
            at(contract, "output_schema_revision").clone(),
        ),
        ("effect_revision", at(contract, "effect_revision").clone()),
    ]))
}

pub(crate) fn key(call: &Call) -> Value {
    let key = call.idempotency_key.as_ref();
    key.map_or(Value::Null, |key| key.as_str().into())
}

pub(crate) fn object(members: &[(&str, Value)]) -> Value {
    let members = members
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()));
    Value::Object(members.collect())
}

pub(crate) fn digest(value: &Value) -> String {
    let value = InDomain::check(value).expect("what is digested is in the domain");
    value.digest().to_string()
}
