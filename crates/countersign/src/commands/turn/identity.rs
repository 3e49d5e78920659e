//! The identities the host gives to a provider's call. The same call of the same response always gets the same ones.

use countersign_canonical::{Utf8, digest_with};
use countersign_contract::{
    Arguments, Call, IdempotencyKey, IdentifierError, OperationId, Principal, Risk, ToolContract,
};
use countersign_providers::{ProposedCall, Turn};

/// Binds a proposed call to the host's identities: an operation, and for a write a key, that follow from principal, response
/// and call id. Nothing that a model writes has a part in them but its call id.
pub(super) fn bind(
    turn: &Turn,
    proposed: &ProposedCall,
    arguments: Arguments,
    principal: &Principal,
    contract: Option<&ToolContract>,
) -> Call {
    let identity = identity(turn, proposed, principal);
    let is_write = contract.is_some_and(|contract| contract.risk == Risk::Write);
    Call {
        profile: turn.family().profile(),
        response_id: turn.response_id().clone(),
        call_id: proposed.call_id().clone(),
        operation_id: proven(OperationId::new(format!("op_{identity}"))),
        idempotency_key: is_write.then(|| proven(IdempotencyKey::new(format!("key_{identity}")))),
        name: proposed.name().clone(),
        arguments,
    }
}

/// The name of an approval of the call.
pub(super) fn approval_id(call: &Call) -> String {
    call.operation_id.as_str().replacen("op_", "approval_", 1)
}

fn identity(turn: &Turn, proposed: &ProposedCall, principal: &Principal) -> String {
    let profile = turn.family().profile();
    let digest = digest_with::<Utf8>(|encoder| {
        encoder.begin_array();
        encoder.string("countersign-call-v1");
        encoder.string(principal.tenant_id.as_str());
        encoder.string(principal.subject_id.as_str());
        encoder.string(profile.provider());
        encoder.string(profile.api_family());
        encoder.string(turn.response_id().as_str());
        encoder.string(proposed.call_id().as_str());
        encoder.end_array();
    });
    digest.to_string()
}

#[expect(
    clippy::expect_used,
    reason = "a prefix and 64 hex digits are an identifier"
)]
fn proven<T>(identifier: Result<T, IdentifierError>) -> T {
    identifier.expect("a prefix and 64 hex digits")
}
