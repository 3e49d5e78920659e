//! The built-in catalog: the ten colony tools.

use crate::arguments::{ArgumentRule, Blank};
use crate::catalog::{Argument, Catalog, Tool};

/// The longest topic of a research, in code points.
const TOPIC_MAX_CHARS: usize = 1_400;
/// The longest description or reason, in code points.
const PROSE_MAX_CHARS: usize = 8_000;
/// The longest insight, in code points.
const INSIGHT_MAX_CHARS: usize = 16_000;
/// The longest due date, in code points; its form is the tool's affair.
const DUE_AT_MAX_CHARS: usize = 256;

impl Catalog {
    /// Makes the catalog of the ten colony tools.
    pub fn colony() -> Self {
        let prose = || text(PROSE_MAX_CHARS, Blank::Allowed);
        let identifier = || ArgumentRule::Identifier;
        Self::from_static(vec![
            Tool::from_static("colony_autonomy_enable", vec![]),
            Tool::from_static("colony_autonomy_disable", vec![]),
            Tool::from_static(
                "colony_create_commitment",
                vec![
                    Argument::required("description", text(PROSE_MAX_CHARS, Blank::Refused)),
                    Argument::optional("due_at", text(DUE_AT_MAX_CHARS, Blank::Allowed)),
                    Argument::optional(
                        "priority",
                        ArgumentRule::Integer {
                            minimum: 0,
                            maximum: 100,
                        },
                    ),
                ],
            ),
            Tool::from_static(
                "colony_initiative_feedback",
                vec![
                    Argument::required("initiative_id", identifier()),
                    Argument::required(
                        "action",
                        choice(&["acknowledged", "actioned", "dismissed", "snoozed"]),
                    ),
                    Argument::optional("details", ArgumentRule::BoundedObject),
                ],
            ),
            Tool::from_static(
                "colony_record_insight",
                vec![
                    Argument::required("content", text(INSIGHT_MAX_CHARS, Blank::Refused)),
                    Argument::required(
                        "insight_type",
                        choice(&[
                            "preference",
                            "connection",
                            "fact",
                            "goal_hint",
                            "relationship_update",
                        ]),
                    ),
                    Argument::optional(
                        "confidence",
                        ArgumentRule::Number {
                            minimum: 0.0,
                            maximum: 1.0,
                        },
                    ),
                ],
            ),
            Tool::from_static(
                "colony_research",
                vec![
                    Argument::required("topic", text(TOPIC_MAX_CHARS, Blank::Refused)),
                    Argument::optional("depth", choice(&["quick", "standard", "deep"])),
                ],
            ),
            Tool::from_static(
                "colony_resolve_commitment",
                vec![
                    Argument::required("commitment_id", identifier()),
                    Argument::optional(
                        "outcome",
                        choice(&["done", "invalid", "duplicate", "wont_do", "obsolete"]),
                    ),
                    Argument::optional("reason", prose()),
                ],
            ),
            Tool::from_static(
                "colony_task_complete",
                vec![Argument::required("task_id", identifier())],
            ),
            Tool::from_static(
                "colony_task_dismiss",
                vec![
                    Argument::required("task_id", identifier()),
                    Argument::optional(
                        "reason",
                        choice(&["stale", "completed", "abandoned", "not_applicable"]),
                    ),
                ],
            ),
            Tool::from_static(
                "colony_task_snooze",
                vec![
                    Argument::required("task_id", identifier()),
                    Argument::optional(
                        "hours",
                        ArgumentRule::Integer {
                            minimum: 1,
                            maximum: 168,
                        },
                    ),
                    Argument::optional("reason", prose()),
                ],
            ),
        ])
    }
}

fn text(maximum_chars: usize, blank: Blank) -> ArgumentRule {
    ArgumentRule::Text {
        maximum_chars,
        blank,
    }
}

fn choice(allowed: &[&str]) -> ArgumentRule {
    ArgumentRule::Choice(allowed.iter().map(|value| (*value).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colony_catalog_is_valid_and_has_ten_tools() {
        let catalog = Catalog::colony();
        let checked = catalog
            .iter()
            .map(|tool| {
                Tool::new(tool.name().as_str(), tool.arguments().to_vec()).expect("a valid tool")
            })
            .collect();
        assert_eq!(Catalog::new(checked), Ok(catalog.clone()));
        assert_eq!(catalog.iter().count(), 10);
    }
}
