//! What a person sees of one call in a browser.

use countersign_contract::{Inert, StatusRef};
use countersign_ledger::{Moment, OperationDetail, State};
use countersign_mcp::passthrough::tool_of;

/// The most that is shown of a name.
const SHOWN_CHARS: usize = 128;
/// How often an open page looks again, in seconds.
const REFRESH_SECONDS: u32 = 3;

const STYLE: &str = "body{font:1rem/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}\
dt{font-weight:600}dd{margin:0 0 .75rem}code{user-select:all;overflow-wrap:anywhere}";

/// One call, as it stands: everything but its arguments.
pub(super) struct CallPage<'d> {
    pub(super) status_ref: StatusRef,
    pub(super) detail: &'d OperationDetail,
    pub(super) now: Moment,
    /// What commands have to be told so that they find the ledger: nothing where it is the user's own.
    pub(super) ledger: Option<&'d str>,
}

/// How a call stands, in words for everybody.
struct Standing {
    name: &'static str,
    text: String,
    /// Whether it may still change by itself or by a person.
    is_open: bool,
}

impl CallPage<'_> {
    /// The page. Whatever comes from a server or a client is inert and escaped.
    pub(super) fn html(&self) -> String {
        let name = self.detail.proposal.call.name.as_str();
        let server = name.split('@').next().unwrap_or(name);
        let tool = tool_of(&self.detail.proposal.call.name).unwrap_or(name);
        let standing = standing(&self.detail.record.state, self.now);
        let refresh = if standing.is_open {
            format!("<meta http-equiv=\"refresh\" content=\"{REFRESH_SECONDS}\">\n")
        } else {
            String::new()
        };
        let (show, watch) = (
            self.command(&format!("show {}", self.status_ref)),
            self.command("watch --as NAME"),
        );
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{refresh}<title>Countersign: {state}</title>\n\
             <style>{STYLE}</style>\n</head>\n<body>\n<h1>{state}</h1>\n<p>{text}</p>\n<dl>\n\
             <dt>Tool</dt><dd>{tool}</dd>\n<dt>Server</dt><dd>{server}</dd>\n\
             <dt>Asked for</dt><dd>{since}</dd>\n<dt>Handle</dt><dd><code>{handle}</code></dd>\n\
             <dt>Look at it, with its arguments</dt><dd><code>{show}</code></dd>\n\
             <dt>Decide</dt><dd><code>{watch}</code></dd>\n</dl>\n\
             <p>Nothing is decided here. Run these commands in a terminal of your own.</p>\n\
             </body>\n</html>\n",
            state = standing.name,
            text = escaped(&standing.text),
            tool = shown(tool),
            server = shown(server),
            since = self.detail.record.opened_at.second(),
            handle = self.status_ref,
        )
    }

    fn command(&self, what: &str) -> String {
        let ledger = self.ledger.map_or_else(String::new, |ledger| {
            format!(" --ledger {}", quoted(ledger))
        });
        let command = format!("countersign approvals {what}{ledger}");
        escaped(&Inert::new(&command).to_string())
    }
}

fn standing(state: &State, now: Moment) -> Standing {
    let (name, is_open, text) = match state {
        State::AwaitingApproval { until } if now < *until => (
            "Waiting for approval",
            true,
            format!("It expires at {} if nobody decides.", until.second()),
        ),
        State::AwaitingApproval { .. } | State::Expired { .. } => (
            "Expired",
            false,
            "Nobody decided in time. It has not been carried out.".to_owned(),
        ),
        State::Denied { .. } => (
            "Denied",
            false,
            "Somebody said no. It has not been carried out.".to_owned(),
        ),
        State::Reserved { until, .. } => (
            "Approved",
            true,
            format!("It has to begin before {}.", until.second()),
        ),
        State::Executing(_) => ("Approved", true, "It is being carried out.".to_owned()),
        State::Blocked { .. } => (
            "Not carried out",
            false,
            "It was approved, but something had changed before it began.".to_owned(),
        ),
        State::Failed { .. } => (
            "Not carried out",
            false,
            "It is proven not to have begun.".to_owned(),
        ),
        State::Unknown { .. } => (
            "Unknown",
            true,
            "It was approved and sent, and nobody knows what it did. It is not sent again."
                .to_owned(),
        ),
        State::Succeeded { .. } => (
            "Carried out",
            false,
            "It was approved, and the server has answered.".to_owned(),
        ),
        State::ResolvedCommitted { .. } => (
            "Carried out",
            false,
            "Its outcome was unknown; somebody found that it acted.".to_owned(),
        ),
        State::ResolvedNotExecuted { .. } => (
            "Not carried out",
            false,
            "Its outcome was unknown; somebody found that it did not act.".to_owned(),
        ),
    };
    Standing {
        name,
        text,
        is_open,
    }
}

fn shown(name: &str) -> String {
    escaped(&Inert::beginning(name, SHOWN_CHARS).to_string())
}

/// As text of a page, or the value of an attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// As one word of a shell.
fn quoted(word: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "/._:-+".contains(character);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_shown_becomes_part_of_the_page() {
        assert_eq!(
            shown("<img src=x onerror='a(\"&\")'>\u{202e}"),
            "&lt;img src=x onerror=&#39;a(&quot;&amp;&quot;)&#39;&gt;\\u{202e}"
        );
        assert!(shown(&"x".repeat(1000)).chars().count() <= SHOWN_CHARS + 1);
    }

    #[test]
    fn a_path_is_one_word_of_a_command() {
        assert_eq!(quoted("sqlite:/tmp/a.db"), "sqlite:/tmp/a.db");
        assert_eq!(quoted("sqlite:a b'$(c)"), r"'sqlite:a b'\''$(c)'");
    }
}
