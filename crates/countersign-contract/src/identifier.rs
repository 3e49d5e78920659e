//! Bounded identifiers: one newtype per meaning, so that one cannot stand in for another.

use std::fmt;
use std::sync::Arc;

use crate::blank::is_blank;

/// The most code points an identifier may have.
pub const MAX_IDENTIFIER_CHARS: usize = 255;

/// Why a text is not an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentifierError {
    /// Nothing but white space.
    #[error("must not be blank")]
    Blank,
    /// More than [`MAX_IDENTIFIER_CHARS`] code points.
    #[error("must have at most {MAX_IDENTIFIER_CHARS} characters")]
    TooLong,
}

fn check(text: &str) -> Result<(), IdentifierError> {
    if is_blank(text) {
        return Err(IdentifierError::Blank);
    }
    // Bytes bound code points from above, so most texts need no count.
    if text.len() > MAX_IDENTIFIER_CHARS && text.chars().count() > MAX_IDENTIFIER_CHARS {
        return Err(IdentifierError::TooLong);
    }
    Ok(())
}

macro_rules! identifiers {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        ///
        /// 1 to 255 code points, not blank. Cloning shares the text.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes the text when it is a well-formed identifier.
            pub fn new(text: impl AsRef<str>) -> Result<Self, IdentifierError> {
                let text = text.as_ref();
                check(text)?;
                Ok(Self(Arc::from(text)))
            }

            /// The text, exactly as given.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "{}({:?})", stringify!($name), &self.0)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = IdentifierError;

            fn try_from(text: &str) -> Result<Self, Self::Error> {
                Self::new(text)
            }
        }
    )+};
}

identifiers! {
    /// The tenant a principal belongs to.
    TenantId;
    /// The subject on whose behalf a call is made, unique within its tenant.
    SubjectId;
    /// A role of a principal.
    Role;
    /// A provider's response, turn or interaction; scopes its call ids.
    ResponseId;
    /// A call within one response.
    CallId;
    /// The host's name for one operation.
    OperationId;
    /// The key under which at most one effect happens per tenant, subject and tool.
    IdempotencyKey;
    /// A tool's name, as the model calls it.
    ToolName;
    /// The revision of one part of a tool's contract.
    Revision;
    /// The label under which a tool's results are attributed.
    SourceLabel;
    /// One approval. Not unique by itself: only together with its digest.
    ApprovalId;
    /// Who approved: a person, or `policy:<revision>`.
    ApproverId;
}

/// Confusing two identifiers does not compile.
///
/// ```compile_fail
/// use countersign_contract::{CallId, ResponseId};
/// let call: CallId = ResponseId::new("response-1").unwrap();
/// ```
#[cfg(doctest)]
struct IdentifiersStayApart;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_count_code_points_on_both_sides() {
        assert!(CallId::new("é".repeat(255)).is_ok());
        assert_eq!(CallId::new("é".repeat(256)), Err(IdentifierError::TooLong));
        assert_eq!(CallId::new(""), Err(IdentifierError::Blank));
        assert_eq!(CallId::new("\u{1c}\u{a0}"), Err(IdentifierError::Blank));
        assert_eq!(CallId::new(" a ").unwrap().as_str(), " a ");
    }
}
