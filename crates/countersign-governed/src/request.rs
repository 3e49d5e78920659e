//! Execution requests: built from an intent and a live approval, within every limit of the endpoint.

use countersign_canonical::{
    Ascii, Digest, Limits, Object, Utf8, Value, digest, digest_with, encode, parse,
};

use crate::catalog::Catalog;
use crate::contract::{
    APPROVAL_BINDING_FIELDS, APPROVAL_BINDING_SCHEMA, APPROVAL_MAX_LIFETIME_SECONDS,
    EXECUTION_REQUEST_FIELDS, EXECUTION_REQUEST_MAX_BYTES, EXECUTION_REQUEST_MAX_DEPTH,
    EXECUTION_REQUEST_MAX_NODES, EXECUTION_REQUEST_SCHEMA, EXECUTION_REQUEST_STRING_MAX_CHARS,
};
use crate::digests::{claimed, hex};
use crate::envelope::Envelope;
use crate::epoch::Epoch;
use crate::fault::{
    BindingReason, DocumentReason, Faults, FieldReason, Kind, Reason, Report, TimeReason,
    ValueReason,
};
use crate::gate::DispatchableGate;
use crate::grammar::Grammar;
use crate::names::{ActionId, IntentId};
use crate::place::Path;
use crate::scalars::{Fields, check_text, fits_63_bits, grammar_text, is_one, literal};

/// A request that an endpoint would take, by this host's own reading of the contract.
///
/// There are two ways to one: [`ExecutionRequest::build`] needs a live approval;
/// [`ExecutionRequest::check`] reads a document that was built before.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionRequest {
    value: Value,
    binding: RequestBinding,
}

/// What an answer must repeat of its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestBinding {
    pub(crate) execution_digest: Digest<Utf8>,
    pub(crate) action_id: ActionId,
    pub(crate) action_digest: Digest<Utf8>,
    pub(crate) intent_id: IntentId,
    pub(crate) intent_digest: Digest<Ascii>,
    pub(crate) tool_name: String,
}

impl ExecutionRequest {
    /// Builds the request of an approved action. Consumes the approval.
    ///
    /// Refuses an approval of another action, payload or tool, and whatever the
    /// endpoint would refuse, so that a misfit fails while nothing is consumed
    /// in the store yet.
    ///
    /// ```compile_fail
    /// use countersign_governed::{Catalog, Envelope, ExecutionRequest, OwnerGate};
    /// fn unchecked(catalog: &Catalog, envelope: &Envelope, gate: OwnerGate) {
    ///     let _ = ExecutionRequest::build(catalog, envelope, gate);
    /// }
    /// ```
    pub fn build(
        catalog: &Catalog,
        envelope: &Envelope,
        approval: DispatchableGate,
    ) -> Result<Self, Faults> {
        let mut report = Report::default();
        let root = Path::ROOT;
        let intent = envelope.intent();
        let gate = approval.into_gate();
        let action = gate.action();
        report.require(
            &root.member("action_digest"),
            action.payload_sha256 == envelope.sha256(),
            BindingReason::Differs {
                from: "the payload that was approved",
            },
        );
        report.require(
            &root.member("tool_name"),
            gate.tool() == intent.tool_name().as_str(),
            BindingReason::Differs {
                from: "the tool that was approved",
            },
        );
        report.finish(Some(()))?;

        let text = |text: &str| Value::from(text);
        let binding = Object::from_iter([
            ("approval_id".to_owned(), text(gate.approval_id().as_str())),
            (
                "authorization_receipt_sha256".to_owned(),
                Value::from(hex(&gate.evidence_sha256())),
            ),
            ("decided_at".to_owned(), gate.decided_at().to_value()),
            ("decision_id".to_owned(), text(gate.decision_id())),
            ("expires_at".to_owned(), gate.expires_at().to_value()),
            ("revision".to_owned(), Value::from(1_i64)),
            ("schema".to_owned(), text(APPROVAL_BINDING_SCHEMA)),
            ("version".to_owned(), Value::from(1_i64)),
        ]);
        let mut request = Object::from_iter([
            (
                "action_digest".to_owned(),
                Value::from(hex(&action.payload_sha256)),
            ),
            ("action_id".to_owned(), text(action.action_id.as_str())),
            ("approval".to_owned(), Value::Object(binding)),
            ("args".to_owned(), intent.arguments().value().clone()),
            (
                "args_sha256".to_owned(),
                Value::from(hex(&intent.args_sha256())),
            ),
            (
                "intent_digest".to_owned(),
                Value::from(hex(&intent.intent_digest())),
            ),
            ("intent_id".to_owned(), text(intent.intent_id().as_str())),
            ("schema".to_owned(), text(EXECUTION_REQUEST_SCHEMA)),
            ("tool_name".to_owned(), text(intent.tool_name().as_str())),
            ("version".to_owned(), Value::from(1_i64)),
        ]);
        let execution_digest = digest_without_itself(&request);
        request.insert(
            "execution_digest".to_owned(),
            Value::from(hex(&execution_digest)),
        );
        let request = Value::Object(request);
        let body = encode::<Utf8>(&request);
        Self::within_limits(catalog, request, body.len(), None)
    }

