//! Requests made for tests, with digests that are right unless a test spoils them.

use countersign_endpoint::{
    Catalog, Credential, EpochSeconds, ExecutionRequest, InstanceId, Owner, RequestError,
    WORKER_PRINCIPAL, WORKER_SCOPES, Worker, parse_respelled, sha256_json_ascii, sha256_json_utf8,
};
use serde_json::{Value as Json, json};

pub(crate) const ACTION: &str = "11cbc288-4a50-42dc-982c-18c92f429ce5";
pub(crate) const OTHER_ACTION: &str = "dde138d8-4270-45f6-8a2e-36117bcec85d";
pub(crate) const DECIDED_AT: f64 = 1_784_000_000.0;

/// A request without its two computed digests.
pub(crate) fn unsigned(action_id: &str) -> Json {
    json!({
        "schema": "ColonyGovernedActionExecutionV1",
        "version": 1,
        "action_id": action_id,
        "action_digest": "ab".repeat(32),
        "intent_id": format!("hti_{}", "c".repeat(32)),
        "intent_digest": "de".repeat(32),
        "tool_name": "colony_task_snooze",
        "args": {"task_id": "task-1", "hours": 24, "reason": "après 😀"},
        "approval": {
            "schema": "ColonyOwnerApprovalExecutionBindingV1",
            "version": 1,
            "approval_id": "APR-2F238499DA36",
            "decision_id": "dec:1/2",
            "revision": 1,
            "authorization_receipt_sha256": "0f".repeat(32),
            "decided_at": DECIDED_AT,
            "expires_at": 1_784_000_600,
        },
    })
}

/// Adds the digests of what is there and writes the document.
pub(crate) fn sign(mut request: Json) -> Vec<u8> {
    let digest = |value: &Json| parse_respelled(value.to_string().as_bytes());
    if let Ok(arguments) = digest(&request["args"]) {
        request["args_sha256"] = json!(sha256_json_ascii(&arguments).to_string());
    }
    let execution_digest = sha256_json_utf8(&digest(&request).expect("strict JSON")).to_string();
    request["execution_digest"] = json!(execution_digest);
    request.to_string().into_bytes()
}

pub(crate) fn read(body: &[u8]) -> Result<ExecutionRequest, RequestError> {
    ExecutionRequest::parse(ACTION, body, &Catalog::colony())
}

pub(crate) fn request(action_id: &str) -> ExecutionRequest {
    let body = sign(unsigned(action_id));
    ExecutionRequest::parse(action_id, &body, &Catalog::colony()).expect("a valid request")
}

pub(crate) fn worker(owner: &str) -> Worker {
    let owners = [Owner::parse(owner).expect("an owner")];
    let credential = Credential {
        principal: WORKER_PRINCIPAL,
        scopes: &WORKER_SCOPES,
        owners: &owners,
    };
    Worker::authorize(&credential, None).expect("a worker")
}

pub(crate) fn instance(number: u32) -> InstanceId {
    InstanceId::parse(&format!("instance-{number}")).expect("an instance")
}

pub(crate) fn at(offset: f64) -> EpochSeconds {
    EpochSeconds::from_f64(DECIDED_AT + offset).expect("a time")
}
