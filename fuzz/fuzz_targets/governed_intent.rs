//! Bytes to the host's governed documents: intents, envelopes, catalogs, requests, gates, results.
#![no_main]

use std::sync::LazyLock;

use countersign_canonical::{Object, Utf8, Value, encode};
use countersign_governed::{
    Catalog, Envelope, Epoch, ExecutionRequest, Intent, ShapeRegistry, check_gate_document,
    check_result_document, read_document,
};
use libfuzzer_sys::fuzz_target;

/// A call that is valid but for what the input puts into it.
static CONTEXT: LazyLock<Object> = LazyLock::new(|| {
    let fields = countersign_governed::contract::CONTEXT_FIELDS;
    fields
        .map(|field| (field.to_owned(), Value::from("x")))
        .into_iter()
        .collect()
});

fuzz_target!(|input: &[u8]| {
    let catalog = Catalog::colony();
    if let Ok(own) = Catalog::parse(input) {
        for tool in own.tools() {
            let _ = tool.schema();
        }
    }
    if let Ok(intent) = Intent::parse(catalog, input) {
        assert_round_trip(catalog, &intent);
    }
    if let Ok(envelope) = Envelope::parse(catalog, input) {
        assert_round_trip(catalog, envelope.intent());
    }
    if let Ok(request) = ExecutionRequest::check(catalog, None, input) {
        let again = ExecutionRequest::check(catalog, None, &request.body());
        assert_eq!(again.as_ref(), Ok(&request));
    }
    let Ok(document) = read_document(input) else {
        return;
    };
    let now = Epoch::from_seconds(1_784_000_000.0);
    let _ = check_gate_document(catalog, &ShapeRegistry::default(), &document, now);
    let _ = check_result_document(&document, now);
    // As arguments of each tool, and as its context.
    for tool in catalog.tools() {
        let name = tool.name().as_str();
        if let Ok(intent) = Intent::build(catalog, name, &document, &Value::Object(CONTEXT.clone()))
        {
            assert!(
                intent.display().summary.is_ascii(),
                "a display shows foreign text unescaped"
            );
            assert_round_trip(catalog, &intent);
        }
        if let Ok(intent) = Intent::build(catalog, name, &Value::Object(Object::new()), &document) {
            assert_round_trip(catalog, &intent);
        }
    }
});

fn assert_round_trip(catalog: &Catalog, intent: &Intent) {
    let bytes = encode::<Utf8>(&intent.to_value());
    assert_eq!(Intent::parse(catalog, &bytes).as_ref(), Ok(intent));
    let envelope = Envelope::build(intent.clone());
    let bytes = encode::<Utf8>(envelope.value());
    assert_eq!(Envelope::parse(catalog, &bytes), Ok(envelope));
}
