//! `countersign verify`.

use anyhow::{Context as _, anyhow};
use countersign_canonical::{Limits, Value};
use countersign_contract::{
    Call, FaultCollector, Path, Principal, ToolContract, read_call, read_contract, read_principal,
    verify,
};

use crate::cli::VerifyArguments;
use crate::input::read_json;
use crate::output::{Verdict, print_text};

/// Bounds on a document as `turn --packages` keeps it: an answer or arguments of 4 MiB with room for its indentation, and
/// arguments or rules of 32 levels inside what they belong to.
const DOCUMENT_LIMITS: Limits = Limits::passthrough().with_bytes(64 << 20);

pub(crate) fn run(arguments: &VerifyArguments) -> anyhow::Result<Verdict> {
    let package = read_json("package", &arguments.package, &DOCUMENT_LIMITS)?;
    let call = read_json("call", &arguments.call, &DOCUMENT_LIMITS)?;
    let Held {
        principal,
        call,
        contract,
    } = Held::read(&call).context("the call file is not in order")?;
    match verify(&principal, &call, contract.as_ref(), &package) {
        Ok(verified) => {
            print_text(&format!(
                "The package belongs to the call: {}.\n",
                verified.status()
            ))?;
            Ok(Verdict::Good)
        }
        Err(faults) => {
            print_text(&format!(
                "The package does not belong to the call:\n{faults}\n"
            ))?;
            Ok(Verdict::Bad)
        }
    }
}

/// What a package is held against.
struct Held {
    principal: Principal,
    call: Call,
    contract: Option<ToolContract>,
}

impl Held {
    fn read(value: &Value) -> anyhow::Result<Self> {
        let mut faults = FaultCollector::new();
        let held = Self::read_members(value, &mut faults);
        faults
            .finish_with(held)
            .map_err(|faults| anyhow!("{faults}"))
    }

    fn read_members(value: &Value, faults: &mut FaultCollector) -> Option<Self> {
        let object =
            faults.exact_object(&Path::root(), value, &["principal", "call", "contract"])?;
        let principal = read_principal(&Path::fixed("principal"), object.get("principal")?, faults);
        let call = read_call(&Path::fixed("call"), object.get("call")?, faults);
        let contract = object
            .get("contract")
            .filter(|contract| !contract.is_null());
        let contract =
            contract.and_then(|value| read_contract(&Path::fixed("contract"), value, faults));
        Some(Self {
            principal: principal?,
            call: call?,
            contract,
        })
    }
}
