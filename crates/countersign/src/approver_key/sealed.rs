//! A key as its file holds it.

use std::fmt;

use anyhow::{Context as _, anyhow};
use argon2::{Algorithm, Argon2, Params, Version};
use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::rand;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_canonical::{Limits, Object, Utf8, Value, encode, indented, parse};
use countersign_contract::ApproverId;
use zeroize::Zeroizing;

use super::{PUBLIC_BYTES, SEED_BYTES, UnlockedKey};

const SCHEMA: &str = "countersign-approver-key-v1";
/// What a guess costs: 64 MiB, three times over.
const MEMORY_KIB: u32 = 64 << 10;
const PASSES: u32 = 3;
/// What a file may ask for at most.
const MAX_MEMORY_KIB: u32 = 1 << 20;
const MAX_PASSES: u32 = 16;
const SALT_BYTES: usize = 16;
const KEY_BYTES: usize = 32;
/// The most characters of a key's name.
const MAX_NAME_CHARS: usize = 64;

/// The name of an approver who has a key: letters, digits, `-` and `_`, as the file is named after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyName(String);

impl KeyName {
    pub(crate) fn new(text: &str) -> Option<Self> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let is_name = (1..=MAX_NAME_CHARS).contains(&text.len()) && text.bytes().all(is_allowed);
        is_name.then(|| Self(text.to_owned()))
    }

    pub(crate) fn of(approver: &ApproverId) -> Option<Self> {
        Self::new(approver.as_str())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A key that only its passphrase opens.
#[derive(Clone)]
pub(crate) struct SealedKey {
    pub(crate) name: KeyName,
    pub(crate) public: [u8; PUBLIC_BYTES],
    memory_kib: u32,
    passes: u32,
    salt: [u8; SALT_BYTES],
    nonce: [u8; NONCE_LEN],
    sealed: Vec<u8>,
}

impl SealedKey {
    /// Makes a new key.
    pub(crate) fn generate(name: KeyName, passphrase: &str) -> anyhow::Result<Self> {
        let seed = Zeroizing::new(random::<SEED_BYTES>()?);
        Self::seal(&UnlockedKey::new(name, seed)?, passphrase)
    }

    /// Encrypts a key under a passphrase, with a salt of its own.
    pub(crate) fn seal(key: &UnlockedKey, passphrase: &str) -> anyhow::Result<Self> {
        let mut sealed = Self {
            name: key.name().clone(),
            public: *key.public(),
            memory_kib: MEMORY_KIB,
            passes: PASSES,
            salt: random()?,
            nonce: random()?,
            sealed: Vec::new(),
        };
        let cipher = sealed.cipher(passphrase)?;
        let mut text = Zeroizing::new(key.seed().to_vec());
        let tag = cipher.seal_in_place_separate_tag(sealed.nonce(), sealed.bound(), &mut text);
        let tag = tag.map_err(|_| anyhow!("cannot encrypt the key"))?;
        sealed.sealed = [&text[..], tag.as_ref()].concat();
        Ok(sealed)
    }

    /// Opens it; nothing where the passphrase is another.
    pub(crate) fn open(&self, passphrase: &str) -> anyhow::Result<Option<UnlockedKey>> {
        let cipher = self.cipher(passphrase)?;
        let mut text = Zeroizing::new(self.sealed.clone());
        let Ok(opened) = cipher.open_in_place(self.nonce(), self.bound(), &mut text) else {
            return Ok(None);
        };
        let seed: [u8; SEED_BYTES] = (&*opened)
            .try_into()
            .map_err(|_| anyhow!("this key is not of the right size"))?;
        let key = UnlockedKey::new(self.name.clone(), Zeroizing::new(seed))?;
        Ok((key.public() == &self.public).then_some(key))
    }

    fn cipher(&self, passphrase: &str) -> anyhow::Result<LessSafeKey> {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        let params = Params::new(self.memory_kib, self.passes, 1, Some(KEY_BYTES));
        let params = params.map_err(|_| anyhow!("this key asks for what cannot be computed"))?;
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(passphrase.as_bytes(), &self.salt, &mut *key)
            .map_err(|_| anyhow!("cannot compute the key of this passphrase"))?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &*key);
        Ok(LessSafeKey::new(key.map_err(|_| {
            anyhow!("cannot use the key of this passphrase")
        })?))
    }

    fn nonce(&self) -> Nonce {
        Nonce::assume_unique_for_key(self.nonce)
    }

    /// What the encryption binds beside the key: all that stands in the file in plain text.
    fn bound(&self) -> Aad<Vec<u8>> {
        Aad::from(encode::<Utf8>(&self.plain().into()))
    }

    fn plain(&self) -> Object {
        Object::from([
            ("schema", SCHEMA.into()),
            ("name", self.name.as_str().into()),
            ("public_key", base64(&self.public).into()),
            ("kdf", "argon2id".into()),
            ("kdf_memory_kib", i64::from(self.memory_kib).into()),
            ("kdf_passes", i64::from(self.passes).into()),
            ("kdf_salt", base64(&self.salt).into()),
            ("cipher", "chacha20-poly1305".into()),
            ("cipher_nonce", base64(&self.nonce).into()),
        ])
    }

    /// The file's content.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut object = self.plain();
        object.insert("sealed_key".to_owned(), base64(&self.sealed).into());
        let mut bytes = indented(&object.into());
        bytes.push(b'\n');
        bytes
    }

    /// Reads a file's content.
    pub(crate) fn from_bytes(bytes: &[u8]) -> anyhow::Result<Self> {
        let value = parse(bytes, &Limits::tool_result()).context("the key is not strict JSON")?;
        read(&value).ok_or_else(|| anyhow!("the key's file is not as it was written"))
    }

    /// The public key for people to compare.
    pub(crate) fn fingerprint(&self) -> String {
        base64(&self.public)
    }
}

