//! Writes: recorded before anything is sent, approved by a person, sent once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use countersign_canonical::{Utf8, digest_with};
use countersign_contract::{
    ApproverId, Attachment, Call, CallId, Delivery, ErrorCode, IdempotencyKey, IntentDigest,
    OperationId, Package, Principal, RequestDigest, ResponseId, Scope, StatusRef,
};
use countersign_dispatch::{CallIdentity, DispatchRequest, Intent, ledger};
use countersign_ledger::{Changes as _, Inspection as _, Intents as _, StateKind, Work as _};
use countersign_mcp::passthrough::{self, Answered};
use countersign_mcp::{RequestId, Version};
use countersign_policy::{
    AccessRequest, ApprovalNeed, ApproverDirectory, ApproverStanding, Authorizer, Decision,
};
use countersign_runtime::{
    DispatchPorts, Performed, PrincipalDirectory, StatusSources, WorkPorts, dispatch, perform,
    while_alive,
};
use uuid::Uuid;

use super::answers;
use super::executor::UpstreamExecutor;
use super::inventory::Stock;
use super::session::Session;
use crate::host_ledger::FileLedger;
use crate::ledger_advice::failed;
use crate::output::complain;
use crate::performer::NoBusinessState;

/// The longest that nobody looks whether a decision has come, should its news be lost.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// How often a client that wants to hears that its call still waits.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);
/// The most looks on behalf of one call.
const MAX_LOOKS: usize = 100_000;
/// The most operations tidied up after others at a time.
const MAX_TIDIED: usize = 64;
/// The most writes whose answers nobody has acknowledged yet.
const MAX_DELIVERED: usize = 1024;
/// The longest id of a request that stands as it is in a call's identity.
const MAX_PLAIN_ID_CHARS: usize = 200;

/// Governs the writes of one connection.
pub(super) struct Governor {
    pub(super) ledger: FileLedger,
    pub(super) principal: Principal,
    pub(super) approval_wait: Duration,
    pub(super) observes: bool,
    connection: ResponseId,
    /// Operations that callers of this process asked for and that nobody waits for at the moment.
    kept: Mutex<BTreeSet<Scope>>,
    delivered: Mutex<Delivered>,
    under_way: AtomicUsize,
}

/// Answers that went out, and those of them that the client has shown to know.
#[derive(Default)]
struct Delivered {
    answered: BTreeMap<RequestId, Scope>,
    written: BTreeMap<RequestId, Scope>,
    acknowledged: Vec<Scope>,
}

/// A write that a client asks for.
pub(super) struct WriteRequest {
    pub(super) id: RequestId,
    pub(super) tool: String,
    /// The arguments as they came.
    pub(super) arguments: Option<String>,
    /// The token under which the client wants to hear of progress, as it came.
    pub(super) progress_token: Option<String>,
    pub(super) version: Version,
    pub(super) is_cancelled: Arc<AtomicBool>,
}

/// What a client is answered.
pub(super) enum Reply {
    Result(String),
    Error(String),
}

/// A write on its way.
struct Pending {
    call: Call,
    scope: Scope,
    status_ref: StatusRef,
    intent: Option<Intent>,
}

/// How long a call still waits, and how often its client was told so.
struct Wait {
    left: Duration,
    told: u32,
}

impl Governor {
    pub(super) fn new(
        ledger: FileLedger,
        principal: Principal,
        approval_wait: Duration,
        observes: bool,
    ) -> anyhow::Result<Self> {
        let connection = format!("mcp_{}", Uuid::new_v4().simple());
        Ok(Self {
            ledger,
            principal,
            approval_wait,
            observes,
            connection: ResponseId::new(connection)?,
            kept: Mutex::default(),
            delivered: Mutex::default(),
            under_way: AtomicUsize::new(0),
        })
    }

    /// Answers a write; nothing where the client has cancelled it or gone away.
    pub(super) fn answer(&self, session: &Session, request: &WriteRequest) -> Option<Reply> {
        match self.carry_out(session, request) {
            Ok(reply) => reply,
            Err(error) => {
                complain(&format!("{error:#}"));
                Some(Reply::Result(answers::host_unavailable(&format!(
                    "{error:#}"
                ))))
            }
        }
    }

