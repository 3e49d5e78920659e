//! Writes: recorded before anything is sent, approved by a person, sent once.

mod announcing;
mod delivered;
mod kept;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use countersign_canonical::{Utf8, digest_with};
use countersign_contract::{
    ApproverId, Attachment, Call, CallId, Delivery, ErrorCode, IdempotencyKey, IntentDigest,
    OperationId, Package, Principal, RequestDigest, ResponseId, Scope, StatusRef,
};
use countersign_dispatch::{CallIdentity, DispatchRequest, Intent, ledger};
use countersign_ledger::{
    Changes as _, Inspection as _, Intents as _, Moment, StateKind, Work as _,
};
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

use self::announcing::Announced;
use self::delivered::Delivered;
use super::answers;
use super::call_pages::CallPages;
use super::caller::Caller;
use super::executor::UpstreamExecutor;
use super::inventory::Stock;
use super::room::{Kept, Room};
use super::rounds::{MAX_ROUNDS, Resumes, RoundDigest};
use super::session::Session;
use crate::granted::{denial, is_granted};
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
/// The longest id of a request that stands as it is in a call's identity.
const MAX_PLAIN_ID_CHARS: usize = 200;

/// What all connections of this process share.
pub(super) struct Rules {
    pub(super) ledger: FileLedger,
    pub(super) principal: Principal,
    pub(super) approval_wait: Duration,
    pub(super) observes: bool,
    pub(super) pages: CallPages,
    pub(super) room: Arc<Room>,
}

/// Governs the writes of one connection.
pub(super) struct Governor {
    rules: Arc<Rules>,
    /// Whether all messages come from one client, so that a later one shows that it knows the earlier answers.
    acknowledges: bool,
    connection: ResponseId,
    /// Operations that callers of this process asked for and that nobody waits for at the moment.
    kept: Mutex<BTreeMap<Scope, Moment>>,
    delivered: Delivered,
    announced: Announced,
    under_way: AtomicUsize,
}

/// A write that a client asks for.
pub(super) struct WriteRequest {
    /// The request that it came with.
    pub(super) first_id: RequestId,
    pub(super) tool: String,
    /// The arguments as they came.
    pub(super) arguments: Option<String>,
    pub(super) version: Version,
    /// In which round of waiting the client asks.
    pub(super) round: u32,
    pub(super) caller: Arc<Caller>,
}

/// What a client is answered.
pub(super) enum Reply {
    Result(String),
    /// A result upon which the client asks again.
    Round(String),
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
    pub(super) fn new(rules: Arc<Rules>, acknowledges: bool) -> anyhow::Result<Self> {
        let connection = format!("mcp_{}", Uuid::new_v4().simple());
        Ok(Self {
            rules,
            acknowledges,
            connection: ResponseId::new(connection)?,
            kept: Mutex::default(),
            delivered: Delivered::default(),
            announced: Announced::new(),
            under_way: AtomicUsize::new(0),
        })
    }

    /// Takes room for so many bytes of a message, where there is that much.
    pub(super) fn room_for(&self, bytes: usize) -> Option<Kept> {
        self.rules.room.keep(bytes)
    }

