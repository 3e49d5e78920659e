//! Bytes to scenario fixtures, and through the pipeline.
#![no_main]

use countersign_scenario::{Fixture, MAX_FIXTURE_BYTES, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok(fixture) = Fixture::read(input) else {
        return;
    };
    assert!(input.len() <= MAX_FIXTURE_BYTES);
    assert!(!fixture.cases.is_empty());
    let Ok(run) = run(&fixture) else { return };
    assert_eq!(run.cases.len(), fixture.cases.len());
    for (done, case) in run.cases.iter().zip(&fixture.cases) {
        assert_eq!(done.steps.len(), case.steps.len());
        let mut effects = 0;
        for step in &done.steps {
            assert!(
                step.validation_errors.is_empty(),
                "{:?}",
                step.validation_errors
            );
            assert!(step.payload.is_some(), "a package has no payload");
            assert!(step.side_effect_count >= effects, "an effect was undone");
            effects = step.side_effect_count;
        }
    }
});
