//! What a server says of its tools: pages of `tools/list`, each tool as it was written.

use std::ops::Range;

use countersign_canonical::{Digest, Utf8, Value, digest};

use crate::message::{Part, folded, misspells};
use crate::span;

/// The longest name that can be governed, in characters: with the server's name it has to be an identifier.
pub const MAX_TOOL_NAME_CHARS: usize = 128;

/// What is frozen of a tool, and its name.
const MEMBERS: [&str; 6] = [
    "name",
    "title",
    "description",
    "annotations",
    "inputSchema",
    "outputSchema",
];

/// One page of a list of tools.
#[derive(Debug)]
pub struct ToolPage {
    /// Where the array stands in the message.
    pub array: Range<usize>,
    /// Its items, in their order; nothing in place of one that is no tool.
    pub tools: Vec<Option<ToolDefinition>>,
    /// Where the next page begins.
    pub next_cursor: Option<String>,
}

/// A tool as its server describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    name: String,
    facets: Facets,
}

/// The parts of a description that a model or a person relies on. Absent ones are null.
#[derive(Clone, Debug, PartialEq)]
pub struct Facets {
    /// `title` and `description`.
    pub description: Value,
    /// `annotations`.
    pub annotations: Value,
    /// `inputSchema`.
    pub input_schema: Value,
    /// `outputSchema`.
    pub output_schema: Value,
}

impl ToolPage {
    /// Reads the result of `tools/list`; nothing where it has no list.
    #[must_use]
    pub fn read(result: &Part<'_>) -> Option<Self> {
        let list = result.member("tools")?;
        let tools = list.value().as_array()?.iter().map(ToolDefinition::read);
        let cursor = result.value().get("nextCursor").and_then(Value::as_str);
        Some(Self {
            array: list.range(),
            tools: tools.collect(),
            next_cursor: cursor.map(str::to_owned),
        })
    }

    /// Tells whether the array of a message still stands where this page says.
    #[must_use]
    pub fn is_of(&self, text: &str) -> bool {
        span::items(text, &self.array).is_some_and(|items| items.len() == self.tools.len())
    }
}

impl ToolDefinition {
    /// Reads one tool; nothing where it has no usable name or no schema for its input, or where a client may read another one.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let name = value.get("name")?.as_str()?;
        let is_usable = !name.trim().is_empty()
            && name.chars().count() <= MAX_TOOL_NAME_CHARS
            && !misspells(value, &MEMBERS);
        let input = value
            .get("inputSchema")
            .filter(|schema| schema.as_object().is_some())?;
        let part = |name: &str| value.get(name).cloned().unwrap_or_default();
        is_usable.then(|| Self {
            name: name.to_owned(),
            facets: Facets {
                description: Value::from([
                    ("description", part("description")),
                    ("title", part("title")),
                ]),
                annotations: part("annotations"),
                input_schema: input.clone(),
                output_schema: part("outputSchema"),
            },
        })
    }

    /// A tool as a pin has kept it.
    pub(crate) fn pinned(name: &str, facets: &Facets) -> Self {
        Self {
            name: name.to_owned(),
            facets: facets.clone(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is relied on.
    #[must_use]
    pub fn facets(&self) -> &Facets {
        &self.facets
    }

    /// Whether its server says that it changes nothing (2025-11-25, schema, `ToolAnnotations.readOnlyHint`: false by default).
    #[must_use]
    pub fn claims_to_read_only(&self) -> bool {
        let hint = self.facets.annotations.get("readOnlyHint");
        hint.and_then(Value::as_bool) == Some(true)
    }
}

impl Facets {
    /// The digest of title and description.
    #[must_use]
    pub fn description_digest(&self) -> Digest<Utf8> {
        digest(&self.description)
    }

    /// The digest of the annotations.
    #[must_use]
    pub fn annotations_digest(&self) -> Digest<Utf8> {
        digest(&self.annotations)
    }

    /// The digest of the input's schema.
    #[must_use]
    pub fn input_digest(&self) -> Digest<Utf8> {
        digest(&self.input_schema)
    }

    /// The digest of the output's schema.
    #[must_use]
    pub fn output_digest(&self) -> Digest<Utf8> {
        digest(&self.output_schema)
    }
}

/// Whether a method is about tools, so that no server may hear of it but what is judged here: their list and their calls.
#[must_use]
pub fn is_about_tools(method: &str) -> bool {
    folded(method.trim()).starts_with("tools/")
}

/// Names that a client may take for one: they differ in `.`, `_`, `-` or case only.
#[must_use]
pub fn folded_name(name: &str) -> String {
    let fold = |character: char| match character {
        '.' | '-' => '_',
        other => other,
    };
    folded(&name.chars().map(fold).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    #[test]
    fn a_page_keeps_what_was_written() {
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"maximum":123456789012345678901},
            "annotations":{"readOnlyHint":true}},{"name":""},{"name":"b","description":"x","inputSchema":{}}],"nextCursor":"n"}}"#;
        let message = Message::read(text.as_bytes()).unwrap();
        let page = ToolPage::read(&message.result().unwrap()).unwrap();
        assert!(page.is_of(message.text()));
        assert_eq!(page.next_cursor.as_deref(), Some("n"));
        let [Some(a), None, Some(b)] = page.tools.as_slice() else {
            panic!("three items");
        };
        assert!(a.claims_to_read_only() && !b.claims_to_read_only());
        assert_ne!(a.facets().input_digest(), b.facets().input_digest());
        assert_eq!(a.facets().output_digest(), b.facets().output_digest());
        assert_ne!(
            a.facets().description_digest(),
            b.facets().description_digest()
        );
    }

    #[test]
    fn names_fold_as_clients_fold_them() {
        for (one, other, is_same) in [
            ("foo.bar", "foo_bar", true),
            ("foo-bar", "FOO_BAR", true),
            ("foobar", "foo_bar", false),
            ("a", "b", false),
            ("lo\u{212a}", "lok", true),
        ] {
            assert_eq!(
                folded_name(one) == folded_name(other),
                is_same,
                "{one} {other}"
            );
        }
    }
}
