//! `countersign contract build`.

use std::path::Path;

use countersign_canonical::{Limits, Value};
use countersign_governed::contract::INTENT_MAX_BYTES;
use countersign_governed::{
    Catalog, Envelope, ExecutionRequest, Faults, Intent, ShapeRegistry, check_gate_document,
};

use super::{catalog_file, clock, indent, read_envelope};
use crate::cli::{BuildCommand, NowArgument};
use crate::input::read_json;
use crate::output::{Verdict, complain, print_json};

pub(super) fn run(command: &BuildCommand) -> anyhow::Result<Verdict> {
    match command {
        BuildCommand::Intent {
            tool,
            args,
            context,
            envelope,
            catalog,
        } => {
            let catalog = catalog_file::load(catalog)?;
            let arguments = read("arguments", args)?;
            let context = read("context", context)?;
            match Intent::build(&catalog, tool, &arguments, &context) {
                Ok(intent) if *envelope => print(Envelope::build(intent).value()),
                Ok(intent) => print(&intent.to_value()),
                Err(faults) => Ok(refuse("the call cannot be proposed", &faults)),
            }
        }
        BuildCommand::Request {
            intent,
            gate,
            now,
            catalog,
        } => {
            let catalog = catalog_file::load(catalog)?;
            let intent = read("intent", intent)?;
            let gate = read("gate", gate)?;
            build_request(&catalog, &intent, &gate, now)
        }
    }
}

fn build_request(
    catalog: &Catalog,
    intent: &Value,
    gate: &Value,
    now: &NowArgument,
) -> anyhow::Result<Verdict> {
    let envelope = match read_envelope(catalog, intent) {
        Ok(envelope) => envelope,
        Err(faults) => return Ok(refuse("the intent is not accepted", &faults)),
    };
    let now = match (now.time, gate.get("now")) {
        (None, None) => Some(clock()?),
        (time, _) => time,
    };
    let approval = check_gate_document(catalog, &ShapeRegistry::default(), gate, now)
        .and_then(|answer| answer.gate.assert_dispatchable(answer.now));
    let approval = match approval {
        Ok(approval) => approval,
        Err(faults) => return Ok(refuse("the gate is not accepted", &faults)),
    };
    match ExecutionRequest::build(catalog, &envelope, approval) {
        Ok(request) => print(request.value()),
        Err(faults) => Ok(refuse("the request cannot be built", &faults)),
    }
}

/// What is built from must be JSON; what it says is judged afterwards.
fn read(what: &str, file: &Path) -> anyhow::Result<Value> {
    let limits = Limits::passthrough().with_bytes(INTENT_MAX_BYTES);
    read_json(what, file, &limits)
}

fn print(document: &Value) -> anyhow::Result<Verdict> {
    print_json(document)?;
    Ok(Verdict::Good)
}

/// Standard output is for the document; there is none.
fn refuse(what: &str, faults: &Faults) -> Verdict {
    let reasons = indent(&faults.to_string());
    complain(&format!("{what}:\n{}", reasons.trim_end()));
    Verdict::Bad
}
