//! A grant that somebody is about to give, made of a call in the ledger.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{anyhow, bail};
use countersign_canonical::{Limits, Object, Utf8, Value, encode, parse};
use countersign_contract::{ApproverId, Inert};
use countersign_ledger::{Condition, Conditions, Grant, GrantId, Moment, OperationDetail};
use uuid::Uuid;

use crate::cli::ConditionArguments;
use crate::prompt::effective;

/// The most characters of a condition that are shown.
const MAX_SHOWN_CHARS: usize = 2000;

/// The conditions that the arguments name, held against the call: each of its arguments has one, and it is covered.
pub(crate) fn conditions(
    call: &OperationDetail,
    asked: &ConditionArguments,
) -> anyhow::Result<Conditions> {
    let effective = effective(&call.proposal.call.arguments);
    let arguments = effective.as_object();
    let arguments = arguments.ok_or_else(|| anyhow!("only named arguments can be granted"))?;
    let mut named = BTreeMap::new();
    let mut name_it = |name: &str, condition| match named.insert(name.to_owned(), condition) {
        None => Ok(()),
        Some(_) => Err(anyhow!("{} is named twice", Inert::new(name))),
    };
    for (name, text) in &asked.values {
        name_it(name, condition(name, text, arguments)?)?;
    }
    for name in &asked.same {
        let value = arguments.get(name);
        let value = value.ok_or_else(|| anyhow!("this call has no {}", Inert::new(name)))?;
        name_it(name, Condition::Is(value.clone()))?;
    }
    for name in &asked.any {
        name_it(name, Condition::Any)?;
    }
    let unnamed = arguments.iter().map(|(name, _)| name);
    let unnamed: Vec<_> = unnamed
        .filter(|name| !named.contains_key(*name))
        .map(|name| Inert::beginning(name, MAX_SHOWN_CHARS).to_string())
        .collect();
    if !unnamed.is_empty() {
        bail!(
            "say of each argument what it may be, with --argument, --same or --any: {}",
            unnamed.join(", ")
        );
    }
    let conditions = Conditions::new(named);
    let conditions = conditions
        .ok_or_else(|| anyhow!("the conditions are too many, too large, or begin with nothing"))?;
    if !conditions.cover(&call.proposal.call.arguments) {
        bail!("this call is not like that itself: nothing is granted");
    }
    Ok(conditions)
}

/// A text that ends in `*` is a beginning. Any other stands for itself where the call has a text, and is JSON elsewhere.
fn condition(name: &str, text: &str, arguments: &Object) -> anyhow::Result<Condition> {
    if let Some(beginning) = text.strip_suffix('*') {
        return Ok(Condition::BeginsWith(beginning.to_owned()));
    }
    if arguments
        .get(name)
        .is_some_and(|value| value.as_str().is_some())
    {
        return Ok(Condition::Is(text.into()));
    }
    let value = parse(text.as_bytes(), &Limits::passthrough());
    let value = value.map_err(|_| anyhow!("{} is no text: give it as JSON", Inert::new(name)))?;
    Ok(Condition::Is(value))
}

/// A grant of calls like this one, with a name that no other has.
pub(crate) fn grant_of(
    call: &OperationDetail,
    conditions: Conditions,
    approver: &ApproverId,
    now: Moment,
    (lifetime, uses): (Duration, u64),
) -> anyhow::Result<Grant> {
    let scope = &call.record.scope;
    let digits = Uuid::new_v4().simple().to_string();
    let name = format!("grant_{}", digits.get(..12).unwrap_or(&digits));
    Ok(Grant {
        grant: GrantId::new(&name).ok_or_else(|| anyhow!("cannot name this grant"))?,
        tenant_id: scope.tenant_id.clone(),
        subject_id: scope.subject_id.clone(),
        tool: scope.tool.clone(),
        revisions: call.record.terms.revisions.clone(),
        conditions,
        approver: approver.clone(),
        given_at: now,
        expires_at: now.after(lifetime),
        uses,
        uses_left: uses,
        is_revoked: false,
        signature: None,
    })
}

/// The conditions for a person to read, one in a line. Nothing of others' texts acts on a terminal.
pub(crate) fn told(conditions: &Conditions) -> Vec<String> {
    let lines = conditions.iter().map(|(name, condition)| {
        let name = Inert::new(name);
        match condition {
            Condition::Any => format!("{name} may be anything"),
            Condition::Is(value) => format!("{name} is {}", shown(value)),
            Condition::BeginsWith(text) => {
                format!("{name} begins with {}", shown(&text.as_str().into()))
            }
        }
    });
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() {
        vec!["there are no arguments".to_owned()]
    } else {
        lines
    }
}

/// A value in one line; a long one by its beginning and its size.
fn shown(value: &Value) -> String {
    let bytes = encode::<Utf8>(value);
    let text = String::from_utf8_lossy(&bytes);
    let shown = Inert::beginning(&text, MAX_SHOWN_CHARS);
    if text.chars().count() > MAX_SHOWN_CHARS {
        format!("{shown} ({} bytes)", bytes.len())
    } else {
        shown.to_string()
    }
}
