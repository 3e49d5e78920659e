//! The endpoint's HTTP error vocabulary.

/// What a caller is told when a request is refused.
///
/// Messages are fixed: none echoes anything of the request. Why exactly it was
/// refused is for the endpoint's own log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// No credential, or an unknown one.
    Unauthenticated,
    /// A credential that may not do this, or another owner's action.
    AuthorityDenied,
    /// The header names another principal than the credential.
    PrincipalMismatch,
    /// No such action.
    NotFound,
    /// The action, or its execution digest, is taken by something else.
    Conflict,
    /// The body is too long.
    TooLarge,
    /// The declared length is no length.
    ContentLengthInvalid,
    /// The request breaks the contract, or its approval is dead.
    Invalid,
    /// A fault on our side.
    InternalError,
    /// Governed actions are switched off or not ready.
    Unavailable,
}

impl Refusal {
    /// All refusals.
    pub const ALL: [Self; 10] = [
        Self::Unauthenticated,
        Self::AuthorityDenied,
        Self::PrincipalMismatch,
        Self::NotFound,
        Self::Conflict,
        Self::TooLarge,
        Self::ContentLengthInvalid,
        Self::Invalid,
        Self::InternalError,
        Self::Unavailable,
    ];

    /// The HTTP status.
    pub fn status(self) -> u16 {
        match self {
            Self::ContentLengthInvalid => 400,
            Self::Unauthenticated => 401,
            Self::AuthorityDenied | Self::PrincipalMismatch => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::TooLarge => 413,
            Self::Invalid => 422,
            Self::InternalError => 500,
            Self::Unavailable => 503,
        }
    }

    /// The stable code; an unauthenticated caller gets none.
    pub fn code(self) -> Option<&'static str> {
        match self {
            Self::Unauthenticated => None,
            Self::AuthorityDenied => Some("governed_action_authority_denied"),
            Self::PrincipalMismatch => Some("principal_mismatch"),
            Self::NotFound => Some("governed_action_not_found"),
            Self::Conflict => Some("governed_action_conflict"),
            Self::TooLarge => Some("governed_action_too_large"),
            Self::ContentLengthInvalid => Some("governed_action_content_length_invalid"),
            Self::Invalid => Some("governed_action_invalid"),
            Self::InternalError => Some("governed_action_internal_error"),
            Self::Unavailable => Some("governed_actions_unavailable"),
        }
    }

    /// The message for people.
    pub fn message(self) -> &'static str {
        match self {
            Self::Unauthenticated => "Invalid or missing API key",
            Self::AuthorityDenied => {
                "The credential does not carry authority for this governed action"
            }
            Self::PrincipalMismatch => "The named principal is not the credential's",
            Self::NotFound => "No governed action has this id",
            Self::Conflict => "The governed action is bound to another request",
            Self::TooLarge => "The governed action request is too large",
            Self::ContentLengthInvalid => "The declared content length is invalid",
            Self::Invalid => "The governed action request is invalid",
            Self::InternalError => "The governed action could not be processed",
            Self::Unavailable => "Governed actions are not available",
        }
    }

    /// The JSON body: `{"detail": {"code", "message"}}`, or the bare message where there is no code.
    pub fn body(self) -> String {
        let message = self.message();
        match self.code() {
            Some(code) => format!(r#"{{"detail":{{"code":"{code}","message":"{message}"}}}}"#),
            None => format!(r#"{{"detail":"{message}"}}"#),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vocabulary() {
        let lines: Vec<_> = Refusal::ALL
            .iter()
            .map(|refusal| format!("{} {}", refusal.status(), refusal.body()))
            .collect();
        for line in &lines {
            let body = line.split_once(' ').expect("a body").1;
            crate::parser::parse(body.as_bytes()).expect("strict JSON");
        }
        insta::assert_snapshot!(lines.join("\n"));
    }
}
