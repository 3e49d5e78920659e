//! The table of standing approvals.

use std::time::Duration;

use countersign_contract::SubjectId;
use countersign_ledger::{Backend, Condition, Conditions, Grant, GrantRow};

use crate::build::Build;
use crate::plain::{read, write};
use crate::sample::{Sample, approver, grant_id, json, tenant, tool};

/// A grant for a sample's subject and tool.
pub(crate) fn grant<B: Build>(build: &B, name: &str, sample: &Sample, uses: u64) -> Grant {
    Grant {
        grant: grant_id(name),
        tenant_id: sample.principal.tenant_id.clone(),
        subject_id: sample.principal.subject_id.clone(),
        tool: sample.call.name.clone(),
        revisions: sample.contract.revisions.clone(),
        conditions: Conditions::new([("n".to_owned(), Condition::Is(json("1")))].into()).unwrap(),
        approver: approver("dana"),
        given_at: build.clock().moment(),
        expires_at: build.clock().moment().after(Duration::from_hours(1)),
        uses,
        uses_left: uses,
        is_revoked: false,
        signature: None,
    }
}

fn put<B: Backend>(backend: &B, row: GrantRow) {
    write(backend, move |tables| tables.grant_put(&row));
}

fn names(rows: &[GrantRow]) -> Vec<&str> {
    rows.iter().map(|row| row.grant.as_str()).collect()
}

/// A subject's grants for a tool come oldest first, and a later state of one keeps its place.
pub fn grants_of_a_subject_come_oldest_first<B: Build>(build: &B) {
    let backend = build.open();
    let sample = Sample::new("1");
    for name in ["c", "a", "b"] {
        put(&backend, grant(build, name, &sample, 1).to_row());
    }
    let others = [
        sample.clone().of_tenant("tenant-b"),
        sample.clone().of_subject("subject-b"),
        sample.clone().of_tool("other"),
    ];
    for (number, other) in others.iter().enumerate() {
        put(
            &backend,
            grant(build, &format!("o{number}"), other, 1).to_row(),
        );
    }
    let later = Grant {
        uses_left: 3,
        ..grant(build, "c", &sample, 4)
    };
    let later = later.to_row();
    put(&backend, later.clone());
    let found = |limit| {
        let subject = SubjectId::new("subject-a").unwrap();
        read(&build.open(), |rows| {
            rows.grants_for(&tenant("tenant-a"), &subject, &tool("count"), limit)
        })
    };
    assert_eq!(names(&found(10)), ["c", "a", "b"]);
    assert_eq!(names(&found(2)), ["c", "a"]);
    assert_eq!(found(0), []);
    assert_eq!(found(1), std::slice::from_ref(&later));
    let by_name = |name| read(&backend, |rows| rows.grant(&grant_id(name)));
    assert_eq!(by_name("c"), Some(later));
    assert_eq!(by_name("d"), None);
}

/// However many are used up, taken back or over, those that count are found.
pub fn dead_grants_hide_no_usable_one<B: Build>(build: &B) {
    let backend = build.open();
    let sample = Sample::new("1");
    for number in 0..30 {
        let given = grant(build, &format!("d{number}"), &sample, 1);
        let dead = match number % 3 {
            0 => Grant {
                uses_left: 0,
                ..given
            },
            1 => Grant {
                is_revoked: true,
                ..given
            },
            _ => Grant {
                expires_at: build.clock().moment(),
                ..given
            },
        };
        put(&backend, dead.to_row());
    }
    put(&backend, grant(build, "live", &sample, 1).to_row());
    let subject = SubjectId::new("subject-a").unwrap();
    let found = read(&backend, |rows| {
        rows.grants_for(&tenant("tenant-a"), &subject, &tool("count"), 2)
    });
    assert_eq!(names(&found), ["live"]);
}

/// All grants come by name, in pages.
pub fn all_grants_come_by_name<B: Build>(build: &B) {
    let backend = build.open();
    let (one, other) = (Sample::new("1"), Sample::new("1").of_tenant("tenant-b"));
    for (name, sample) in [
        ("d", &one),
        ("b", &other),
        ("a", &one),
        ("c", &one),
        ("B", &one),
    ] {
        put(&backend, grant(build, name, sample, 1).to_row());
    }
    let found = |of: Option<&str>, after: Option<&str>, limit| {
        let (of, after) = (of.map(tenant), after.map(grant_id));
        let rows = read(&backend, |rows| {
            rows.grants(of.as_ref(), after.as_ref(), limit)
        });
        names(&rows).join(" ")
    };
    assert_eq!(found(None, None, 10), "B a b c d");
    assert_eq!(found(None, None, 2), "B a");
    assert_eq!(found(None, Some("a"), 2), "b c");
    assert_eq!(found(None, Some("aa"), 1), "b", "from behind no one");
    assert_eq!(found(None, Some("d"), 2), "");
    assert_eq!(found(Some("tenant-a"), None, 10), "B a c d");
    assert_eq!(found(Some("tenant-a"), Some("a"), 1), "c");
    assert_eq!(found(Some("tenant-b"), None, 10), "b");
    assert_eq!(found(Some("tenant-c"), None, 10), "");
}
