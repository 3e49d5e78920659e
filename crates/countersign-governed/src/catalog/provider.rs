//! A tool's definition as each provider's interface expects it.

use countersign_canonical::{Object, Value};

use crate::catalog::Catalog;
use crate::catalog::tool::Tool;

/// An interface through which a model learns of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// The OpenAI Responses interface.
    OpenAiResponses,
    /// The OpenAI Chat Completions interface.
    OpenAiChat,
    /// The Anthropic Messages interface.
    Anthropic,
    /// The Gemini `generateContent` interface.
    Gemini,
    /// The Gemini Interactions interface.
    GeminiInteractions,
    /// The Model Context Protocol's `tools/list`.
    Mcp,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 6] = [
        Self::OpenAiResponses,
        Self::OpenAiChat,
        Self::Anthropic,
        Self::Gemini,
        Self::GeminiInteractions,
        Self::Mcp,
    ];

    /// Names the dialect, as on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiResponses => "openai",
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::GeminiInteractions => "gemini-interactions",
            Self::Mcp => "mcp",
        }
    }

    /// Finds a dialect by its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }
}

impl Tool {
    /// Renders the tool's definition.
    ///
    /// Strict modes that rewrite a schema are off: they would make optional arguments required.
    pub fn definition(&self, dialect: Dialect) -> Value {
        let name = ("name", Value::from(self.name.as_str()));
        let description = ("description", Value::from(self.description.as_str()));
        let function = ("type", Value::from("function"));
        match dialect {
            Dialect::OpenAiResponses => object([
                function,
                name,
                description,
                ("parameters", self.schema()),
                ("strict", Value::Bool(false)),
            ]),
            Dialect::OpenAiChat => object([
                function,
                (
                    "function",
                    object([
                        name,
                        description,
                        ("parameters", self.schema()),
                        ("strict", Value::Bool(false)),
                    ]),
                ),
            ]),
            Dialect::Anthropic => object([name, description, ("input_schema", self.schema())]),
            Dialect::Gemini => object([name, description, ("parametersJsonSchema", self.schema())]),
            Dialect::GeminiInteractions => {
                object([function, name, description, ("parameters", self.schema())])
            }
            Dialect::Mcp => object([name, description, ("inputSchema", self.schema())]),
        }
    }
}

impl Catalog {
    /// Renders the definitions of all tools, in the list that the interface expects.
    pub fn definitions(&self, dialect: Dialect) -> Value {
        let tools = Value::Array(self.tools().map(|tool| tool.definition(dialect)).collect());
        match dialect {
            Dialect::OpenAiResponses
            | Dialect::OpenAiChat
            | Dialect::Anthropic
            | Dialect::GeminiInteractions => tools,
            Dialect::Gemini => Value::Array(vec![object([("functionDeclarations", tools)])]),
            Dialect::Mcp => object([("tools", tools)]),
        }
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(
        members
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<Object>(),
    )
}
