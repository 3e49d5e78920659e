//! Proving that a package belongs to a call, from the outside: every binding is recomputed.

use countersign_canonical::{InDomain, Object, Value};

use crate::answer::{Claims, MAX_EVIDENCE_BYTES, NULL_OR_TEXT, TIMESTAMP};
use crate::blank::is_blank;
use crate::call::Call;
use crate::digest::{
    CallBindingDigest, PrincipalReference, RequestDigest, ResultDigest, StatusRef,
};
use crate::error_catalog::ErrorCode;
use crate::fault::{Binding, FaultCollector, Faults, Path, Problem};
use crate::model_result::{
    DISPATCHER_LABEL, DISPATCHER_REVISION, Delivery, MODEL_RESULT_SCHEMA, Outcome, Status, Trust,
};
use crate::principal::Principal;
use crate::protected_audit::{AUDIT_SCHEMA, AUDIT_VISIBILITY, Downstream, provider_context};
use crate::tool_contract::{ToolContract, texts};

/// The proof that a package belongs to a call; what a provider sees is made of nothing else.
///
/// It holds the model's projection only: the audit projection cannot leak through it.
#[derive(Clone, Debug, PartialEq)]
pub struct VerifiedPackage<'a> {
    call: &'a Call,
    model_result: String,
    status: Status,
}

impl<'a> VerifiedPackage<'a> {
    /// The call it belongs to.
    #[must_use]
    pub fn call(&self) -> &'a Call {
        self.call
    }

    /// The model's projection in canonical form.
    #[must_use]
    pub fn model_result(&self) -> &str {
        &self.model_result
    }

    /// How the call ended.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }
}

const MODEL: Path = Path::fixed("model_result");
const ERROR: Path = Path::fixed("model_result.error");
const EXECUTION: Path = Path::fixed("model_result.execution");
const PROVENANCE: Path = Path::fixed("model_result.provenance");
const AUDIT: Path = Path::fixed("protected_audit");
const BINDING: Path = Path::fixed("protected_audit.binding");
const DOWNSTREAM: Path = Path::fixed("protected_audit.downstream");

/// Proves that the package is a result of this call under this contract (none, where the tool is not registered).
///
/// Lists everything that is wrong, each with its place. It accepts what a forger made who recomputed every digest, and
/// any list of texts as `redactions`: digests expose mix-ups and corruption, not forgery.
pub fn verify<'a>(
    principal: &Principal,
    call: &'a Call,
    contract: Option<&ToolContract>,
    package: &Value,
) -> Result<VerifiedPackage<'a>, Faults> {
    let mut faults = FaultCollector::new();
    let verified = Verification {
        principal,
        call,
        contract,
    }
    .package(package, &mut faults);
    faults.finish_with(verified)
}

/// What the package is held against.
struct Verification<'p, 'a> {
    principal: &'p Principal,
    call: &'a Call,
    contract: Option<&'p ToolContract>,
}

