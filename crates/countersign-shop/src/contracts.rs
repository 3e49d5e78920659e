//! The shop's two tools, as contracts.

use countersign_canonical::{Limits, parse};
use countersign_contract::ToolContract;
use countersign_dispatch::Registry;

const DOCUMENTS: [&str; 2] = [
    include_str!("../contracts/get_order.json"),
    include_str!("../contracts/create_refund_draft.json"),
];

/// The registry of the shop's tools: `get_order` reads, `create_refund_draft` writes.
#[must_use]
pub fn registry() -> Registry {
    proven(Registry::new(DOCUMENTS.map(contract)))
}

fn contract(document: &str) -> ToolContract {
    let value = proven(parse(document.as_bytes(), &Limits::tool_result()));
    proven(ToolContract::from_value(&value))
}

#[expect(
    clippy::expect_used,
    reason = "what it is given is part of the program, and a test reads it"
)]
pub(crate) fn proven<T, E: std::fmt::Debug>(result: Result<T, E>) -> T {
    result.expect("the shop's own data is in order")
}

#[cfg(test)]
mod tests {
    #[test]
    fn both_contracts_are_in_order() {
        assert_eq!(crate::approver().as_str(), "human-reviewer-1");
        let names: Vec<String> = super::registry()
            .iter()
            .map(|contract| contract.name.to_string())
            .collect();
        assert_eq!(names, ["create_refund_draft", "get_order"]);
    }
}
