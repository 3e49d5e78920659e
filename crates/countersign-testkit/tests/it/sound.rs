//! The production code, in many worlds.

use countersign_testkit::{Keeper, Listed, Setting, Variant, find};

/// How many worlds a test run goes through. `cargo xtask simulate` goes through more.
const SEEDS: u64 = 3000;

#[test]
fn no_seed_finds_anything() {
    let setting = Setting {
        keeper: Keeper::Memory,
        variant: Variant::Sound,
    };
    if let Some(found) = find(0..SEEDS, setting) {
        panic!(
            "seed {}: {}: {} after {}\n{}",
            found.seed,
            found.violation.invariant,
            found.violation.said,
            found.violation.after,
            Listed(&found.actions)
        );
    }
}