    /// Answers a write; nothing where the client has cancelled it or gone away.
    pub(super) fn answer(&self, session: &Session, request: &WriteRequest) -> Option<Reply> {
        match self.carry_out(session, request) {
            Ok(reply) => reply,
            Err(error) => {
                complain(&format!("{error:#}"));
                let text = match request.caller.sent() {
                    None => answers::host_unavailable(&format!("{error:#}")),
                    sent => answers::refused(&request.tool, ErrorCode::OutcomeUnknown, sent),
                };
                Some(Reply::Result(text))
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
        self.let_go(&pending.scope);
        let mut wait = Wait {
            left: self.rules.approval_wait,
            told: 0,
        };
        let mut is_looked_at_again = false;
        for _ in 0..MAX_LOOKS {
            let package = match self.due(session, &mut stock, request, &pending)? {
                Some(package) => package,
                None => self.dispatch(session, &stock, request, &pending)?,
            };
            let Some(code) = package.model_result().error_code() else {
                return self.succeeded(request, &pending, &package).map(Some);
            };
            if code == ErrorCode::ApprovalRequired
                && is_granted(&self.rules.ledger, &pending.scope)?
            {
                continue;
            }
            let is_open = matches!(
                code,
                ErrorCode::ApprovalRequired | ErrorCode::OutcomeUnknown
            );
            let moving = if is_open {
                self.moving(&pending)?
            } else {
                None
            };
            if is_open && moving.is_none() && !is_looked_at_again {
                // It may have come to its end in between: then that is the answer.
                is_looked_at_again = true;
                continue;
            }
            is_looked_at_again = false;
            let Some(kind) = moving.filter(|_| !wait.left.is_zero()) else {
                let is_moving = moving.is_some();
                return self
                    .refused(session, request, &pending, code, is_moving)
                    .map(Some);
            };
            if !self.waits(session, request, &pending, kind, &mut wait)? {
                self.keep(&pending.scope);
                return Ok(None);
            }
        }
        Err(anyhow!("this call was looked at too often"))
    }

    /// What a client is told whose call was not carried out, or of which nobody knows. Where that can change still, it is looked
    /// after.
    fn refused(
        &self,
        session: &Session,
        request: &WriteRequest,
        pending: &Pending,
        code: ErrorCode,
        is_moving: bool,
    ) -> anyhow::Result<Reply> {
        if is_moving {
            self.keep(&pending.scope);
        }
        if is_moving
            && code == ErrorCode::ApprovalRequired
            && session.is_stateless()
            && request.round < MAX_ROUNDS
        {
            let digest = RoundDigest::of(&request.tool, &pending.call.arguments);
            let round = request.round + 1;
            let handle = session.rounds.give_out(digest, Resumes::Waiting { round });
            return Ok(Reply::Round(answers::waits_on(
                &pending.status_ref,
                &handle,
            )));
        }
        if code == ErrorCode::ApprovalInvalid
            && let Some(reason) = denial(&self.rules.ledger, &pending.status_ref)?
        {
            return Ok(Reply::Result(answers::denied(&pending.status_ref, &reason)));
        }
        let status_ref = Some(pending.status_ref);
        Ok(Reply::Result(answers::refused(
            &request.tool,
            code,
            status_ref,
        )))
    }

    /// Waits until the operation stands otherwise than it did, or the time is over. False where nobody waits for the answer any more.
    fn waits(
        &self,
        session: &Session,
        request: &WriteRequest,
        pending: &Pending,
        before: StateKind,
        wait: &mut Wait,
    ) -> anyhow::Result<bool> {
        if before == StateKind::AwaitingApproval {
            self.announce(session, request, pending);
        }
        while !wait.left.is_zero() {
            if request.caller.is_cancelled() || session.is_ending() {
                return Ok(false);
            }
            let version = self.rules.ledger.version();
            if before == StateKind::AwaitingApproval {
                // Somebody may have granted calls like this since it began to wait: then it stands otherwise.
                is_granted(&self.rules.ledger, &pending.scope)?;
            }
            if self.kind(pending)? != Some(before) {
                self.settle_announced(session, &pending.scope);
                break;
            }
            let pause = wait.left.min(LOOK_INTERVAL);
            let begun = self.rules.ledger.now().map_err(failed)?;
            self.rules.ledger.wait(version, pause);
            let waited = self.rules.ledger.now().map_err(failed)?.since(begun);
            let waited = waited.clamp(Duration::from_millis(1), pause);
            wait.left = wait.left.saturating_sub(waited);
            let due = PROGRESS_INTERVAL.saturating_mul(wait.told.saturating_add(1));
            if self.rules.approval_wait.saturating_sub(wait.left) >= due {
                wait.told = wait.told.saturating_add(1);
                session.tell_waiting(&request.caller, &pending.status_ref, wait.told);
            }
            if before == StateKind::Executing {
                // Whoever performs it may be gone.
                self.rules.ledger.recover(MAX_TIDIED).map_err(failed)?;
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
        let id = request.first_id.to_json();
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
        call.idempotency_key = Some(if self.rules.observes {
            IdempotencyKey::new(format!("observed_{}", Uuid::new_v4().simple()))?
        } else {
            let identity = CallIdentity::of(&self.rules.principal, &call);
            let digest = IntentDigest::of(&self.rules.principal, &call);
            let found = self
                .rules
                .ledger
                .intent(&identity, &digest)
                .map_err(failed)?;
            intent = Some(found);
            found.digest.key(found.generation)
        });
        let scope = Scope::of(&self.rules.principal, &call);
        let scope = scope.ok_or_else(|| anyhow!("this call has no key"))?;
        let digest = RequestDigest::of(&self.rules.principal, &call, contract);
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
        request: &WriteRequest,
        pending: &Pending,
    ) -> anyhow::Result<Option<Package>> {
        let task = self.rules.ledger.task(&pending.scope).map_err(failed)?;
        let Some(task) = task.filter(|task| task.record.kind() == StateKind::Reserved) else {
            return Ok(None);
        };
        *stock = session.renewed_stock()?;
        let performed = self.perform(session, stock, Some(&request.caller), &task)?;
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
        caller: Option<&Arc<Caller>>,
        task: &countersign_ledger::Task,
    ) -> anyhow::Result<Performed> {
        let passthrough = session.passthrough()?;
        let executor = UpstreamExecutor {
            session,
            passthrough: &passthrough,
            stock,
            caller,
        };
        let ports = WorkPorts {
            ledger: &self.rules.ledger,
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
        request: &WriteRequest,
        pending: &Pending,
    ) -> anyhow::Result<Package> {
        let passthrough = session.passthrough()?;
        let executor = UpstreamExecutor {
            session,
            passthrough: &passthrough,
            stock,
            caller: Some(&request.caller),
        };
        let ports = DispatchPorts {
            ledger: &self.rules.ledger,
            authorizer: self,
            approvers: self,
            state: &NoBusinessState,
            executor: &executor,
        };
        let dispatched = DispatchRequest {
            principal: &self.rules.principal,
            call: &pending.call,
            contract: stock.registry.get(&pending.call.name),
            approvals: &[],
            intent: pending.intent,
            downstream_memory: None,
            now: self.rules.ledger.now().map_err(failed)?.second(),
        };
        self.alive(|| dispatch(&ports, &dispatched))
    }

    /// Something may be sent meanwhile: the lease is renewed, and nobody closes the server's input.
    fn alive<T>(&self, body: impl FnOnce() -> Result<T, ledger::Error>) -> anyhow::Result<T> {
        self.under_way.fetch_add(1, Ordering::AcqRel);
        let lease = self.rules.ledger.lifetimes().lease;
        let done = while_alive(&self.rules.ledger, lease, body);
        self.under_way.fetch_sub(1, Ordering::AcqRel);
        done.map_err(failed)
    }

    /// Whether something may be under way to the server.
    pub(super) fn is_under_way(&self) -> bool {
        self.under_way.load(Ordering::Acquire) > 0
    }

    /// How the call's operation stands, where waiting can still change what the call hears.
    fn moving(&self, pending: &Pending) -> anyhow::Result<Option<StateKind>> {
        Ok(self.kind(pending)?.filter(|kind| match kind {
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
        let task = self.rules.ledger.task(&pending.scope).map_err(failed)?;
        Ok(task.map(|task| task.record.kind()))
    }

    /// The recorded answer, byte for byte, with what became of the write.
    fn succeeded(
        &self,
        request: &WriteRequest,
        pending: &Pending,
        package: &Package,
    ) -> anyhow::Result<Reply> {
        let detail = self
            .rules
            .ledger
            .operation(&pending.status_ref)
            .map_err(failed)?;
        let answer = detail.and_then(|detail| detail.answer);
        let answer = answer.ok_or_else(|| anyhow!("the recorded answer cannot be found"))?;
        let text = answer.attachment().map(Attachment::text);
        let text = text.ok_or_else(|| anyhow!("the recorded answer has no text"))?;
        self.delivered
            .is_answered(request.caller.waiting().id, pending.scope.clone());
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
        self.delivered.is_written(id);
    }

    /// The client has given a request up: it does not know that answer, whatever it sends later.
    pub(super) fn is_given_up(&self, id: &RequestId) {
        self.delivered.is_given_up(id);
    }

    /// The client goes on: it knows every answer that went out before.
    pub(super) fn is_going_on(&self) {
        if self.acknowledges {
            self.delivered.is_going_on();
        }
    }

    /// Records what the client has shown to know, before it is asked what the next call means.
    fn acknowledge(&self) -> anyhow::Result<()> {
        let ledger = &self.rules.ledger;
        self.delivered
            .acknowledge(|scope| ledger.acknowledge(scope).map_err(failed))
    }
}

fn is_repeated(package: &Package) -> bool {
    package.model_result().delivery() != Delivery::Fresh
}

/// Who wraps a server lets its tools be called; a write by whoever a person approves it for.
impl Authorizer for Governor {
    fn decide(&self, _: &AccessRequest<'_>) -> Decision {
        Decision::Allowed(if self.rules.observes {
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
        let is_own = stored.tenant_id == self.rules.principal.tenant_id
            && stored.subject_id == self.rules.principal.subject_id;
        is_own.then(|| self.rules.principal.clone())
    }
}