    fn carry_out(
        &self,
        session: &Session,
        request: &WriteRequest,
    ) -> anyhow::Result<Option<Reply>> {
        self.acknowledge()?;
        let mut stock = session.stock()?;
        let pending = self.pending(session, &stock, request)?;
        self.keep(&pending.scope, false);
        let mut wait = Wait {
            left: self.approval_wait,
            told: 0,
        };
        for _ in 0..MAX_LOOKS {
            let package = match self.due(session, &mut stock, &pending)? {
                Some(package) => package,
                None => self.dispatch(session, &stock, &pending)?,
            };
            let code = package.model_result().error_code();
            let is_open = match code {
                None => return self.succeeded(request, &pending, &package).map(Some),
                Some(ErrorCode::ApprovalRequired | ErrorCode::OutcomeUnknown) => {
                    self.is_moving(&pending)?
                }
                Some(_) => false,
            };
            if let Some(code) = code
                && (!is_open || wait.left.is_zero())
            {
                self.keep(&pending.scope, is_open);
                let status_ref = Some(pending.status_ref);
                return Ok(Some(Reply::Result(answers::refused(
                    &request.tool,
                    code,
                    status_ref,
                ))));
            }
            if !self.waits(session, request, &pending, &mut wait)? {
                self.keep(&pending.scope, true);
                return Ok(None);
            }
        }
        Err(anyhow!("this call was looked at too often"))
    }

    /// Waits until the operation has moved on, or the time is over. False where nobody waits for the answer any more.
    fn waits(
        &self,
        session: &Session,
        request: &WriteRequest,
        pending: &Pending,
        wait: &mut Wait,
    ) -> anyhow::Result<bool> {
        let before = self.kind(pending)?;
        while !wait.left.is_zero() {
            if request.is_cancelled.load(Ordering::Acquire) || session.is_ending() {
                return Ok(false);
            }
            let version = self.ledger.version();
            if self.kind(pending)? != before {
                break;
            }
            let pause = wait.left.min(LOOK_INTERVAL);
            let begun = self.ledger.now().map_err(failed)?;
            self.ledger.wait(version, pause);
            let waited = self.ledger.now().map_err(failed)?.since(begun);
            let waited = waited.clamp(Duration::from_millis(1), pause);
            wait.left = wait.left.saturating_sub(waited);
            let due = PROGRESS_INTERVAL.saturating_mul(wait.told.saturating_add(1));
            if self.approval_wait.saturating_sub(wait.left) >= due {
                wait.told = wait.told.saturating_add(1);
                session.tell_waiting(request, &pending.status_ref, wait.told);
            }
            if before == Some(StateKind::Executing) {
                // Whoever performs it may be gone.
                self.ledger.recover(MAX_TIDIED).map_err(failed)?;
            }
        }
        Ok(true)
    }

    /// The call under the key that the ledger has for what it means. What is only observed means something new each time.
    fn pending(
        &self,
        session: &Session,
        stock: &Stock,
        request: &WriteRequest,
    ) -> anyhow::Result<Pending> {
        let passthrough = session.passthrough()?;
        let name = passthrough.tool_name(&request.tool);
        let name = name.ok_or_else(|| anyhow!("this tool's name cannot be recorded"))?;
        let contract = stock.registry.get(&name);
        let id = request.id.to_json();
        let identity = digest_with::<Utf8>(|encoder| {
            encoder.begin_array();
            encoder.string("countersign-mcp-call-v1");
            encoder.string(self.connection.as_str());
            encoder.string(&id);
            encoder.end_array();
        });
        let is_plain = id.chars().count() <= MAX_PLAIN_ID_CHARS;
        let call_id = if is_plain {
            id
        } else {
            format!("sha256:{identity}")
        };
        let arguments = passthrough::arguments(request.arguments.as_deref())
            .context("the arguments cannot be recorded")?;
        let mut call = Call {
            profile: request.version.profile(),
            response_id: self.connection.clone(),
            call_id: CallId::new(call_id)?,
            operation_id: OperationId::new(format!("op_{identity}"))?,
            idempotency_key: None,
            name,
            arguments,
        };
        let mut intent = None;
        call.idempotency_key = Some(if self.observes {
            IdempotencyKey::new(format!("observed_{}", Uuid::new_v4().simple()))?
        } else {
            let identity = CallIdentity::of(&self.principal, &call);
            let digest = IntentDigest::of(&self.principal, &call);
            let found = self.ledger.intent(&identity, &digest).map_err(failed)?;
            intent = Some(found);
            found.digest.key(found.generation)
        });
        let scope = Scope::of(&self.principal, &call);
        let scope = scope.ok_or_else(|| anyhow!("this call has no key"))?;
        let digest = RequestDigest::of(&self.principal, &call, contract);
        Ok(Pending {
            status_ref: StatusRef::of(&scope, &digest),
            call,
            scope,
            intent,
        })
    }

