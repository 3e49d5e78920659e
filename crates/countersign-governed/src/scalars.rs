//! The bounded-value checks that arguments, contexts and documents share.

use countersign_canonical::{Number, NumberKind, Object, Value};

use crate::contract::{
    BOUNDED_JSON_INTEGER_MAX, BOUNDED_JSON_KEY_MAX_CHARS, BOUNDED_JSON_MAX_DEPTH,
    BOUNDED_JSON_MAX_NODES, BOUNDED_JSON_STRING_MAX_CHARS, IDENTIFIER_MAX_CHARS,
};
use crate::fault::{FieldReason, Kind, Reason, Report, ValueReason};
use crate::grammar::{Grammar, is_blank};
use crate::place::Path;

/// Takes text of at most `maximum` code points, without NUL; blank text
/// (which includes U+001C to U+001F) only when empty text is allowed.
pub fn bounded_text(value: &Value, maximum: usize, allow_empty: bool) -> Result<&str, Reason> {
    let text = value.as_str().ok_or(FieldReason::MustBe(Kind::Text))?;
    check_text(text, maximum, allow_empty)?;
    Ok(text)
}

/// Takes an identifier of at most 256 characters.
pub fn bounded_identifier(value: &Value) -> Result<&str, Reason> {
    let text = bounded_text(value, IDENTIFIER_MAX_CHARS, false)?;
    if Grammar::Identifier.matches(text) {
        Ok(text)
    } else {
        Err(ValueReason::NotOfGrammar(Grammar::Identifier).into())
    }
}

/// Takes an integer as written (no boolean, no `24.0`, no `1e2`) in a range.
pub fn bounded_integer(value: &Value, minimum: i64, maximum: i64) -> Result<i64, Reason> {
    let number = value
        .as_number()
        .ok_or(FieldReason::MustBe(Kind::Integer))?;
    let out_of_range = || ValueReason::OutOfRange {
        minimum: minimum.to_string(),
        maximum: maximum.to_string(),
    };
    match number.kind() {
        NumberKind::Integer(integer) if (minimum..=maximum).contains(&integer) => Ok(integer),
        NumberKind::Integer(_) | NumberKind::BigInteger(_) => Err(out_of_range().into()),
        NumberKind::Float(_) => Err(FieldReason::MustBe(Kind::Integer).into()),
    }
}

/// Takes a finite number, integer or not, in a range whose bounds are exact in a double.
pub fn bounded_number(value: &Value, minimum: f64, maximum: f64) -> Result<f64, Reason> {
    let number = value.as_number().ok_or(FieldReason::MustBe(Kind::Number))?;
    approximate(number)
        .filter(|number| (minimum..=maximum).contains(number))
        .ok_or_else(|| {
            ValueReason::OutOfRange {
                minimum: minimum.to_string(),
                maximum: maximum.to_string(),
            }
            .into()
        })
}

/// Takes text that is one of the allowed ones.
pub fn enum_text<'v>(value: &'v Value, allowed: &[impl AsRef<str>]) -> Result<&'v str, Reason> {
    let text = value.as_str().ok_or(FieldReason::MustBe(Kind::Text))?;
    if allowed.iter().any(|choice| choice.as_ref() == text) {
        return Ok(text);
    }
    let allowed = allowed
        .iter()
        .map(AsRef::as_ref)
        .collect::<Vec<_>>()
        .join(", ");
    Err(ValueReason::NotListed { allowed }.into())
}

/// Takes the number 1, written as integer or float; no boolean and no text.
pub(crate) fn is_one(value: &Value) -> bool {
    value.as_number().is_some_and(|number| match number.kind() {
        NumberKind::Integer(integer) => integer == 1,
        NumberKind::BigInteger(_) => false,
        NumberKind::Float(float) => float.to_bits() == 1.0_f64.to_bits(),
    })
}

/// Takes text that is of the grammar.
pub(crate) fn grammar_text(value: &Value, grammar: Grammar) -> Result<&str, Reason> {
    let text = value.as_str().ok_or(FieldReason::MustBe(Kind::Text))?;
    if grammar.matches(text) {
        Ok(text)
    } else {
        Err(ValueReason::NotOfGrammar(grammar).into())
    }
}

/// Takes exactly this text.
pub(crate) fn literal(value: &Value, expected: &'static str) -> Result<(), Reason> {
    if value.as_str() == Some(expected) {
        Ok(())
    } else {
        Err(FieldReason::MustBeLiteral(expected).into())
    }
}

/// Reads an object's required fields by name, and reports those that are absent or foreign.
pub(crate) struct Fields<'v> {
    object: &'v Object,
}

impl<'v> Fields<'v> {
    /// Opens an object that must have exactly these fields; absent ones are
    /// reported here and then yield nothing.
    pub(crate) fn exact(
        value: &'v Value,
        fields: &[&str],
        path: &Path<'_>,
        report: &mut Report,
    ) -> Option<Self> {
        let opened = Self::within(value, fields, path, report)?;
        for field in fields {
            if !opened.object.contains_key(field) {
                report.add(&path.member(field), FieldReason::Missing);
            }
        }
        Some(opened)
    }

