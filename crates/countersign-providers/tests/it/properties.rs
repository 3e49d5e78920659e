//! What holds for every input, whatever it is.

use std::collections::HashSet;

use countersign_providers::{Family, read, read_as};
use proptest::prelude::*;

use crate::sample;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_bytes_make_the_readers_panic(raw in proptest::collection::vec(any::<u8>(), 0..512)) {
        let _ = read(&raw);
        for family in Family::ALL {
            let _ = read_as(family, &raw);
        }
    }

    /// Samples with one byte changed, cut or doubled: most are refused, and none is read into a turn without sense.
    #[test]
    fn damaged_samples_are_refused_or_read_consistently(
        (sample, at, kind, byte) in (0..sample::all().len(), any::<prop::sample::Index>(), 0..3, any::<u8>())
    ) {
        let (name, family, mut raw) = sample::all()[sample].clone();
        let at = at.index(raw.len());
        match kind {
            0 => raw[at] = byte,
            1 => raw.truncate(at),
            _ => raw.insert(at, byte),
        }
        if let Ok(turn) = read_as(family, &raw) {
            let ids: HashSet<_> = turn.proposals().iter().map(|proposal| proposal.call_id().clone()).collect();
            prop_assert_eq!(ids.len(), turn.proposals().len(), "{}", name);
        }
    }

    /// Calls with given, missing, repeated and local-looking ids: as many proposals, in order, all told apart.
    #[test]
    fn every_call_gets_its_own_id_in_order(
        given in proptest::collection::vec(proptest::option::of(0..6_u8), 0..24)
    ) {
        let parts: Vec<String> = given
            .iter()
            .enumerate()
            .map(|(index, id)| {
                let id = id.map_or_else(String::new, |id| format!(r#""id":"call-{id}","#));
                format!(r#"{{"functionCall":{{{id}"name":"tool-{index}","args":{{}}}}}}"#)
            })
            .collect();
        let raw = format!(
            r#"{{"candidates":[{{"content":{{"parts":[{}]}},"finishReason":"STOP"}}]}}"#,
            parts.join(",")
        );
        let turn = read(raw.as_bytes()).unwrap();
        prop_assert_eq!(turn.proposals().len(), given.len());
        let mut ids = HashSet::new();
        for (index, (proposal, id)) in turn.proposals().iter().zip(&given).enumerate() {
            let name = format!("tool-{index}");
            prop_assert_eq!(proposal.given_name(), Some(name.as_str()));
            prop_assert!(ids.insert(proposal.call_id().clone()));
            let repeated = id.is_some() && given.iter().filter(|other| *other == id).count() > 1;
            prop_assert_eq!(proposal.refusal().is_some(), repeated);
        }
    }
}
