//! Every state against every transition: what may become of it. A new state or transition has to be decided about here.

use std::time::Duration;

use countersign_canonical::{Limits, parse};
use countersign_contract::{
    ApprovalDigest, ApprovalId, ApproverId, Arguments, Call, CallId, ErrorCode, HandlerAnswer,
    IdempotencyKey, OperationId, Principal, Profile, RequestDigest, ResponseId, Revision, Roles,
    Scope, StatusRef, SubjectId, TenantId, ToolContract, UtcSecond,
};
use countersign_dispatch::{Fence, NotStarted, Settlement, Terms, UnknownCause};
use countersign_policy::ApprovalEvidence;

use super::{
    Proposing, Reading, Refusal, Reserving, Wanted, acknowledge, approve, block, deny, expire,
    give_up, lose_holder, propose, reconcile, reserve, rule_committed, rule_not_executed,
    send_again, settle,
};
use crate::moment::Moment;
use crate::names::{BootId, InstanceId, Note};
use crate::record::Record;
use crate::state::{Attempt, Lifetimes, Proof, Ruling, State, StateKind};
use crate::steady::{Steady, SteadySpan};

/// When the record was written, and when a transition comes: soon, or after all times are over.
const BEGUN: u64 = 1_784_419_200_000;
const SOON: u64 = BEGUN + 1_000;
const LATER: u64 = BEGUN + 100_000;
const FENCE: u64 = 7;

type Outcome = Option<Record>;

/// What a transition makes of a record at a time; nothing where it leaves it alone.
struct Transition {
    name: &'static str,
    apply: fn(&Stage, Record, u64) -> Outcome,
}

const TRANSITIONS: &[Transition] = &[
    Transition {
        name: "propose the same",
        apply: |stage, record, at| proposed(stage, record, at, &stage.wanted),
    },
    Transition {
        name: "propose another",
        apply: |stage, record, at| proposed(stage, record, at, &stage.another()),
    },
    Transition {
        name: "approve",
        apply: |stage, record, at| {
            let decided = approve(record, stage.approval("new"), moment(at), &stage.lifetimes);
            decided_as(decided)
        },
    },
    Transition {
        name: "deny",
        apply: |stage, record, at| {
            decided_as(deny(record, approver(), None, moment(at), &stage.lifetimes))
        },
    },
    Transition {
        name: "reserve under its approval",
        apply: |stage, record, at| reserved(stage, record, at, &stage.approval("given")),
    },
    Transition {
        name: "reserve under another",
        apply: |stage, record, at| reserved(stage, record, at, &stage.approval("new")),
    },
    Transition {
        name: "settle: succeeded",
        apply: |stage, record, at| {
            let settlement = Settlement::Succeeded(stage.answer.clone());
            settled(record, at, FENCE, &settlement)
        },
    },
    Transition {
        name: "settle: unknown",
        apply: |_, record, at| {
            let settlement = Settlement::Unknown(UnknownCause::AnswerLost);
            settled(record, at, FENCE, &settlement)
        },
    },
    Transition {
        name: "settle: not started",
        apply: |_, record, at| {
            let settlement = Settlement::Released(NotStarted::Unreachable);
            settled(record, at, FENCE, &settlement)
        },
    },
    Transition {
        name: "settle by an older fence",
        apply: |stage, record, at| {
            let settlement = Settlement::Succeeded(stage.answer.clone());
            settled(record, at, FENCE - 1, &settlement)
        },
    },
    Transition {
        name: "lose the holder",
        apply: |_, record, at| lose_holder(record, moment(at)).map(|change| change.record),
    },
    Transition {
        name: "reconcile",
        apply: |_, record, at| reconcile(record, moment(at)).map(|change| change.record),
    },
    Transition {
        name: "send again",
        apply: |stage, record, at| {
            let steady = steady(at);
            let clock = reading(at, &steady);
            let change = send_again(record, &holder("host-2"), clock, &stage.lifetimes);
            change.map(|change| change.record)
        },
    },
    Transition {
        name: "rule: committed",
        apply: |_, record, at| {
            let change = rule_committed(record, ruling(at), false, moment(at));
            change.ok().map(|change| change.record)
        },
    },
    Transition {
        name: "rule: not executed",
        apply: |_, record, at| {
            let steady = steady(at);
            let change = rule_not_executed(record, ruling(at), reading(at, &steady));
            change.ok().map(|change| change.record)
        },
    },
    Transition {
        name: "expire",
        apply: |stage, record, at| {
            expire(&record, moment(at), &stage.lifetimes).map(|change| change.record)
        },
    },
    Transition {
        name: "block",
        apply: |_, record, at| {
            block(record, ErrorCode::NotFound, moment(at)).map(|change| change.record)
        },
    },
    Transition {
        name: "acknowledge",
        apply: |_, record, _| acknowledge(record).map(|change| change.record),
    },
    Transition {
        name: "give up",
        apply: |_, record, _| give_up(record).map(|change| change.record),
    },
];

