//! `countersign wrap`.

mod answers;
mod client_output;
mod executor;
mod governor;
mod inventory;
mod lines;
pub(crate) mod pin_store;
mod session;
mod upstream;

use std::io::{self, BufRead, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use countersign_canonical::Value;
use countersign_contract::Principal;
use countersign_ledger::Work as _;
use countersign_mcp::{Launch, ServerName};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use self::client_output::ClientOutput;
use self::governor::Governor;
use self::inventory::Inventory;
use self::lines::next_line;
use self::pin_store::PinStore;
use self::session::Session;
use self::upstream::Upstream;
use crate::cli::{PinsArgument, WrapArguments};
use crate::host_ledger::{LedgerLocation, data_directory, open_ledger};
use crate::input::describe;
use crate::ledger_advice::failed;
use crate::output::{Verdict, complain};

/// How often it is looked whether the server, the client or a signal asks for something.
const LOOK: Duration = Duration::from_millis(20);
/// How long a server may take to end after its input did, and after it was asked to.
const END_LIMIT: Duration = Duration::from_secs(5);
/// The most operations tidied up after others before the server starts.
const MAX_TIDIED: usize = 64;
/// How much of a stream is read at a time.
const BUFFER_BYTES: usize = 64 * 1024;

pub(crate) fn run(arguments: &WrapArguments) -> anyhow::Result<Verdict> {
    let server = server_name(arguments)?;
    let directory = std::env::current_dir()
        .map_err(|error| anyhow!("cannot tell where this is: {}", describe(&error)))?;
    let launch = Launch::new(
        arguments.command.clone(),
        directory.to_string_lossy().into_owned(),
    );
    let store = open_pins(&arguments.pins)?;
    let inventory = Inventory::open(store, server, launch, arguments.read.clone())?;
    let ledger = open_ledger(&LedgerLocation::or_default(
        arguments.ledger.ledger.as_ref(),
    )?)?;
    ledger.expire(MAX_TIDIED).map_err(failed)?;
    ledger.recover(MAX_TIDIED).map_err(failed)?;
    let policy = if arguments.observe {
        complain("observing only: every call is let through, and nothing waits for approval");
        "countersign-wrap-observe-v1"
    } else {
        "countersign-wrap-v1"
    };
    let wait = Duration::from_secs(arguments.approval_wait);
    let governor = Governor::new(
        ledger,
        principal(&arguments.subject)?,
        wait,
        arguments.observe,
    )?;
    let signals = Signals::catch()?;
    let (child, input, output) = upstream::start(&arguments.command)?;
    let (client, client_queue) = ClientOutput::new();
    let (upstream, upstream_queue) = Upstream::new();
    let session = Arc::new(Session::new(
        client,
        upstream,
        inventory,
        governor,
        policy.to_owned(),
        Duration::from_secs(arguments.call_timeout),
    ));
    let is_client_gone = Arc::new(AtomicBool::new(false));
    // Whatever these wait for when the program ends, nobody needs any more.
    thread::spawn(move || upstream_queue.drain(input));
    let writer = {
        let session = Arc::clone(&session);
        thread::spawn(move || {
            client_queue.drain(io::stdout(), |id| session.governor.is_written(id));
        })
    };
    let reader = {
        let session = Arc::clone(&session);
        thread::spawn(move || {
            each_line(BufReader::with_capacity(BUFFER_BYTES, output), |line| {
                session.from_server(line);
            });
            session.server_is_gone();
        })
    };
    {
        let (session, is_gone) = (Arc::clone(&session), Arc::clone(&is_client_gone));
        thread::spawn(move || {
            each_line(
                BufReader::with_capacity(BUFFER_BYTES, io::stdin()),
                |line| {
                    session.from_client(line);
                },
            );
            is_gone.store(true, Ordering::Release);
        });
    }
    let keeper = {
        let session = Arc::clone(&session);
        thread::spawn(move || session.governor.look_after(&session))
    };
    let status = supervise(child, &session, &signals, &is_client_gone)?;
    // What the server wrote last still goes to the client, unless that one does not read.
    let _ = reader.join();
    settle(&session);
    session.end();
    let _ = keeper.join();
    session.client.finish();
    wait_for(|| writer.is_finished());
    Ok(Verdict::Passed(exit_code(status)))
}

fn server_name(arguments: &WrapArguments) -> anyhow::Result<ServerName> {
    let program = arguments
        .command
        .first()
        .map(String::as_str)
        .unwrap_or_default();
    arguments
        .server
        .clone()
        .or_else(|| ServerName::of_program(program))
        .ok_or_else(|| {
            anyhow!("the server's program has no usable name: give it one with --server")
        })
}

/// Opens the directory of pins that was named, or the user's own.
pub(crate) fn open_pins(argument: &PinsArgument) -> anyhow::Result<PinStore> {
    match &argument.pins {
        Some(directory) => PinStore::open(directory),
        None => PinStore::open(&data_directory()?.join("pins")),
    }
}

fn principal(subject: &str) -> anyhow::Result<Principal> {
    let principal = Value::from([
        ("tenant_id", "local".into()),
        ("subject_id", subject.into()),
        ("roles", Value::Array(Vec::new())),
    ]);
    Principal::from_value(&principal).context("the subject's name cannot be used")
}

fn each_line(mut stream: impl BufRead, mut take: impl FnMut(&lines::Line)) {
    while let Ok(Some(line)) = next_line(&mut stream) {
        take(&line);
    }
}

/// Waits for the server's end. The client's end is passed on when nothing is under way any more; signals at once.
fn supervise(
    mut child: Child,
    session: &Session,
    signals: &Signals,
    is_client_gone: &AtomicBool,
) -> anyhow::Result<ExitStatus> {
    let pid = Pid::from_child(&child);
    let mut since_end = Duration::ZERO;
    loop {
        if let Some(status) = child
            .try_wait()
            .map_err(|error| anyhow!("cannot wait for the server: {}", describe(&error)))?
        {
            return Ok(status);
        }
        signals.pass_on(pid);
        if is_client_gone.load(Ordering::Acquire) {
            session.end();
            if !session.governor.is_under_way() {
                session.upstream.close();
                since_end = since_end.saturating_add(LOOK);
            }
        }
        if since_end == END_LIMIT {
            // It may have ended meanwhile.
            let _ = kill_process(pid, Signal::TERM);
        }
        if since_end > END_LIMIT * 2 {
            let _ = child.kill();
        }
        thread::park_timeout(LOOK);
    }
}

/// Lets calls that are being answered come to their answer.
fn settle(session: &Session) {
    wait_for(|| !session.governor.is_under_way());
    session.end();
    wait_for(|| !session.is_busy());
}

/// Waits for something that comes soon, or not.
fn wait_for(is_so: impl Fn() -> bool) {
    let mut left = END_LIMIT;
    while !is_so() && !left.is_zero() {
        thread::park_timeout(LOOK);
        left = left.saturating_sub(LOOK);
    }
}

/// As a shell says it: the code, or 128 and the signal.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128_i32.saturating_add(signal)));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Signals that are the server's.
struct Signals(Vec<(Signal, Arc<AtomicBool>)>);

impl Signals {
    fn catch() -> anyhow::Result<Self> {
        let mut caught = Vec::new();
        for (number, signal) in [
            (SIGTERM, Signal::TERM),
            (SIGINT, Signal::INT),
            (SIGHUP, Signal::HUP),
        ] {
            let is_raised = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(number, Arc::clone(&is_raised))
                .map_err(|_| anyhow!("cannot catch the signals that are the server's"))?;
            caught.push((signal, is_raised));
        }
        Ok(Self(caught))
    }

    fn pass_on(&self, pid: Pid) {
        for (signal, is_raised) in &self.0 {
            if is_raised.swap(false, Ordering::AcqRel) {
                let _ = kill_process(pid, *signal);
            }
        }
    }
}
