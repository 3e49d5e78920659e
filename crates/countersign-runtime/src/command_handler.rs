//! A handler that is a local program, and a status operation that is one.

use std::collections::BTreeSet;
use std::ffi::OsString;

use countersign_canonical::{Limits, Object, Value, encode, parse};
use countersign_contract::{
    Call, HandlerAnswer, IdempotencyKey, StatusRef, ToolContract, ToolName,
};
use countersign_dispatch::{
    Execution, ExecutionOrder, NotStarted, Receipt, StatusQuestion, StatusSource,
};

use crate::clock::Clock;
use crate::command::{
    CommandOutcome, CommandSpec, Diagnostics, Exit, Exited, Lost, LostCause, run,
};
use crate::handlers::Handler;

/// How a program answers on its standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// With the data itself: one JSON object.
    #[default]
    Data,
    /// With `{data, resource_revision, observed_at, downstream_request_id, receipt_id}`, of which only `data` is
    /// required: for programs that have evidence to show.
    WithEvidence,
}

/// Takes what a program wrote to standard error, for the operator alone.
pub type DiagnosticsSink = Box<dyn Fn(&ToolName, &Diagnostics) + Send + Sync>;

/// Runs a program for each order: the arguments as JSON on its standard input, its answer on its standard output.
///
/// It may take as long as the tool's contract says, or as its command does where that is shorter.
/// Exit code 0 is an answer. Any other end of a program that ran says nothing about what it did, save for exit codes that
/// the tool promises to use only where it did nothing.
pub struct CommandHandler<C> {
    spec: CommandSpec,
    answers: Answers,
    not_started_codes: BTreeSet<i32>,
    clock: C,
    diagnostics: Option<DiagnosticsSink>,
}

/// The variables that carry a write's identities to its program.
const IDEMPOTENCY_KEY_VARIABLE: &str = "COUNTERSIGN_IDEMPOTENCY_KEY";
const STATUS_REF_VARIABLE: &str = "COUNTERSIGN_STATUS_REF";

impl<C: Clock> CommandHandler<C> {
    /// A handler that runs the program.
    pub fn new(spec: CommandSpec, clock: C) -> Self {
        Self {
            spec,
            answers: Answers::Data,
            not_started_codes: BTreeSet::new(),
            clock,
            diagnostics: None,
        }
    }

    /// Says how the program answers.
    #[must_use]
    pub fn answering(mut self, answers: Answers) -> Self {
        self.answers = answers;
        self
    }

    /// Believes the tool's promise that it exits with these codes only where it did nothing. Zero never counts.
    #[must_use]
    pub fn trusting_not_started(mut self, codes: impl IntoIterator<Item = i32>) -> Self {
        self.not_started_codes = codes.into_iter().filter(|code| *code != 0).collect();
        self
    }

    /// Hands what the program writes to standard error to the operator.
    #[must_use]
    pub fn reporting_to(mut self, sink: DiagnosticsSink) -> Self {
        self.diagnostics = Some(sink);
        self
    }

    fn report(&self, occasion: &Occasion<'_>, diagnostics: &Diagnostics) {
        if let Some(sink) = &self.diagnostics
            && !diagnostics.is_empty()
        {
            sink(&occasion.call.name, diagnostics);
        }
    }

    fn exited(&self, occasion: &Occasion<'_>, exited: &Exited) -> Execution {
        self.report(occasion, &exited.diagnostics);
        match exited.exit {
            Exit::SUCCESS => Execution::Answered(self.answer(occasion, &exited.stdout)),
            Exit::Code(code) if self.not_started_codes.contains(&code) => {
                Execution::NotStarted(if exited.exit == Exit::TEMPORARY_FAILURE {
                    NotStarted::RateLimited
                } else {
                    NotStarted::Unreachable
                })
            }
            Exit::Code(_) | Exit::Signal(_) => Execution::Failed,
        }
    }

    /// Reads the answer. What is not one becomes data that no contract accepts.
    fn answer(&self, occasion: &Occasion<'_>, stdout: &[u8]) -> HandlerAnswer {
        let limits = Limits::tool_result().with_bytes(self.spec.output_limit_bytes());
        let mut answer = HandlerAnswer {
            data: Value::Null,
            producer_revision: occasion.contract.revisions.producer.as_str().to_owned(),
            resource_revision: None,
            observed_at: self
                .clock
                .now()
                .map(|now| now.to_string())
                .unwrap_or_default(),
            downstream_request_id: None,
            receipt_id: None,
        };
        let Ok(value) = parse(stdout, &limits) else {
            return answer;
        };
        match (self.answers, value) {
            (Answers::Data, value) => answer.data = value,
            (Answers::WithEvidence, Value::Object(object)) => take_evidence(object, &mut answer),
            (
                Answers::WithEvidence,
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_),
            ) => {}
        }
        answer
    }
}