    /// Checks a request's bytes as the endpoint would, and the action id of its path where one is given.
    pub fn check(
        catalog: &Catalog,
        path_action_id: Option<&str>,
        input: &[u8],
    ) -> Result<Self, Faults> {
        if input.len() > EXECUTION_REQUEST_MAX_BYTES {
            return refuse(DocumentReason::TooLarge {
                maximum_bytes: EXECUTION_REQUEST_MAX_BYTES,
            });
        }
        // The bytes bound everything; the other limits are judged with their places below.
        let limits = Limits {
            bytes: EXECUTION_REQUEST_MAX_BYTES,
            depth: 64,
            nodes: EXECUTION_REQUEST_MAX_BYTES,
            string_chars: EXECUTION_REQUEST_MAX_BYTES,
            members: EXECUTION_REQUEST_MAX_BYTES,
        };
        match parse(input, &limits) {
            Ok(request) => Self::within_limits(catalog, request, input.len(), path_action_id),
            Err(error) => refuse(DocumentReason::NotStrictJson(error.to_string())),
        }
    }

    /// Shows the request as a JSON object.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Encodes the request's body: canonical UTF-8 JSON of at most 32 KiB.
    pub fn body(&self) -> Vec<u8> {
        encode::<Utf8>(&self.value)
    }

    /// Shows the digest that binds everything in the request.
    pub fn execution_digest(&self) -> Digest<Utf8> {
        self.binding.execution_digest
    }

    /// Names the action.
    pub fn action_id(&self) -> &ActionId {
        &self.binding.action_id
    }

    /// Shows what an answer must repeat.
    pub fn binding(&self) -> &RequestBinding {
        &self.binding
    }

    fn within_limits(
        catalog: &Catalog,
        request: Value,
        bytes: usize,
        path_action_id: Option<&str>,
    ) -> Result<Self, Faults> {
        let mut report = Report::default();
        let path = Path::ROOT;
        report.require(
            &path,
            bytes <= EXECUTION_REQUEST_MAX_BYTES,
            DocumentReason::TooLarge {
                maximum_bytes: EXECUTION_REQUEST_MAX_BYTES,
            },
        );
        check_limits(&request, &mut report);
        let binding = check_fields(catalog, &request, path_action_id, &path, &mut report);
        let binding = report.finish(binding)?;
        Ok(Self {
            value: request,
            binding,
        })
    }
}

impl RequestBinding {
    /// Reads what an answer must repeat from a request that was sent before.
    ///
    /// The request itself is not judged again: it may have been sent under another catalog.
    pub fn of_sent(request: &Value) -> Result<Self, Faults> {
        let mut report = Report::default();
        let binding = Self::read(request, &Path::ROOT, &mut report);
        report.finish(binding)
    }

    pub(crate) fn read(request: &Value, path: &Path<'_>, report: &mut Report) -> Option<Self> {
        let fields = Fields::exact(request, &EXECUTION_REQUEST_FIELDS, path, report)?;
        let execution_digest = fields.read("execution_digest", path, report, claimed);
        let action_id = fields.read("action_id", path, report, |value| {
            grammar_text(value, Grammar::ActionId)
        });
        let action_digest = fields.read("action_digest", path, report, claimed);
        let intent_id = fields.read("intent_id", path, report, |value| {
            grammar_text(value, Grammar::IntentId)
        });
        let intent_digest = fields.read("intent_digest", path, report, claimed);
        let tool_name = fields.read("tool_name", path, report, |value| {
            value
                .as_str()
                .ok_or_else(|| Reason::from(FieldReason::MustBe(Kind::Text)))
        });
        Some(Self {
            execution_digest: execution_digest?,
            action_id: ActionId::parse(action_id?).ok()?,
            action_digest: action_digest?,
            intent_id: IntentId::parse(intent_id?).ok()?,
            intent_digest: intent_digest?,
            tool_name: tool_name?.to_owned(),
        })
    }
}

