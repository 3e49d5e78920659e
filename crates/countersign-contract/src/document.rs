//! The documented JSON forms of principals, calls and tool contracts.
//!
//! A reader notes faults in a [`FaultCollector`] and returns what it could read. Where a member may be absent, it
//! returns nothing for a faulty one too: the fault that it noted fails the document.

mod call;
mod contract;
mod contract_value;
mod principal;

pub use call::read_call;
pub use contract::{read_contract, read_value_rule};
pub use principal::read_principal;

use countersign_canonical::{Object, Value};

use crate::fault::{FaultCollector, Path, Problem};
use crate::identifier::{IdempotencyKey, IdentifierError};
use crate::profile::Profile;

/// Reads `provider`, `api_family` and `adapter_revision` as a registered profile.
pub fn read_profile(path: &Path, object: &Object, faults: &mut FaultCollector) -> Option<Profile> {
    let mut text = |name: &str| {
        let text = object.get(name).and_then(Value::as_str);
        if text.is_none() {
            faults.push(path.member(name), Problem::Expected("a string"));
        }
        text
    };
    let (provider, family, revision) = (
        text("provider"),
        text("api_family"),
        text("adapter_revision"),
    );
    faults.take(path, Profile::registered(provider?, family?, revision?))
}

/// Reads `idempotency_key`: a key, or null for none.
pub fn read_key(
    path: &Path,
    object: &Object,
    faults: &mut FaultCollector,
) -> Option<IdempotencyKey> {
    if object.get("idempotency_key").is_none_or(Value::is_null) {
        return None;
    }
    read_identifier(path, object, "idempotency_key", faults)
}

/// Reads a member that is an identifier.
pub fn read_identifier<T>(
    path: &Path,
    object: &Object,
    name: &str,
    faults: &mut FaultCollector,
) -> Option<T>
where
    T: for<'t> TryFrom<&'t str, Error = IdentifierError>,
{
    let Some(text) = object.get(name).and_then(Value::as_str) else {
        faults.push(path.member(name), Problem::Expected("a string"));
        return None;
    };
    match T::try_from(text) {
        Ok(identifier) => Some(identifier),
        Err(error) => {
            faults.push(path.member(name), error);
            None
        }
    }
}

fn read_integer(
    path: &Path,
    object: &Object,
    name: &str,
    minimum: i64,
    maximum: i64,
    faults: &mut FaultCollector,
) -> Option<i64> {
    let integer = object
        .get(name)
        .and_then(Value::as_i64)
        .filter(|integer| (minimum..=maximum).contains(integer))
        .ok_or_else(|| {
            Problem::ExpectedThat(match (minimum, maximum) {
                (i64::MIN, i64::MAX) => "an integer".to_owned(),
                (_, i64::MAX) => format!("an integer of at least {minimum}"),
                _ => format!("an integer from {minimum} to {maximum}"),
            })
        });
    faults.take(&path.member(name), integer)
}
