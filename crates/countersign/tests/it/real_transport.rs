//! Where a client reaches us: it starts us, or we listen for it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::program::data_directory;
use crate::real_server::RealServer;
use crate::workplace::Workplace;

/// How a client and we meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Lines,
    Http,
}

/// A wrapped server for clients to come to, as long as this is there.
pub(crate) struct Wrapped {
    /// What a client is given: our command, or our address.
    pub(crate) target: Vec<String>,
    _listening: Option<Listening>,
}

impl Wrapped {
    pub(crate) fn start(
        transport: Transport,
        place: &Workplace,
        server: &RealServer,
        wait: &str,
    ) -> Self {
        match transport {
            Transport::Lines => Self {
                target: server.wrapped(place, &["--approval-wait", wait]),
                _listening: None,
            },
            Transport::Http => {
                let listening = Listening::start(place, server, wait);
                Self {
                    target: vec![listening.url.clone()],
                    _listening: Some(listening),
                }
            }
        }
    }
}

/// A process that clients come to over HTTP.
struct Listening {
    child: Child,
    url: String,
}

impl Listening {
    #[expect(clippy::disallowed_methods, reason = "the program is what is tested")]
    fn start(place: &Workplace, server: &RealServer, wait: &str) -> Self {
        let options = ["--approval-wait", wait, "--listen", "127.0.0.1:0"];
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
