//! Lists of operations: filters and pages.

use std::time::Duration;

use countersign_ledger::{Backend, Cursor, Moment, OperationFilter, Record, StateKind};

use crate::build::Build;
use crate::plain::{open, open_record, read};
use crate::sample::{Sample, tenant, tool};
use crate::states::state;

fn open_plain<B: Backend>(backend: &B, name: &str, at: Moment) {
    let sample = Sample::new(name);
    open(
        backend,
        &sample,
        state(StateKind::Succeeded, &sample, at),
        at,
    );
}

fn page<B: Backend>(
    backend: &B,
    filter: &OperationFilter,
    after: Option<Cursor>,
    limit: usize,
) -> (Vec<String>, Option<Cursor>) {
    let rows = read(backend, |rows| rows.operations(filter, after, limit));
    let keys = rows.iter().map(|(_, row)| row.scope.key.as_str());
    let keys = keys.map(|key| key.trim_start_matches("key-").to_owned());
    (keys.collect(), rows.last().map(|(cursor, _)| *cursor))
}

/// Each member of a filter narrows the list; together they all do.
pub fn a_filter_lets_through_what_fits_all_of_it<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let second = at.after(Duration::from_secs(1));
    for kind in StateKind::ALL {
        let sample = Sample::new(kind.as_str());
        open(&backend, &sample, state(kind, &sample, at), at);
    }
    let others = [
        Sample::new("t").of_tenant("tenant-b"),
        Sample::new("u").of_subject("Ümlaut-100%_x"),
        Sample::new("v").of_tool("Other"),
    ];
    for sample in &others {
        let record = sample.record(state(StateKind::Unknown, sample, at), second);
        open_record(
            &backend,
            &Record {
                is_dead_letter: true,
                ..record
            },
        );
    }
    let listed = |filter: &OperationFilter| page(&backend, filter, None, 100).0;
    for kind in StateKind::ALL {
        let expected = if kind == StateKind::Unknown {
            vec!["v", "u", "t", "unknown"]
        } else {
            vec![kind.as_str()]
        };
        let filter = only(|filter| filter.states = vec![kind]);
        assert_eq!(listed(&filter), expected);
    }
    let mut cases = [
        ("oTHER", "v"),
        ("KEY-U", "u unknown"),
        ("Ümlaut", "u"),
        ("ümlaut", ""),
        ("100%_X", "u"),
        ("%", "u"),
        ("'", ""),
        (&others[2].status_ref().to_string(), "v"),
    ]
    .map(|(text, expected)| (only(|filter| filter.text = Some(text.to_owned())), expected))
    .to_vec();
    let tenant_a = || Some(tenant("tenant-a"));
    cases.extend([
        (only(|filter| filter.tenant = Some(tenant("tenant-b"))), "t"),
        (only(|filter| filter.tool = Some(tool("Other"))), "v"),
        (only(|filter| filter.tool = Some(tool("other"))), ""),
        (only(|filter| filter.opened_from = Some(second)), "t u v"),
        (only(|filter| filter.opened_before = Some(at)), ""),
        (
            only(|filter| {
                filter.states = vec![StateKind::Denied, StateKind::Expired];
                filter.opened_before = Some(second);
            }),
            "denied expired",
        ),
        (
            only(|filter| {
                filter.states = vec![StateKind::Unknown, StateKind::Executing];
                filter.opened_before = Some(second);
            }),
            "executing unknown",
        ),
        (
            only(|filter| (filter.dead_letters_only, filter.tenant) = (true, tenant_a())),
            "u v",
        ),
    ]);
    for (filter, expected) in cases {
        let mut found = listed(&filter);
        found.sort();
        assert_eq!(found.join(" "), expected, "{filter:?}");
    }
}

fn only(narrow: impl FnOnce(&mut OperationFilter)) -> OperationFilter {
    let mut filter = OperationFilter::default();
    narrow(&mut filter);
    filter
}

/// A page begins where the last one ended, whatever was written meanwhile: nothing twice, and nothing that was there left out.
pub fn pages_follow_each_other_while_rows_are_written<B: Build>(build: &B) {
    let (backend, at) = (build.open(), build.clock().moment());
    let writer = build.open();
    for number in 0..25 {
        open_plain(&backend, &number.to_string(), at);
    }
    let any = OperationFilter::default();
    let (mut seen, mut after) = (Vec::new(), None);
    for round in 0..100 {
        let (keys, last) = page(&backend, &any, after, 4);
        if keys.is_empty() {
            break;
        }
        seen.extend(keys);
        after = last;
        // New ones come, and one that was seen already is opened again.
        open_plain(&writer, &format!("new-{round}"), at);
        open_plain(&writer, "24", at);
    }
    let expected: Vec<_> = (0..25)
        .rev()
        .map(|number: u32| number.to_string())
        .collect();
    assert_eq!(seen, expected);
    let (keys, _) = page(&backend, &any, None, 2);
    assert_eq!(keys, ["24", "new-6"], "the newest comes first");
    assert_eq!(page(&backend, &any, None, 0).0, [""; 0]);
}