/// Takes an answer with evidence apart. One unknown or ill-typed member leaves the data out, so that it is refused whole.
fn take_evidence(object: Object, answer: &mut HandlerAnswer) {
    let mut data = Value::Null;
    for (name, value) in object {
        let text = match value {
            _ if name == "data" => {
                data = value;
                continue;
            }
            Value::String(text) => Some(text),
            Value::Null => None,
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => return,
        };
        match name.as_str() {
            "resource_revision" => answer.resource_revision = text,
            "downstream_request_id" => answer.downstream_request_id = text,
            "receipt_id" => answer.receipt_id = text,
            "observed_at" => {
                if let Some(text) = text {
                    answer.observed_at = text;
                }
            }
            _ => return,
        }
    }
    answer.data = data;
}

impl<C: Clock> CommandHandler<C> {
    fn run_for(&self, occasion: &Occasion<'_>) -> Execution {
        let Some(spec) = occasion.command(&self.spec) else {
            return Execution::NotStarted(NotStarted::Unreachable);
        };
        let arguments = encode::<countersign_canonical::Utf8>(occasion.call.arguments.value());
        match run(&spec, &arguments) {
            CommandOutcome::NotStarted(cause) if cause.is_temporary() => {
                Execution::NotStarted(NotStarted::RateLimited)
            }
            CommandOutcome::NotStarted(_) => Execution::NotStarted(NotStarted::Unreachable),
            CommandOutcome::Exited(exited) => self.exited(occasion, &exited),
            CommandOutcome::Lost(Lost { cause, diagnostics }) => {
                self.report(occasion, &diagnostics);
                match cause {
                    LostCause::OutputTooLarge { .. } => {
                        Execution::Answered(self.answer(occasion, b""))
                    }
                    LostCause::TimedOut { .. } | LostCause::NotObserved { .. } => {
                        Execution::AnswerLost
                    }
                }
            }
        }
    }
}

impl<C: Clock + Send + Sync> Handler for CommandHandler<C> {
    fn handle(&self, order: &ExecutionOrder<'_>) -> Execution {
        self.run_for(&Occasion {
            call: order.call(),
            contract: order.contract(),
            write: order.idempotency_key().zip(order.status_ref()),
        })
    }
}

/// A program as a downstream's status operation: given the arguments and identities of a write, it answers as the tool's own
/// program does where the write happened, and exits with another code than 0 where it knows nothing of it.
///
/// It must only look: nobody approves its runs.
impl<C: Clock + Send + Sync> StatusSource for CommandHandler<C> {
    fn receipt(&self, question: &StatusQuestion<'_>) -> Option<Receipt> {
        let execution = self.run_for(&Occasion {
            call: question.call(),
            contract: question.contract(),
            write: Some((question.idempotency_key(), question.status_ref())),
        });
        match execution {
            Execution::Answered(answer) => Some(Receipt {
                request: *question.request(),
                status_ref: question.status_ref(),
                answer,
            }),
            // A program answers with data alone.
            Execution::AnsweredWith(..)
            | Execution::NotStarted(_)
            | Execution::Failed
            | Execution::AnswerLost => None,
        }
    }
}

/// What a program is run for.
struct Occasion<'o> {
    call: &'o Call,
    contract: &'o ToolContract,
    /// The identities of a write.
    write: Option<(&'o IdempotencyKey, StatusRef)>,
}

impl Occasion<'_> {
    /// The command within the tool's time, and with a write's identities in its environment.
    fn command(&self, spec: &CommandSpec) -> Option<CommandSpec> {
        let timeout = self.contract.timeout.min(spec.timeout());
        let spec = spec.clone().with_timeout(timeout).ok()?;
        let Some((key, status_ref)) = self.write else {
            return Some(spec);
        };
        let mut environment = spec.environment().clone();
        environment.insert(
            IDEMPOTENCY_KEY_VARIABLE.into(),
            OsString::from(key.as_str()),
        );
        environment.insert(STATUS_REF_VARIABLE.into(), status_ref.to_string().into());
        spec.with_environment(environment).ok()
    }
}

impl<C> std::fmt::Debug for CommandHandler<C> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("CommandHandler")
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}
