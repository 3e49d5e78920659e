//! Asking for passphrases on the controlling terminal.

use anyhow::{anyhow, bail};
use countersign_contract::{ApproverId, Inert};
use zeroize::Zeroizing;

use crate::approver_key::{KeyName, KeyStore, SealedKey, UnlockedKey};
use crate::input::describe;
use crate::prompt::Terminal;

/// How often a passphrase may be typed.
const MAX_TRIES: usize = 3;
/// The fewest characters of a passphrase.
const MIN_CHARS: usize = 10;
/// What whoever approves for the first time is told.
const FIRST_KEY: &str = "
Nobody has a key to approve with here yet, so it is made now. What you approve is signed with it: nothing
begins that is not. Its passphrase is typed on this terminal, and taken from nowhere else.
";

/// Who decides, before anything is asked.
pub(crate) enum Signer {
    Keyed(SealedKey),
    /// Nobody has a key here yet.
    First(KeyName),
}

impl Signer {
    /// An error where others have keys here and this approver has none.
    pub(crate) fn of(approver: &ApproverId) -> anyhow::Result<Self> {
        let store = KeyStore::open()?;
        let name = KeyName::of(approver);
        let found = name.as_ref().map(|name| store.find(name)).transpose()?;
        match (found.flatten(), name) {
            (Some(key), _) => Ok(Self::Keyed(key)),
            (None, Some(name)) if store.all()?.is_empty() => Ok(Self::First(name)),
            (None, _) => bail!(
                "{} has no key here: see \"countersign approver show\"; a new one counts for what is started after it",
                Inert::new(approver.as_str())
            ),
        }
    }

    /// Opens the key, or makes the first one. Nothing where whoever was asked gives up.
    pub(crate) fn unlock(&self, terminal: &Terminal) -> anyhow::Result<Option<UnlockedKey>> {
        match self {
            Self::Keyed(key) => unlock(terminal, key),
            Self::First(name) => {
                let Some((key, passphrase)) = first_key(terminal, name)? else {
                    return Ok(None);
                };
                key.open(&passphrase)
            }
        }
    }

    /// The key, which is made where it is the first. Nothing where whoever was asked gives up.
    pub(crate) fn key(self, terminal: &Terminal) -> anyhow::Result<Option<SealedKey>> {
        Ok(match self {
            Self::Keyed(key) => Some(key),
            Self::First(name) => first_key(terminal, &name)?.map(|(key, _)| key),
        })
    }

    /// Tells whether it is the approver who says no. A denial lets nothing happen, so that it needs no key where there is none.
    pub(crate) fn may_deny(&self, terminal: &Terminal) -> anyhow::Result<bool> {
        match self {
            Self::Keyed(key) => Ok(unlock(terminal, key)?.is_some()),
            Self::First(_) => Ok(true),
        }
    }
}

/// Opens a key by its passphrase. Nothing where whoever was asked gives up.
pub(crate) fn unlock(terminal: &Terminal, key: &SealedKey) -> anyhow::Result<Option<UnlockedKey>> {
    let question = format!("Passphrase of {}: ", key.name.as_str());
    for _ in 0..MAX_TRIES {
        let Some(passphrase) = secret(terminal, &question)? else {
            return Ok(None);
        };
        if let Some(unlocked) = key.open(&passphrase)? {
            return Ok(Some(unlocked));
        }
        told(terminal, "That is not the passphrase.\n")?;
    }
    bail!("the passphrase was wrong {MAX_TRIES} times: nothing was decided")
}

/// Makes a key and keeps it. Nothing where whoever was asked gives up.
pub(crate) fn new_key(
    terminal: &Terminal,
    name: &KeyName,
) -> anyhow::Result<Option<(SealedKey, Zeroizing<String>)>> {
    let Some(passphrase) = new_passphrase(terminal, name)? else {
        return Ok(None);
    };
    let key = SealedKey::generate(name.clone(), &passphrase)?;
    KeyStore::open()?.add(&key)?;
    Ok(Some((key, passphrase)))
}

fn first_key(
    terminal: &Terminal,
    name: &KeyName,
) -> anyhow::Result<Option<(SealedKey, Zeroizing<String>)>> {
    told(terminal, FIRST_KEY)?;
    new_key(terminal, name)
}

/// Takes a new passphrase, typed twice. Nothing where whoever was asked gives up.
pub(crate) fn new_passphrase(
    terminal: &Terminal,
    name: &KeyName,
) -> anyhow::Result<Option<Zeroizing<String>>> {
    let name = name.as_str();
    for _ in 0..MAX_TRIES {
        let question = format!("New passphrase of {name}: ");
        let Some(passphrase) = secret(terminal, &question)? else {
            return Ok(None);
        };
        if passphrase.chars().count() < MIN_CHARS {
            told(terminal, "It needs ten characters or more.\n")?;
            continue;
        }
        let Some(again) = secret(terminal, &format!("The same again, of {name}: "))? else {
            return Ok(None);
        };
        if passphrase == again {
            return Ok(Some(passphrase));
        }
        told(terminal, "The two differ.\n")?;
    }
    bail!("no passphrase came of {MAX_TRIES} tries: nothing was changed")
}

fn secret(terminal: &Terminal, question: &str) -> anyhow::Result<Option<Zeroizing<String>>> {
    let secret = terminal.secret(question);
    secret.map_err(|error| anyhow!("cannot read a passphrase: {}", describe(&error)))
}

fn told(terminal: &Terminal, text: &str) -> anyhow::Result<()> {
    let told = terminal.tell(text);
    told.map_err(|error| anyhow!("cannot ask on the terminal: {}", describe(&error)))
}
