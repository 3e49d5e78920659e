//! What was asked for, as it is stored: everything that a later decision or execution needs.

use countersign_canonical::Value;
use countersign_contract::{
    Arguments, Attachment, Call, CallFingerprint, CheckedAnswer, FaultCollector, HandlerAnswer,
    Path, Principal, Purpose, RequestDigest, Scope, ToolContract, read_call, read_contract,
    read_principal,
};
use countersign_dispatch::ledger::Error;
use countersign_dispatch::{CallIdentity, Proposal};
use countersign_policy::{AccessRequest, Approval, ApprovalEvidence};

use crate::document::{Document, Members, optional};
use crate::record::Record;

const SCHEMA: &str = "countersign-proposal-v1";
const DAMAGED: &str = "a proposal is not what was written";

/// A write as somebody first asked for it.
///
/// The principal's roles are those it had then: whoever performs the write loads them anew.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredProposal {
    /// For whom.
    pub principal: Principal,
    /// The call.
    pub call: Call,
    /// What its identity was used for.
    pub fingerprint: CallFingerprint,
    /// Under which contract.
    pub contract: ToolContract,
}

impl StoredProposal {
    /// Writes a proposal down.
    pub(crate) fn document(proposal: &Proposal<'_>) -> Document {
        Document::of(&Value::from([
            ("schema", SCHEMA.into()),
            ("principal", proposal.principal.to_value()),
            ("call", proposal.call.to_value()),
            ("attachment", attached(proposal.call.arguments.attachment())),
            ("fingerprint", proposal.fingerprint.to_string().into()),
            ("contract", proposal.contract.to_value()),
        ]))
    }

    /// Reads what belongs to a record; an error where it is another one's, or not as it was written.
    pub(crate) fn read(document: &Document, record: &Record) -> Result<Self, Error> {
        let stored = document.read_with(DAMAGED, read)?;
        let request = RequestDigest::of(&stored.principal, &stored.call, Some(&stored.contract));
        let scope = &record.scope;
        let is_of_record = request == record.terms.request
            && stored.principal.tenant_id == scope.tenant_id
            && stored.principal.subject_id == scope.subject_id
            && stored.call.name == scope.tool
            && stored.call.profile == record.terms.profile
            && stored.contract.revisions == record.terms.revisions
            && stored.fingerprint == CallFingerprint::of(&stored.call, Purpose::Dispatch, &request)
            && stored.call.idempotency_key.as_ref() == Some(&scope.key);
        if is_of_record {
            Ok(stored)
        } else {
            Err(Error::Damaged(DAMAGED))
        }
    }

    /// The call's identity.
    #[must_use]
    pub fn identity(&self) -> CallIdentity {
        CallIdentity::of(&self.principal, &self.call)
    }

    /// What is decided about.
    #[must_use]
    pub fn access(&self) -> AccessRequest<'_> {
        AccessRequest {
            principal: &self.principal,
            call: &self.call,
            contract: &self.contract,
        }
    }

    /// An approval of this very call, as it is offered to the pipeline.
    #[must_use]
    pub fn approval(&self, record: &Record, evidence: &ApprovalEvidence) -> Approval {
        Approval::of(
            &self.access(),
            &record.terms.request,
            evidence.approval_id.as_str().to_owned(),
            &evidence.approver,
            evidence.expires_at,
        )
    }
}

fn attached(attachment: Option<&Attachment>) -> Value {
    optional(attachment.map(Attachment::text))
}

/// Reads what travels beside a document. That it is the document's own, whoever reads both checks.
fn read_attachment(members: Members<'_>) -> Option<Attached> {
    let attachment =
        members.optional("attachment", |value| Attachment::read(value.as_str()?).ok())?;
    Some(Attached(attachment))
}

struct Attached(Option<Attachment>);

fn read(members: Members<'_>) -> Option<StoredProposal> {
    if members.text("schema")? != SCHEMA {
        return None;
    }
    let (root, mut faults) = (Path::root(), FaultCollector::new());
    let mut call = read_call(&root, members.value("call")?, &mut faults)?;
    if let Attached(Some(attachment)) = read_attachment(members)? {
        let arguments = Arguments::attached(attachment);
        if arguments.value() != call.arguments.value() {
            return None;
        }
        call.arguments = arguments;
    }
    let stored = StoredProposal {
        principal: read_principal(&root, members.value("principal")?, &mut faults)?,
        call,
        fingerprint: CallFingerprint::parse_hex(members.text("fingerprint")?)?,
        contract: read_contract(&root, members.value("contract")?, &mut faults)?,
    };
    faults.is_empty().then_some(stored)
}

const RECEIPT_SCHEMA: &str = "countersign-receipt-v1";
const RECEIPT_DAMAGED: &str = "a receipt is not what was written";

/// Writes down what was answered under a scope.
pub(crate) fn receipt_document(scope: &Scope, checked: &CheckedAnswer) -> Document {
    let answer = checked.as_answer();
    let text = |text: &Option<String>| optional(text.as_deref());
    Document::of(&Value::from([
        ("schema", RECEIPT_SCHEMA.into()),
        ("scope", scope_value(scope)),
        ("data", answer.data.clone()),
        ("attachment", attached(checked.attachment())),
        (
            "producer_revision",
            answer.producer_revision.as_str().into(),
        ),
        ("resource_revision", text(&answer.resource_revision)),
        ("observed_at", answer.observed_at.as_str().into()),
        ("downstream_request_id", text(&answer.downstream_request_id)),
        ("receipt_id", text(&answer.receipt_id)),
    ]))
}

/// Under which an answer was given: one that stands beside another operation is damage.
fn scope_value(scope: &Scope) -> Value {
    let Scope {
        tenant_id,
        subject_id,
        tool,
        key,
    } = scope;
    let texts = [
        tenant_id.as_str(),
        subject_id.as_str(),
        tool.as_str(),
        key.as_str(),
    ];
    Value::Array(texts.map(Value::from).into())
}

/// Reads the answer of an operation, and holds it against the contract it was given under; an error where it is another
/// one's.
pub(crate) fn read_receipt(
    document: &Document,
    scope: &Scope,
    proposal: &StoredProposal,
) -> Result<CheckedAnswer, Error> {
    let read = document.read_with(RECEIPT_DAMAGED, |members| {
        let is_of_scope = *members.value("scope")? == scope_value(scope);
        if members.text("schema")? != RECEIPT_SCHEMA || !is_of_scope {
            return None;
        }
        let text = |name| members.optional(name, |value| value.as_str().map(str::to_owned));
        let answer = HandlerAnswer {
            data: members.value("data")?.clone(),
            producer_revision: members.text("producer_revision")?.to_owned(),
            resource_revision: text("resource_revision")?,
            observed_at: members.text("observed_at")?.to_owned(),
            downstream_request_id: text("downstream_request_id")?,
            receipt_id: text("receipt_id")?,
        };
        Some((answer, read_attachment(members)?))
    })?;
    let (contract, arguments) = (&proposal.contract, &proposal.call.arguments);
    let checked = match read {
        (answer, Attached(None)) => answer.check(contract, arguments),
        (answer, Attached(Some(attachment))) => answer.check_with(contract, arguments, attachment),
    };
    checked.map_err(|_| Error::Damaged(RECEIPT_DAMAGED))
}
