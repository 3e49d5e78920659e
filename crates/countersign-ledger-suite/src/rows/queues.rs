//! What is due, what ends, what is orphaned, and how many wait.

use std::time::Duration;

use countersign_ledger::{Backend, Moment, Record, StateKind};

use crate::build::Build;
use crate::plain::{keys, open, open_record, read, update, write};
use crate::sample::{Sample, instance, tool};
use crate::states::state;

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn open_due<B: Backend>(backend: &B, sample: &Sample, kind: StateKind, due_at: Option<Moment>) {
    let at = sample_time(sample);
    let record = sample.record(state(kind, sample, at), at);
    open_record(backend, &Record { due_at, ..record });
}

/// When samples of these cases were opened: it must not matter.
fn sample_time(_: &Sample) -> Moment {
    Moment::from_milliseconds(1_000).unwrap()
}

/// What is due comes longest due first, up to this very moment; within a tool where one is named.
pub fn what_is_due_comes_longest_due_first<B: Build>(build: &B) {
    let (backend, now) = (build.open(), build.clock().moment());
    let before = |by: u64| Moment::from_milliseconds(now.as_milliseconds() - by);
    let due = [
        ("c", before(10), "count"),
        ("a", before(30), "count"),
        ("now", Some(now), "count"),
        ("b", before(20), "other"),
        ("later", Some(now.after(ms(1))), "count"),
        ("never", None, "count"),
    ];
    for (name, due_at, of_tool) in due {
        let sample = Sample::new(name).of_tool(of_tool);
        open_due(&backend, &sample, StateKind::Unknown, due_at);
    }
    let listed = |of_tool: Option<&str>, limit| {
        let of_tool = of_tool.map(tool);
        keys(&read(&backend, |rows| rows.due(of_tool.as_ref(), limit)))
    };
    assert_eq!(listed(None, 10), ["key-a", "key-b", "key-c", "key-now"]);
    assert_eq!(listed(None, 3), ["key-a", "key-b", "key-c"]);
    assert_eq!(listed(None, 0), [""; 0]);
    assert_eq!(listed(Some("count"), 10), ["key-a", "key-c", "key-now"]);
    assert_eq!(listed(Some("count"), 2), ["key-a", "key-c"]);
    assert_eq!(listed(Some("other"), 10), ["key-b"]);
    assert_eq!(listed(Some("none"), 10), [""; 0]);
    build.clock().advance(ms(1));
    assert_eq!(listed(Some("count"), 10).len(), 4, "time has come for it");
    // An update moves it, and an end takes it away.
    let sample = Sample::new("a");
    let at = sample_time(&sample);
    let record = sample.record(state(StateKind::Unknown, &sample, at), at);
    let due_at = Some(now);
    update(&backend, &Record { due_at, ..record });
    assert_eq!(listed(None, 1), ["key-b"]);
    let ended = sample.record(state(StateKind::Succeeded, &sample, at), at);
    update(&backend, &ended);
    assert!(!listed(None, 10).contains(&"key-a".to_owned()));
}

/// What ends comes in the order of its end, up to this very moment.
pub fn what_ends_comes_in_the_order_of_its_end<B: Build>(build: &B) {
    let (backend, now) = (build.open(), build.clock().moment());
    let times = [
        ("b", StateKind::Reserved, 20),
        ("a", StateKind::AwaitingApproval, 30),
        ("c", StateKind::AwaitingApproval, 0),
    ];
    for (name, kind, ago) in times {
        let sample = Sample::new(name);
        let until = Moment::from_milliseconds(now.as_milliseconds() - ago).unwrap();
        open(&backend, &sample, state(kind, &sample, until), now);
    }
    let later = Sample::new("later");
    let until = now.after(ms(1));
    let waiting = state(StateKind::AwaitingApproval, &later, until);
    open(&backend, &later, waiting, now);
    // Those that are over have times of their own, which end nothing.
    for kind in [StateKind::Denied, StateKind::Expired, StateKind::Succeeded] {
        let over = Sample::new(kind.as_str());
        open(&backend, &over, state(kind, &over, now), now);
    }
    let listed = |limit| keys(&read(&backend, |rows| rows.expiring(limit)));
    assert_eq!(listed(10), ["key-a", "key-b", "key-c"]);
    assert_eq!(listed(2), ["key-a", "key-b"]);
    assert_eq!(listed(0), [""; 0]);
    build.clock().advance(ms(1));
    assert_eq!(listed(10).len(), 4);
}

/// An orphan is executing, and its holder is unknown or counts as alive no more, from this very moment on.
pub fn orphans_have_no_living_holder<B: Build>(build: &B) {
    let (backend, now) = (build.open(), build.clock().moment());
    for name in ["1", "2", "3"] {
        let sample = Sample::new(name);
        let executing = state(StateKind::Executing, &sample, now);
        open(&backend, &sample, executing, now);
    }
    let over = Sample::new("over");
    open(&backend, &over, state(StateKind::Unknown, &over, now), now);
    let orphans = |limit| {
        let mut keys = keys(&read(&backend, |rows| rows.orphans(limit)));
        keys.sort();
        keys
    };
    let alive_until = |until| {
        write(&backend, move |tables| {
            tables.instance_put(&instance("host-1"), until)
        });
    };
    assert_eq!(orphans(10), ["key-1", "key-2", "key-3"], "never heard of");
    assert_eq!(orphans(2).len(), 2);
    assert_eq!(orphans(0), [""; 0]);
    alive_until(Some(now.after(ms(1))));
    assert_eq!(orphans(10), [""; 0]);
    build.clock().advance(ms(1));
    assert_eq!(orphans(10).len(), 3, "the lease ends exclusively");
    alive_until(Some(now.after(ms(2))));
    assert_eq!(orphans(10), [""; 0]);
    alive_until(None);
    assert_eq!(orphans(10).len(), 3, "it has left");
}
