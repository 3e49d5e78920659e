use crate::{
    Digest, DomainError, Encoder, InDomain, Number, NumberKind, Object, OpenForm, ToolResult,
    Value,
    float::write_float,
    form::sealed::Rules,
    sink::{DigestSink, LengthSink, Sink},
    text::write_text,
};

/// Encodes a value in a form that every value has.
pub fn encode<F: OpenForm>(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_into::<F>(value, &mut bytes);
    bytes
}

/// Encodes a value behind what a buffer already holds.
pub fn encode_into<F: OpenForm>(value: &Value, bytes: &mut Vec<u8>) {
    write_value::<F, _>(value, bytes);
}

/// Hashes a value's encoding, which is never held as a whole.
pub fn digest<F: OpenForm>(value: &Value) -> Digest<F> {
    let mut hasher = DigestSink::new();
    write_value::<F, _>(value, &mut hasher);
    Digest::new(hasher.finish())
}

/// Hashes what `write` gives to the encoder: one value.
pub fn digest_with<F: OpenForm>(write: impl FnOnce(&mut Encoder<'_, F, DigestSink>)) -> Digest<F> {
    let mut hasher = DigestSink::new();
    write(&mut Encoder::new(&mut hasher));
    Digest::new(hasher.finish())
}

/// Hashes what `write` gives to the encoder: one value in the Tool Result v2 domain.
///
/// # Errors
///
/// Says what is outside the domain first, with paths relative to the value that was given.
pub fn digest_tool_result_with(
    write: impl FnOnce(&mut Encoder<'_, ToolResult, DigestSink>),
) -> Result<Digest<ToolResult>, DomainError> {
    let mut hasher = DigestSink::new();
    let mut encoder = Encoder::new(&mut hasher);
    write(&mut encoder);
    encoder.into_result()?;
    Ok(Digest::new(hasher.finish()))
}

/// Encodes what `write` gives to the encoder: one value in the Tool Result v2 domain.
///
/// # Errors
///
/// As [`digest_tool_result_with`].
pub fn encode_tool_result_with(
    write: impl FnOnce(&mut Encoder<'_, ToolResult, Vec<u8>>),
) -> Result<Vec<u8>, DomainError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes);
    write(&mut encoder);
    encoder.into_result()?;
    Ok(bytes)
}

impl InDomain<'_> {
    /// The length of the value's encoding, in bytes.
    pub fn encoded_len(&self) -> usize {
        let mut length = LengthSink::default();
        write_value::<ToolResult, _>(self.value(), &mut length);
        length.bytes()
    }

    /// Encodes the value in the Tool Result v2 form.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_value::<ToolResult, _>(self.value(), &mut bytes);
        bytes
    }

    /// Encodes the value in the Tool Result v2 form, and hashes what it wrote.
    pub fn encode_with_digest(&self) -> (Vec<u8>, Digest<ToolResult>) {
        let bytes = self.encode();
        let mut hasher = DigestSink::new();
        hasher.write(&bytes);
        (bytes, Digest::new(hasher.finish()))
    }

    /// Hashes the value's encoding in the Tool Result v2 form.
    pub fn digest(&self) -> Digest<ToolResult> {
        let mut hasher = DigestSink::new();
        write_value::<ToolResult, _>(self.value(), &mut hasher);
        Digest::new(hasher.finish())
    }
}

pub(crate) fn write_value<F: Rules, S: Sink>(value: &Value, sink: &mut S) {
    match value {
        Value::Null => sink.write(b"null"),
        Value::Bool(true) => sink.write(b"true"),
        Value::Bool(false) => sink.write(b"false"),
        Value::Number(number) => write_number(number, sink),
        Value::String(text) => write_text::<F, _>(text, sink),
        Value::Array(items) => write_array::<F, _>(items, sink),
        Value::Object(object) => write_object::<F, _>(object, sink),
    }
}

fn write_array<F: Rules, S: Sink>(items: &[Value], sink: &mut S) {
    sink.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            sink.push(b',');
        }
        write_value::<F, _>(item, sink);
    }
    sink.push(b']');
}

fn write_object<F: Rules, S: Sink>(object: &Object, sink: &mut S) {
    sink.push(b'{');
    for (index, (key, value)) in object.iter().enumerate() {
        if index > 0 {
            sink.push(b',');
        }
        write_text::<F, _>(key, sink);
        sink.push(b':');
        write_value::<F, _>(value, sink);
    }
    sink.push(b'}');
}

pub(crate) fn write_number<S: Sink>(number: &Number, sink: &mut S) {
    match number.kind() {
        NumberKind::Integer(value) => write_integer(value, sink),
        NumberKind::BigInteger(text) => sink.write(text.as_bytes()),
        NumberKind::Float(value) => write_float(value, sink),
    }
}

#[inline]
pub(crate) fn write_integer<S: Sink>(value: i64, sink: &mut S) {
    sink.write(itoa::Buffer::new().format(value).as_bytes());
}
