//! The tables in a file answer like those in memory, whatever was written before.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use countersign_canonical::Value;
use countersign_contract::{
    ApprovalDigest, ApprovalId, CallFingerprint, CallId, IdempotencyKey, IntentDigest, Profile,
    RequestDigest, ResponseId, Scope, StatusRef, SubjectId, TenantId, ToolName,
};
use countersign_dispatch::CallIdentity;
use countersign_dispatch::ledger::Error;
use countersign_ledger::{
    ApprovalKey, AuditRow, Backend, CallRow, Document, GrantId, GrantRow, InstanceId, IntentRow,
    LedgerClock, MemoryBackend, Moment, OperationFilter, OperationRow, Rows, StateKind, Tables,
};
use countersign_ledger_sqlite::{Limits, SqliteBackend};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::stage::Stage;

const START: u64 = 1_784_419_200_000;
const SCOPES: usize = 6;
const MANY: usize = 1000;

/// One transaction, in numbers that stand for names.
#[derive(Clone, Copy, Debug)]
enum Step {
    Open(usize, usize, u64),
    Update(usize, usize, u64),
    Remove(usize),
    Call(usize, usize),
    Intent(usize, usize, u64),
    Receipt(usize, u64),
    Consume(usize, usize),
    Free(usize),
    Live(usize, Option<u64>),
    Grant(usize, u64),
    Audit(usize, u64),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let scope = 0..SCOPES;
    let state = 0..StateKind::ALL.len();
    prop_oneof![
        5 => (scope.clone(), state.clone(), 0..50_u64).prop_map(|(a, b, c)| Step::Open(a, b, c)),
        5 => (scope.clone(), state, 0..50_u64).prop_map(|(a, b, c)| Step::Update(a, b, c)),
        1 => scope.clone().prop_map(Step::Remove),
        3 => (scope.clone(), 0..6_usize).prop_map(|(a, b)| Step::Call(a, b)),
        2 => (scope.clone(), 0..3_usize, 0..5_u64).prop_map(|(a, b, c)| Step::Intent(a, b, c)),
        2 => (scope.clone(), 0..50_u64).prop_map(|(a, b)| Step::Receipt(a, b)),
        2 => (scope, 0..4_usize).prop_map(|(a, b)| Step::Consume(a, b)),
        1 => (0..4_usize).prop_map(Step::Free),
        2 => (0..3_usize, proptest::option::of(0..50_u64)).prop_map(|(a, b)| Step::Live(a, b)),
        1 => (0..4_usize, 0..50_u64).prop_map(|(a, b)| Step::Grant(a, b)),
        2 => (0..2_usize, 0..4_u64).prop_map(|(a, b)| Step::Audit(a, b)),
        2 => (0..20_u64).prop_map(Step::Pass),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn both_back_ends_answer_alike(steps in vec(step(), 1..60)) {
        let stage = Stage::new();
        let clock = Arc::new(Clock(AtomicU64::new(START)));
        let memory = MemoryBackend::new(Arc::clone(&clock));
        let sqlite =
            SqliteBackend::open_with(&stage.path(), Limits::default(), clock.clone()).unwrap();
        for step in steps {
            if let Step::Pass(milliseconds) = step {
                clock.0.fetch_add(milliseconds, Ordering::Relaxed);
            }
            let expected = memory.write("step", move |tables| perform(tables, step));
            let answered = sqlite.write("step", move |tables| perform(tables, step));
            prop_assert_eq!(answered, expected, "{:?}", step);
            let expected = memory.read("all", |rows| Ok(everything(rows))).unwrap();
            let answered = sqlite.read("all", |rows| Ok(everything(rows))).unwrap();
            prop_assert_eq!(answered, expected, "after {:?}", step);
        }
        let whole = sqlite.engine().check();
        prop_assert_eq!(whole, Ok(()));
    }
}

struct Clock(AtomicU64);

impl LedgerClock for Clock {
    fn now(&self) -> Result<Moment, Error> {
        Ok(moment(self.0.load(Ordering::Relaxed)))
    }
}

/// Damage by its kind only: the back-ends name it each in its own words.
fn perform(tables: &mut dyn Tables, step: Step) -> Result<bool, Error> {
    match perform_step(tables, step) {
        Err(Error::Damaged(_)) => Err(Error::Damaged("something")),
        other => other.map(|()| true),
    }
}

fn perform_step(tables: &mut dyn Tables, step: Step) -> Result<(), Error> {
    match step {
        Step::Open(number, state, time) => {
            tables.operation_open(&row(number, state, time), &document(time))
        }
        Step::Update(number, state, time) => {
            let mut row = row(number, state, time);
            if let Some(before) = tables.operation(&row.scope)? {
                row.status_ref = before.status_ref;
            }
            tables.operation_update(&row)
        }
        // What an intent or a consumed approval refers to is never removed.
        Step::Remove(number) if is_referred_to(tables, number)? => Ok(()),
        Step::Remove(number) => tables.operation_remove(&scope(number)),
        Step::Call(number, call) => {
            let row = CallRow {
                fingerprint: CallFingerprint::parse_hex(&hex(call)).unwrap(),
                scope: scope(number),
            };
            tables.call_insert(&identity(call), &row)
        }
        Step::Intent(number, intent, generation) if tables.operation(&scope(number))?.is_some() => {
            let row = IntentRow {
                generation,
                scope: scope(number),
            };
            tables.intent_put(&IntentDigest::parse_hex(&hex(intent)).unwrap(), &row)
        }
        Step::Receipt(number, content) => tables.receipt_insert(&scope(number), &document(content)),
        Step::Consume(number, approval) if tables.operation(&scope(number))?.is_some() => {
            tables.approval_use_insert(&approval_key(approval), &scope(number))
        }
        Step::Free(approval) => tables.approval_use_remove(&approval_key(approval)),
        Step::Live(instance, until) => tables.instance_put(
            &instance_id(instance),
            until.map(|time| moment(START + time)),
        ),
        Step::Grant(grant, content) => tables.grant_put(&GrantRow {
            grant: grant_id(grant),
            tenant_id: tenant(grant % 2),
            subject_id: subject(0),
            tool: tool(0),
            expires_at: moment(START + content % 7),
            is_open: content % 3 > 0,
            document: document(content),
        }),
        Step::Audit(of, ahead) => {
            let sequence = tables.audit_head(&tenant(of))? + ahead;
            tables.audit_append(&AuditRow {
                tenant_id: tenant(of),
                sequence,
                document: document(sequence),
            })
        }
        Step::Intent(..) | Step::Consume(..) | Step::Pass(_) => Ok(()),
    }
}

fn is_referred_to(tables: &mut dyn Tables, number: usize) -> Result<bool, Error> {
    let scope = scope(number);
    for name in 0..4 {
        let intent = tables.intent(&IntentDigest::parse_hex(&hex(name)).unwrap())?;
        let approval = tables.approval_use(&approval_key(name))?;
        if intent.is_some_and(|row| row.scope == scope) || approval == Some(scope.clone()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Every answer that a transaction can get. Where an order is not promised, none is compared.
fn everything(rows: &mut dyn Rows) -> Vec<String> {
    let mut answers = Vec::new();
    let mut say = |answer: String| answers.push(answer);
    for number in 0..SCOPES {
        let scope = scope(number);
        let operation = rows.operation(&scope).unwrap();
        if let Some(row) = &operation {
            say(format!("{:?}", rows.operation_by_ref(&row.status_ref)));
        }
        say(format!("{operation:?}"));
        say(format!(
            "{:?} {:?}",
            rows.proposal(&scope),
            rows.receipt(&scope)
        ));
        say(format!("{:?}", rows.call(&identity(number))));
        say(format!("{:?}", rows.approval_use(&approval_key(number))));
        let intent = IntentDigest::parse_hex(&hex(number)).unwrap();
        say(format!("{:?}", rows.intent(&intent)));
        say(format!("{:?}", rows.instance(&instance_id(number))));
        say(format!("{:?}", rows.grant(&grant_id(number))));
    }
    for of in 0..2 {
        let tenant = tenant(of);
        say(format!("{:?}", rows.audit_head(&tenant)));
        say(format!("{:?}", rows.audit(&tenant, 1, 2)));
        let for_subject = rows
            .grants_for(&tenant, &subject(0), &tool(0), MANY)
            .unwrap();
        say(format!(
            "{:?}",
            sorted(for_subject.iter().map(|row| &row.grant))
        ));
        say(format!(
            "{:?}",
            rows.grants(Some(&tenant), Some(&grant_id(0)), 2)
        ));
        for who in 0..2 {
            say(format!("{:?}", rows.waiting(&tenant, &subject(who))));
        }
    }
    say(format!("{:?}", rows.grants(None, None, MANY)));
    for tool in [None, Some(tool(0)), Some(tool(1))] {
        let due = rows.due(tool.as_ref(), MANY).unwrap();
        assert!(due.is_sorted_by_key(|row| row.due_at));
        say(format!("{:?}", sorted(due.iter().map(|row| &row.scope))));
    }
    let expiring = rows.expiring(MANY).unwrap();
    assert!(expiring.is_sorted_by_key(|row| row.expires_at));
    say(format!(
        "{:?}",
        sorted(expiring.iter().map(|row| &row.scope))
    ));
    let orphans = rows.orphans(MANY).unwrap();
    say(format!(
        "{:?}",
        sorted(orphans.iter().map(|row| &row.scope))
    ));
    say(format!("{:?}", rows.open_counts()));
    for filter in filters() {
        say(format!("{:?}", pages(rows, &filter)));
    }
    answers
}

fn filters() -> Vec<OperationFilter> {
    let any = OperationFilter::default();
    let of_states = |states: &[StateKind]| OperationFilter {
        states: states.to_vec(),
        ..OperationFilter::default()
    };
    vec![
        of_states(&[StateKind::Executing]),
        of_states(&[StateKind::Unknown, StateKind::AwaitingApproval]),
        of_states(&[StateKind::Succeeded, StateKind::Reserved]),
        OperationFilter {
            tenant: Some(tenant(1)),
            ..of_states(&[StateKind::Reserved, StateKind::Unknown])
        },
        OperationFilter {
            tool: Some(tool(0)),
            dead_letters_only: true,
            ..any.clone()
        },
        OperationFilter {
            text: Some("KEY-1".to_owned()),
            ..any.clone()
        },
        any,
    ]
}

/// All rows that a filter lets through, two at a time.
fn pages(rows: &mut dyn Rows, filter: &OperationFilter) -> Vec<Scope> {
    let mut after = None;
    let mut scopes = Vec::new();
    loop {
        let page = rows.operations(filter, after, 2).unwrap();
        let Some((last, _)) = page.last() else {
            return scopes;
        };
        after = Some(*last);
        scopes.extend(page.into_iter().map(|(_, row)| row.scope));
    }
}

fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let count_and_set: Vec<_> = items.collect();
    let set: BTreeSet<_> = count_and_set.iter().collect();
    assert_eq!(set.len(), count_and_set.len(), "each stands once");
    let mut items = count_and_set;
    items.sort();
    items
}

fn row(number: usize, state: usize, time: u64) -> OperationRow {
    let state = StateKind::ALL[state];
    let is_executing = state == StateKind::Executing;
    let is_waiting = matches!(state, StateKind::AwaitingApproval | StateKind::Reserved);
    let is_due = matches!(state, StateKind::Reserved | StateKind::Unknown);
    let at = |offset: u64| moment(START + offset);
    OperationRow {
        scope: scope(number),
        status_ref: StatusRef::of(
            &scope(number),
            &RequestDigest::parse_hex(&hex(usize::from(time.is_multiple_of(2)))).unwrap(),
        ),
        state,
        holder: is_executing.then(|| instance_id(number % 3)),
        due_at: is_due.then(|| at(time)),
        expires_at: is_waiting.then(|| at(time + 5)),
        opened_at: at(time),
        changed_at: at(time + 1),
        is_dead_letter: state == StateKind::Unknown && time.is_multiple_of(3),
        document: document(time),
    }
}

fn scope(number: usize) -> Scope {
    Scope {
        tenant_id: tenant(number % 2),
        subject_id: subject(number / 2 % 2),
        tool: tool(number / 3),
        key: IdempotencyKey::new(format!("key-{number}")).unwrap(),
    }
}

fn tenant(number: usize) -> TenantId {
    TenantId::new(format!("tenant-{number}")).unwrap()
}

fn subject(number: usize) -> SubjectId {
    SubjectId::new(format!("subject-{number}")).unwrap()
}

fn tool(number: usize) -> ToolName {
    ToolName::new(format!("tool_{number}")).unwrap()
}

fn instance_id(number: usize) -> InstanceId {
    InstanceId::new(&format!("host-{number}")).unwrap()
}

fn grant_id(number: usize) -> GrantId {
    GrantId::new(&format!("grant-{number}")).unwrap()
}

fn identity(number: usize) -> CallIdentity {
    CallIdentity {
        tenant_id: tenant(0),
        subject_id: subject(0),
        profile: Profile::OpenAiResponses,
        response_id: ResponseId::new("response-1").unwrap(),
        call_id: CallId::new(format!("call-{number}")).unwrap(),
    }
}

/// Two of them share their name, and two their digest.
fn approval_key(number: usize) -> ApprovalKey {
    ApprovalKey {
        approval_id: ApprovalId::new(format!("approval-{}", number / 2)).unwrap(),
        digest: ApprovalDigest::parse_hex(&hex(number % 2)).unwrap(),
    }
}

fn document(content: u64) -> Document {
    Document::of(&Value::from([("content", Value::Number(content.into()))]))
}

fn hex(number: usize) -> String {
    format!("{number:064x}")
}

fn moment(milliseconds: u64) -> Moment {
    Moment::from_milliseconds(milliseconds).unwrap()
}
