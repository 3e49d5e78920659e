//! Reading TOML.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::install::document::Misread;
use crate::install::node::{Item, Member, Node};

/// Reads the root table.
pub(crate) fn read(text: &str) -> Result<Item, Misread> {
    let table = DeTable::parse(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        Misread::at(text, start, &error.message().replace('\n', ", "))
    })?;
    let span = table.span();
    Ok(Item {
        span,
        node: Node::Table(members(table.get_ref())),
    })
}

fn members(table: &DeTable<'_>) -> Vec<Member> {
    let mut members: Vec<Member> = table
        .iter()
        .map(|(name, value)| Member {
            name: name.get_ref().to_string(),
            name_span: name.span(),
            value: item(value),
        })
        .collect();
    members.sort_by_key(|member| member.name_span.start);
    members
}

fn item(value: &Spanned<DeValue<'_>>) -> Item {
    let node = match value.get_ref() {
        DeValue::String(text) => Node::Text(text.to_string()),
        DeValue::Array(items) => Node::List(items.iter().map(item).collect()),
        DeValue::Table(table) => Node::Table(members(table)),
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
            Node::Other
        }
    };
    Item {
        span: value.span(),
        node,
    }
}
