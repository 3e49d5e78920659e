//! Permissions as proofs. This module alone makes them.

use countersign_contract::{
    ApprovalDigest, ApprovalId, ApproverId, Call, Principal, RequestDigest, ToolContract, UtcSecond,
};

use crate::approval::Approval;
use crate::decision::{AccessRequest, ApprovalNeed, Decision};

/// The approver prefix that stands for the policy itself. No approval that is offered may carry it.
const POLICY_APPROVER_PREFIX: &str = "policy:";

/// The proof that a principal may make a call.
///
/// ```compile_fail
/// # fn forge(request: countersign_policy::AccessRequest<'static>) {
/// let forged = countersign_policy::Authorized {
///     request,
///     need: countersign_policy::ApprovalNeed::Policy,
/// };
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Authorized<'a> {
    request: AccessRequest<'a>,
    need: ApprovalNeed,
}

impl<'a> Authorized<'a> {
    /// Mints the proof from an authorizer's decision about this very request; nothing from a denial.
    #[must_use]
    pub fn from_decision(request: AccessRequest<'a>, decision: Decision) -> Option<Self> {
        match decision {
            Decision::Denied => None,
            Decision::Allowed(need) => Some(Self { request, need }),
        }
    }

    /// Who may make the call.
    #[must_use]
    pub fn principal(&self) -> &'a Principal {
        self.request.principal
    }

    /// The call.
    #[must_use]
    pub fn call(&self) -> &'a Call {
        self.request.call
    }

    /// The contract.
    #[must_use]
    pub fn contract(&self) -> &'a ToolContract {
        self.request.contract
    }
}

/// Whether someone may approve a call, now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApproverStanding {
    /// They may.
    Entitled,
    /// They may not, or are not known, or it could not be found out.
    NotEntitled,
}

/// Knows who may approve what.
pub trait ApproverDirectory {
    /// Tells whether the approver may approve this call.
    fn standing(&self, approver: &ApproverId, request: &AccessRequest<'_>) -> ApproverStanding;
}

/// Why a write lacks an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalRefusal {
    /// Nobody has approved yet.
    Required,
    /// What was offered is dead, malformed, for another call, or from someone who may not approve.
    Invalid,
}

/// The proof that exactly this call was approved, by someone who may, and that the approval lives.
///
/// ```compile_fail
/// # fn forge(authorized: countersign_policy::Authorized<'static>, evidence: countersign_policy::ApprovalEvidence) {
/// let forged = countersign_policy::Approved { authorized, evidence };
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Approved<'a> {
    authorized: Authorized<'a>,
    evidence: ApprovalEvidence,
}

/// What a ledger keeps of an approval that it consumes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalEvidence {
    /// Names the approval; unique together with the digest only.
    pub approval_id: ApprovalId,
    /// Who approved.
    pub approver: ApproverId,
    /// What was approved.
    pub digest: ApprovalDigest,
    /// The first second at which it is dead.
    pub expires_at: UtcSecond,
}

impl<'a> Approved<'a> {
    /// Finds an approval among those offered that is bound to this very call and lives at `now`.
    ///
    /// Expiry is exclusive: at the second it names, an approval is dead. Where the policy approves by itself, offered
    /// approvals do not matter.
    pub fn check(
        authorized: Authorized<'a>,
        request: &RequestDigest,
        offered: &[Approval],
        approvers: &dyn ApproverDirectory,
        now: UtcSecond,
    ) -> Result<Self, ApprovalRefusal> {
        let evidence = match authorized.need {
            ApprovalNeed::Policy => {
                policy_evidence(&authorized, request, now).ok_or(ApprovalRefusal::Invalid)?
            }
            ApprovalNeed::Person if offered.is_empty() => return Err(ApprovalRefusal::Required),
            ApprovalNeed::Person => offered
                .iter()
                .find_map(|approval| evidence(&authorized, request, approval, approvers, now))
                .ok_or(ApprovalRefusal::Invalid)?,
        };
        Ok(Self {
            authorized,
            evidence,
        })
    }

    /// Checks an approval that was consumed before, for another attempt at the very same effect.
    ///
    /// Its time is no matter any more: it was in time when it was consumed. All else has to stand as it did: the approver's
    /// right, what the digest binds, and whether a person is needed.
    pub fn again(
        authorized: Authorized<'a>,
        request: &RequestDigest,
        evidence: &ApprovalEvidence,
        approvers: &dyn ApproverDirectory,
    ) -> Result<Self, ApprovalRefusal> {
        let approver = &evidence.approver;
        let is_approver = if is_policy(approver) {
            authorized.need == ApprovalNeed::Policy
        } else {
            approvers.standing(approver, &authorized.request) == ApproverStanding::Entitled
        };
        let digest =
            ApprovalDigest::of(authorized.call(), authorized.contract(), request, approver);
        if is_approver && digest == evidence.digest {
            Ok(Self {
                authorized,
                evidence: evidence.clone(),
            })
        } else {
            Err(ApprovalRefusal::Invalid)
        }
    }

    /// The authorization the approval stands on.
    #[must_use]
    pub fn authorized(&self) -> &Authorized<'a> {
        &self.authorized
    }

    /// What a ledger keeps of the approval.
    #[must_use]
    pub fn evidence(&self) -> &ApprovalEvidence {
        &self.evidence
    }
}

/// The evidence of one offered approval, when every part of it is the call's own.
fn evidence(
    authorized: &Authorized<'_>,
    request: &RequestDigest,
    approval: &Approval,
    approvers: &dyn ApproverDirectory,
    now: UtcSecond,
) -> Option<ApprovalEvidence> {
    let approval_id = ApprovalId::new(&approval.approval_id).ok()?;
    let approver = ApproverId::new(&approval.approver_id).ok()?;
    let expires_at = UtcSecond::new(approval.expires_at).filter(|expiry| *expiry > now)?;
    if is_policy(&approver) {
        return None;
    }
    match approvers.standing(&approver, &authorized.request) {
        ApproverStanding::Entitled => {}
        ApproverStanding::NotEntitled => return None,
    }
    let digest = ApprovalDigest::of(authorized.call(), authorized.contract(), request, &approver);
    approval
        .is_of(&authorized.request, &digest)
        .then_some(ApprovalEvidence {
            approval_id,
            approver,
            digest,
            expires_at,
        })
}

/// Tells whether a name stands for the policy itself, which no person can take.
pub(crate) fn is_policy(approver: &ApproverId) -> bool {
    approver.as_str().starts_with(POLICY_APPROVER_PREFIX)
}

/// How long an approval by policy lives; it is consumed at once.
const POLICY_APPROVAL_LIFETIME_SECONDS: u64 = 60;

/// The policy's own approval: named after its revision, and bound to the call like a person's.
///
/// There is none where the revision leaves no room for the prefix, or time ends.
fn policy_evidence(
    authorized: &Authorized<'_>,
    request: &RequestDigest,
    now: UtcSecond,
) -> Option<ApprovalEvidence> {
    let contract = authorized.contract();
    let name = format!("{POLICY_APPROVER_PREFIX}{}", contract.revisions.policy);
    let approver = ApproverId::new(&name).ok()?;
    Some(ApprovalEvidence {
        approval_id: ApprovalId::new(&name).ok()?,
        digest: ApprovalDigest::of(authorized.call(), contract, request, &approver),
        approver,
        expires_at: now.checked_add(POLICY_APPROVAL_LIFETIME_SECONDS)?,
    })
}
