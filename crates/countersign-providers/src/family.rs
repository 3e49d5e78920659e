use std::{fmt, str::FromStr};

use countersign_contract::Profile;

pub(crate) mod anthropic_messages;
pub(crate) mod gemini_generate_content;
pub(crate) mod gemini_interactions;
pub(crate) mod openai_chat_completions;
pub(crate) mod openai_responses;

/// A provider protocol whose raw responses can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// OpenAI Responses.
    OpenAiResponses,
    /// OpenAI Chat Completions, and the many servers that speak it.
    OpenAiChatCompletions,
    /// Anthropic Messages.
    AnthropicMessages,
    /// Gemini Interactions.
    GeminiInteractions,
    /// Gemini `generateContent`.
    GeminiGenerateContent,
}

/// The text names no family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no such provider family; there are openai-responses, openai-chat-completions, \
     anthropic-messages, gemini-interactions and gemini-generate-content"
)]
pub struct UnknownFamily;

impl Family {
    /// Every family.
    pub const ALL: [Self; 5] = [
        Self::OpenAiResponses,
        Self::OpenAiChatCompletions,
        Self::AnthropicMessages,
        Self::GeminiInteractions,
        Self::GeminiGenerateContent,
    ];

    /// The name for options and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiChatCompletions => "openai-chat-completions",
            Self::AnthropicMessages => "anthropic-messages",
            Self::GeminiInteractions => "gemini-interactions",
            Self::GeminiGenerateContent => "gemini-generate-content",
        }
    }

    /// The registered profile under which calls of the family are bound.
    pub const fn profile(self) -> Profile {
        match self {
            Self::OpenAiResponses => Profile::OpenAiResponses,
            Self::OpenAiChatCompletions => Profile::OpenAiChatCompletions,
            Self::AnthropicMessages => Profile::AnthropicMessages,
            Self::GeminiInteractions => Profile::GeminiInteractions,
            Self::GeminiGenerateContent => Profile::GeminiGenerateContent,
        }
    }

    /// The family whose calls are bound under a profile, if it is a provider's.
    pub fn of_profile(profile: Profile) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|family| family.profile() == profile)
    }

    /// The name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::OpenAiResponses => "OpenAI Responses",
            Self::OpenAiChatCompletions => "OpenAI Chat Completions",
            Self::AnthropicMessages => "Anthropic Messages",
            Self::GeminiInteractions => "Gemini Interactions",
            Self::GeminiGenerateContent => "Gemini generateContent",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.title())
    }
}

impl FromStr for Family {
    type Err = UnknownFamily;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|family| family.name() == text)
            .ok_or(UnknownFamily)
    }
}