impl<'a> Verification<'_, 'a> {
    fn package(&self, package: &Value, faults: &mut FaultCollector) -> Option<VerifiedPackage<'a>> {
        let package =
            faults.exact_object(&Path::root(), package, &["model_result", "protected_audit"])?;
        let model_value = package.get("model_result")?;
        let audit = package.get("protected_audit")?;
        let status = self.model_result(model_value, faults);
        let model_result = self.audit(audit, model_value, faults)?;
        Some(VerifiedPackage {
            call: self.call,
            model_result,
            status: status?,
        })
    }

    fn model_result(&self, model: &Value, faults: &mut FaultCollector) -> Option<Status> {
        let members = [
            "data",
            "error",
            "execution",
            "provenance",
            "schema_version",
            "status",
        ];
        let model = faults.exact_object(&MODEL, model, &members)?;
        expect_text(model, &MODEL, "schema_version", MODEL_RESULT_SCHEMA, faults);
        let outcome = execution(model, faults);
        let provenance = provenance(model, faults);
        let Some(status) = text(model, "status").and_then(Status::parse) else {
            faults.push(
                MODEL.member("status"),
                Problem::Expected("succeeded, failed or unknown"),
            );
            return None;
        };
        match status {
            Status::Succeeded => self.success(model, outcome, provenance.as_ref(), faults),
            Status::Failed | Status::Unknown => {
                error(model, status, outcome, faults);
                if let Some(provenance) = provenance {
                    provenance.expect_dispatcher(faults);
                }
            }
        }
        Some(status)
    }

    fn success(
        &self,
        model: &Object,
        outcome: Option<Outcome>,
        provenance: Option<&Provenance<'_>>,
        faults: &mut FaultCollector,
    ) {
        if model.get("error").is_none_or(|error| !error.is_null()) {
            faults.push(
                ERROR,
                Problem::Contradicts("status: a success has error null"),
            );
        }
        if outcome.is_some_and(|outcome| outcome != Outcome::Committed) {
            faults.push(
                EXECUTION.member("outcome"),
                Problem::Contradicts("status: a success is committed"),
            );
        }
        let Some(contract) = self.contract else {
            faults.push(
                MODEL.member("status"),
                Problem::Contradicts("the tool, which is not registered"),
            );
            return;
        };
        let Some(provenance) = provenance else { return };
        if provenance
            .trust
            .is_some_and(|trust| trust != Trust::UntrustedData)
        {
            faults.push(
                PROVENANCE.member("trust"),
                Problem::Expected("untrusted_data for business data"),
            );
        }
        if provenance
            .source_label
            .is_some_and(|label| label != contract.source_label.as_str())
        {
            faults.push(
                PROVENANCE.member("source_label"),
                Problem::Unbound(Binding::ToolContract),
            );
        }
        let Some(data) = model.get("data") else {
            return;
        };
        let claims = Claims {
            data,
            producer_revision: provenance.producer_revision,
            observed_at: provenance.observed_at,
        };
        let paths = [&Path::fixed("model_result.data"), &PROVENANCE];
        claims.check(contract, &self.call.arguments, paths, faults);
    }

    /// Checks the audit projection and returns the canonical model result that its digests cover.
    fn audit(&self, audit: &Value, model: &Value, faults: &mut FaultCollector) -> Option<String> {
        let members = [
            "binding",
            "downstream",
            "operation_id",
            "principal_ref",
            "provider_context",
            "redactions",
            "schema_version",
            "tool_contract",
            "visibility",
        ];
        let audit = faults.exact_object(&AUDIT, audit, &members)?;
        expect_text(audit, &AUDIT, "schema_version", AUDIT_SCHEMA, faults);
        expect_text(audit, &AUDIT, "visibility", AUDIT_VISIBILITY, faults);
        if text(audit, "operation_id") != Some(self.call.operation_id.as_str()) {
            faults.push(
                AUDIT.member("operation_id"),
                Problem::Unbound(Binding::Operation),
            );
        }
        if text(audit, "principal_ref") != Some(&PrincipalReference::of(self.principal).to_string())
        {
            faults.push(
                AUDIT.member("principal_ref"),
                Problem::Unbound(Binding::Principal),
            );
        }
        let context = provider_context(
            self.call.profile,
            &self.call.response_id,
            &self.call.call_id,
        );
        expect_texts(
            audit,
            "provider_context",
            &context,
            Binding::ProviderContext,
            faults,
        );
        let revisions = self.contract.map(|contract| &contract.revisions);
        let reference = texts(&self.call.name, revisions);
        expect_texts(
            audit,
            "tool_contract",
            &reference,
            Binding::ToolContract,
            faults,
        );
        redactions(audit, faults);
        let downstream = downstream(audit, faults);
        self.binding(audit, model, downstream.as_ref(), faults)
    }

    fn binding(
        &self,
        audit: &Object,
        model: &Value,
        downstream: Option<&Downstream>,
        faults: &mut FaultCollector,
    ) -> Option<String> {
        let model = faults.take(&MODEL, InDomain::check(model))?;
        let members = ["call_binding_sha256", "request_sha256", "result_sha256"];
        let binding = faults.exact_object(&BINDING, audit.get("binding")?, &members)?;
        let request = RequestDigest::of(self.principal, self.call, self.contract);
        let (model_result, result) = model.encode_with_digest();
        let result = ResultDigest::new(result);
        let no_evidence = Downstream::default();
        let call = CallBindingDigest::of(
            self.principal,
            self.call,
            self.contract,
            &request,
            &result,
            downstream.unwrap_or(&no_evidence),
        );
        let expected = [
            ("call_binding_sha256", call.as_digest(), Binding::Call),
            ("request_sha256", request.as_digest(), Binding::Request),
            ("result_sha256", result.as_digest(), Binding::Result),
        ];
        for (name, digest, bound) in expected {
            if text(binding, name) != Some(digest.to_hex().as_str()) {
                faults.push(BINDING.member(name), Problem::Unbound(bound));
            }
        }
        String::from_utf8(model_result).ok()
    }
}

