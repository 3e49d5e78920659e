//! What comes from the server.

use countersign_mcp::port::Unanswered;
use countersign_mcp::stateless::{self, ResultType};
use countersign_mcp::tools::ToolPage;
use countersign_mcp::{Kind, Message, Part, RequestId, write};

use super::{INTERNAL_ERROR, InFlight, Session};
use crate::commands::wrap::answers::OUTCOME;
use crate::commands::wrap::caller::Caller;
use crate::commands::wrap::inventory::{Entry, Stock};
use crate::commands::wrap::upstream::{Hears, LIST_CHANGED, NoMessage};
use crate::output::complain;

impl Hears for Session {
    fn heard(&self, message: Message, about: Option<&RequestId>) {
        match message.kind().clone() {
            Kind::Request { .. } | Kind::Error { id: None } => {
                let about = self.on_behalf_of(about);
                self.tell(message.text().to_owned(), about);
            }
            Kind::Notification { method } => {
                if method == LIST_CHANGED {
                    self.list_changed();
                }
                if method == "notifications/progress"
                    && let Some(token) = progress_token(&message)
                    && self.upstream.is_own(&token)
                {
                    // Nobody knows the token but we, so that what comes after the answer is for nobody.
                    let caller = self.upstream.caller(&token);
                    return caller
                        .into_iter()
                        .for_each(|caller| self.progressed(&caller, &message));
                }
                let about = self.on_behalf_of(about);
                self.tell(message.text().to_owned(), about);
            }
            Kind::Response { id } | Kind::Error { id: Some(id) } => self.answered(&id, message),
        }
    }

    fn not_answered(&self, request: &RequestId, why: Unanswered) {
        if self.upstream.unanswered(request, why) {
            return;
        }
        if self.takes_from_flight(request).is_some() {
            let text = match why {
                Unanswered::NotSent(cause) => cause.to_string(),
                Unanswered::Lost => "the server has not answered this request".to_owned(),
            };
            self.refuse(request, INTERNAL_ERROR, &text);
        }
    }

    fn list_changed(&self) {
        self.inventory.is_stale();
    }
}

impl Session {
    /// The client's request, where ours is meant that was asked on its behalf.
    fn on_behalf_of(&self, about: Option<&RequestId>) -> Option<RequestId> {
        let about = about?;
        if self.upstream.is_own(about) {
            let caller = self.upstream.caller(about)?;
            Some(caller.waiting().id)
        } else {
            Some(about.clone())
        }
    }

    /// Tells the client of progress under its own token.
    fn progressed(&self, caller: &Caller, message: &Message) {
        let waiting = caller.waiting();
        let path = ["params", "progressToken"];
        if let Some(token) = waiting.progress_token
            && let Some(text) = write::with_value_at(message.text(), &path, &token)
        {
            self.tell(text, Some(waiting.id));
        }
    }

    fn answered(&self, id: &RequestId, message: Message) {
        let Some(message) = self.upstream.answered(id, message) else {
            return;
        };
        let message = without_outcome(message);
        match self.takes_from_flight(id) {
            None | Some(InFlight::Write(_)) => {
                self.complain("the server answered a request that nobody waits for");
            }
            Some(InFlight::Plain) => self.tell(message.text().to_owned(), Some(id.clone())),
            Some(InFlight::Initialize(opening)) => self.initialized(id, *opening, message),
            Some(InFlight::List) => {
                let of_body = id.clone();
                let is_begun = self.on_thread(message.text().len(), move |session| {
                    let text = session.filtered(&of_body, &message);
                    session.tell(session.fitting("tools/list", text), Some(of_body));
                });
                if !is_begun {
                    let text = "too many calls wait; ask again when some are done";
                    self.refuse(id, INTERNAL_ERROR, text);
                }
            }
            Some(InFlight::Read { tool }) => {
                let text = self.judged(id, &tool, &message);
                self.tell(self.fitting("tools/call", text), Some(id.clone()));
            }
        }
    }

    /// Takes a request that the server has been asked from those that wait.
    pub(super) fn takes_from_flight(&self, id: &RequestId) -> Option<InFlight> {
        let mut state = self.lock();
        match state.in_flight.get(id) {
            // The server was not asked under this id.
            Some(InFlight::Write(_)) | None => None,
            Some(_) => state.in_flight.remove(id),
        }
    }

