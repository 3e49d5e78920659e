//! Reading a fixture strictly: everything that is wrong with it, at once.

use std::collections::BTreeMap;

use countersign_canonical::{InDomain, Limits, Object, ParseError, Value, parse};
use countersign_contract::{
    AUDIT_SCHEMA, Arguments, Call, Delivery, ErrorCode, FaultCollector, Faults, MAX_UNIX_SECONDS,
    MODEL_RESULT_SCHEMA, Outcome, Path, Problem, Profile, Recovery, Status, UtcSecond, is_blank,
    read_identifier, read_key, read_principal, read_profile,
};
use countersign_shop::Disturbance;

use crate::fixture::{ApprovalMode, Case, Expected, Fixture, Step, StepAction};

/// The most bytes a fixture may have.
pub const MAX_FIXTURE_BYTES: usize = 65_536;
/// The fixture schema.
pub(crate) const FIXTURE_SCHEMA: &str = "tool-cases-v2";
/// How long a fixture's approvals live, in seconds.
pub(crate) const APPROVAL_TTL_SECONDS: u64 = 60;
const MAX_CASES: usize = 256;
const MAX_STEPS: usize = 256;
const MAX_ID_CHARS: usize = 255;

/// Why a fixture cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Larger than [`MAX_FIXTURE_BYTES`]; it was not parsed.
    #[error("the fixture has more than {MAX_FIXTURE_BYTES} bytes")]
    TooLarge,
    /// Not strict JSON, or nested too deep.
    #[error("the fixture is not strict JSON: {0}")]
    Json(#[from] ParseError),
    /// Not a fixture.
    #[error("the fixture is not in order:\n{0}")]
    Faults(#[from] Faults),
}

impl Fixture {
    /// Reads a fixture from the bytes of its file.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() > MAX_FIXTURE_BYTES {
            return Err(Error::TooLarge);
        }
        let value = parse(bytes, &Limits::fixture())?;
        let mut faults = FaultCollector::new();
        let cases = read_fixture(&value, &mut faults);
        let fixture = faults.finish_with(cases.map(|cases| Self { cases }))?;
        Ok(fixture)
    }
}

fn read_fixture(value: &Value, faults: &mut FaultCollector) -> Option<Vec<Case>> {
    let members = ["schema_version", "contract", "cases"];
    let root = open_object(&Path::root(), value, &members, faults)?;
    faults.take(&Path::root(), InDomain::check(value))?;
    expect_text(
        &Path::root(),
        root,
        "schema_version",
        FIXTURE_SCHEMA,
        faults,
    );
    let path = Path::fixed("contract");
    let members = ["model_result", "protected_audit"];
    let contract = root.get("contract");
    if let Some(contract) = contract.and_then(|value| faults.exact_object(&path, value, &members)) {
        expect_text(&path, contract, "model_result", MODEL_RESULT_SCHEMA, faults);
        expect_text(&path, contract, "protected_audit", AUDIT_SCHEMA, faults);
    }
    let path = Path::fixed("cases");
    let values = read_list(&path, root.get("cases")?, MAX_CASES, faults)?;
    let mut ids = BTreeMap::new();
    let mut cases = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        cases.extend(read_case(
            &path.index(index),
            index,
            value,
            &mut ids,
            faults,
        ));
    }
    Some(cases)
}

/// Notes what is missing or unknown, and goes on with the rest: a mistyped name hides no fault beneath it.
fn open_object<'v>(
    path: &Path,
    value: &'v Value,
    members: &[&str],
    faults: &mut FaultCollector,
) -> Option<&'v Object> {
    let exact = faults.exact_object(path, value, members);
    exact.or(value.as_object())
}

fn read_case<'v>(
    path: &Path,
    index: usize,
    value: &'v Value,
    ids: &mut BTreeMap<&'v str, usize>,
    faults: &mut FaultCollector,
) -> Option<Case> {
    let case = open_object(path, value, &["id", "principal", "steps"], faults)?;
    let id = read_id(path, case, "id", ids, index, faults);
    let principal = case.get("principal");
    let principal =
        principal.and_then(|value| read_principal(&path.member("principal"), value, faults));
    let steps_path = path.member("steps");
    let values = read_list(&steps_path, case.get("steps")?, MAX_STEPS, faults)?;
    let mut step_ids = BTreeMap::new();
    let mut steps = Vec::with_capacity(values.len());
    for (index, value) in values.iter().enumerate() {
        steps.extend(read_step(
            &steps_path.index(index),
            index,
            value,
            &mut step_ids,
            faults,
        ));
    }
    Some(Case {
        id: id?.to_owned(),
        principal: principal?,
        steps,
    })
}

const STEP_MEMBERS: [&str; 9] = [
    "step_id",
    "action",
    "proposal",
    "execution_context",
    "approval",
    "now",
    "failure",
    "status_ref_from",
    "expected",
];