#[test]
fn every_transition_of_every_state() {
    let stage = Stage::new();
    let mut lines = Vec::new();
    for transition in TRANSITIONS {
        lines.push(format!("{}:", transition.name));
        for kind in StateKind::ALL {
            let outcomes = [SOON, LATER].map(|at| {
                let before = stage.record(kind);
                let after = (transition.apply)(&stage, before.clone(), at);
                if let Some(after) = &after {
                    check(transition.name, &before, after);
                }
                after.map(|after| said(&before, &after))
            });
            match outcomes {
                [None, None] => {}
                [soon, later] if soon == later => {
                    lines.push(format!("  {} -> {}", kind.as_str(), soon.unwrap()));
                }
                [soon, later] => {
                    let or_nothing = |said: Option<String>| said.unwrap_or("nothing".to_owned());
                    let (soon, later) = (or_nothing(soon), or_nothing(later));
                    lines.push(format!("  {} -> {soon}; later {later}", kind.as_str()));
                }
            }
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}

/// What holds of every change, whatever the table says.
fn check(name: &str, before: &Record, after: &Record) {
    let case = format!("{name} of {:?}", before.kind());
    assert!(after.fence >= before.fence, "{case}: a fence shrinks");
    let executing = StateKind::Executing;
    let begins = after.kind() == executing && before.kind() != executing;
    assert_eq!(
        after.fence > before.fence,
        begins,
        "{case}: who begins takes a number"
    );
    assert_eq!(after.scope, before.scope, "{case}");
    let is_anew = after.terms != before.terms || before.kind().is_without_effect();
    assert!(after.was_unknown >= before.was_unknown || is_anew, "{case}");
    if before.kind() == StateKind::Unknown && after.kind() != StateKind::Unknown {
        let ways = [
            "reconcile",
            "send again",
            "rule: committed",
            "rule: not executed",
        ];
        assert!(
            ways.contains(&name),
            "{case}: unknown is left without evidence"
        );
    }
    if after.kind() == StateKind::Unknown {
        assert!(after.was_unknown, "{case}");
    }
    let effect = [StateKind::Succeeded, StateKind::ResolvedCommitted];
    if effect.contains(&before.kind()) {
        assert_eq!(
            after.kind(),
            before.kind(),
            "{case}: an effect is forgotten"
        );
    }
    if !after.kind().is_open() {
        assert_eq!(after.due_at, None, "{case}: work about what is over");
    }
    assert_eq!(
        Record::from_row(&after.to_row()).as_ref(),
        Ok(after),
        "{case}"
    );
}

fn said(before: &Record, after: &Record) -> String {
    let mut said = after.kind().as_str().to_owned();
    if after.terms != before.terms {
        said.push_str(" (of another request)");
    }
    if after.kind() == before.kind() && after.terms == before.terms {
        said.push_str(if after.is_dead_letter {
            " (flagged)"
        } else {
            " (changed)"
        });
    }
    said
}

struct Stage {
    lifetimes: Lifetimes,
    wanted: Wanted,
    principal: Principal,
    call: Call,
    contract: ToolContract,
    answer: countersign_contract::CheckedAnswer,
}

impl Stage {
    fn new() -> Self {
        let contract = json(
            r#"{
                "name": "count", "risk": "write", "source_label": "test",
                "revisions": {
                    "input_schema": "i1", "output_schema": "o1", "effect": "e1",
                    "handler": "h1", "producer": "p1", "policy": "r1"
                },
                "arguments": {"n": {"type": "integer"}}, "output": {"n": {"type": "integer"}},
                "limits": {"output_bytes": 64, "output_depth": 1}, "timeout_ms": 500
            }"#,
        );
        let contract = ToolContract::from_value(&contract).unwrap();
        let principal = Principal {
            tenant_id: TenantId::new("tenant-a").unwrap(),
            subject_id: SubjectId::new("subject-a").unwrap(),
            roles: Roles::default(),
        };
        let call = Call {
            profile: Profile::OpenAiResponses,
            response_id: ResponseId::new("response-1").unwrap(),
            call_id: CallId::new("call-1").unwrap(),
            operation_id: OperationId::new("operation-1").unwrap(),
            idempotency_key: Some(IdempotencyKey::new("key-1").unwrap()),
            name: contract.name.clone(),
            arguments: Arguments::new(json(r#"{"n": 1}"#)).unwrap(),
        };
        let answer = HandlerAnswer {
            data: json(r#"{"n": 7}"#),
            producer_revision: "p1".to_owned(),
            resource_revision: None,
            observed_at: "2026-07-19T00:00:00Z".to_owned(),
            downstream_request_id: None,
            receipt_id: None,
        };
        let scope = Scope::of(&principal, &call).unwrap();
        let request = RequestDigest::of(&principal, &call, Some(&contract));
        Self {
            lifetimes: Lifetimes::default(),
            wanted: Wanted {
                terms: Terms {
                    request,
                    profile: call.profile,
                    revisions: contract.revisions.clone(),
                    status_ref: StatusRef::of(&scope, &request),
                },
                scope,
                intent: None,
                downstream_memory: Some(Duration::from_hours(1)),
                timeout: contract.timeout,
            },
            answer: answer.check(&contract, &call.arguments).unwrap(),
            principal,
            call,
            contract,
        }
    }

    fn another(&self) -> Wanted {
        let mut wanted = self.wanted.clone();
        wanted.terms.revisions.policy = Revision::new("r2").unwrap();
        wanted
    }

    fn approval(&self, name: &str) -> ApprovalEvidence {
        let request = RequestDigest::of(&self.principal, &self.call, Some(&self.contract));
        ApprovalEvidence {
            approval_id: ApprovalId::new(name).unwrap(),
            approver: approver(),
            digest: ApprovalDigest::of(&self.call, &self.contract, &request, &approver()),
            expires_at: UtcSecond::new(LATER / 1000 + 10).unwrap(),
        }
    }

    fn record(&self, kind: StateKind) -> Record {
        let until = moment(BEGUN + 50_000);
        let attempt = || Attempt {
            approval: self.approval("given"),
            holder: holder("host-1"),
            first_sent: moment(BEGUN),
            over_at: until,
            steady: Some(SteadySpan {
                first_sent: steady(BEGUN),
                over_at: steady(BEGUN + 50_000),
            }),
        };
        let state = match kind {
            StateKind::AwaitingApproval => State::AwaitingApproval { until },
            StateKind::Denied => State::Denied {
                by: approver(),
                reason: None,
                until,
            },
            StateKind::Expired => State::Expired { until },
            StateKind::Reserved => State::Reserved {
                approval: self.approval("given"),
                until,
            },
            StateKind::Executing => State::Executing(attempt()),
            StateKind::Blocked => State::Blocked {
                cause: ErrorCode::NotFound,
            },
            StateKind::Failed => State::Failed {
                cause: NotStarted::Unreachable,
            },
            StateKind::Unknown => State::Unknown {
                attempt: attempt(),
                cause: UnknownCause::AnswerLost,
            },
            StateKind::Succeeded => State::Succeeded {
                proof: Proof::Answer,
                is_acknowledged: false,
            },
            StateKind::ResolvedCommitted => State::ResolvedCommitted {
                ruling: ruling(BEGUN),
                has_answer: true,
            },
            StateKind::ResolvedNotExecuted => State::ResolvedNotExecuted {
                ruling: ruling(BEGUN),
            },
        };
        Record {
            scope: self.wanted.scope.clone(),
            terms: self.wanted.terms.clone(),
            was_unknown: kind == StateKind::Unknown,
            state,
            fence: FENCE,
            intent: None,
            downstream_memory: self.wanted.downstream_memory,
            timeout: self.wanted.timeout,
            opened_at: moment(BEGUN),
            changed_at: moment(BEGUN),
            due_at: None,
            visits: 0,
            is_dead_letter: false,
        }
    }
}

fn proposed(stage: &Stage, record: Record, at: u64, wanted: &Wanted) -> Outcome {
    match propose(Some(record), wanted, moment(at), &stage.lifetimes) {
        Proposing::Opens { opened, .. } => Some(opened.record),
        Proposing::Expires(change) => Some(change.record),
        Proposing::Waits | Proposing::Refused | Proposing::Taken => None,
    }
}

fn reserved(stage: &Stage, record: Record, at: u64, approval: &ApprovalEvidence) -> Outcome {
    let steady = steady(at);
    let (wanted, holder) = (&stage.wanted, holder("host-2"));
    let clock = reading(at, &steady);
    match reserve(
        Some(record),
        wanted,
        approval,
        &holder,
        clock,
        &stage.lifetimes,
    ) {
        Reserving::Opens { begun, .. } | Reserving::Begins(begun) => Some(begun.record),
        Reserving::Taken | Reserving::TooLate => None,
    }
}

fn decided_as(decided: Result<super::Change, Refusal>) -> Outcome {
    match decided {
        Ok(change) => Some(change.record),
        Err(Refusal::TooLate(change)) => Some(change.record),
        Err(Refusal::NotWaiting(_)) => None,
    }
}

fn settled(record: Record, at: u64, fence: u64, settlement: &Settlement) -> Outcome {
    let change = settle(record, Fence::new(fence), settlement, moment(at));
    change.map(|change| change.record)
}

fn moment(milliseconds: u64) -> Moment {
    Moment::from_milliseconds(milliseconds).unwrap()
}

fn reading(at: u64, steady: &Steady) -> Reading<'_> {
    Reading {
        now: moment(at),
        steady: Some(steady),
    }
}

fn steady(at: u64) -> Steady {
    Steady {
        boot: BootId::new("start-1").unwrap(),
        passed: Duration::from_millis(at - BEGUN),
    }
}

fn approver() -> ApproverId {
    ApproverId::new("dana").unwrap()
}

fn holder(name: &str) -> InstanceId {
    InstanceId::new(name).unwrap()
}

fn ruling(at: u64) -> Ruling {
    Ruling {
        by: approver(),
        note: Note::new("seen in the shop's books").unwrap(),
        at: moment(at),
    }
}

fn json(text: &str) -> countersign_canonical::Value {
    parse(text.as_bytes(), &Limits::tool_result()).unwrap()
}
