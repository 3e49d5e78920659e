//! Performing what is due.

use std::time::Duration;

use countersign_contract::ErrorCode;
use countersign_dispatch::ledger::Ledger;
use countersign_dispatch::{Settled, Settlement, UnknownCause};
use countersign_ledger::{Inspection, Record, State, StateKind, Work};

use crate::build::Build;
use crate::plain;
use crate::sample::{Sample, tool};
use crate::stage::{approved, begun, events, host, kind, propose, record, second_in, seconds};

const LOST: Settlement = Settlement::Unknown(UnknownCause::AnswerLost);

/// What is approved or unknown is handed out to one worker at a time, and is due again when its claim runs out.
pub fn what_is_due_is_handed_out_to_one<B: Build>(build: &B) {
    let (one, two) = (host(build, "host-1"), host(build, "host-2"));
    let (reserved, unknown) = (Sample::new("1"), Sample::new("2"));
    approved(&one, &reserved, second_in(build, 600));
    build.clock().advance(Duration::from_millis(1));
    let fence = begun(&one, &unknown);
    one.settle(&unknown.scope(), fence, &LOST).unwrap();
    begun(&one, &Sample::new("executing"));
    propose(&one, &Sample::new("waiting"));
    let tools = [tool("other"), tool("count")];
    let claimed = |tasks: Vec<countersign_ledger::Task>| {
        let scopes = tasks.into_iter().map(|task| task.record.scope);
        scopes.collect::<Vec<_>>()
    };
    assert_eq!(claimed(two.claim(&tools[..1], 9).unwrap()), []);
    assert_eq!(claimed(two.claim(&[], 9).unwrap()), []);
    assert_eq!(claimed(two.claim(&tools, 0).unwrap()), []);
    let first = two.claim(&tools, 1).unwrap();
    assert_eq!(first[0].proposal.call, reserved.call);
    assert_eq!(claimed(first), [reserved.scope()], "longest due first");
    assert_eq!(claimed(one.claim(&tools, 9).unwrap()), [unknown.scope()]);
    assert_eq!(claimed(one.claim(&tools, 9).unwrap()), []);
    build.clock().advance(seconds(20));
    let again = two.claim(&tools, 9).unwrap();
    assert_eq!(again[0].record.visits, 2);
    assert_eq!(claimed(again), [reserved.scope(), unknown.scope()]);
    assert!(!events(&one).contains(&"claimed".to_owned()));
}

/// Among tools, too, the longest due comes first: a busy tool starves no other.
pub fn a_busy_tool_starves_no_other<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let rare = Sample::new("rare").of_tool("rare");
    approved(&ledger, &rare, second_in(build, 600));
    build.clock().advance(Duration::from_millis(1));
    for name in ["1", "2", "3"] {
        approved(&ledger, &Sample::new(name), second_in(build, 600));
    }
    let tasks = ledger.claim(&[tool("count"), tool("rare")], 2).unwrap();
    let tools: Vec<_> = tasks
        .iter()
        .map(|task| task.proposal.call.name.as_str())
        .collect();
    assert_eq!(tools, ["rare", "count"]);
}

/// A host that is not heard of for a lease's length has lost what it performs; one that is heard of keeps it.
pub fn a_silent_host_loses_what_it_performs<B: Build>(build: &B) {
    let (silent, heard) = (host(build, "host-1"), host(build, "host-2"));
    let (lost, kept) = (Sample::new("1"), Sample::new("2"));
    let fence = begun(&silent, &lost);
    begun(&heard, &kept);
    build.clock().advance(seconds(10));
    heard.heartbeat().unwrap();
    build.clock().advance(Duration::from_millis(4_999));
    assert_eq!(heard.recover(9), Ok(0), "a living host's work is its own");
    build.clock().advance(Duration::from_millis(1));
    assert_eq!(heard.recover(9), Ok(1));
    assert_eq!(heard.recover(9), Ok(0));
    assert_eq!(kind(&heard, &kept), StateKind::Executing);
    let found = record(&heard, &lost);
    let is_lost = matches!(
        found.state,
        State::Unknown {
            cause: UnknownCause::HolderLost,
            ..
        }
    );
    assert!(is_lost && found.was_unknown, "{found:?}");
    assert_eq!(found.due_at, Some(build.clock().moment()));
    // What it writes afterwards does not count.
    let late = Settlement::Succeeded(lost.answer(7));
    assert_eq!(
        silent.settle(&lost.scope(), fence, &late),
        Ok(Settled::Stale)
    );
    let status = silent.operation(&lost.status_ref()).unwrap().unwrap();
    assert_eq!(status.answer, None);
    assert_eq!(events(&heard), ["begun", "begun", "became_unknown"]);
}

