//! Admissions: the exact bytes, for exactly this worker, now.

use countersign_governed::{
    Admission, AuthorizationId, Epoch, LoopbackOrigin, ToolName, WorkerIdentity,
};

use crate::fixtures::{NOW, now};

fn worker() -> WorkerIdentity {
    let tools =
        ["colony_task_complete", "colony_research"].map(|name| ToolName::parse(name).unwrap());
    WorkerIdentity::new(
        LoopbackOrigin::parse("http://127.0.0.1:8000").unwrap(),
        tools,
        None,
    )
    .unwrap()
}

fn at(offset: f64) -> Epoch {
    Epoch::from_seconds(NOW + offset).unwrap()
}

fn written() -> String {
    let id = AuthorizationId::parse(&"0123456789abcdef".repeat(2)).unwrap();
    String::from_utf8(Admission::write(&worker(), &id, at(-10.0), at(60.0)).unwrap()).unwrap()
}

#[test]
fn what_is_written_is_in_force_until_it_ends() {
    let written = written();
    assert_eq!(
        written,
        "{\"authorization_id\":\"0123456789abcdef0123456789abcdef\",\"authorized\":true,\"binding_identity\":null,\
         \"colony_origin\":\"http://127.0.0.1:8000\",\"created_at\":1783999990.0,\
         \"enabled_tools\":[\"colony_research\",\"colony_task_complete\"],\"expires_at\":1784000060.0,\
         \"schema\":\"ColonyHostWorkerAdmissionV1\",\"version\":1}\n"
    );
    let admission = Admission::parse(&worker(), written.as_bytes(), at(59.9)).unwrap();
    assert_eq!(admission.expires_at(), at(60.0));
    let refusal = Admission::parse(&worker(), written.as_bytes(), at(60.0)).unwrap_err();
    assert_eq!(refusal.to_string(), "/expires_at: has passed");
}

#[test]
fn anything_else_is_refused_with_its_place() {
    let cases = [
        ("\n", "", "the document: not the canonical"),
        ("\n", "\n\n", "the document: not the canonical"),
        (
            "\"authorized\":true",
            "\"authorized\": true",
            "the document: not the canonical",
        ),
        (
            "\"authorized\":true",
            "\"authorized\":false",
            "/authorized: must be true",
        ),
        (
            "\"authorized\":true",
            "\"authorized\":1",
            "/authorized: must be true",
        ),
        ("\"authorized\":true,", "", "/authorized: is missing"),
        (
            "abcdef\",",
            "ABCDEF\",",
            "/authorization_id: must be an authorization id",
        ),
        (
            "127.0.0.1:8000",
            "127.0.0.1:8001",
            "/colony_origin: differs from the worker's endpoint",
        ),
        (
            "127.0.0.1:8000",
            "example.org",
            "/colony_origin: must be a loopback origin",
        ),
        (
            "\"colony_research\",",
            "",
            "/enabled_tools: differs from the worker's tools",
        ),
        (
            "\"colony_research\",\"colony_task_complete\"",
            "\"colony_task_complete\",\"colony_research\"",
            "/enabled_tools: must be sorted",
        ),
        (
            "\"binding_identity\":null",
            "\"binding_identity\":\"x\"",
            "/binding_identity: differs from what",
        ),
        (
            "\"version\":1}",
            "\"version\":true}",
            "/version: must be the number 1",
        ),
        (
            "\"version\":1}",
            "\"version\":1,\"x\":1}",
            "/x: is not a field",
        ),
        (
            "1783999990.0",
            "1784000031.0",
            "/created_at: lies more than 30 seconds in the future",
        ),
        (
            "1783999990.0",
            "1784000060.0",
            "/expires_at: must be after created_at",
        ),
        (
            "1784000060.0",
            "1786591990.5",
            "/expires_at: is more than 2592000 seconds after created_at",
        ),
    ];
    for (from, to, message) in cases {
        let spoiled = written().replacen(from, to, 1);
        assert_ne!(spoiled, written());
        let refusal = Admission::parse(&worker(), spoiled.as_bytes(), now())
            .unwrap_err()
            .to_string();
        assert!(refusal.contains(message), "{refusal}");
    }
    let longest = written().replace("1784000060.0", "1786591990.0");
    assert!(Admission::parse(&worker(), longest.as_bytes(), now()).is_ok());
}

#[test]
fn a_probe_binds_the_admission() {
    let tools = [ToolName::parse("colony_research").unwrap()];
    let origin = LoopbackOrigin::parse("http://[::1]:1").unwrap();
    let probed =
        WorkerIdentity::new(origin.clone(), tools.clone(), Some("build-7".to_owned())).unwrap();
    let other = WorkerIdentity::new(origin.clone(), tools, Some("build-8".to_owned())).unwrap();
    let id = AuthorizationId::parse(&"0".repeat(32)).unwrap();
    let written = Admission::write(&probed, &id, now(), at(1.0)).unwrap();
    assert!(Admission::parse(&probed, &written, now()).is_ok());
    assert!(Admission::parse(&other, &written, now()).is_err());
    assert!(WorkerIdentity::new(origin, [], None).is_err());
}