fn read_step<'v>(
    path: &Path,
    index: usize,
    value: &'v Value,
    ids: &mut BTreeMap<&'v str, usize>,
    faults: &mut FaultCollector,
) -> Option<Step> {
    let step = open_object(path, value, &STEP_MEMBERS, faults)?;
    let earlier = ids.clone();
    let id = read_id(path, step, "step_id", ids, index, faults);
    let action = read_action(path, step, &earlier, faults);
    let call = read_step_call(path, step, faults);
    let now = step.get("now");
    let now = now.and_then(|value| read_now(&path.member("now"), value, faults));
    let expected = step.get("expected");
    let expected =
        expected.and_then(|value| read_expected(&path.member("expected"), value, faults));
    Some(Step {
        id: id?.to_owned(),
        action: action?,
        call: call?,
        now: now?,
        expected: expected?,
    })
}

/// A fixture's time leaves room for an approval's life.
fn read_now(path: &Path, value: &Value, faults: &mut FaultCollector) -> Option<UtcSecond> {
    let seconds = value
        .as_i64()
        .and_then(|seconds| u64::try_from(seconds).ok());
    let seconds = seconds.filter(|seconds| *seconds <= MAX_UNIX_SECONDS - APPROVAL_TTL_SECONDS);
    let due = Problem::Expected(
        "an integer from 0 to 253402300739: seconds since 1970, a minute before year 10000",
    );
    faults.take(path, seconds.and_then(UtcSecond::new).ok_or(due))
}

fn read_action(
    path: &Path,
    step: &Object,
    earlier: &BTreeMap<&str, usize>,
    faults: &mut FaultCollector,
) -> Option<StepAction> {
    let approval = read_word(path, step, "approval", &APPROVALS, faults);
    let disturbance = read_word(path, step, "failure", &FAILURES, faults);
    let is_query = read_word(path, step, "action", &ACTIONS, faults)?;
    let source = step.get("status_ref_from")?;
    if !is_query {
        if !source.is_null() {
            let due = Problem::Expected("null where the action is dispatch");
            faults.push(path.member("status_ref_from"), due);
        }
        return Some(StepAction::Dispatch {
            approval: approval?,
            disturbance: disturbance?,
        });
    }
    if disturbance.is_some_and(|disturbance| disturbance != Disturbance::None) {
        let due = Problem::Expected("\"none\" where the action is query_status");
        faults.push(path.member("failure"), due);
    }
    if approval.is_some_and(|approval| approval != ApprovalMode::None) {
        let due = Problem::Expected("\"none\" where the action is query_status");
        faults.push(path.member("approval"), due);
    }
    let of_step = source.as_str().and_then(|id| earlier.get(id)).copied();
    let of_step = of_step.ok_or(Problem::Expected(
        "the step_id of an earlier step of the case where the action is query_status",
    ));
    let of_step = faults.take(&path.member("status_ref_from"), of_step)?;
    Some(StepAction::QueryStatus { of_step })
}

