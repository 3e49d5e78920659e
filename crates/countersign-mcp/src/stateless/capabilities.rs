//! What a client can do for a server, and what servers ask of it.

use countersign_canonical::Value;

use crate::message::Part;
use crate::read;
use crate::write;

/// What a client said that it can do, as it said it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientCapabilities {
    text: String,
    value: Value,
}

/// What a server asks of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// `elicitation/create`, to fill in a form.
    Form,
    /// `elicitation/create`, to open a page.
    Url,
    /// `sampling/createMessage`.
    Sampling {
        /// Whether tools are offered to the model.
        with_tools: bool,
    },
    /// `roots/list`.
    Roots,
}

/// An extension whose messages are others in every version: it is never offered across them.
const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

impl ClientCapabilities {
    /// None at all.
    #[must_use]
    pub fn none() -> Self {
        Self {
            text: "{}".to_owned(),
            value: Value::from([]),
        }
    }

    /// What stands in a message; nothing where it is no object.
    #[must_use]
    pub fn of(part: &Part<'_>) -> Option<Self> {
        part.value().as_object()?;
        Some(Self {
            text: part.text().to_owned(),
            value: part.value().clone(),
        })
    }

    /// What a JSON text says; nothing where it is no object.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let value = read::value(text)?;
        value.as_object()?;
        Some(Self {
            text: text.to_owned(),
            value,
        })
    }

    /// As it was said.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a server may ask this.
    ///
    /// `elicitation` without any mode means forms (2026-07-28, Elicitation, Capabilities).
    #[must_use]
    pub fn offers(&self, ask: Ask) -> bool {
        let has = |name: &str, part: &str| {
            let capability = self.value.get(name);
            capability.and_then(|held| held.get(part)).is_some()
        };
        match ask {
            Ask::Form => {
                let held = self.value.get("elicitation");
                held.and_then(Value::as_object).is_some()
                    && (has("elicitation", "form") || !has("elicitation", "url"))
            }
            Ask::Url => has("elicitation", "url"),
            Ask::Sampling { with_tools } => {
                self.value.get("sampling").is_some() && (!with_tools || has("sampling", "tools"))
            }
            Ask::Roots => self.value.get("roots").is_some(),
        }
    }

    /// The same across versions: nobody tells of changed roots, and there are no tasks.
    #[must_use]
    pub fn across_versions(&self) -> String {
        let mut text = write::without_members(&self.text, &["tasks"]);
        if self.value.get("roots").is_some() {
            text = write::with_member(&text, "roots", "{}");
        }
        let extensions = self.value.get("extensions");
        if extensions.is_some_and(|held| held.get(TASKS_EXTENSION).is_some()) {
            text = write::within(&text, "extensions", |held| {
                write::without_members(held, &[TASKS_EXTENSION])
            });
        }
        text
    }
}

impl Ask {
    /// What a request asks; nothing where it is none of them.
    #[must_use]
    pub fn of(method: &str, params: Option<&Value>) -> Option<Self> {
        let member = |name: &str| params.and_then(|params| params.get(name));
        match method {
            "elicitation/create" => match member("mode").map(Value::as_str) {
                None | Some(Some("form")) => Some(Self::Form),
                Some(Some("url")) => Some(Self::Url),
                Some(_) => None,
            },
            "sampling/createMessage" => Some(Self::Sampling {
                with_tools: member("tools").is_some() || member("toolChoice").is_some(),
            }),
            "roots/list" => Some(Self::Roots),
            _ => None,
        }
    }

    /// The capability that it needs, as a JSON object.
    #[must_use]
    pub fn needs(self) -> &'static str {
        match self {
            Self::Form => "{\"elicitation\":{\"form\":{}}}",
            Self::Url => "{\"elicitation\":{\"url\":{}}}",
            Self::Sampling { with_tools: false } => "{\"sampling\":{}}",
            Self::Sampling { with_tools: true } => "{\"sampling\":{\"tools\":{}}}",
            Self::Roots => "{\"roots\":{}}",
        }
    }
}
