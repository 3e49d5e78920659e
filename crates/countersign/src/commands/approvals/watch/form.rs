//! A grant that is being put together on the screen.

use std::collections::BTreeMap;
use std::time::Duration;

use countersign_canonical::Value;
use countersign_ledger::{Condition, Conditions, OperationDetail};

use super::keys::Key;
use crate::prompt::effective;

/// For how long, as it is offered.
const LIFETIMES: [(&str, Duration); 4] = [
    ("15 minutes", Duration::from_mins(15)),
    ("1 hour", Duration::from_hours(1)),
    ("8 hours", Duration::from_hours(8)),
    ("3 days", Duration::from_hours(72)),
];
/// How many calls, as it is offered.
const USES: [u64; 5] = [1, 5, 20, 100, 1000];

/// What each argument may be, for how long, and how often.
#[derive(Clone, Debug)]
pub(super) struct GrantForm {
    rows: Vec<Row>,
    selected: usize,
    lifetime: usize,
    uses: usize,
}

#[derive(Clone, Debug)]
struct Row {
    name: String,
    value: Value,
    choice: Choice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Same,
    Beneath,
    Any,
}

impl GrantForm {
    /// Begins with the narrowest: exactly this call, once. Nothing where the arguments have no names.
    pub(super) fn of(call: &OperationDetail) -> Option<Self> {
        let arguments = effective(&call.proposal.call.arguments);
        let rows = arguments.as_object()?.iter().map(|(name, value)| Row {
            name: name.to_owned(),
            value: value.clone(),
            choice: Choice::Same,
        });
        Some(Self {
            rows: rows.collect(),
            selected: 0,
            lifetime: 0,
            uses: 0,
        })
    }

    /// Changes what a key changes.
    pub(super) fn press(&mut self, key: Key) {
        let last = self.rows.len().saturating_sub(1);
        match key {
            Key::Up | Key::Character('k') => self.selected = self.selected.saturating_sub(1),
            Key::Down | Key::Character('j') => self.selected = (self.selected + 1).min(last),
            Key::Character(' ') => {
                if let Some(row) = self.rows.get_mut(self.selected) {
                    row.choose_next();
                }
            }
            Key::Character('t') => self.lifetime = (self.lifetime + 1) % LIFETIMES.len(),
            Key::Character('u') => self.uses = (self.uses + 1) % USES.len(),
            Key::Character(_)
            | Key::Enter
            | Key::Backspace
            | Key::Escape
            | Key::PageUp
            | Key::PageDown
            | Key::Interrupt => {}
        }
    }

    /// For how long, and how often.
    pub(super) fn bounds(&self) -> (Duration, u64) {
        let lifetime = LIFETIMES.get(self.lifetime).map(|(_, lifetime)| *lifetime);
        let uses = USES.get(self.uses).copied();
        (lifetime.unwrap_or_default(), uses.unwrap_or_default())
    }

    /// What the arguments may be; nothing where that is more than a grant holds.
    pub(super) fn conditions(&self) -> Option<Conditions> {
        let rows = self.rows.iter();
        let conditions: BTreeMap<_, _> = rows
            .map(|row| (row.name.clone(), row.condition()))
            .collect();
        Conditions::new(conditions)
    }

    /// Which row is chosen, for whoever shows the conditions in their order.
    pub(super) fn selected(&self) -> usize {
        self.selected
    }

    /// What is granted beside the conditions.
    pub(super) fn told(&self) -> String {
        let lifetime = LIFETIMES.get(self.lifetime).map_or("", |(name, _)| name);
        let uses = self.bounds().1;
        let calls = if uses == 1 { "call" } else { "calls" };
        format!("{uses} {calls} within {lifetime}")
    }
}

impl Row {
    fn choose_next(&mut self) {
        self.choice = match self.choice {
            Choice::Same if self.beginning().is_some() => Choice::Beneath,
            Choice::Same | Choice::Beneath => Choice::Any,
            Choice::Any => Choice::Same,
        };
    }

    fn condition(&self) -> Condition {
        match (self.choice, self.beginning()) {
            (Choice::Beneath, Some(beginning)) => Condition::BeginsWith(beginning.to_owned()),
            (Choice::Same | Choice::Beneath, _) => Condition::Is(self.value.clone()),
            (Choice::Any, _) => Condition::Any,
        }
    }

    /// The text up to its last slash: what lies beside it.
    fn beginning(&self) -> Option<&str> {
        let text = self.value.as_str()?;
        let end = text.rfind('/').filter(|end| *end > 0)?;
        text.get(..=end)
    }
}
