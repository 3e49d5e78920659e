//! Sends an approved call to the server, once, and says what came of it.

use countersign_canonical::Value;
use countersign_contract::HandlerAnswer;
use countersign_dispatch::{Execution, ExecutionOrder, Executor, NotStarted};
use countersign_mcp::passthrough::{Answered, tool_of};
use countersign_mcp::{Kind, Message, Passthrough, is_error, write};
use countersign_runtime::{Clock as _, SystemClock};

use super::inventory::{Entry, Stock};
use super::upstream::{Asked, Upstream};

/// Codes with which a server says that it has called nothing (JSON-RPC 2.0, section 5.1). All others may come from within.
const NOTHING_CALLED: [i64; 4] = [-32700, -32600, -32601, -32602];

/// Performs calls by a server behind us.
pub(super) struct UpstreamExecutor<'s> {
    pub(super) upstream: &'s Upstream,
    pub(super) passthrough: &'s Passthrough,
    pub(super) stock: &'s Stock,
}

impl Executor for UpstreamExecutor<'_> {
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
        let call = order.call();
        let (Some(tool), Some(arguments)) = (tool_of(&call.name), call.arguments.attachment())
        else {
            return Execution::NotStarted(NotStarted::Unreachable);
        };
        let params = write::call_params(tool, Some(arguments.text()));
        match self.upstream.ask("tools/call", &params, order.timeout()) {
            Asked::NotSent(cause) => Execution::NotStarted(cause),
            Asked::Lost => Execution::AnswerLost,
            Asked::Answered(message) => self.answer(tool, &message),
        }
    }
}

impl UpstreamExecutor<'_> {
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

/// Data that no contract accepts.
fn outside_contract(answer: HandlerAnswer) -> HandlerAnswer {
    HandlerAnswer {
        data: Value::Null,
        ..answer
    }
}
