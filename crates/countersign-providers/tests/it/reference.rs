//! Payloads against those of the protocol's reference program, byte for byte.

use std::{fs::File, io::Read as _, path::PathBuf};

use countersign_canonical::{Limits, Utf8, Value, encode, parse};
use countersign_contract::{Call, Principal, verify};
use countersign_providers::{Family, payload};
use flate2::read::GzDecoder;

use crate::tools::contract;

#[test]
fn payloads_equal_the_references() {
    let mut count = 0;
    for line in vectors().lines() {
        let vector = parse(line.as_bytes(), &Limits::passthrough()).unwrap();
        let member = |name| vector.get(name).unwrap();
        let principal = Principal::from_value(member("principal")).unwrap();
        let call = Call::from_value(member("call")).unwrap();
        let contract = contract(call.name.as_str());
        let package = verify(&principal, &call, contract.as_ref(), member("package")).unwrap();
        let family = Family::ALL
            .into_iter()
            .find(|family| family.profile() == call.profile)
            .unwrap();
        let rendered = payload(family, &package).unwrap();
        assert_eq!(bytes(&rendered), bytes(member("payload")), "{line}");
        count += 1;
    }
    assert_eq!(count, 549);
}

fn bytes(value: &Value) -> String {
    String::from_utf8(encode::<Utf8>(value)).unwrap()
}

fn vectors() -> String {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/provider-payloads.jsonl.gz");
    let mut text = String::new();
    GzDecoder::new(File::open(path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    text
}