    /// Performs what was approved under the call's key, after a fresh look at the server's tools. Gives the result where it is
    /// this very call's.
    fn due(
        &self,
        session: &Session,
        stock: &mut Arc<Stock>,
        pending: &Pending,
    ) -> anyhow::Result<Option<Package>> {
        let task = self.ledger.task(&pending.scope).map_err(failed)?;
        let Some(task) = task.filter(|task| task.record.kind() == StateKind::Reserved) else {
            return Ok(None);
        };
        *stock = session.renewed_stock()?;
        let performed = self.perform(session, stock, &task)?;
        Ok(match performed {
            Performed::Done(package) if task.proposal.call == pending.call => Some(*package),
            Performed::Done(_)
            | Performed::Blocked(_)
            | Performed::StillUnknown
            | Performed::Nothing => None,
        })
    }

    fn perform(
        &self,
        session: &Session,
        stock: &Stock,
        task: &countersign_ledger::Task,
    ) -> anyhow::Result<Performed> {
        let passthrough = session.passthrough()?;
        let executor = UpstreamExecutor {
            upstream: &session.upstream,
            passthrough: &passthrough,
            stock,
        };
        let ports = WorkPorts {
            ledger: &self.ledger,
            registry: &stock.registry,
            principals: self,
            authorizer: self,
            approvers: self,
            state: &NoBusinessState,
            executor: &executor,
            source: &StatusSources::new(),
        };
        self.alive(|| perform(&ports, task))
    }

    fn dispatch(
        &self,
        session: &Session,
        stock: &Stock,
        pending: &Pending,
    ) -> anyhow::Result<Package> {
        let passthrough = session.passthrough()?;
        let executor = UpstreamExecutor {
            upstream: &session.upstream,
            passthrough: &passthrough,
            stock,
        };
        let ports = DispatchPorts {
            ledger: &self.ledger,
            authorizer: self,
            approvers: self,
            state: &NoBusinessState,
            executor: &executor,
        };
        let request = DispatchRequest {
            principal: &self.principal,
            call: &pending.call,
            contract: stock.registry.get(&pending.call.name),
            approvals: &[],
            intent: pending.intent,
            downstream_memory: None,
            now: self.ledger.now().map_err(failed)?.second(),
        };
        self.alive(|| dispatch(&ports, &request))
    }

    /// Something may be sent meanwhile: the lease is renewed, and nobody closes the server's input.
    fn alive<T>(&self, body: impl FnOnce() -> Result<T, ledger::Error>) -> anyhow::Result<T> {
        self.under_way.fetch_add(1, Ordering::AcqRel);
        let lease = self.ledger.lifetimes().lease;
        let done = while_alive(&self.ledger, lease, body);
        self.under_way.fetch_sub(1, Ordering::AcqRel);
        done.map_err(failed)
    }