    /// A page of tools without those that are out of service. What cannot be held against the pin is not shown.
    fn filtered(&self, id: &RequestId, message: &Message) -> String {
        let Some(result) = message.result() else {
            return message.text().to_owned();
        };
        let Some(page) = ToolPage::read(&result) else {
            return message.text().to_owned();
        };
        let is_known = |stock: &Stock| {
            let mut tools = page.tools.iter().flatten();
            tools.all(|tool| stock.tool(tool.name()).is_some())
        };
        let stock = self.stock().and_then(|stock| {
            if is_known(&stock) {
                Ok(stock)
            } else {
                self.renewed_stock()
            }
        });
        let stock = match stock {
            Ok(stock) => Some(stock),
            Err(error) => {
                complain(&format!("{error:#}"));
                None
            }
        };
        let shows = |index: usize| {
            let tool = page.tools.get(index).and_then(Option::as_ref);
            tool.zip(stock.as_ref())
                .is_some_and(|(tool, stock)| stock.shows(tool))
        };
        if (0..page.tools.len()).all(shows) {
            return message.text().to_owned();
        }
        let kept = write::with_items(message.text(), &page.array, |index, _| shows(index));
        kept.unwrap_or_else(|| {
            write::error(Some(id), INTERNAL_ERROR, "the list of tools cannot be read")
        })
    }

    /// An answer of a server without sessions as a client that has one can read it.
    fn fitting(&self, method: &str, answer: String) -> String {
        if self.is_stateless() || !self.upstream.is_crossed() {
            return answer;
        }
        let path = ["result"];
        let fitting = write::value_at(&answer, &path).and_then(|result| {
            let result = stateless::for_earlier_versions(method, result);
            write::with_value_at(&answer, &path, &result)
        });
        fitting.unwrap_or(answer)
    }

    /// A read's answer, if it is what the tool promises.
    fn judged(&self, id: &RequestId, tool: &str, message: &Message) -> String {
        let fault = self.inventory.last().and_then(|stock| {
            let Some(Entry::InService {
                output: Some(schema),
                ..
            }) = stock.tool(tool)
            else {
                return None;
            };
            let result = message.result()?;
            if self.is_stateless() && is_incomplete(&result) {
                return None;
            }
            schema.judge(result.value()).err()
        });
        match fault {
            None => message.text().to_owned(),
            Some(fault) => {
                let text = format!("OUTPUT_CONTRACT_VIOLATION: {fault}");
                write::result(id, &self.complete(write::error_result(&text)))
            }
        }
    }

    pub(super) fn heard_invalid(&self, invalid: &NoMessage) {
        let text = &invalid.text;
        let Some(salvaged) = &invalid.salvaged else {
            return self.complain(&format!(
                "the server wrote a line that is no message: {text}"
            ));
        };
        if salvaged.is_request {
            let refused = write::error(Some(&salvaged.id), invalid.code, text);
            return self.upstream.refuse(refused);
        }
        if self.upstream.answered_invalid(&salvaged.id) {
            return;
        }
        if self.takes_from_flight(&salvaged.id).is_some() {
            let text = format!("the server's answer cannot be passed on: {text}");
            self.refuse(&salvaged.id, INTERNAL_ERROR, &text);
        } else {
            self.complain("the server answered a request that nobody waits for");
        }
    }
}

fn progress_token(message: &Message) -> Option<RequestId> {
    let params = message.params()?;
    RequestId::from_value(params.value().get("progressToken")?)
}

/// An answer as the server gave it. What becomes of writes only we say: a server that says it too is not passed on in that.
fn without_outcome(message: Message) -> Message {
    let is_said = |result: &Part<'_>| {
        let meta = result.value().get("_meta");
        meta.is_some_and(|meta| meta.get(OUTCOME).is_some())
    };
    let without = message.result().filter(is_said).and_then(|result| {
        let result = write::without_meta(result.text(), &[OUTCOME]);
        let text = write::with_value_at(message.text(), &["result"], &result)?;
        Message::read(text.as_bytes()).ok()
    });
    without.unwrap_or(message)
}

/// Whether a result only asks for something (2026-07-28, Multi Round-Trip Requests).
fn is_incomplete(result: &Part<'_>) -> bool {
    ResultType::of(result.value()) == ResultType::InputRequired
}
