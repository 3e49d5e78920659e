//! The JSON form of a pin.
//!
//! ```json
//! {
//!   "schema": "countersign-pin-v1",
//!   "server": "git",
//!   "launch_sha256": "<64 hex digits: the command and its arguments>",
//!   "tools": {
//!     "git_commit": {
//!       "class": "write",
//!       "revision": 1,
//!       "description": {"description": "…", "title": null},
//!       "annotations": null,
//!       "input_schema": {"type": "object"},
//!       "output_schema": null,
//!       "sha256": {
//!         "description": "<64 hex digits>", "annotations": "…", "input_schema": "…", "output_schema": "…"
//!       }
//!     }
//!   }
//! }
//! ```
//! Members are exact. The digests are those of the canonical UTF-8 form of what stands beside them; a pin whose digests do not fit
//! was changed by something that is not countersign, and is refused.

use countersign_canonical::{Digest, Limits, ParseError, Utf8, Value, indented, parse};

use super::{Class, MAX_TOOLS, Pin, PinnedTool};
use crate::server::ServerName;
use crate::tools::Facets;

/// The `schema` of a pin.
pub const PIN_SCHEMA: &str = "countersign-pin-v1";
/// The longest pin.
pub const MAX_PIN_BYTES: usize = 32 << 20;

/// Why a document is not a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PinError {
    /// It is not strict JSON.
    #[error("the pin is not strict JSON: {0}")]
    Json(#[source] ParseError),
    /// Its form is another one.
    #[error("the pin has not the form of {PIN_SCHEMA}")]
    Form,
    /// A digest is not that of what stands beside it.
    #[error("the pin was changed: a digest does not fit")]
    Digest,
}

impl Pin {
    /// Writes the pin.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let tools = self
            .tools
            .iter()
            .map(|(name, tool)| (name.clone(), tool.to_value()));
        let document = Value::from([
            ("schema", PIN_SCHEMA.into()),
            ("server", self.server.as_str().into()),
            ("launch_sha256", self.launch.to_string().into()),
            ("tools", Value::Object(tools.collect())),
        ]);
        let mut bytes = indented(&document);
        bytes.push(b'\n');
        bytes
    }

    /// Reads a pin.
    pub fn read(bytes: &[u8]) -> Result<Self, PinError> {
        let limits = Limits {
            depth: Limits::MAX_DEPTH,
            nodes: MAX_PIN_BYTES,
            ..Limits::passthrough().with_bytes(MAX_PIN_BYTES)
        };
        let value = parse(bytes, &limits).map_err(PinError::Json)?;
        let object = value.as_object().filter(|object| object.len() == 4);
        let object = object.ok_or(PinError::Form)?;
        let text = |name: &str| {
            object
                .get(name)
                .and_then(Value::as_str)
                .ok_or(PinError::Form)
        };
        if text("schema")? != PIN_SCHEMA {
            return Err(PinError::Form);
        }
        let listed = object.get("tools").and_then(Value::as_object);
        let listed = listed
            .filter(|tools| tools.len() <= MAX_TOOLS)
            .ok_or(PinError::Form)?;
        let tools = listed
            .iter()
            .map(|(name, value)| Ok((name.to_owned(), read_tool(value)?)));
        Ok(Self {
            server: ServerName::new(text("server")?).ok_or(PinError::Form)?,
            launch: Digest::parse_hex(text("launch_sha256")?).map_err(|_| PinError::Form)?,
            tools: tools.collect::<Result<_, PinError>>()?,
        })
    }
}

impl PinnedTool {
    fn to_value(&self) -> Value {
        let facets = &self.facets;
        let revision = i64::try_from(self.revision).unwrap_or(i64::MAX);
        Value::from([
            ("class", self.class.as_str().into()),
            ("revision", revision.into()),
            ("description", facets.description.clone()),
            ("annotations", facets.annotations.clone()),
            ("input_schema", facets.input_schema.clone()),
            ("output_schema", facets.output_schema.clone()),
            ("sha256", digests(facets)),
        ])
    }
}

fn digests(facets: &Facets) -> Value {
    let text = |digest: Digest<Utf8>| Value::from(digest.to_string());
    Value::from([
        ("description", text(facets.description_digest())),
        ("annotations", text(facets.annotations_digest())),
        ("input_schema", text(facets.input_digest())),
        ("output_schema", text(facets.output_digest())),
    ])
}

fn read_tool(value: &Value) -> Result<PinnedTool, PinError> {
    let object = value.as_object().filter(|object| object.len() == 7);
    let object = object.ok_or(PinError::Form)?;
    let part = |name: &str| object.get(name).cloned().ok_or(PinError::Form);
    let class = object
        .get("class")
        .and_then(Value::as_str)
        .and_then(Class::parse);
    let revision = object.get("revision").and_then(Value::as_i64);
    let facets = Facets {
        description: part("description")?,
        annotations: part("annotations")?,
        input_schema: part("input_schema")?,
        output_schema: part("output_schema")?,
    };
    if part("sha256")? != digests(&facets) {
        return Err(PinError::Digest);
    }
    Ok(PinnedTool {
        facets,
        class: class.ok_or(PinError::Form)?,
        revision: revision
            .and_then(|revision| u64::try_from(revision).ok())
            .ok_or(PinError::Form)?,
    })
}
