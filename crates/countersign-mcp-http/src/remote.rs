//! The side that speaks to a server: every message is a request over HTTP of its own.
//!
//! A [`Target`] says where a server is, a [`Server`] can be called, and a [`Remote`] is one connection to it in the sense of the
//! protocol: a session, or all the requests that stand alone.
//!
//! Invariants:
//! - A request with a ticket is handed to HTTP once, right after its ticket was taken, and over a connection of its own.
//! - *Not sent* is said where no connection came about, or the ticket was given up; whatever else ends without an answer is *lost*.
//! - A broken stream is taken up where it broke, and never begun again. The one request that is sent twice has no ticket, and the
//!   server has said that it does not know its session.
//! - No redirect is followed, nothing is unpacked, no cookie is kept. To this machine there is no proxy; elsewhere those of the
//!   environment (`HTTPS_PROXY`, `NO_PROXY`) stand between, as they do for other programs.
//!
//! Module map: `target`, `reach`, `runtime` (whom to call and on what); `headers` (what a message says twice);
//! `session`, `settings`, `renewal` (what was agreed, and is again); `link`, `in_flight`, `pump` (what goes out when); `exchange`, `body`, `stream`, `general`
//! (what comes back); `delivery`, `problem` (who hears of it).

mod body;
mod delivery;
mod exchange;
mod general;
mod headers;
mod in_flight;
mod link;
mod problem;
mod pump;
mod reach;
mod renewal;
mod runtime;
mod session;
mod settings;
mod stream;
mod target;

use std::fmt;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_mcp::port::{FromServer, NotSent, Ticket, ToServer};
use countersign_mcp::{Kind, Message, RequestId};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{Semaphore, watch};

use crate::parameters::Parameters;

pub use problem::Problem;
pub use reach::NoClient;
pub use runtime::Runtime;
pub use target::{MAX_HEADER_VALUE_BYTES, MAX_HEADERS, PlainHttp, Target, TargetError};

use delivery::Delivery;
use exchange::Asked;
use in_flight::{InFlight, Sort};
use link::{Link, Told};
use problem::Problems;
use pump::{Item, Queued};
use reach::Reach;
use session::Session;

/// The most requests of one connection that wait for their answers.
pub const MAX_REQUESTS: usize = 128;
/// The most other messages of one connection that wait to be sent.
pub const MAX_QUEUED: usize = 256;
/// How long the answer to a cancelled request may still come in a session.
const CANCELLED_GRACE: Duration = Duration::from_mins(1);

/// A server that can be called. Clones are the same.
#[derive(Clone, Debug)]
pub struct Server {
    runtime: Runtime,
    reach: Arc<Reach>,
}

impl Server {
    /// Makes what it takes to call a server, and does not call it yet.
    pub fn new(runtime: &Runtime, target: Target) -> Result<Self, NoClient> {
        Ok(Self {
            runtime: runtime.clone(),
            reach: Arc::new(Reach::new(target)?),
        })
    }

    /// Opens a connection: one for each session, or one for all requests that stand alone. Nothing is sent before there is a
    /// message.
    ///
    /// `from_server` is called on a thread of this connection, and `problems` on any. An error says that there are no more threads.
    pub fn open(
        &self,
        from_server: Arc<dyn FromServer>,
        problems: Arc<dyn Fn(Problem) + Send + Sync>,
    ) -> io::Result<Remote> {
        let link = Arc::new(Link {
            reach: Arc::clone(&self.reach),
            session: Session::default(),
            parameters: Parameters::default(),
            delivery: Delivery::start(from_server)?,
            problems: Problems::new(problems),
            in_flight: InFlight::default(),
            opened: watch::Sender::new(0),
        });
        let (queue, queued) = unbounded_channel();
        self.runtime
            .handle()
            .spawn(pump::run(Arc::clone(&link), queued));
        Ok(Remote {
            _runtime: self.runtime.clone(),
            link,
            queue: Mutex::new(Some(queue)),
            requests: Arc::new(Semaphore::new(MAX_REQUESTS)),
            others: Arc::new(Semaphore::new(MAX_QUEUED)),
        })
    }
}

