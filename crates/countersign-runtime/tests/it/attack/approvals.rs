//! Approvals that are dead, forged, borrowed, or given by the wrong one.

use countersign_canonical::{Limits, parse};
use countersign_contract::{ApproverId, OperationId, Profile, ResponseId};
use countersign_policy::{
    AccessRequest, Approval, ApprovalNeed, ApproverDirectory, ApproverStanding, Authorizer,
    Decision, RuleBook,
};
use countersign_runtime::DispatchPorts;
use countersign_shop::Disturbance;

use super::stage::{Attempt, Change, EXPIRY, FRESH, NOW, REPLAY, Stage, principal, revision, said};

#[test]
fn expiry_is_the_first_dead_second() {
    let stage = Stage::default();
    let attempt = Attempt::approved_refund();
    for dead in [EXPIRY + 1, EXPIRY] {
        assert_eq!(
            stage.says(&attempt.clone().at(dead)),
            ("APPROVAL_INVALID", 0)
        );
    }
    assert_eq!(stage.says(&attempt.clone().at(EXPIRY - 1)), (FRESH, 1));
    // Once used, its expiry does not take the result back.
    assert_eq!(stage.says(&attempt.at(EXPIRY)), (REPLAY, 1));
}

#[test]
fn no_expiry_lies_outside_portable_time() {
    for expires_at in [253_402_300_800, u64::MAX, 0] {
        let stage = Stage::default();
        let attempt =
            Attempt::approved_refund().with(|attempt| attempt.approvals[0].expires_at = expires_at);
        assert_eq!(stage.says(&attempt), ("APPROVAL_INVALID", 0));
    }
}

