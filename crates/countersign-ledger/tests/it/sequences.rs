//! Whatever is asked of a ledger, in whatever order: the invariants of the crate hold after every step.

use std::time::Duration;

use countersign_contract::{ApprovalId, ApproverId, ErrorCode, UtcSecond};
use countersign_dispatch::ledger::Ledger;
use countersign_dispatch::{Fence, NotStarted, Settlement, UnknownCause};
use countersign_ledger::{
    Approvals, Decision, DurableLedger, Inspection, InstanceId, Intents, Lifetimes, MemoryBackend,
    Note, OperationFilter, Record, Rulings, StateKind, Verdict, Work,
};
use countersign_ledger_suite::SettableClock;
use proptest::prelude::*;

use crate::writes::Write;

/// One thing that is asked: of which host, about which write.
#[derive(Clone, Debug)]
struct Step {
    host: usize,
    key: usize,
    request: usize,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Propose,
    Approve(u64),
    Deny,
    Reserve(usize),
    ReserveLive,
    Settle(u64, usize),
    Reconcile,
    RuleCommitted(bool),
    RuleNotExecuted,
    SendAgain,
    Claim,
    Block,
    GiveUp,
    Acknowledge,
    Expire,
    Recover,
    Heartbeat,
    Leave,
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let what = prop_oneof![
        4 => Just(What::Propose),
        3 => (1..120_u64).prop_map(What::Approve),
        1 => Just(What::Deny),
        3 => (0..3_usize).prop_map(What::Reserve),
        3 => Just(What::ReserveLive),
        6 => (1..4_u64, 0..3_usize).prop_map(|(fence, how)| What::Settle(fence, how)),
        1 => Just(What::Reconcile),
        1 => any::<bool>().prop_map(What::RuleCommitted),
        2 => Just(What::RuleNotExecuted),
        3 => Just(What::SendAgain),
        1 => Just(What::Claim),
        1 => Just(What::Block),
        1 => Just(What::GiveUp),
        1 => Just(What::Acknowledge),
        2 => Just(What::Expire),
        3 => Just(What::Recover),
        1 => Just(What::Heartbeat),
        1 => Just(What::Leave),
        4 => prop_oneof![1..20_u64, 1..2000_u64].prop_map(What::Wait),
    ];
    (0..2_usize, 0..2_usize, 0..2_usize, what).prop_map(|(host, key, request, what)| Step {
        host,
        key,
        request,
        what,
    })
}

type Host = DurableLedger<MemoryBackend>;

struct World {
    clock: SettableClock,
    hosts: [Host; 2],
    writes: [[Write; 2]; 2],
    approvals: usize,
}

impl World {
    fn new() -> Self {
        let clock = SettableClock::default();
        let backend = MemoryBackend::new(clock.clone());
        let hosts = ["host-1", "host-2"].map(|name| {
            let instance = InstanceId::new(name).unwrap();
            DurableLedger::new(backend.clone(), instance, Lifetimes::default())
                .with_steady_clock(clock.clone())
        });
        let writes = ["key-1", "key-2"].map(|key| [1, 2].map(|number| Write::new(key, number)));
        Self {
            clock,
            hosts,
            writes,
            approvals: 0,
        }
    }

    fn take(&mut self, step: &Step) {
        let write = &self.writes[step.key][step.request];
        let host = &self.hosts[step.host];
        let (scope, handle) = (write.scope(), write.status_ref());
        let by = ApproverId::new("dana").unwrap();
        let note = Note::new("seen").unwrap();
        let task = || host.task(&scope).unwrap();
        match &step.what {
            What::Propose => {
                host.propose(&write.proposal()).unwrap();
            }
            What::Approve(seconds) => {
                self.approvals += 1;
                let name = format!("decided-{}", self.approvals);
                let decision = Decision::Approve {
                    by,
                    approval_id: ApprovalId::new(name).unwrap(),
                    expires_at: self.clock.moment().second().checked_add(*seconds).unwrap(),
                };
                host.decide(&handle, &decision).unwrap();
            }
            What::Deny => {
                host.decide(&handle, &Decision::Deny { by, reason: None })
                    .unwrap();
            }
            What::Reserve(number) => {
                let approval = write.evidence(&format!("outside-{number}"), UtcSecond::MAX);
                host.reserve(&write.reservation(approval)).unwrap();
            }
            What::ReserveLive => {
                if let Some(live) = host.live_approval(&scope).unwrap() {
                    let until = UtcSecond::new(live.expires_at).unwrap();
                    let approval = write.evidence(&live.approval_id, until);
                    host.reserve(&write.reservation(approval)).unwrap();
                }
            }
            What::Settle(fence, how) => {
                let settlement = match how {
                    0 => Settlement::Succeeded(write.answer()),
                    1 => Settlement::Unknown(UnknownCause::AnswerLost),
                    _ => Settlement::Released(NotStarted::Unreachable),
                };
                host.settle(&scope, Fence::new(*fence), &settlement)
                    .unwrap();
            }
            What::Reconcile => {
                host.reconcile(&scope, &write.answer()).unwrap();
            }
            What::RuleCommitted(has_answer) => {
                let verdict = if *has_answer {
                    Verdict::CommittedWith(write.answer())
                } else {
                    Verdict::Committed
                };
                host.rule(&handle, &verdict, &by, &note).unwrap();
            }
            What::RuleNotExecuted => {
                host.rule(&handle, &Verdict::NotExecuted, &by, &note)
                    .unwrap();
            }
            What::SendAgain => {
                if let Some(task) = task() {
                    host.send_again(&task).unwrap();
                }
            }
            What::Claim => {
                host.claim(std::slice::from_ref(&write.call.name), 9)
                    .unwrap();
            }
            What::Block => {
                if let Some(task) = task() {
                    host.block(&task, ErrorCode::NotFound).unwrap();
                }
            }
            What::GiveUp => {
                if let Some(task) = task() {
                    host.give_up(&task).unwrap();
                }
            }
            What::Acknowledge => host.acknowledge(&scope).unwrap(),
            What::Expire => {
                host.expire(9).unwrap();
            }
            What::Recover => {
                host.recover(9).unwrap();
            }
            What::Heartbeat => host.heartbeat().unwrap(),
            What::Leave => host.leave().unwrap(),
            What::Wait(seconds) => self.clock.advance(Duration::from_secs(*seconds)),
        }
    }

