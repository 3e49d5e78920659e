//! What it costs to stand in front of a server: the same calls direct and through `countersign wrap`, in turn, in one run.
//!
//! The servers are one that does nothing, written here, and the official `server-everything` on Node, where
//! `COUNTERSIGN_TEST_NODE` and `COUNTERSIGN_TEST_NODE_MODULES` say where it is (`cargo xtask bench wrap` sets both).

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark prints what it measures, and stops where something is wrong"
)]

mod client;
mod echo;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::client::{Caller, Http, Line};

/// The program that is measured, unless `COUNTERSIGN_BENCH_PROGRAM` names another build of it.
const PROGRAM: &str = env!("CARGO_BIN_EXE_countersign");
/// Holds a terminal's other end.
const TERMINAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/terminal.py");
const PASSPHRASE: &str = "correct horse battery\n";
/// Calls of one side before it is the other's turn.
const BATCH: u64 = 100;
const BATCHES: u64 = 20;
/// Clients at once, and how many calls each of them makes.
const CLIENTS: u64 = 32;
const CALLS: u64 = 200;

fn main() {
    let own = std::env::current_exe().expect("a program");
    match std::env::args().nth(1).as_deref() {
        Some("--echo") => return echo::lines(),
        Some("--echo-http") => return echo::http(),
        Some(_) | None => {}
    }
    let directory = tempfile::tempdir_in(".").expect("a directory on the disk that is measured");
    let place = directory.path();
    println!(
        "what                             direct p50  p99 ms   added p50  p99 ms   32 at once: direct/s  through/s  ratio  MiB"
    );
    let own = own.to_string_lossy().into_owned();
    let echo = [own.as_str(), "--echo"].map(str::to_owned);
    stdio("stdio, Rust, read", place, "echo", &echo, "look", &[]);
    grant(place, &echo);
    stdio(
        "stdio, Rust, granted write",
        place,
        "echo",
        &echo,
        "act",
        &[],
    );
    http(
        "http, Rust, read",
        place,
        "echo-http",
        &[own, "--echo-http".to_owned()],
        "look",
        |line| line.trim().to_owned(),
    );
    let node = |name: &str| std::env::var(name).ok();
    let found = (
        node("COUNTERSIGN_TEST_NODE"),
        node("COUNTERSIGN_TEST_NODE_MODULES"),
    );
    let (Some(node), Some(modules)) = found else {
        println!("(no Node here: cargo xtask bench wrap)");
        return;
    };
    let server = format!("{modules}/@modelcontextprotocol/server-everything/dist/index.js");
    let everything = [node.clone(), server.clone(), "stdio".to_owned()];
    let reads = ["--read", "echo"];
    stdio(
        "stdio, Node, read",
        place,
        "node",
        &everything,
        "echo",
        &reads,
    );
    let everything = [node, server, "streamableHttp".to_owned()];
    http(
        "http, Node, read",
        place,
        "node-http",
        &everything,
        "echo",
        |line| {
            let port = line.rsplit(' ').next().unwrap_or_default().trim();
            format!("http://127.0.0.1:{port}/mcp")
        },
    );
}

fn stdio(what: &str, place: &Path, name: &str, server: &[String], tool: &str, options: &[&str]) {
    let mut direct = Line::open(Command::new(&server[0]).args(&server[1..]));
    let mut through = Line::open(wrap(place, name).args(options).arg("--").args(server));
    let rows = alternate(&mut direct, &mut through, tool);
    let total = CLIENTS * CALLS;
    let (before, after) = (
        pipelined(&mut direct, tool, total),
        pipelined(&mut through, tool, total),
    );
    report(what, &rows, (before, after), through.peak_memory());
}

fn http(
    what: &str,
    place: &Path,
    name: &str,
    server: &[String],
    tool: &str,
    url: impl Fn(&str) -> String,
) {
    let mut command = Command::new(&server[0]);
    command.args(&server[1..]).env("PORT", "38651");
    let (_server, line) = serve(&mut command, "http");
    let url = url(&line);
    let mut command = wrap(place, name);
    command.args(["--listen", "127.0.0.1:0", "--read", tool, "--url", &url]);
    let (wrapped, line) = serve(&mut command, "listening");
    let own = line
        .rsplit(' ')
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned();
    let rows = alternate(&mut Http::open(&url), &mut Http::open(&own), tool);
    let rates = (together(&url, tool), together(&own, tool));
    let memory = client::peak_memory(wrapped.0.id());
    report(what, &rows, rates, memory);
}

/// A process that ends with this.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server, and waits for the line that says where it is, on either stream.
fn serve(command: &mut Command, says: &str) -> (Served, String) {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a server");
    let (sender, lines) = std::sync::mpsc::channel();
    let streams: [Box<dyn std::io::Read + Send>; 2] = [
        Box::new(child.stdout.take().expect("a stream")),
        Box::new(child.stderr.take().expect("a stream")),
    ];
    for stream in streams {
        let sender = sender.clone();
        thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
    }
    let served = Served(child);
    loop {
        let line = lines
            .recv_timeout(Duration::from_secs(30))
            .expect("a line that says where it is");
        if line.contains(says) || line.contains("listening on port") {
            return (served, line);
        }
    }
}

fn program() -> String {
    std::env::var("COUNTERSIGN_BENCH_PROGRAM").unwrap_or_else(|_| PROGRAM.to_owned())
}

