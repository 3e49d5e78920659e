//! Long names as keys of fixed length: rows stay short, whatever callers choose.

use countersign_canonical::{Digest, ToolResult};
use countersign_contract::Scope;
use countersign_dispatch::CallIdentity;
use sha2::{Digest as _, Sha256};

/// A key of a table.
pub(crate) type Key = [u8; 32];

/// The key of a scope.
pub(crate) fn of_scope(scope: &Scope) -> Key {
    of_texts(
        "countersign-scope-v1",
        &[
            scope.tenant_id.as_str(),
            scope.subject_id.as_str(),
            scope.tool.as_str(),
            scope.key.as_str(),
        ],
    )
}

/// The key of a call identity.
pub(crate) fn of_identity(identity: &CallIdentity) -> Key {
    of_texts(
        "countersign-call-v1",
        &[
            identity.tenant_id.as_str(),
            identity.subject_id.as_str(),
            identity.profile.provider(),
            identity.profile.api_family(),
            identity.profile.adapter_revision(),
            identity.response_id.as_str(),
            identity.call_id.as_str(),
        ],
    )
}

/// Each text with its length in front, so that no two lists of texts make the same bytes.
fn of_texts(purpose: &str, texts: &[&str]) -> Key {
    let mut hasher = Sha256::new();
    for text in std::iter::once(&purpose).chain(texts) {
        hasher.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().into()
}

/// The hex digits of a stored digest.
pub(crate) fn hex(key: Key) -> String {
    Digest::<ToolResult>::from_bytes(key)
        .to_hex()
        .as_str()
        .to_owned()
}
