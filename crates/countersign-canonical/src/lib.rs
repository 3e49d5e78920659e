//! Strict JSON with limits, the canonical encodings, and their digests.
//!
//! Everything a stranger sends is read here first: [`parse`] turns bytes into a
//! [`Value`] within [`Limits`], or says what is wrong and where. What it
//! accepted can be encoded in one of three [`Form`]s and hashed into a
//! [`Digest`] of that form.
//!
//! Invariants:
//! - A [`Value`] holds finite floats only, its objects have unique keys, sorted
//!   by code point, and its strings are Unicode text without lone surrogates.
//! - Equal values have equal encodings, and an encoding parses to the value it came from.
//! - The digest of one form is another type than that of any other form. The
//!   [`ToolResult`] form is reached through a domain check only.
//! - No input makes this crate panic or recurse deeper than [`Limits::MAX_DEPTH`].
//!
//! ```compile_fail
//! use countersign_canonical::{Ascii, Digest, Utf8, Value, digest};
//! let evidence: Digest<Utf8> = digest::<Ascii>(&Value::Null);
//! ```
//!
//! ```compile_fail
//! use countersign_canonical::{ToolResult, Value, digest};
//! let unchecked = digest::<ToolResult>(&Value::Null);
//! ```
//!
//! Module map: `limits`, `parser` (with `cursor`, `depth_scan`, `parse_error`),
//! `value` (with `number`, `object`), `domain`, `form`, `text`, `float`,
//! `sink`, `encode`, `encoder`, `digest`.

mod cursor;
mod depth_scan;
mod digest;
mod domain;
mod encode;
mod encoder;
mod float;
mod form;
mod indented;
mod limits;
mod number;
mod object;
mod parse_error;
mod parser;
mod scan;
mod sink;
mod text;
mod value;

pub use digest::{Digest, HexDigest, MalformedDigest};
pub use domain::{DomainError, DomainErrorKind, InDomain};
pub use encode::{
    digest, digest_tool_result_with, digest_with, encode, encode_into, encode_tool_result_with,
};
pub use encoder::Encoder;
pub use form::{Ascii, Form, OpenForm, ToolResult, Utf8};
pub use indented::indented;
pub use limits::Limits;
pub use number::{Number, NumberKind};
pub use object::Object;
pub use parse_error::{ErrorClass, ParseError, ParseErrorKind};
pub use parser::parse;
pub use sink::{DigestSink, Sink};
pub use value::Value;
