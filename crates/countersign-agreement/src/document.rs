//! The two strict parsers and the two pairs of encodings over the same bytes.

use countersign_canonical::{Ascii, Limits, NumberKind, Utf8, Value, encode, parse};
use countersign_endpoint as endpoint;

/// Bounds that no document of the endpoint's reaches.
const LIMITS: Limits = Limits {
    bytes: endpoint::STORED_REQUEST_MAX_BYTES,
    ..Limits::passthrough()
};

/// Reads and writes a document on both sides; says how they differ, if they do.
///
/// What one reads the other must read, but for the endpoint's limits on any
/// document; what both read they must write alike, in both encodings, and read
/// back as the same.
pub fn compare_document(input: &[u8]) -> Result<(), String> {
    let host = parse(input, &LIMITS);
    let endpoint = endpoint::parse_respelled(input);
    match (host, endpoint) {
        (Err(_), Err(_)) => Ok(()),
        (Err(error), Ok(_)) => Err(format!(
            "the endpoint reads it and the host does not: {error}"
        )),
        (Ok(value), Err(_)) if beyond_endpoint(&value, input.len()) => Ok(()),
        (Ok(_), Err(error)) => Err(format!(
            "the host reads it and the endpoint does not: {error}"
        )),
        (Ok(value), Ok(_)) if beyond_endpoint(&value, input.len()) => {
            Err("the endpoint reads what is beyond its limits".to_owned())
        }
        (Ok(host), Ok(endpoint)) => compare_encodings(&host, &endpoint),
    }
}

fn compare_encodings(host: &Value, endpoint: &endpoint::Value) -> Result<(), String> {
    let ascii = encode::<Ascii>(host);
    let of_endpoint = endpoint::canonical_json_ascii(endpoint);
    if ascii != of_endpoint.as_bytes() {
        return Err(differ("ASCII", &ascii, of_endpoint.as_bytes()));
    }
    let utf8 = encode::<Utf8>(host);
    let of_endpoint = endpoint::canonical_json_utf8(endpoint);
    if utf8 != of_endpoint.as_bytes() {
        return Err(differ("UTF-8", &utf8, of_endpoint.as_bytes()));
    }
    // The canonical bytes of one side are the same document on the other.
    for bytes in [ascii, utf8] {
        if bytes.len() > endpoint::STORED_REQUEST_MAX_BYTES {
            continue;
        }
        if parse(&bytes, &LIMITS).as_ref() != Ok(host) {
            return Err("the host does not read back what both wrote".to_owned());
        }
        if endpoint::parse_respelled(&bytes).as_ref() != Ok(endpoint) {
            return Err("the endpoint does not read back what both wrote".to_owned());
        }
    }
    Ok(())
}

fn differ(encoding: &str, host: &[u8], endpoint: &[u8]) -> String {
    format!(
        "the {encoding} encodings differ: the host writes {}, the endpoint {}",
        host.escape_ascii(),
        endpoint.escape_ascii()
    )
}

/// Tells whether a document breaks one of the endpoint's limits on any document.
pub fn beyond_endpoint(value: &Value, bytes: usize) -> bool {
    let mut nodes = 0;
    bytes > endpoint::STORED_REQUEST_MAX_BYTES
        || has_too_large(value, 0, &mut nodes)
        || nodes > endpoint::NODES_MAX
}

fn has_too_large(value: &Value, depth: usize, nodes: &mut usize) -> bool {
    *nodes += 1;
    if depth > endpoint::DEPTH_MAX {
        return true;
    }
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(number) => match number.kind() {
            NumberKind::Integer(integer) => integer < -endpoint::INTEGER_MAX,
            NumberKind::BigInteger(_) => true,
            NumberKind::Float(_) => false,
        },
        Value::String(text) => is_text_too_large(text),
        Value::Array(items) => items
            .iter()
            .any(|item| has_too_large(item, depth + 1, nodes)),
        Value::Object(members) => members.iter().any(|(name, member)| {
            *nodes += 1;
            is_text_too_large(name) || has_too_large(member, depth + 1, nodes)
        }),
    }
}

fn is_text_too_large(text: &str) -> bool {
    text.contains('\0') || text.chars().count() > endpoint::TEXT_MAX_CHARS
}
