//! `countersign contract check`.

use std::path::Path;

use anyhow::anyhow;
use countersign_canonical::{Limits, Value};
use countersign_contract::Inert;
use countersign_endpoint as endpoint;
use countersign_governed::contract::INTENT_MAX_BYTES;
use countersign_governed::{
    Catalog, ExecutionRequest, ExecutionResult, Intent, RequestBinding, ShapeRegistry,
    check_gate_document,
};

use super::{
    catalog_file, clock, endpoint_catalog::endpoint_catalog, indent, read_bytes, read_envelope,
    read_judged, refuse, table, time_of,
};
use crate::cli::{CatalogArgument, CheckCommand, NowArgument};
use crate::input::read_json;
use crate::output::{Verdict, print_text};

pub(super) fn run(command: &CheckCommand) -> anyhow::Result<Verdict> {
    match command {
        CheckCommand::Intent { file, catalog } => check_intent(file, catalog),
        CheckCommand::Request {
            file,
            action_id,
            catalog,
        } => check_request(file, action_id.as_deref(), catalog),
        CheckCommand::Result { file, request, now } => check_result(file, request, now),
        CheckCommand::Gate { file, now, catalog } => check_gate(file, now, catalog),
    }
}

fn check_intent(file: &Path, catalog: &CatalogArgument) -> anyhow::Result<Verdict> {
    let catalog = catalog_file::load(catalog)?;
    let document = read_judged("intent", file)?;
    match document.and_then(|document| read_envelope(&catalog, &document)) {
        Ok(envelope) => accept("The intent is accepted.\n", &rows_of(envelope.intent())),
        Err(faults) => refuse("intent", &faults.to_string()),
    }
}

fn rows_of(intent: &Intent) -> Vec<(&'static str, String)> {
    let display = intent.display();
    let mut rows = vec![
        ("tool", intent.tool_name().to_string()),
        ("summary", display.summary.clone()),
        ("target", display.target.clone()),
        ("risk", display.risk.clone()),
        ("intent id", intent.intent_id().to_string()),
    ];
    if let Err(fault) = intent.check_ingress() {
        rows.push(("but", format!("a host would not take it in: {fault}")));
    }
    rows
}

fn check_request(
    file: &Path,
    action_id: Option<&str>,
    argument: &CatalogArgument,
) -> anyhow::Result<Verdict> {
    let catalog = catalog_file::load(argument)?;
    let body = read_bytes("request", file)?;
    let of_host = ExecutionRequest::check(&catalog, action_id, &body);
    let at_endpoint = match argument.file {
        Some(_) => endpoint_catalog(&catalog),
        None => endpoint::Catalog::colony(),
    };
    // Without an action of its own the endpoint goes by what the request names.
    let named = action_id.map_or_else(|| named_action(&body), str::to_owned);
    let of_endpoint = endpoint::ExecutionRequest::parse(&named, &body, &at_endpoint);
    let endpoint_reasons = of_endpoint.as_ref().err().map(endpoint_reasons);
    match (of_host, endpoint_reasons) {
        (Ok(request), None) => accept(
            "The request is accepted, by the host's and by the endpoint's reading.\n",
            &[
                ("action", request.action_id().to_string()),
                ("execution digest", request.execution_digest().to_string()),
            ],
        ),
        (of_host, reasons) => {
            let parted = of_host.is_ok() || reasons.is_none();
            let of_host =
                of_host.map_or_else(|faults| faults.to_string(), |_| "(accepted)".to_owned());
            let of_endpoint = reasons.unwrap_or_else(|| "(accepted)".to_owned());
            print_text(&format!(
                "The request is not accepted.\nBy the host's reading:\n{}By the endpoint's reading:\n{}{}",
                indent(&of_host),
                indent(&of_endpoint),
                parting(parted, &catalog, &at_endpoint),
            ))?;
            Ok(Verdict::Bad)
        }
    }
}

