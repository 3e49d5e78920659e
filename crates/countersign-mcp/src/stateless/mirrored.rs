//! Arguments that a server wants to see in headers, too (2026-07-28, Streamable HTTP, "Custom Headers from Tool Parameters").

use countersign_canonical::{NumberKind, Value};

/// The member of a parameter's schema that names a header.
pub const MIRRORED: &str = "x-mcp-header";
/// The most annotations of one tool.
const MAX_PARAMETERS: usize = 32;
/// How deep in the arguments an annotated one may stand.
const MAX_DEPTH: usize = 16;
/// The longest name of a header, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// A parameter of a tool that a header repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredParameter {
    path: Vec<String>,
    name: String,
}

/// Why annotations count for nothing: a client must not use the tool over HTTP then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BrokenAnnotation {
    /// The name of the header.
    #[error("x-mcp-header is to be the name of a header")]
    Name,
    /// Two parameters have one header.
    #[error("two parameters name one header in x-mcp-header")]
    Twice,
    /// Only texts, integers and booleans have one form.
    #[error("x-mcp-header stands at a parameter that is no text, integer or boolean")]
    Type,
    /// There are too many of them.
    #[error("too many parameters have x-mcp-header")]
    TooMany,
}

impl MirroredParameter {
    /// All of a tool, by its input schema. Only those that are reached by `properties` alone are looked for.
    pub fn all_of(input_schema: &Value) -> Result<Vec<Self>, BrokenAnnotation> {
        let mut found = Vec::new();
        collect(input_schema, &mut Vec::new(), &mut found)?;
        Ok(found)
    }

    /// What the header's name ends with, behind `Mcp-Param-`: ASCII, in small letters.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The argument, where a call has it.
    #[must_use]
    pub fn argument<'a>(&self, arguments: Option<&'a Value>) -> Option<&'a Value> {
        let mut steps = self.path.iter();
        let found = steps.try_fold(arguments?, |value, name| value.get(name));
        found.filter(|value| !value.is_null())
    }

    /// An argument as its header says it. Nothing for what no header can say.
    #[must_use]
    pub fn text(argument: &Value) -> Option<String> {
        match argument {
            Value::String(text) => Some(text.clone()),
            Value::Bool(truth) => Some(truth.to_string()),
            Value::Number(number) => match number.kind() {
                NumberKind::Integer(integer) => Some(integer.to_string()),
                NumberKind::BigInteger(digits) => Some(digits.to_owned()),
                NumberKind::Float(_) => None,
            },
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

fn collect(
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<MirroredParameter>,
) -> Result<(), BrokenAnnotation> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    if path.len() >= MAX_DEPTH {
        return Ok(());
    }
    for (name, property) in properties.iter() {
        path.push(name.to_owned());
        if let Some(annotation) = property.get(MIRRORED) {
            let name = header_name(annotation).ok_or(BrokenAnnotation::Name)?;
            if !property.get("type").is_none_or(has_one_form) {
                return Err(BrokenAnnotation::Type);
            }
            if found.iter().any(|other| other.name == name) {
                return Err(BrokenAnnotation::Twice);
            }
            if found.len() >= MAX_PARAMETERS {
                return Err(BrokenAnnotation::TooMany);
            }
            found.push(MirroredParameter {
                path: path.clone(),
                name,
            });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

/// A token of HTTP (RFC 9110, section 5.6.2); headers' names have no case.
fn header_name(annotation: &Value) -> Option<String> {
    let name = annotation.as_str()?;
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let fits = !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(is_token);
    fits.then(|| name.to_ascii_lowercase())
}

fn has_one_form(types: &Value) -> bool {
    let is_plain = |name: &Value| matches!(name.as_str(), Some("string" | "integer" | "boolean"));
    match types.as_array() {
        None => is_plain(types),
        Some(several) => {
            let mut others = several.iter().filter(|name| name.as_str() != Some("null"));
            others.clone().next().is_some() && others.all(is_plain)
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_canonical::{Limits, parse};

    use super::*;

    fn value(text: &str) -> Value {
        parse(text.as_bytes(), &Limits::passthrough()).unwrap()
    }

    fn of(properties: &str) -> Result<Vec<MirroredParameter>, BrokenAnnotation> {
        let schema = format!(r#"{{"type":"object","properties":{properties}}}"#);
        MirroredParameter::all_of(&value(&schema))
    }

    #[test]
    fn annotated_arguments_are_found_where_properties_lead() {
        let found = of(
            r#"{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":["integer","null"],"x-mcp-header":"N"},
            "deep":{"properties":{"flag":{"x-mcp-header":"Flag"}},"items":{"x-mcp-header":"Never"}},"other":{}}"#,
        );
        let found = found.unwrap();
        let said = |arguments: &str| -> Vec<(String, Option<String>)> {
            let arguments = value(arguments);
            let said = found.iter().filter_map(|parameter| {
                let argument = parameter.argument(Some(&arguments))?;
                Some((
                    parameter.name().to_owned(),
                    MirroredParameter::text(argument),
                ))
            });
            said.collect()
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            said(r#"{"region":"us-west1","n":-7,"deep":{"flag":false},"other":"x"}"#),
            [
                ("flag".to_owned(), text("false")),
                ("n".to_owned(), text("-7")),
                ("region".to_owned(), text("us-west1")),
            ]
        );
        assert_eq!(
            said(r#"{"region":{},"n":1.5,"deep":[]}"#),
            [("n".to_owned(), None), ("region".to_owned(), None)]
        );
        assert_eq!(said(r#"{"n":null}"#), []);
        let big = value("18446744073709551617");
        assert_eq!(MirroredParameter::text(&big), text("18446744073709551617"));
    }

    #[test]
    fn annotations_that_break_the_rules_are_told_apart() {
        use BrokenAnnotation::{Name, TooMany, Twice, Type};
        for (properties, broken) in [
            (r#"{"a":{"x-mcp-header":""}}"#, Name),
            (r#"{"a":{"x-mcp-header":"My Region"}}"#, Name),
            (r#"{"a":{"x-mcp-header":"Region:Primary"}}"#, Name),
            (r#"{"a":{"x-mcp-header":"R\u00e9gion"}}"#, Name),
            (r#"{"a":{"x-mcp-header":"a\r\nb: c"}}"#, Name),
            (r#"{"a":{"x-mcp-header":1}}"#, Name),
            (
                r#"{"a":{"x-mcp-header":"X"},"b":{"x-mcp-header":"x"}}"#,
                Twice,
            ),
            (r#"{"a":{"type":"object","x-mcp-header":"X"}}"#, Type),
            (r#"{"a":{"type":"array","x-mcp-header":"X"}}"#, Type),
            (r#"{"a":{"type":"null","x-mcp-header":"X"}}"#, Type),
            (r#"{"a":{"type":["null"],"x-mcp-header":"X"}}"#, Type),
            (r#"{"a":{"type":"number","x-mcp-header":"X"}}"#, Type),
        ] {
            assert_eq!(of(properties), Err(broken), "{properties}");
        }
        let many = |count: usize| {
            let each: Vec<String> = (0..count)
                .map(|n| format!(r#""p{n}":{{"x-mcp-header":"h{n}"}}"#))
                .collect();
            of(&format!("{{{}}}", each.join(",")))
        };
        assert_eq!(many(MAX_PARAMETERS).unwrap().len(), MAX_PARAMETERS);
        assert_eq!(many(MAX_PARAMETERS + 1), Err(TooMany));
    }
}
