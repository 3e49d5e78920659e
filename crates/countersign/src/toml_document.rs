//! TOML as the value that the readers of contracts, rules and catalogs take.

use anyhow::{Context as _, anyhow};
use countersign_canonical::{Number, Object, Value};
use countersign_contract::Path as Place;

/// Reads a TOML document; dates and numbers that JSON cannot hold are refused with their place.
pub(crate) fn read_toml(what: &str, bytes: Vec<u8>) -> anyhow::Result<Value> {
    let text = String::from_utf8(bytes).with_context(|| format!("the {what} is not UTF-8"))?;
    let table: toml::Table = text
        .parse()
        .map_err(|error| anyhow!("the {what} is not TOML: {}", describe(&error, &text)))?;
    table_value(&Place::root(), table)
}

/// Where the text stops being TOML, and why. The line itself may hold a secret and is not repeated.
fn describe(error: &toml::de::Error, text: &str) -> String {
    let message = error.message().replace('\n', ", ");
    let before = error.span().and_then(|span| text.get(..span.start));
    let Some(before) = before else { return message };
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("line {line}, column {column}: {message}")
}

fn table_value(place: &Place, table: toml::Table) -> anyhow::Result<Value> {
    let members = table.into_iter().map(|(name, value)| {
        let value = toml_value(&place.member(&name), value)?;
        Ok((name, value))
    });
    Ok(Value::Object(members.collect::<anyhow::Result<Object>>()?))
}

fn toml_value(place: &Place, value: toml::Value) -> anyhow::Result<Value> {
    Ok(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(integer) => Value::from(integer),
        toml::Value::Float(float) => {
            let number = Number::from_f64(float);
            Value::Number(number.with_context(|| format!("{place} must be a finite number"))?)
        }
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Datetime(_) => {
            return Err(anyhow!(
                "{place} is a date; write it as a string, in quotes"
            ));
        }
        toml::Value::Array(items) => {
            let items = items.into_iter().enumerate();
            let items = items.map(|(index, item)| toml_value(&place.index(index), item));
            Value::Array(items.collect::<anyhow::Result<_>>()?)
        }
        toml::Value::Table(table) => table_value(place, table)?,
    })
}