fn ledger(place: &Path) -> String {
    format!("sqlite:{}", place.join("ledger.db").display())
}

fn wrap(place: &Path, name: &str) -> Command {
    let mut command = Command::new(program());
    command
        .arg("wrap")
        .args(["--server", name, "--approval-wait", "0", "--ledger"])
        .arg(ledger(place))
        .arg("--pins")
        .arg(place.join("pins"))
        .env("XDG_DATA_HOME", place.join("data"));
    command
}

/// Approves whatever the echo server is asked to do, beforehand, as a person does: with a key, on a terminal.
fn grant(place: &Path, server: &[String]) {
    let mut client = Line::open(wrap(place, "echo").arg("--").args(server));
    client.call(1, "act");
    let ledger = ledger(place);
    let listed = Command::new(program())
        .args(["approvals", "list", "--json", "--ledger", &ledger])
        .output()
        .expect("a list");
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("a list");
    let waiting = listed["operations"][0]["status_ref"].as_str();
    let waiting = waiting.expect("the call that waits");
    on_terminal(
        place,
        &["approver", "create"],
        &[
            ["New passphrase of operator: ", PASSPHRASE],
            ["The same again, of operator: ", PASSPHRASE],
        ],
    );
    let grant = ["grants", "create", waiting, "--as", "operator"];
    let bounds = [
        "--for", "1h", "--uses", "10000", "--any", "message", "--any", "n",
    ];
    on_terminal(
        place,
        &[&grant[..], &bounds, &["--ledger", &ledger]].concat(),
        &[
            ["Type yes: ", "yes\n"],
            ["Passphrase of operator: ", PASSPHRASE],
        ],
    );
}

/// Runs the program on a terminal, and types what is asked for.
fn on_terminal(place: &Path, arguments: &[&str], typed: &[[&str; 2]]) {
    let program = program();
    let argv = [&[program.as_str()], arguments].concat();
    let request = json!({
        "argv": argv,
        "environment": {"XDG_DATA_HOME": place.join("data"), "TERM": "xterm"},
        "columns": 100, "has_terminal": true, "shows_output": false,
        "stdin": "", "early": "", "passphrase": null, "signal": null, "typed": typed,
    });
    let mut driver = Command::new("python3")
        .args(["-B", TERMINAL])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    let mut input = driver.stdin.take().expect("an input");
    input
        .write_all(request.to_string().as_bytes())
        .expect("a request");
    drop(input);
    let ended = driver.wait_with_output().expect("an end");
    let ended: Value = serde_json::from_slice(&ended.stdout).expect("what came of it");
    assert_eq!(ended["code"], 0, "{ended}");
}

/// How long each call took, direct and through.
fn alternate<C: Caller>(direct: &mut C, through: &mut C, tool: &str) -> [Vec<Duration>; 2] {
    let mut taken = [Vec::new(), Vec::new()];
    let mut id = 1;
    // What is done once is done before.
    for caller in [&mut *direct, &mut *through] {
        for _ in 0..BATCH {
            id += 1;
            is_done(&caller.call(id, tool));
        }
    }
    for _ in 0..BATCHES {
        for (caller, taken) in [&mut *direct, &mut *through].into_iter().zip(&mut taken) {
            for _ in 0..BATCH {
                id += 1;
                let begun = Instant::now();
                let answer = caller.call(id, tool);
                taken.push(begun.elapsed());
                is_done(&answer);
            }
        }
    }
    taken
}

/// Calls a second of one client with many calls under way.
fn pipelined(line: &mut Line, tool: &str, total: u64) -> f64 {
    const FIRST: u64 = 1_000_000;
    let begun = Instant::now();
    for id in 0..CLIENTS {
        line.say(&client::call(FIRST + id, tool));
    }
    for id in CLIENTS..total + CLIENTS {
        is_done(&line.hear());
        if id < total {
            line.say(&client::call(FIRST + id, tool));
        }
    }
    total as f64 / begun.elapsed().as_secs_f64()
}

/// Calls a second of many clients.
fn together(url: &str, tool: &str) -> f64 {
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| Http::open(url)).collect();
    let begun = Instant::now();
    thread::scope(|scope| {
        for client in &mut clients {
            scope.spawn(move || {
                for id in 1..=CALLS {
                    is_done(&client.call(id, tool));
                }
            });
        }
    });
    (CLIENTS * CALLS) as f64 / begun.elapsed().as_secs_f64()
}

fn is_done(answer: &str) {
    assert!(answer.contains("Echo: hello"), "{answer}");
}

fn report(what: &str, taken: &[Vec<Duration>; 2], (direct, through): (f64, f64), memory: f64) {
    let of = |taken: &[Duration], share: f64| {
        let mut sorted = taken.to_vec();
        sorted.sort();
        let index = (sorted.len() as f64 * share) as usize;
        sorted[index.min(sorted.len() - 1)].as_secs_f64() * 1000.0
    };
    let (p50, p99) = (of(&taken[0], 0.5), of(&taken[0], 0.99));
    let added = (of(&taken[1], 0.5) - p50, of(&taken[1], 0.99) - p99);
    println!(
        "{what:32} {p50:10.3} {p99:7.3}  {:10.3} {:7.3}   {direct:20.0} {through:10.0} {:6.2} {memory:4.0}",
        added.0,
        added.1,
        through / direct
    );
}
