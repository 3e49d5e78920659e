//! Runs lists of actions, finds seeds whose list fails, and looks for the shortest part of it that still does.

use std::ops::Range;

use crate::action::Action;
use crate::broken::Variant;
use crate::generate::actions;
use crate::ledger::Keeper;
use crate::scene::Shelves;
use crate::world::World;

/// The most runs that looking for a shorter list takes.
const MAX_SHRINKING: usize = 4000;

/// In which world a list runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// Which back-end keeps the ledger.
    pub keeper: Keeper,
    /// What is broken on purpose.
    pub variant: Variant,
}

/// What did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which invariant.
    pub invariant: &'static str,
    /// What was found.
    pub said: String,
    /// After how many actions; one more than there are for what was found when faults had stopped.
    pub after: usize,
}

/// A seed whose list fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The seed.
    pub seed: u64,
    /// The shortest part of its list that was found to fail.
    pub actions: Vec<Action>,
    /// What did not hold for that part.
    pub violation: Violation,
}

/// Runs a list, judges after each action, and once more when faults have stopped and workers have worked.
pub fn run(actions: &[Action], setting: Setting) -> Result<(), Violation> {
    let shelves = Shelves::new();
    let mut world = World::new(&shelves, setting);
    let violation = |after| {
        move |(invariant, said)| Violation {
            invariant,
            said,
            after,
        }
    };
    for (index, action) in actions.iter().enumerate() {
        world.happen(*action);
        world.judge(false).map_err(violation(index + 1))?;
    }
    let seed = actions.len() as u64;
    world
        .settle_down(seed)
        .map_err(violation(actions.len() + 1))
}

/// The first seed of a range whose list fails.
#[must_use]
pub fn find(seeds: Range<u64>, setting: Setting) -> Option<Finding> {
    seeds.into_iter().find_map(|seed| {
        let actions = actions(seed);
        let violation = run(&actions, setting).err()?;
        Some(shortest(seed, actions, violation, setting))
    })
}

/// Takes away whatever the failure does not need: large parts first, then single actions, until nothing more can go.
fn shortest(
    seed: u64,
    mut actions: Vec<Action>,
    mut violation: Violation,
    setting: Setting,
) -> Finding {
    actions.truncate(violation.after);
    let mut size = (actions.len() / 2).max(1);
    let mut runs = 0;
    loop {
        let mut has_shrunk = false;
        let mut start = 0;
        while start < actions.len() && runs < MAX_SHRINKING {
            let rest = actions.iter().skip(start + size);
            let part: Vec<Action> = actions.iter().take(start).chain(rest).copied().collect();
            runs += 1;
            match run(&part, setting) {
                Err(found) if found.invariant == violation.invariant => {
                    actions = part;
                    actions.truncate(found.after);
                    violation = found;
                    has_shrunk = true;
                }
                Err(_) | Ok(()) => start += size,
            }
        }
        if runs >= MAX_SHRINKING || (size == 1 && !has_shrunk) {
            return Finding {
                seed,
                actions,
                violation,
            };
        }
        size = (size / 2).max(1);
    }
}
