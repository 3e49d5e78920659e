//! `countersign work`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::anyhow;
use countersign_canonical::Value;
use countersign_contract::Principal;
use countersign_ledger::{Changes as _, Work as _};
use countersign_runtime::{Poller, PollerSettings, Stop, Tick, while_alive};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::cli::WorkArguments;
use crate::host_ledger::{FileLedger, LedgerLocation, open_ledger};
use crate::ledger_advice::failed;
use crate::operation_json::number;
use crate::output::{Verdict, complain, print_json};
use crate::performer::Performer;
use crate::tools_file::ToolsFile;

/// How often it is looked whether a signal has come.
const SIGNAL_LOOK: Duration = Duration::from_millis(50);

pub(crate) fn run(arguments: &WorkArguments) -> anyhow::Result<Verdict> {
    let tools = ToolsFile::load(&arguments.tools)?;
    let principals = principals(arguments, &tools)?;
    let ledger = open_ledger(&LedgerLocation::or_default(
        arguments.ledger.ledger.as_ref(),
    )?)?;
    let is_asked_to_end = on_signals()?;
    let performer = Performer {
        tools: &tools,
        principals: &principals,
        ledger: &ledger,
    };
    let poller = Poller::new(performer.ports(), PollerSettings::default());
    let stop = Stop::default();
    let done = AtomicBool::new(false);
    let lease = ledger.lifetimes().lease;
    std::thread::scope(|scope| {
        scope.spawn(|| pass_on(&is_asked_to_end, &stop, &done));
        let verdict = while_alive(&ledger, lease, || {
            if arguments.once {
                once(&poller, &stop, &ledger, arguments.json)
            } else {
                until_stopped(&poller, &stop, &ledger)
            }
        });
        done.store(true, Ordering::Release);
        verdict
    })
}

fn principals(arguments: &WorkArguments, tools: &ToolsFile) -> anyhow::Result<Vec<Principal>> {
    if arguments.principals.is_empty() {
        return Ok(vec![tools.principal_or(None)?]);
    }
    let files = arguments.principals.iter();
    files.map(|file| tools.principal_or(Some(file))).collect()
}

/// A flag that SIGTERM and SIGINT raise. The second of them ends the program as if it were not caught.
fn on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let is_raised = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT] {
        flag::register_conditional_default(signal, Arc::clone(&is_raised))
            .and_then(|_| flag::register(signal, Arc::clone(&is_raised)))
            .map_err(|_| anyhow!("cannot catch the signals that end this program"))?;
    }
    Ok(is_raised)
}

/// Stops the poller when a signal has come, until it is done.
fn pass_on(is_asked_to_end: &AtomicBool, stop: &Stop, done: &AtomicBool) {
    while !done.load(Ordering::Acquire) {
        if is_asked_to_end.load(Ordering::Acquire) {
            return stop.stop();
        }
        std::thread::park_timeout(SIGNAL_LOOK);
    }
}

fn until_stopped(poller: &Poller<'_>, stop: &Stop, ledger: &FileLedger) -> anyhow::Result<Verdict> {
    complain("working until it is stopped");
    let wait = |pause: Duration| {
        let version = ledger.version();
        let mut left = pause;
        while !stop.is_stopped() && !left.is_zero() {
            let slice = left.min(SIGNAL_LOOK);
            if ledger.wait(version, slice) != version {
                return;
            }
            left -= slice;
        }
    };
    let report = |error: &_| complain(&failed(*error).to_string());
    poller.run(stop, &wait, &report).map_err(failed)?;
    complain("stopped");
    Ok(Verdict::Good)
}

fn once(
    poller: &Poller<'_>,
    stop: &Stop,
    ledger: &FileLedger,
    as_json: bool,
) -> anyhow::Result<Verdict> {
    let tick = poller.tick(stop);
    // Whatever is not said now, the lease says when it runs out.
    let _ = ledger.leave();
    let tick = match tick {
        Ok(tick) => tick,
        Err(error) => {
            complain(&failed(error).to_string());
            return Ok(Verdict::Bad);
        }
    };
    if as_json {
        print_json(&document(&tick))?;
    } else {
        complain(&told(&tick));
    }
    Ok(Verdict::Good)
}

fn counts(tick: &Tick) -> [(&'static str, &'static str, usize); 6] {
    [
        ("done", "performed", tick.done),
        ("postponed", "put off", tick.postponed),
        ("blocked", "blocked", tick.blocked),
        ("given_up", "left to a person", tick.given_up),
        ("expired", "expired", tick.expired),
        ("recovered", "found abandoned", tick.recovered),
    ]
}

fn document(tick: &Tick) -> Value {
    let counts = counts(tick).map(|(name, _, count)| {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        (name, number(count))
    });
    Value::from(counts)
}

fn told(tick: &Tick) -> String {
    let counts = counts(tick).into_iter();
    let counts: Vec<String> = counts
        .filter(|(_, _, count)| *count > 0)
        .map(|(_, words, count)| format!("{count} {words}"))
        .collect();
    if counts.is_empty() {
        "nothing was due".to_owned()
    } else {
        counts.join(", ")
    }
}
