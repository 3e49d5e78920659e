//! How a connection begins: with `initialize`, or with requests that stand alone.

use std::time::Duration;

use countersign_canonical::Value;
use countersign_mcp::bridge::{ToSession, ToStateless};
use countersign_mcp::port::FromClient;
use countersign_mcp::stateless::{self, Ask, ClientCapabilities, Introduction, RequestMeta};
use countersign_mcp::{Kind, Message, Opening, Passthrough, RequestId, Version, write};
use uuid::Uuid;

use super::{INTERNAL_ERROR, INVALID_REQUEST, InFlight, METHOD_NOT_FOUND, Session};
use crate::commands::wrap::room::Kept;
use crate::commands::wrap::upstream::{Asked, Question};
use crate::output::complain;

/// The most messages that wait until it is known what the server speaks.
const MAX_HELD: usize = 256;
/// How long a server may take to say what it speaks. Some never answer what they do not know.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long one may take to open a session.
const OPEN_TIMEOUT: Duration = Duration::from_mins(1);
/// What a client is told whose requests stand alone and are of another version: what can be asked for like that.
const SPOKEN: [Version; 1] = [Version::V2026_07_28];

/// How far a connection is.
#[derive(Default)]
pub(super) enum Phase {
    /// Nobody has said how it speaks.
    #[default]
    New,
    /// The server is asked what it speaks; messages wait.
    Probing(Vec<(Message, Kept)>),
    /// Calls can be governed.
    Open(Opened),
}

/// What opens a session.
pub(super) struct Initialize {
    /// The version that the client speaks, where it is known here.
    asked_for: Option<Version>,
    message: Message,
}

/// What was agreed on.
#[derive(Clone)]
pub(super) struct Opened {
    /// What the client speaks.
    pub(super) version: Version,
    pub(super) passthrough: Passthrough,
    /// Whether the client has a session, and can ask its user to open a page.
    pub(super) opens_pages: bool,
    /// Who sent the last request that stands alone.
    pub(super) sender: Option<RequestMeta>,
}

impl Phase {
    pub(super) fn opened(&self) -> Option<&Opened> {
        match self {
            Self::Open(opened) => Some(opened),
            Self::New | Self::Probing(_) => None,
        }
    }
}

impl Session {
    /// Gives a message back once it can be taken; until then it waits, or has been answered.
    pub(super) fn opens(&self, message: Message) -> Option<Message> {
        let message = self.holds(message)?;
        let Kind::Request { id, .. } = message.kind() else {
            return Some(message);
        };
        let stands_alone = stateless::opening(&message) == Some(Opening::EachRequest);
        let opened = self.opened();
        let is_session = opened.is_some_and(|opened| opened.sender.is_none());
        if !stands_alone && !self.is_stateless() || is_session && !is_discover(&message) {
            return Some(message);
        }
        let sender = match RequestMeta::read(message.params().as_ref()) {
            // Whoever asks like this speaks an older version where it is not known.
            _ if is_session => {
                let text = "server/discover is no part of a session";
                self.refuse(id, METHOD_NOT_FOUND, text);
                return None;
            }
            Ok(sender) => sender,
            Err(error) => {
                self.tell(error.answer(id, &SPOKEN), Some(id.clone()));
                return None;
            }
        };
        let mut state = self.lock();
        match &mut state.phase {
            Phase::Open(opened) => {
                opened.sender = Some(sender);
                drop(state);
                Some(message)
            }
            Phase::Probing(_) => {
                drop(state);
                self.holds(message)
            }
            Phase::New => {
                state.phase = Phase::Probing(Vec::new());
                drop(state);
                let held = self.holds(message);
                self.on_thread(0, move |session| session.probe(&sender));
                held
            }
        }
    }

    /// Keeps a message until the server has said what it speaks.
    fn holds(&self, message: Message) -> Option<Message> {
        let mut state = self.lock();
        let Phase::Probing(held) = &mut state.phase else {
            return Some(message);
        };
        if held.len() < MAX_HELD
            && let Some(kept) = self.governor.room_for(message.text().len())
        {
            held.push((message, kept));
            return None;
        }
        drop(state);
        if let Kind::Request { id, .. } = message.kind() {
            let text = "too many requests came before the server answered";
            self.refuse(id, INVALID_REQUEST, text);
        }
        None
    }

    /// Finds out what the server speaks, and lets go what waited. A server that speaks in sessions is reached over a bridge.
    fn probe(&self, sender: &RequestMeta) {
        let opened = self.discovered(sender).or_else(|| {
            let randomness = Box::new(|| Uuid::new_v4().into_bytes());
            let bridge = ToSession::new(randomness, self.is_shared);
            self.upstream.cross(Box::new(bridge));
            self.discovered(sender)
        });
        let held = {
            let mut state = self.lock();
            let next = opened.map_or(Phase::New, Phase::Open);
            match std::mem::replace(&mut state.phase, next) {
                Phase::Probing(held) => held,
                Phase::New | Phase::Open(_) => Vec::new(),
            }
        };
        let is_open = self.opened().is_some();
        for (message, _kept) in held {
            if is_open {
                FromClient::receive(self, message);
            } else if let Kind::Request { id, .. } = message.kind() {
                let text = "the server does not answer, or speaks no version that is known here";
                self.refuse(id, INTERNAL_ERROR, text);
            }
        }
    }

