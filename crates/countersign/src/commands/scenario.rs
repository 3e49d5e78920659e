//! `countersign scenario`.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use anyhow::anyhow;
use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use countersign_canonical::Value;
use countersign_contract::{Delivery, Inert, UtcSecond};
use countersign_scenario::{
    CaseLedger, Fixture, MAX_FIXTURE_BYTES, Run, StepRun, builtin, run_over,
};

use crate::cli::{Format, ScenarioArguments};
use crate::fixture_ledger::new_fixture_ledger;
use crate::input::{self, describe};
use crate::output::{Verdict, is_terminal, print_json, print_text, terminal_width};

pub(crate) fn run(arguments: &ScenarioArguments) -> anyhow::Result<Verdict> {
    let bytes = match arguments.file.as_ref().or(arguments.fixture.as_ref()) {
        Some(file) => input::read("fixture", Some(file), MAX_FIXTURE_BYTES)?,
        None => builtin().to_vec(),
    };
    let fixture = Fixture::read(&bytes)?;
    let run = match &arguments.ledger {
        None => countersign_scenario::run(&fixture)?,
        Some(location) => run_in(&fixture, &location.file)?,
    };
    let as_table = match arguments.format {
        Some(format) => format == Format::Table,
        None => is_terminal() && !arguments.packages,
    };
    if as_table {
        print_text(&table(&run))?;
    } else {
        print_json(&report(&run, arguments.packages))?;
    }
    Ok(if run.passed() {
        Verdict::Good
    } else {
        Verdict::Bad
    })
}

/// Runs each case over a ledger file of its own, in a new directory.
fn run_in(fixture: &Fixture, directory: &Path) -> anyhow::Result<Run> {
    DirBuilder::new()
        .mode(0o700)
        .create(directory)
        .map_err(|error| {
            anyhow!(
                "cannot make a new directory for the cases' ledgers: {}",
                describe(&error)
            )
        })?;
    run_over(fixture, |index| {
        let file = directory.join(format!("case-{}.db", index + 1));
        let (ledger, clock) = new_fixture_ledger(&file, UtcSecond::MAX)?;
        Ok(CaseLedger {
            ledger: Box::new(ledger),
            set_time: Box::new(move |now| clock.set(now)),
        })
    })
}

/// The code, and how the result came where that is not fresh.
fn result(step: &StepRun) -> String {
    match step.package.model_result().delivery() {
        Delivery::Fresh => step.code().to_owned(),
        delivery @ (Delivery::LocalReplay | Delivery::ReceiptReconciled) => {
            format!("{} ({delivery})", step.code())
        }
    }
}

fn report(run: &Run, with_packages: bool) -> Value {
    let mut report = run.summary();
    if with_packages {
        report.insert("packages".to_owned(), run.packages());
        report.insert("provider_payloads".to_owned(), run.provider_payloads());
    }
    report.into()
}

/// Results and effects stay whole; names give way to a narrow terminal.
fn table(run: &Run) -> String {
    let mut table = Table::new();
    if let Some(columns) = terminal_width() {
        table.set_width(columns);
    }
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(["", "case / step", "result", "effects"]);
    for case in &run.cases {
        for (index, step) in case.steps.iter().enumerate() {
            let id = Inert::new(&step.id);
            let name = if index == 0 {
                format!("{} / {id}", Inert::new(&case.id))
            } else {
                format!("/ {id}")
            };
            table.add_row([
                if step.passed { "ok" } else { "NO" }.to_owned(),
                name,
                result(step),
                step.side_effect_count.to_string(),
            ]);
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if index == 1 {
            column.set_delimiter('-');
        } else {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    let steps: usize = run.cases.iter().map(|case| case.steps.len()).sum();
    let failed = run
        .cases
        .iter()
        .flat_map(|case| &case.steps)
        .filter(|step| !step.passed)
        .count();
    let (style, sentence) = if failed == 0 {
        (
            Style::new().fg_color(Some(AnsiColor::Green.into())),
            "All as expected.".to_owned(),
        )
    } else {
        (
            Style::new().fg_color(Some(AnsiColor::Red.into())),
            format!("{failed} not as expected."),
        )
    };
    let table: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    format!(
        "{}\n\n{} cases, {steps} steps. {style}{sentence}{style:#}\n",
        table.join("\n"),
        run.cases.len()
    )
}
