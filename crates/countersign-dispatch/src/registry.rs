//! The tools that may be called, by name.

use std::collections::BTreeMap;

use countersign_contract::{ToolContract, ToolName};

/// Registered tool contracts. A name that is not here cannot run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Registry(BTreeMap<ToolName, ToolContract>);

/// Two contracts under one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool {0:?} is defined twice")]
pub struct DuplicateTool(pub String);

impl Registry {
    /// Registers contracts; names are compared exactly.
    pub fn new(contracts: impl IntoIterator<Item = ToolContract>) -> Result<Self, DuplicateTool> {
        let mut tools = BTreeMap::new();
        for contract in contracts {
            let name = contract.name.clone();
            if tools.insert(name.clone(), contract).is_some() {
                return Err(DuplicateTool(name.as_str().to_owned()));
            }
        }
        Ok(Self(tools))
    }

    /// The contract of a tool.
    #[must_use]
    pub fn get(&self, name: &ToolName) -> Option<&ToolContract> {
        self.0.get(name)
    }

    /// The contracts, by name.
    pub fn iter(&self) -> impl Iterator<Item = &ToolContract> {
        self.0.values()
    }
}