    fn records(&self) -> Vec<Record> {
        let any = OperationFilter::default();
        self.hosts[0].operations(&any, None, 9).unwrap().items
    }

    /// What the trail says, with the fence of each entry; its numbers must follow each other.
    fn trail(&self) -> Vec<(String, u64)> {
        let tenant = &self.writes[0][0].principal.tenant_id;
        let entries = self.hosts[0].audit(tenant, 0, 1000).unwrap();
        let mut trail = Vec::new();
        for (expected, entry) in (1..).zip(entries) {
            assert_eq!(entry.sequence, expected, "the trail has a gap");
            let fence = entry.value.get("operation").and_then(|it| it.get("fence"));
            let fence = fence.and_then(countersign_canonical::Value::as_i64);
            trail.push((entry.event, u64::try_from(fence.unwrap()).unwrap()));
        }
        trail
    }
}

fn check(world: &World, step: &Step, before: &[Record], events: &[(String, u64)]) {
    let named = |name: &str| events.iter().any(|(event, _)| event == name);
    let mut has_changed = false;
    for after in world.records() {
        // Whatever is shown is whole.
        let detail = world.hosts[1].operation(&after.terms.status_ref);
        let detail = detail.unwrap().unwrap();
        let is_answered = match after.kind() {
            StateKind::Succeeded => true,
            StateKind::ResolvedCommitted => detail.answer.is_some(),
            StateKind::AwaitingApproval
            | StateKind::Denied
            | StateKind::Expired
            | StateKind::Reserved
            | StateKind::Executing
            | StateKind::Blocked
            | StateKind::Failed
            | StateKind::Unknown
            | StateKind::ResolvedNotExecuted => false,
        };
        assert_eq!(detail.answer.is_some(), is_answered, "{step:?}: {after:?}");
        let earlier = before.iter().find(|record| record.scope == after.scope);
        let Some(earlier) = earlier else {
            has_changed = true;
            assert_eq!(after.fence, u64::from(after.kind() == StateKind::Executing));
            continue;
        };
        assert!(after.fence >= earlier.fence, "{step:?}: a fence shrinks");
        assert!(after.fence <= earlier.fence + 1, "{step:?}");
        has_changed |= after.state != earlier.state || after.terms != earlier.terms;
        has_changed |= after.is_dead_letter && !earlier.is_dead_letter;
        let has_left = |kind| earlier.kind() == kind && after.kind() != kind;
        if has_left(StateKind::Unknown) {
            let has_evidence = named("reconciled")
                || named("sent_again")
                || named("ruled_committed")
                || named("ruled_not_executed");
            assert!(has_evidence, "{step:?}: unknown is left without evidence");
        }
        if has_left(StateKind::Executing) {
            let is_settled =
                matches!(&step.what, What::Settle(fence, _) if *fence == earlier.fence);
            let is_other = matches!(step.what, What::Reconcile | What::Recover);
            assert!(
                is_settled || is_other,
                "{step:?}: somebody else has settled it"
            );
        }
        let is_kept = !has_left(StateKind::Succeeded) && !has_left(StateKind::ResolvedCommitted);
        assert!(is_kept, "{step:?}: an effect is forgotten");
        if after.kind() == StateKind::Executing && after.fence > earlier.fence {
            assert!(named("begun") || named("sent_again"), "{step:?}");
        }
    }
    assert_eq!(has_changed, !events.is_empty(), "{step:?}: {events:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn the_invariants_hold_after_every_step(steps in prop::collection::vec(step(), 1..60)) {
        let mut world = World::new();
        let mut said = 0;
        for step in &steps {
            let before = world.records();
            world.take(step);
            let trail = world.trail();
            check(&world, step, &before, &trail[said..]);
            said = trail.len();
        }
    }
}
