//! Every order of a small world: from its beginning on, whatever can happen next does, until no new state is left.
//!
//! Two states are the same where the ledger's rows, what is under way in each job, what the downstream did and how much may
//! happen yet are the same. A world cannot be copied, since its states are used up by their answers: it is played again from
//! the beginning to wherever the search left off.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use crate::action::{Action, Brings, Fate};
use crate::job::Next;
use crate::run::{Setting, Violation};
use crate::scene::Shelves;
use crate::tools::Wish;
use crate::world::World;

/// How long nobody does anything, in milliseconds: longer than a lease and a run together.
const PAUSE: u32 = 40_000;

/// What may happen in a small world.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The calls that are under way when it begins, each with its process.
    pub calls: Vec<(u8, Wish, Brings)>,
    /// How many rounds workers make, by process.
    pub rounds: [u8; 2],
    /// How often a process dies.
    pub crashes: u8,
    /// How often everybody pauses for longer than a lease.
    pub pauses: u8,
    /// How many decisions people make.
    pub approvals: u8,
    /// How many rulings people make.
    pub rulings: u8,
    /// What may become of what is sent.
    pub fates: Vec<Fate>,
    /// The most states that are looked at.
    pub max_states: usize,
}

/// What a search went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    /// How many different states there are.
    pub states: usize,
    /// How many ways lead from one to another.
    pub ways: usize,
    /// How many of the states are ends, at which workers were given their time.
    pub ends: usize,
    /// The most actions on the way to a state.
    pub deepest: usize,
    /// Whether there was nothing more to look at.
    pub is_complete: bool,
}

/// Looks at every state that can be reached, and holds every invariant against each.
///
/// # Errors
/// The actions to a state in which an invariant does not hold.
pub fn explore(bounds: &Bounds, setting: Setting) -> Result<Explored, (Vec<Action>, Violation)> {
    let mut search = Search {
        bounds,
        setting,
        seen: BTreeSet::new(),
        open: vec![Branch::first(bounds)],
        explored: Explored::default(),
    };
    while let Some(branch) = search.open.pop() {
        if search.seen.len() >= bounds.max_states {
            return Ok(search.explored);
        }
        search.follow(branch)?;
    }
    search.explored.is_complete = true;
    Ok(search.explored)
}

/// A way into the world, and what may happen yet beyond its end.
#[derive(Clone, Debug)]
struct Branch {
    actions: Vec<Action>,
    left: Left,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Left {
    rounds: [u8; 2],
    crashes: u8,
    pauses: u8,
    approvals: u8,
    rulings: u8,
}

impl Branch {
    fn first(bounds: &Bounds) -> Self {
        let begun = bounds
            .calls
            .iter()
            .map(|(process, wish, brings)| Action::Call {
                process: *process,
                wish: *wish,
                brings: *brings,
            });
        Self {
            actions: begun.collect(),
            left: Left {
                rounds: bounds.rounds,
                crashes: bounds.crashes,
                pauses: bounds.pauses,
                approvals: bounds.approvals,
                rulings: bounds.rulings,
            },
        }
    }
}

/// One thing that can happen next.
#[derive(Clone, Debug)]
struct Move {
    actions: Vec<Action>,
    left: Left,
}

struct Search<'b> {
    bounds: &'b Bounds,
    setting: Setting,
    seen: BTreeSet<[u8; 32]>,
    open: Vec<Branch>,
    explored: Explored,
}

impl Search<'_> {
    /// Plays a branch, and goes on along the first way that leads to something new; the others are left for later.
    fn follow(&mut self, mut branch: Branch) -> Result<(), (Vec<Action>, Violation)> {
        let shelves = Shelves::new();
        let mut world = World::new(&shelves, self.setting);
        for action in &branch.actions {
            world.happen(*action);
        }
        finish_local_steps(&mut world, &mut branch);
        loop {
            self.explored.ways += 1;
            if !self.seen.insert(digest(&world, branch.left)) {
                return Ok(());
            }
            judged(&branch, world.judge(false))?;
            self.explored.states += 1;
            self.explored.deepest = self.explored.deepest.max(branch.actions.len());
            let mut moves = self.moves(&world, branch.left);
            let Some(first) = moves.pop() else {
                self.explored.ends += 1;
                let settled = world.settle_down(0);
                return judged(&branch, settled);
            };
            for next in moves {
                let mut actions = branch.actions.clone();
                actions.extend(next.actions);
                self.open.push(Branch {
                    actions,
                    left: next.left,
                });
            }
            for action in &first.actions {
                world.happen(*action);
            }
            branch.actions.extend(first.actions);
            branch.left = first.left;
            finish_local_steps(&mut world, &mut branch);
        }
    }

    /// Everything that can happen next.
    fn moves(&self, world: &World<'_>, left: Left) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut may = |actions: Vec<Action>, left| moves.push(Move { actions, left });
        if let Some(pauses) = left.pauses.checked_sub(1) {
            let pass = Action::Pass {
                milliseconds: PAUSE,
            };
            may(vec![pass], Left { pauses, ..left });
        }
        let (waits, is_unknown) = world.open_kinds();
        if let Some(approvals) = left.approvals.checked_sub(1).filter(|_| waits) {
            let approve = Action::Approve {
                process: 0,
                operation: 0,
                approver: 0,
                seconds: 600,
            };
            may(vec![approve], Left { approvals, ..left });
        }
        if let Some(rulings) = left.rulings.checked_sub(1).filter(|_| is_unknown) {
            let rule = Action::Rule {
                process: 0,
                operation: 0,
                with_answer: true,
            };
            may(vec![rule], Left { rulings, ..left });
        }
        let nexts = world.nexts();
        for (process, rounds) in (0..).zip(left.rounds) {
            if let Some(fewer) = rounds.checked_sub(1) {
                let mut left = left;
                if let Some(rounds) = left.rounds.get_mut(usize::from(process)) {
                    *rounds = fewer;
                }
                may(vec![Action::Work { process }], left);
            }
            let is_busy = nexts.iter().any(|(of, _)| *of == usize::from(process));
            if let Some(crashes) = left.crashes.checked_sub(1).filter(|_| is_busy) {
                may(vec![Action::Crash { process }], Left { crashes, ..left });
            }
        }
        // Newest first, as actions count jobs.
        for (job, (_, next)) in (0..).zip(nexts.iter().rev()) {
            let step = Action::Step { job };
            match next {
                Next::Sends => {
                    for fate in &self.bounds.fates {
                        may(vec![Action::Line(*fate), step], left);
                    }
                }
                Next::Local | Next::Shared => may(vec![step], left),
            }
        }
        moves
    }
}

/// Takes every step that nothing else could meet.
fn finish_local_steps(world: &mut World<'_>, branch: &mut Branch) {
    while let Some(step) = world.local_step() {
        world.happen(step);
        branch.actions.push(step);
    }
}

fn judged(
    branch: &Branch,
    verdict: Result<(), (&'static str, String)>,
) -> Result<(), (Vec<Action>, Violation)> {
    verdict.map_err(|(invariant, said)| {
        let violation = Violation {
            invariant,
            said,
            after: branch.actions.len(),
        };
        (branch.actions.clone(), violation)
    })
}

/// What tells one state from another.
fn digest(world: &World<'_>, left: Left) -> [u8; 32] {
    Sha256::digest(format!("{left:?}{}", world.portrait())).into()
}
