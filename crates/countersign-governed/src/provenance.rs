//! Provenance shapes: the exact field sets an owner's approval may come in.

use std::collections::BTreeMap;

use crate::contract::{BOUNDED_GRANT_BINDING_METHOD, GATE_COMMON_FIELDS};
use crate::fault::{DefinitionReason, Fault, ValueReason};
use crate::grammar::Grammar;
use crate::place::Path;

/// The field that says how an approval was bound to its action.
pub(crate) const BINDING_METHOD: &str = "binding_method";

/// What a shape's own field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EvidenceField {
    /// Text of 1 to 512 code points.
    Text,
    /// A time after which the approval counts no more.
    Expiry,
    /// As an expiry, or the literal `"unlimited"`.
    ExpiryOrUnlimited,
}

/// Whether an approval covers one action or a standing grant covers many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Coverage {
    /// The owner saw this very action.
    OneAction,
    /// The owner granted a class of actions beforehand; never for a tool that is not grantable.
    StandingGrant,
}

/// One provenance shape: the fields it has beside the common ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    name: String,
    fields: BTreeMap<String, EvidenceField>,
    own_binding_method: Option<String>,
    coverage: Coverage,
}

impl Shape {
    /// Defines a shape whose approvals cover one action each.
    ///
    /// Of an own binding method no other shape may carry the value, and this
    /// shape carries no other; the field `binding_method` is added for it.
    pub fn new(
        name: &str,
        fields: &[(&str, EvidenceField)],
        own_binding_method: Option<&str>,
    ) -> Result<Self, Fault> {
        let root = Path::ROOT;
        if !Grammar::ArgumentName.matches(name) {
            return Err(Fault::new(
                &root.member("name"),
                ValueReason::NotOfGrammar(Grammar::ArgumentName),
            ));
        }
        let mut shape = Self::define(name, fields, own_binding_method, Coverage::OneAction);
        if own_binding_method.is_some() {
            shape
                .fields
                .insert(BINDING_METHOD.to_owned(), EvidenceField::Text);
        }
        for field in shape.fields.keys() {
            let path = root.member("fields");
            let path = path.member(field);
            if GATE_COMMON_FIELDS.contains(&field.as_str()) {
                return Err(Fault::new(&path, DefinitionReason::CommonField));
            }
            if !Grammar::ArgumentName.matches(field) {
                return Err(Fault::new(
                    &path,
                    ValueReason::NotOfGrammar(Grammar::ArgumentName),
                ));
            }
        }
        if shape
            .fields
            .get(BINDING_METHOD)
            .is_some_and(|field| *field != EvidenceField::Text)
        {
            let path = root.member("fields");
            return Err(Fault::new(
                &path.member(BINDING_METHOD),
                DefinitionReason::ReservedBindingMethod,
            ));
        }
        Ok(shape)
    }

    /// Names the shape.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tells what an approval of this shape covers.
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// Lists the fields beside the common ones.
    pub fn fields(&self) -> impl Iterator<Item = (&str, EvidenceField)> {
        self.fields
            .iter()
            .map(|(name, field)| (name.as_str(), *field))
    }

    fn define(
        name: &str,
        fields: &[(&str, EvidenceField)],
        own_binding_method: Option<&str>,
        coverage: Coverage,
    ) -> Self {
        Self {
            name: name.to_owned(),
            fields: fields
                .iter()
                .map(|(name, field)| ((*name).to_owned(), *field))
                .collect(),
            own_binding_method: own_binding_method.map(str::to_owned),
            coverage,
        }
    }

    fn message_delivery() -> Self {
        let fields = [
            "binding_method",
            "channel",
            "delivery_id",
            "delivery_message_id",
            "event_id",
            "event_key",
            "thread_id",
        ];
        Self::define(
            "message_delivery",
            &fields.map(|field| (field, EvidenceField::Text)),
            None,
            Coverage::OneAction,
        )
    }

    fn bounded_grant() -> Self {
        let fields = [
            ("approval_source_request_id", EvidenceField::Text),
            ("binding_method", EvidenceField::Text),
            (
                "bounded_grant_expires_at_epoch",
                EvidenceField::ExpiryOrUnlimited,
            ),
            ("bounded_grant_id", EvidenceField::Text),
        ];
        Self::define(
            "bounded_grant",
            &fields,
            Some(BOUNDED_GRANT_BINDING_METHOD),
            Coverage::StandingGrant,
        )
    }

    fn contains(&self, other: &Self) -> bool {
        other
            .fields
            .keys()
            .all(|field| self.fields.contains_key(field))
    }

    fn has_exactly(&self, fields: &[&str]) -> bool {
        fields.len() == self.fields.len().saturating_add(GATE_COMMON_FIELDS.len())
            && fields
                .iter()
                .all(|field| GATE_COMMON_FIELDS.contains(field) || self.fields.contains_key(*field))
    }

    fn missing_and_foreign(&self, fields: &[&str]) -> (usize, usize) {
        let known = GATE_COMMON_FIELDS
            .into_iter()
            .chain(self.fields.keys().map(String::as_str));
        let missing = known.filter(|field| !fields.contains(field)).count();
        let foreign = fields.iter().filter(|field| {
            !GATE_COMMON_FIELDS.contains(field) && !self.fields.contains_key(**field)
        });
        (missing, foreign.count())
    }
}

