//! What all connections share, and how a new one comes to its server.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::anyhow;
use countersign_mcp::port::{ToClient, ToServer};
use countersign_mcp::{Launch, Patterns, ServerName};
use countersign_mcp_http::remote;
use rustix::process::Pid;

use super::child::{self, ServerProcess, Wanted};
use super::governor::{Governor, Rules};
use super::inventory::Inventory;
use super::pin_store::PinStore;
use super::session::Session;
use crate::input::describe;
use crate::output::complain;

/// Makes connections.
pub(super) struct Host {
    pub(super) rules: Arc<Rules>,
    pub(super) store: PinStore,
    pub(super) server: ServerName,
    pub(super) launch: Launch,
    pub(super) reads: Patterns,
    pub(super) policy: &'static str,
    pub(super) call_timeout: Duration,
    pub(super) source: Source,
}

/// Where the server is.
pub(super) enum Source {
    /// A program and its arguments: every connection has a process of its own.
    Program(Vec<String>),
    /// At an address.
    Remote(remote::Server),
}

/// A client's connection, with a server of its own.
pub(super) struct Connection {
    pub(super) session: Arc<Session>,
    behind: Behind,
    way: Arc<dyn ToServer>,
    keeper: JoinHandle<()>,
}

enum Behind {
    Process(ServerProcess),
    Address,
}

impl Host {
    /// Comes to a server for a client, or for all clients whose requests stand alone.
    pub(super) fn connect(
        &self,
        client: Arc<dyn ToClient>,
        is_shared: bool,
    ) -> anyhow::Result<Connection> {
        let inventory = Inventory::open(
            self.store.clone(),
            self.server.clone(),
            self.launch.clone(),
            self.reads.clone(),
        )?;
        let governor = Governor::new(Arc::clone(&self.rules), !is_shared)?;
        let session = Session::new(
            client,
            inventory,
            governor,
            self.policy,
            self.call_timeout,
            is_shared,
        );
        let (behind, way): (_, Arc<dyn ToServer>) = match &self.source {
            Source::Program(command) => {
                let (process, way) = child::start(command)?.listen(session.clone());
                (Behind::Process(process), way)
            }
            Source::Remote(server) => {
                let problems = Arc::new(|problem: remote::Problem| complain(&problem.to_string()));
                let opened = server.open(session.clone(), problems);
                let remote = opened
                    .map_err(|error| anyhow!("cannot call the server: {}", describe(&error)))?;
                (Behind::Address, Arc::new(remote))
            }
        };
        session.upstream.lead(Arc::clone(&way));
        let keeper = {
            let session = Arc::clone(&session);
            thread::spawn(move || session.governor.look_after(&session))
        };
        Ok(Connection {
            session,
            behind,
            way,
            keeper,
        })
    }
}

impl Connection {
    /// Waits until server and client are done with each other, and gives the server's exit code where it is a process. `look` is
    /// asked again and again whether the client is still there.
    pub(super) fn supervise(
        self,
        mut look: impl FnMut(Option<Pid>) -> Wanted,
    ) -> anyhow::Result<Option<std::process::ExitStatus>> {
        let Self {
            session,
            behind,
            way,
            keeper,
        } = self;
        let mut wanted = |pid| match look(pid) {
            Wanted::On => Wanted::On,
            Wanted::End => {
                session.end();
                // What is under way comes to its answer first.
                if session.governor.is_under_way() {
                    Wanted::On
                } else {
                    Wanted::End
                }
            }
        };
        let status = match behind {
            Behind::Process(process) => Some(process.supervise(&*way, wanted)?),
            Behind::Address => {
                while session.is_server_there() && wanted(None) == Wanted::On {
                    thread::park_timeout(super::LOOK);
                }
                way.close();
                super::wait_for(|| !session.is_server_there());
                None
            }
        };
        settle(&session);
        session.end();
        let _ = keeper.join();
        Ok(status)
    }
}

/// Lets calls that are being answered come to their answer.
fn settle(session: &Session) {
    super::wait_for(|| !session.governor.is_under_way());
    session.end();
    super::wait_for(|| !session.is_busy());
}
