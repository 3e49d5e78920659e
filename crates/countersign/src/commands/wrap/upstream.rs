//! The server behind: what is sent to it, and what we ask of it ourselves.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use countersign_mcp::bridge::{Bridge, Step};
use countersign_mcp::port::{NotSent, Ticket, ToServer, Unanswered};
use countersign_mcp::stateless::RequestMeta;
use countersign_mcp::{Kind, Message, RequestId, Salvaged, salvage, write};
use uuid::Uuid;

use super::caller::Caller;

/// How often whoever waits for an answer looks whether anybody listens to the server.
const LOOK: Duration = Duration::from_millis(100);
/// The longest that a client which does not read stops the clock of what the server was asked.
const MAX_HELD_UP: Duration = Duration::from_hours(1);

/// The way to the server, across the difference between its version and the client's where there is one.
pub(super) struct Upstream {
    /// Who hears what comes from the server.
    hears: Weak<dyn Hears>,
    way: OnceLock<Arc<dyn ToServer>>,
    /// Where two versions meet. It is locked while what it says goes out, so that this happens in order.
    bridge: Mutex<Option<Box<dyn Bridge>>>,
    asked: Mutex<BTreeMap<RequestId, Asking>>,
    /// What our own ids begin with, so that none is the client's.
    prefix: String,
    count: AtomicU64,
    /// How many of its messages are being taken at the moment. That takes no time, but where a client does not read.
    taking: AtomicUsize,
}

/// Somebody of our own who waits for an answer.
struct Asking {
    reply: SyncSender<Reply>,
    /// The client on whose behalf it is.
    caller: Option<Arc<Caller>>,
}

/// Whoever takes what comes from a server, in its client's version.
pub(super) trait Hears: Send + Sync {
    /// Takes a message. `about` is the request in whose course it came, where that is known.
    fn heard(&self, message: Message, about: Option<&RequestId>);
    /// A request has had no answer, and will have none.
    fn not_answered(&self, request: &RequestId, why: Unanswered);
    /// The server says that its tools are others now.
    fn list_changed(&self);
}

/// What a server says whose tools are others now.
pub(super) const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// What somebody of our own hears.
enum Reply {
    Message(Message),
    /// The server answered with something that is no message.
    Invalid,
    /// There is no answer, and will be none.
    Unanswered(Unanswered),
}

/// What came of a question of our own.
pub(super) enum Asked {
    /// The server answered, with a result or an error.
    Answered(Message),
    /// It is proven that the server has read nothing of it.
    NotSent(NotSent),
    /// It may have gone out, and no answer came that is one.
    Lost,
}

/// What a bridge says to the client's side.
enum Said {
    Message(String, Option<RequestId>),
    NotAnswered(RequestId, Unanswered),
}

/// Bytes of a server's that are no message.
pub(super) struct NoMessage {
    pub(super) salvaged: Option<Salvaged>,
    pub(super) text: String,
    pub(super) code: i32,
}

/// Something of the server's is being taken.
pub(super) struct Taking<'u>(&'u AtomicUsize);

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A question of our own.
pub(super) struct Question<'q> {
    pub(super) method: &'q str,
    /// A JSON object.
    pub(super) params: String,
    /// On whose behalf it is, where requests stand alone.
    pub(super) sender: Option<&'q RequestMeta>,
    /// The client on whose behalf it is: what comes in its course goes there.
    pub(super) caller: Option<&'q Arc<Caller>>,
    pub(super) timeout: Duration,
}

impl Upstream {
    pub(super) fn new(hears: Weak<dyn Hears>) -> Self {
        Self {
            hears,
            bridge: Mutex::new(None),
            way: OnceLock::new(),
            asked: Mutex::default(),
            prefix: format!("countersign-{}-", Uuid::new_v4().simple()),
            count: AtomicU64::new(0),
            taking: AtomicUsize::new(0),
        }
    }

    /// Says which way leads to the server.
    pub(super) fn lead(&self, way: Arc<dyn ToServer>) {
        // There is one.
        let _ = self.way.set(way);
    }

    /// Puts a bridge between the client and the server.
    pub(super) fn cross(&self, bridge: Box<dyn Bridge>) {
        *self.bridge() = Some(bridge);
    }

    /// Whether a bridge is there already.
    pub(super) fn is_crossed(&self) -> bool {
        self.bridge().is_some()
    }

    /// Passes a client's message on. False where the server takes no more.
    pub(super) fn pass(&self, message: &Message) -> bool {
        let mut bridge = self.bridge();
        let Some(crossing) = bridge.as_mut() else {
            drop(bridge);
            return self.send(message.text().to_owned(), None).is_ok();
        };
        let steps = crossing.client_sent(message);
        let said = self.go(crossing.as_mut(), steps, None);
        drop(bridge);
        self.tell_all(said);
        true
    }

    /// Answers the server itself, which sent what cannot be passed on.
    pub(super) fn refuse(&self, answer: String) {
        // Whoever takes no more messages is not waiting for this one.
        let _ = self.send(answer, None);
    }