    /// Whether something may be under way to the server.
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.load(Ordering::Acquire) > 0
    }

    /// Whether waiting can still change what the call hears.
    fn is_moving(&self, pending: &Pending) -> anyhow::Result<bool> {
        Ok(self.kind(pending)?.is_some_and(|kind| match kind {
            StateKind::AwaitingApproval | StateKind::Reserved | StateKind::Executing => true,
            StateKind::Unknown
            | StateKind::Denied
            | StateKind::Expired
            | StateKind::Blocked
            | StateKind::Failed
            | StateKind::Succeeded
            | StateKind::ResolvedCommitted
            | StateKind::ResolvedNotExecuted => false,
        }))
    }

    /// How the call's operation stands, while it is open.
    fn kind(&self, pending: &Pending) -> anyhow::Result<Option<StateKind>> {
        let task = self.ledger.task(&pending.scope).map_err(failed)?;
        Ok(task.map(|task| task.record.kind()))
    }

    /// The recorded answer, byte for byte, with what became of the write.
    fn succeeded(
        &self,
        request: &WriteRequest,
        pending: &Pending,
        package: &Package,
    ) -> anyhow::Result<Reply> {
        let detail = self.ledger.operation(&pending.status_ref).map_err(failed)?;
        let answer = detail.and_then(|detail| detail.answer);
        let answer = answer.ok_or_else(|| anyhow!("the recorded answer cannot be found"))?;
        let text = answer.attachment().map(Attachment::text);
        let text = text.ok_or_else(|| anyhow!("the recorded answer has no text"))?;
        let mut delivered = self
            .delivered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if delivered.answered.len() < MAX_DELIVERED {
            delivered
                .answered
                .insert(request.id.clone(), pending.scope.clone());
        }
        Ok(match passthrough::answered(answer.data()) {
            Answered::ProtocolError => Reply::Error(text.to_owned()),
            Answered::Result | Answered::ErrorResult => Reply::Result(answers::succeeded(
                text,
                &pending.status_ref,
                is_repeated(package),
            )),
        })
    }

    /// An answer to a write went out.
    pub(super) fn is_written(&self, id: &RequestId) {
        let mut delivered = self
            .delivered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(scope) = delivered.answered.remove(id) {
            delivered.written.insert(id.clone(), scope);
        }
    }

    /// The client has given a request up: it does not know that answer, whatever it sends later.
    pub(super) fn is_given_up(&self, id: &RequestId) {
        let mut delivered = self
            .delivered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        delivered.answered.remove(id);
        delivered.written.remove(id);
    }

    /// The client goes on: it knows every answer that went out before.
    pub(super) fn is_going_on(&self) {
        let mut delivered = self
            .delivered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let written = std::mem::take(&mut delivered.written);
        delivered.acknowledged.extend(written.into_values());
    }

    /// Records what the client has shown to know, before it is asked what the next call means.
    fn acknowledge(&self) -> anyhow::Result<()> {
        // Held throughout, so that nobody asks in between.
        let mut delivered = self
            .delivered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        while let Some(scope) = delivered.acknowledged.last() {
            self.ledger.acknowledge(scope).map_err(failed)?;
            delivered.acknowledged.pop();
        }
        Ok(())
    }

    fn keep(&self, scope: &Scope, is_kept: bool) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if is_kept {
            kept.insert(scope.clone());
        } else {
            kept.remove(scope);
        }
    }

    /// Performs what was approved while nobody waited for it, until the session ends. Only what callers of this process asked for:
    /// another process may have another environment.
    pub(super) fn look_after(&self, session: &Session) {
        while !session.is_ending() {
            let version = self.ledger.version();
            let kept = self
                .kept
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            for scope in &kept {
                if let Err(error) = self.look_after_one(session, scope) {
                    complain(&format!("{error:#}"));
                }
            }
            self.ledger.wait(version, LOOK_INTERVAL);
        }
        // What the client knows is not forgotten over its end; a lease that runs out says the rest.
        let _ = self.acknowledge();
        let _ = self.ledger.leave();
    }

    fn look_after_one(&self, session: &Session, scope: &Scope) -> anyhow::Result<()> {
        let task = self.ledger.task(scope).map_err(failed)?;
        match task {
            Some(task) if task.record.kind() == StateKind::AwaitingApproval => {}
            Some(task) if task.record.kind() == StateKind::Reserved => {
                let stock = session.renewed_stock()?;
                self.perform(session, &stock, &task)?;
                self.keep(scope, false);
            }
            Some(_) | None => self.keep(scope, false),
        }
        Ok(())
    }
}

fn is_repeated(package: &Package) -> bool {
    package.model_result().delivery() != Delivery::Fresh
}

/// Who wraps a server lets its tools be called; a write by whoever a person approves it for.
impl Authorizer for Governor {
    fn decide(&self, _: &AccessRequest<'_>) -> Decision {
        Decision::Allowed(if self.observes {
            ApprovalNeed::Policy
        } else {
            ApprovalNeed::Person
        })
    }
}

/// Whoever can decide on this ledger, save for the agent itself.
impl ApproverDirectory for Governor {
    fn standing(&self, approver: &ApproverId, request: &AccessRequest<'_>) -> ApproverStanding {
        if approver.as_str() == request.principal.subject_id.as_str() {
            ApproverStanding::NotEntitled
        } else {
            ApproverStanding::Entitled
        }
    }
}

impl PrincipalDirectory for Governor {
    fn current(&self, stored: &Principal) -> Option<Principal> {
        let is_own = stored.tenant_id == self.principal.tenant_id
            && stored.subject_id == self.principal.subject_id;
        is_own.then(|| self.principal.clone())
    }
}
