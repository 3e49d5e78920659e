//! Tries what was made as its users will: where nothing else is, and as installed by Python's installers.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::client::{Client, PATIENCE, PAUSE};
use super::{Distribution, PLATFORMS, TARGET, beside, pack};
use crate::program::Program;

/// Puts a program where nothing is but itself, the devices and the processes, and runs it there. Mounts of its own end with it.
const IN_ROOT: &str = r#"root=$1; shift
mount --rbind /dev "$root/dev" && mount --rbind /proc "$root/proc" && exec chroot "$root" "$@""#;
/// A client's configuration with one server.
const CONFIGURATION: &str =
    "{\n  \"mcpServers\": {\n    \"files\": {\n      \"command\": \"files\"\n    }\n  }\n}\n";
/// The scripted server of the tests: it has a tool `look`, which reads, and one `note`, which writes.
const PYTHON_SERVER: &str = "crates/countersign/tests/it/mcp_server.py";

pub(super) fn run(root: &Path, python: &Path, made: &Distribution) -> anyhow::Result<()> {
    let place = root.join("target").join("dist").join("check");
    fs::create_dir_all(&place).context("cannot make target/dist/check")?;
    carries_its_names(&made.wheel)?;
    same_again(root, python, &made.wheel, &place).context("the wheel is not reproducible")?;
    in_empty_root(root, &made.binary, &place).context("the binary fails in an empty root")?;
    by_pip(root, python, &made.wheel, &place).context("the wheel fails as pip installs it")?;
    by_uv(root, python, &made.wheel, &place).context("the wheel fails as uv runs it")?;
    eprintln!("the binary and the wheel do what they should");
    Ok(())
}

/// Installers choose by the name alone: for every C library, for every Python, on this processor.
fn carries_its_names(wheel: &Path) -> anyhow::Result<()> {
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    let start = concat!("countersign_host-", env!("CARGO_PKG_VERSION"), "-py3-none-");
    let platforms: Vec<_> = name
        .strip_prefix(start)
        .and_then(|rest| rest.strip_suffix(".whl"))
        .with_context(|| format!("the wheel is called {name}, which does not begin {start}"))?
        .split('.')
        .collect();
    match PLATFORMS
        .iter()
        .find(|platform| !platforms.contains(&format!("{platform}_x86_64").as_str()))
    {
        None => Ok(()),
        Some(platform) => bail!("the wheel is called {name}, which does not name {platform}"),
    }
}

/// Packs a second time; the binary is built by then.
fn same_again(root: &Path, python: &Path, wheel: &Path, place: &Path) -> anyhow::Result<()> {
    let package = root.join("target").join("dist").join("package");
    let again = place.join("again");
    pack(root, python, &package, &again)?;
    let again = super::only_file(&again)?;
    if fs::read(wheel)? != fs::read(&again)? {
        bail!(
            "{} and {} differ, and come from the same files",
            wheel.display(),
            again.display()
        );
    }
    Ok(())
}

/// No C library, no shell, no user, no time zone, no home: the binary and a static server.
fn in_empty_root(root: &Path, binary: &Path, place: &Path) -> anyhow::Result<()> {
    let empty = place.join("root");
    for folder in ["dev", "proc", "tmp"] {
        fs::create_dir_all(empty.join(folder)).context("cannot make the empty root")?;
    }
    fs::copy(binary, empty.join("countersign")).context("cannot fill the empty root")?;
    compile_server(root, &empty.join("server"))?;
    let inside = |arguments: &[&str]| inside(root, &empty).arguments(arguments);
    says_its_version(inside(&["/countersign", "--version"]))?;
    let steps: Value = read_json(inside(&[
        "/countersign",
        "demo",
        "--json",
        "--ledger",
        "sqlite:/tmp/demo.db",
    ]))?;
    if steps.as_array().is_none_or(Vec::is_empty) {
        bail!("the demonstration shows no steps: {steps}");
    }
    let ledger = ["--ledger", "sqlite:/tmp/ledger.db"];
    let wrap = inside(&["/countersign", "wrap", "--pins", "/tmp/pins"])
        .arguments(ledger)
        .arguments(["--approval-wait", "0", "--", "/server"]);
    reads_and_asks(wrap)?;
    waits(inside(&["/countersign", "approvals", "list", "--json"]).arguments(ledger))?;
    over_http(&inside)
}

