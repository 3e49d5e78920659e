//! Names that are proofs of their grammar: text becomes one by parsing only.

use std::fmt;

use crate::grammar::Grammar;

/// Says which grammar a text is not of; never repeats the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not {0}")]
pub struct NotOfGrammar(pub Grammar);

macro_rules! name {
    ($(#[$documentation:meta])* $name:ident, $grammar:expr) => {
        $(#[$documentation])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Takes the text when the whole of it is of the grammar.
            pub fn parse(text: &str) -> Result<Self, NotOfGrammar> {
                if $grammar.matches(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(NotOfGrammar($grammar))
                }
            }

            /// Shows the text as written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

name! {
    /// Names an action in the store and at the endpoint.
    ActionId, Grammar::ActionId
}
name! {
    /// Names an owner's approval.
    ApprovalId, Grammar::ApprovalId
}
name! {
    /// Names an effect at the endpoint.
    EffectId, Grammar::SafeId
}
name! {
    /// Names an intent; derived from its idempotency key.
    IntentId, Grammar::IntentId
}
name! {
    /// Names a tool of a catalog.
    ToolName, Grammar::ToolName
}
name! {
    /// Names an operator's authorization to dispatch.
    AuthorizationId, Grammar::AuthorizationId
}
name! {
    /// An HTTP origin on this machine.
    LoopbackOrigin, Grammar::LoopbackOrigin
}
