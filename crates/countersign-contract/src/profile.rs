//! The registry of provider profiles: which protocol a call came through, and which adapter speaks it.

macro_rules! profiles {
    ($($(#[$doc:meta])+ $variant:ident = $provider:literal, $family:literal, $revision:literal;)+) => {
        /// A registered provider profile.
        ///
        /// A call always has one, so an unregistered profile cannot reach the pipeline.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Profile {
            $($(#[$doc])+ $variant,)+
        }

        impl Profile {
            /// Every registered profile.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The provider's name, as bound in digests.
            #[must_use]
            pub fn provider(self) -> &'static str {
                match self { $(Self::$variant => $provider,)+ }
            }

            /// The provider's API family, as bound in digests.
            #[must_use]
            pub fn api_family(self) -> &'static str {
                match self { $(Self::$variant => $family,)+ }
            }

            /// The revision of the adapter that speaks it, as bound in digests.
            #[must_use]
            pub fn adapter_revision(self) -> &'static str {
                match self { $(Self::$variant => $revision,)+ }
            }
        }
    };
}

profiles! {
    /// `OpenAI` Responses.
    OpenAiResponses = "openai", "responses", "openai-responses-v1";
    /// Anthropic Messages.
    AnthropicMessages = "anthropic", "messages", "anthropic-messages-v1";
    /// Gemini Interactions.
    GeminiInteractions = "google", "interactions", "gemini-interactions-v1";
    /// `OpenAI` Chat Completions.
    OpenAiChatCompletions = "openai", "chat-completions", "openai-chat-completions-v1";
    /// Gemini `generateContent`.
    GeminiGenerateContent = "google", "generate-content", "gemini-generate-content-v1";
    /// The Model Context Protocol of 2024-11-05.
    Mcp20241105 = "mcp", "2024-11-05", "mcp-2024-11-05-v1";
    /// The Model Context Protocol of 2025-03-26.
    Mcp20250326 = "mcp", "2025-03-26", "mcp-2025-03-26-v1";
    /// The Model Context Protocol of 2025-06-18.
    Mcp20250618 = "mcp", "2025-06-18", "mcp-2025-06-18-v1";
    /// The Model Context Protocol of 2025-11-25.
    Mcp20251125 = "mcp", "2025-11-25", "mcp-2025-11-25-v1";
    /// The Model Context Protocol of 2026-07-28.
    Mcp20260728 = "mcp", "2026-07-28", "mcp-2026-07-28-v1";
}

/// Why a profile is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// No such provider and API family.
    #[error("provider profile is not registered")]
    NotRegistered,
    /// The adapter revision is another one than the profile's.
    #[error("adapter_revision does not match the provider profile, which has {expected}")]
    Revision {
        /// The registered revision.
        expected: &'static str,
    },
}

impl Profile {
    /// The three profiles a scenario fixture may name.
    pub const REFERENCE: [Self; 3] = [
        Self::OpenAiResponses,
        Self::AnthropicMessages,
        Self::GeminiInteractions,
    ];

    /// Finds the profile of a provider and API family.
    #[must_use]
    pub fn find(provider: &str, api_family: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|profile| profile.provider() == provider && profile.api_family() == api_family)
    }

    /// Finds the profile and checks the adapter revision that came with it.
    pub fn registered(
        provider: &str,
        api_family: &str,
        adapter_revision: &str,
    ) -> Result<Self, ProfileError> {
        let profile = Self::find(provider, api_family).ok_or(ProfileError::NotRegistered)?;
        if profile.adapter_revision() == adapter_revision {
            Ok(profile)
        } else {
            Err(ProfileError::Revision {
                expected: profile.adapter_revision(),
            })
        }
    }
}
