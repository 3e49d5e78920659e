//! A ledger that fails at each of its methods, and ports that panic.

use std::cell::Cell;

use countersign_contract::{ApproverId, CallFingerprint, CheckedAnswer, Scope, StatusRef};
use countersign_dispatch::{
    BusinessState, CallBound, CallIdentity, Fence, Ledger, Operation, Proposal, Proposed, Receipt,
    Reservation, Reserved, Settled, Settlement, StateVerdict, StatusQuestion, StatusSource, ledger,
};
use countersign_policy::{
    AccessRequest, ApproverDirectory, ApproverStanding, Authorized, Authorizer, Decision,
};
use countersign_runtime::{DispatchPorts, StatusPorts};
use countersign_shop::Disturbance;

use super::stage::{Attempt, FRESH, RECONCILED, REPLAY, Said, Stage, said};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    BindCall,
    FindOperation,
    FindQueryable,
    Reserve,
    Settle,
    Reconcile,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Failure {
    /// Nothing is written.
    Error,
    /// It is written, and the answer is lost: a connection that breaks at the commit.
    ErrorAfterwards,
    Panic,
    /// Somebody else has moved the operation on.
    Stale,
}

/// A ledger that fails once, at one method.
struct FailingLedger<'l> {
    inner: &'l dyn Ledger,
    failing: Cell<Option<(Method, Failure)>>,
}

impl<'l> FailingLedger<'l> {
    fn new(inner: &'l dyn Ledger, method: Method, failure: Failure) -> Self {
        Self {
            inner,
            failing: Cell::new(Some((method, failure))),
        }
    }

    fn has_failed(&self) -> bool {
        self.failing.get().is_none()
    }

    fn at<T>(
        &self,
        method: Method,
        stale: Option<T>,
        real: impl FnOnce() -> Result<T, ledger::Error>,
    ) -> Result<T, ledger::Error> {
        let Some((_, failure)) = self.failing.get().filter(|(at, _)| *at == method) else {
            return real();
        };
        self.failing.set(None);
        match failure {
            Failure::Error => Err(ledger::Error::Unavailable(ledger::Cause::Io)),
            Failure::ErrorAfterwards => {
                real().unwrap();
                Err(ledger::Error::Unconfirmed)
            }
            Failure::Panic => panic!("the ledger is broken"),
            Failure::Stale => Ok(stale.unwrap()),
        }
    }
}

impl Ledger for FailingLedger<'_> {
    fn bind_call(
        &self,
        identity: &CallIdentity,
        fingerprint: &CallFingerprint,
    ) -> Result<CallBound, ledger::Error> {
        self.at(Method::BindCall, None, || {
            self.inner.bind_call(identity, fingerprint)
        })
    }

    fn find_operation(
        &self,
        scope: &Scope,
        identity: &CallIdentity,
        fingerprint: &CallFingerprint,
    ) -> Result<Option<Operation>, ledger::Error> {
        self.at(Method::FindOperation, None, || {
            self.inner.find_operation(scope, identity, fingerprint)
        })
    }

    fn find_queryable(&self, status_ref: &StatusRef) -> Result<Option<Operation>, ledger::Error> {
        self.at(Method::FindQueryable, None, || {
            self.inner.find_queryable(status_ref)
        })
    }

    fn propose(&self, proposal: &Proposal<'_>) -> Result<Proposed, ledger::Error> {
        self.inner.propose(proposal)
    }

    fn reserve(&self, reservation: &Reservation<'_>) -> Result<Reserved, ledger::Error> {
        self.at(Method::Reserve, Some(Reserved::ApprovalUnusable), || {
            self.inner.reserve(reservation)
        })
    }

    fn settle(
        &self,
        scope: &Scope,
        fence: Fence,
        settlement: &Settlement,
    ) -> Result<Settled, ledger::Error> {
        self.at(Method::Settle, Some(Settled::Stale), || {
            self.inner.settle(scope, fence, settlement)
        })
    }

    fn reconcile(&self, scope: &Scope, answer: &CheckedAnswer) -> Result<Settled, ledger::Error> {
        self.at(Method::Reconcile, Some(Settled::Stale), || {
            self.inner.reconcile(scope, answer)
        })
    }
}

