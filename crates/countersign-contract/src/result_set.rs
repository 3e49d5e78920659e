//! The results of a whole turn: one for each call, none missing, none twice, none swapped.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use countersign_canonical::Value;

use crate::call::Call;
use crate::fault::{FaultCollector, Faults, Path, Problem};
use crate::principal::Principal;
use crate::tool_contract::ToolContract;
use crate::verify::{VerifiedPackage, verify};

/// A call's identity within a turn: response id and call id.
type Identity<'v> = (&'v str, &'v str);

/// Proves that the packages are the results of exactly these calls, each once, in any order.
///
/// `contract` finds a tool's contract by the call. On success the proofs stand in the calls' order.
pub fn verify_result_set<'a, 'c>(
    principal: &Principal,
    calls: &[&'a Call],
    contract: impl Fn(&Call) -> Option<&'c ToolContract>,
    packages: &[Value],
) -> Result<Vec<VerifiedPackage<'a>>, Faults> {
    let mut faults = FaultCollector::new();
    let packages = by_identity(packages, &mut faults);
    let mut expected: BTreeMap<Identity<'_>, usize> = BTreeMap::new();
    let mut verified = Vec::with_capacity(calls.len());
    for (index, call) in calls.iter().enumerate() {
        let path = Path::fixed("calls").index(index);
        let identity = (call.response_id.as_str(), call.call_id.as_str());
        if expected.insert(identity, index).is_some() {
            faults.push(path, Problem::Duplicate);
            continue;
        }
        let Some((place, package)) = packages.get(&identity) else {
            faults.push(path.member("result"), Problem::Absent);
            continue;
        };
        match verify(principal, call, contract(call), package) {
            Ok(proof) => verified.push(proof),
            Err(found) => {
                for fault in &found {
                    faults.push(place.within(&fault.path), fault.problem.clone());
                }
            }
        }
    }
    for (identity, (path, _)) in &packages {
        if !expected.contains_key(identity) {
            faults.push(path.clone(), Problem::NotAskedFor);
        }
    }
    faults.finish()?;
    Ok(verified)
}

/// The packages by the identity they claim, each with its place in the list.
fn by_identity<'v>(
    packages: &'v [Value],
    faults: &mut FaultCollector,
) -> BTreeMap<Identity<'v>, (Path, &'v Value)> {
    let mut found = BTreeMap::new();
    for (index, package) in packages.iter().enumerate() {
        let path = Path::fixed("packages").index(index);
        let Some(identity) = claimed_identity(package) else {
            let due = "a package that names its response and call";
            faults.push(path, Problem::Expected(due));
            continue;
        };
        match found.entry(identity) {
            Entry::Vacant(vacant) => {
                vacant.insert((path, package));
            }
            Entry::Occupied(_) => faults.push(path, Problem::Duplicate),
        }
    }
    found
}

fn claimed_identity(package: &Value) -> Option<Identity<'_>> {
    let context = package.get("protected_audit")?.get("provider_context")?;
    Some((
        context.get("response_id")?.as_str()?,
        context.get("call_id")?.as_str()?,
    ))
}
