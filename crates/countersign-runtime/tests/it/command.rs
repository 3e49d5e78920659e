//! The command runner against real programs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use countersign_runtime::command::{
    self, CommandOutcome, CommandSpec, Diagnostics, Exit, Exited, LostCause, NotStartedKind,
};
use tempfile::TempDir;

/// Longer than any of these programs takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn carries_a_megabyte_each_way_at_once() {
    let input: Vec<u8> = (0..1 << 20).map(|n| b"0123456789abcdef"[n % 16]).collect();
    // `cat` writes while it reads: a runner that first writes all, or first reads all, would hang.
    let echoed = exited(&shell("cat").with_output_limit(1 << 20).unwrap(), &input);
    assert_eq!(echoed.exit, Exit::SUCCESS);
    assert!(
        echoed.stdout == input,
        "{} bytes came back",
        echoed.stdout.len()
    );

    // Both output streams at once, one far beyond what is kept of it.
    let both = shell("tee /dev/stderr")
        .with_diagnostics_limit(1_000)
        .unwrap();
    let both = exited(&both, &input);
    assert!(both.stdout == input);
    assert_eq!(
        both.diagnostics.for_operator().as_bytes(),
        &input[(1 << 20) - 1_000..]
    );
    assert_eq!(both.diagnostics.omitted_bytes(), (1 << 20) - 1_000);
}

#[test]
fn reports_how_a_program_ended() {
    let cases = [
        ("exit 0", Exit::SUCCESS),
        ("exit 75", Exit::TEMPORARY_FAILURE),
        ("exit 255", Exit::Code(255)),
        ("kill -KILL $$", Exit::Signal(9)),
        ("kill -TERM $$", Exit::Signal(15)),
    ];
    for (script, exit) in cases {
        assert_eq!(exited(&shell(script), b"{}").exit, exit, "{script}");
    }
}

#[test]
fn a_program_may_ignore_its_input() {
    let input = vec![b'x'; 1 << 20];
    for script in [
        "echo done",
        "exec <&-; echo done",
        "head -c 10 >/dev/null; echo done",
    ] {
        let ended = exited(&shell(script), &input);
        assert_eq!(
            (ended.exit, &*ended.stdout),
            (Exit::SUCCESS, &b"done\n"[..]),
            "{script}"
        );
    }
}

#[test]
fn an_empty_input_is_an_end_of_file() {
    let ended = exited(&shell("cat; echo over"), b"");
    assert_eq!(ended.stdout, b"over\n");
}

#[test]
fn keeps_output_byte_for_byte() {
    let ended = exited(&shell(r"printf '\377\000\303('"), b"{}");
    assert_eq!(ended.stdout, b"\xff\0\xc3(");
}

#[test]
fn keeps_standard_error_apart() {
    let ended = exited(&shell("echo out; echo wrong >&2; exit 1"), b"{}");
    assert_eq!(ended.stdout, b"out\n");
    assert_eq!(ended.diagnostics.for_operator(), "wrong\n");
}

#[test]
fn never_interprets_arguments() {
    let directory = TempDir::new().unwrap();
    let marker = directory.path().join("marker");
    let hostile = format!(
        "$(touch {0}) `touch {0}` ; touch {0} && * ~ \\ \"",
        marker.display()
    );
    let spec = CommandSpec::new(["/bin/echo", &hostile]).unwrap();
    let ended = exited(&spec, b"{}");
    assert_eq!(
        String::from_utf8(ended.stdout).unwrap(),
        format!("{hostile}\n")
    );
    assert!(!marker.exists());
}

#[test]
fn shows_exactly_the_given_environment() {
    let environment: BTreeMap<OsString, OsString> =
        [("ONE".into(), "1".into()), ("EMPTY".into(), "".into())].into();
    for (given, expected) in [(BTreeMap::new(), ""), (environment, "EMPTY=\0ONE=1\0")] {
        let spec = CommandSpec::new(["/usr/bin/env", "-0"])
            .unwrap()
            .with_environment(given)
            .unwrap();
        assert_eq!(
            String::from_utf8(exited(&spec, b"").stdout).unwrap(),
            expected
        );
    }
}

#[test]
fn finds_a_bare_name_on_its_own_path_only() {
    let directory = TempDir::new().unwrap();
    std::os::unix::fs::symlink("/bin/echo", directory.path().join("tool-of-this-test")).unwrap();
    let spec = CommandSpec::new(["tool-of-this-test", "found"]).unwrap();
    assert_eq!(not_started(&spec), NotStartedKind::Missing);

    let path = [("PATH".into(), directory.path().into())].into();
    let ended = exited(&spec.with_environment(path).unwrap(), b"");
    assert_eq!(ended.stdout, b"found\n");
}

#[test]
fn runs_in_the_given_directory() {
    let directory = TempDir::new().unwrap();
    let real = directory.path().canonicalize().unwrap();
    let ended = exited(&shell("pwd -P").with_directory(&real).unwrap(), b"");
    assert_eq!(
        String::from_utf8(ended.stdout).unwrap().trim_end(),
        real.to_str().unwrap()
    );
}