/// Each makes another call of the very same one.
const OTHER_CALLS: [(&str, Change<Attempt>); 13] = [
    ("arguments", |other| {
        *other = other
            .clone()
            .arguments(r#"{"order_ref": "ORDER-7", "reason": "damaged"}"#);
    }),
    ("resource", |other| {
        other.principal = principal("tenant-a", "user-1", &["support_admin"]);
        *other = other
            .clone()
            .arguments(r#"{"order_ref": "ORDER-8", "reason": "duplicate"}"#);
    }),
    ("key", |other| *other = other.clone().key("key-2")),
    ("no key", |other| other.call.idempotency_key = None),
    ("call", |other| *other = other.clone().call_id("call-2")),
    ("operation", |other| {
        other.call.operation_id = OperationId::new("operation-2").unwrap();
    }),
    ("response", |other| {
        other.call.response_id = ResponseId::new("response-2").unwrap();
    }),
    ("provider", |other| {
        other.call.profile = Profile::AnthropicMessages;
    }),
    ("API family of one provider", |other| {
        other.call.profile = Profile::OpenAiChatCompletions;
    }),
    ("subject", |other| {
        other.principal = principal("tenant-a", "user-2", &["support_admin"]);
    }),
    ("tenant", |other| {
        other.principal = principal("tenant-b", "user-1", &[]);
    }),
    ("input revision", |other| {
        other.contract.revisions.input_schema = revision("other");
    }),
    ("policy revision", |other| {
        other.contract.revisions.policy = revision("other");
    }),
];

#[test]
fn an_approval_for_another_call_is_none() {
    let more: [(&str, Change<Attempt>); 2] = [
        ("output revision", |other| {
            other.contract.revisions.output_schema = revision("other");
        }),
        ("effect revision", |other| {
            other.contract.revisions.effect = revision("other");
        }),
    ];
    for (what, change) in OTHER_CALLS.into_iter().chain(more) {
        let stage = Stage::default();
        let attempt = Attempt::refund();
        let of_other = attempt.clone().with(change).approval();
        let own = attempt.approval();
        assert_ne!(of_other.approval_digest, own.approval_digest, "{what}");

        let borrowed = attempt.clone().offering(of_other.clone());
        assert_eq!(stage.says(&borrowed), ("APPROVAL_INVALID", 0), "{what}");

        // All that can be read is made to fit; only the digest still tells.
        let disguised = attempt.clone().offering(Approval {
            approval_digest: of_other.approval_digest,
            ..own.clone()
        });
        assert_eq!(stage.says(&disguised), ("APPROVAL_INVALID", 0), "{what}");

        assert_eq!(stage.says(&attempt.offering(own)), (FRESH, 1), "{what}");
    }
}

#[test]
fn every_readable_member_counts() {
    let changes: [(&str, Change<Approval>); 13] = [
        ("operation", |a| a.operation_id.push('x')),
        ("call", |a| a.call_id = "call-2".to_owned()),
        ("provider", |a| a.provider = "anthropic".to_owned()),
        ("family", |a| a.api_family = "messages".to_owned()),
        ("adapter", |a| {
            a.adapter_revision = "openai-responses-v2".to_owned();
        }),
        ("key", |a| a.idempotency_key = Some("key-2".to_owned())),
        ("no key", |a| a.idempotency_key = None),
        ("tool", |a| a.tool_name = "get_order".to_owned()),
        ("subject", |a| a.subject_id = "user-2".to_owned()),
        ("schema", |a| a.schema_version.push(' ')),
        ("policy", |a| a.approval_revision.clear()),
        ("approver", |a| {
            a.approver_id = "human-reviewer-2".to_owned();
        }),
        ("approver's spelling", |a| {
            a.approver_id = "Human-Reviewer-1".to_owned();
        }),
    ];
    for (what, change) in changes {
        let stage = Stage::default();
        let attempt = Attempt::approved_refund().with(|attempt| change(&mut attempt.approvals[0]));
        assert_eq!(stage.says(&attempt), ("APPROVAL_INVALID", 0), "{what}");
    }
}

#[test]
fn a_digest_is_compared_exactly() {
    let right = Attempt::refund().approval().approval_digest;
    let forged = [
        "0".repeat(64),
        right.to_uppercase(),
        format!(" {right}"),
        format!("{right}\n"),
        right.chars().skip(1).collect(),
        format!("{right}0"),
        format!("sha256:{right}"),
        String::new(),
    ];
    for digest in forged {
        let stage = Stage::default();
        let attempt = Attempt::approved_refund()
            .with(|attempt| attempt.approvals[0].approval_digest.clone_from(&digest));
        assert_eq!(stage.says(&attempt), ("APPROVAL_INVALID", 0), "{digest:?}");
    }
}

#[test]
fn an_approval_has_a_bounded_name() {
    let named = |id: &str| {
        Attempt::approved_refund().with(|attempt| attempt.approvals[0].approval_id = id.to_owned())
    };
    for id in ["", " ", "\u{1c}\u{a0}", &"é".repeat(256)] {
        let stage = Stage::default();
        assert_eq!(stage.says(&named(id)), ("APPROVAL_INVALID", 0), "{id:?}");
    }
    let stage = Stage::default();
    assert_eq!(stage.says(&named(&"é".repeat(255))), (FRESH, 1));
}

#[test]
fn one_good_approval_among_bad_ones_is_enough() {
    let stage = Stage::default();
    let attempt = Attempt::refund().with(|attempt| {
        let good = attempt.approval();
        let mut dead = good.clone();
        dead.expires_at = NOW;
        let stranger = attempt.approval_by("mallory");
        attempt.approvals = vec![dead.clone(), stranger.clone(), dead];
        assert_eq!(stage.says(attempt), ("APPROVAL_INVALID", 0));
        attempt.approvals.push(good);
        attempt.approvals.push(stranger);
    });
    assert_eq!(stage.says(&attempt), (FRESH, 1));
}

#[test]
fn a_read_asks_for_no_approval_and_ignores_a_bad_one() {
    let stage = Stage::default();
    let mut bad = Attempt::refund().approval_by("mallory");
    bad.expires_at = 0;
    assert_eq!(stage.says(&Attempt::read()), (FRESH, 0));
    assert_eq!(stage.says(&Attempt::read().offering(bad)), (FRESH, 0));
}

/// Entitles everyone.
struct Everyone;

impl ApproverDirectory for Everyone {
    fn standing(&self, _: &ApproverId, _: &AccessRequest<'_>) -> ApproverStanding {
        ApproverStanding::Entitled
    }
}

#[test]
fn nobody_approves_in_the_name_of_the_policy() {
    for name in [
        "policy:refund-draft-policy-v1",
        "policy:",
        "policy:human-reviewer-1",
    ] {
        let stage = Stage::default();
        let line = stage.line(Disturbance::None);
        let ports = DispatchPorts {
            approvers: &Everyone,
            ..stage.ports(&line)
        };
        let attempt = Attempt::refund();
        let approval = attempt.approval_by(name);
        let attempt = attempt.offering(approval);
        let package = attempt.dispatch(&ports).unwrap();
        assert_eq!(said(&package), "APPROVAL_INVALID", "{name}");
        assert_eq!(stage.shop.effect_count(), 0);
    }
}

fn book(text: &str) -> RuleBook {
    let value = parse(text.as_bytes(), &Limits::tool_result()).unwrap();
    RuleBook::from_value(&value).unwrap()
}

#[test]
fn nobody_approves_their_own_call() {
    let book = book(
        r#"{"rules": [{"effect": "permit", "tools": ["*"]}], "approvers": ["user-1", "user-2"]}"#,
    );
    let stage = Stage::default();
    let line = stage.line(Disturbance::None);
    let ports = DispatchPorts {
        approvers: &book,
        authorizer: &book,
        ..stage.ports(&line)
    };
    let by = |approver: &str| {
        let attempt = Attempt::refund();
        let approval = attempt.approval_by(approver);
        said(&attempt.offering(approval).dispatch(&ports).unwrap())
    };
    assert_eq!(by("user-1"), "APPROVAL_INVALID");
    assert_eq!(by("user-3"), "APPROVAL_INVALID");
    assert_eq!(stage.shop.effect_count(), 0);
    assert_eq!(by("user-2"), FRESH);
    assert_eq!(stage.shop.effect_count(), 1);
}

#[test]
fn a_policy_that_approves_by_itself_needs_nobody() {
    let book =
        book(r#"{"rules": [{"effect": "permit", "tools": ["create_*"], "approval": "policy"}]}"#);
    let stage = Stage::default();
    let line = stage.line(Disturbance::None);
    let ports = DispatchPorts {
        authorizer: &book,
        approvers: &book,
        ..stage.ports(&line)
    };
    let attempt = Attempt::refund();
    assert_eq!(
        book.decide(&attempt.access()),
        Decision::Allowed(ApprovalNeed::Policy)
    );
    assert_eq!(said(&attempt.dispatch(&ports).unwrap()), FRESH);
    assert_eq!(said(&attempt.dispatch(&ports).unwrap()), REPLAY);
    assert_eq!(stage.shop.effect_count(), 1);

    // A bad approval that is offered all the same changes nothing.
    let attempt = Attempt::refund().key("key-2").call_id("call-2");
    let bad = attempt.approval_by("mallory");
    assert_eq!(
        said(&attempt.offering(bad).dispatch(&ports).unwrap()),
        FRESH
    );

    // A revision without room for the prefix names no approver.
    let attempt = Attempt::refund()
        .key("key-3")
        .call_id("call-3")
        .with(|attempt| attempt.contract.revisions.policy = revision(&"p".repeat(249)));
    let package = attempt.dispatch(&ports).unwrap();
    assert_eq!(said(&package), "APPROVAL_INVALID");
    assert_eq!(stage.shop.effect_count(), 2);
}

#[test]
fn one_approval_is_not_for_two_calls() {
    let stage = Stage::default();
    let first = Attempt::approved_refund();
    assert_eq!(stage.says(&first), (FRESH, 1));
    // Under another key it would be a second draft.
    let second = first.clone().key("key-2").call_id("call-2");
    assert_eq!(stage.says(&second), ("APPROVAL_INVALID", 1));
    // The same call again is answered from the record, with the approval or without.
    assert_eq!(stage.says(&first), (REPLAY, 1));
    let without = first.with(|attempt| attempt.approvals.clear());
    assert_eq!(stage.says(&without), (REPLAY, 1));
}

#[test]
fn what_was_not_started_gives_key_and_approval_back() {
    for (disturbance, code) in [
        (Disturbance::TimeoutBeforeExecute, "TIMEOUT_BEFORE_EXECUTE"),
        (Disturbance::RateLimit, "RATE_LIMIT"),
        (Disturbance::Unreachable, "TOOL_ERROR"),
    ] {
        let stage = Stage::default();
        let attempt = Attempt::approved_refund();
        for _ in 0..3 {
            assert_eq!(
                stage.says(&attempt.clone().disturbed(disturbance)),
                (code, 0)
            );
        }
        // There is nothing to ask about.
        assert_eq!(stage.status(&attempt, "question-1"), ("NOT_FOUND", 0));
        assert_eq!(stage.says(&attempt), (FRESH, 1));
        // Nor does a later refusal of the line matter: nothing runs again.
        assert_eq!(stage.says(&attempt.disturbed(disturbance)), (REPLAY, 1));
    }
}

#[test]
fn a_key_that_was_given_back_is_free_for_another_request() {
    let stage = Stage::default();
    let first = Attempt::approved_refund().disturbed(Disturbance::RateLimit);
    assert_eq!(stage.says(&first), ("RATE_LIMIT", 0));
    let other = Attempt::refund()
        .call_id("call-2")
        .arguments(r#"{"order_ref": "ORDER-7", "reason": "other"}"#)
        .approved();
    assert_eq!(stage.says(&other), (FRESH, 1));
    let again = first.disturbed(Disturbance::None);
    assert_eq!(stage.says(&again), ("IDEMPOTENCY_CONFLICT", 1));
}
