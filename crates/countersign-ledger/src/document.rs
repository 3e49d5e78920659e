//! What is stored as bytes: canonical, and verified whenever it is read.

use countersign_canonical::{Digest, Limits, NumberKind, Object, Utf8, Value, encode, parse};
use countersign_dispatch::ledger::Error;
use sha2::{Digest as _, Sha256};

/// Bounds on a stored document: an answer or arguments of 4 MiB with what stands around them.
const LIMITS: Limits = Limits::passthrough().with_bytes(64 << 20);

/// A document as a back-end keeps it: its canonical UTF-8 form, and the SHA-256 of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    bytes: Vec<u8>,
    digest: Digest<Utf8>,
}

impl Document {
    /// Encodes a value.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        let bytes = encode::<Utf8>(value);
        let digest = Digest::from_bytes(Sha256::digest(&bytes).into());
        Self { bytes, digest }
    }

    /// Takes what a back-end has kept. Whether that is sound shows when it is read.
    #[must_use]
    pub fn from_parts(bytes: Vec<u8>, digest: [u8; 32]) -> Self {
        let digest = Digest::from_bytes(digest);
        Self { bytes, digest }
    }

    /// The bytes to keep.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Their digest, to keep beside them.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        self.digest.as_bytes()
    }

    /// Reads the value; an error where bytes and digest disagree, or the bytes are not canonical.
    pub fn read(&self, what: &'static str) -> Result<Value, Error> {
        if Sha256::digest(&self.bytes).as_slice() != self.digest.as_bytes() {
            return Err(Error::Damaged(what));
        }
        let value = parse(&self.bytes, &LIMITS).map_err(|_| Error::Damaged(what))?;
        if encode::<Utf8>(&value) != self.bytes {
            return Err(Error::Damaged(what));
        }
        Ok(value)
    }

    /// Reads a document of ours by its members.
    pub(crate) fn read_with<T>(
        &self,
        what: &'static str,
        read: impl FnOnce(Members<'_>) -> Option<T>,
    ) -> Result<T, Error> {
        let value = self.read(what)?;
        let object = value.as_object().ok_or(Error::Damaged(what))?;
        read(Members(object)).ok_or(Error::Damaged(what))
    }
}

/// The members of a document that we wrote ourselves: whatever is not as we write it is damage.
#[derive(Clone, Copy)]
pub(crate) struct Members<'v>(&'v Object);

impl<'v> Members<'v> {
    pub(crate) fn value(self, name: &str) -> Option<&'v Value> {
        self.0.get(name)
    }

    pub(crate) fn text(self, name: &str) -> Option<&'v str> {
        self.value(name)?.as_str()
    }

    pub(crate) fn number(self, name: &str) -> Option<u64> {
        read_number(self.value(name)?)
    }

    pub(crate) fn flag(self, name: &str) -> Option<bool> {
        self.value(name)?.as_bool()
    }

    pub(crate) fn members(self, name: &str) -> Option<Self> {
        self.value(name)?.as_object().map(Self)
    }

    /// Reads a member that may be null; nothing in the outer option is damage.
    #[expect(
        clippy::option_option,
        reason = "null is one answer, and damage another"
    )]
    pub(crate) fn optional<T>(
        self,
        name: &str,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Option<Option<T>> {
        let value = self.value(name)?;
        if value.is_null() {
            return Some(None);
        }
        read(value).map(Some)
    }
}

/// A number as a document holds it.
pub(crate) fn number(number: u64) -> Value {
    Value::Number(number.into())
}

/// Reads a number as [`number`] writes it.
pub(crate) fn read_number(value: &Value) -> Option<u64> {
    match value.as_number()?.kind() {
        NumberKind::Integer(integer) => u64::try_from(integer).ok(),
        NumberKind::BigInteger(text) => text.parse().ok(),
        NumberKind::Float(_) => None,
    }
}

/// A member that may be absent, as null.
pub(crate) fn optional<T: Into<Value>>(value: Option<T>) -> Value {
    value.map_or(Value::Null, Into::into)
}