/// Dispatches once over a failing ledger; nothing where the ledger's error came out.
fn dispatched(stage: &Stage, attempt: &Attempt, method: Method, failure: Failure) -> Option<Said> {
    let ledger = FailingLedger::new(&*stage.ledger, method, failure);
    let line = stage.line(attempt.disturbance);
    let ports = DispatchPorts {
        ledger: &ledger,
        ..stage.ports(&line)
    };
    let result = attempt.dispatch(&ports);
    assert!(ledger.has_failed(), "{method:?} was never reached");
    match result {
        Ok(package) => Some(said(&package)),
        Err(error) => {
            let due = match failure {
                Failure::Error => ledger::Error::Unavailable(ledger::Cause::Io),
                Failure::ErrorAfterwards | Failure::Panic | Failure::Stale => {
                    ledger::Error::Unconfirmed
                }
            };
            assert_eq!(error, due);
            None
        }
    }
}

#[test]
fn before_the_effect_a_failing_ledger_lets_nothing_run() {
    for method in [Method::BindCall, Method::FindOperation, Method::Reserve] {
        for failure in [Failure::Error, Failure::Panic] {
            let stage = Stage::default();
            let attempt = Attempt::approved_refund();
            assert_eq!(
                dispatched(&stage, &attempt, method, failure),
                None,
                "{method:?} {failure:?}"
            );
            assert_eq!(stage.shop.effect_count(), 0, "{method:?} {failure:?}");
            // Neither key nor approval is gone.
            assert_eq!(stage.says(&attempt), (FRESH, 1), "{method:?} {failure:?}");
        }
    }
    let stage = Stage::default();
    let read = Attempt::read();
    assert_eq!(
        dispatched(&stage, &read, Method::BindCall, Failure::Error),
        None
    );
}

#[test]
fn a_reservation_whose_answer_is_lost_holds_the_key_and_runs_nothing() {
    let stage = Stage::default();
    let attempt = Attempt::approved_refund();
    let lost = dispatched(&stage, &attempt, Method::Reserve, Failure::ErrorAfterwards);
    assert_eq!(lost, None);
    assert_eq!(stage.says(&attempt), ("OUTCOME_UNKNOWN", 0));
    assert_eq!(stage.status(&attempt, "question-1"), ("OUTCOME_UNKNOWN", 0));
}

#[test]
fn an_approval_that_was_consumed_elsewhere_is_invalid() {
    let stage = Stage::default();
    let attempt = Attempt::approved_refund();
    assert_eq!(
        dispatched(&stage, &attempt, Method::Reserve, Failure::Stale),
        Some("APPROVAL_INVALID")
    );
    assert_eq!(stage.shop.effect_count(), 0);
}

#[test]
fn after_the_effect_what_was_not_written_down_is_unknown() {
    for failure in [Failure::Error, Failure::Panic, Failure::Stale] {
        let stage = Stage::default();
        let attempt = Attempt::approved_refund();
        assert_eq!(
            dispatched(&stage, &attempt, Method::Settle, failure),
            Some("OUTCOME_UNKNOWN"),
            "{failure:?}"
        );
        assert_eq!(stage.says(&attempt), ("OUTCOME_UNKNOWN", 1), "{failure:?}");
        assert_eq!(
            stage.status(&attempt, "question-1"),
            (RECONCILED, 1),
            "{failure:?}"
        );
        assert_eq!(stage.says(&attempt), (REPLAY, 1), "{failure:?}");
    }
}

#[test]
fn a_result_that_was_written_and_not_heard_of_is_replayed() {
    let stage = Stage::default();
    let attempt = Attempt::approved_refund();
    assert_eq!(
        dispatched(&stage, &attempt, Method::Settle, Failure::ErrorAfterwards),
        Some("OUTCOME_UNKNOWN")
    );
    assert_eq!(stage.says(&attempt), (REPLAY, 1));
}

#[test]
fn a_release_that_was_not_written_down_frees_nothing() {
    let stage = Stage::default();
    let attempt = Attempt::approved_refund().disturbed(Disturbance::RateLimit);
    assert_eq!(
        dispatched(&stage, &attempt, Method::Settle, Failure::Error),
        Some("OUTCOME_UNKNOWN")
    );
    assert_eq!(
        stage.says(&attempt.disturbed(Disturbance::None)),
        ("OUTCOME_UNKNOWN", 0)
    );
}