/// A host that leaves has its work recovered at once.
pub fn a_host_that_leaves_is_recovered_at_once<B: Build>(build: &B) {
    let (leaving, other) = (host(build, "host-1"), host(build, "host-2"));
    let sample = Sample::new("1");
    begun(&leaving, &sample);
    leaving.heartbeat().unwrap();
    assert_eq!(other.recover(9), Ok(0));
    leaving.leave().unwrap();
    assert_eq!(other.recover(0), Ok(0), "no more than asked for");
    assert_eq!(other.recover(9), Ok(1));
    assert_eq!(kind(&other, &sample), StateKind::Unknown);
}

/// Nobody's time lasts for ever: for a decision, and for what was approved to begin.
pub fn time_runs_out<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let (waiting, reserved) = (Sample::new("1"), Sample::new("2"));
    propose(&ledger, &waiting);
    approved(&ledger, &reserved, second_in(build, 60));
    assert_eq!(ledger.expire(9), Ok(0));
    build.clock().advance(seconds(60));
    assert_eq!(ledger.expire(9), Ok(1));
    let state = record(&ledger, &reserved).state;
    let cause = ErrorCode::ApprovalInvalid;
    assert_eq!(state, State::Blocked { cause });
    build.clock().advance(seconds(3540));
    assert_eq!(ledger.expire(0), Ok(0));
    assert_eq!(ledger.expire(9), Ok(1));
    assert_eq!(kind(&ledger, &waiting), StateKind::Expired);
    assert_eq!(
        events(&ledger),
        ["proposed", "proposed", "approved", "blocked", "expired"]
    );
}

/// What a worker does about a task counts only while the operation stands as it was handed out.
pub fn a_task_that_has_moved_on_is_left_alone<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    approved(&ledger, &sample, second_in(build, 600));
    let task = ledger.claim(&[tool("count")], 1).unwrap().remove(0);
    let live = countersign_ledger::Approvals::live_approval(&ledger, &sample.scope());
    let approval = live.unwrap().unwrap();
    let evidence = sample.evidence(&approval.approval_id, "dana", second_in(build, 600));
    ledger.reserve(&sample.reservation_under(evidence)).unwrap();
    let before = record(&ledger, &sample);
    ledger.postpone(&task, seconds(1)).unwrap();
    ledger.give_up(&task).unwrap();
    ledger.block(&task, ErrorCode::NotFound).unwrap();
    assert_eq!(ledger.send_again(&task), Ok(None));
    assert_eq!(record(&ledger, &sample), before);
    let gone = Sample::new("gone");
    assert_eq!(ledger.task(&gone.scope()), Ok(None));
    assert!(
        ledger.task(&sample.scope()).unwrap().is_some(),
        "it is open"
    );
}

/// A dead letter is flagged and handed out no more, whoever else still has it; its outcome is as open as before.
pub fn a_dead_letter_stays_one<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    let fence = begun(&ledger, &sample);
    ledger.settle(&sample.scope(), fence, &LOST).unwrap();
    let task = ledger.claim(&[tool("count")], 1).unwrap().remove(0);
    ledger.postpone(&task, seconds(5)).unwrap();
    assert_eq!(record(&ledger, &sample).visits, 1);
    ledger.give_up(&task).unwrap();
    ledger.give_up(&task).unwrap();
    let flagged = record(&ledger, &sample);
    assert!(flagged.is_dead_letter);
    assert_eq!((flagged.kind(), flagged.due_at), (StateKind::Unknown, None));
    // Another worker that was handed the same before puts it off.
    ledger.postpone(&task, Duration::ZERO).unwrap();
    assert_eq!(record(&ledger, &sample), flagged);
    build.clock().advance(seconds(3600));
    assert_eq!(ledger.claim(&[tool("count")], 9), Ok(vec![]));
    let (counts, now) = ledger.open_counts().unwrap();
    assert_eq!((counts.unknown, counts.dead_letters), (1, 1));
    assert_eq!(now, build.clock().moment());
    assert_eq!(events(&ledger), ["begun", "became_unknown", "gave_up"]);
    // A receipt ends it all the same.
    assert_eq!(
        ledger.reconcile(&sample.scope(), &sample.answer(7)),
        Ok(Settled::Written)
    );
    assert!(!record(&ledger, &sample).is_dead_letter);
}

/// Only what is to be performed is put off: what waits for a person or runs is never handed out.
pub fn only_work_is_put_off<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let (waiting, executing) = (Sample::new("1"), Sample::new("2"));
    propose(&ledger, &waiting);
    begun(&ledger, &executing);
    for sample in [&waiting, &executing] {
        let task = ledger.task(&sample.scope()).unwrap().unwrap();
        ledger.postpone(&task, Duration::ZERO).unwrap();
        assert_eq!(record(&ledger, sample).due_at, None);
    }
    assert_eq!(ledger.claim(&[tool("count")], 9), Ok(vec![]));
}

