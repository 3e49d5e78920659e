//! `countersign doctor`.

mod clients;
mod finding;
mod ledger;
mod surroundings;

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use countersign_canonical::Value;
use countersign_contract::Inert;

use crate::cli::DoctorArguments;
use crate::output::{Verdict, print_json, print_text};

use self::finding::{Finding, Level};

pub(crate) fn run(arguments: &DoctorArguments) -> anyhow::Result<Verdict> {
    let mut findings = surroundings::findings();
    findings.extend(ledger::findings(arguments.ledger.ledger.as_ref())?);
    findings.extend(clients::findings());
    if arguments.json {
        print_json(&document(&findings))?;
    } else {
        print_text(&words(&findings))?;
    }
    let is_sound = findings
        .iter()
        .all(|finding| finding.level != Level::Problem);
    Ok(if is_sound {
        Verdict::Good
    } else {
        Verdict::Bad
    })
}

fn document(findings: &[Finding]) -> Value {
    let findings = findings.iter().map(|finding| {
        let remedy = finding.remedy.as_deref().map_or(Value::Null, Value::from);
        Value::from([
            ("level", finding.level.word().into()),
            ("about", finding.about.into()),
            ("said", finding.said.as_str().into()),
            ("remedy", remedy),
        ])
    });
    Value::from([
        ("schema", "countersign-doctor-v1".into()),
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("findings", Value::Array(findings.collect())),
    ])
}

fn words(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let color = match finding.level {
            Level::Ok => AnsiColor::Green,
            Level::Warning => AnsiColor::Yellow,
            Level::Problem => AnsiColor::Red,
        };
        let style = Style::new().fg_color(Some(color.into()));
        let (level, about) = (finding.level.word(), finding.about);
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{style}{level:8}{style:#} {about}: {}",
            Inert::new(&finding.said)
        );
        if let Some(remedy) = &finding.remedy {
            let _ = writeln!(text, "         {}", Inert::new(remedy));
        }
    }
    text
}
