//! Whatever the bytes are, a fixture is read or refused, and runs or is refused.

use countersign_scenario::{Fixture, builtin, run};
use proptest::prelude::*;

use crate::sample::fixture;

fn survives(bytes: &[u8]) {
    if let Ok(fixture) = Fixture::read(bytes)
        && let Ok(run) = run(&fixture)
    {
        for step in run.cases.iter().flat_map(|case| &case.steps) {
            assert!(
                step.validation_errors.is_empty(),
                "{:?}",
                step.validation_errors
            );
            assert!(step.payload.is_some());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        survives(&bytes);
    }

    #[test]
    fn no_edit_of_a_fixture_panics(
        at in any::<prop::sample::Index>(),
        length in 0_usize..12,
        from in any::<prop::sample::Index>(),
        is_small in any::<bool>(),
    ) {
        let small = fixture().to_string().into_bytes();
        let mut bytes = if is_small { small } else { builtin().to_vec() };
        let at = at.index(bytes.len());
        let end = (at + length).min(bytes.len());
        let from = from.index(bytes.len() - (end - at) + 1);
        let piece = bytes[from..from + (end - at)].to_vec();
        bytes.splice(at..end, piece);
        survives(&bytes);
    }

    #[test]
    fn no_other_number_panics(now in any::<i64>(), count in any::<i64>()) {
        let mut fixture = fixture();
        fixture["cases"][0]["steps"][0]["now"] = now.into();
        fixture["cases"][0]["steps"][1]["expected"]["side_effect_count"] = count.into();
        survives(fixture.to_string().as_bytes());
    }
}