/// The words a member may hold, and what each stands for.
type Words<T> = [(&'static str, T)];

const ACTIONS: [(&str, bool); 2] = [("dispatch", false), ("query_status", true)];

const APPROVALS: [(&str, ApprovalMode); 4] = [
    ("none", ApprovalMode::None),
    ("valid", ApprovalMode::Valid),
    ("expired", ApprovalMode::Expired),
    ("mismatched", ApprovalMode::Mismatched),
];

const FAILURES: [(&str, Disturbance); 6] = [
    ("none", Disturbance::None),
    ("timeout_before_execute", Disturbance::TimeoutBeforeExecute),
    ("timeout_after_commit", Disturbance::AnswerLost),
    (
        "timeout_after_commit_receipt_unavailable",
        Disturbance::AnswerAndReceiptLost,
    ),
    ("rate_limit", Disturbance::RateLimit),
    ("tool_error", Disturbance::Unreachable),
];

fn read_word<T: Copy>(
    path: &Path,
    object: &Object,
    name: &str,
    words: &Words<T>,
    faults: &mut FaultCollector,
) -> Option<T> {
    let text = object.get(name)?.as_str();
    let found = words
        .iter()
        .find(|(word, _)| Some(*word) == text)
        .map(|(_, value)| *value);
    let due = || {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        Problem::ExpectedThat(format!("one of {}", words.join(", ")))
    };
    faults.take(&path.member(name), found.ok_or_else(due))
}

fn read_step_call(path: &Path, step: &Object, faults: &mut FaultCollector) -> Option<Call> {
    let proposal_path = path.member("proposal");
    let proposal = step.get("proposal");
    let proposal = proposal
        .and_then(|value| faults.exact_object(&proposal_path, value, &["name", "arguments"]));
    let name =
        proposal.and_then(|proposal| read_identifier(&proposal_path, proposal, "name", faults));
    let arguments = proposal.and_then(|proposal| {
        let path = proposal_path.member("arguments");
        let value = proposal
            .get("arguments")
            .filter(|value| value.as_object().is_some());
        let value = faults.take(&path, value.ok_or(Problem::NotAnObject))?;
        faults.take(&path, Arguments::new(value.clone()))
    });
    let path = path.member("execution_context");
    let members = [
        "provider",
        "api_family",
        "response_id",
        "call_id",
        "operation_id",
        "idempotency_key",
        "adapter_revision",
    ];
    let context = faults.exact_object(&path, step.get("execution_context")?, &members)?;
    let response_id = read_identifier(&path, context, "response_id", faults);
    let call_id = read_identifier(&path, context, "call_id", faults);
    let operation_id = read_identifier(&path, context, "operation_id", faults);
    let idempotency_key = read_key(&path, context, faults);
    let profile = read_reference_profile(&path, context, faults);
    Some(Call {
        profile: profile?,
        response_id: response_id?,
        call_id: call_id?,
        operation_id: operation_id?,
        idempotency_key,
        name: name?,
        arguments: arguments?,
    })
}

/// A fixture knows the three profiles of the protocol's first edition, and no later ones.
fn read_reference_profile(
    path: &Path,
    context: &Object,
    faults: &mut FaultCollector,
) -> Option<Profile> {
    let profile = read_profile(path, context, faults)?;
    let known = Profile::REFERENCE.contains(&profile).then_some(profile);
    let due = Problem::Expected("of openai/responses, anthropic/messages or google/interactions");
    faults.take(path, known.ok_or(due))
}

fn read_expected(path: &Path, value: &Value, faults: &mut FaultCollector) -> Option<Expected> {
    let members = [
        "code",
        "status",
        "outcome",
        "recovery",
        "delivery",
        "data",
        "side_effect_count",
    ];
    let object = faults.exact_object(path, value, &members)?;
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    let code = text("code")
        .filter(|code| *code == "OK" || ErrorCode::parse(code).is_some())
        .ok_or(Problem::Expected("\"OK\" or a code of the error catalog"));
    let code = faults.take(&path.member("code"), code);
    let status = text("status").and_then(Status::parse);
    let status = take_word(path, "status", status, Status::ALL, faults);
    let outcome = text("outcome").and_then(Outcome::parse);
    let outcome = take_word(path, "outcome", outcome, Outcome::ALL, faults);
    let recovery = text("recovery").and_then(Recovery::parse);
    let recovery = take_word(path, "recovery", recovery, Recovery::ALL, faults);
    let delivery = text("delivery").and_then(Delivery::parse);
    let delivery = take_word(path, "delivery", delivery, Delivery::ALL, faults);
    let data = object
        .get("data")
        .filter(|data| data.is_null() || data.as_object().is_some());
    let data = faults.take(
        &path.member("data"),
        data.ok_or(Problem::Expected("an object or null")),
    );
    let count = object.get("side_effect_count").and_then(Value::as_i64);
    let count = count.and_then(|count| u64::try_from(count).ok());
    let due = Problem::Expected("an integer that is not negative");
    let count = faults.take(&path.member("side_effect_count"), count.ok_or(due));
    Some(Expected {
        code: code?.to_owned(),
        status: status?,
        outcome: outcome?,
        recovery: recovery?,
        delivery: delivery?,
        data: data?.clone(),
        side_effect_count: count?,
    })
}

fn take_word<T: std::fmt::Display>(
    path: &Path,
    name: &str,
    word: Option<T>,
    all: &[T],
    faults: &mut FaultCollector,
) -> Option<T> {
    let due = || {
        let words: Vec<String> = all.iter().map(T::to_string).collect();
        Problem::ExpectedThat(format!("one of {}", words.join(", ")))
    };
    faults.take(&path.member(name), word.ok_or_else(due))
}

/// Reads an id that no earlier sibling has.
fn read_id<'v>(
    path: &Path,
    object: &'v Object,
    name: &str,
    ids: &mut BTreeMap<&'v str, usize>,
    index: usize,
    faults: &mut FaultCollector,
) -> Option<&'v str> {
    let id = object
        .get(name)?
        .as_str()
        .filter(|id| !is_blank(id) && id.chars().count() <= MAX_ID_CHARS)
        .ok_or(Problem::Expected(
            "a text of 1 to 255 characters that is not blank",
        ));
    let id = faults.take(&path.member(name), id)?;
    if ids.contains_key(id) {
        faults.push(path.member(name), Problem::Duplicate);
        return None;
    }
    ids.insert(id, index);
    Some(id)
}

fn read_list<'v>(
    path: &Path,
    value: &'v Value,
    maximum: usize,
    faults: &mut FaultCollector,
) -> Option<&'v [Value]> {
    let items = value
        .as_array()
        .filter(|items| (1..=maximum).contains(&items.len()));
    let due = || Problem::ExpectedThat(format!("a list of 1 to {maximum} items"));
    faults.take(path, items.ok_or_else(due))
}

fn expect_text(
    path: &Path,
    object: &Object,
    name: &str,
    due: &'static str,
    faults: &mut FaultCollector,
) {
    let text = object.get(name).map(Value::as_str);
    if text.is_some_and(|text| text != Some(due)) {
        faults.push(path.member(name), Problem::Expected(due));
    }
}
