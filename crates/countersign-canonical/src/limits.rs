/// Bounds on one document, chosen by the caller for the place it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Length of the whole input, in bytes.
    pub bytes: usize,
    /// Containers open at once. Capped at [`Limits::MAX_DEPTH`], whatever is asked.
    pub depth: usize,
    /// Values in the document, containers included and object keys not.
    pub nodes: usize,
    /// Length of one string or object key, in code points after unescaping.
    pub string_chars: usize,
    /// Members of one object, or items of one array.
    pub members: usize,
}

impl Limits {
    /// The deepest nesting any caller can allow. Values are dropped, compared
    /// and encoded recursively, so that this bounds the stack they need.
    pub const MAX_DEPTH: usize = 512;

    /// Bounds for documents of the Tool Result v2 protocol: 4 MiB, 32 levels.
    ///
    /// Lengths of strings and containers are left to the domain check, which
    /// tells a document that is not JSON from one outside the value domain.
    pub const fn tool_result() -> Self {
        Self {
            bytes: 4 << 20,
            depth: 32,
            nodes: 1 << 20,
            string_chars: usize::MAX,
            members: usize::MAX,
        }
    }

    /// Bounds for a fixture file of Tool Result v2: 65,536 bytes, 32 levels.
    pub const fn fixture() -> Self {
        Self::tool_result().with_bytes(65_536)
    }

    /// Bounds for documents that are passed through unchanged: 4 MiB, 128 levels.
    pub const fn passthrough() -> Self {
        Self {
            depth: 128,
            ..Self::tool_result()
        }
    }

    /// The same bounds with another length of the whole input.
    pub const fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes, ..self }
    }

    pub(crate) fn effective_depth(&self) -> usize {
        self.depth.min(Self::MAX_DEPTH)
    }
}
