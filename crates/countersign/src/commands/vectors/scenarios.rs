//! What a scenario fixture comes to.

use countersign_canonical::{Object, Value};
use countersign_scenario::{Fixture, Run, run};

use super::bytes_member;

pub(super) fn answer(vector: &Object) -> anyhow::Result<Object> {
    let fixture = bytes_member(vector, "fixture_b64")?;
    let run = Fixture::read(&fixture)
        .ok()
        .and_then(|fixture| run(&fixture).ok());
    let exit = match &run {
        Some(run) => i64::from(!run.passed()),
        None => 2,
    };
    let part = |of: fn(&Run) -> Value| run.as_ref().map(of).unwrap_or_default();
    Ok(Object::from([
        ("exit", exit.into()),
        ("summary", part(|run| run.summary().into())),
        ("packages", part(Run::packages)),
        ("provider_payloads", part(Run::provider_payloads)),
    ]))
}
