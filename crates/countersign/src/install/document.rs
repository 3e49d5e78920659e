//! A configuration: its text, and what it says where.

use crate::install::client::{Client, Syntax};
use crate::install::jsonc;
use crate::install::node::{Item, Member, Node, Span, member};
use crate::install::toml_text;

/// The text of a configuration and what was read from it.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    client: Client,
    text: String,
    root: Item,
}

/// Why a configuration cannot be used, and where it stops being one. What stands there is not repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {why}")]
pub(crate) struct Misread {
    line: usize,
    column: usize,
    why: String,
}

impl Misread {
    pub(crate) fn at(text: &str, offset: usize, why: &str) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        Self {
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
            why: why.to_owned(),
        }
    }
}

impl Document {
    /// Reads a configuration. An empty one has no servers.
    pub(crate) fn read(client: Client, text: String) -> Result<Self, Misread> {
        let root = if text.trim().is_empty() {
            Item {
                span: 0..0,
                node: Node::Table(Vec::new()),
            }
        } else {
            match client.syntax() {
                Syntax::Json => jsonc::read(&text, false)?,
                Syntax::JsonWithComments => jsonc::read(&text, true)?,
                Syntax::Toml => toml_text::read(&text)?,
            }
        };
        let document = Self { client, text, root };
        if document.root.table().is_none() {
            return Err(document.misread(&document.root.span, "this must be an object"));
        }
        if let Some(servers) = document.servers_member()
            && servers.value.table().is_none()
        {
            return Err(document.misread(&servers.value.span, "the servers must be an object"));
        }
        Ok(document)
    }

    pub(crate) fn client(&self) -> Client {
        self.client
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn root(&self) -> &Item {
        &self.root
    }

    /// The servers, in the order of the text.
    pub(crate) fn servers(&self) -> &[Member] {
        self.servers_member()
            .and_then(|servers| servers.value.table())
            .unwrap_or_default()
    }

    /// The piece of the text; nothing where it is none.
    pub(crate) fn piece(&self, span: &Span) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    pub(crate) fn misread(&self, span: &Span, why: &str) -> Misread {
        Misread::at(&self.text, span.start, why)
    }

    fn servers_member(&self) -> Option<&Member> {
        member(self.root.table()?, self.client.servers_member())
    }
}
