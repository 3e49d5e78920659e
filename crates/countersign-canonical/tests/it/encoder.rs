use countersign_canonical::{
    Ascii, Digest, DomainErrorKind, Encoder, Form, InDomain, Limits, MalformedDigest, Sink,
    ToolResult, Utf8, Value, digest, digest_tool_result_with, digest_with, parse,
};

const SHAPE: &str = r#"{"a":[],"b":[null,true,-7,"é\u007f",{}],"c":{"x":1.5,"y":null},"d":"end"}"#;

fn read(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::passthrough()).expect("the document is strict JSON")
}

fn write_shape<F: Form, S: Sink>(encoder: &mut Encoder<'_, F, S>) {
    encoder.begin_object();
    encoder.key("a").begin_array().end_array();
    encoder.key("b").begin_array();
    encoder.null().bool(true).integer(-7).string("é\u{7f}");
    encoder.begin_object().end_object().end_array();
    encoder.key("c").value(&read(r#"{"x":1.5,"y":null}"#));
    encoder.key("d").optional_string(Some("end"));
    encoder.end_object();
}

#[test]
fn a_streamed_shape_has_the_digest_of_its_value() {
    let value = read(SHAPE);
    assert_eq!(digest_with::<Utf8>(write_shape), digest::<Utf8>(&value));
    assert_eq!(digest_with::<Ascii>(write_shape), digest::<Ascii>(&value));
    let checked = InDomain::check(&value).expect("the value is in the domain");
    assert_eq!(digest_tool_result_with(write_shape), Ok(checked.digest()));
}

#[test]
fn digests_do_not_depend_on_where_buffers_end() {
    use sha2::{Digest as _, Sha256};
    for length in (4_060..4_120).chain(8_170..8_200) {
        let value = Value::Array(vec![
            "a".repeat(length).into(),
            "\n".repeat(length).into(),
            "é".repeat(length).into(),
            Value::Bool(false),
        ]);
        let whole: [u8; 32] = Sha256::digest(countersign_canonical::encode::<Ascii>(&value)).into();
        assert_eq!(digest::<Ascii>(&value).as_bytes(), &whole);
        let whole: [u8; 32] = Sha256::digest(countersign_canonical::encode::<Utf8>(&value)).into();
        assert_eq!(digest::<Utf8>(&value).as_bytes(), &whole);
    }
}

#[test]
fn the_tool_result_encoder_notes_what_is_outside_the_domain() {
    type Write = fn(&mut Encoder<'_, ToolResult, countersign_canonical::DigestSink>);
    let cases: [(Write, DomainErrorKind); 5] = [
        (
            |encoder| _ = encoder.integer(1 << 53),
            DomainErrorKind::UnsafeInteger,
        ),
        (
            |encoder| _ = encoder.string(&"x".repeat(65_537)),
            DomainErrorKind::StringTooLong,
        ),
        (
            |encoder| {
                let key = "x".repeat(65_537);
                encoder.begin_object().key(&key).null().end_object();
            },
            DomainErrorKind::StringTooLong,
        ),
        (
            |encoder| _ = encoder.begin_array().value(&nested(32)).end_array(),
            DomainErrorKind::TooDeep,
        ),
        (
            |encoder| {
                let value = nested(32);
                let checked = InDomain::check(&value).expect("in the domain by itself");
                encoder.begin_array().checked(&checked).end_array();
            },
            DomainErrorKind::TooDeep,
        ),
    ];
    for (write, kind) in cases {
        let error = digest_tool_result_with(write).expect_err("outside the domain");
        assert_eq!(error.kind(), kind);
    }
}

fn nested(depth: usize) -> Value {
    read(&format!("{}0{}", "[".repeat(depth), "]".repeat(depth)))
}

#[test]
fn digests_are_read_as_they_are_written() {
    let written = digest::<Utf8>(&Value::Null).to_string();
    assert_eq!(
        written,
        "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"
    );
    assert_eq!(
        Digest::<Utf8>::parse_hex(&written),
        Ok(digest(&Value::Null))
    );
    for malformed in [
        String::new(),
        "0".repeat(63),
        format!("{written}0"),
        written.to_uppercase(),
        format!("{}g", "0".repeat(63)),
        format!("{}é", "0".repeat(62)),
    ] {
        assert_eq!(
            Digest::<Utf8>::parse_hex(&malformed),
            Err(MalformedDigest),
            "{malformed}"
        );
    }
}
