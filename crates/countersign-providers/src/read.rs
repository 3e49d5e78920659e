use std::fmt::Write as _;

use countersign_canonical::Object;
use countersign_contract::ResponseId;
use sha2::{Digest as _, Sha256};

use crate::{
    Family, ReadError, Turn,
    document::{self, refuse_error},
    draft::Draft,
    family::{
        anthropic_messages, gemini_generate_content, gemini_interactions, openai_chat_completions,
        openai_responses,
    },
    identify::{confirm, identify},
    settle::settle,
    turn::ResponseIdentity,
};

/// Reads a raw response whose family the document itself tells.
pub fn read(raw: &[u8]) -> Result<Turn, ReadError> {
    let document = document::open(raw)?;
    let family = identify(&document)?;
    read_document(raw, document, family)
}

/// Reads a raw response of a family that the caller knows.
pub fn read_as(family: Family, raw: &[u8]) -> Result<Turn, ReadError> {
    let document = document::open(raw)?;
    confirm(&document, family)?;
    read_document(raw, document, family)
}

/// Tells which family a raw response is of.
pub fn detect(raw: &[u8]) -> Result<Family, ReadError> {
    identify(&document::open(raw)?)
}

fn read_document(raw: &[u8], document: Object, family: Family) -> Result<Turn, ReadError> {
    refuse_error(&document)?;
    let draft = match family {
        Family::OpenAiResponses => openai_responses::read(document),
        Family::OpenAiChatCompletions => openai_chat_completions::read(document),
        Family::AnthropicMessages => anthropic_messages::read(document),
        Family::GeminiInteractions => gemini_interactions::read(document),
        Family::GeminiGenerateContent => gemini_generate_content::read(document),
    }?;
    let Draft {
        response_id,
        ending,
        calls,
        skipped,
    } = draft;
    Ok(Turn {
        family,
        response: identity(response_id, raw)?,
        ending,
        proposals: settle(family, ending, calls),
        skipped,
    })
}

fn identity(given: Option<String>, raw: &[u8]) -> Result<ResponseIdentity, ReadError> {
    let given = given.filter(|id| !id.is_empty());
    let id = |text| ResponseId::new(text).map_err(ReadError::ResponseId);
    match given {
        Some(given) => Ok(ResponseIdentity::Given(id(given)?)),
        None => Ok(ResponseIdentity::HostMade(id(host_made(raw))?)),
    }
}

fn host_made(raw: &[u8]) -> String {
    let mut text = String::from("response-sha256-");
    for byte in Sha256::digest(raw) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
