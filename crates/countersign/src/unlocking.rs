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

/// The key that an approver decides with. Nothing where nobody has one, so that none is needed.
pub(crate) fn key_of(approver: &ApproverId) -> anyhow::Result<Option<SealedKey>> {
    let store = KeyStore::open()?;
    if store.all()?.is_empty() {
        return Ok(None);
    }
    let key = KeyName::of(approver).map(|name| store.find(&name));
    match key.transpose()?.flatten() {
        Some(key) => Ok(Some(key)),
        None => bail!(
            "{} has no key here, and decisions are signed: see \"countersign approver show\"",
            Inert::new(approver.as_str())
        ),
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