    /// Opens an object that may have these fields and no other.
    pub(crate) fn within(
        value: &'v Value,
        fields: &[&str],
        path: &Path<'_>,
        report: &mut Report,
    ) -> Option<Self> {
        let Some(object) = value.as_object() else {
            report.add(path, FieldReason::MustBe(Kind::Object));
            return None;
        };
        for (name, _) in object.iter() {
            if !fields.contains(&name) {
                report.add(&path.member(name), FieldReason::Unknown);
            }
        }
        Some(Self { object })
    }

    /// Opens an object whose fields were judged already.
    pub(crate) fn of(object: &'v Object) -> Self {
        Self { object }
    }

    pub(crate) fn find(&self, field: &str) -> Option<&'v Value> {
        self.object.get(field)
    }

    /// Reads one field; its absence was reported already.
    pub(crate) fn read<T>(
        &self,
        field: &str,
        path: &Path<'_>,
        report: &mut Report,
        read: impl FnOnce(&'v Value) -> Result<T, Reason>,
    ) -> Option<T> {
        report.keep(&path.member(field), read(self.object.get(field)?))
    }

    pub(crate) fn require(
        &self,
        field: &str,
        path: &Path<'_>,
        report: &mut Report,
        holds: impl FnOnce(&'v Value) -> bool,
        reason: impl Into<Reason>,
    ) {
        if let Some(value) = self.object.get(field) {
            report.require(&path.member(field), holds(value), reason);
        }
    }
}

/// The limits of a nested value.
#[derive(Clone, Copy)]
pub(crate) struct NestedLimits {
    pub(crate) nodes: usize,
    pub(crate) depth: usize,
    pub(crate) text: fn(&str) -> Result<(), Reason>,
    pub(crate) key: fn(&str) -> Result<(), Reason>,
}

/// The limits of a bounded JSON argument.
pub(crate) const BOUNDED_JSON: NestedLimits = NestedLimits {
    nodes: BOUNDED_JSON_MAX_NODES,
    depth: BOUNDED_JSON_MAX_DEPTH,
    text: |text| check_text(text, BOUNDED_JSON_STRING_MAX_CHARS, true),
    key: |key| {
        check_text(key, BOUNDED_JSON_KEY_MAX_CHARS, false)?;
        if Grammar::Identifier.matches(key) {
            Ok(())
        } else {
            Err(ValueReason::NotOfGrammar(Grammar::Identifier).into())
        }
    },
};

/// Checks a value and all in it; counts values only, the root is value 1 at depth 0.
pub(crate) fn check_nested(
    value: &Value,
    limits: NestedLimits,
    path: &Path<'_>,
    report: &mut Report,
) {
    let mut walk = Walk {
        limits,
        nodes: 0,
        report,
    };
    walk.value(value, 0, path);
    if walk.nodes > limits.nodes {
        report.add(
            path,
            ValueReason::TooManyNodes {
                maximum: limits.nodes,
            },
        );
    }
}

struct Walk<'r> {
    limits: NestedLimits,
    nodes: usize,
    report: &'r mut Report,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value, depth: usize, path: &Path<'_>) {
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes > self.limits.nodes {
            return;
        }
        if depth > self.limits.depth {
            self.report.add(
                path,
                ValueReason::TooDeep {
                    maximum: self.limits.depth,
                },
            );
            return;
        }
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                self.report
                    .require(path, fits_63_bits(number), ValueReason::IntegerTooLarge);
            }
            Value::String(text) => {
                self.report.keep(path, (self.limits.text)(text));
            }
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    self.value(element, depth.saturating_add(1), &path.element(index));
                }
            }
            Value::Object(object) => {
                for (name, member) in object.iter() {
                    let path = path.member(name);
                    self.report.keep(&path, (self.limits.key)(name));
                    self.value(member, depth.saturating_add(1), &path);
                }
            }
        }
    }
}

/// Tells whether an integer has a magnitude below 2^63; any float does.
pub(crate) fn fits_63_bits(number: &Number) -> bool {
    match number.kind() {
        NumberKind::Integer(integer) => integer >= -BOUNDED_JSON_INTEGER_MAX,
        NumberKind::BigInteger(_) => false,
        NumberKind::Float(_) => true,
    }
}

pub(crate) fn check_text(text: &str, maximum: usize, allow_empty: bool) -> Result<(), Reason> {
    if is_longer_than(text, maximum) {
        return Err(ValueReason::TooLong { maximum }.into());
    }
    if text.contains('\0') {
        return Err(ValueReason::ForbiddenCharacter.into());
    }
    if !allow_empty && is_blank(text) {
        return Err(ValueReason::Blank.into());
    }
    Ok(())
}

/// Tells whether a text has more than `maximum` code points.
pub(crate) fn is_longer_than(text: &str, maximum: usize) -> bool {
    // A text never has more code points than bytes.
    text.len() > maximum && text.chars().count() > maximum
}

fn approximate(number: &Number) -> Option<f64> {
    let float = match number.kind() {
        #[expect(
            clippy::cast_precision_loss,
            reason = "the bounds it meets are exact in a double, so rounding keeps order"
        )]
        NumberKind::Integer(integer) => integer as f64,
        NumberKind::BigInteger(digits) => digits.parse().ok()?,
        NumberKind::Float(float) => float,
    };
    float.is_finite().then_some(float)
}
