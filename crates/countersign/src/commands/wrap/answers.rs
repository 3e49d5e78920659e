//! What the agent is told of its writes, in words that say what to do next.

use countersign_canonical::{Utf8, Value, encode};
use countersign_contract::{ErrorCode, Inert, StatusRef};
use countersign_ledger::Note;
use countersign_mcp::write;

/// The member of a result's `_meta` that says what became of a write.
pub(super) const OUTCOME: &str = "countersign/outcome";

const SHOWN_CHARS: usize = 128;

/// A result as the server gave it, with what became of the write in its `_meta`.
pub(super) fn succeeded(result: &str, status_ref: &StatusRef, is_repeated: bool) -> String {
    let delivery = if is_repeated { "local_replay" } else { "fresh" };
    let outcome = Value::from([
        ("status", "succeeded".into()),
        ("status_ref", status_ref.to_string().into()),
        ("delivery", delivery.into()),
    ]);
    write::with_meta(result, OUTCOME, &json(&outcome))
}

/// A write that did not come to a result.
pub(super) fn refused(tool: &str, code: ErrorCode, status_ref: Option<StatusRef>) -> String {
    let handle = status_ref.map_or_else(|| "-".to_owned(), |status_ref| status_ref.to_string());
    let outcome = Value::from([
        ("status", "error".into()),
        ("code", code.as_str().into()),
        (
            "status_ref",
            status_ref
                .map(|handle| handle.to_string().into())
                .unwrap_or_default(),
        ),
    ]);
    let tool = Inert::beginning(tool, SHOWN_CHARS);
    let text = format!(
        "{}: {}",
        code.as_str(),
        words(&tool.to_string(), code, &handle)
    );
    write::with_meta(&write::error_result(&text), OUTCOME, &json(&outcome))
}

/// A write that a person said no to, with what that person wants the agent to know.
pub(super) fn denied(status_ref: &StatusRef, reason: &Note) -> String {
    let code = ErrorCode::ApprovalInvalid.as_str();
    let outcome = Value::from([
        ("status", "error".into()),
        ("code", code.into()),
        ("status_ref", status_ref.to_string().into()),
        ("reason", reason.as_str().into()),
    ]);
    let reason = Inert::new(reason.as_str());
    let text = format!(
        "{code}: this call has not been carried out: a person said no ({status_ref}), and why: {reason}\nDo not try to reach the \
         same in another way; ask the user."
    );
    write::with_meta(&write::error_result(&text), OUTCOME, &json(&outcome))
}

/// What a stateless client hears whose call goes on: it sends the same request again, with this handle and with what is asked of
/// it (2026-07-28, Multi Round-Trip Requests). `inputs` is a JSON object, as the server wrote it.
pub(super) fn input_required(inputs: Option<&str>, handle: &str) -> String {
    let inputs = inputs.map_or_else(String::new, |inputs| format!(",\"inputRequests\":{inputs}"));
    format!("{{\"resultType\":\"input_required\",\"requestState\":\"{handle}\"{inputs}}}")
}

/// The same, where nothing is asked of it, and the call waits for approval.
pub(super) fn waits_on(status_ref: &StatusRef, handle: &str) -> String {
    let outcome = Value::from([
        ("status", "waiting".into()),
        ("code", ErrorCode::ApprovalRequired.as_str().into()),
        ("status_ref", status_ref.to_string().into()),
    ]);
    write::with_meta(&input_required(None, handle), OUTCOME, &json(&outcome))
}

/// A call that never got as far as the pipeline.
pub(super) fn turned_away(tool: &str, why: &str) -> String {
    let tool = Inert::beginning(tool, SHOWN_CHARS);
    write::error_result(&format!(
        "Not carried out: the tool {tool} is out of service: {why}"
    ))
}

/// A host that cannot do its part. An earlier request for the same call may have been carried out all the same.
pub(super) fn host_unavailable(why: &str) -> String {
    write::error_result(&format!(
        "HOST_UNAVAILABLE: nothing was sent to the server for this request, since countersign cannot do its part: {why}. If the same \
         call was made before, it is not known here what became of it: call again unchanged to ask."
    ))
}

fn words(tool: &str, code: ErrorCode, handle: &str) -> String {
    match code {
        ErrorCode::ApprovalRequired => format!(
            "this call has not been carried out. It waits for a person's approval ({handle}). Tell the user, who can look at \
             it with \"countersign approvals show {handle}\". Then call {tool} again with exactly the same arguments: that joins \
             this request, waits for the decision, and returns the result. However often it is called, it is carried out once."
        ),
        ErrorCode::ApprovalInvalid => format!(
            "this call has not been carried out: a person said no, or nobody decided in time ({handle}). Do not try to reach \
             the same in another way; ask the user."
        ),
        ErrorCode::OutcomeUnknown => format!(
            "this call was sent, and nobody knows what it did ({handle}). It may have been carried out. It will not be sent \
             again: calling {tool} again with the same arguments only asks what became of it. Tell the user, who can find out \
             and record it with \"countersign operations show {handle}\"."
        ),
        ErrorCode::OutputContractViolation => format!(
            "this call was sent, and the server's answer is not what the tool promises ({handle}). It may have been carried \
             out, and will not be sent again. Tell the user."
        ),
        ErrorCode::IdempotencyConflict => format!(
            "this call has not been carried out: the same call is under way or of unknown outcome under an earlier description \
             of {tool}. Tell the user, who can look with \"countersign operations list\"."
        ),
        ErrorCode::RateLimit => {
            "this call has not been carried out: too many writes wait for approval or for the server. Ask the user to decide \
             about them, then call again."
                .to_owned()
        }
        ErrorCode::UnknownTool => format!(
            "this call has not been carried out: {tool} changed or went out of service before it could be sent. List the tools \
             again."
        ),
        ErrorCode::TimeoutBeforeExecute | ErrorCode::ToolError => {
            "this call has not been carried out: the server could not be reached. It is safe to call again.".to_owned()
        }
        ErrorCode::InvalidArguments
        | ErrorCode::CallIdConflict
        | ErrorCode::NotFound
        | ErrorCode::IdempotencyKeyRequired
        | ErrorCode::BusinessRuleViolation
        | ErrorCode::StatusConflict => "this call has not been carried out.".to_owned(),
    }
}

fn json(value: &Value) -> String {
    String::from_utf8(encode::<Utf8>(value)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_result_says_exactly_what_to_do() {
        let status_ref = StatusRef::parse("status_0123456789abcdef0123456789abcdef").unwrap();
        insta::assert_snapshot!(refused(
            "write_file",
            ErrorCode::ApprovalRequired,
            Some(status_ref)
        ));
    }

    #[test]
    fn a_tool_s_name_does_not_act_on_whoever_reads_it() {
        let told = refused("x\u{1b}[2J\u{202e}", ErrorCode::ToolError, None);
        assert!(!told.contains('\u{202e}') && !told.contains("\\u001b[2J"));
        let told = turned_away("x\u{202e}", "y");
        assert!(told.contains("x\\\\u{202e}"), "{told}");
    }
}
