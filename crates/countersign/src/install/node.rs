//! What a configuration says, and where in its text each piece stands.

use std::ops::Range;

/// A piece of the text, in bytes.
pub(crate) type Span = Range<usize>;

/// A value, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Text(String),
    List(Vec<Item>),
    Table(Vec<Member>),
    /// A number, a truth value, a date or nothing.
    Other,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) span: Span,
    pub(crate) node: Node,
}

/// A member of a table, with its name and where that stands. Members are in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) name_span: Span,
    pub(crate) value: Item,
}

impl Item {
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.node {
            Node::Text(text) => Some(text),
            Node::List(_) | Node::Table(_) | Node::Other => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        match &self.node {
            Node::List(items) => Some(items),
            Node::Text(_) | Node::Table(_) | Node::Other => None,
        }
    }

    pub(crate) fn table(&self) -> Option<&[Member]> {
        match &self.node {
            Node::Table(members) => Some(members),
            Node::Text(_) | Node::List(_) | Node::Other => None,
        }
    }

    /// A list of texts only.
    pub(crate) fn texts(&self) -> Option<Vec<&str>> {
        self.list()?.iter().map(Self::text).collect()
    }
}

/// The member of that name.
pub(crate) fn member<'m>(members: &'m [Member], name: &str) -> Option<&'m Member> {
    members.iter().find(|member| member.name == name)
}
