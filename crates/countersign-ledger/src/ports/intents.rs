//! Which key a call without one goes under.

use countersign_contract::{IntentDigest, Scope};
use countersign_dispatch::ledger::Error;
use countersign_dispatch::{CallIdentity, Intent};

/// Finds which effect a call means, where the host makes the keys.
///
/// While an effect of an intent waits, runs or is unknown, and for a while after its result, whoever proposes the same means
/// that one. Two who ask at the same time hear the same, so that one key decides between them.
///
/// - **Durability**: what is found lasts from when the write is recorded; asking records nothing.
/// - **Ordering**: a call that has an operation already goes to that one, whatever came later.
/// - **Idempotency**: asking changes nothing.
pub trait Intents {
    /// Which effect of an intent a call means.
    fn intent(&self, identity: &CallIdentity, digest: &IntentDigest) -> Result<Intent, Error>;

    /// Notes that the caller knows the recorded answer: the same again means another effect. Repeatable.
    fn acknowledge(&self, scope: &Scope) -> Result<(), Error>;
}