/// One connection to a server.
///
/// Requests go out side by side, behind `initialize` and `notifications/initialized`. `notifications/cancelled` for a request that
/// stands alone ends its stream instead of going out (2026-07-28, Streamable HTTP, "Cancellation"); in a session the answer may
/// still come for a minute. A request without any byte of an answer for an hour is lost.
///
/// [`close`](ToServer::close) waits up to five seconds for answers, ends the session, and says [`gone`](FromServer::gone); it returns
/// at once. So does dropping it.
pub struct Remote {
    _runtime: Runtime,
    link: Arc<Link>,
    queue: Mutex<Option<UnboundedSender<Queued>>>,
    requests: Arc<Semaphore>,
    others: Arc<Semaphore>,
}

impl ToServer for Remote {
    fn send(&self, text: String, ticket: Option<Ticket>) -> Result<(), NotSent> {
        // Our own messages can be read; one that cannot has no way out.
        let message = Message::read(text.as_bytes()).map_err(|_| NotSent::Unreachable)?;
        let own_headers = headers::of_its_own(&message).map_err(|_| NotSent::Unreachable)?;
        let own_headers = own_headers.map(|mut headers| {
            headers::add_arguments(self.link.parameters.of(&message), &mut headers);
            headers
        });
        let told = |own_headers| Told {
            text: text.clone(),
            own_headers,
            ticket: ticket.clone(),
        };
        match message.kind() {
            Kind::Request { id, method } => {
                let asked = Asked {
                    id: id.clone(),
                    sort: match (&own_headers, method.as_str()) {
                        (Some(_), "subscriptions/listen") => Sort::Listening,
                        (Some(_), _) => Sort::Alone,
                        (None, "initialize") => Sort::Opening,
                        (None, _) => Sort::InSession,
                    },
                    lists_tools: own_headers.is_some() && method == "tools/list",
                    text,
                    own_headers,
                    ticket,
                    is_ours: false,
                    is_answered: AtomicBool::new(false),
                };
                self.ask(asked, &message)
            }
            Kind::Notification { method } if method == "notifications/cancelled" => {
                if self.cancels_without_words(&message, own_headers.is_some()) {
                    return Ok(());
                }
                self.queue_up(&self.others, Item::Told(told(own_headers)))
            }
            Kind::Notification { method }
                if method == "notifications/initialized" && own_headers.is_none() =>
            {
                self.link.session.is_initialized(&text);
                self.queue_up(&self.others, Item::Initialized(told(None)))
            }
            Kind::Notification { .. } | Kind::Response { .. } | Kind::Error { .. } => {
                self.queue_up(&self.others, Item::Told(told(own_headers)))
            }
        }
    }

    fn close(&self) {
        self.lock().take();
        // Nobody needs a session any more that is not open yet; and listening has no end of its own.
        self.link.in_flight.cancel_idle();
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.close();
    }
}

impl Remote {
    fn ask(&self, asked: Asked, message: &Message) -> Result<(), NotSent> {
        let queue = self.lock();
        let queue = queue.as_ref().ok_or(NotSent::Unreachable)?;
        let permit = Arc::clone(&self.requests)
            .try_acquire_owned()
            .map_err(|_| NotSent::Busy)?;
        match asked.sort {
            Sort::Opening => self.link.session.begin(message),
            Sort::InSession => self.link.session.is_asked(message),
            Sort::Listening | Sort::Alone => {}
        }
        let in_flight = &self.link.in_flight;
        let place = in_flight.enter(&asked.id, asked.sort);
        let item = Item::Asked(asked, place);
        queue
            .send(Queued { item, permit })
            .map_err(|_| NotSent::Unreachable)
    }

    fn queue_up(&self, places: &Arc<Semaphore>, item: Item) -> Result<(), NotSent> {
        let queue = self.lock();
        let queue = queue.as_ref().ok_or(NotSent::Unreachable)?;
        let permit = Arc::clone(places)
            .try_acquire_owned()
            .map_err(|_| NotSent::Busy)?;
        queue
            .send(Queued { item, permit })
            .map_err(|_| NotSent::Unreachable)
    }

    /// Gives a request up. True where the server is told by the end of its stream, and there is nothing to be sent.
    fn cancels_without_words(&self, message: &Message, stands_alone: bool) -> bool {
        let params = message.params();
        let id = params.and_then(|params| params.value().get("requestId"));
        let id = id.and_then(RequestId::from_value);
        let cancelled = id.and_then(|id| self.link.in_flight.cancel(&id, CANCELLED_GRACE));
        match cancelled {
            Some(sort) => sort.stands_alone(),
            None => stands_alone || !self.link.session.is_open(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<UnboundedSender<Queued>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Remote").finish_non_exhaustive()
    }
}
