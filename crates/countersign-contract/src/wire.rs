//! Encodings whose content was checked when its types were made.

use countersign_canonical::{
    Digest, DigestSink, DomainError, Encoder, Limits, ToolResult, Value, digest_tool_result_with,
    encode_tool_result_with, parse,
};

/// Digests an object of bounded identifiers, checked arguments and checked answers.
pub(crate) fn digest_of(
    write: impl FnOnce(&mut Encoder<'_, ToolResult, DigestSink>),
) -> Digest<ToolResult> {
    proven(digest_tool_result_with(write))
}

/// Encodes such an object.
pub(crate) fn bytes_of(write: impl FnOnce(&mut Encoder<'_, ToolResult, Vec<u8>>)) -> Vec<u8> {
    proven(encode_tool_result_with(write))
}

/// Such an object as a value, read back from its encoding, so that each shape is described once.
pub(crate) fn value_of(write: impl FnOnce(&mut Encoder<'_, ToolResult, Vec<u8>>)) -> Value {
    // The domain has bounded everything already.
    const LIMITS: Limits = Limits {
        bytes: usize::MAX,
        nodes: usize::MAX,
        ..Limits::tool_result()
    };
    proven(parse(&bytes_of(write), &LIMITS))
}

#[expect(
    clippy::expect_used,
    reason = "identifiers are bounded, arguments and answers were checked at the depth at which they stand: what holds them is in the domain"
)]
fn proven<T, E: std::fmt::Debug + ProofFailure>(result: Result<T, E>) -> T {
    result.expect("checked content is in the digest domain")
}

/// The errors that checked content rules out.
trait ProofFailure {}

impl ProofFailure for DomainError {}
impl ProofFailure for countersign_canonical::ParseError {}
