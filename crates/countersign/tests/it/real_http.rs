//! Official clients over HTTP, and clients of 2026-07-28, with a server that people use behind us.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::mcp_client::decide;
use crate::program::data_directory;
use crate::real_client::RealClient;
use crate::real_server::{self, RealServer};
use crate::workplace::Workplace;

/// A wrap that clients come to over HTTP.
struct Listening {
    child: Child,
    url: String,
}

impl Listening {
    #[expect(clippy::disallowed_methods, reason = "the program is what is tested")]
    fn start(place: &Workplace, server: &RealServer) -> Self {
        let options = ["--approval-wait", "0", "--listen", "127.0.0.1:0"];
        let command = server.wrapped(place, &options);
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .env("XDG_DATA_HOME", data_directory())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("listening on ")?.1.to_owned()))
            .unwrap();
        // What it says later fills no pipe.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Self { child, url }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn sessions_over_http() {
    over_http(RealClient::Node1, real_server::filesystem);
}

#[test]
fn requests_that_stand_alone_over_http() {
    over_http(RealClient::Node2Alone, real_server::filesystem);
}

#[test]
fn requests_that_stand_alone_over_lines() {
    let place = Workplace::new();
    let server = real_server::filesystem(&place);
    let target = server.wrapped(&place, &["--approval-wait", "0"]);
    reads_pass_and_a_write_is_done_once(RealClient::Node2Alone, &place, &server, &target);
}

fn over_http(client: RealClient, server: fn(&Workplace) -> RealServer) {
    let place = Workplace::new();
    let server = server(&place);
    let listening = Listening::start(&place, &server);
    let target = [listening.url.clone()];
    reads_pass_and_a_write_is_done_once(client, &place, &server, &target);
}

fn reads_pass_and_a_write_is_done_once(
    client: RealClient,
    place: &Workplace,
    server: &RealServer,
    target: &[String],
) {
    for read in &server.reads {
        let step = std::slice::from_ref(read);
        let direct = RealClient::Node1.result(place, step, &server.command);
        let through = client.result(place, step, target);
        for member in ["content", "structuredContent"] {
            assert_eq!(through[member], direct[member], "{client:?} {read:?}");
        }
        assert_eq!(tools(&through), tools(&direct), "{client:?}");
    }
    let write = server.write.as_ref().unwrap();
    let call = || client.result(place, std::slice::from_ref(&write.call), target);
    let outcome = |result: &Value| result["_meta"]["countersign/outcome"].clone();
    let waiting = outcome(&call());
    assert_eq!(waiting["code"], "APPROVAL_REQUIRED", "{waiting}");
    assert_eq!((write.count)(place), 0);
    decide(place, "approve", waiting["status_ref"].as_str().unwrap());
    let done = outcome(&call());
    assert_eq!(done["status"], "succeeded", "{done}");
    assert_eq!(done["status_ref"], waiting["status_ref"]);
    assert_eq!((write.count)(place), 1);
    (write.undo)(place);
    // Another connection says nothing about whether the first one heard it: no second effect.
    let again = outcome(&call());
    assert_eq!(again["delivery"], "local_replay", "{again}");
    assert_eq!((write.count)(place), 0);
}

/// The tools of a list, without what clients of 2026-07-28 do not show.
fn tools(result: &Value) -> Option<Vec<Value>> {
    let mut tools = result["tools"].as_array()?.clone();
    for tool in &mut tools {
        tool.as_object_mut().unwrap().remove("execution");
    }
    Some(tools)
}
