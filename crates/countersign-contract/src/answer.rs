//! A handler's answer, before and after it was held against the tool's contract.

use std::sync::Arc;

use countersign_canonical::{DomainError, InDomain, Value};

use crate::attachment::Attachment;
use crate::blank::is_blank;
use crate::call::Arguments;
use crate::discard::discard;
use crate::fault::{FaultCollector, Faults, Path, Problem};
use crate::rule::Side;
use crate::sensitive_key::find_sensitive_key;
use crate::time::Timestamp;
use crate::tool_contract::{OutputLimits, ToolContract};

/// What a handler or a downstream's status operation answered. Nothing in it is trusted yet.
#[derive(Clone, Debug, PartialEq)]
pub struct HandlerAnswer {
    /// The business data; an object when it is in order.
    pub data: Value,
    /// Which producer says so; the contract's when it is in order.
    pub producer_revision: String,
    /// The resource's revision, where the producer names one.
    pub resource_revision: Option<String>,
    /// When the producer observed it, `YYYY-MM-DDTHH:MM:SSZ`.
    pub observed_at: String,
    /// The downstream's id of the request.
    pub downstream_request_id: Option<String>,
    /// The downstream's receipt for the effect.
    pub receipt_id: Option<String>,
}

/// An answer that keeps the tool's output contract.
///
/// Only [`HandlerAnswer::check`] makes one, and a success can be packaged from nothing else. Cloning shares the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedAnswer {
    answer: Arc<HandlerAnswer>,
    observed_at: Timestamp,
    attachment: Option<Attachment>,
}

impl HandlerAnswer {
    /// Holds the answer against the contract, and lists everything that breaks it.
    ///
    /// The data may be of any size and depth.
    pub fn check(
        self,
        contract: &ToolContract,
        arguments: &Arguments,
    ) -> Result<CheckedAnswer, Faults> {
        let mut faults = FaultCollector::new();
        let claims = Claims {
            data: &self.data,
            producer_revision: Some(&self.producer_revision),
            observed_at: Some(&self.observed_at),
        };
        let observed_at = claims.check(contract, arguments, [&DATA, &Path::root()], &mut faults);
        check_evidence(
            "resource_revision",
            self.resource_revision.as_deref(),
            &mut faults,
        );
        check_evidence(
            "downstream_request_id",
            self.downstream_request_id.as_deref(),
            &mut faults,
        );
        check_evidence("receipt_id", self.receipt_id.as_deref(), &mut faults);
        match faults.finish_with(observed_at) {
            Ok(observed_at) => Ok(CheckedAnswer {
                answer: Arc::new(self),
                observed_at,
                attachment: None,
            }),
            Err(faults) => {
                discard(self.data);
                Err(faults)
            }
        }
    }
}

impl HandlerAnswer {
    /// As [`check`](Self::check), for data that stands for an attachment: it has to name exactly that one.
    pub fn check_with(
        self,
        contract: &ToolContract,
        arguments: &Arguments,
        attachment: Attachment,
    ) -> Result<CheckedAnswer, Faults> {
        if !attachment.content().stands_in(&self.data) {
            let due = "the digest and length of what travels beside it";
            let mut faults = FaultCollector::new();
            faults.push(DATA, Problem::Expected(due));
            discard(self.data);
            return faults.finish_with(None);
        }
        let checked = self.check(contract, arguments)?;
        Ok(CheckedAnswer {
            attachment: Some(attachment),
            ..checked
        })
    }
}

const DATA: Path = Path::fixed("data");

impl CheckedAnswer {
    /// The business data: an object inside the digest domain.
    #[must_use]
    pub fn data(&self) -> &Value {
        &self.answer.data
    }

    /// The resource's revision.
    #[must_use]
    pub fn resource_revision(&self) -> Option<&str> {
        self.answer.resource_revision.as_deref()
    }

    /// When the producer observed it.
    #[must_use]
    pub fn observed_at(&self) -> &Timestamp {
        &self.observed_at
    }

    /// The downstream's id of the request.
    #[must_use]
    pub fn downstream_request_id(&self) -> Option<&str> {
        self.answer.downstream_request_id.as_deref()
    }

