//! The production code, in many worlds.

use countersign_testkit::{Keeper, Listed, Setting, Variant, find};

/// How many worlds a test run goes through. `cargo xtask simulate` goes through more.
const SEEDS: u64 = 3000;
/// How many of them over SQLite, which waits for a disk.
const SQLITE_SEEDS: u64 = 40;

#[test]
fn no_seed_finds_anything() {
    goes_through(SEEDS, Keeper::Memory);
}

#[test]
fn no_seed_finds_anything_over_sqlite() {
    goes_through(SQLITE_SEEDS, Keeper::Sqlite);
}

fn goes_through(seeds: u64, keeper: Keeper) {
    let setting = Setting {
        keeper,
        variant: Variant::Sound,
    };
    if let Some(found) = find(0..seeds, setting) {
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