#[test]
fn a_failed_start_is_proven() {
    let directory = TempDir::new().unwrap();
    let plain = script(directory.path(), "plain", "#!/bin/sh\ntouch ran\n", 0o644);
    let orphan = script(
        directory.path(),
        "orphan",
        "#!/no/such/interpreter\n",
        0o755,
    );
    let path = |path: &Path| CommandSpec::new([path]).unwrap();
    let large = "x".repeat(200_000);
    let cases = [
        (
            path(&directory.path().join("absent")),
            NotStartedKind::Missing,
        ),
        (path(&plain.join("below-a-file")), NotStartedKind::Missing),
        (path(&orphan), NotStartedKind::Missing),
        (path(&plain), NotStartedKind::NotPermitted),
        (path(directory.path()), NotStartedKind::NotPermitted),
        (
            CommandSpec::new(["/bin/echo", &large]).unwrap(),
            NotStartedKind::TooLarge,
        ),
        (
            shell("true")
                .with_directory(directory.path().join("absent"))
                .unwrap(),
            NotStartedKind::Missing,
        ),
    ];
    for (spec, kind) in cases {
        assert_eq!(not_started(&spec), kind, "{spec:?}");
    }
    assert!(!directory.path().join("ran").exists());
}

#[test]
fn the_timeout_kills_programs_that_do_not_want_to_end() {
    for script in [
        "sleep 600",
        "trap '' TERM INT HUP; while :; do sleep 600; done",
        "exec >&- 2>&- <&-; sleep 600",
        "yes >&2",
        "cat /dev/zero >/dev/null & wait",
    ] {
        let started = now();
        let spec = shell(script)
            .with_timeout(Duration::from_millis(300))
            .unwrap();
        let CommandOutcome::Lost(lost) = command::run(&spec, b"{}") else {
            panic!("{script} was not lost");
        };
        assert!(
            matches!(lost.cause, LostCause::TimedOut { .. }),
            "{script}: {:?}",
            lost.cause
        );
        assert!(started.elapsed() >= Duration::from_millis(300), "{script}");
        assert!(
            started.elapsed() < PATIENCE,
            "{script} took {:?}",
            started.elapsed()
        );
    }
}

#[test]
fn the_timeout_leaves_no_process_of_the_group() {
    let directory = TempDir::new().unwrap();
    let script = "sleep 600 & sh -c 'sleep 600 & echo $! >third; wait' & echo $! >second; echo $$ >first; wait";
    let spec = shell(script)
        .with_directory(directory.path())
        .unwrap()
        .with_timeout(Duration::from_secs(2))
        .unwrap();
    let outcome = command::run(&spec, b"{}");
    assert!(matches!(outcome, CommandOutcome::Lost(_)), "{outcome:?}");
    for name in ["first", "second", "third"] {
        let id = fs::read_to_string(directory.path().join(name)).unwrap();
        wait_until_gone(id.trim());
    }
}

#[test]
fn the_programs_end_is_the_runs_end() {
    let directory = TempDir::new().unwrap();
    // A child that holds both streams open outlives the program: in the group it is killed, outside it is left alone.
    let in_group = shell("sleep 600 & echo $! >child; echo answer")
        .with_directory(directory.path())
        .unwrap();
    let started = now();
    let ended = exited(&in_group, b"{}");
    assert_eq!(
        (ended.exit, &*ended.stdout),
        (Exit::SUCCESS, &b"answer\n"[..])
    );
    assert!(started.elapsed() < PATIENCE);
    wait_until_gone(
        fs::read_to_string(directory.path().join("child"))
            .unwrap()
            .trim(),
    );

    let left_group = "setsid sh -c 'echo $$ >escaped; exec sleep 20' & until test -s escaped; do sleep 0.02; done; echo answer";
    let left_group = shell(left_group).with_directory(directory.path()).unwrap();
    let started = now();
    let ended = exited(&left_group, b"{}");
    assert_eq!(ended.stdout, b"answer\n");
    assert!(
        started.elapsed() < Duration::from_secs(15),
        "waited for a daemon"
    );
    let id = fs::read_to_string(directory.path().join("escaped")).unwrap();
    assert!(is_alive(id.trim()), "a daemon was killed");
}

#[test]
fn a_flood_from_a_daemon_cannot_hold_the_run_up() {
    let directory = TempDir::new().unwrap();
    let script = "setsid sh -c 'echo >ready; exec timeout 20 yes >&2' & \
        until test -e ready; do sleep 0.02; done; sleep 0.1; echo answer";
    let started = now();
    let ended = exited(
        &shell(script).with_directory(directory.path()).unwrap(),
        b"{}",
    );
    assert_eq!(ended.stdout, b"answer\n");
    assert!(started.elapsed() < Duration::from_secs(15));
    assert!(ended.diagnostics.omitted_bytes() > 0);
}

