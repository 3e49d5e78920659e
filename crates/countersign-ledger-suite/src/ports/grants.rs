//! Standing approvals.

use countersign_ledger::{Grant, Grants};

use crate::build::Build;
use crate::rows::standing::grant;
use crate::sample::{Sample, approver, grant_id, tenant};
use crate::stage::{events, host, seconds};

/// A grant is added once, used as often as it says, and each use is in the trail.
pub fn a_grant_is_used_as_often_as_it_says<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    let given = grant(build, "g", &sample, 2);
    assert_eq!(ledger.grant_take(&given.grant), Ok(None), "there is none");
    assert_eq!(ledger.grant_add(&given), Ok(true));
    assert_eq!(ledger.grant_add(&given), Ok(true), "the same again");
    let other = grant(build, "g", &sample, 3);
    assert_eq!(ledger.grant_add(&other), Ok(false), "the name is taken");
    for left in [1, 0] {
        let taken = ledger.grant_take(&given.grant).unwrap().unwrap();
        assert_eq!(taken.uses_left, left);
    }
    assert_eq!(ledger.grant_take(&given.grant), Ok(None), "used up");
    assert_eq!(usable(&ledger, &sample), [""; 0]);
    assert_eq!(events(&ledger), ["grant_added", "grant_used", "grant_used"]);
}

/// Adding a grant again after it was used changes nothing: no use comes back.
pub fn adding_again_gives_no_use_back<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let given = grant(build, "g", &Sample::new("1"), 1);
    ledger.grant_add(&given).unwrap();
    ledger.grant_take(&given.grant).unwrap();
    ledger.grant_add(&given).unwrap();
    assert_eq!(ledger.grant_take(&given.grant), Ok(None));
}

/// A grant that was taken back or is over is not used.
pub fn a_dead_grant_is_not_used<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    let by = approver("erin");
    assert_eq!(ledger.grant_revoke(&grant_id("r"), &by), Ok(false));
    for name in ["r", "k"] {
        ledger.grant_add(&grant(build, name, &sample, 9)).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(ledger.grant_revoke(&grant_id("r"), &by), Ok(true));
    }
    assert_eq!(ledger.grant_take(&grant_id("r")), Ok(None));
    assert_eq!(usable(&ledger, &sample), ["k"]);
    build.clock().advance(seconds(3600));
    assert_eq!(ledger.grant_take(&grant_id("k")), Ok(None));
    assert_eq!(usable(&ledger, &sample), [""; 0]);
    let all = ledger.grants(Some(&tenant("tenant-a")), None, 9).unwrap();
    assert_eq!(names(&all), ["k", "r"], "whoever looks finds them");
    assert_eq!(
        events(&ledger),
        ["grant_added", "grant_added", "grant_revoked"]
    );
}

/// Any number of uses is kept as it is.
pub fn any_number_of_uses_is_kept<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let endless = grant(build, "g", &Sample::new("1"), u64::MAX);
    ledger.grant_add(&endless).unwrap();
    let taken = ledger.grant_take(&endless.grant).unwrap().unwrap();
    assert_eq!(taken.uses_left, u64::MAX - 1);
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
