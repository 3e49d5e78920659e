//! `countersign approver`.

use anyhow::{anyhow, bail};
use countersign_canonical::Value;

use crate::approver_key::{KeyName, KeyStore, SealedKey};
use crate::cli::{ApproverArguments, ApproverCommand};
use crate::output::{Verdict, complain, print_json, print_text};
use crate::prompt::Terminal;
use crate::unlocking::{new_key, new_passphrase, unlock};

pub(crate) fn run(arguments: &ApproverArguments) -> anyhow::Result<Verdict> {
    match &arguments.command {
        ApproverCommand::Create(key) => create(&key.name),
        ApproverCommand::Show { json } => show(*json),
        ApproverCommand::ChangePassphrase(key) => change_passphrase(&key.name),
    }
}

fn create(name: &KeyName) -> anyhow::Result<Verdict> {
    let store = KeyStore::open()?;
    if store.find(name)?.is_some() {
        bail!("{} has a key already", name.as_str());
    }
    let is_first = store.all()?.is_empty();
    let Some((key, _)) = new_key(&terminal()?, name)? else {
        return Ok(given_up());
    };
    let (name, public) = (name.as_str(), key.fingerprint());
    complain(&format!("{name} has a key now: {public}"));
    if !is_first {
        complain("restart wrapped servers: those that run do not know it yet");
    }
    Ok(Verdict::Good)
}

fn show(as_json: bool) -> anyhow::Result<Verdict> {
    let keys = KeyStore::open()?.all()?;
    if as_json {
        let keys = keys.iter().map(|key| {
            Value::from([
                ("approver_id", key.name.as_str().into()),
                ("public_key", key.fingerprint().into()),
            ])
        });
        print_json(&Value::from([
            ("schema", "countersign-approvers-v1".into()),
            ("approvers", Value::Array(keys.collect())),
        ]))?;
    } else if keys.is_empty() {
        complain(
            "nobody has a key yet, so nothing is approved: \"countersign approver create\" makes one",
        );
    } else {
        for key in &keys {
            let (name, public) = (key.name.as_str(), key.fingerprint());
            print_text(&format!("{name}  {public}\n"))?;
        }
    }
    Ok(Verdict::Good)
}

fn change_passphrase(name: &KeyName) -> anyhow::Result<Verdict> {
    let store = KeyStore::open()?;
    let key = store.find(name)?;
    let key = key.ok_or_else(|| anyhow!("{} has no key", name.as_str()))?;
    let terminal = terminal()?;
    let Some(unlocked) = unlock(&terminal, &key)? else {
        return Ok(given_up());
    };
    let Some(passphrase) = new_passphrase(&terminal, name)? else {
        return Ok(given_up());
    };
    store.replace(&SealedKey::seal(&unlocked, &passphrase)?)?;
    complain(&format!("{} has another passphrase now", name.as_str()));
    Ok(Verdict::Good)
}

fn terminal() -> anyhow::Result<Terminal> {
    Terminal::open()
        .ok_or_else(|| anyhow!("there is no terminal to type a passphrase on: nothing was changed"))
}

fn given_up() -> Verdict {
    complain("no passphrase was given: nothing was changed");
    Verdict::Bad
}
