//! Checking and pruning.

use countersign_contract::UtcSecond;
use countersign_ledger::{Approvals, Decision, Inspection, Moment, OperationFilter, StateKind};
use countersign_shop::{Disturbance, approver};

use crate::host::Host;
use crate::stage::{Stage, raw};

/// A ledger with one operation in each of some states.
fn busy_host(stage: &Stage) -> Host {
    let host = Host::open(&stage.path());
    host.dispatch(&host.call("done")).unwrap();
    let lost = host.call("lost");
    let said = host.dispatch_with(&lost, &[host.approval(&lost)], Disturbance::AnswerLost);
    assert_eq!(said.unwrap(), "OUTCOME_UNKNOWN");
    for name in ["waiting", "denied"] {
        let said = host.dispatch_with(&host.call(name), &[], Disturbance::None);
        assert_eq!(said.unwrap(), "APPROVAL_REQUIRED");
    }
    let deny = Decision::Deny {
        by: approver(),
        reason: None,
    };
    let denied = host.status_ref(&host.call("denied"));
    host.ledger.decide(&denied, &deny).unwrap();
    host
}

fn states(host: &Host) -> Vec<StateKind> {
    let page = host
        .ledger
        .operations(&OperationFilter::default(), None, 100)
        .unwrap();
    page.items
        .iter()
        .map(countersign_ledger::Record::kind)
        .collect()
}

#[test]
fn a_sound_ledger_has_no_findings() {
    let stage = Stage::new();
    let host = busy_host(&stage);
    let checked = host.ledger.backend().check().unwrap();
    assert_eq!(checked.findings, []);
    assert_eq!(checked.operations, 4);
    assert!(checked.audit_entries >= 7);
}

#[test]
fn each_tampering_is_found_at_its_row() {
    let cases = [
        (
            "UPDATE operation SET digest = zeroblob(32) WHERE id = 2",
            "(operation, row 2)",
        ),
        (
            "UPDATE operation SET changed_at = changed_at + 1 WHERE id = 1",
            "(operation, row 1)",
        ),
        (
            "UPDATE operation SET scope = zeroblob(32) WHERE id = 1",
            "(operation, row 1)",
        ),
        (
            "UPDATE proposal SET digest = zeroblob(32) WHERE operation = 3",
            "(proposal, row 3)",
        ),
        ("UPDATE receipt SET document = x'7b7d'", "(receipt, row 1)"),
        (
            "DELETE FROM receipt",
            "a receipt is missing (operation, row 1)",
        ),
        (
            "DELETE FROM proposal WHERE operation = 2",
            "a proposal is missing (operation, row 2)",
        ),
        (
            "INSERT INTO receipt SELECT 3, document, digest FROM receipt",
            "(operation, row 3)",
        ),
        (
            "DELETE FROM audit WHERE sequence = 2",
            "missing (audit, row 3)",
        ),
        (
            "UPDATE audit SET sequence = 99 WHERE sequence = 3",
            "missing (audit, row 4)",
        ),
        (
            "UPDATE audit SET document = x'7b207d' WHERE sequence = 1",
            "(audit, row 1)",
        ),
        (
            "PRAGMA foreign_keys = OFF; DELETE FROM operation WHERE id = 4",
            "refers to one that is missing",
        ),
    ];
    for (tampering, expected) in cases {
        let stage = Stage::new();
        let host = busy_host(&stage);
        raw(&stage.path()).execute_batch(tampering).unwrap();
        let findings = host.ledger.backend().check().unwrap().findings;
        let found = findings
            .iter()
            .any(|finding| finding.to_string().contains(expected));
        assert!(found, "{tampering}: {findings:?}");
    }
}

#[test]
fn only_what_had_no_effect_and_is_old_is_pruned() {
    let stage = Stage::new();
    let host = busy_host(&stage);
    let backend = host.ledger.backend();
    let before = states(&host);
    let long_ago = Moment::of_second(UtcSecond::new(1_000).unwrap());
    assert_eq!(backend.prune(long_ago), Ok(0));
    assert_eq!(states(&host), before);

    assert_eq!(backend.prune(Moment::MAX), Ok(1), "the denied one");
    let left = states(&host);
    assert_eq!(left.len(), before.len() - 1);
    assert!(!left.contains(&StateKind::Denied));
    for kept in [
        StateKind::Succeeded,
        StateKind::Unknown,
        StateKind::AwaitingApproval,
    ] {
        assert!(left.contains(&kept), "{kept:?}");
    }
    let checked = backend.check().unwrap();
    assert_eq!(checked.findings, []);
    assert_eq!(host.dispatch(&host.call("done")).unwrap(), "succeeded");
    assert_eq!(host.shop.effect_count(), 2, "nothing acted again");
    assert_eq!(backend.prune(Moment::MAX), Ok(0));
}

#[test]
fn thousands_are_pruned_in_pieces() {
    let stage = Stage::new();
    let host = busy_host(&stage);
    raw(&stage.path())
        .execute_batch(
            "PRAGMA foreign_keys = ON;
             WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 1234)
             INSERT INTO operation SELECT 100 + i, CAST(printf('%032d', i) AS BLOB), tenant_id, subject_id, tool,
                 key || i, printf('status_%032d', i), state, holder, due_at, expires_at, opened_at, changed_at,
                 is_dead_letter, document, digest
             FROM operation, n WHERE state = 'denied'",
        )
        .unwrap();
    assert_eq!(host.ledger.backend().prune(Moment::MAX), Ok(1235));
    assert_eq!(states(&host).len(), 3);
}