#[test]
fn a_question_over_a_failing_ledger_leaves_everything_as_it_was() {
    let cases = [
        (Method::BindCall, Failure::Error, None),
        (Method::BindCall, Failure::Panic, None),
        (Method::FindQueryable, Failure::Error, None),
        (Method::FindQueryable, Failure::Panic, None),
        (Method::Reconcile, Failure::Error, Some("OUTCOME_UNKNOWN")),
        (Method::Reconcile, Failure::Panic, Some("OUTCOME_UNKNOWN")),
        (Method::Reconcile, Failure::Stale, Some("OUTCOME_UNKNOWN")),
    ];
    for (method, failure, expected) in cases {
        let stage = Stage::default();
        let attempt = Attempt::approved_refund().disturbed(Disturbance::AnswerLost);
        assert_eq!(stage.says(&attempt), ("OUTCOME_UNKNOWN", 1));
        let ledger = FailingLedger::new(&*stage.ledger, method, failure);
        let ports = StatusPorts {
            ledger: &ledger,
            ..stage.status_ports()
        };
        let asked =
            attempt
                .asking("question-1")
                .query(&ports, attempt.status_ref(), attempt.request());
        assert!(ledger.has_failed());
        assert_eq!(
            asked.ok().as_ref().map(said),
            expected,
            "{method:?} {failure:?}"
        );
        assert_eq!(stage.says(&attempt), ("OUTCOME_UNKNOWN", 1));
        assert_eq!(stage.status(&attempt, "question-1"), (RECONCILED, 1));
    }
}

/// Panics whatever it is asked.
struct Broken;

impl Authorizer for Broken {
    fn decide(&self, _: &AccessRequest<'_>) -> Decision {
        panic!("the authorizer is broken")
    }
}

impl ApproverDirectory for Broken {
    fn standing(&self, _: &ApproverId, _: &AccessRequest<'_>) -> ApproverStanding {
        panic!("the directory is broken")
    }
}

impl BusinessState for Broken {
    fn verdict(&self, _: &Authorized<'_>) -> StateVerdict {
        panic!("the state is broken")
    }
}

impl StatusSource for Broken {
    fn receipt(&self, _: &StatusQuestion<'_>) -> Option<Receipt> {
        panic!("the source is broken")
    }
}

#[test]
fn a_port_that_panics_denies() {
    let stage = Stage::default();
    let line = stage.line(Disturbance::None);
    let ports = stage.ports(&line);
    let attempt = Attempt::approved_refund();
    let cases = [
        (
            "NOT_FOUND",
            DispatchPorts {
                authorizer: &Broken,
                ..ports
            },
        ),
        (
            "BUSINESS_RULE_VIOLATION",
            DispatchPorts {
                state: &Broken,
                ..ports
            },
        ),
        (
            "APPROVAL_INVALID",
            DispatchPorts {
                approvers: &Broken,
                ..ports
            },
        ),
    ];
    for (code, ports) in cases {
        assert_eq!(said(&attempt.dispatch(&ports).unwrap()), code);
        assert_eq!(stage.shop.effect_count(), 0);
    }
    assert_eq!(stage.says(&attempt), (FRESH, 1));
}

#[test]
fn a_status_port_that_panics_proves_nothing() {
    let stage = Stage::default();
    let attempt = Attempt::approved_refund().disturbed(Disturbance::AnswerLost);
    assert_eq!(stage.says(&attempt), ("OUTCOME_UNKNOWN", 1));
    let ports = stage.status_ports();
    let cases = [
        (
            "NOT_FOUND",
            StatusPorts {
                authorizer: &Broken,
                ..ports
            },
        ),
        (
            "OUTCOME_UNKNOWN",
            StatusPorts {
                source: &Broken,
                ..ports
            },
        ),
    ];
    for (code, ports) in cases {
        let asker = attempt.asking("question-1");
        let package = asker
            .query(&ports, attempt.status_ref(), attempt.request())
            .unwrap();
        assert_eq!(said(&package), code);
    }
    assert_eq!(stage.status(&attempt, "question-1"), (RECONCILED, 1));
}