/// A projection's provenance, as far as it is readable.
struct Provenance<'v> {
    source_label: Option<&'v str>,
    producer_revision: Option<&'v str>,
    observed_at: Option<&'v str>,
    trust: Option<Trust>,
}

fn provenance<'v>(model: &'v Object, faults: &mut FaultCollector) -> Option<Provenance<'v>> {
    let members = [
        "observed_at",
        "producer_revision",
        "resource_revision",
        "source_label",
        "trust",
    ];
    let provenance = faults.exact_object(&PROVENANCE, model.get("provenance")?, &members)?;
    for name in ["producer_revision", "source_label"] {
        if text(provenance, name).is_none_or(is_blank) {
            faults.push(
                PROVENANCE.member(name),
                Problem::Expected("a text that is not blank"),
            );
        }
    }
    if !is_null_or_text(provenance, "resource_revision") {
        faults.push(
            PROVENANCE.member("resource_revision"),
            Problem::Expected(NULL_OR_TEXT),
        );
    }
    let trust = text(provenance, "trust").and_then(Trust::parse);
    if trust.is_none() {
        faults.push(
            PROVENANCE.member("trust"),
            Problem::Expected("untrusted_data or trusted_control"),
        );
    }
    Some(Provenance {
        source_label: text(provenance, "source_label"),
        producer_revision: text(provenance, "producer_revision"),
        observed_at: text(provenance, "observed_at"),
        trust,
    })
}

impl Provenance<'_> {
    /// An error speaks for the dispatcher, and for nobody else.
    fn expect_dispatcher(&self, faults: &mut FaultCollector) {
        if self.source_label != Some(DISPATCHER_LABEL) {
            faults.push(
                PROVENANCE.member("source_label"),
                Problem::Expected("the dispatcher's label"),
            );
        }
        if self.producer_revision != Some(DISPATCHER_REVISION) {
            faults.push(
                PROVENANCE.member("producer_revision"),
                Problem::Expected("the dispatcher's revision"),
            );
        }
        if self
            .trust
            .is_some_and(|trust| trust != Trust::TrustedControl)
        {
            faults.push(
                PROVENANCE.member("trust"),
                Problem::Expected("trusted_control for an error"),
            );
        }
        if self
            .observed_at
            .and_then(crate::time::Timestamp::parse)
            .is_none()
        {
            faults.push(
                PROVENANCE.member("observed_at"),
                Problem::Expected(TIMESTAMP),
            );
        }
    }
}

fn execution(model: &Object, faults: &mut FaultCollector) -> Option<Outcome> {
    let members = ["complete", "delivery", "outcome", "truncated"];
    let execution = faults.exact_object(&EXECUTION, model.get("execution")?, &members)?;
    if text(execution, "delivery")
        .and_then(Delivery::parse)
        .is_none()
    {
        let due = "fresh, local_replay or receipt_reconciled";
        faults.push(EXECUTION.member("delivery"), Problem::Expected(due));
    }
    for (name, due, said) in [("complete", true, "true"), ("truncated", false, "false")] {
        if execution.get(name).and_then(Value::as_bool) != Some(due) {
            faults.push(EXECUTION.member(name), Problem::Expected(said));
        }
    }
    let outcome = text(execution, "outcome").and_then(Outcome::parse);
    if outcome.is_none() {
        faults.push(
            EXECUTION.member("outcome"),
            Problem::Expected("not_started, committed or unknown"),
        );
    }
    outcome
}