/// The shapes that a host accepts. No two of them can both fit one evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeRegistry {
    shapes: Vec<Shape>,
}

impl Default for ShapeRegistry {
    /// Holds the two shapes of the contract: `message_delivery` and `bounded_grant`.
    fn default() -> Self {
        Self {
            shapes: vec![Shape::message_delivery(), Shape::bounded_grant()],
        }
    }
}

impl ShapeRegistry {
    /// Adds a shape; refuses one that equals, contains or is contained in another,
    /// or that claims a binding method another shape owns.
    pub fn register(&mut self, shape: Shape) -> Result<(), Fault> {
        let path = Path::ROOT;
        for other in &self.shapes {
            if other.name == shape.name {
                return Err(Fault::new(
                    &path.member("name"),
                    DefinitionReason::AlreadyRegistered,
                ));
            }
            if other.contains(&shape) || shape.contains(other) {
                return Err(Fault::new(
                    &path.member("fields"),
                    DefinitionReason::ShapeOverlaps(other.name.clone()),
                ));
            }
            if shape.own_binding_method.is_some()
                && shape.own_binding_method == other.own_binding_method
            {
                return Err(Fault::new(
                    &path.member(BINDING_METHOD),
                    DefinitionReason::ReservedBindingMethod,
                ));
            }
        }
        self.shapes.push(shape);
        Ok(())
    }

    /// Lists the shapes, the oldest first.
    pub fn shapes(&self) -> impl Iterator<Item = &Shape> {
        self.shapes.iter()
    }

    /// Finds the one shape that has exactly these fields beside the common ones.
    pub(crate) fn find(&self, fields: &[&str]) -> Option<&Shape> {
        self.shapes.iter().find(|shape| shape.has_exactly(fields))
    }

    /// Describes the shape that fits least badly.
    pub(crate) fn nearest(&self, fields: &[&str]) -> String {
        let nearest = self
            .shapes
            .iter()
            .map(|shape| (shape.missing_and_foreign(fields), shape))
            .min_by_key(|((missing, foreign), _)| missing.saturating_add(*foreign));
        match nearest {
            Some(((missing, foreign), shape)) => {
                format!(
                    "; nearest is {}, with {missing} missing and {foreign} foreign",
                    shape.name
                )
            }
            None => String::new(),
        }
    }

    /// Tells whether a shape may carry this binding method.
    pub(crate) fn may_carry(&self, shape: &Shape, method: &str) -> bool {
        match &shape.own_binding_method {
            Some(own) => own == method,
            None => !self
                .shapes
                .iter()
                .any(|other| other.own_binding_method.as_deref() == Some(method)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(fields: &[&str], method: Option<&str>) -> Shape {
        Shape::new(
            "mine",
            &fields
                .iter()
                .map(|field| (*field, EvidenceField::Text))
                .collect::<Vec<_>>(),
            method,
        )
        .unwrap()
    }

    #[test]
    fn refuses_overlapping_shapes() {
        let delivery = [
            "channel",
            "thread_id",
            "event_id",
            "event_key",
            "delivery_id",
            "delivery_message_id",
            "binding_method",
        ];
        let cases: [&[&str]; 4] = [
            &delivery,
            &["channel"],
            &[],
            &[
                "channel",
                "thread_id",
                "event_id",
                "event_key",
                "delivery_id",
                "delivery_message_id",
                "binding_method",
                "x",
            ],
        ];
        for fields in cases {
            let refusal = ShapeRegistry::default()
                .register(shape(fields, None))
                .unwrap_err();
            assert!(refusal.to_string().contains("equal, contain"), "{refusal}");
        }
        let mut registry = ShapeRegistry::default();
        registry
            .register(shape(&["channel", "ticket"], None))
            .unwrap();
        let refusal = registry.register(shape(&["other"], None)).unwrap_err();
        assert!(
            refusal.to_string().contains("already registered"),
            "{refusal}"
        );
    }

    #[test]
    fn refuses_reserved_binding_methods_and_common_fields() {
        let refusal = ShapeRegistry::default()
            .register(shape(&["x"], Some("bounded_grant")))
            .unwrap_err();
        assert!(refusal.to_string().contains("reserved"), "{refusal}");
        assert!(Shape::new("mine", &[("decision", EvidenceField::Text)], None).is_err());
        assert!(Shape::new("mine", &[("binding_method", EvidenceField::Expiry)], None).is_err());
        assert!(Shape::new("mine", &[("bad name", EvidenceField::Text)], None).is_err());
        assert!(Shape::new("", &[("x", EvidenceField::Text)], None).is_err());
    }

    #[test]
    fn an_own_binding_method_is_nobody_elses() {
        let mut registry = ShapeRegistry::default();
        registry
            .register(shape(&["session"], Some("console")))
            .unwrap();
        let mine = &registry.shapes[2];
        let delivery = &registry.shapes[0];
        assert!(registry.may_carry(mine, "console"));
        assert!(!registry.may_carry(mine, "other"));
        assert!(!registry.may_carry(delivery, "console"));
        assert!(!registry.may_carry(delivery, "bounded_grant"));
        assert!(registry.may_carry(delivery, "delivered_reply"));
    }
}