/// The action that a request names; what is no such request names none.
fn named_action(body: &[u8]) -> String {
    let document = endpoint::parse(body).ok();
    let named = document.as_ref().and_then(|document| {
        let members = document.as_object()?;
        members.get("action_id")?.as_text()
    });
    named.unwrap_or_default().to_owned()
}

fn endpoint_reasons(error: &endpoint::RequestError) -> String {
    match error {
        endpoint::RequestError::Document(error) => format!("not acceptable JSON: {error}"),
        endpoint::RequestError::Contract(faults) => {
            let faults: Vec<_> = faults.as_slice().iter().map(ToString::to_string).collect();
            faults.join("\n")
        }
    }
}

/// Says why the readings may differ, where they do.
fn parting(parted: bool, catalog: &Catalog, at_endpoint: &endpoint::Catalog) -> String {
    if !parted {
        return String::new();
    }
    let unknown: Vec<_> = catalog
        .tools()
        .map(|tool| tool.name().as_str())
        .filter(|name| at_endpoint.tool(name).is_none())
        .collect();
    if unknown.is_empty() {
        return "The two readings differ, and one of them is wrong: please report it.\n".to_owned();
    }
    format!(
        "An endpoint has no rule for lists or for texts over 16000 characters, so that it cannot hold: {}.\n",
        unknown.join(", ")
    )
}

fn check_result(file: &Path, request: &Path, now: &NowArgument) -> anyhow::Result<Verdict> {
    let limits = Limits::passthrough().with_bytes(INTENT_MAX_BYTES);
    let request = read_json("request", request, &limits)?;
    let binding = RequestBinding::of_sent(&request)
        .map_err(|faults| anyhow!("no result can answer this request:\n{faults}"))?;
    let result = read_bytes("result", file)?;
    match ExecutionResult::parse(&binding, &result, time_of(now)?) {
        Ok(result) => accept(
            "The result is accepted: the effect was performed.\n",
            &[
                ("effect", result.effect_id().to_string()),
                ("outcome", result.outcome().to_owned()),
                ("observed at", shown(result.value(), "observed_at")),
                ("digest as kept", result.sha256().to_string()),
            ],
        ),
        Err(faults) => refuse("result", &faults.to_string()),
    }
}

fn check_gate(
    file: &Path,
    now: &NowArgument,
    catalog: &CatalogArgument,
) -> anyhow::Result<Verdict> {
    let catalog = catalog_file::load(catalog)?;
    let document = match read_judged("gate", file)? {
        Ok(document) => document,
        Err(faults) => return refuse("gate", &faults.to_string()),
    };
    let now = match (now.time, document.get("now")) {
        (None, None) => Some(clock()?),
        (time, _) => time,
    };
    let answer = match check_gate_document(&catalog, &ShapeRegistry::default(), &document, now) {
        Ok(answer) => answer,
        Err(faults) => return refuse("gate", &faults.to_string()),
    };
    let gate = &answer.gate;
    let projection = gate.projection(answer.now);
    let rows = [
        ("approval", gate.approval_id().to_string()),
        ("decision", Inert::new(gate.decision_id()).to_string()),
        ("principal", Inert::new(gate.principal()).to_string()),
        ("came as", gate.shape().to_owned()),
        ("decided at", shown(&projection, "decided_at")),
        ("expires at", shown(&projection, "expires_at")),
    ];
    if gate.is_expired(answer.now) {
        let rows = table(&rows);
        print_text(&format!(
            "The gate is not accepted: it was in order, and has expired.\n{rows}"
        ))?;
        return Ok(Verdict::Bad);
    }
    accept(
        "The gate is accepted: it authorizes the action now.\n",
        &rows,
    )
}

fn accept(sentence: &str, rows: &[(&str, String)]) -> anyhow::Result<Verdict> {
    print_text(&format!("{sentence}{}", table(rows)))?;
    Ok(Verdict::Good)
}

/// A member as the contract writes it.
fn shown(document: &Value, name: &str) -> String {
    let member = document.get(name).unwrap_or(&Value::Null);
    let bytes = countersign_canonical::encode::<countersign_canonical::Utf8>(member);
    String::from_utf8_lossy(&bytes).into_owned()
}
