//! A host's catalog as an endpoint would hold it.

use countersign_endpoint::{Argument, ArgumentRule, Blank, Catalog, Tool};
use countersign_governed as host;

/// Makes the endpoint's catalog of a host's own; tools that an endpoint cannot hold are left out.
///
/// The endpoint of the built-in tools has a table of its own, which is the better judge: see [`Catalog::colony`].
pub(super) fn endpoint_catalog(catalog: &host::Catalog) -> Catalog {
    let tools = catalog.tools().filter_map(endpoint_tool).collect();
    // Names differ, and a host's catalog has fewer tools than an endpoint's may have.
    Catalog::new(tools).unwrap_or_else(|_| Catalog::colony())
}

fn endpoint_tool(tool: &host::Tool) -> Option<Tool> {
    let arguments = tool.arguments().iter().map(|argument| {
        let rule = endpoint_rule(argument.rule())?;
        Some(if argument.is_required() {
            Argument::required(argument.name(), rule)
        } else {
            Argument::optional(argument.name(), rule)
        })
    });
    Tool::new(tool.name().as_str(), arguments.collect::<Option<_>>()?).ok()
}

fn endpoint_rule(rule: &host::ArgumentRule) -> Option<ArgumentRule> {
    Some(match rule {
        host::ArgumentRule::Text {
            maximum_chars,
            allow_empty,
        } => ArgumentRule::Text {
            maximum_chars: *maximum_chars,
            blank: if *allow_empty {
                Blank::Allowed
            } else {
                Blank::Refused
            },
        },
        host::ArgumentRule::Identifier => ArgumentRule::Identifier,
        host::ArgumentRule::Integer { minimum, maximum } => ArgumentRule::Integer {
            minimum: *minimum,
            maximum: *maximum,
        },
        host::ArgumentRule::Number { minimum, maximum } => ArgumentRule::Number {
            minimum: *minimum,
            maximum: *maximum,
        },
        host::ArgumentRule::Choice { values } => ArgumentRule::Choice(values.clone()),
        host::ArgumentRule::Boolean => ArgumentRule::Boolean,
        host::ArgumentRule::Object => ArgumentRule::BoundedObject,
        host::ArgumentRule::List { .. } => return None,
    })
}
