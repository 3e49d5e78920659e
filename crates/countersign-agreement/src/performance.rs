//! An endpoint that performs a request at once, without a ledger.

use countersign_endpoint as endpoint;

/// Puts a request at a time, reports what its handler did, and shows the result.
///
/// Says why there is none: the request is not one, or its approval is not alive.
pub fn perform(
    action_id: &str,
    body: &[u8],
    outcome: endpoint::HandlerOutcome,
    now_seconds: f64,
) -> Result<endpoint::ResultDocument, String> {
    let catalog = endpoint::Catalog::colony();
    let request = endpoint::ExecutionRequest::parse(action_id, body, &catalog)
        .map_err(|error| error.to_string())?;
    let now = endpoint::EpochSeconds::from_f64(now_seconds).ok_or("no time")?;
    let owners = [endpoint::Owner::parse("owner").ok_or("no owner")?];
    let credential = endpoint::Credential {
        principal: endpoint::WORKER_PRINCIPAL,
        scopes: &endpoint::WORKER_SCOPES,
        owners: &owners,
    };
    let worker =
        endpoint::Worker::authorize(&credential, None).map_err(|refusal| format!("{refusal:?}"))?;
    let stored = endpoint::Stored::default();
    let admitted = match endpoint::decide_put(stored, request, &worker, now) {
        endpoint::PutDecision::Store { admitted, .. } => admitted,
        endpoint::PutDecision::Refuse(refusal) => return Err(refusal.to_string()),
        decision @ (endpoint::PutDecision::Resume(_)
        | endpoint::PutDecision::Replay(_)
        | endpoint::PutDecision::Fail { .. }) => return Err(format!("{decision:?}")),
    };
    let instance = endpoint::InstanceId::parse("instance-1").ok_or("no instance")?;
    match admitted.begin(instance, now) {
        endpoint::Begin::Start(starting) => {
            let finished = starting.committed().finish(outcome, now);
            Ok(finished.settled().result().clone())
        }
        endpoint::Begin::Fail { result, .. } => Ok(result),
    }
}
