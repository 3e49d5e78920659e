//! Clients over HTTP: as many as come, each with a server of its own, those without a session sharing one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, anyhow};
use countersign_mcp::Opening;
use countersign_mcp::port::{Connect, FromClient, Refused, ToClient};
use countersign_mcp_http::listen::{self, Options, Stop};

use super::child::Wanted;
use super::host::Host;
use super::{LOOK, Signals};
use crate::cli::ListenArguments;
use crate::output::{Verdict, complain};

/// Serves clients until a signal says that it is enough.
pub(super) fn serve(
    host: Host,
    address: std::net::SocketAddr,
    arguments: &ListenArguments,
) -> anyhow::Result<Verdict> {
    let signals = Arc::new(Signals::catch()?);
    let mut options = Options::default()
        .with_hosts(arguments.allow_host.clone())
        .with_origins(arguments.allow_origin.clone());
    if arguments.allow_remote {
        options = options.beyond_loopback();
    }
    let listener =
        listen::bind(address, options).with_context(|| format!("cannot listen on {address}"))?;
    complain(&format!("listening on http://{}/mcp", listener.address()));
    let stop = Stop::new();
    {
        let (stop, signals) = (stop.clone(), Arc::clone(&signals));
        thread::spawn(move || {
            while signals.pass_on(None) == 0 {
                thread::park_timeout(LOOK);
            }
            stop.request();
        });
    }
    let open = Arc::new(AtomicUsize::new(0));
    let clients = Clients {
        host,
        open: Arc::clone(&open),
    };
    let ran = listener.run(Arc::new(clients), &stop);
    // Servers end after their clients, and what is under way comes to its answer first, unless somebody says it once more.
    while open.load(Ordering::Acquire) > 0 && signals.pass_on(None) < 2 {
        thread::park_timeout(LOOK);
    }
    ran.map(|()| Verdict::Passed(0))
        .map_err(|error| anyhow!(error))
}

struct Clients {
    host: Host,
    /// How many connections have not come to their end.
    open: Arc<AtomicUsize>,
}

impl Connect for Clients {
    fn connect(
        &self,
        opening: Opening,
        client: Arc<dyn ToClient>,
    ) -> Result<Arc<dyn FromClient>, Refused> {
        let is_shared = opening == Opening::EachRequest;
        let connection = self.host.connect(client, is_shared).map_err(|error| {
            complain(&format!("{error:#}"));
            Refused::Unavailable
        })?;
        let session = Arc::clone(&connection.session);
        let (of_thread, open) = (Arc::clone(&session), Arc::clone(&self.open));
        open.fetch_add(1, Ordering::AcqRel);
        thread::spawn(move || {
            let ended = connection.supervise(|_| {
                if of_thread.is_ending() {
                    Wanted::End
                } else {
                    Wanted::On
                }
            });
            if let Err(error) = ended {
                complain(&format!("{error:#}"));
            }
            open.fetch_sub(1, Ordering::AcqRel);
        });
        Ok(session)
    }
}
