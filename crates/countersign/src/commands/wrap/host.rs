//! What all connections share, and how a new one comes to its server.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use countersign_mcp::port::ToClient;
use countersign_mcp::{Launch, Patterns, ServerName};
use rustix::process::Pid;

use super::child::{self, ServerProcess, ToChild, Wanted};
use super::governor::{Governor, Rules};
use super::inventory::Inventory;
use super::pin_store::PinStore;
use super::session::Session;

/// Makes connections.
pub(super) struct Host {
    pub(super) rules: Arc<Rules>,
    pub(super) store: PinStore,
    pub(super) server: ServerName,
    pub(super) launch: Launch,
    pub(super) reads: Patterns,
    pub(super) policy: &'static str,
    pub(super) call_timeout: Duration,
    /// The server's program and its arguments.
    pub(super) command: Vec<String>,
}

/// A client's connection, with a server of its own.
pub(super) struct Connection {
    pub(super) session: Arc<Session>,
    process: ServerProcess,
    way: Arc<ToChild>,
    keeper: JoinHandle<()>,
}

impl Host {
    /// Starts a server for a client.
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
        let started = child::start(&self.command)?;
        let session = Session::new(
            client,
            inventory,
            governor,
            self.policy,
            self.call_timeout,
            is_shared,
        );
        let (process, way) = started.listen(session.clone());
        session.upstream.lead(way.clone());
        let keeper = {
            let session = Arc::clone(&session);
            thread::spawn(move || session.governor.look_after(&session))
        };
        Ok(Connection {
            session,
            process,
            way,
            keeper,
        })
    }
}

impl Connection {
    /// Waits until server and client are done with each other. `look` is asked again and again whether the client is still there.
    pub(super) fn supervise(
        self,
        mut look: impl FnMut(Pid) -> Wanted,
    ) -> anyhow::Result<std::process::ExitStatus> {
        let Self {
            session,
            process,
            way,
            keeper,
        } = self;
        let status = process.supervise(&way, |pid| match look(pid) {
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
        })?;
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