/// What drifted before it began never begins.
pub fn drift_blocks_what_was_approved<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let sample = Sample::new("1");
    approved(&ledger, &sample, second_in(build, 600));
    let task = ledger.claim(&[tool("count")], 1).unwrap().remove(0);
    ledger.block(&task, ErrorCode::NotFound).unwrap();
    let cause = ErrorCode::NotFound;
    assert_eq!(record(&ledger, &sample).state, State::Blocked { cause });
    let approval = task.proposal.approval(
        &task.record,
        &sample.evidence("x", "dana", second_in(build, 1)),
    );
    assert_eq!(approval.call_id, sample.call.call_id.as_str());
    assert_eq!(events(&ledger), ["proposed", "approved", "blocked"]);
}

/// A downstream that knows our key may be asked again, when the last attempt is over and as long as it remembers.
pub fn what_a_downstream_remembers_is_sent_again<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let plain = Sample::new("plain");
    // A lease, the timeout and the margin are 25.5 s: of 100 s 74.5 s can be used.
    let sample = Sample::new("1").remembered_for(seconds(100));
    for sample in [&plain, &sample] {
        let fence = begun(&ledger, sample);
        ledger.settle(&sample.scope(), fence, &LOST).unwrap();
    }
    let send = |sample: &Sample| {
        let task = ledger.task(&sample.scope()).unwrap().unwrap();
        ledger.send_again(&task).unwrap()
    };
    assert_eq!(send(&sample), None, "the last attempt may be under way");
    build.clock().advance(seconds(25));
    assert_eq!(send(&sample), None);
    build.clock().advance(Duration::from_millis(500));
    assert_eq!(send(&plain), None, "a repetition would be another effect");
    let other = host(build, "host-2");
    let task = other.task(&sample.scope()).unwrap().unwrap();
    let lease = other.send_again(&task).unwrap().unwrap();
    assert_eq!(lease.fence.as_u64(), 2);
    assert_eq!(send(&sample), None, "somebody is at it");
    let State::Executing(attempt) = record(&ledger, &sample).state else {
        panic!("it is executing");
    };
    assert_eq!(attempt.holder.as_str(), "host-2");
    assert_eq!(
        build.clock().moment().since(attempt.first_sent),
        Duration::from_millis(25_500)
    );
    // That this attempt did not begin says nothing of the first one.
    let released = Settlement::Released(countersign_dispatch::NotStarted::Unreachable);
    assert_eq!(
        other.settle(&sample.scope(), lease.fence, &released),
        Ok(Settled::Written)
    );
    assert_eq!(kind(&ledger, &sample), StateKind::Unknown);
    build.clock().advance(seconds(49));
    assert_eq!(send(&sample), None, "what is sent now may come too late");
}

/// A clock on the wall that is set back brings no memory back, and a machine that was started anew cannot tell what passed.
pub fn a_clock_that_is_set_sends_nothing_again<B: Build>(build: &B) {
    let (ledger, clock) = (host(build, "host-1"), build.clock());
    let is_sent = |restarts: bool, name: &str| {
        let sample = Sample::new(name).remembered_for(seconds(100));
        let fence = begun(&ledger, &sample);
        ledger.settle(&sample.scope(), fence, &LOST).unwrap();
        let begun_at = clock.moment();
        if restarts {
            clock.advance(seconds(30));
            clock.restart();
        } else {
            clock.advance(seconds(80));
            clock.set(begun_at.after(seconds(30)));
        }
        let task = ledger.task(&sample.scope()).unwrap().unwrap();
        assert_eq!(task.sendable_until, None, "{name}");
        ledger.send_again(&task).unwrap().is_some()
    };
    assert!(!is_sent(false, "set-back"), "74.5 s of 100 s have passed");
    assert!(!is_sent(true, "restarted"));
    // One that is set forth does not make an attempt be over.
    let sample = Sample::new("set-forth").remembered_for(seconds(100));
    let fence = begun(&ledger, &sample);
    ledger.settle(&sample.scope(), fence, &LOST).unwrap();
    clock.set(clock.moment().after(seconds(40)));
    let task = ledger.task(&sample.scope()).unwrap().unwrap();
    assert_eq!(ledger.send_again(&task), Ok(None));
    assert_eq!(kind(&ledger, &sample), StateKind::Unknown);
}

/// The time of an operation is as long as its record says, however long a contract or a memory lasts.
pub fn the_longest_durations_are_kept<B: Build>(build: &B) {
    let ledger = host(build, "host-1");
    let mut sample = Sample::new("1").remembered_for(Duration::MAX);
    sample.contract.timeout = Duration::from_hours(24);
    let fence = begun(&ledger, &sample);
    let Record { timeout, .. } = record(&ledger, &sample);
    assert_eq!(timeout, Duration::from_hours(24));
    assert_eq!(
        ledger.settle(&sample.scope(), fence, &LOST),
        Ok(Settled::Written)
    );
    let task = ledger.task(&sample.scope()).unwrap().unwrap();
    assert!(task.sendable_until.is_some());
    assert!(plain::operation(ledger.backend(), &sample).is_some());
}
