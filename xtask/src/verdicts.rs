//! What the conformance suite found, check by check, and whether one run is worse than another.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::Value;

/// What follows a scenario's name in the name of its folder: a hyphen and a time.
const TIME_LENGTH: usize = "-2026-12-01T04-24-29-032Z".len();

/// What a check came to, the better before the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Success,
    Skipped,
    Warning,
    Failure,
    /// The scenario did not come as far.
    Missing,
}

/// The checks of one run by scenario and name: the worst of all that bear the same name.
#[derive(Debug, Default)]
pub(crate) struct Verdicts {
    checks: BTreeMap<(String, String), Verdict>,
    unmet: BTreeSet<String>,
}

impl Verdicts {
    /// Reads the folder that the suite has written: `PREFIX SCENARIO TIME/checks.json`.
    pub(crate) fn read(folder: &Path, prefix: &str) -> anyhow::Result<Self> {
        let mut verdicts = Self::default();
        let entries =
            fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let scenario = name
                .len()
                .checked_sub(TIME_LENGTH)
                .and_then(|length| name.get(..length))
                .and_then(|name| name.strip_prefix(prefix));
            let Some(scenario) = scenario else {
                bail!(
                    "the suite has written a folder `{name}`, which this version is not known for"
                );
            };
            let text = fs::read_to_string(entry.path().join("checks.json"))
                .with_context(|| format!("cannot read the checks of {name}"))?;
            verdicts.add(scenario, &text)?;
        }
        if verdicts.checks.is_empty() {
            bail!("the suite has checked nothing");
        }
        Ok(verdicts)
    }

    fn add(&mut self, scenario: &str, checks: &str) -> anyhow::Result<()> {
        let checks: Vec<Value> = serde_json::from_str(checks)
            .with_context(|| format!("the checks of {scenario} are no list"))?;
        for check in &checks {
            let member = |name: &str| check.get(name).and_then(Value::as_str);
            let (Some(id), Some(status)) = (member("id"), member("status")) else {
                bail!("a check of {scenario} has no id or no status");
            };
            let verdict = match status {
                // What was seen, not whether it was right.
                "INFO" => continue,
                "SUCCESS" => Verdict::Success,
                "SKIPPED" => Verdict::Skipped,
                "WARNING" => Verdict::Warning,
                "FAILURE" => Verdict::Failure,
                unknown => bail!("a check of {scenario} has the unknown status {unknown}"),
            };
            self.checks
                .entry((scenario.to_owned(), id.to_owned()))
                .and_modify(|worst| *worst = verdict.max(*worst))
                .or_insert(verdict);
        }
        Ok(())
    }

    /// Notes that the suite says of something required that it is not met.
    pub(crate) fn miss(&mut self, requirement: &str) {
        self.unmet.insert(requirement.to_owned());
    }

    /// What is required and not met.
    pub(crate) fn unmet(&self) -> BTreeSet<String> {
        self.unmet.clone()
    }

    /// Takes in what was found elsewhere.
    pub(crate) fn extend(&mut self, other: Self) {
        self.checks.extend(other.checks);
        self.unmet.extend(other.unmet);
    }

    /// The checks that came to less here than in the other run, as `SCENARIO CHECK`.
    pub(crate) fn worse_than(&self, other: &Self) -> BTreeSet<String> {
        other
            .checks
            .iter()
            .filter(|(check, before)| self.checks.get(*check).unwrap_or(&Verdict::Missing) > before)
            .map(|((scenario, check), _)| format!("{scenario} {check}"))
            .chain(
                self.checks
                    .iter()
                    .filter(|(check, now)| {
                        **now >= Verdict::Warning && !other.checks.contains_key(*check)
                    })
                    .map(|((scenario, check), _)| format!("{scenario} {check}")),
            )
            .collect()
    }
}

impl fmt::Display for Verdicts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |verdict| {
            self.checks
                .values()
                .filter(|found| **found == verdict)
                .count()
        };
        write!(
            formatter,
            "{} checks passed, {} failed, {} warned of, {} not applicable",
            count(Verdict::Success),
            count(Verdict::Failure),
            count(Verdict::Warning),
            count(Verdict::Skipped),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(checks: &[(&str, &str)]) -> Verdicts {
        let mut verdicts = Verdicts::default();
        for (id, status) in checks {
            let text = format!(r#"[{{"id":"{id}","status":"{status}"}}]"#);
            verdicts.add("s", &text).unwrap();
        }
        verdicts
    }

    #[test]
    fn the_worst_of_a_name_counts() {
        let found = verdicts(&[
            ("a", "SUCCESS"),
            ("a", "FAILURE"),
            ("a", "SUCCESS"),
            ("b", "INFO"),
        ]);
        assert_eq!(
            found.to_string(),
            "0 checks passed, 1 failed, 0 warned of, 0 not applicable"
        );
    }

    #[test]
    fn what_is_worse_or_missing_or_newly_wrong_is_named() {
        let before = verdicts(&[
            ("same", "FAILURE"),
            ("better", "WARNING"),
            ("worse", "SUCCESS"),
            ("missing", "SUCCESS"),
            ("skipped", "SUCCESS"),
        ]);
        let now = verdicts(&[
            ("same", "FAILURE"),
            ("better", "SUCCESS"),
            ("worse", "WARNING"),
            ("skipped", "SKIPPED"),
            ("new", "FAILURE"),
            ("fine", "SUCCESS"),
        ]);
        let worse: Vec<_> = now.worse_than(&before).into_iter().collect();
        assert_eq!(worse, ["s missing", "s new", "s skipped", "s worse"]);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let mut verdicts = Verdicts::default();
        assert!(verdicts.add("s", "{}").is_err());
        assert!(verdicts.add("s", r#"[{"id":"a"}]"#).is_err());
        assert!(
            verdicts
                .add("s", r#"[{"id":"a","status":"PERHAPS"}]"#)
                .is_err()
        );
    }
}
