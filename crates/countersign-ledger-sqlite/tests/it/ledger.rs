//! The durable ledger over a file: it outlasts its process, and notices what others did to it.

use countersign_contract::{ApprovalId, UtcSecond};
use countersign_dispatch::ledger::Error;
use countersign_ledger::{Approvals, Decided, Decision, Inspection, OperationFilter, StateKind};
use countersign_shop::{Disturbance, approver};

use crate::host::Host;
use crate::stage::{Stage, raw};

#[test]
fn what_was_done_is_known_after_a_restart() {
    let stage = Stage::new();
    let call = {
        let host = Host::open(&stage.path());
        let call = host.call("1");
        assert_eq!(host.dispatch(&call).unwrap(), "succeeded");
        assert_eq!(host.shop.effect_count(), 1);
        call
    };
    let host = Host::open(&stage.path());
    assert_eq!(host.dispatch(&call).unwrap(), "succeeded");
    assert_eq!(
        host.shop.effect_count(),
        0,
        "it is answered from the ledger"
    );
    let detail = host
        .ledger
        .operation(&host.status_ref(&call))
        .unwrap()
        .unwrap();
    assert_eq!(detail.record.kind(), StateKind::Succeeded);
    let events: Vec<_> = host
        .ledger
        .audit(&host.principal.tenant_id, 0, 10)
        .unwrap()
        .into_iter()
        .map(|entry| (entry.sequence, entry.event))
        .collect();
    let expected = [(1, "begun".to_owned()), (2, "succeeded".to_owned())];
    assert_eq!(events, expected);
}

#[test]
fn what_waits_is_decided_elsewhere() {
    let stage = Stage::new();
    let host = Host::open(&stage.path());
    let call = host.call("1");
    let said = host.dispatch_with(&call, &[], Disturbance::None);
    assert_eq!(said.unwrap(), "APPROVAL_REQUIRED");
    let elsewhere = Host::open(&stage.path());
    let decision = Decision::Approve {
        by: approver(),
        approval_id: ApprovalId::new("approval-1").unwrap(),
        expires_at: UtcSecond::new(host.approval(&call).expires_at).unwrap(),
    };
    let status_ref = host.status_ref(&call);
    let decided = elsewhere.ledger.decide(&status_ref, &decision).unwrap();
    assert!(matches!(decided, Decided::Counts(_)), "{decided:?}");
    let approval = host
        .ledger
        .live_approval(&countersign_contract::Scope::of(&host.principal, &call).unwrap())
        .unwrap()
        .unwrap();
    let said = host.dispatch_with(&call, &[approval], Disturbance::None);
    assert_eq!(said.unwrap(), "succeeded");
    assert_eq!(host.shop.effect_count(), 1);
    let filter = OperationFilter {
        states: vec![StateKind::Succeeded],
        ..OperationFilter::default()
    };
    assert_eq!(
        elsewhere
            .ledger
            .operations(&filter, None, 10)
            .unwrap()
            .items
            .len(),
        1
    );
}

#[test]
fn a_tampered_row_is_damage_and_never_a_result() {
    let tamperings = [
        "UPDATE operation SET document = CAST(replace(CAST(document AS TEXT), 'tenant', 'Tenant') AS BLOB)",
        "UPDATE operation SET state = 'failed'",
        "UPDATE operation SET is_dead_letter = 1",
        "UPDATE operation SET tenant_id = 'tenant-b'",
        "UPDATE operation SET key = 'key-2'",
        "UPDATE operation SET opened_at = opened_at + 1",
        "UPDATE operation SET digest = zeroblob(32)",
        "UPDATE proposal SET digest = zeroblob(32)",
        "UPDATE receipt SET document = CAST(replace(CAST(document AS TEXT), '7', '8') AS BLOB)",
        "UPDATE receipt SET document = CAST('{ }' AS BLOB)",
        "DELETE FROM receipt",
        "DELETE FROM proposal",
    ];
    for tampering in tamperings {
        let stage = Stage::new();
        let host = Host::open(&stage.path());
        let call = host.call("1");
        assert_eq!(host.dispatch(&call).unwrap(), "succeeded");
        let tampered = raw(&stage.path()).execute(tampering, []);
        assert_eq!(tampered, Ok(1), "{tampering}");
        let said = host.dispatch(&call);
        assert!(
            matches!(said, Err(Error::Damaged(_))),
            "{tampering}: {said:?}"
        );
        assert_eq!(host.shop.effect_count(), 1, "{tampering}");
    }
}
