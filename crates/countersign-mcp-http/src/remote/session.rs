//! What is known of a session with a server: nothing of it for one whose requests stand alone.

use std::sync::{Mutex, MutexGuard, PoisonError};

use countersign_mcp::Message;
use reqwest::header::{HeaderMap, HeaderValue};

use super::headers::{self, PROTOCOL_VERSION, SESSION_ID};
use super::settings::Settings;

/// The longest name that a server may give a session.
const MAX_SESSION_ID_BYTES: usize = 1024;

/// A session, from `initialize` on.
#[derive(Debug, Default)]
pub(super) struct Session {
    state: Mutex<State>,
    /// Held by whoever opens the session anew, so that nobody does it at the same time.
    renewing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    opening: Opening,
    settings: Settings,
    /// How many sessions there have been.
    generation: u64,
    is_expired: bool,
}

/// What the client opened the session with, to do it again in its place.
#[derive(Clone, Default)]
pub(super) struct Opening {
    /// The parameters of `initialize`.
    pub(super) params: Option<String>,
    /// The notification after it.
    pub(super) initialized: Option<String>,
}

/// Which session a message went out in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Generation(u64);

/// What came of an answer to `initialize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    Agreed,
    /// The answer is an error, or none that can be used.
    Refused,
    /// The session is of another version than the one before it.
    OtherVersion,
}

impl Session {
    /// The client begins.
    pub(super) fn begin(&self, initialize: &Message) {
        let mut state = self.lock();
        let params = initialize.params().map(|params| params.text().to_owned());
        let generation = state.generation;
        *state = State {
            generation,
            ..State::default()
        };
        state.opening.params = params;
    }

    /// The client has said that it is ready.
    pub(super) fn is_initialized(&self, notification: &str) {
        self.lock().opening.initialized = Some(notification.to_owned());
    }

    /// The client asks for something in it.
    pub(super) fn is_asked(&self, request: &Message) {
        self.lock().settings.note(request);
    }

    /// What the client has set in it.
    pub(super) fn settings(&self) -> Settings {
        self.lock().settings.clone()
    }

    /// Notes what a server answered to `initialize`. A session that takes the place of another has to be of its version.
    pub(super) fn agree(&self, answer: &[u8], response: &HeaderMap) -> Agreement {
        let version = Message::read(answer).ok().and_then(|answer| {
            let result = answer.result()?.value();
            headers::of_version(result.get("protocolVersion")?.as_str()?)
        });
        let mut state = self.lock();
        let id = response.get(SESSION_ID);
        let Some(version) = version else {
            return Agreement::Refused;
        };
        if id.is_some_and(|id| !is_session_id(id)) {
            return Agreement::Refused;
        }
        if state.version.as_ref().is_some_and(|held| *held != version) {
            return Agreement::OtherVersion;
        }
        state.id = id.cloned().map(|mut id| {
            id.set_sensitive(true);
            id
        });
        state.version = Some(version);
        state.generation += 1;
        state.is_expired = false;
        Agreement::Agreed
    }

    /// The headers of a message in it.
    pub(super) fn headers(&self) -> HeaderMap {
        let state = self.lock();
        let mut headers = HeaderMap::new();
        if let Some(version) = &state.version {
            headers.insert(PROTOCOL_VERSION, version.clone());
        }
        if let Some(id) = &state.id {
            headers.insert(SESSION_ID, id.clone());
        }
        headers
    }

    /// Whether the server has given it a name, without which it cannot end it.
    pub(super) fn has_id(&self) -> bool {
        self.lock().id.is_some()
    }

    /// Whether there is one.
    pub(super) fn is_open(&self) -> bool {
        self.lock().version.is_some()
    }

    pub(super) fn is_expired(&self) -> bool {
        self.lock().is_expired
    }

    pub(super) fn generation(&self) -> Generation {
        Generation(self.lock().generation)
    }

    /// The server does not know the session any more that a message went out in.
    pub(super) fn expire(&self, generation: Generation) {
        let mut state = self.lock();
        if state.generation == generation.0 {
            state.is_expired = true;
        }
    }

    pub(super) fn opening(&self) -> Opening {
        self.lock().opening.clone()
    }

    pub(super) async fn renewing(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.renewing.lock().await
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// "It MUST only contain visible ASCII characters (ranging from 0x21 to 0x7E)" (2025-11-25, Session Management).
fn is_session_id(id: &HeaderValue) -> bool {
    let bytes = id.as_bytes();
    (1..=MAX_SESSION_ID_BYTES).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic)
}

impl std::fmt::Debug for State {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("State")
            .field("generation", &self.generation)
            .field("is_expired", &self.is_expired)
            .finish_non_exhaustive()
    }
}