fn read(value: &Value) -> Option<SealedKey> {
    let text = |name: &str| value.get(name)?.as_str();
    let number = |name: &str| u32::try_from(value.get(name)?.as_i64()?).ok();
    let sealed = SealedKey {
        name: KeyName::new(text("name")?)?,
        public: bytes(text("public_key")?)?,
        memory_kib: number("kdf_memory_kib").filter(|kib| *kib <= MAX_MEMORY_KIB)?,
        passes: number("kdf_passes").filter(|passes| *passes <= MAX_PASSES)?,
        salt: bytes(text("kdf_salt")?)?,
        nonce: bytes(text("cipher_nonce")?)?,
        sealed: URL_SAFE_NO_PAD.decode(text("sealed_key")?).ok()?,
    };
    // Whatever else stands there, or stands there otherwise, was not written by this program.
    let is_as_written = parse(&sealed.to_bytes(), &Limits::tool_result()).ok()? == *value;
    is_as_written.then_some(sealed)
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}

fn base64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(super) fn random<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    rand::fill(&mut bytes).map_err(|_| anyhow!("the system gives no randomness"))?;
    Ok(bytes)
}

impl fmt::Debug for SealedKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        formatter
            .debug_struct("SealedKey")
            .field("name", name)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_back_under_its_passphrase_alone_and_no_changed_file_opens() {
        let name = KeyName::new("operator").unwrap();
        let sealed = SealedKey::generate(name, "correct horse").unwrap();
        let bytes = sealed.to_bytes();
        let again = SealedKey::from_bytes(&bytes).unwrap();
        let opened = again.open("correct horse").unwrap().unwrap();
        assert_eq!(opened.public(), &sealed.public);
        assert!(again.open("correct horsE").unwrap().is_none());
        assert!(!String::from_utf8(bytes.clone()).unwrap().contains("horse"));
        let text = String::from_utf8(bytes).unwrap();
        for (was, is) in [
            ("operator", "another0"),
            ("\"kdf_passes\": 3", "\"kdf_passes\": 2"),
            ("65536", "32768"),
        ] {
            assert!(text.contains(was), "{text}");
            let changed = SealedKey::from_bytes(text.replace(was, is).as_bytes()).unwrap();
            assert!(changed.open("correct horse").unwrap().is_none(), "{is}");
        }
        for (was, is) in [
            ("65536", "1073741824"),
            ("argon2id", "none"),
            ("\"name\"", "\"more\": 1, \"name\""),
        ] {
            let changed = text.replace(was, is);
            assert!(SealedKey::from_bytes(changed.as_bytes()).is_err(), "{is}");
        }
    }
}
