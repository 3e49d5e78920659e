//! Results that ask back, and requests that answer them.

use countersign_canonical::Value;

use super::Ask;
use crate::id::json_text;
use crate::message::Part;

/// The most that one result asks for.
pub const MAX_INPUT_REQUESTS: usize = 32;
/// The longest state that a server has a client carry, in bytes.
pub const MAX_REQUEST_STATE_BYTES: usize = 64 * 1024;

/// A result that says what is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRequired {
    /// What the client is asked for, under the server's keys.
    pub requests: Vec<InputRequest>,
    /// What the client has to give back as it is.
    pub state: Option<String>,
}

/// One thing that a server asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRequest {
    /// The server's name for it.
    pub key: String,
    /// What it is.
    pub ask: Ask,
    /// Its method.
    pub method: String,
    /// Its parameters, byte for byte.
    pub params: Option<String>,
}

/// What a client brings when it sends a request again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputResponses {
    /// The results, byte for byte, under the server's keys.
    pub responses: Vec<(String, String)>,
    /// What it has been given to carry.
    pub state: Option<String>,
}

/// Why something does not ask back, or does not answer that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoundError {
    /// It is not what the protocol defines.
    #[error("what was asked back, or the answer to it, is not what the protocol defines")]
    Malformed,
    /// It is too much, or too long.
    #[error("too much was asked back or answered at once")]
    TooMuch,
}

/// Whether requests of a method may be answered with a result that asks back (2026-07-28, Multi Round-Trip Requests, Supported
/// Requests).
#[must_use]
pub fn may_ask_back(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

impl InputRequired {
    /// Reads a result whose type says that it is one.
    pub fn read(result: &Part<'_>) -> Result<Self, RoundError> {
        let state = state(result)?;
        let mut requests = Vec::new();
        if let Some(held) = result.member("inputRequests") {
            let members = held.members().ok_or(RoundError::Malformed)?;
            if members.len() > MAX_INPUT_REQUESTS {
                return Err(RoundError::TooMuch);
            }
            for (key, request) in members {
                requests.push(InputRequest::read(key, &request).ok_or(RoundError::Malformed)?);
            }
        } else if state.is_none() {
            return Err(RoundError::Malformed);
        }
        Ok(Self { requests, state })
    }

    /// The result.
    #[must_use]
    pub fn to_result(&self) -> String {
        let mut text = "{\"resultType\":\"input_required\"".to_owned();
        if !self.requests.is_empty() {
            let requests = self.requests.iter();
            let requests = requests.map(|request| member(&request.key, &request.to_json()));
            text.push_str(",\"inputRequests\":");
            text.push_str(&object(requests));
        }
        if let Some(state) = &self.state {
            text.push_str(",\"requestState\":");
            text.push_str(&json_text(state));
        }
        text.push('}');
        text
    }
}

impl InputRequest {
    fn read(key: String, request: &Part<'_>) -> Option<Self> {
        let method = request.value().get("method")?.as_str()?;
        let params = request.member("params");
        if let Some(params) = &params {
            params.value().as_object()?;
        }
        Some(Self {
            key,
            ask: Ask::of(method, params.as_ref().map(Part::value))?,
            method: method.to_owned(),
            params: params.map(|params| params.text().to_owned()),
        })
    }

    fn to_json(&self) -> String {
        let method = json_text(&self.method);
        match &self.params {
            Some(params) => format!("{{\"method\":{method},\"params\":{params}}}"),
            None => format!("{{\"method\":{method}}}"),
        }
    }
}

impl InputResponses {
    /// Reads what a request brings; nothing where it brings nothing.
    pub fn read(params: &Part<'_>) -> Result<Option<Self>, RoundError> {
        let state = state(params)?;
        let held = params.member("inputResponses");
        if state.is_none() && held.is_none() {
            return Ok(None);
        }
        let mut responses = Vec::new();
        if let Some(held) = held {
            let members = held.members().ok_or(RoundError::Malformed)?;
            if members.len() > MAX_INPUT_REQUESTS {
                return Err(RoundError::TooMuch);
            }
            for (key, response) in members {
                response.value().as_object().ok_or(RoundError::Malformed)?;
                responses.push((key, response.text().to_owned()));
            }
        }
        Ok(Some(Self { responses, state }))
    }

    /// The results as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        let responses = self.responses.iter();
        object(responses.map(|(key, text)| member(key, text)))
    }
}

fn state(part: &Part<'_>) -> Result<Option<String>, RoundError> {
    match part.value().get("requestState").map(Value::as_str) {
        None => Ok(None),
        Some(None) => Err(RoundError::Malformed),
        Some(Some(state)) if state.len() > MAX_REQUEST_STATE_BYTES => Err(RoundError::TooMuch),
        Some(Some(state)) => Ok(Some(state.to_owned())),
    }
}

fn member(key: &str, text: &str) -> String {
    format!("{}:{text}", json_text(key))
}

fn object(members: impl Iterator<Item = String>) -> String {
    let members: Vec<_> = members.collect();
    format!("{{{}}}", members.join(","))
}
