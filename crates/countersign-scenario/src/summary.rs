//! The sum of a run, as `tool-cases-v2` programs print it.

use countersign_canonical::{Object, Value};

use crate::read::FIXTURE_SCHEMA;
use crate::run::{CaseRun, Run, StepRun, code, recovery};

impl Run {
    /// The sum: of every step its code, status, outcome, recovery, delivery, effects, and whether it passed.
    #[must_use]
    pub fn summary(&self) -> Object {
        Object::from([
            ("schema_version", FIXTURE_SCHEMA.into()),
            ("case_count", count(self.cases.len())),
            (
                "step_count",
                count(self.cases.iter().map(|case| case.steps.len()).sum()),
            ),
            ("passed", self.passed().into()),
            (
                "cases",
                Value::Array(
                    self.cases
                        .iter()
                        .map(|case| case_summary(case).into())
                        .collect(),
                ),
            ),
        ])
    }

    /// The packages, by case and step.
    #[must_use]
    pub fn packages(&self) -> Value {
        self.of_each_step(|step| Value::from(&step.package))
    }

    /// The provider payloads, by case and step.
    #[must_use]
    pub fn provider_payloads(&self) -> Value {
        self.of_each_step(|step| step.payload.clone().unwrap_or_default())
    }

    fn of_each_step(&self, value: impl Fn(&StepRun) -> Value) -> Value {
        let case_values = |case: &CaseRun| Value::Array(case.steps.iter().map(&value).collect());
        Value::Array(self.cases.iter().map(case_values).collect())
    }
}

impl StepRun {
    /// The error code, or `OK`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        code(&self.package)
    }
}

fn case_summary(case: &CaseRun) -> Object {
    Object::from([
        ("case_id", case.id.as_str().into()),
        ("passed", case.passed().into()),
        (
            "steps",
            Value::Array(
                case.steps
                    .iter()
                    .map(|step| step_summary(step).into())
                    .collect(),
            ),
        ),
    ])
}

fn step_summary(step: &StepRun) -> Object {
    let result = step.package.model_result();
    let errors = step
        .validation_errors
        .iter()
        .map(|error| error.as_str().into())
        .collect();
    Object::from([
        ("step_id", step.id.as_str().into()),
        ("actual_code", step.code().into()),
        ("status", result.status().as_str().into()),
        ("outcome", result.outcome().as_str().into()),
        ("recovery", recovery(&step.package).as_str().into()),
        ("delivery", result.delivery().as_str().into()),
        (
            "side_effect_count",
            Value::Number(step.side_effect_count.into()),
        ),
        ("validation_errors", Value::Array(errors)),
        ("passed", step.passed.into()),
    ])
}

fn count(number: usize) -> Value {
    Value::Number(u64::try_from(number).unwrap_or(u64::MAX).into())
}
