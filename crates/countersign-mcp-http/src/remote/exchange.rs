//! One request and its answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_mcp::port::{NotSent, Ticket, Unanswered};
use countersign_mcp::{Kind, Message, RequestId, salvage, write};
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};
use tokio::time::{Instant, timeout_at};

use super::body::{self, Content, content};
use super::in_flight::Sort;
use super::link::{Link, problem};
use super::problem::Problem;
use super::renewal::renew;
use super::session::{Agreement, Generation};
use super::stream::{MAX_SILENCE, Stream};

/// How often in a row a broken stream is taken up without anything coming of it.
const MAX_FRUITLESS: u32 = 5;
/// How long a stream is taken up again and again, from its first break on.
const MAX_RESUMING: Duration = MAX_SILENCE;
/// How long the end of a stream is waited for behind the answer, so that its connection can be used again.
const LINGER: Duration = Duration::from_millis(250);
/// JSON-RPC's code for what is wrong on our side of the server.
const INTERNAL_ERROR: i32 = -32603;

/// A request that is to be sent.
pub(super) struct Asked {
    pub(super) id: RequestId,
    pub(super) text: String,
    /// The headers of one that stands alone.
    pub(super) own_headers: Option<HeaderMap>,
    pub(super) ticket: Option<Ticket>,
    /// What it is to the protocol.
    pub(super) sort: Sort,
    /// Its answer says which arguments of calls go into headers.
    pub(super) lists_tools: bool,
    /// It is ours: nobody else hears of it.
    pub(super) is_ours: bool,
    /// Its answer has been handed over.
    pub(super) is_answered: AtomicBool,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Answered,
    /// The server does not know the session (2025-11-25, Session Management: it "MUST respond to requests containing that
    /// session ID with HTTP 404 Not Found").
    SessionGone,
    Unanswered(Unanswered),
}

const LOST: Outcome = Outcome::Unanswered(Unanswered::Lost);

/// Sends a request, and follows it to its end. Who asked hears of it in any case.
///
/// A request is sent a second time in one case only: it has no ticket, so that it may be asked twice, and the server has said that
/// it does not know the session that it came in.
pub(super) async fn ask(link: &Link, asked: &Asked) {
    let outcome = attempt(link, asked).await;
    if let Outcome::Unanswered(why) = outcome {
        link.delivery.unanswered(&asked.id, why).await;
    }
}

async fn attempt(link: &Link, asked: &Asked) -> Outcome {
    let is_in_session = asked.sort == Sort::InSession;
    let generation = link.session.generation();
    if is_in_session && link.session.is_expired() && !renew(link, generation).await {
        return Outcome::Unanswered(Unanswered::NotSent(NotSent::Unreachable));
    }
    let generation = link.session.generation();
    match Exchange::new(link, asked).once().await {
        Outcome::SessionGone => {
            link.session.expire(generation);
            if asked.ticket.is_some() || !renew(link, generation).await {
                return LOST;
            }
            match Exchange::new(link, asked).once().await {
                Outcome::SessionGone => LOST,
                outcome @ (Outcome::Answered | Outcome::Unanswered(_)) => outcome,
            }
        }
        outcome @ (Outcome::Answered | Outcome::Unanswered(_)) => outcome,
    }
}

/// One sending of a request.
pub(super) struct Exchange<'l> {
    link: &'l Link,
    asked: &'l Asked,
    generation: Generation,
    /// The headers of the answer to `initialize`, which name the session.
    opening_headers: Option<HeaderMap>,
    /// What came of it.
    pub(super) agreement: Option<Agreement>,
}

impl<'l> Exchange<'l> {
    pub(super) fn new(link: &'l Link, asked: &'l Asked) -> Self {
        Self {
            link,
            asked,
            generation: link.session.generation(),
            opening_headers: None,
            agreement: None,
        }
    }

    pub(super) async fn once(&mut self) -> Outcome {
        let (link, asked) = (self.link, self.asked);
        let headers = match &asked.own_headers {
            Some(headers) => headers.clone(),
            None if asked.sort == Sort::Opening => HeaderMap::new(),
            None => link.session.headers(),
        };
        let has_session = asked.sort == Sort::InSession && link.session.has_id();
        let request = link.post(headers, asked.text.clone());
        let client = match &asked.ticket {
            Some(ticket) if !ticket.take() => {
                return Outcome::Unanswered(Unanswered::NotSent(NotSent::GivenUp));
            }
            Some(_) => link.reach.fresh(),
            None => link.reach.pooled(),
        };
        let response = match link.call(client, request).await {
            Ok(response) => response,
            Err(why) => return Outcome::Unanswered(why),
        };
        if asked.sort == Sort::Opening {
            self.opening_headers = Some(response.headers().clone());
        }
        let status = response.status();
        if status == StatusCode::NOT_FOUND && has_session {
            return Outcome::SessionGone;
        }
        if !status.is_success() {
            return self.refused(response, has_session).await;
        }
        match content(&response) {
            Content::Json => self.whole(response).await,
            Content::Events => self.follow(response).await,
            Content::Other => {
                link.problems.tell(match status {
                    StatusCode::OK => Problem::NotMcp,
                    _ => problem(status),
                });
                LOST
            }
        }
    }