fn check_fields(
    catalog: &Catalog,
    request: &Value,
    path_action_id: Option<&str>,
    path: &Path<'_>,
    report: &mut Report,
) -> Option<RequestBinding> {
    let before = report.len();
    let binding = RequestBinding::read(request, path, report);
    let fields = Fields::of(request.as_object()?);
    fields.read("schema", path, report, |value| {
        literal(value, EXECUTION_REQUEST_SCHEMA)
    });
    fields.require("version", path, report, is_one, FieldReason::MustBeOne);
    if let Some(path_action_id) = path_action_id {
        let same = |value: &Value| value.as_str() == Some(path_action_id);
        fields.require(
            "action_id",
            path,
            report,
            same,
            BindingReason::Differs {
                from: "the action id of the path",
            },
        );
    }
    if let Some(args) = fields.find("args") {
        let args_sha256 = digest::<Ascii>(args);
        if let Some(found) = fields.read("args_sha256", path, report, claimed) {
            report.require(
                &path.member("args_sha256"),
                found == args_sha256,
                BindingReason::DigestMismatch { of: "args" },
            );
        }
        if let Some(name) = fields.find("tool_name").and_then(Value::as_str) {
            match catalog.tool(name) {
                Some(tool) => {
                    tool.check(args, &path.member("args"), report);
                }
                None => report.add(&path.member("tool_name"), BindingReason::UnknownTool),
            }
        }
    }
    if let Some(approval) = fields.find("approval") {
        check_approval(approval, &path.member("approval"), report);
    }
    let binding = binding?;
    if report.len() == before {
        // The digest of the whole is judged only where all that it covers is right.
        report.require(
            &path.member("execution_digest"),
            binding.execution_digest == digest_without_itself(request.as_object()?),
            BindingReason::DigestMismatch {
                of: "the request without itself",
            },
        );
    }
    Some(binding)
}

fn check_approval(approval: &Value, path: &Path<'_>, report: &mut Report) {
    let Some(fields) = Fields::exact(approval, &APPROVAL_BINDING_FIELDS, path, report) else {
        return;
    };
    fields.read("schema", path, report, |value| {
        literal(value, APPROVAL_BINDING_SCHEMA)
    });
    fields.require("version", path, report, is_one, FieldReason::MustBeOne);
    fields.require("revision", path, report, is_one, FieldReason::MustBeOne);
    fields.read("approval_id", path, report, |value| {
        grammar_text(value, Grammar::ApprovalId)
    });
    fields.read("decision_id", path, report, |value| {
        grammar_text(value, Grammar::DecisionId)
    });
    fields.read(
        "authorization_receipt_sha256",
        path,
        report,
        claimed::<Utf8>,
    );
    let epoch = |value: &Value| {
        Epoch::from_value(value).ok_or_else(|| Reason::from(FieldReason::MustBe(Kind::Epoch)))
    };
    fields.read("decided_at", path, report, epoch);
    fields.read("expires_at", path, report, epoch);
    let times = fields.find("decided_at").zip(fields.find("expires_at"));
    let lifetime =
        times.and_then(|(decided_at, expires_at)| Epoch::lifetime_seconds(decided_at, expires_at));
    if let Some(lifetime) = lifetime {
        let path = path.member("expires_at");
        report.require(&path, lifetime > 0.0, TimeReason::NotAfter("decided_at"));
        report.require(
            &path,
            lifetime <= APPROVAL_MAX_LIFETIME_SECONDS,
            TimeReason::LifetimeTooLong {
                maximum_seconds: 86_400,
                after: "decided_at",
            },
        );
    }
}

/// Checks the limits that hold for every value of a request, wherever it stands.
fn check_limits(request: &Value, report: &mut Report) {
    let mut nodes = 0;
    check_limits_of(request, 0, &mut nodes, &Path::ROOT, report);
    report.require(
        &Path::ROOT,
        nodes <= EXECUTION_REQUEST_MAX_NODES,
        ValueReason::TooManyNodes {
            maximum: EXECUTION_REQUEST_MAX_NODES,
        },
    );
}

fn check_limits_of(
    value: &Value,
    depth: usize,
    nodes: &mut usize,
    path: &Path<'_>,
    report: &mut Report,
) {
    *nodes = nodes.saturating_add(1);
    if depth > EXECUTION_REQUEST_MAX_DEPTH {
        report.add(
            path,
            ValueReason::TooDeep {
                maximum: EXECUTION_REQUEST_MAX_DEPTH,
            },
        );
        return;
    }
    let below = depth.saturating_add(1);
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => {
            report.require(path, fits_63_bits(number), ValueReason::IntegerTooLarge);
        }
        Value::String(text) => {
            report.keep(
                path,
                check_text(text, EXECUTION_REQUEST_STRING_MAX_CHARS, true),
            );
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                check_limits_of(element, below, nodes, &path.element(index), report);
            }
        }
        Value::Object(object) => {
            for (name, member) in object.iter() {
                // A member name counts as a value of its own.
                *nodes = nodes.saturating_add(1);
                let path = path.member(name);
                report.keep(
                    &path,
                    check_text(name, EXECUTION_REQUEST_STRING_MAX_CHARS, true),
                );
                check_limits_of(member, below, nodes, &path, report);
            }
        }
    }
}

fn digest_without_itself(request: &Object) -> Digest<Utf8> {
    digest_with::<Utf8>(|encoder| {
        encoder.begin_object();
        for (name, value) in request
            .iter()
            .filter(|(name, _)| *name != "execution_digest")
        {
            encoder.key(name).value(value);
        }
        encoder.end_object();
    })
}

fn refuse<T>(reason: DocumentReason) -> Result<T, Faults> {
    let mut report = Report::default();
    report.add(&Path::ROOT, reason);
    report.finish(None)
}
