//! Every state that two callers and two workers can reach, with a crash at any step.

use countersign_testkit::{
    Bounds, Brings, Fate, Keeper, Listed, Setting, Tool, Variant, Wish, explore,
};

const SIGNED: Brings = Brings::Signed {
    approver: 0,
    seconds: 600,
};

fn wish(tool: Tool, id: u8) -> Wish {
    Wish {
        subject: 0,
        tool,
        order: 0,
        key: None,
        id,
    }
}

/// The most states of one small world.
const MAX_STATES: usize = 60_000;

fn explored(name: &str, bounds: &Bounds) {
    let setting = Setting {
        keeper: Keeper::Memory,
        variant: Variant::Sound,
    };
    match explore(bounds, setting) {
        Ok(explored) => {
            println!("{name}: {explored:?}");
            assert!(explored.is_complete, "{name} has more states");
        }
        Err((actions, violation)) => panic!("{violation:?}\n{}", Listed(&actions)),
    }
}

#[test]
fn two_callers_race_for_one_payment() {
    let bounds = Bounds {
        calls: vec![
            (0, wish(Tool::Payment, 0), SIGNED),
            (1, wish(Tool::Payment, 1), SIGNED),
        ],
        crashes: 1,
        fates: vec![Fate::Acts, Fate::ActsUnheard],
        ..nothing()
    };
    explored("race", &bounds);
}

#[test]
fn two_workers_and_a_caller_perform_what_was_approved() {
    let bounds = Bounds {
        calls: vec![(0, wish(Tool::Payment, 0), Brings::Nothing)],
        rounds: [1, 1],
        crashes: 1,
        approvals: 1,
        fates: vec![Fate::Acts, Fate::GetsLost],
        ..nothing()
    };
    explored("approved", &bounds);
}

#[test]
fn two_workers_send_a_letter_again() {
    let bounds = Bounds {
        calls: vec![(0, wish(Tool::Letter, 0), SIGNED)],
        rounds: [1, 1],
        crashes: 1,
        pauses: 1,
        fates: vec![Fate::ActsUnheard, Fate::GetsLost],
        ..nothing()
    };
    explored("again", &bounds);
}

#[test]
fn a_person_rules_while_a_holder_sleeps() {
    explored("ruled", &ruled());
}

/// The same states without a fence: the search finds what is wrong with them.
#[test]
fn a_missing_fence_is_found() {
    let setting = Setting {
        keeper: Keeper::Memory,
        variant: Variant::NoFence,
    };
    let (actions, violation) = explore(&ruled(), setting).expect_err("there is no fence");
    println!("{violation:?}\n{}", Listed(&actions));
}

fn ruled() -> Bounds {
    Bounds {
        calls: vec![
            (0, wish(Tool::Payment, 0), SIGNED),
            (1, wish(Tool::Payment, 1), SIGNED),
        ],
        rounds: [0, 1],
        pauses: 1,
        rulings: 1,
        fates: vec![Fate::Acts],
        ..nothing()
    }
}

#[test]
fn two_callers_and_two_workers() {
    let bounds = Bounds {
        calls: vec![
            (0, wish(Tool::Payment, 0), SIGNED),
            (1, wish(Tool::Payment, 1), SIGNED),
        ],
        rounds: [1, 1],
        crashes: 1,
        fates: vec![Fate::Acts],
        ..nothing()
    };
    explored("all", &bounds);
}

fn nothing() -> Bounds {
    Bounds {
        calls: Vec::new(),
        rounds: [0, 0],
        crashes: 0,
        pauses: 0,
        approvals: 0,
        rulings: 0,
        fates: Vec::new(),
        max_states: MAX_STATES,
    }
}