    /// The downstream's receipt.
    #[must_use]
    pub fn receipt_id(&self) -> Option<&str> {
        self.answer.receipt_id.as_deref()
    }

    /// What travels beside it, exactly as it came.
    #[must_use]
    pub fn attachment(&self) -> Option<&Attachment> {
        self.attachment.as_ref()
    }

    /// The answer as it came.
    #[must_use]
    pub fn as_answer(&self) -> &HandlerAnswer {
        &self.answer
    }
}

/// What a result says about its content, wherever it stands: in an answer, or in a package's projection.
pub(crate) struct Claims<'a> {
    pub(crate) data: &'a Value,
    pub(crate) producer_revision: Option<&'a str>,
    pub(crate) observed_at: Option<&'a str>,
}

impl Claims<'_> {
    pub(crate) fn check(
        &self,
        contract: &ToolContract,
        arguments: &Arguments,
        [data_path, provenance_path]: [&Path; 2],
        faults: &mut FaultCollector,
    ) -> Option<Timestamp> {
        if self.producer_revision != Some(contract.revisions.producer.as_str()) {
            let due = "the contract's producer revision";
            faults.push(
                provenance_path.member("producer_revision"),
                Problem::Expected(due),
            );
        }
        let observed_at = self.observed_at.and_then(Timestamp::parse);
        if observed_at.is_none() {
            faults.push(
                provenance_path.member("observed_at"),
                Problem::Expected(TIMESTAMP),
            );
        }
        self.check_data(contract, arguments, data_path, faults);
        observed_at
    }

    fn check_data(
        &self,
        contract: &ToolContract,
        arguments: &Arguments,
        path: &Path,
        faults: &mut FaultCollector,
    ) {
        // Bounded first: everything below descends with the value.
        let checked = match in_result_domain(self.data) {
            Ok(checked) => checked,
            Err(error) => return faults.push(path.clone(), error),
        };
        if let Some(found) = find_sensitive_key(checked, path) {
            faults.push(found, Problem::SensitiveKey);
        }
        if checked.encoded_len() > contract.limits.bytes {
            faults.push(path.clone(), Problem::TooManyBytes(contract.limits.bytes));
        }
        // A contract made in the program may name a limit that its document could not.
        let deepest = contract.limits.depth.min(OutputLimits::MAX_DEPTH);
        if depth(self.data) > deepest {
            faults.push(path.clone(), Problem::TooDeep(deepest));
        }
        contract.output.check(self.data, Side::Output, path, faults);
        for (name, member) in contract.output.iter() {
            if let Some(argument) = &member.equals_argument
                && let Some(value) = self.data.get(name)
                && arguments.get(argument) != Some(value)
            {
                faults.push(path.member(name), Problem::NotTheArgument(argument.clone()));
            }
        }
    }
}

/// What is due where a time stands.
pub(crate) const TIMESTAMP: &str = "a UTC time with second precision, YYYY-MM-DDTHH:MM:SSZ";
/// What is due where evidence stands.
pub(crate) const NULL_OR_TEXT: &str = "null or a text that is not blank";

/// Data stands two levels deep in a package, which is kept in canonical form as a whole.
fn in_result_domain(data: &Value) -> Result<InDomain<'_>, DomainError> {
    InDomain::check_at(data, 2)
}

fn check_evidence(name: &'static str, text: Option<&str>, faults: &mut FaultCollector) {
    let Some(text) = text else { return };
    if is_blank(text) {
        faults.push(Path::fixed(name), Problem::Expected(NULL_OR_TEXT));
    }
    if text.len() > MAX_EVIDENCE_BYTES {
        faults.push(Path::fixed(name), Problem::TooManyBytes(MAX_EVIDENCE_BYTES));
    }
}

/// The longest revision, request id or receipt a downstream may name; far inside the digest domain.
pub(crate) const MAX_EVIDENCE_BYTES: usize = 4096;

/// How many containers are nested in a value whose depth is bounded already.
fn depth(value: &Value) -> usize {
    match value {
        Value::Object(object) => {
            1 + object
                .iter()
                .map(|(_, member)| depth(member))
                .max()
                .unwrap_or(0)
        }
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
