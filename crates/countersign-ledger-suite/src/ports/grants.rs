//! Standing approvals.

use countersign_dispatch::{Ledger, NotStarted, Reserved, Settled, Settlement};
use countersign_ledger::{
    ApprovalCheck, Approvals, Backend, Conditions, DurableLedger, Grant, GrantAdded, Grants,
    MAX_USABLE_GRANTS, Record, State, StateKind,
};
use countersign_policy::ApprovalEvidence;

use crate::build::Build;
use crate::rows::standing::grant;
use crate::sample::{Sample, approver, deny, grant_id, tenant};
use crate::stage::{approved, events, host, kind, propose, record, second_in, seconds};

/// How many uses a grant has left after it approved what waits; nothing where it does not.
fn used<B: Backend>(ledger: &DurableLedger<B>, sample: &Sample, nonce: u128) -> Option<u64> {
    let granted = ledger.grant_use(&sample.scope(), nonce).unwrap();
    granted.map(|granted| {
        assert_eq!(granted.record, record(ledger, sample));
        granted.grant.uses_left
    })
}

/// A grant is added once and used as often as it says; each use approves one call and is in the trail with it.
pub fn a_grant_is_used_as_often_as_it_says<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let samples = ["1", "2", "3"].map(Sample::new);
    let given = grant(build, "g", &samples[0], 2);
    propose(&ledger, &samples[0]);
    assert_eq!(used(&ledger, &samples[0], 0), None, "there is none");
    assert_eq!(ledger.grant_add(&given), Ok(GrantAdded::Added));
    assert_eq!(
        ledger.grant_add(&given),
        Ok(GrantAdded::Added),
        "the same again"
    );
    let other = grant(build, "g", &samples[0], 3);
    assert_eq!(ledger.grant_add(&other), Ok(GrantAdded::NameTaken));
    assert_eq!(used(&ledger, &samples[1], 0), None, "nothing waits");
    propose(&ledger, &samples[1]);
    propose(&ledger, &samples[2]);
    assert_eq!(used(&ledger, &samples[0], 1), Some(1));
    assert_eq!(used(&ledger, &samples[0], 2), None, "it is approved");
    assert_eq!(used(&ledger, &samples[1], 3), Some(0));
    assert_eq!(used(&ledger, &samples[2], 4), None, "used up");
    assert_eq!(kind(&ledger, &samples[2]), StateKind::AwaitingApproval);
    assert_eq!(usable(&ledger, &samples[0]), [""; 0]);
    let State::Reserved { approval, .. } = record(&ledger, &samples[0]).state else {
        panic!("it is approved");
    };
    assert_eq!(approval.approver, given.approver);
    assert_eq!(Grant::of_approval(&approval.approval_id), Some(given.grant));
    let live = ledger.live_approval(&samples[0].scope()).unwrap().unwrap();
    assert_eq!(live.call_id, samples[0].call.call_id.as_str());
    assert_eq!(
        events(&ledger)[1..],
        [
            "grant_added",
            "proposed",
            "proposed",
            "approved",
            "grant_used",
            "approved",
            "grant_used"
        ]
    );
}

/// Adding a grant again after it was used changes nothing: no use comes back. Neither does one where a write did not begin.
pub fn adding_again_gives_no_use_back<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    let given = grant(build, "g", &sample, 1);
    ledger.grant_add(&given).unwrap();
    propose(&ledger, &sample);
    assert_eq!(used(&ledger, &sample, 1), Some(0));
    assert_eq!(ledger.grant_add(&given), Ok(GrantAdded::Added));
    let Reserved::Taken(lease) = begin(&ledger, &sample) else {
        panic!("it is approved");
    };
    let released = Settlement::Released(NotStarted::DeadlineExceeded);
    let settled = ledger.settle(&sample.scope(), lease.fence, &released);
    assert_eq!(settled, Ok(Settled::Written));
    propose(&ledger, &sample);
    assert_eq!(used(&ledger, &sample, 2), None);
}

/// Begins under the approval that a record has.
fn begin<B: Backend>(ledger: &DurableLedger<B>, sample: &Sample) -> Reserved {
    let State::Reserved { approval, .. } = record(ledger, sample).state else {
        panic!("it is not approved");
    };
    ledger.reserve(&sample.reservation_under(approval)).unwrap()
}

/// A grant that was taken back or is over is not used.
pub fn a_dead_grant_is_not_used<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    let by = approver("erin");
    assert_eq!(ledger.grant_revoke(&grant_id("r"), &by), Ok(false));
    ledger.grant_add(&grant(build, "r", &sample, 9)).unwrap();
    for _ in 0..2 {
        assert_eq!(ledger.grant_revoke(&grant_id("r"), &by), Ok(true));
    }
    propose(&ledger, &sample);
    assert_eq!(used(&ledger, &sample, 1), None);
    ledger.grant_add(&grant(build, "k", &sample, 9)).unwrap();
    assert_eq!(usable(&ledger, &sample), ["k"]);
    build.clock().advance(seconds(3600));
    let later = Sample::new("2");
    propose(&ledger, &later);
    assert_eq!(used(&ledger, &later, 2), None);
    assert_eq!(usable(&ledger, &sample), [""; 0]);
    let all = ledger.grants(Some(&tenant("tenant-a")), None, 9).unwrap();
    assert_eq!(names(&all), ["k", "r"], "whoever looks finds them");
    assert_eq!(
        events(&ledger),
        [
            "grant_added",
            "grant_revoked",
            "proposed",
            "grant_added",
            "proposed"
        ]
    );
}

