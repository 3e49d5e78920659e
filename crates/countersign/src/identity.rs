//! The identities the host gives to a provider's call. The same call of the same response always gets the same ones.

use countersign_canonical::{Utf8, digest_with};
use countersign_contract::{ApprovalId, Arguments, Call, IdentifierError, OperationId, Principal};
use countersign_providers::{ProposedCall, Turn};
use uuid::Uuid;

/// Binds a proposed call to the host's identities. The operation follows from principal, response and call id; nothing that a
/// model writes has a part in it but its call id. A write has no key yet: that depends on what the ledger knows of its intent.
pub(crate) fn bind(
    turn: &Turn,
    proposed: &ProposedCall,
    arguments: Arguments,
    principal: &Principal,
) -> Call {
    let identity = identity(turn, proposed, principal);
    Call {
        profile: turn.family().profile(),
        response_id: turn.response_id().clone(),
        call_id: proposed.call_id().clone(),
        operation_id: proven(OperationId::new(format!("op_{identity}"))),
        idempotency_key: None,
        name: proposed.name().clone(),
        arguments,
    }
}

/// A name for an approval that no other one has.
pub(crate) fn new_approval_id() -> ApprovalId {
    proven(ApprovalId::new(format!(
        "approval_{}",
        Uuid::new_v4().simple()
    )))
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
    reason = "a prefix and hex digits are an identifier"
)]
fn proven<T>(identifier: Result<T, IdentifierError>) -> T {
    identifier.expect("a prefix and hex digits")
}
