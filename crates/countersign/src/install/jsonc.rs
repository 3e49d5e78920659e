//! Reading JSON, with comments where the client takes them.

use std::borrow::Cow;

use jsonc_parser::ast::{self, ObjectPropName};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::install::document::Misread;
use crate::install::node::{Item, Member, Node};

/// Reads the root; `with_comments` also takes a comma after the last member.
pub(crate) fn read(text: &str, with_comments: bool) -> Result<Item, Misread> {
    let options = ParseOptions {
        allow_comments: with_comments,
        allow_trailing_commas: with_comments,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        // The library's own text repeats the place; only what is wrong is taken from it.
        Misread::at(text, error.range().start, &error.kind().to_string())
    })?;
    match parsed.value {
        Some(value) => item(text, value),
        None => Err(Misread::at(text, text.len(), "there is no value")),
    }
}

fn item(text: &str, value: ast::Value<'_>) -> Result<Item, Misread> {
    let range = value.range();
    let span = range.start..range.end;
    let node = match value {
        ast::Value::StringLit(literal) => Node::Text(literal.value.into_owned()),
        ast::Value::Array(array) => {
            let items = array.elements.into_iter().map(|value| item(text, value));
            Node::List(items.collect::<Result<_, _>>()?)
        }
        ast::Value::Object(object) => Node::Table(members(text, object)?),
        ast::Value::NumberLit(_) | ast::Value::BooleanLit(_) | ast::Value::NullKeyword(_) => {
            Node::Other
        }
    };
    Ok(Item { span, node })
}

fn members(text: &str, object: ast::Object<'_>) -> Result<Vec<Member>, Misread> {
    let mut members: Vec<Member> = Vec::with_capacity(object.properties.len());
    let mut seen = std::collections::BTreeSet::new();
    for property in object.properties {
        let range = property.name.range();
        let name: Cow<'_, str> = match property.name {
            ObjectPropName::String(literal) => literal.value,
            ObjectPropName::Word(word) => Cow::Borrowed(word.value),
        };
        if !seen.insert(name.to_string()) {
            return Err(Misread::at(text, range.start, "this member is there twice"));
        }
        members.push(Member {
            name: name.into_owned(),
            name_span: range.start..range.end,
            value: item(text, property.value)?,
        });
    }
    Ok(members)
}
