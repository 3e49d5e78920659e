//! One connection in the sense of the protocol: whom to call, what was agreed, who hears of it.

use std::sync::Arc;
use std::time::Duration;

use countersign_mcp::port::{NotSent, Ticket, Unanswered};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Request, Response, StatusCode};
use tokio::sync::watch;
use tokio::time::timeout;

use super::body;
use super::delivery::Delivery;
use super::in_flight::InFlight;
use super::problem::{Problem, Problems};
use super::reach::Reach;
use super::session::Session;
use super::stream::MAX_SILENCE;
use crate::parameters::Parameters;

/// How long a server may take to accept a message that has no answer. Those behind it wait.
const TELLING_TIMEOUT: Duration = Duration::from_secs(30);
/// How long it may take to end a session.
const ENDING_TIMEOUT: Duration = Duration::from_secs(5);

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const EITHER: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

pub(super) struct Link {
    pub(super) reach: Arc<Reach>,
    pub(super) session: Session,
    pub(super) parameters: Parameters,
    pub(super) delivery: Delivery,
    pub(super) problems: Problems,
    pub(super) in_flight: InFlight,
    /// Changes whenever a session has been opened completely.
    pub(super) opened: watch::Sender<u64>,
}

/// A message that nobody waits for an answer to.
pub(super) struct Told {
    pub(super) text: String,
    /// The headers of one that stands alone.
    pub(super) own_headers: Option<HeaderMap>,
    pub(super) ticket: Option<Ticket>,
}

impl Link {
    pub(super) fn post(&self, headers: HeaderMap, text: String) -> Request {
        let mut request = self.request(Method::POST, headers, EITHER);
        request.headers_mut().insert(CONTENT_TYPE, JSON);
        *request.body_mut() = Some(text.into());
        request
    }

    /// Asks for the server's own messages, or for the rest of a stream.
    pub(super) fn get(&self, behind: Option<&HeaderValue>) -> Request {
        let mut request = self.request(Method::GET, self.session.headers(), EVENTS);
        if let Some(behind) = behind {
            request.headers_mut().insert(LAST_EVENT_ID, behind.clone());
        }
        request
    }

    fn request(&self, method: Method, headers: HeaderMap, accept: HeaderValue) -> Request {
        let target = self.reach.target();
        let mut request = Request::new(method, target.url().clone());
        let all = request.headers_mut();
        all.clone_from(target.headers());
        all.extend(headers);
        all.insert(ACCEPT, accept);
        request
    }

    /// Calls the server. *Not sent* is said only where no connection came about.
    pub(super) async fn call(
        &self,
        client: &Client,
        request: Request,
    ) -> Result<Response, Unanswered> {
        match timeout(MAX_SILENCE, client.execute(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_connect() => {
                self.problems.tell(if error.is_dns() {
                    Problem::NoAddress
                } else if error.is_timeout() {
                    Problem::ConnectTimeout
                } else {
                    Problem::NoConnection
                });
                Err(Unanswered::NotSent(NotSent::Unreachable))
            }
            Ok(Err(_)) | Err(_) => Err(Unanswered::Lost),
        }
    }

    /// Sends a message that has no answer.
    pub(super) async fn tell(&self, told: Told) {
        if told.ticket.is_some_and(|ticket| !ticket.take()) {
            return;
        }
        let generation = self.session.generation();
        let stands_alone = told.own_headers.is_some();
        let headers = told.own_headers.unwrap_or_else(|| self.session.headers());
        let request = self.post(headers, told.text);
        let called = timeout(TELLING_TIMEOUT, self.call(self.reach.fresh(), request));
        let Ok(Ok(response)) = called.await else {
            return;
        };
        let status = response.status();
        let is_in_session = !stands_alone && self.session.has_id();
        if status.is_client_error() && is_in_session && body::ends_session(response).await {
            self.session.expire(generation);
        } else if !status.is_success() {
            self.problems.tell(problem(status));
        }
    }

    /// The session is open: what the server says by itself may be asked for.
    pub(super) fn announce_open(&self) {
        self.opened.send_modify(|count| *count += 1);
    }

    /// Ends the session.
    pub(super) async fn end(&self) {
        if self.session.has_id() && !self.session.is_expired() {
            let request = self.request(Method::DELETE, self.session.headers(), EITHER);
            let _ = timeout(ENDING_TIMEOUT, self.reach.pooled().execute(request)).await;
        }
    }
}

/// What a person should hear about a status that is no success.
pub(super) fn problem(status: StatusCode) -> Problem {
    match status.as_u16() {
        status @ (401 | 403) => Problem::Refused(status),
        status @ 300..=399 => Problem::Moved(status),
        status => Problem::Status(status),
    }
}
