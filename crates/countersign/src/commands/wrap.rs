//! `countersign wrap`.

mod answers;
mod call_pages;
mod caller;
mod child;
mod executor;
mod governor;
mod host;
mod http;
mod inventory;
mod lines;
mod page;
pub(crate) mod pin_store;
mod queue;
mod room;
mod rounds;
mod session;
mod stdio;
mod upstream;

use std::io::{self, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use countersign_canonical::Value;
use countersign_contract::{Inert, Principal};
use countersign_ledger::Work as _;
use countersign_mcp::{Launch, ServerName};
use countersign_mcp_http::remote::{self, PlainHttp, Target};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use self::call_pages::CallPages;
use self::child::Wanted;
use self::governor::Rules;
use self::host::{Host, Source};
use self::inventory::Inventory;
use self::lines::{Line, next_line};
use self::pin_store::PinStore;
use self::room::Room;
use self::stdio::{Patience, StdioClient};
use crate::cli::{HeaderArgument, PinsArgument, RemoteArguments, WrapArguments};
use crate::host_ledger::{LedgerLocation, data_directory, open_ledger};
use crate::input::describe;
use crate::ledger_advice::failed;
use crate::output::{Verdict, complain};

/// How often it is looked whether what was waited for has come.
const LOOK: Duration = Duration::from_millis(20);
/// How long it is waited for.
const END_LIMIT: Duration = Duration::from_secs(5);
/// The most operations tidied up after others before the server starts.
const MAX_TIDIED: usize = 64;
/// How much of a stream is read at a time.
const BUFFER_BYTES: usize = 64 * 1024;

pub(crate) fn run(arguments: &WrapArguments) -> anyhow::Result<Verdict> {
    let host = host(arguments)?;
    let rules = Arc::clone(&host.rules);
    let served = match arguments.listen.listen {
        Some(address) => http::serve(host, address, &arguments.listen),
        None => serve_stdio(&host),
    };
    // A lease that runs out says the rest.
    let _ = rules.ledger.leave();
    served
}

fn host(arguments: &WrapArguments) -> anyhow::Result<Host> {
    let server = server_name(arguments)?;
    let directory = std::env::current_dir()
        .map_err(|error| anyhow!("cannot tell where this is: {}", describe(&error)))?;
    let (launch, source) = match &arguments.remote.url {
        None => (
            Launch::new(
                arguments.command.clone(),
                directory.to_string_lossy().into_owned(),
            ),
            Source::Program(arguments.command.clone()),
        ),
        Some(url) => (
            Launch::remote(url.clone()),
            Source::Remote(remote_server(url, &arguments.remote)?),
        ),
    };
    let store = open_pins(&arguments.pins)?;
    // Before anything else is touched.
    Inventory::open(
        store.clone(),
        server.clone(),
        launch.clone(),
        arguments.read.clone(),
    )?;
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
    Ok(Host {
        rules: Arc::new(Rules {
            ledger,
            principal: principal(&arguments.subject)?,
            approval_wait: Duration::from_secs(arguments.approval_wait),
            observes: arguments.observe,
            pages: call_pages(arguments),
            room: Room::new(),
        }),
        store,
        server,
        launch,
        reads: arguments.read.clone(),
        policy,
        call_timeout: Duration::from_secs(arguments.call_timeout),
        source,
    })
}

/// Serves the one client that started us, until its server ends.
fn serve_stdio(host: &Host) -> anyhow::Result<Verdict> {
    let signals = Signals::catch()?;
    let (client, queue) = StdioClient::new();
    let connection = host.connect(Arc::new(client.clone()), false)?;
    // Whatever these wait for when the program ends, nobody needs any more.
    let writer = thread::spawn(move || queue.drain(io::stdout()));
    let is_client_gone = Arc::new(AtomicBool::new(false));
    {
        let (session, is_gone) = (Arc::clone(&connection.session), Arc::clone(&is_client_gone));
        thread::spawn(move || {
            let mut input = BufReader::with_capacity(BUFFER_BYTES, io::stdin());
            while let Ok(Some(Line::Whole(bytes) | Line::TooLong(bytes))) = next_line(&mut input) {
                session.receive_bytes(&bytes);
            }
            is_gone.store(true, Ordering::Release);
        });
    }
    let mut patience = Patience::default();
    let status = connection.supervise(|pid| {
        let is_told_to_end = signals.pass_on(pid) > 0 && pid.is_none();
        if is_told_to_end || is_client_gone.load(Ordering::Acquire) || writer.is_finished() {
            client.is_waited_for(&mut patience);
            Wanted::End
        } else {
            Wanted::On
        }
    })?;
    client.finish();
    wait_for(|| writer.is_finished());
    Ok(Verdict::Passed(status.map_or(0, exit_code)))
}

fn server_name(arguments: &WrapArguments) -> anyhow::Result<ServerName> {
    let named = arguments.server.clone();
    let own = || match &arguments.remote.url {
        Some(url) => ServerName::of_url(url),
        None => ServerName::of_program(arguments.command.first().map_or("", String::as_str)),
    };
    named
        .or_else(own)
        .ok_or_else(|| anyhow!("the server has no usable name: give it one with --server"))
}

/// A server at an address, with headers whose values stand in the environment.
fn remote_server(url: &str, arguments: &RemoteArguments) -> anyhow::Result<remote::Server> {
    let plain = if arguments.allow_http {
        PlainHttp::Anywhere
    } else {
        PlainHttp::Loopback
    };
    let mut target = Target::parse(url, plain)?;
    for HeaderArgument { name, variable } in &arguments.header_env {
        #[expect(
            clippy::disallowed_methods,
            reason = "the command line names the variable"
        )]
        let value = std::env::var(variable).map_err(|_| {
            anyhow!(
                "the variable {} is not set, or is no text",
                Inert::new(variable)
            )
        })?;
        target = target.with_header(name, &value)?;
    }
    let runtime = remote::Runtime::start()
        .map_err(|error| anyhow!("cannot start what calls servers: {}", describe(&error)))?;
    remote::Server::new(&runtime, target).context("cannot call servers over HTTP")
}

/// Pages of what waits. Behind another name or for other machines, this machine's addresses lead their users elsewhere.
fn call_pages(arguments: &WrapArguments) -> CallPages {
    let ledger = arguments.ledger.ledger.as_ref();
    // As it is from wherever the command is typed.
    let ledger = ledger.map(|ledger| {
        let file = std::path::absolute(&ledger.file).unwrap_or_else(|_| ledger.file.clone());
        format!("sqlite:{}", file.display())
    });
    let listen = &arguments.listen;
    CallPages::new(ledger, !listen.allow_remote && listen.allow_host.is_empty())
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
struct Signals {
    caught: Vec<(Signal, Arc<AtomicBool>)>,
    count: AtomicUsize,
}

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
        Ok(Self {
            caught,
            count: AtomicUsize::new(0),
        })
    }

    /// Passes signals on to the server. Tells how many have come so far: where there is no server to take them they are for us.
    fn pass_on(&self, pid: Option<Pid>) -> usize {
        for (signal, is_raised) in &self.caught {
            if is_raised.swap(false, Ordering::AcqRel) {
                self.count.fetch_add(1, Ordering::AcqRel);
                if let Some(pid) = pid {
                    let _ = kill_process(pid, *signal);
                }
            }
        }
        self.count.load(Ordering::Acquire)
    }
}
