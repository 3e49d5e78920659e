use std::{fs::File, io::Read};

use base64::{Engine, prelude::BASE64_STANDARD};
use countersign_canonical::{
    Ascii, ErrorClass, InDomain, Limits, ParseError, Utf8, Value, digest, encode, parse,
};
use flate2::read::GzDecoder;

const VECTORS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/canonical.jsonl.gz"
);

type Answer = Result<(String, Vec<u8>), &'static str>;

#[test]
fn golden_vectors_have_their_answers_in_every_form() {
    let mut text = String::new();
    GzDecoder::new(File::open(VECTORS).expect("the vectors are committed"))
        .read_to_string(&mut text)
        .expect("the vectors are compressed text");
    let mut checked = 0;
    for line in text.lines() {
        let vector: serde_json::Value = serde_json::from_str(line).expect("a vector is JSON");
        let input = bytes(&vector["input_b64"]);
        let parsed = parse(&input, &Limits::tool_result());
        for (form, answer) in [
            ("strict", strict(&parsed)),
            (
                "ascii",
                open(&parsed, |value| {
                    (digest::<Ascii>(value).to_string(), encode::<Ascii>(value))
                }),
            ),
            (
                "utf8",
                open(&parsed, |value| {
                    (digest::<Utf8>(value).to_string(), encode::<Utf8>(value))
                }),
            ),
        ] {
            assert_answer(&vector, form, answer);
        }
        checked += 1;
    }
    assert_eq!(checked, 2_400);
}

fn strict(parsed: &Result<Value, ParseError>) -> Answer {
    let value = parsed.as_ref().map_err(class)?;
    let value = InDomain::check(value).map_err(|_| "domain")?;
    Ok((value.digest().to_string(), value.encode()))
}

fn open(
    parsed: &Result<Value, ParseError>,
    answer: impl FnOnce(&Value) -> (String, Vec<u8>),
) -> Answer {
    parsed.as_ref().map(answer).map_err(class)
}

fn class(error: &ParseError) -> &'static str {
    match error.class() {
        ErrorClass::Parse => "parse",
        ErrorClass::Depth => "depth",
        ErrorClass::Domain => "domain",
        ErrorClass::Limit => "limit",
    }
}

fn assert_answer(vector: &serde_json::Value, form: &str, answer: Answer) {
    let expected = &vector[form];
    let id = &vector["id"];
    match answer {
        Err(class) => assert_eq!(expected["error"], class, "{form} of {id}"),
        Ok((sha256, encoding)) => {
            assert_eq!(expected["sha256"], sha256, "digest of {form} of {id}");
            assert_eq!(
                expected["bytes"],
                encoding.len(),
                "length of {form} of {id}"
            );
            if expected.get("canonical_b64").is_some() {
                assert_eq!(
                    bytes(&expected["canonical_b64"]),
                    encoding,
                    "{form} of {id}"
                );
            }
        }
    }
}

fn bytes(base64: &serde_json::Value) -> Vec<u8> {
    let text = base64.as_str().expect("base64 is text");
    BASE64_STANDARD.decode(text).expect("base64 is well-formed")
}
