//! One tool of a catalog.

use countersign_canonical::{Ascii, Digest, Object, Utf8, Value, digest, encode};

use crate::catalog::rule::ArgumentRule;
use crate::catalog::template::{Display, Template};
use crate::fault::{FieldReason, Report};
use crate::names::ToolName;
use crate::place::Path;

/// A tool: what the model reads of it, what its arguments may be, what an owner
/// is shown, and whether a standing grant may ever authorize it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    pub(crate) name: ToolName,
    pub(crate) description: String,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) display: DisplayTemplates,
    pub(crate) grantable: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DisplayTemplates {
    pub(crate) summary: Template,
    pub(crate) target: Template,
    pub(crate) risk: Template,
}

/// One argument of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) rule: ArgumentRule,
    pub(crate) presence: Presence,
}

/// Whether an argument must be given.
#[derive(Clone, Debug, PartialEq)]
pub enum Presence {
    /// It must be given.
    Required,
    /// It may be absent; then it stays absent in the arguments and their digest.
    Optional {
        /// What absence means, for the display and the schema only.
        default: Option<Value>,
    },
}

impl Argument {
    /// Names the argument.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Shows what the model reads about the argument.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Shows what the argument's value may be.
    pub fn rule(&self) -> &ArgumentRule {
        &self.rule
    }

    /// Tells whether the argument must be given.
    pub fn is_required(&self) -> bool {
        match self.presence {
            Presence::Required => true,
            Presence::Optional { .. } => false,
        }
    }

    /// Shows what absence means.
    pub fn default(&self) -> Option<&Value> {
        match &self.presence {
            Presence::Required => None,
            Presence::Optional { default } => default.as_ref(),
        }
    }
}

impl Tool {
    /// Names the tool.
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// Shows what the model reads about the tool.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Lists the arguments, in the order of their names.
    pub fn arguments(&self) -> &[Argument] {
        &self.arguments
    }

    /// Tells whether a standing grant may ever authorize this tool.
    pub fn is_grantable(&self) -> bool {
        self.grantable
    }

    /// Shows an owner what a call with these arguments would do.
    ///
    /// The arguments must have been checked against this tool.
    pub(crate) fn display(&self, arguments: &Arguments) -> Display {
        let arguments = arguments.object();
        Display {
            summary: self.display.summary.fill(arguments),
            target: self.display.target.fill(arguments),
            risk: self.display.risk.fill(arguments),
        }
    }

    pub(crate) fn check(
        &self,
        value: &Value,
        path: &Path<'_>,
        report: &mut Report,
    ) -> Option<Arguments> {
        let before = report.len();
        let Some(object) = value.as_object() else {
            report.add(path, FieldReason::MustBe(crate::fault::Kind::Object));
            return None;
        };
        for (name, value) in object.iter() {
            match self.arguments.iter().find(|argument| argument.name == name) {
                Some(argument) => argument.rule.check(value, &path.member(name), report),
                None => report.add(&path.member(name), FieldReason::Unknown),
            }
        }
        for argument in self
            .arguments
            .iter()
            .filter(|argument| argument.is_required())
        {
            if !object.contains_key(&argument.name) {
                report.add(&path.member(&argument.name), FieldReason::Missing);
            }
        }
        (report.len() == before).then(|| Arguments {
            value: value.clone(),
        })
    }
}

/// Arguments that satisfied a tool's rules; minted by that check only.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    // INVARIANT: an object.
    value: Value,
}

impl Arguments {
    /// Shows the arguments as written, without defaults.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Hashes the arguments in the ASCII form: `args_sha256`.
    pub fn sha256(&self) -> Digest<Ascii> {
        digest::<Ascii>(&self.value)
    }

    /// Encodes the arguments in the canonical UTF-8 form, which whoever approves must be able to see whole.
    pub fn canonical_utf8(&self) -> Vec<u8> {
        encode::<Utf8>(&self.value)
    }

    fn object(&self) -> &Object {
        static EMPTY: std::sync::LazyLock<Object> =
            std::sync::LazyLock::new(|| Object::from_iter([]));
        self.value.as_object().unwrap_or(&EMPTY)
    }
}
