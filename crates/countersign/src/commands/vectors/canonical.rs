//! What each canonical form says to arbitrary bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use countersign_canonical::{
    Ascii, Digest, ErrorClass, Form, InDomain, Object, Utf8, Value, digest, encode, parse,
};

use super::{bytes_member, unbounded};

/// Longer encodings are compared by digest only.
const MAX_SHOWN_BYTES: usize = 2_000;

pub(super) fn answer(vector: &Object) -> anyhow::Result<Object> {
    let input = bytes_member(vector, "input_b64")?;
    let [strict, ascii, utf8] = match parse(&input, &unbounded()) {
        Err(error) => {
            let class = error_of(error.class());
            [class.clone(), class.clone(), class]
        }
        Ok(value) => [
            match InDomain::check(&value) {
                Ok(checked) => encoded(&checked.encode(), &checked.digest()),
                Err(_) => error_of(ErrorClass::Domain),
            },
            encoded(&encode::<Ascii>(&value), &digest::<Ascii>(&value)),
            encoded(&encode::<Utf8>(&value), &digest::<Utf8>(&value)),
        ],
    };
    Ok(Object::from([
        ("strict", strict),
        ("ascii", ascii),
        ("utf8", utf8),
    ]))
}

fn encoded<F: Form>(bytes: &[u8], digest: &Digest<F>) -> Value {
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let mut answer = Object::from([
        ("sha256", digest.to_hex().as_str().into()),
        ("bytes", Value::Number(length.into())),
    ]);
    if bytes.len() <= MAX_SHOWN_BYTES {
        answer.insert("canonical_b64".to_owned(), BASE64.encode(bytes).into());
    }
    answer.into()
}

fn error_of(class: ErrorClass) -> Value {
    let class = match class {
        ErrorClass::Parse | ErrorClass::Limit => "parse",
        ErrorClass::Depth => "depth",
        ErrorClass::Domain => "domain",
    };
    Value::from([("error", class.into())])
}
