//! What an approval proves, and what a ledger keeps of it.

use countersign_contract::{ApproverId, RequestDigest, UtcSecond};
use countersign_policy::{
    AccessRequest, Approval, ApprovalNeed, ApprovalRefusal, Approved, ApproverDirectory,
    ApproverStanding, Authorized, Decision,
};

use crate::call::Asked;

const NOW: u64 = 1_784_419_200;

/// Entitles one.
struct Only(&'static str);

impl ApproverDirectory for Only {
    fn standing(&self, approver: &ApproverId, _: &AccessRequest<'_>) -> ApproverStanding {
        if approver.as_str() == self.0 {
            ApproverStanding::Entitled
        } else {
            ApproverStanding::NotEntitled
        }
    }
}

fn asked() -> Asked {
    Asked::new(["acme", "alex"], &[], "refund", r#"{"amount": 5}"#)
}

fn request(asked: &Asked) -> RequestDigest {
    RequestDigest::of(&asked.principal, &asked.call, Some(&asked.contract))
}

fn approval(asked: &Asked, approver: &str) -> Approval {
    let approver = ApproverId::new(approver).unwrap();
    let expiry = UtcSecond::new(NOW + 60).unwrap();
    Approval::of(
        &asked.access(),
        &request(asked),
        "approval-1".to_owned(),
        &approver,
        expiry,
    )
}

#[test]
fn a_denial_mints_nothing() {
    let asked = asked();
    assert!(Authorized::from_decision(asked.access(), Decision::Denied).is_none());
    let allowed = Decision::Allowed(ApprovalNeed::Person);
    let proof = Authorized::from_decision(asked.access(), allowed).unwrap();
    assert_eq!(proof.call(), &asked.call);
    assert_eq!(proof.principal(), &asked.principal);
}

#[test]
fn evidence_is_what_was_checked() {
    let asked = asked();
    let now = UtcSecond::new(NOW).unwrap();
    let check = |need, offered: &[Approval]| {
        let authorized =
            Authorized::from_decision(asked.access(), Decision::Allowed(need)).unwrap();
        Approved::check(authorized, &request(&asked), offered, &Only("dana"), now)
            .map(|approved| approved.evidence().clone())
    };
    let dana = approval(&asked, "dana");
    let kim = approval(&asked, "kim");

    assert_eq!(
        check(ApprovalNeed::Person, &[]),
        Err(ApprovalRefusal::Required)
    );
    assert_eq!(
        check(ApprovalNeed::Person, std::slice::from_ref(&kim)),
        Err(ApprovalRefusal::Invalid)
    );
    let evidence = check(ApprovalNeed::Person, &[kim.clone(), dana.clone()]).unwrap();
    assert_eq!(evidence.approver.as_str(), "dana");
    assert_eq!(evidence.approval_id.as_str(), "approval-1");
    assert_eq!(evidence.digest.to_string(), dana.approval_digest);
    assert_eq!(evidence.expires_at.as_unix_seconds(), NOW + 60);

    // The policy approves in its own name, whatever is offered.
    for offered in [vec![], vec![kim], vec![dana]] {
        let evidence = check(ApprovalNeed::Policy, &offered).unwrap();
        assert_eq!(evidence.approver.as_str(), "policy:policy-v1");
        assert_eq!(evidence.approval_id.as_str(), "policy:policy-v1");
        assert_eq!(
            evidence.digest.to_string(),
            approval(&asked, "policy:policy-v1").approval_digest
        );
        assert!(evidence.expires_at > now);
    }
}

#[test]
fn at_the_end_of_time_nothing_is_approved() {
    let asked = asked();
    for need in [ApprovalNeed::Person, ApprovalNeed::Policy] {
        let authorized =
            Authorized::from_decision(asked.access(), Decision::Allowed(need)).unwrap();
        let mut late = approval(&asked, "dana");
        late.expires_at = u64::MAX;
        let refused = Approved::check(
            authorized,
            &request(&asked),
            &[late],
            &Only("dana"),
            UtcSecond::MAX,
        );
        assert_eq!(refused.unwrap_err(), ApprovalRefusal::Invalid);
    }
}
