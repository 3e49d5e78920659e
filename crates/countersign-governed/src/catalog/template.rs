//! The owner-facing display of a call: templates with placeholders, filled from checked arguments.

use countersign_canonical::{Ascii, Object, Value, encode};

use crate::catalog::rule::ArgumentRule;
use crate::catalog::tool::Argument;
use crate::fault::{DefinitionReason, Reason};
use crate::grammar::is_python_space;

/// Longest preview of a text, in code points, before it is cut.
pub const PREVIEW_MAX_CHARS: usize = 300;

/// What an owner is shown of a proposed call.
///
/// It is a headline. Whoever approves must also be able to see the full
/// canonical arguments, since a preview is cut and leaves arguments out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Display {
    /// What the call would do.
    pub summary: String,
    /// What it would change.
    pub target: String,
    /// What may come of it.
    pub risk: String,
}

impl Display {
    /// Shows the display as a JSON object.
    pub fn to_value(&self) -> Value {
        let text = |text: &str| Value::String(text.to_owned());
        Value::Object(Object::from_iter([
            ("risk".to_owned(), text(&self.risk)),
            ("summary".to_owned(), text(&self.summary)),
            ("target".to_owned(), text(&self.target)),
        ]))
    }
}

/// Text with `{argument}` placeholders; `{{` and `}}` stand for braces.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq)]
enum Segment {
    Literal(String),
    Placeholder {
        name: String,
        fallback: Option<Value>,
        quoted: bool,
    },
}

impl Template {
    pub(crate) fn parse(text: &str, arguments: &[Argument]) -> Result<Self, Reason> {
        let mut segments = Vec::new();
        let mut literal = String::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '{' | '}' if characters.next_if_eq(&character).is_some() => literal.push(character),
                '{' => {
                    let mut name = String::new();
                    loop {
                        match characters.next() {
                            Some('}') => break,
                            Some('{') | None => {
                                return Err(DefinitionReason::UnbalancedBrace.into());
                            }
                            Some(other) => name.push(other),
                        }
                    }
                    if !literal.is_empty() {
                        segments.push(Segment::Literal(std::mem::take(&mut literal)));
                    }
                    segments.push(placeholder(name, arguments)?);
                }
                '}' => return Err(DefinitionReason::UnbalancedBrace.into()),
                other => literal.push(other),
            }
        }
        if !literal.is_empty() {
            segments.push(Segment::Literal(literal));
        }
        Ok(Self { segments })
    }

    pub(crate) fn fill(&self, arguments: &Object) -> String {
        let mut filled = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Literal(text) => filled.push_str(text),
                Segment::Placeholder {
                    name,
                    fallback,
                    quoted,
                } => {
                    // INVARIANT: a placeholder without fallback names a required argument.
                    if let Some(value) = arguments.get(name).or(fallback.as_ref()) {
                        push_scalar(&mut filled, value, *quoted);
                    }
                }
            }
        }
        filled
    }
}

fn placeholder(name: String, arguments: &[Argument]) -> Result<Segment, Reason> {
    let argument = arguments
        .iter()
        .find(|argument| argument.name() == name)
        .ok_or(DefinitionReason::UnknownPlaceholder)?;
    if !argument.rule().is_scalar() {
        return Err(DefinitionReason::PlaceholderNotScalar.into());
    }
    if !argument.is_required() && argument.default().is_none() {
        return Err(DefinitionReason::PlaceholderMayBeAbsent.into());
    }
    let quoted = matches!(
        argument.rule(),
        ArgumentRule::Text { .. } | ArgumentRule::Identifier
    );
    Ok(Segment::Placeholder {
        name,
        fallback: argument.default().cloned(),
        quoted,
    })
}

fn push_scalar(filled: &mut String, value: &Value, quoted: bool) {
    match value {
        Value::String(text) if quoted => filled.push_str(&preview(text)),
        Value::String(text) => filled.push_str(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            filled.push_str(&ascii_text(value));
        }
    }
}

/// Folds white space, cuts to 300 code points and shows the rest as an ASCII JSON string,
/// so that no character of a stranger's text reaches the owner's screen unescaped.
pub fn preview(text: &str) -> String {
    let folded = text
        .split(is_python_space)
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let shown = if folded.chars().count() > PREVIEW_MAX_CHARS {
        folded
            .chars()
            .take(PREVIEW_MAX_CHARS.saturating_sub(1))
            .chain(['…'])
            .collect()
    } else {
        folded
    };
    ascii_text(&Value::String(shown))
}

fn ascii_text(value: &Value) -> String {
    // The ASCII form is ASCII, so nothing is ever replaced.
    String::from_utf8_lossy(&encode::<Ascii>(value)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn previews_fold_cut_and_escape() {
        assert_eq!(
            preview("  a\t\n\u{1c}b\u{a0}c\u{200b} "),
            "\"a b c\\u200b\""
        );
        assert_eq!(preview("\u{1c}"), "\"\"");
        assert_eq!(preview("\u{202e}\"\u{7f}"), "\"\\u202e\\\"\\u007f\"");
        let exact = "é".repeat(300);
        assert_eq!(preview(&exact), format!("\"{}\"", "\\u00e9".repeat(300)));
        assert_eq!(
            preview(&format!("{exact}x")),
            format!("\"{}\\u2026\"", "\\u00e9".repeat(299))
        );
    }
}