/// A wrapped server at an address, wrapped again: certificates that are not there are not missed.
fn over_http(inside: &dyn Fn(&[&str]) -> Program) -> anyhow::Result<()> {
    let port = free_port().context("there is no free port")?;
    let address = format!("127.0.0.1:{port}");
    let wrap = |server: &str, target: &[&str]| {
        let ledger = format!("sqlite:/tmp/{server}.db");
        inside(&[
            "/countersign",
            "wrap",
            "--server",
            server,
            "--pins",
            "/tmp/pins",
        ])
        .arguments(["--ledger", &ledger, "--approval-wait", "0"])
        .arguments(target)
    };
    let _listening = Listening::start(wrap("far", &["--listen", &address, "--", "/server"]), port)?;
    reads_and_asks(wrap("near", &["--url", &format!("http://{address}/mcp")]))
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// A program that serves others until this goes.
struct Listening(Child);

impl Listening {
    fn start(program: Program, port: u16) -> anyhow::Result<Self> {
        let mut listening = Self(program.start()?);
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = listening.0.try_wait().context("the program is lost")? {
                bail!("the program that should listen ended with {status}");
            }
            if start.elapsed() > PATIENCE {
                bail!("nobody listens on port {port}");
            }
            thread::sleep(PAUSE);
        }
        Ok(listening)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Optimized for size like nothing else here: it is compiled in a second.
fn compile_server(root: &Path, to: &Path) -> anyhow::Result<()> {
    Program::new("rustc", root)
        .arguments(["--edition", "2024", "--target", TARGET])
        .arguments(["-C", "opt-level=s", "-C", "strip=symbols", "-o"])
        .argument(&to.to_string_lossy())
        .argument("packaging/check/mcp_server.rs")
        .run()
}

/// A program that will run in another root directory. Root needs no other rights for that; anyone else takes a user namespace.
fn inside(root: &Path, empty: &Path) -> Program {
    let program = Program::new("unshare", root).argument("--mount");
    let program = if crate::system::is_root(root) {
        program
    } else {
        program.argument("--map-root-user")
    };
    ["HOME", "USER", "XDG_DATA_HOME"]
        .into_iter()
        .fold(program, Program::without_environment)
        .arguments(["sh", "-c", IN_ROOT, "sh"])
        .argument(&empty.to_string_lossy())
}

fn by_pip(root: &Path, python: &Path, wheel: &Path, place: &Path) -> anyhow::Result<()> {
    let environment = place.join("pip");
    Program::new(&python.to_string_lossy(), root)
        .arguments(["-m", "venv"])
        .argument(&environment.to_string_lossy())
        .run()?;
    let bin = environment.join("bin");
    Program::new(&bin.join("python").to_string_lossy(), root)
        .arguments(["-m", "pip", "install", "--quiet", "--no-index"])
        .argument("--disable-pip-version-check")
        .argument(&wheel.to_string_lossy())
        .run()?;
    let installed = Program::new(&bin.join("countersign").to_string_lossy(), root);
    says_its_version(installed.argument("--version"))
}

fn by_uv(root: &Path, python: &Path, wheel: &Path, place: &Path) -> anyhow::Result<()> {
    let uv = Uv {
        root,
        python,
        place,
    };
    let at = |name: &str| place.join(name).to_string_lossy().into_owned();
    let wheel = wheel.to_string_lossy();
    let once = uv
        .program("uvx")
        .arguments(["--from", &wheel, "countersign"]);
    let wrap = once
        .arguments(["wrap", "--server", "scripted", "--pins", &at("pins")])
        .arguments(["--ledger", &format!("sqlite:{}", at("ledger.db"))])
        .arguments(["--approval-wait", "0", "--", "python3", PYTHON_SERVER])
        .argument(&at("notes"));
    reads_and_asks(wrap)?;
    stays_out_of_configurations(&uv, &wheel)?;
    uv.program("uv")
        .arguments(["tool", "install", "--quiet", &wheel])
        .run()?;
    names_itself(&uv)
}

/// What uv keeps goes into the place of the check, and nothing comes from the network.
struct Uv<'a> {
    root: &'a Path,
    python: &'a Path,
    place: &'a Path,
}

impl Uv<'_> {
    fn program(&self, name: &str) -> Program {
        Program::new(&beside(self.python, name), self.root)
            .environment("UV_CACHE_DIR", self.place.join("uv-cache"))
            .environment("UV_TOOL_DIR", self.place.join("uv-tools"))
            .environment("UV_TOOL_BIN_DIR", self.bin())
            .environment("UV_PYTHON", self.python)
            .environment("UV_OFFLINE", "1")
            .environment("UV_NO_CONFIG", "1")
            .environment("UV_PYTHON_DOWNLOADS", "never")
    }

    fn bin(&self) -> PathBuf {
        self.place.join("uv-bin")
    }
}