    /// The answer is one body.
    async fn whole(&mut self, response: Response) -> Outcome {
        match body::read(response).await {
            Some(bytes) if self.whose(&bytes) == Whose::Answer => {
                self.link.problems.settle();
                self.answered(bytes).await;
                Outcome::Answered
            }
            Some(_) | None => LOST,
        }
    }

    /// The answer is a stream, which may break and be taken up again.
    async fn follow(&mut self, mut response: Response) -> Outcome {
        let mut stream = Stream::default();
        let mut deadline = None;
        loop {
            while let Some(bytes) = stream.next(&mut response).await {
                match self.whose(&bytes) {
                    Whose::Answer => {
                        self.link.problems.settle();
                        self.answered(bytes).await;
                        self.linger(stream, response).await;
                        return Outcome::Answered;
                    }
                    Whose::Servers => self.arrived(bytes).await,
                    Whose::Foreign => {}
                }
            }
            drop(response);
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + MAX_RESUMING);
            let resumed = timeout_at(deadline, self.resume(&mut stream)).await;
            response = match resumed {
                Ok(Some(response)) => response,
                Ok(None) | Err(_) => return LOST,
            };
        }
    }

    /// Takes a stream up where it broke. That is no second request: the server goes on with what it has.
    async fn resume(&self, stream: &mut Stream) -> Option<Response> {
        let link = self.link;
        if self.asked.sort != Sort::InSession {
            return None;
        }
        while stream.fruitless() < MAX_FRUITLESS {
            let position = stream.position()?.clone();
            stream.wait().await;
            if link.session.generation() != self.generation || link.session.is_expired() {
                return None;
            }
            let request = link.get(Some(&position));
            let Ok(response) = link.call(link.reach.pooled(), request).await else {
                continue;
            };
            match response.status() {
                status if status.is_success() => {
                    return (content(&response) == Content::Events).then_some(response);
                }
                status if status.is_server_error() => {}
                _ => {
                    if link.session.has_id() && body::ends_session(response).await {
                        link.session.expire(self.generation);
                    }
                    return None;
                }
            }
        }
        None
    }

    /// Reads to the end of a stream that has given its answer.
    async fn linger(&mut self, mut stream: Stream, mut response: Response) {
        if self.asked.sort == Sort::Opening || self.asked.ticket.is_some() {
            return;
        }
        let until = Instant::now() + LINGER;
        while let Ok(Some(bytes)) = timeout_at(until, stream.next(&mut response)).await {
            if self.whose(&bytes) == Whose::Servers {
                self.arrived(bytes).await;
            }
        }
    }

    /// The status is no success. An error that names this request is its answer all the same.
    async fn refused(&mut self, response: Response, has_session: bool) -> Outcome {
        let status = response.status();
        let problem = problem(status);
        if matches!(problem, Problem::Refused(_)) {
            self.link.problems.tell(problem);
            if self.asked.ticket.is_some() || self.asked.is_ours {
                return LOST;
            }
            let id = Some(&self.asked.id);
            let text = write::error(id, INTERNAL_ERROR, &problem.to_string());
            self.answered(text.into_bytes()).await;
            return Outcome::Answered;
        }
        let is_json = content(&response) == Content::Json;
        let bytes = body::read(response).await.unwrap_or_default();
        let message = is_json.then(|| Message::read(&bytes).ok()).flatten();
        match message.as_ref().map(|message| (message, message.kind())) {
            Some((message, Kind::Error { id: Some(id) })) if *id == self.asked.id => {
                self.answered(message.text().as_bytes().to_vec()).await;
                Outcome::Answered
            }
            _ if has_session
                && status == StatusCode::BAD_REQUEST
                && body::names_session(&bytes) =>
            {
                Outcome::SessionGone
            }
            // A server that could not read the id says so of this request: it is the only one that it can mean.
            Some((message, Kind::Error { id: None })) if self.asked.ticket.is_none() => {
                let error = message.error().map(|error| error.text());
                let text = write::error_as_given(&self.asked.id, error.unwrap_or("{}"));
                self.answered(text.into_bytes()).await;
                Outcome::Answered
            }
            Some(_) | None => {
                self.link.problems.tell(problem);
                LOST
            }
        }
    }

    /// Whose message it seems to be, whatever is wrong with it.
    fn whose(&self, bytes: &[u8]) -> Whose {
        match salvage(bytes) {
            Some(found) if found.is_request => Whose::Servers,
            Some(found) if found.id == self.asked.id => Whose::Answer,
            Some(_) => Whose::Foreign,
            None => Whose::Servers,
        }
    }

    /// Hands over the answer, after what it says has been noted: whoever hears of it may go on at once.
    async fn answered(&mut self, bytes: Vec<u8>) {
        if let Some(headers) = &self.opening_headers {
            self.agreement = Some(self.link.session.agree(&bytes, headers));
        }
        if self.asked.lists_tools {
            self.link.parameters.learn(&bytes);
        }
        self.arrived(bytes).await;
        self.asked.is_answered.store(true, Ordering::Release);
    }

    async fn arrived(&self, bytes: Vec<u8>) {
        if !self.asked.is_ours {
            let about = Some(&self.asked.id);
            self.link.delivery.message(bytes, about).await;
        }
    }
}

/// Whose message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// This request's answer.
    Answer,
    /// An answer to something else, which has no business here.
    Foreign,
    /// What the server says besides.
    Servers,
}
