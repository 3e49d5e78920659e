//! Rules as data: who may call what, with which arguments, and who has to approve.

use std::collections::BTreeMap;

use countersign_canonical::{Object, Value};
use countersign_contract::{
    ApproverId, FaultCollector, Faults, IdentifierError, Path, Problem, Rule, is_blank,
    read_value_rule,
};

use crate::decision::{AccessRequest, ApprovalNeed, Authorizer, Decision};
use crate::proof::{ApproverDirectory, ApproverStanding, is_policy};

/// The most rules, approvers, and names of one list.
const MAX_ENTRIES: usize = 1024;

/// A policy written as data.
///
/// A call is allowed when at least one `permit` rule matches and no `forbid` rule does. Without rules everything is
/// denied. Where several permits match, a person has to approve as soon as one of them says so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleBook {
    rules: Vec<AccessRule>,
    approvers: Vec<ApproverId>,
}

#[derive(Clone, Debug, PartialEq)]
struct AccessRule {
    verdict: Verdict,
    tools: Patterns,
    tenants: Patterns,
    subjects: Patterns,
    roles: Patterns,
    conditions: BTreeMap<String, Rule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Forbid,
    Permit(ApprovalNeed),
}

/// Names that match exactly, or up to a final `*`. Absent, anything matches.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Patterns {
    Any,
    OneOf(Vec<String>),
}

impl RuleBook {
    /// Reads `{rules, approvers}`; lists every fault.
    ///
    /// A rule is `{effect: "permit" | "forbid", tools, tenants, subjects, roles, when, approval}`. `tools` is required;
    /// names may end in `*`, and have none elsewhere. `when` holds named arguments against rules of the tool-contract form; an absent argument
    /// never matches. `approval` is `"person"` (also where it is left out) or `"policy"`.
    pub fn from_value(value: &Value) -> Result<Self, Faults> {
        let mut faults = FaultCollector::new();
        let book = read_rule_book(&Path::root(), value, &mut faults);
        faults.finish_with(book)
    }
}

impl Authorizer for RuleBook {
    fn decide(&self, request: &AccessRequest<'_>) -> Decision {
        let mut need = None;
        for rule in self.rules.iter().filter(|rule| rule.matches(request)) {
            match (rule.verdict, need) {
                (Verdict::Forbid, _) => return Decision::Denied,
                (Verdict::Permit(_), Some(ApprovalNeed::Person)) => {}
                (Verdict::Permit(asked), Some(ApprovalNeed::Policy) | None) => need = Some(asked),
            }
        }
        need.map_or(Decision::Denied, Decision::Allowed)
    }
}

impl ApproverDirectory for RuleBook {
    /// The listed approvers, save for whoever makes the call.
    fn standing(&self, approver: &ApproverId, request: &AccessRequest<'_>) -> ApproverStanding {
        let is_requester = approver.as_str() == request.principal.subject_id.as_str();
        if !is_requester && self.approvers.contains(approver) {
            ApproverStanding::Entitled
        } else {
            ApproverStanding::NotEntitled
        }
    }
}

impl AccessRule {
    fn matches(&self, request: &AccessRequest<'_>) -> bool {
        let principal = request.principal;
        self.tools.matches(request.call.name.as_str())
            && self.tenants.matches(principal.tenant_id.as_str())
            && self.subjects.matches(principal.subject_id.as_str())
            && (self.roles == Patterns::Any
                || principal
                    .roles
                    .iter()
                    .any(|role| self.roles.matches(role.as_str())))
            && self.conditions.iter().all(|(name, rule)| {
                let argument = request.call.arguments.get(name);
                argument.is_some_and(|value| rule.check_argument(value).is_ok())
            })
    }
}

impl Patterns {
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::OneOf(patterns) => {
                patterns
                    .iter()
                    .any(|pattern| match pattern.strip_suffix('*') {
                        Some(prefix) => name.starts_with(prefix),
                        None => name == pattern,
                    })
            }
        }
    }
}

/// Reads a rule book as part of a larger document.
pub fn read_rule_book(path: &Path, value: &Value, faults: &mut FaultCollector) -> Option<RuleBook> {
    let object = faults.object_of(path, value, &["rules"], &["approvers"])?;
    let rules_path = path.member("rules");
    let rules = read_list(&rules_path, object.get("rules")?, faults)
        .unwrap_or_default()
        .iter()
        .enumerate()
        .filter_map(|(index, rule)| read_rule(&rules_path.index(index), rule, faults))
        .collect();
    let approvers_path = path.member("approvers");
    let approvers = object
        .get("approvers")
        .and_then(|list| read_list(&approvers_path, list, faults))
        .unwrap_or_default()
        .iter()
        .enumerate()
        .filter_map(|(index, item)| faults.take(&approvers_path.index(index), read_approver(item)))
        .collect();
    Some(RuleBook { rules, approvers })
}