/// What `uvx` runs lies in a cache: no configuration may name it.
fn stays_out_of_configurations(uv: &Uv<'_>, wheel: &str) -> anyhow::Result<()> {
    let configuration = uv.place.join("uvx.json");
    fs::write(&configuration, CONFIGURATION).context("cannot write a configuration")?;
    let installs = uv
        .program("uvx")
        .arguments(["--from", wheel, "countersign"])
        .arguments(["install", "cursor", "--all", "--yes", "--config"])
        .argument(&configuration.to_string_lossy())
        .succeeds();
    if installs || fs::read_to_string(&configuration)? != CONFIGURATION {
        bail!("a configuration names what uvx keeps in its cache");
    }
    Ok(())
}

/// What is installed for good is what a client's configuration would name: by the path that stays, not where uv keeps it.
fn names_itself(uv: &Uv<'_>) -> anyhow::Result<()> {
    let program = uv.bin().join("countersign");
    let program = program.to_string_lossy();
    let configuration = uv.place.join("mcp.json");
    fs::write(&configuration, CONFIGURATION).context("cannot write a configuration")?;
    let mut path = uv.bin().into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let shown = Program::new(&program, uv.root)
        .environment("PATH", path)
        .arguments(["install", "cursor", "--all", "--dry-run", "--config"])
        .argument(&configuration.to_string_lossy())
        .output()?;
    if !shown.contains(&format!("\"{program}\"")) {
        bail!("`countersign install` does not name {program}:\n{shown}");
    }
    Ok(())
}

fn says_its_version(program: Program) -> anyhow::Result<()> {
    let said = program.output()?;
    let expected = concat!("countersign ", env!("CARGO_PKG_VERSION"));
    if said.trim() != expected {
        bail!("it says {}, and not {expected}", said.trim());
    }
    Ok(())
}

/// A read is answered by the server, and a write is not sent.
fn reads_and_asks(wrap: Program) -> anyhow::Result<()> {
    let mut client = Client::open(wrap)?;
    let read = client.ask("tools/call", &json!({"name": "look", "arguments": {}}))?;
    if read.get("content").is_none() || read.get("isError").is_some() {
        bail!("the read was not answered by the server: {read}");
    }
    let write = client.ask("tools/call", &json!({"name": "note", "arguments": {}}))?;
    let code = write.pointer("/_meta/countersign~1outcome/code");
    if code.and_then(Value::as_str) != Some("APPROVAL_REQUIRED") {
        bail!("the write did not wait: {write}");
    }
    client.end()
}

/// Another process finds the write in the ledger.
fn waits(list: Program) -> anyhow::Result<()> {
    let document = read_json(list)?;
    match document.get("operations").and_then(Value::as_array) {
        Some(operations) if operations.len() == 1 => Ok(()),
        _ => bail!("one write is due in the ledger: {document}"),
    }
}

fn read_json(program: Program) -> anyhow::Result<Value> {
    serde_json::from_str(&program.output()?).context("something else than JSON was printed")
}
