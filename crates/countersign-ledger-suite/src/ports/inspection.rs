//! Looking at what is stored.

use countersign_dispatch::Settlement;
use countersign_dispatch::ledger::Ledger;
use countersign_ledger::{Cursor, Inspection, OperationFilter, StateKind};

use crate::build::Build;
use crate::sample::{Sample, tenant};
use crate::stage::{begun, host, propose, seconds};

/// An operation is shown whole: as it stands, what was asked for, and what it answered.
pub fn an_operation_is_shown_whole<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    assert_eq!(ledger.operation(&sample.status_ref()), Ok(None));
    let fence = begun(&ledger, &sample);
    let shown = || ledger.operation(&sample.status_ref()).unwrap().unwrap();
    assert_eq!(shown().answer, None);
    let succeeded = Settlement::Succeeded(sample.answer(7));
    ledger.settle(&sample.scope(), fence, &succeeded).unwrap();
    let detail = shown();
    assert_eq!(detail.record.kind(), StateKind::Succeeded);
    assert_eq!(detail.proposal.principal, sample.principal);
    assert_eq!(detail.proposal.call, sample.call);
    assert_eq!(detail.proposal.contract, sample.contract);
    assert_eq!(detail.proposal.fingerprint, sample.fingerprint());
    assert_eq!(detail.answer, Some(sample.answer(7)));
    assert_eq!(ledger.now(), Ok(build.clock().moment()));
}

/// Pages end where there is no more, and a limit is at least one.
pub fn pages_end_where_there_is_no_more<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    for number in 0..4 {
        let sample = Sample::new(&number.to_string());
        propose(&ledger, &sample);
        build.clock().advance(seconds(1));
    }
    let any = OperationFilter::default();
    let page = |after, limit| {
        let page = ledger.operations(&any, after, limit).unwrap();
        let keys = page.items.iter().map(|record| record.scope.key.as_str());
        (keys.map(str::to_owned).collect::<Vec<_>>(), page.next)
    };
    let (first, next) = page(None, 2);
    assert_eq!(first, ["key-3", "key-2"]);
    let (second, end) = page(next, 2);
    assert_eq!(
        (second, end),
        (vec!["key-1".to_owned(), "key-0".to_owned()], None)
    );
    assert_eq!(page(None, 4).1, None);
    assert_eq!(page(None, 0).0.len(), 1);
    // A cursor comes from outside, and may be any number.
    assert_eq!(page(Some(Cursor::new(u64::MAX)), 9).0.len(), 4);
    assert_eq!(page(Some(Cursor::new(0)), 9).0, [""; 0]);
}

/// The trail of one tenant tells of no other, in its order.
pub fn a_trail_is_of_one_tenant<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let (one, two) = (Sample::new("1"), Sample::new("2").of_tenant("tenant-b"));
    propose(&ledger, &one);
    begun(&ledger, &two);
    begun(&ledger, &one);
    let trail = |of: &str, after| {
        let entries = ledger.audit(&tenant(of), after, 9).unwrap();
        let entries = entries
            .into_iter()
            .map(|entry| (entry.sequence, entry.event));
        entries.collect::<Vec<_>>()
    };
    let (proposed, begun) = ("proposed".to_owned(), "begun".to_owned());
    assert_eq!(trail("tenant-a", 0), [(1, proposed), (2, begun.clone())]);
    assert_eq!(trail("tenant-a", 1), [(2, begun.clone())]);
    assert_eq!(trail("tenant-b", 0), [(1, begun)]);
}
