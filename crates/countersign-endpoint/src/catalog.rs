//! The tools that the endpoint performs, with the exact arguments of each.

use std::collections::BTreeMap;

use crate::arguments::ArgumentRule;
use crate::grammar::{IDENTIFIER_MAX_CHARS, is_identifier};
use crate::identifier::ToolName;
use crate::number::INTEGER_MAX;
use crate::parser::{NODES_MAX, TEXT_MAX_CHARS};

/// The most tools of a catalog.
pub const TOOLS_MAX: usize = 1024;

/// The most arguments of a tool.
///
/// Half of a request's nodes, less those of its own fields, so that a call that
/// uses every argument still fits.
pub const ARGUMENTS_MAX: usize = 256;

/// The tools of an endpoint. A tool that is not in here is refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalog {
    tools: BTreeMap<String, Tool>,
}

impl Catalog {
    /// Makes a catalog of tools with different names.
    pub fn new(tools: Vec<Tool>) -> Result<Self, CatalogError> {
        if tools.len() > TOOLS_MAX {
            return Err(CatalogError::TooManyTools);
        }
        let mut named = BTreeMap::new();
        for tool in tools {
            let name = tool.name.as_str().to_owned();
            if named.insert(name.clone(), tool).is_some() {
                return Err(CatalogError::DuplicateTool { tool: name });
            }
        }
        Ok(Self { tools: named })
    }

    /// Takes tools of this crate's own table; a test passes them through [`Self::new`].
    pub(crate) fn from_static(tools: Vec<Tool>) -> Self {
        let named = tools
            .into_iter()
            .map(|tool| (tool.name.as_str().to_owned(), tool));
        Self {
            tools: named.collect(),
        }
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    /// All tools, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values()
    }
}

/// One tool: its name and its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    name: ToolName,
    arguments: Vec<Argument>,
}

impl Tool {
    /// Makes a tool; argument names are identifiers and differ, and each rule can be satisfied.
    pub fn new(name: &str, arguments: Vec<Argument>) -> Result<Self, CatalogError> {
        let tool = name.to_owned();
        let Some(name) = ToolName::parse(name) else {
            return Err(CatalogError::InvalidToolName { tool });
        };
        if arguments.len() > ARGUMENTS_MAX {
            return Err(CatalogError::TooManyArguments { tool });
        }
        for (index, argument) in arguments.iter().enumerate() {
            let duplicate = arguments
                .iter()
                .take(index)
                .any(|earlier| earlier.name == argument.name);
            let named = is_identifier(&argument.name, IDENTIFIER_MAX_CHARS);
            if duplicate || !named || !is_satisfiable(&argument.rule) {
                return Err(CatalogError::InvalidArgument {
                    tool,
                    argument: argument.name.clone(),
                });
            }
        }
        Ok(Self { name, arguments })
    }

    /// Takes an entry of this crate's own table.
    pub(crate) fn from_static(name: &'static str, arguments: Vec<Argument>) -> Self {
        Self {
            name: ToolName::from_static(name),
            arguments,
        }
    }

    /// The tool's name.
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// The tool's arguments, in the order of their declaration.
    pub fn arguments(&self) -> &[Argument] {
        &self.arguments
    }
}

/// One argument of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    name: String,
    required: bool,
    rule: ArgumentRule,
}

impl Argument {
    /// An argument that every call must carry.
    pub fn required(name: &str, rule: ArgumentRule) -> Self {
        Self {
            name: name.to_owned(),
            required: true,
            rule,
        }
    }

    /// An argument that a call may leave out. Absent stays absent: no default is filled in.
    pub fn optional(name: &str, rule: ArgumentRule) -> Self {
        Self {
            name: name.to_owned(),
            required: false,
            rule,
        }
    }

    /// The argument's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether every call must carry it.
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// What its value must be.
    pub fn rule(&self) -> &ArgumentRule {
        &self.rule
    }
}

/// Why a catalog was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// More tools than a catalog may have.
    #[error("the catalog has more than {TOOLS_MAX} tools")]
    TooManyTools,
    /// Two tools of one name.
    #[error("the catalog has two tools named `{tool}`")]
    DuplicateTool {
        /// The name.
        tool: String,
    },
    /// A name outside the identifier grammar.
    #[error("`{tool}` is not a tool name")]
    InvalidToolName {
        /// The name.
        tool: String,
    },
    /// More arguments than a tool may have.
    #[error("tool `{tool}` has more than {ARGUMENTS_MAX} arguments")]
    TooManyArguments {
        /// The tool.
        tool: String,
    },
    /// An argument declared twice, misnamed, or with a rule that no call can meet.
    #[error("argument `{argument}` of tool `{tool}` is declared twice, misnamed, or cannot be met")]
    InvalidArgument {
        /// The tool.
        tool: String,
        /// The argument.
        argument: String,
    },
}

/// Whether a rule accepts anything that the parser lets through.
fn is_satisfiable(rule: &ArgumentRule) -> bool {
    match rule {
        ArgumentRule::Text { maximum_chars, .. } => (1..=TEXT_MAX_CHARS).contains(maximum_chars),
        ArgumentRule::Choice(choices) => !choices.is_empty() && choices.len() <= NODES_MAX,
        ArgumentRule::Integer { minimum, maximum } => {
            minimum <= maximum && *minimum >= -INTEGER_MAX
        }
        ArgumentRule::Number { minimum, maximum } => {
            minimum.is_finite() && maximum.is_finite() && minimum <= maximum
        }
        ArgumentRule::Identifier | ArgumentRule::Boolean | ArgumentRule::BoundedObject => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Blank;

    #[test]
    fn refuses_catalogs_that_make_no_sense() {
        let tool =
            |name: &str, rule: ArgumentRule| Tool::new(name, vec![Argument::required("a", rule)]);
        assert!(tool("shop.refund", ArgumentRule::Identifier).is_ok());
        assert!(tool("bad name", ArgumentRule::Identifier).is_err());
        for rule in [
            ArgumentRule::Integer {
                minimum: 2,
                maximum: 1,
            },
            ArgumentRule::Integer {
                minimum: i64::MIN,
                maximum: 1,
            },
            ArgumentRule::Number {
                minimum: 1.0,
                maximum: 0.0,
            },
            ArgumentRule::Number {
                minimum: f64::NAN,
                maximum: 0.0,
            },
            ArgumentRule::Number {
                minimum: 0.0,
                maximum: f64::INFINITY,
            },
            ArgumentRule::Choice(Vec::new()),
            ArgumentRule::Text {
                maximum_chars: TEXT_MAX_CHARS + 1,
                blank: Blank::Refused,
            },
            ArgumentRule::Text {
                maximum_chars: 0,
                blank: Blank::Allowed,
            },
        ] {
            assert!(tool("t", rule.clone()).is_err(), "{rule:?}");
        }
        let twice = vec![
            Argument::required("a", ArgumentRule::Boolean),
            Argument::optional("a", ArgumentRule::Boolean),
        ];
        assert!(Tool::new("t", twice).is_err());
        let same = || Tool::new("t", Vec::new()).expect("a tool");
        assert_eq!(
            Catalog::new(vec![same(), same()]),
            Err(CatalogError::DuplicateTool {
                tool: "t".to_owned()
            })
        );
    }
}