    /// Something of the server's is being taken, until this is dropped.
    pub(super) fn taking(&self) -> Taking<'_> {
        self.taking.fetch_add(1, Ordering::AcqRel);
        Taking(&self.taking)
    }

    /// Takes bytes from the server, in its own version.
    pub(super) fn heard(&self, bytes: &[u8], about: Option<&RequestId>) -> Result<(), NoMessage> {
        let message = match Message::read(bytes) {
            Ok(message) => message,
            Err(error) => {
                let salvaged = salvage(bytes);
                let mut bridge = self.bridge();
                if let (Some(crossing), Some(salvaged)) = (bridge.as_mut(), &salvaged)
                    && !salvaged.is_request
                {
                    let steps = crossing.unanswered(&salvaged.id);
                    let said = self.go(crossing.as_mut(), steps, None);
                    drop(bridge);
                    self.tell_all(said);
                    return Ok(());
                }
                return Err(NoMessage {
                    salvaged,
                    text: error.to_string(),
                    code: error.code(),
                });
            }
        };
        let mut bridge = self.bridge();
        let Some(crossing) = bridge.as_mut() else {
            drop(bridge);
            if let Some(hears) = self.hears.upgrade() {
                hears.heard(message, about);
            }
            return Ok(());
        };
        // A bridge passes it on to whoever has subscribed to it only.
        let is_list_changed =
            matches!(message.kind(), Kind::Notification { method } if method == LIST_CHANGED);
        if let (true, Some(hears)) = (is_list_changed, self.hears.upgrade()) {
            hears.list_changed();
        }
        let steps = crossing.server_sent(&message, about);
        let said = self.go(crossing.as_mut(), steps, None);
        drop(bridge);
        self.tell_all(said);
        Ok(())
    }

    /// A request, by its id at the server, has had no answer and will have none.
    pub(super) fn not_answered(&self, request: &RequestId, why: Unanswered) {
        let mut bridge = self.bridge();
        let said = match bridge.as_mut() {
            None => vec![Said::NotAnswered(request.clone(), why)],
            Some(crossing) => {
                let steps = crossing.unanswered(request);
                let mut said = self.go(crossing.as_mut(), steps, None);
                for said in &mut said {
                    if let Said::NotAnswered(_, told) = said {
                        *told = why;
                    }
                }
                said
            }
        };
        drop(bridge);
        self.tell_all(said);
    }

    /// Lets a bridge give up what has been left lying.
    pub(super) fn expire(&self) {
        let mut bridge = self.bridge();
        if let Some(crossing) = bridge.as_mut() {
            let steps = crossing.expire();
            let said = self.go(crossing.as_mut(), steps, None);
            drop(bridge);
            self.tell_all(said);
        }
    }

    /// Asks the server, and waits for its answer.
    pub(super) fn ask(&self, question: Question<'_>) -> Asked {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let id = RequestId::Text(format!("{}{number}", self.prefix).into());
        let mut params = question.params;
        let wants_progress = question
            .caller
            .is_some_and(|caller| caller.waiting().progress_token.is_some());
        if wants_progress {
            params = write::with_meta(&params, "progressToken", &id.to_json());
        }
        let (reply, replies) = sync_channel(1);
        let caller = question.caller.map(Arc::clone);
        self.asked().insert(id.clone(), Asking { reply, caller });
        let ticket = Ticket::default();
        let asked = match self.put(&id, question.method, &params, question.sender, &ticket) {
            Err(cause) => Asked::NotSent(cause),
            Ok(()) => match self.reply(&replies, question.timeout) {
                Ok(Reply::Message(message)) => Asked::Answered(message),
                Ok(Reply::Unanswered(Unanswered::NotSent(cause))) => Asked::NotSent(cause),
                Err(cause) if ticket.give_up() => Asked::NotSent(match cause {
                    RecvTimeoutError::Timeout => NotSent::GivenUp,
                    RecvTimeoutError::Disconnected => NotSent::Unreachable,
                }),
                Ok(Reply::Invalid | Reply::Unanswered(Unanswered::Lost))
                | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Asked::Lost,
            },
        };
        self.asked().remove(&id);
        asked
    }

    /// Waits for an answer. The clock stops while nobody listens to the server, since a client does not read what it said before.
    fn reply(
        &self,
        replies: &Receiver<Reply>,
        timeout: Duration,
    ) -> Result<Reply, RecvTimeoutError> {
        let (mut left, mut held_up) = (timeout, MAX_HELD_UP);
        loop {
            let pause = left.min(LOOK);
            match replies.recv_timeout(pause) {
                Err(RecvTimeoutError::Timeout)
                    if !held_up.is_zero() && self.taking.load(Ordering::Acquire) > 0 =>
                {
                    held_up = held_up.saturating_sub(pause);
                }
                Err(RecvTimeoutError::Timeout) if left > pause => left -= pause,
                reply => return reply,
            }
        }
    }

    /// Gives an answer to whoever of us asked for it, and back where nobody did.
    pub(super) fn answered(&self, id: &RequestId, message: Message) -> Option<Message> {
        match self.asked().remove(id) {
            Some(asking) => {
                let _ = asking.reply.try_send(Reply::Message(message));
                None
            }
            None => Some(message),
        }
    }

    /// Says that what the server answered is no message. False where nobody of us had asked.
    pub(super) fn answered_invalid(&self, id: &RequestId) -> bool {
        self.tell(id, Reply::Invalid)
    }

    /// Says that there will be no answer. False where nobody of us had asked.
    pub(super) fn unanswered(&self, id: &RequestId, why: Unanswered) -> bool {
        self.tell(id, Reply::Unanswered(why))
    }

    /// Sends a question of our own.
    fn put(
        &self,
        id: &RequestId,
        method: &str,
        params: &str,
        sender: Option<&RequestMeta>,
        ticket: &Ticket,
    ) -> Result<(), NotSent> {
        let mut bridge = self.bridge();
        let Some(crossing) = bridge.as_mut() else {
            drop(bridge);
            let own = sender.map(|sender| sender.written_into(params));
            let params = own.as_deref().unwrap_or(params);
            return self.send(write::request(id, method, params), Some(ticket.clone()));
        };
        let text = write::request(id, method, params);
        let message = Message::read(text.as_bytes()).map_err(|_| NotSent::Unreachable)?;
        let steps = crossing.host_sent(&message, sender);
        let said = self.go(crossing.as_mut(), steps, Some((id, ticket)));
        drop(bridge);
        self.tell_all(said);
        Ok(())
    }

    /// Does what a bridge says, as far as it concerns the server.
    fn go(
        &self,
        crossing: &mut dyn Bridge,
        steps: Vec<Step>,
        own: Option<(&RequestId, &Ticket)>,
    ) -> Vec<Said> {
        let mut said = Vec::new();
        for step in steps {
            match step {
                Step::ToServer { text, carries } => {
                    let ticket = own.filter(|(id, _)| carries.as_ref() == Some(*id));
                    let ticket = ticket.map(|(_, ticket)| ticket.clone());
                    let Err(cause) = self.send(text.clone(), ticket) else {
                        continue;
                    };
                    // Nothing of it goes to the server, which takes nothing.
                    said.extend(crossing.not_sent(&text).into_iter().filter_map(
                        |step| match step {
                            Step::ToServer { .. } => None,
                            Step::ToClient { text, about } => Some(Said::Message(text, about)),
                            Step::Unanswered(id) => {
                                Some(Said::NotAnswered(id, Unanswered::NotSent(cause)))
                            }
                        },
                    ));
                }
                Step::ToClient { text, about } => said.push(Said::Message(text, about)),
                Step::Unanswered(id) => said.push(Said::NotAnswered(id, Unanswered::Lost)),
            }
        }
        said
    }

    /// Tells what a bridge says to the client's side.
    fn tell_all(&self, said: Vec<Said>) {
        let Some(hears) = self.hears.upgrade() else {
            return;
        };
        for said in said {
            match said {
                Said::Message(text, about) => {
                    if let Ok(message) = Message::read(text.as_bytes()) {
                        hears.heard(message, about.as_ref());
                    }
                }
                Said::NotAnswered(id, why) => hears.not_answered(&id, why),
            }
        }
    }

    /// Whether an id is one of our own.
    pub(super) fn is_own(&self, id: &RequestId) -> bool {
        matches!(id, RequestId::Text(text) if text.starts_with(&self.prefix))
    }

    /// On whose behalf a request of our own is.
    pub(super) fn caller(&self, id: &RequestId) -> Option<Arc<Caller>> {
        self.asked().get(id)?.caller.clone()
    }

    /// Nothing comes from the server any more: whoever waits hears so.
    pub(super) fn is_gone(&self) {
        self.close();
        let mut bridge = self.bridge();
        if let Some(crossing) = bridge.as_mut() {
            let steps = crossing.gone();
            let said = self.go(crossing.as_mut(), steps, None);
            drop(bridge);
            self.tell_all(said);
        } else {
            drop(bridge);
        }
        self.asked().clear();
    }

    /// Sends nothing any more; the server sees the end of its input.
    pub(super) fn close(&self) {
        if let Some(way) = self.way.get() {
            way.close();
        }
    }

    fn send(&self, text: String, ticket: Option<Ticket>) -> Result<(), NotSent> {
        let way = self.way.get().ok_or(NotSent::Unreachable)?;
        way.send(text, ticket)
    }

    fn tell(&self, id: &RequestId, reply: Reply) -> bool {
        let asking = self.asked().remove(id);
        asking.is_some_and(|asking| asking.reply.try_send(reply).is_ok())
    }

    fn bridge(&self) -> MutexGuard<'_, Option<Box<dyn Bridge>>> {
        self.bridge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asked(&self) -> MutexGuard<'_, BTreeMap<RequestId, Asking>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
