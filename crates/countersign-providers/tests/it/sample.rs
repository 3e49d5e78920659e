//! Sample responses, and turns in a form that people read.

use std::{fmt::Write as _, fs, path::PathBuf, sync::OnceLock};

use countersign_canonical::{Utf8, encode};
use countersign_providers::{Family, Proposal, Turn};

/// The raw bytes of every sample, with the family its file name tells.
pub(crate) fn all() -> &'static [(String, Family, Vec<u8>)] {
    static SAMPLES: OnceLock<Vec<(String, Family, Vec<u8>)>> = OnceLock::new();
    SAMPLES.get_or_init(load)
}

fn load() -> Vec<(String, Family, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/responses");
    let mut samples: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let family = Family::ALL
                .into_iter()
                .find(|family| name.starts_with(family.name()))
                .unwrap_or_else(|| panic!("{name} names no family"));
            (name, family, fs::read(path).unwrap())
        })
        .collect();
    samples.sort();
    samples
}

/// The raw bytes of one sample.
pub(crate) fn raw(name: &str) -> &'static [u8] {
    let (_, _, raw) = all()
        .iter()
        .find(|(sample, ..)| sample == name)
        .unwrap_or_else(|| panic!("no sample {name}"));
    raw
}

/// What was read, one line for each call and each skipped item.
pub(crate) fn describe(turn: &Turn) -> String {
    let mut text = String::new();
    let origin = if turn.has_given_response_id() {
        "given"
    } else {
        "host-made"
    };
    writeln!(text, "{}: {:?}", turn.family(), turn.ending()).unwrap();
    writeln!(text, "response {} ({origin})", turn.response_id()).unwrap();
    for proposal in turn.proposals() {
        let id = proposal.call_id();
        let name = proposal.given_name().unwrap_or("(no name)");
        match proposal {
            Proposal::Proposed(call) => {
                let arguments = String::from_utf8(encode::<Utf8>(call.arguments())).unwrap();
                writeln!(text, "proposed {id}: {name} {arguments}").unwrap();
            }
            Proposal::Refused(call) => {
                writeln!(text, "refused  {id}: {name} {}", call.reason().code()).unwrap();
            }
        }
    }
    for skipped in turn.skipped() {
        writeln!(text, "skipped  {}: {:?}", skipped.kind(), skipped.duty()).unwrap();
    }
    text
}
