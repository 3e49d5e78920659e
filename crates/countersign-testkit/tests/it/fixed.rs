//! Lists that failed once, and must not fail again.

use countersign_testkit::{Action, Brings, Fate, Keeper, Setting, Tool, Variant, Wish, run};

const PAYMENT: Wish = Wish {
    subject: 0,
    tool: Tool::Payment,
    order: 0,
    key: Some(0),
    id: 0,
};

fn holds(actions: &[Action]) {
    for keeper in [Keeper::Memory, Keeper::Sqlite] {
        let setting = Setting {
            keeper,
            variant: Variant::Sound,
        };
        assert_eq!(run(actions, setting), Ok(()), "{keeper:?}");
    }
}

/// It may come back while its job is under way: the contract that it was checked under is the one at its beginning.
#[test]
fn a_contract_that_changes_under_a_call() {
    use countersign_testkit::Part;
    holds(&[
        Action::Call {
            process: 0,
            wish: PAYMENT,
            brings: Brings::Signed {
                approver: 0,
                seconds: 600,
            },
        },
        Action::Step { job: 0 },
        Action::Revise {
            tool: Tool::Payment,
            part: Part::Effect,
        },
    ]);
}

/// A person says that nothing happened; the same key is used again; then whoever held it first wakes up.
#[test]
fn a_holder_that_wakes_when_the_key_is_used_again() {
    let signed = Action::Call {
        process: 2,
        wish: PAYMENT,
        brings: Brings::Signed {
            approver: 0,
            seconds: 600,
        },
    };
    let mut actions = vec![signed];
    actions.extend([Action::Step { job: 0 }; 9]);
    actions.extend([
        Action::Pass {
            milliseconds: 31_000,
        },
        Action::Work { process: 1 },
        Action::Finish { job: 0 },
        Action::Rule {
            process: 0,
            operation: 0,
            with_answer: true,
        },
        Action::Line(Fate::ActsUnheard),
        signed,
    ]);
    actions.extend([Action::Step { job: 0 }; 10]);
    actions.extend([Action::Step { job: 1 }; 3]);
    holds(&actions);
}