#[test]
fn the_output_limit_is_exact() {
    let cases = [
        (999, true),
        (1_000, true),
        (1_001, false),
        (10 << 20, false),
    ];
    for (written, fits) in cases {
        let spec = shell(&format!("head -c {written} /dev/zero"))
            .with_output_limit(1_000)
            .unwrap();
        match command::run(&spec, b"{}") {
            CommandOutcome::Exited(ended) => {
                assert!(fits, "{written} bytes were accepted");
                assert_eq!(ended.stdout.len(), written);
            }
            CommandOutcome::Lost(lost) => {
                assert!(!fits, "{written} bytes: {lost:?}");
                assert!(matches!(
                    lost.cause,
                    LostCause::OutputTooLarge { limit_bytes: 1_000 }
                ));
            }
            CommandOutcome::NotStarted(proof) => panic!("{proof}"),
        }
    }
    // Without an end of its own.
    let endless = command::run(&shell("echo so far >&2; yes"), b"{}");
    let CommandOutcome::Lost(lost) = endless else {
        panic!("{endless:?}");
    };
    assert!(
        matches!(lost.cause, LostCause::OutputTooLarge { .. }),
        "{lost:?}"
    );
    assert_eq!(lost.diagnostics.for_operator(), "so far\n");
}

#[test]
fn ten_megabytes_fit_where_they_may() {
    let spec = shell("head -c 10485760 /dev/zero")
        .with_output_limit(10 << 20)
        .unwrap();
    assert_eq!(exited(&spec, b"{}").stdout.len(), 10 << 20);
}

#[test]
fn many_runs_at_once_stay_apart_and_leave_no_zombie() {
    let directory = TempDir::new().unwrap();
    let mine = directory.path().to_str().unwrap();
    thread::scope(|scope| {
        for worker in 0..16_usize {
            scope.spawn(move || {
                for round in 0..8_usize {
                    let input = format!("{worker}-{round}-").repeat(20_000);
                    let spec = shell(&format!(
                        "echo $$ >{mine}/{worker}-{round}; cat; exit {worker}"
                    ));
                    let ended = exited(&spec, input.as_bytes());
                    assert_eq!(ended.exit, Exit::Code(i32::try_from(worker).unwrap()));
                    assert!(
                        ended.stdout == input.as_bytes(),
                        "worker {worker}, round {round}"
                    );
                }
            });
        }
    });
    let ids = fs::read_dir(mine)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let ids: Vec<String> = ids.map(|path| fs::read_to_string(path).unwrap()).collect();
    assert_eq!(ids.len(), 16 * 8);
    for id in ids {
        assert!(
            !is_child_of_this_process(id.trim()),
            "process {id} was not reaped"
        );
    }
}

#[test]
fn diagnostics_start_empty() {
    assert!(Diagnostics::default().is_empty());
    assert!(exited(&shell("true"), b"").diagnostics.is_empty());
    assert!(!exited(&shell("echo x >&2"), b"").diagnostics.is_empty());
}

#[expect(clippy::disallowed_methods, reason = "real programs take real time")]
fn now() -> Instant {
    Instant::now()
}

fn shell(script: &str) -> CommandSpec {
    CommandSpec::new(["/bin/sh", "-c", script])
        .unwrap()
        .with_environment([("PATH".into(), "/usr/bin:/bin".into())].into())
        .unwrap()
        .with_timeout(PATIENCE)
        .unwrap()
}

fn script(directory: &Path, name: &str, text: &str, mode: u32) -> std::path::PathBuf {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

fn exited(spec: &CommandSpec, arguments: &[u8]) -> Exited {
    match command::run(spec, arguments) {
        CommandOutcome::Exited(exited) => exited,
        CommandOutcome::NotStarted(proof) => panic!("{proof}"),
        CommandOutcome::Lost(lost) => panic!("{}: {}", lost.cause, lost.diagnostics.for_operator()),
    }
}

fn not_started(spec: &CommandSpec) -> NotStartedKind {
    match command::run(spec, b"{}") {
        CommandOutcome::NotStarted(proof) => proof.kind(),
        CommandOutcome::Exited(exited) => panic!("{exited:?}"),
        CommandOutcome::Lost(lost) => panic!("{lost:?}"),
    }
}

/// The state letter and the parent of a process, or nothing once it is gone.
fn status(id: &str) -> Option<(char, u32)> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut fields = text.rsplit_once(") ").unwrap().1.split(' ');
    let state = fields.next().unwrap().chars().next().unwrap();
    Some((state, fields.next().unwrap().parse().unwrap()))
}

fn is_alive(id: &str) -> bool {
    status(id).is_some_and(|(state, _)| state != 'Z' && state != 'X')
}

fn is_child_of_this_process(id: &str) -> bool {
    status(id).is_some_and(|(_, parent)| parent == std::process::id())
}

/// A killed process is gone soon, not at once; a zombie is whoever adopted it's to bury.
fn wait_until_gone(id: &str) {
    assert!(!id.is_empty());
    let started = now();
    while is_alive(id) {
        assert!(started.elapsed() < PATIENCE, "process {id} survived");
        thread::yield_now();
    }
}