fn error(model: &Object, status: Status, outcome: Option<Outcome>, faults: &mut FaultCollector) {
    if model.get("data").is_none_or(|data| !data.is_null()) {
        faults.push(
            MODEL.member("data"),
            Problem::Contradicts("status: only a success has data"),
        );
    }
    let members = [
        "category",
        "code",
        "recovery",
        "retry_after_ms",
        "safe_message",
    ];
    let Some(error) = model
        .get("error")
        .and_then(|error| faults.exact_object(&ERROR, error, &members))
    else {
        return;
    };
    let Some(code) = text(error, "code").and_then(ErrorCode::parse) else {
        return faults.push(
            ERROR.member("code"),
            Problem::Expected("a code of the error catalog"),
        );
    };
    let entry = code.entry();
    for (name, due) in [
        ("category", entry.category.as_str()),
        ("recovery", entry.recovery.as_str()),
        ("safe_message", entry.safe_message),
    ] {
        if text(error, name) != Some(due) {
            faults.push(
                ERROR.member(name),
                Problem::Expected("what the error catalog fixes"),
            );
        }
    }
    let retry_after = entry
        .retry_after_ms
        .map_or(Value::Null, |wait| Value::from(i64::from(wait)));
    if error.get("retry_after_ms") != Some(&retry_after) {
        faults.push(
            ERROR.member("retry_after_ms"),
            Problem::Expected("what the error catalog fixes"),
        );
    }
    if status != code.status() {
        faults.push(
            MODEL.member("status"),
            Problem::Contradicts("the error code"),
        );
    }
    if outcome.is_some_and(|outcome| outcome != entry.outcome) {
        faults.push(
            EXECUTION.member("outcome"),
            Problem::Contradicts("the error code"),
        );
    }
}

fn downstream(audit: &Object, faults: &mut FaultCollector) -> Option<Downstream> {
    let members = ["receipt_id", "request_id", "status_ref"];
    let downstream = faults.exact_object(&DOWNSTREAM, audit.get("downstream")?, &members)?;
    let mut readable = true;
    for name in ["receipt_id", "request_id"] {
        if !is_null_or_text(downstream, name) {
            faults.push(DOWNSTREAM.member(name), Problem::Expected(NULL_OR_TEXT));
            readable = false;
        }
        if text(downstream, name).is_some_and(|text| text.len() > MAX_EVIDENCE_BYTES) {
            faults.push(
                DOWNSTREAM.member(name),
                Problem::TooManyBytes(MAX_EVIDENCE_BYTES),
            );
            readable = false;
        }
    }
    let status_ref = text(downstream, "status_ref").and_then(StatusRef::parse);
    if status_ref.is_none()
        && downstream
            .get("status_ref")
            .is_none_or(|value| !value.is_null())
    {
        let due = "null or status_ and 32 lower-case hex digits";
        faults.push(DOWNSTREAM.member("status_ref"), Problem::Expected(due));
        readable = false;
    }
    readable.then(|| Downstream {
        request_id: text(downstream, "request_id").map(str::to_owned),
        receipt_id: text(downstream, "receipt_id").map(str::to_owned),
        status_ref,
    })
}

fn redactions(audit: &Object, faults: &mut FaultCollector) {
    let texts = audit
        .get("redactions")
        .and_then(Value::as_array)
        .is_some_and(|items| {
            items
                .iter()
                .all(|item| item.as_str().is_some_and(|text| !is_blank(text)))
        });
    if !texts {
        faults.push(
            AUDIT.member("redactions"),
            Problem::Expected("a list of texts that are not blank"),
        );
    }
}

fn text<'v>(object: &'v Object, name: &str) -> Option<&'v str> {
    object.get(name).and_then(Value::as_str)
}

fn is_null_or_text(object: &Object, name: &str) -> bool {
    match object.get(name) {
        Some(Value::Null) => true,
        Some(Value::String(text)) => !is_blank(text),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) | None => {
            false
        }
    }
}

fn expect_text(
    object: &Object,
    path: &Path,
    name: &str,
    due: &'static str,
    faults: &mut FaultCollector,
) {
    if text(object, name) != Some(due) {
        faults.push(path.member(name), Problem::Expected(due));
    }
}

/// Holds an object of texts against exactly these; the fault names each member that differs.
fn expect_texts(
    audit: &Object,
    name: &'static str,
    due: &[(&'static str, &str)],
    bound: Binding,
    faults: &mut FaultCollector,
) {
    let path = || AUDIT.member(name);
    let Some(value) = audit.get(name) else { return };
    let equal = value.as_object().is_some_and(|object| {
        // What is due stands in canonical order, as an object's members do.
        object.len() == due.len()
            && object
                .iter()
                .zip(due)
                .all(|((name, value), due)| name == due.0 && value.as_str() == Some(due.1))
    });
    if equal {
        return;
    }
    let names: Vec<&str> = due.iter().map(|(name, _)| *name).collect();
    if let Some(object) = faults.exact_object(&path(), value, &names) {
        for (name, due) in due {
            if text(object, name) != Some(due) {
                faults.push(path().member(name), Problem::Unbound(bound));
            }
        }
    }
}