    /// What the server says of itself to a client whose requests stand alone. One that refuses the version, and names it among
    /// those that it speaks, is asked once more.
    fn discovered(&self, sender: &RequestMeta) -> Option<Opened> {
        let timeout = if self.upstream.is_crossed() {
            OPEN_TIMEOUT
        } else {
            PROBE_TIMEOUT
        };
        let ask = || self.discover(sender, timeout);
        let answer = ask()?;
        let message = if speaks_it_all_the_same(&answer) {
            ask()?
        } else {
            answer
        };
        let introduction = introduction(&message)?;
        Some(Opened {
            version: Version::V2026_07_28,
            passthrough: self.passthrough_of(&introduction.server_info_value())?,
            opens_pages: false,
            sender: Some(sender.clone()),
        })
    }

    fn discover(&self, sender: &RequestMeta, timeout: Duration) -> Option<Message> {
        let asked = self.upstream.ask(Question {
            method: "server/discover",
            params: "{}".to_owned(),
            sender: Some(sender),
            caller: None,
            timeout,
        });
        match asked {
            Asked::Answered(message) => Some(message),
            Asked::NotSent(_) | Asked::Lost => None,
        }
    }

    /// Passes on what opens a session.
    pub(super) fn initialize(&self, id: &RequestId, message: &Message) {
        let params = message.params();
        let asked_for = params
            .and_then(|params| Version::parse(params.value().get("protocolVersion")?.as_str()?))
            .filter(|version| version.traits().opening == Opening::Handshake);
        let opening = Initialize {
            asked_for,
            message: message.clone(),
        };
        self.pass(id, InFlight::Initialize(Box::new(opening)), message);
    }

    /// Notes what the server agreed on. Where it knows no sessions, it is reached over a bridge; where it speaks nothing that is
    /// known, no call is let through.
    ///
    /// Where it speaks another version than its client, each keeps its own: what they do not share is announced as capabilities,
    /// and members that a version does not know are none of its business.
    pub(super) fn initialized(&self, id: &RequestId, opening: Initialize, answer: Message) {
        let Some(result) = answer.result() else {
            if self.upstream.is_crossed() {
                return self.tell(answer.text().to_owned(), Some(id.clone()));
            }
            // Its answer to a question comes to this very thread.
            return self.on_thread_for(id, answer.text().len(), move |session, id| {
                session.initialize_across(&id, opening, &answer);
            });
        };
        let mut text = answer.text().to_owned();
        let spoken = result.value().get("protocolVersion");
        let spoken = spoken.and_then(|named| Version::parse(named.as_str()?));
        let info = result.value().get("serverInfo").unwrap_or(&Value::Null);
        if let (Some(spoken), Some(passthrough)) = (spoken, self.passthrough_of(info)) {
            let version = opening.asked_for.unwrap_or(spoken);
            if version != spoken {
                let own = format!("\"{}\"", version.as_str());
                let path = ["result", "protocolVersion"];
                text = write::with_value_at(&text, &path, &own).unwrap_or(text);
            }
            self.lock().phase = Phase::Open(Opened {
                version,
                passthrough,
                opens_pages: version.traits().url_elicitation && offers_pages(&opening.message),
                sender: None,
            });
        } else {
            complain(
                "the server speaks a version of the protocol that is not served: its tools cannot be called",
            );
        }
        self.tell(text, Some(id.clone()));
    }

    /// Opens a session with a server that refused to, if it knows requests that stand alone.
    fn initialize_across(&self, id: &RequestId, opening: Initialize, refused: &Message) {
        let asked = self.discover(&RequestMeta::nobody(), PROBE_TIMEOUT);
        let introduction = asked.as_ref().and_then(introduction);
        let Some(introduction) = introduction else {
            return self.tell(refused.text().to_owned(), Some(id.clone()));
        };
        let bridge = ToStateless::new(Some(introduction));
        self.upstream.cross(Box::new(bridge));
        let message = opening.message.clone();
        self.pass(id, InFlight::Initialize(Box::new(opening)), &message);
    }

    fn passthrough_of(&self, server_info: &Value) -> Option<Passthrough> {
        Passthrough::new(
            self.inventory.server.clone(),
            self.inventory.launch.clone(),
            server_info,
            self.policy,
            self.call_timeout,
        )
    }
}

/// What a server that knows requests that stand alone says of itself.
fn introduction(discovered: &Message) -> Option<Introduction> {
    let result = discovered.result()?;
    let versions = result.value().get("supportedVersions")?.as_array()?;
    let version = Version::V2026_07_28.as_str();
    let mut spoken = versions.iter().filter_map(Value::as_str);
    spoken.find(|name| *name == version)?;
    Introduction::of_discover(&result)
}

/// Whether a server refuses a version that it speaks, as one may that has just been replaced.
fn speaks_it_all_the_same(answer: &Message) -> bool {
    let Some(error) = answer.error() else {
        return false;
    };
    let code = error.value().get("code").and_then(Value::as_i64);
    let supported = error
        .value()
        .get("data")
        .and_then(|data| data.get("supported"));
    let supported = supported.and_then(Value::as_array).unwrap_or_default();
    let version = Version::V2026_07_28.as_str();
    code == Some(i64::from(stateless::UNSUPPORTED_VERSION))
        && supported.iter().any(|name| name.as_str() == Some(version))
}

/// Whether a client says that it can ask its user to open a page.
fn offers_pages(initialize: &Message) -> bool {
    let capabilities = initialize
        .params()
        .and_then(|params| ClientCapabilities::of(&params.member("capabilities")?));
    capabilities.is_some_and(|capabilities| capabilities.offers(Ask::Url))
}

fn is_discover(message: &Message) -> bool {
    matches!(message.kind(), Kind::Request { method, .. } if method == "server/discover")
}
