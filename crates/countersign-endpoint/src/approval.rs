//! The owner's approval that an execution request is bound to.

use crate::digest::Utf8Digest;
use crate::epoch::EpochSeconds;
use crate::fault::{Fault, FaultKind, Location};
use crate::field_reader::FieldReader;
use crate::identifier::{ApprovalId, DecisionId};
use crate::number::{Number, NumberKind};
use crate::value::Value;

/// The schema of an approval binding.
pub const APPROVAL_BINDING_SCHEMA: &str = "ColonyOwnerApprovalExecutionBindingV1";

/// The longest lifetime of an approval, in seconds.
pub const APPROVAL_MAX_LIFETIME_SECONDS: u32 = 86_400;

/// How far ahead of our clock a decision may be, in seconds.
pub const CLOCK_SKEW_SECONDS: f64 = 30.0;

/// A well-formed approval binding.
///
/// Well-formed says nothing about now: see [`ApprovalBinding::liveness`].
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalBinding {
    approval_id: ApprovalId,
    decision_id: DecisionId,
    authorization_receipt_sha256: Utf8Digest,
    // INVARIANT: finite, and `0 < decided_at <= expires_at`; equal only where doubles cannot tell integers apart.
    decided_at: f64,
    expires_at: f64,
}

/// Whether an approval may still be acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// Decided, and not expired.
    Live,
    /// Its expiry is now or past.
    Expired,
    /// Decided more than [`CLOCK_SKEW_SECONDS`] ahead of our clock.
    DecidedAhead,
}

impl ApprovalBinding {
    /// The approval's id.
    pub fn approval_id(&self) -> &ApprovalId {
        &self.approval_id
    }

    /// The id of the decision.
    pub fn decision_id(&self) -> &DecisionId {
        &self.decision_id
    }

    /// The digest of the receipt by which the owner authorized the action.
    pub fn authorization_receipt_sha256(&self) -> Utf8Digest {
        self.authorization_receipt_sha256
    }

    /// When the owner decided, in seconds since the Unix epoch.
    pub fn decided_at(&self) -> f64 {
        self.decided_at
    }

    /// When the approval ends, in seconds since the Unix epoch.
    pub fn expires_at(&self) -> f64 {
        self.expires_at
    }

    /// Judges the approval at a given time.
    pub fn liveness(&self, now: EpochSeconds) -> Liveness {
        if now.as_f64() >= self.expires_at {
            Liveness::Expired
        } else if self.decided_at > now.as_f64() + CLOCK_SKEW_SECONDS {
            Liveness::DecidedAhead
        } else {
            Liveness::Live
        }
    }

    /// Reads `approval` and appends every fault.
    ///
    /// The value returned counts only where no fault was appended.
    pub(crate) fn read(value: &Value, faults: &mut Vec<Fault>) -> Option<Self> {
        let Some(members) = value.as_object() else {
            faults.push(Fault::new(
                Location::Field("approval"),
                FaultKind::NotAnObject,
            ));
            return None;
        };
        let mut fields = FieldReader::new(
            members,
            faults,
            Location::Field("approval"),
            Location::ApprovalField,
        );
        fields.text("schema", FaultKind::WrongSchema, |text| {
            (text == APPROVAL_BINDING_SCHEMA).then_some(())
        });
        fields.one("version");
        let approval_id = fields.text("approval_id", FaultKind::NotAnApprovalId, ApprovalId::parse);
        let decision_id = fields.text("decision_id", FaultKind::NotAnIdentifier, DecisionId::parse);
        fields.one("revision");
        let receipt = fields.text(
            "authorization_receipt_sha256",
            FaultKind::NotADigest,
            Utf8Digest::parse,
        );
        let decided_at = fields.time("decided_at");
        let expires_at = fields.time("expires_at");
        if let (Some(decided_at), Some(expires_at)) = (decided_at, expires_at)
            && !is_lifetime(decided_at, expires_at)
        {
            fields.fault("expires_at", FaultKind::Lifetime);
        }
        fields.finish();
        Some(Self {
            approval_id: approval_id?,
            decision_id: decision_id?,
            authorization_receipt_sha256: receipt?,
            decided_at: decided_at?.to_f64(),
            expires_at: expires_at?.to_f64(),
        })
    }
}

/// Whether `0 < expires_at - decided_at <= 86400`: exact between integers, in doubles otherwise.
fn is_lifetime(decided_at: Number, expires_at: Number) -> bool {
    match (decided_at.kind(), expires_at.kind()) {
        (NumberKind::Integer(decided_at), NumberKind::Integer(expires_at)) => {
            let lifetime = i128::from(expires_at) - i128::from(decided_at);
            (1..=i128::from(APPROVAL_MAX_LIFETIME_SECONDS)).contains(&lifetime)
        }
        (NumberKind::Float(_), NumberKind::Integer(_) | NumberKind::Float(_))
        | (NumberKind::Integer(_), NumberKind::Float(_)) => {
            let lifetime = expires_at.to_f64() - decided_at.to_f64();
            lifetime > 0.0 && lifetime <= f64::from(APPROVAL_MAX_LIFETIME_SECONDS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(value: i64) -> Number {
        Number::from_integer(value).expect("63 bits")
    }

    fn float(value: f64) -> Number {
        Number::from_float(value).expect("finite")
    }

    #[test]
    fn a_lifetime_is_positive_and_at_most_a_day() {
        let start = 1_784_000_000;
        let start_float = 1_784_000_000.0;
        for (lifetime, good) in [
            (0, false),
            (1, true),
            (86_400, true),
            (86_401, false),
            (-5, false),
        ] {
            let end = integer(start + lifetime);
            let end_float = float(end.to_f64());
            assert_eq!(is_lifetime(integer(start), end), good, "{lifetime}");
            assert_eq!(is_lifetime(float(start_float), end), good, "{lifetime}");
            assert_eq!(is_lifetime(integer(start), end_float), good, "{lifetime}");
            assert_eq!(
                is_lifetime(float(start_float), end_float),
                good,
                "{lifetime}"
            );
        }
        assert!(is_lifetime(float(start_float), float(start_float + 0.25)));
        assert!(!is_lifetime(
            float(start_float),
            float(start_float + 86_400.25)
        ));
        assert!(!is_lifetime(float(-f64::MAX), float(f64::MAX)));
        assert!(!is_lifetime(integer(-i64::MAX), integer(i64::MAX)));
        assert!(
            is_lifetime(integer(i64::MAX - 1), integer(i64::MAX)),
            "exact where doubles are equal"
        );
    }

    #[test]
    fn an_approval_dies_at_its_expiry_and_lives_up_to_the_allowed_skew() {
        let binding = ApprovalBinding {
            approval_id: ApprovalId::parse("APR-2F238499DA36").expect("an id"),
            decision_id: DecisionId::parse("dec-1").expect("an id"),
            authorization_receipt_sha256: Utf8Digest::from_bytes([0; 32]),
            decided_at: 1000.0,
            expires_at: 1100.0,
        };
        for (now, liveness) in [
            (969.75, Liveness::DecidedAhead),
            (970.0, Liveness::Live),
            (1099.75, Liveness::Live),
            (1100.0, Liveness::Expired),
            (5000.0, Liveness::Expired),
        ] {
            assert_eq!(
                binding.liveness(EpochSeconds::from_f64(now).expect("a time")),
                liveness,
                "{now}"
            );
        }
    }
}
