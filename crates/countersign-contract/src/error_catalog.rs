//! The fixed error catalog. Its texts are part of the wire contract: they are hashed.

use crate::model_result::{Outcome, Status};

macro_rules! error_catalog {
    ($($(#[$doc:meta])+ $variant:ident = $code:literal, $category:ident, $outcome:ident, $recovery:ident, $retry:expr, $message:literal;)+) => {
        /// The fifteen codes a model result can carry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ErrorCode {
            $($(#[$doc])+ $variant,)+
        }

        impl ErrorCode {
            /// Every code, in the catalog's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The catalog entry.
            #[must_use]
            pub fn entry(self) -> CatalogEntry {
                match self {
                    $(Self::$variant => CatalogEntry {
                        code: $code,
                        category: Category::$category,
                        outcome: Outcome::$outcome,
                        recovery: Recovery::$recovery,
                        retry_after_ms: $retry,
                        safe_message: $message,
                    },)+
                }
            }
        }
    };
}

error_catalog! {
    /// The tool is not registered.
    UnknownTool = "UNKNOWN_TOOL", Contract, NotStarted, CorrectInput, None, "The tool is not allowlisted.";
    /// The arguments break the input contract.
    InvalidArguments = "INVALID_ARGUMENTS", Contract, NotStarted, CorrectInput, None, "Arguments do not satisfy the tool contract.";
    /// The tool answered outside its output contract.
    OutputContractViolation = "OUTPUT_CONTRACT_VIOLATION", Execution, Unknown, HumanReview, None, "The tool result failed output-contract validation.";
    /// Absent and forbidden look the same.
    NotFound = "NOT_FOUND", Authorization, NotStarted, None, None, "The resource does not exist or is inaccessible to the current principal.";
    /// The resource's state does not allow the action now.
    BusinessRuleViolation = "BUSINESS_RULE_VIOLATION", Business, NotStarted, HumanReview, None, "The current resource state does not allow this action.";
    /// One call identity was used for two requests.
    CallIdConflict = "CALL_ID_CONFLICT", Conflict, NotStarted, HumanReview, None, "The same provider response/call identity maps to different requests.";
    /// A write came without a key.
    IdempotencyKeyRequired = "IDEMPOTENCY_KEY_REQUIRED", Contract, NotStarted, CorrectInput, None, "A write action requires an idempotency key.";
    /// One key was used for two requests, or under two contract revisions.
    IdempotencyConflict = "IDEMPOTENCY_CONFLICT", Conflict, NotStarted, HumanReview, None, "The same idempotency key maps to a different request or contract revision.";
    /// Nobody has approved this call yet.
    ApprovalRequired = "APPROVAL_REQUIRED", Approval, NotStarted, RequestApproval, None, "This action requires approval bound to the current arguments.";
    /// The approval is dead or belongs to another call.
    ApprovalInvalid = "APPROVAL_INVALID", Approval, NotStarted, RequestApproval, None, "Approval expired or is not bound to the current request.";
    /// Proven not started: the deadline passed first.
    TimeoutBeforeExecute = "TIMEOUT_BEFORE_EXECUTE", Execution, NotStarted, RetryAfter, Some(1000), "The tool exceeded its deadline before side effects began.";
    /// The effect may have happened.
    OutcomeUnknown = "OUTCOME_UNKNOWN", Execution, Unknown, QueryStatus, None, "The downstream operation may have committed; query status instead of automatically replaying the write.";
    /// A status query does not fit the operation it names.
    StatusConflict = "STATUS_CONFLICT", Conflict, Unknown, HumanReview, None, "The status receipt does not match the original request or contract revision.";
    /// Proven not started: too many calls.
    RateLimit = "RATE_LIMIT", Dependency, NotStarted, RetryAfter, Some(1000), "The tool is currently rate limited.";
    /// A read failed, or a write is proven not started.
    ToolError = "TOOL_ERROR", Execution, NotStarted, HumanReview, None, "Tool execution failed.";
}

impl ErrorCode {
    /// The code as it stands on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.entry().code
    }

    /// Reads a code from its wire form.
    #[must_use]
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|known| known.as_str() == code)
    }

    /// The status a result with this code has: unknown where the outcome is, else failed.
    #[must_use]
    pub fn status(self) -> Status {
        match self.entry().outcome {
            Outcome::Unknown => Status::Unknown,
            Outcome::NotStarted | Outcome::Committed => Status::Failed,
        }
    }
}

/// What the catalog fixes for one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogEntry {
    /// The code as it stands on the wire.
    pub code: &'static str,
    /// Which part of the pipeline refused.
    pub category: Category,
    /// What is known about the effect.
    pub outcome: Outcome,
    /// What the caller can do.
    pub recovery: Recovery,
    /// Milliseconds to wait before a retry, where one is safe.
    pub retry_after_ms: Option<u32>,
    /// The only text a model sees.
    pub safe_message: &'static str,
}

/// Defines an enum whose variants have fixed wire texts.
macro_rules! wire_enum {
    ($(#[$doc:meta])+ $name:ident { $($(#[$variant_doc:meta])+ $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])+ $variant,)+
        }

        impl $name {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The value as it stands on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// Reads a value from its wire form.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }
    };
}
pub(crate) use wire_enum;

wire_enum! {
    /// Which part of the pipeline an error comes from.
    Category {
        /// The input or tool contract.
        Contract = "contract",
        /// Execution, or what came of it.
        Execution = "execution",
        /// Authorization.
        Authorization = "authorization",
        /// The state of the resource.
        Business = "business",
        /// Two uses of one identity.
        Conflict = "conflict",
        /// Approval.
        Approval = "approval",
        /// A downstream's limits.
        Dependency = "dependency",
    }
}

wire_enum! {
    /// What the caller can do about a result.
    Recovery {
        /// Nothing.
        None = "none",
        /// Propose a corrected call.
        CorrectInput = "correct_input",
        /// Ask for approval.
        RequestApproval = "request_approval",
        /// The same call again, later.
        RetryAfter = "retry_after",
        /// Ask for the status; never repeat the write.
        QueryStatus = "query_status",
        /// A person has to look.
        HumanReview = "human_review",
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}
