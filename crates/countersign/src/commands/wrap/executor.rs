//! Sends an approved call to the server, once, and says what came of it.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use countersign_canonical::Value;
use countersign_contract::HandlerAnswer;
use countersign_dispatch::{Execution, ExecutionOrder, Executor, NotStarted};
use countersign_mcp::passthrough::{Answered, tool_of};
use countersign_mcp::port::NotSent;
use countersign_mcp::stateless::ResultType;
use countersign_mcp::{Kind, Message, Part, Passthrough, is_error, write};
use countersign_runtime::{Clock as _, SystemClock};

use super::answers;
use super::caller::Caller;
use super::governor::Reply;
use super::inventory::{Entry, Stock};
use super::rounds::{Continued, Resumes, RoundDigest};
use super::session::Session;
use super::upstream::Asked;

/// Codes with which a server says that it has called nothing (JSON-RPC 2.0, section 5.1; 2026-07-28, Error Codes; 2025-11-25,
/// URL Elicitation Required). All others may come from within.
const NOTHING_CALLED: [i64; 8] = [
    -32700, -32600, -32601, -32602, -32020, -32021, -32022, -32042,
];
/// The most often that a server may ask its client for something before it answers one call.
const MAX_INPUTS: usize = 16;
/// How long a client may take for what a server has asked it for. It counts against no timeout of the server's.
const INPUT_LIMIT: Duration = Duration::from_mins(10);
/// How often it is looked meanwhile whether the client is still there.
const LOOK: Duration = Duration::from_millis(100);

/// Performs calls by a server behind us.
pub(super) struct UpstreamExecutor<'s> {
    pub(super) session: &'s Session,
    pub(super) passthrough: &'s Passthrough,
    pub(super) stock: &'s Stock,
    /// Who waits for the call, if anybody does.
    pub(super) caller: Option<&'s Arc<Caller>>,
}

impl Executor for UpstreamExecutor<'_> {
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
        let call = order.call();
        let (Some(tool), Some(arguments)) = (tool_of(&call.name), call.arguments.attachment())
        else {
            return Execution::NotStarted(NotStarted::Unreachable);
        };
        if let Some(caller) = self.caller {
            caller.is_served(order.status_ref());
        }
        let request = RoundDigest::of(tool, &call.arguments);
        let mut params = write::call_params(tool, Some(arguments.text()));
        for asked_before in 0..=MAX_INPUTS {
            let asked = self
                .session
                .ask("tools/call", params, self.caller, order.timeout());
            let message = match asked {
                // What a server wants to know more about may have begun.
                Asked::NotSent(_) if asked_before > 0 => return Execution::AnswerLost,
                Asked::NotSent(cause) => return Execution::NotStarted(not_started(cause)),
                Asked::Lost => return Execution::AnswerLost,
                Asked::Answered(message) => message,
            };
            let Some(wanted) = message.result() else {
                return self.answer(tool, &message);
            };
            match self.result_type(&wanted) {
                ResultType::Complete => return self.answer(tool, &message),
                // Whatever it is, it does not say that the call is done.
                ResultType::Other => return Execution::AnswerLost,
                ResultType::InputRequired => {}
            }
            let Some(inputs) = self.inputs(request, &wanted) else {
                return Execution::AnswerLost;
            };
            params = write::call_params(tool, Some(arguments.text()));
            params = write::with_member(&params, "inputResponses", &inputs);
            if let Some(state) = wanted.member("requestState") {
                params = write::with_member(&params, "requestState", state.text());
            }
        }
        Execution::AnswerLost
    }
}

impl UpstreamExecutor<'_> {
    /// What a result is. Before 2026-07-28 it is complete, save for a task, which no write asks for (2025-11-25, Tasks,
    /// `CreateTaskResult`).
    fn result_type(&self, result: &Part<'_>) -> ResultType {
        let has = |name| {
            result
                .value()
                .get(name)
                .is_some_and(|value| value != &Value::Null)
        };
        if self.session.is_stateless() {
            ResultType::of(result.value())
        } else if has("task") && !has("content") {
            ResultType::Other
        } else {
            ResultType::Complete
        }
    }

    /// Lets the client answer what the server wants to know. Nothing where nobody waits, or gives up.
    fn inputs(&self, request: RoundDigest, wanted: &Part<'_>) -> Option<String> {
        let caller = self.caller.filter(|caller| !caller.is_cancelled())?;
        let (way, continued) = sync_channel(1);
        let handle = self
            .session
            .rounds
            .give_out(request, Resumes::UnderWay(way));
        let asked = wanted.member("inputRequests");
        let result = answers::input_required(asked.map(|part| part.text()), &handle);
        self.session
            .answer(&caller.waiting().id, Reply::Round(result));
        let continued = self.awaited(&continued);
        self.session.rounds.withdraw(&handle);
        let Continued { waiting, inputs } = continued?;
        caller.goes_on_as(waiting);
        Some(inputs)
    }

    /// What a client brings in time, and before it goes away.
    fn awaited(&self, continued: &Receiver<Continued>) -> Option<Continued> {
        let mut left = INPUT_LIMIT;
        while !left.is_zero() && !self.session.is_ending() {
            match continued.recv_timeout(LOOK) {
                Ok(continued) => return Some(continued),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => left = left.saturating_sub(LOOK),
            }
        }
        None
    }

    fn answer(&self, tool: &str, message: &Message) -> Execution {
        let (answered, part) = match message.kind() {
            Kind::Response { .. } => {
                let Some(result) = message.result() else {
                    return Execution::Failed;
                };
                let answered = if is_error(result.value()) {
                    Answered::ErrorResult
                } else {
                    Answered::Result
                };
                (answered, result)
            }
            Kind::Error { .. } => {
                let Some(error) = message.error() else {
                    return Execution::Failed;
                };
                let code = error.value().get("code").and_then(Value::as_i64);
                if !code.is_some_and(|code| NOTHING_CALLED.contains(&code)) {
                    return Execution::Failed;
                }
                (Answered::ProtocolError, error)
            }
            Kind::Request { .. } | Kind::Notification { .. } => return Execution::Failed,
        };
        let is_promised = match self.stock.tool(tool) {
            Some(Entry::InService {
                output: Some(schema),
                ..
            }) if answered != Answered::ProtocolError => schema.judge(part.value()).is_ok(),
            Some(Entry::InService { .. } | Entry::OutOfService(_)) | None => true,
        };
        let Some(now) = SystemClock.now() else {
            return Execution::Failed;
        };
        match self.passthrough.answer(answered, part.text(), now) {
            Ok((answer, attachment)) if is_promised => Execution::AnsweredWith(answer, attachment),
            Ok((answer, _)) => Execution::Answered(outside_contract(answer)),
            Err(_) => Execution::AnswerLost,
        }
    }
}

fn not_started(cause: NotSent) -> NotStarted {
    match cause {
        NotSent::Unreachable => NotStarted::Unreachable,
        NotSent::Busy => NotStarted::RateLimited,
        NotSent::GivenUp => NotStarted::DeadlineExceeded,
    }
}

/// Data that no contract accepts.
fn outside_contract(answer: HandlerAnswer) -> HandlerAnswer {
    HandlerAnswer {
        data: Value::Null,
        ..answer
    }
}
