//! The model's projection: the only thing a model or a provider ever sees of a call.

use countersign_canonical::{Encoder, Sink, ToolResult, Value};

use crate::error_catalog::{ErrorCode, wire_enum};
use crate::identifier::{Revision, SourceLabel};
use crate::time::Timestamp;

/// The schema version of the model's projection.
pub const MODEL_RESULT_SCHEMA: &str = "tool-model-result-v2";
/// The source label of a result that the dispatcher itself wrote.
pub const DISPATCHER_LABEL: &str = "offline-dispatcher";
/// The producer revision of a result that the dispatcher itself wrote.
pub const DISPATCHER_REVISION: &str = "offline-dispatcher-v2";

wire_enum! {
    /// How a call ended, for the model.
    Status {
        /// A receipt proves it.
        Succeeded = "succeeded",
        /// Proven not started.
        Failed = "failed",
        /// Not known.
        Unknown = "unknown",
    }
}

wire_enum! {
    /// What is known about the effect.
    Outcome {
        /// Proven not to have begun.
        NotStarted = "not_started",
        /// Proven to have happened.
        Committed = "committed",
        /// Neither is proven.
        Unknown = "unknown",
    }
}

wire_enum! {
    /// How the result came to this caller.
    Delivery {
        /// From this very execution, or a refusal.
        Fresh = "fresh",
        /// From the record of an earlier execution under the same key.
        LocalReplay = "local_replay",
        /// From a downstream receipt found later.
        ReceiptReconciled = "receipt_reconciled",
    }
}

wire_enum! {
    /// How far the content of a result may be trusted.
    Trust {
        /// Business data from a tool: never instructions.
        UntrustedData = "untrusted_data",
        /// Fixed texts of the dispatcher.
        TrustedControl = "trusted_control",
    }
}

/// The model's projection of one call. Success and error exclude each other by shape.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelResult {
    /// A tool's checked answer.
    Success(SuccessResult),
    /// A code of the fixed catalog.
    Error {
        /// The code; everything else the model sees follows from it.
        code: ErrorCode,
        /// When the dispatcher decided.
        observed_at: Timestamp,
    },
}

/// What a successful result carries. Made from a checked answer only.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SuccessResult {
    /// The tool's data: an object in the digest domain.
    pub data: Value,
    /// How it came to this caller.
    pub delivery: Delivery,
    /// The tool's label.
    pub source_label: SourceLabel,
    /// The producer that answered.
    pub producer_revision: Revision,
    /// The resource's revision, where the producer names one.
    pub resource_revision: Option<String>,
    /// When the producer observed it.
    pub observed_at: Timestamp,
}

impl ModelResult {
    /// How the call ended.
    #[must_use]
    pub fn status(&self) -> Status {
        match self {
            Self::Success(_) => Status::Succeeded,
            Self::Error { code, .. } => code.status(),
        }
    }

    /// What is known about the effect.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Success(_) => Outcome::Committed,
            Self::Error { code, .. } => code.entry().outcome,
        }
    }

    /// How the result came to this caller.
    #[must_use]
    pub fn delivery(&self) -> Delivery {
        match self {
            Self::Success(success) => success.delivery,
            Self::Error { .. } => Delivery::Fresh,
        }
    }

    /// The error code, unless it succeeded.
    #[must_use]
    pub fn error_code(&self) -> Option<ErrorCode> {
        match self {
            Self::Success(_) => None,
            Self::Error { code, .. } => Some(*code),
        }
    }

    /// The tool's data, when it succeeded.
    #[must_use]
    pub fn data(&self) -> Option<&Value> {
        match self {
            Self::Success(success) => Some(&success.data),
            Self::Error { .. } => None,
        }
    }

    /// Writes the projection; members stand in canonical order.
    pub(crate) fn encode<S: Sink>(&self, encoder: &mut Encoder<'_, ToolResult, S>) {
        encoder.begin_object();
        encoder.key("data");
        match self {
            Self::Success(success) => encoder.value(&success.data),
            Self::Error { .. } => encoder.null(),
        };
        encoder.key("error");
        match self {
            Self::Success(_) => {
                encoder.null();
            }
            Self::Error { code, .. } => encode_error(*code, encoder),
        }
        encoder.key("execution");
        encoder.begin_object();
        encoder.key("complete");
        encoder.bool(true);
        encoder.key("delivery");
        encoder.string(self.delivery().as_str());
        encoder.key("outcome");
        encoder.string(self.outcome().as_str());
        encoder.key("truncated");
        encoder.bool(false);
        encoder.end_object();
        encoder.key("provenance");
        self.encode_provenance(encoder);
        encoder.key("schema_version");
        encoder.string(MODEL_RESULT_SCHEMA);
        encoder.key("status");
        encoder.string(self.status().as_str());
        encoder.end_object();
    }

    fn encode_provenance<S: Sink>(&self, encoder: &mut Encoder<'_, ToolResult, S>) {
        let (observed_at, producer_revision, resource_revision, source_label, trust) = match self {
            Self::Success(success) => (
                &success.observed_at,
                success.producer_revision.as_str(),
                success.resource_revision.as_deref(),
                success.source_label.as_str(),
                Trust::UntrustedData,
            ),
            Self::Error { observed_at, .. } => (
                observed_at,
                DISPATCHER_REVISION,
                None,
                DISPATCHER_LABEL,
                Trust::TrustedControl,
            ),
        };
        encoder.begin_object();
        encoder.key("observed_at");
        encoder.string(observed_at.as_str());
        encoder.key("producer_revision");
        encoder.string(producer_revision);
        encoder.key("resource_revision");
        encoder.optional_string(resource_revision);
        encoder.key("source_label");
        encoder.string(source_label);
        encoder.key("trust");
        encoder.string(trust.as_str());
        encoder.end_object();
    }
}

fn encode_error<S: Sink>(code: ErrorCode, encoder: &mut Encoder<'_, ToolResult, S>) {
    let entry = code.entry();
    encoder.begin_object();
    encoder.key("category");
    encoder.string(entry.category.as_str());
    encoder.key("code");
    encoder.string(entry.code);
    encoder.key("recovery");
    encoder.string(entry.recovery.as_str());
    encoder.key("retry_after_ms");
    match entry.retry_after_ms {
        Some(milliseconds) => encoder.integer(i64::from(milliseconds)),
        None => encoder.null(),
    };
    encoder.key("safe_message");
    encoder.string(entry.safe_message);
    encoder.end_object();
}

impl From<&ModelResult> for Value {
    fn from(result: &ModelResult) -> Self {
        crate::wire::value_of(|encoder| result.encode(encoder))
    }
}
