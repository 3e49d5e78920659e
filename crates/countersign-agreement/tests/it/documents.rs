//! Parsers and encodings over generated documents.

use countersign_agreement::compare_document;
use countersign_canonical::{Number, Utf8, Value, encode, indented};
use proptest::prelude::*;

use crate::strategies::{document, float};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn documents_are_read_and_written_alike(document in document()) {
        for bytes in [encode::<Utf8>(&document), indented(&document)] {
            prop_assert_eq!(compare_document(&bytes), Ok(()));
        }
    }

    /// The digits come from different sources: the sides share no float printing.
    #[test]
    fn floats_are_written_alike(floats in proptest::collection::vec(float(), 64)) {
        let numbers = floats.into_iter().filter_map(Number::from_f64).map(Value::Number);
        let list = Value::Array(numbers.collect());
        prop_assert_eq!(compare_document(&encode::<Utf8>(&list)), Ok(()));
    }

    /// Floats as others write them, with too many digits and any exponent.
    #[test]
    fn decimal_texts_are_read_alike(text in "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?") {
        prop_assert_eq!(compare_document(text.as_bytes()), Ok(()));
    }

    #[test]
    fn almost_json_is_judged_alike(text in "[\\[\\]{}:,\" \\\\tfnu0-9eE.+\\-ad8cu\u{feff}é]{0,24}") {
        prop_assert_eq!(compare_document(text.as_bytes()), Ok(()));
    }

    #[test]
    fn spoiled_documents_are_judged_alike(
        document in document(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>(),
    ) {
        let mut bytes = encode::<Utf8>(&document);
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        prop_assert_eq!(compare_document(&bytes), Ok(()));
    }
}

#[test]
fn what_is_no_document_is_one_on_no_side() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let cases = [
        "",
        " ",
        "nul",
        "NaN",
        "Infinity",
        "-",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "1e999",
        "-1e999",
        "0x1",
        "'a'",
        "\"\n\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u+123\"",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\\u0000\"",
        "[1,]",
        "[,1]",
        "{\"a\":1,}",
        "{\"a\":1,\"a\":1}",
        "{\"a\":1,\"\\u0061\":2}",
        "{a:1}",
        "[1]1",
        "[1] []",
        "\u{feff}[]",
        "-0",
        "-0.0",
        "9223372036854775807",
        "-9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "1e22",
        "1e23",
        "\"\\ud83c\\udf75\"",
        "\"\\/\"",
        "1E5",
        "[\u{a0}1]",
        "[\u{b}1]",
    ];
    let long = format!("\"{}\"", "x".repeat(16_001));
    let just = format!("\"{}\"", "é".repeat(16_000));
    let digits = "9".repeat(4_301);
    let made = [
        nested(16),
        nested(17),
        nested(18),
        nested(127),
        nested(129),
        long,
        just,
        digits,
    ];
    for text in cases.into_iter().map(str::to_owned).chain(made) {
        assert_eq!(compare_document(text.as_bytes()), Ok(()), "{text:.60}");
    }
    for bytes in [
        &b"\xff"[..],
        b"\"\xc3\"",
        b"\"\xed\xa0\x80\"",
        b"\"\xc0\x80\"",
        b"\"\xf4\x90\x80\x80\"",
    ] {
        assert_eq!(compare_document(bytes), Ok(()), "{bytes:?}");
    }
}
