//! A session of the bridge's own.

use countersign_canonical::Value;

use super::calls::Sent;
use super::{Place, ToStateless};
use crate::bridge::{Step, request_id};
use crate::id::RequestId;
use crate::message::{Message, Part};
use crate::stateless::{ClientCapabilities, Introduction, LogLevel, RequestMeta};
use crate::version::Version;
use crate::write::{self, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND};

/// How far the session is.
pub(super) enum Session {
    Closed,
    /// The server is asked what it is, for a client that has sent `initialize`.
    Opening(RequestId, Opened),
    Open(Opened),
}

pub(super) struct Opened {
    pub(super) version: Version,
    /// What the client said of itself.
    pub(super) sender: RequestMeta,
}

impl Session {
    pub(super) fn opened(&self) -> Option<&Opened> {
        match self {
            Self::Open(opened) => Some(opened),
            Self::Closed | Self::Opening(..) => None,
        }
    }

    /// Gives an opening up, and says whose request it was. An open session stays.
    pub(super) fn close(&mut self) -> Option<RequestId> {
        match std::mem::replace(self, Self::Closed) {
            Self::Closed => None,
            Self::Opening(client, _) => Some(client),
            Self::Open(opened) => {
                *self = Self::Open(opened);
                None
            }
        }
    }
}

impl ToStateless {
    pub(super) fn initialize(
        &mut self,
        id: &RequestId,
        message: &Message,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        if !matches!(self.session, Session::Closed) {
            let text = "the session has been initialized already";
            steps.push(Step::refusal(id, INVALID_REQUEST, text));
            return None;
        }
        let Some(opened) = wanted(message) else {
            let text = "the parameters of initialize are not what the protocol defines";
            steps.push(Step::refusal(id, INVALID_PARAMS, text));
            return None;
        };
        if let Some(introduction) = &self.introduction {
            let result = introduction.to_initialize(opened.version);
            steps.push(Step::answer(id, write::result(id, &result)));
            self.session = Session::Open(opened);
            return Some(());
        }
        let number = self.next_id();
        let params = opened.sender.written_into("{}");
        let text = write::request(&request_id(number), "server/discover", &params);
        steps.push(Step::to_server(text));
        self.sent.insert(number, Sent::Discover);
        self.requests.insert(id.clone(), Place::Opening);
        self.session = Session::Opening(id.clone(), opened);
        Some(())
    }

    /// Takes the answer to `server/discover`.
    pub(super) fn discovered(&mut self, message: &Message, steps: &mut Vec<Step>) {
        let (id, opened) = match std::mem::replace(&mut self.session, Session::Closed) {
            Session::Opening(id, opened) => (id, opened),
            other @ (Session::Closed | Session::Open(_)) => {
                self.session = other;
                return;
            }
        };
        self.requests.remove(&id);
        let Some(introduction) = introduction(message) else {
            let text = "the server does not serve a protocol version that is understood";
            return steps.push(Step::refusal(&id, INTERNAL_ERROR, text));
        };
        let result = introduction.to_initialize(opened.version);
        steps.push(Step::answer(&id, write::result(&id, &result)));
        self.introduction = Some(introduction);
        self.session = Session::Open(opened);
    }

    /// The level of a session holds for each later request of it.
    pub(super) fn set_level(
        &mut self,
        id: &RequestId,
        message: &Message,
        steps: &mut Vec<Step>,
    ) -> Option<()> {
        let introduction = self.introduction.as_ref();
        if !introduction.is_some_and(|introduction| introduction.has("logging")) {
            let text = "the server sends no log messages";
            steps.push(Step::refusal(id, METHOD_NOT_FOUND, text));
            return None;
        }
        let params = message.params();
        let level = params
            .as_ref()
            .and_then(|params| params.value().get("level"));
        let level = level.and_then(Value::as_str).and_then(LogLevel::parse);
        if level.is_none() {
            let text = "there is no such log level";
            steps.push(Step::refusal(id, INVALID_PARAMS, text));
            return None;
        }
        self.log_level = level;
        steps.push(Step::answer(id, write::result(id, "{}")));
        Some(())
    }
}

fn introduction(message: &Message) -> Option<Introduction> {
    let result = message.result()?;
    let supported = result.value().get("supportedVersions")?.as_array()?;
    let ours = Version::V2026_07_28.as_str();
    let mut supported = supported.iter();
    supported.find(|version| version.as_str() == Some(ours))?;
    Introduction::of_discover(&result)
}

fn wanted(message: &Message) -> Option<Opened> {
    let params = message.params()?;
    let version = params.value().get("protocolVersion")?.as_str()?;
    let capabilities = match params.member("capabilities") {
        None => ClientCapabilities::none(),
        Some(capabilities) => {
            let capabilities = ClientCapabilities::of(&capabilities)?;
            ClientCapabilities::read(&capabilities.across_versions())?
        }
    };
    let info = params.member("clientInfo");
    let info = info.filter(|info| crate::stateless::is_implementation(info.value()));
    Some(Opened {
        version: Version::for_session(version),
        sender: RequestMeta::new(info.as_ref().map(Part::text), capabilities),
    })
}
