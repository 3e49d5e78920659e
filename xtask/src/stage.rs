//! The stages of a gate: run in order, each timed; one that fails stops only those that need it.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;

/// One step of the gate.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    /// The stage without whose success this one can say nothing.
    pub(crate) needs: Option<&'static str>,
    /// What a person does when this stage fails.
    pub(crate) remedy: &'static str,
    pub(crate) run: fn(&Path) -> anyhow::Result<()>,
}

/// Runs every stage, prints a table of results and times, and fails if one failed.
pub(crate) fn run_all(root: &Path, stages: &[&Stage]) -> anyhow::Result<()> {
    let mut reports = Vec::new();
    for stage in stages {
        let report = run_one(root, stage, &reports);
        reports.push(report);
    }
    eprint!("\n{}", table(&reports));
    let failures = failures(&reports);
    if failures.is_empty() {
        return Ok(());
    }
    bail!("the gate is closed\n{failures}");
}

/// The result of a stage that collects findings.
pub(crate) fn no_findings(findings: &[String]) -> anyhow::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    bail!(
        "
- {}",
        findings.join(
            "
- "
        )
    );
}

#[derive(Debug)]
struct Report {
    name: &'static str,
    remedy: &'static str,
    outcome: Outcome,
}

#[derive(Debug)]
enum Outcome {
    Passed { time: Duration },
    Failed { time: Duration, error: String },
    NotRun { needs: &'static str },
}

fn run_one(root: &Path, stage: &Stage, earlier: &[Report]) -> Report {
    let outcome = match stage.needs.filter(|needs| !passed(earlier, needs)) {
        Some(needs) => Outcome::NotRun { needs },
        None => run_timed(root, stage),
    };
    Report {
        name: stage.name,
        remedy: stage.remedy,
        outcome,
    }
}

fn run_timed(root: &Path, stage: &Stage) -> Outcome {
    eprintln!("\n== {}", stage.name);
    let start = Instant::now();
    let result = (stage.run)(root);
    let time = start.elapsed();
    match result {
        Ok(()) => Outcome::Passed { time },
        Err(error) => {
            let error = format!("{error:#}");
            eprintln!("{} failed: {error}", stage.name);
            Outcome::Failed { time, error }
        }
    }
}

fn passed(reports: &[Report], name: &str) -> bool {
    reports
        .iter()
        .any(|report| report.name == name && matches!(report.outcome, Outcome::Passed { .. }))
}

fn table(reports: &[Report]) -> String {
    let width = reports
        .iter()
        .map(|report| report.name.len())
        .max()
        .unwrap_or(0);
    reports.iter().fold(String::new(), |mut text, report| {
        let (word, time) = match &report.outcome {
            Outcome::Passed { time } => ("ok", Some(time)),
            Outcome::Failed { time, .. } => ("FAILED", Some(time)),
            Outcome::NotRun { .. } => ("not run", None),
        };
        let time = time.map_or_else(
            || "-".to_owned(),
            |time| format!("{:.1} s", time.as_secs_f64()),
        );
        let _ = writeln!(text, "{:width$}  {word:7}  {time:>9}", report.name);
        text
    })
}

fn failures(reports: &[Report]) -> String {
    reports.iter().fold(String::new(), |mut text, report| {
        match &report.outcome {
            Outcome::Passed { .. } => {}
            Outcome::Failed { error, .. } => {
                let error = error.replace('\n', "\n    ");
                let _ = write!(
                    text,
                    "\n{} failed: {error}\n  to do: {}\n",
                    report.name, report.remedy
                );
            }
            Outcome::NotRun { needs } => {
                let _ = write!(
                    text,
                    "\n{} did not run: it needs `{needs}` to pass\n",
                    report.name
                );
            }
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(
        name: &'static str,
        needs: Option<&'static str>,
        run: fn(&Path) -> anyhow::Result<()>,
    ) -> Stage {
        Stage {
            name,
            needs,
            remedy: "mend it",
            run,
        }
    }

    #[test]
    fn a_failure_stops_only_what_needs_it() {
        let stages = [
            stage("first", None, |_| bail!("broken")),
            stage("second", Some("first"), |_| Ok(())),
            stage("third", Some("second"), |_| Ok(())),
            stage("fourth", None, |_| Ok(())),
        ];
        let mut reports: Vec<Report> = Vec::new();
        for stage in &stages {
            let report = run_one(Path::new("."), stage, &reports);
            reports.push(report);
        }
        let words: Vec<_> = table(&reports)
            .lines()
            .map(|line| line.split_whitespace().nth(1).unwrap().to_owned())
            .collect();
        assert_eq!(words, ["FAILED", "not", "not", "ok"]);
        let failures = failures(&reports);
        assert!(
            failures.contains("first failed: broken\n  to do: mend it"),
            "{failures}"
        );
        assert!(
            failures.contains("third did not run: it needs `second`"),
            "{failures}"
        );
    }

    #[test]
    fn the_gate_fails_when_a_stage_fails_and_only_then() {
        assert!(run_all(Path::new("."), &[&stage("good", None, |_| Ok(()))]).is_ok());
        let error =
            run_all(Path::new("."), &[&stage("bad", None, |_| bail!("broken"))]).unwrap_err();
        assert!(error.to_string().contains("bad failed: broken"), "{error}");
    }
}