/// Any number of uses is kept as it is.
pub fn any_number_of_uses_is_kept<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    ledger
        .grant_add(&grant(build, "g", &sample, u64::MAX))
        .unwrap();
    propose(&ledger, &sample);
    assert_eq!(used(&ledger, &sample, 1), Some(u64::MAX - 1));
}

/// Another tenant, subject, tool, contract or argument is not covered.
pub fn a_grant_covers_one_contract_and_its_conditions<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    ledger.grant_add(&grant(build, "g", &sample, 9)).unwrap();
    let others = [
        sample.clone().of_tenant("tenant-b"),
        sample.clone().of_subject("subject-b"),
        Sample::new("4").of_tool("other"),
        Sample::new("2").under_policy("r2"),
        Sample::new("3").with_number(2),
    ];
    for (nonce, other) in (0..).zip(&others) {
        propose(&ledger, other);
        assert_eq!(used(&ledger, other, nonce), None);
    }
    propose(&ledger, &sample);
    assert_eq!(used(&ledger, &sample, 8), Some(8));
    let empty = Grant {
        conditions: Conditions::default(),
        ..grant(build, "e", &others[4], 9)
    };
    ledger.grant_add(&empty).unwrap();
    assert_eq!(
        used(&ledger, &others[4], 9),
        None,
        "an argument is not named"
    );
    let own = Grant {
        approver: approver("subject-a"),
        ..grant(build, "o", &sample, 9)
    };
    assert_eq!(ledger.grant_add(&own), Ok(GrantAdded::OwnSubject));
}

/// What a person denied, no grant approves, and it takes no use.
pub fn a_denial_stands_before_a_grant<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    propose(&ledger, &sample);
    ledger.decide(&sample.status_ref(), &deny("dana")).unwrap();
    ledger.grant_add(&grant(build, "g", &sample, 1)).unwrap();
    assert_eq!(used(&ledger, &sample, 1), None);
    propose(&ledger, &sample);
    assert_eq!(used(&ledger, &sample, 2), None, "it cools down");
    build.clock().advance(seconds(30));
    propose(&ledger, &sample);
    assert_eq!(used(&ledger, &sample, 3), Some(0), "it is asked for anew");
}

/// What a grant approved begins only while the grant stands.
pub fn what_is_taken_back_never_begins<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let samples = ["1", "2"].map(Sample::new);
    ledger
        .grant_add(&grant(build, "g", &samples[0], 2))
        .unwrap();
    for (nonce, sample) in (0..).zip(&samples) {
        propose(&ledger, sample);
        used(&ledger, sample, nonce).expect("it is covered");
    }
    assert!(matches!(begin(&ledger, &samples[0]), Reserved::Taken(_)));
    ledger
        .grant_revoke(&grant_id("g"), &approver("erin"))
        .unwrap();
    assert_eq!(begin(&ledger, &samples[1]), Reserved::ApprovalUnusable);
}

/// A host begins nothing under an approval, and uses no grant, that it does not believe; others do.
pub fn a_host_begins_only_what_it_believes<B: Build>(build: &B) {
    let believing = host(build, "host-1");
    let doubting = host(build, "host-2").with_approval_check(Doubt);
    let [person, given] = ["1", "2"].map(Sample::new);
    approved(&believing, &person, second_in(build, 60));
    assert_eq!(begin(&doubting, &person), Reserved::ApprovalUnusable);
    propose(&believing, &given);
    believing.grant_add(&grant(build, "g", &given, 9)).unwrap();
    assert_eq!(used(&doubting, &given, 1), None);
    assert_eq!(used(&believing, &given, 1), Some(8));
    assert_eq!(begin(&doubting, &given), Reserved::ApprovalUnusable);
    for sample in [person, given] {
        assert!(matches!(begin(&believing, &sample), Reserved::Taken(_)));
    }
}

struct Doubt;

impl ApprovalCheck for Doubt {
    fn holds(&self, record: &Record, approval: &ApprovalEvidence, grant: Option<&Grant>) -> bool {
        assert_eq!(record.kind(), StateKind::Executing);
        assert_eq!(
            Grant::of_approval(&approval.approval_id).is_some(),
            grant.is_some()
        );
        false
    }

    fn accepts(&self, _: &Grant) -> bool {
        false
    }
}

/// So many usable grants of a subject for a tool, and no more. Those that are dead do not count.
pub fn a_subject_has_so_many_usable_grants<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    let add = |name: &str| ledger.grant_add(&grant(build, name, &sample, 1)).unwrap();
    for number in 0..MAX_USABLE_GRANTS {
        assert_eq!(add(&format!("g{number}")), GrantAdded::Added);
    }
    assert_eq!(add("more"), GrantAdded::TooMany);
    ledger
        .grant_revoke(&grant_id("g7"), &approver("erin"))
        .unwrap();
    assert_eq!(add("more"), GrantAdded::Added);
    assert_eq!(usable(&ledger, &sample).len(), MAX_USABLE_GRANTS);
}

fn usable<L: Grants>(ledger: &L, sample: &Sample) -> Vec<String> {
    let principal = &sample.principal;
    let (tenant, subject) = (&principal.tenant_id, &principal.subject_id);
    let grants = ledger.grants_for(tenant, subject, &sample.call.name);
    names(&grants.unwrap())
}

fn names(grants: &[Grant]) -> Vec<String> {
    let names = grants.iter().map(|grant| grant.grant.as_str().to_owned());
    names.collect()
}
