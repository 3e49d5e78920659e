//! Documents that ask for a judgement: what a command line reads from a file.

use countersign_canonical::Value;

use crate::catalog::{Catalog, read};
use crate::contract::INTENT_MAX_BYTES;
use crate::envelope::Envelope;
use crate::epoch::Epoch;
use crate::fault::{Faults, FieldReason, Kind, Reason, Report, ValueReason};
use crate::gate::OwnerGate;
use crate::grammar::Grammar;
use crate::intent::Intent;
use crate::names::ActionId;
use crate::place::Path;
use crate::provenance::ShapeRegistry;
use crate::receipt::{ActionBinding, Receipt};
use crate::request::{ExecutionRequest, RequestBinding};
use crate::result::ExecutionResult;
use crate::scalars::{Fields, grammar_text};

/// Most receipts of one action that a document may hold.
const MAXIMUM_RECEIPTS: usize = 1024;

pub(crate) const GATE_QUESTION_FIELDS: [&str; 4] = ["action", "now", "receipts", "tool"];
pub(crate) const RESULT_QUESTION_FIELDS: [&str; 3] = ["now", "request", "result"];
const CALL_FIELDS: [&str; 3] = ["args", "context", "tool"];
const REQUEST_QUESTION_FIELDS: [&str; 4] = ["action_id", "envelope", "now", "receipts"];

/// A gate, judged at the time that its question names.
#[derive(Clone, Debug, PartialEq)]
pub struct GateAnswer {
    /// The valid gate.
    pub gate: OwnerGate,
    /// The time it was judged at.
    pub now: Epoch,
}

/// Judges a document of `{action, now, receipts, tool}`.
///
/// A time given by the caller takes the place of the document's `now`, which may then be absent.
pub fn check_gate_document(
    catalog: &Catalog,
    shapes: &ShapeRegistry,
    document: &Value,
    now: Option<Epoch>,
) -> Result<GateAnswer, Faults> {
    let mut report = Report::default();
    let question = gate_question(document, now, &mut report);
    let (action, tool, receipts, now) = report.finish(question)?;
    let gate = OwnerGate::validate(&action, tool, &receipts, now, catalog, shapes)?;
    Ok(GateAnswer { gate, now })
}

/// Judges a document of `{now, request, result}`, as [`check_gate_document`] does.
pub fn check_result_document(
    document: &Value,
    now: Option<Epoch>,
) -> Result<ExecutionResult, Faults> {
    let mut report = Report::default();
    let path = Path::ROOT;
    let result =
        Fields::within(document, &RESULT_QUESTION_FIELDS, &path, &mut report).and_then(|fields| {
            let now = question_time(&fields, now, &mut report);
            let request = required(&fields, "request", &mut report);
            let result = required(&fields, "result", &mut report);
            let binding = RequestBinding::read(request?, &path.member("request"), &mut report);
            ExecutionResult::check(
                &binding?,
                result?,
                now?,
                &path.member("result"),
                &mut report,
            )
        });
    report.finish(result)
}

/// Builds the intent of a document of `{args, context, tool}`.
pub fn build_intent_document(catalog: &Catalog, document: &Value) -> Result<Intent, Faults> {
    let mut report = Report::default();
    let path = Path::ROOT;
    let call = Fields::exact(document, &CALL_FIELDS, &path, &mut report).and_then(|fields| {
        let tool = fields.read("tool", &path, &mut report, text);
        Some((tool?, fields.find("args")?, fields.find("context")?))
    });
    let (tool, arguments, context) = report.finish(call)?;
    Intent::build(catalog, tool, arguments, context)
}

/// Builds the execution request of a document of `{action_id, envelope, now, receipts}`,
/// with the time as in [`check_gate_document`].
pub fn build_request_document(
    catalog: &Catalog,
    shapes: &ShapeRegistry,
    document: &Value,
    now: Option<Epoch>,
) -> Result<ExecutionRequest, Faults> {
    let mut report = Report::default();
    let path = Path::ROOT;
    let parts =
        Fields::within(document, &REQUEST_QUESTION_FIELDS, &path, &mut report).and_then(|fields| {
            let now = question_time(&fields, now, &mut report);
            let action_id = required(&fields, "action_id", &mut report).and_then(|value| {
                let action_id = grammar_text(value, Grammar::ActionId);
                ActionId::parse(report.keep(&path.member("action_id"), action_id)?).ok()
            });
            let envelope = required(&fields, "envelope", &mut report).and_then(|value| {
                Envelope::check(catalog, value, &path.member("envelope"), &mut report)
            });
            let receipts = question_receipts(&fields, &mut report);
            Some((action_id?, envelope?, receipts?, now?))
        });
    let (action_id, envelope, receipts, now) = report.finish(parts)?;
    let action = ActionBinding {
        action_id,
        payload_sha256: envelope.sha256(),
    };
    let tool = envelope.intent().tool_name().as_str();
    let gate = OwnerGate::validate(&action, tool, &receipts, now, catalog, shapes)?;
    ExecutionRequest::build(catalog, &envelope, gate.assert_dispatchable(now)?)
}

/// Reads a question's document with the bounds of an intent.
pub fn read_document(input: &[u8]) -> Result<Value, Faults> {
    read(input, INTENT_MAX_BYTES)
}

type GateQuestion<'v> = (ActionBinding, &'v str, Vec<Receipt>, Epoch);

fn gate_question<'v>(
    document: &'v Value,
    now: Option<Epoch>,
    report: &mut Report,
) -> Option<GateQuestion<'v>> {
    let path = Path::ROOT;
    let fields = Fields::within(document, &GATE_QUESTION_FIELDS, &path, report)?;
    let now = question_time(&fields, now, report);
    let action = required(&fields, "action", report)
        .and_then(|action| ActionBinding::check(action, &path.member("action"), report));
    let tool = required(&fields, "tool", report)
        .and_then(|tool| report.keep(&path.member("tool"), text(tool)));
    let receipts = question_receipts(&fields, report);
    Some((action?, tool?, receipts?, now?))
}

fn question_receipts(fields: &Fields<'_>, report: &mut Report) -> Option<Vec<Receipt>> {
    let receipts = required(fields, "receipts", report)?;
    let root = Path::ROOT;
    let path = root.member("receipts");
    let Some(receipts) = receipts.as_array() else {
        report.add(&path, FieldReason::MustBe(Kind::Array));
        return None;
    };
    if receipts.len() > MAXIMUM_RECEIPTS {
        let maximum = MAXIMUM_RECEIPTS;
        report.add(&path, ValueReason::TooManyElements { maximum });
        return None;
    }
    let read: Vec<_> = receipts
        .iter()
        .enumerate()
        .map(|(index, receipt)| Receipt::check(receipt, &path.element(index), report))
        .collect();
    read.into_iter().collect()
}

fn text(value: &Value) -> Result<&str, Reason> {
    value
        .as_str()
        .ok_or_else(|| FieldReason::MustBe(Kind::Text).into())
}

fn question_time(fields: &Fields<'_>, now: Option<Epoch>, report: &mut Report) -> Option<Epoch> {
    if now.is_some() {
        return now;
    }
    let value = required(fields, "now", report)?;
    let epoch =
        Epoch::from_value(value).ok_or_else(|| Reason::from(FieldReason::MustBe(Kind::Epoch)));
    report.keep(&Path::ROOT.member("now"), epoch)
}

fn required<'v>(fields: &Fields<'v>, field: &str, report: &mut Report) -> Option<&'v Value> {
    let value = fields.find(field);
    if value.is_none() {
        report.add(&Path::ROOT.member(field), FieldReason::Missing);
    }
    value
}