fn read_rule(path: &Path, value: &Value, faults: &mut FaultCollector) -> Option<AccessRule> {
    let optional = ["tenants", "subjects", "roles", "when", "approval"];
    let object = faults.object_of(path, value, &["effect", "tools"], &optional)?;
    let approval = match object.get("approval").map(Value::as_str) {
        None | Some(Some("person")) => Some(ApprovalNeed::Person),
        Some(Some("policy")) => Some(ApprovalNeed::Policy),
        Some(_) => {
            faults.push(
                path.member("approval"),
                Problem::Expected("\"person\" or \"policy\""),
            );
            None
        }
    };
    let verdict = match object.get("effect").and_then(Value::as_str) {
        Some("forbid") if object.contains_key("approval") => {
            faults.push(
                path.member("approval"),
                Problem::Expected("absent: nobody can approve what is forbidden"),
            );
            None
        }
        Some("forbid") => Some(Verdict::Forbid),
        Some("permit") => approval.map(Verdict::Permit),
        _ => {
            faults.push(
                path.member("effect"),
                Problem::Expected("\"permit\" or \"forbid\""),
            );
            None
        }
    };
    let tools = read_patterns(path, object, "tools", faults);
    let tenants = read_patterns(path, object, "tenants", faults);
    let subjects = read_patterns(path, object, "subjects", faults);
    let roles = read_patterns(path, object, "roles", faults);
    let conditions = read_conditions(&path.member("when"), object.get("when"), faults);
    Some(AccessRule {
        verdict: verdict?,
        tools,
        tenants,
        subjects,
        roles,
        conditions,
    })
}

fn read_conditions(
    path: &Path,
    value: Option<&Value>,
    faults: &mut FaultCollector,
) -> BTreeMap<String, Rule> {
    let mut conditions = BTreeMap::new();
    let Some(value) = value else {
        return conditions;
    };
    let Some(object) = value.as_object() else {
        faults.push(path.clone(), Problem::NotAnObject);
        return conditions;
    };
    for (argument, rule) in object.iter() {
        if let Some(rule) = read_value_rule(&path.member(argument), rule, faults) {
            conditions.insert(argument.to_owned(), rule);
        }
    }
    conditions
}

/// Reads a list of names. A faulty one leaves a fault, so that it never comes to matching anything.
///
/// What could never match is a fault: a `forbid` that nobody notices to be dead would permit.
fn read_patterns(
    path: &Path,
    object: &Object,
    name: &str,
    faults: &mut FaultCollector,
) -> Patterns {
    let Some(value) = object.get(name) else {
        return Patterns::Any;
    };
    let path = path.member(name);
    let items = read_list(&path, value, faults).unwrap_or_default();
    if value.as_array().is_some_and(<[Value]>::is_empty) {
        faults.push(
            path.clone(),
            Problem::Expected("a list of at least one name"),
        );
    }
    let mut patterns = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        patterns.extend(faults.take(&path.index(index), read_pattern(item)));
    }
    Patterns::OneOf(patterns)
}

fn read_pattern(item: &Value) -> Result<String, Problem> {
    let text = item.as_str().ok_or(Problem::Expected("a string"))?;
    if is_blank(text) {
        return Err(IdentifierError::Blank.into());
    }
    let prefix = text.strip_suffix('*').unwrap_or(text);
    if prefix.contains('*') {
        return Err(Problem::Expected("a name with `*` at its end only"));
    }
    Ok(text.to_owned())
}

fn read_approver(item: &Value) -> Result<ApproverId, Problem> {
    let text = item.as_str().ok_or(Problem::Expected("a string"))?;
    let approver = ApproverId::new(text)?;
    if is_policy(&approver) {
        return Err(Problem::Expected(
            "a person: `policy:` names stand for the policy itself",
        ));
    }
    Ok(approver)
}

fn read_list<'v>(
    path: &Path,
    value: &'v Value,
    faults: &mut FaultCollector,
) -> Option<&'v [Value]> {
    let items = value.as_array().filter(|items| items.len() <= MAX_ENTRIES);
    faults.take(
        path,
        items.ok_or(Problem::Expected("a list of at most 1024 items")),
    )
}
