//! `countersign demo`: one refund, from proposal to proof, through the real pipeline.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Effects, Style};
use anyhow::Context as _;
use countersign_canonical::{Object, Utf8, Value, encode};
use countersign_contract::{
    Arguments, Call, CallId, ErrorCode, Faults, IdempotencyKey, OperationId, Package, Principal,
    Profile, RequestDigest, ResponseId, Roles, StatusRef, SubjectId, TenantId, ToolContract,
    ToolName, UtcSecond, verify,
};
use countersign_dispatch::{DispatchRequest, Ledger, MemoryLedger, StatusRequest};
use countersign_policy::{AccessRequest, Approval};
use countersign_runtime::{DispatchPorts, StatusPorts, dispatch, query_status};
use countersign_shop::{Disturbance, Shop, ShopExecutor, approver, registry};

use crate::cli::DemoArguments;
use crate::fixture_ledger::new_fixture_ledger;
use crate::output::{Verdict, print_json, print_text};

/// The demonstration's clock stands at 2026-07-19T00:00:00Z.
const NOW: u64 = 1_784_419_200;

pub(crate) fn run(arguments: &DemoArguments) -> anyhow::Result<Verdict> {
    let steps = Demo::new(arguments)?.run()?;
    if arguments.json {
        print_json(&Value::Array(steps.iter().map(Step::to_value).collect()))?;
    } else {
        let told = (1..).zip(&steps).map(|(number, step)| step.to_text(number));
        print_text(&told.collect::<String>())?;
    }
    Ok(Verdict::Good)
}

/// One step, told and proven.
struct Step {
    title: &'static str,
    told: &'static str,
    code: String,
    effects: u64,
    proof: Proof,
}

/// What a step leaves behind.
enum Proof {
    Package(Box<Package>),
    Approval(Box<Approval>),
    Faults(Faults),
}

struct Demo {
    principal: Principal,
    contract: ToolContract,
    shop: Shop,
    ledger: Box<dyn Ledger>,
    now: UtcSecond,
}

impl Demo {
    fn new(arguments: &DemoArguments) -> anyhow::Result<Self> {
        let now = UtcSecond::new(NOW).context("a portable time")?;
        let ledger: Box<dyn Ledger> = match &arguments.ledger {
            None => Box::new(MemoryLedger::default()),
            Some(location) => Box::new(new_fixture_ledger(&location.file, now)?.0),
        };
        let registry = registry();
        let refund = registry.get(&ToolName::new("create_refund_draft")?);
        Ok(Self {
            principal: Principal {
                tenant_id: TenantId::new("tenant-a")?,
                subject_id: SubjectId::new("user-1")?,
                roles: Roles::default(),
            },
            contract: refund.context("the shop drafts refunds")?.clone(),
            shop: Shop::default(),
            ledger,
            now,
        })
    }

    fn run(&self) -> anyhow::Result<Vec<Step>> {
        let first = self.call("call-1", "refund-1", "damaged")?;
        let lost = self.call("call-3", "refund-2", "duplicate")?;
        let (none, all) = (Disturbance::None, Disturbance::AnswerLost);
        let approval = self.approve(&first)?;
        let lost_approval = self.approve(&lost)?;
        let mut steps = vec![
            self.dispatched(
                "Proposed",
                "The model proposes a refund. Nobody has approved it, so nothing runs.",
                &first,
                &[],
                none,
            )?,
            self.step(
                "Approved",
                "A person approves exactly this call: its digest binds arguments, key, revisions and approver.",
                "APPROVED",
                Proof::Approval(Box::new(approval.clone())),
            ),
            self.dispatched(
                "Executed",
                "The same call, with the approval: the shop drafts the refund, once.",
                &first,
                &[approval],
                none,
            )?,
            self.dispatched(
                "Repeated",
                "The model asks again under the same key: the record answers, the shop is not asked.",
                &self.call("call-2", "refund-1", "damaged")?,
                &[],
                none,
            )?,
            self.dispatched(
                "Answer lost",
                "Another refund. The shop drafts it, and its answer is lost on the way: the outcome is unknown.",
                &lost,
                std::slice::from_ref(&lost_approval),
                all,
            )?,
            self.dispatched(
                "Not repeated",
                "Trying again changes nothing: an unknown write is never run twice.",
                &lost,
                &[lost_approval],
                none,
            )?,
        ];
        let status_ref = steps
            .last()
            .and_then(Step::status_ref)
            .context("an unknown write has a handle")?;
        steps.push(self.queried(&lost, status_ref)?);
        steps.push(self.tampered(&first)?);
        Ok(steps)
    }

    fn call(&self, call_id: &str, key: &str, reason: &str) -> anyhow::Result<Call> {
        let arguments = Value::from([("order_ref", "ORDER-7".into()), ("reason", reason.into())]);
        Ok(Call {
            profile: Profile::OpenAiResponses,
            response_id: ResponseId::new("response-1")?,
            call_id: CallId::new(call_id)?,
            operation_id: OperationId::new(format!("operation-{key}"))?,
            idempotency_key: Some(IdempotencyKey::new(key)?),
            name: self.contract.name.clone(),
            arguments: Arguments::new(arguments)?,
        })
    }

    fn approve(&self, call: &Call) -> anyhow::Result<Approval> {
        let access = AccessRequest {
            principal: &self.principal,
            call,
            contract: &self.contract,
        };
        let request = RequestDigest::of(&self.principal, call, Some(&self.contract));
        let expires_at = self.now.checked_add(60).context("a portable time")?;
        let id = format!("approval-{}", call.call_id);
        Ok(Approval::of(&access, &request, id, &approver(), expires_at))
    }

    fn dispatched(
        &self,
        title: &'static str,
        told: &'static str,
        call: &Call,
        approvals: &[Approval],
        disturbance: Disturbance,
    ) -> anyhow::Result<Step> {
        let executor = ShopExecutor {
            shop: &self.shop,
            disturbance,
        };
        let ports = DispatchPorts {
            ledger: &*self.ledger,
            authorizer: &self.shop,
            approvers: &self.shop,
            state: &self.shop,
            executor: &executor,
        };
        let request = DispatchRequest {
            principal: &self.principal,
            call,
            contract: Some(&self.contract),
            approvals,
            intent: None,
            downstream_memory: None,
            now: self.now,
        };
        let package = dispatch(&ports, &request)?;
        Ok(self.packaged(title, told, package))
    }

    fn queried(&self, lost: &Call, status_ref: StatusRef) -> anyhow::Result<Step> {
        let query = Call {
            call_id: CallId::new("query-1")?,
            ..lost.clone()
        };
        let ports = StatusPorts {
            ledger: &*self.ledger,
            authorizer: &self.shop,
            source: &self.shop,
        };
        let request = StatusRequest {
            principal: &self.principal,
            call: &query,
            contract: Some(&self.contract),
            status_ref,
            expected_request: RequestDigest::of(&self.principal, &query, Some(&self.contract)),
            now: self.now,
        };
        let package = query_status(&ports, &request)?;
        Ok(self.packaged(
            "Reconciled",
            "A status query finds the shop's receipt: now it is proven that the refund was drafted.",
            package,
        ))
    }

    /// Changes one text inside the first refund's package, as a mix-up or a faulty store would.
    fn tampered(&self, first: &Call) -> anyhow::Result<Step> {
        let step = self.dispatched("", "", first, &[], Disturbance::None)?;
        let package = replaced(
            step.proof.to_value(),
            &["model_result", "data", "reason"],
            "other".into(),
        );
        let faults = verify(&self.principal, first, Some(&self.contract), &package);
        let faults = faults.err().context("a tampered package is refused")?;
        Ok(self.step(
            "Tampered",
            "Somebody changes one word of the first result's package: it no longer belongs to the call.",
            "REFUSED",
            Proof::Faults(faults),
        ))
    }

    fn packaged(&self, title: &'static str, told: &'static str, package: Package) -> Step {
        let code = package
            .model_result()
            .error_code()
            .map_or("OK", ErrorCode::as_str);
        self.step(title, told, code, Proof::Package(Box::new(package)))
    }

    fn step(&self, title: &'static str, told: &'static str, code: &str, proof: Proof) -> Step {
        Step {
            title,
            told,
            code: code.to_owned(),
            effects: self.shop.effect_count(),
            proof,
        }
    }
}

/// The value with another one at the end of the path.
fn replaced(value: Value, path: &[&str], new: Value) -> Value {
    let [name, rest @ ..] = path else { return new };
    let mut object = match value {
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Object::new()
        }
    };
    let inner = object.remove(name).unwrap_or_default();
    object.insert((*name).to_owned(), replaced(inner, rest, new));
    object.into()
}

impl Proof {
    fn to_value(&self) -> Value {
        match self {
            Self::Package(package) => Value::from(package.as_ref()),
            Self::Approval(approval) => approval.to_value(),
            Self::Faults(faults) => Value::Array(
                faults
                    .iter()
                    .map(|fault| fault.to_string().into())
                    .collect(),
            ),
        }
    }
}

impl Step {
    /// The handle of the step's write.
    fn status_ref(&self) -> Option<StatusRef> {
        match &self.proof {
            Proof::Package(package) => package.protected_audit().downstream.status_ref,
            Proof::Approval(_) | Proof::Faults(_) => None,
        }
    }

    fn to_value(&self) -> Value {
        let proof = match &self.proof {
            Proof::Package(_) => "package",
            Proof::Approval(_) => "approval",
            Proof::Faults(_) => "faults",
        };
        Value::from([
            ("step", self.title.into()),
            ("told", self.told.into()),
            ("code", self.code.as_str().into()),
            ("effects", Value::Number(self.effects.into())),
            (proof, self.proof.to_value()),
        ])
    }

    fn to_text(&self, number: usize) -> String {
        let bold = Style::new().effects(Effects::BOLD);
        let dim = Style::new().effects(Effects::DIMMED);
        let code = Style::new()
            .effects(Effects::BOLD)
            .fg_color(Some(self.color().into()));
        let mut text = format!(
            "{bold}{number}. {}{bold:#}  {code}{}{code:#}  {dim}effects so far: {}{dim:#}\n   {}\n",
            self.title, self.code, self.effects, self.told
        );
        for line in self.proof_lines() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "   {dim}{line}{dim:#}");
        }
        text.push('\n');
        text
    }

    fn color(&self) -> AnsiColor {
        match self.code.as_str() {
            "OK" | "APPROVED" => AnsiColor::Green,
            "OUTCOME_UNKNOWN" => AnsiColor::Magenta,
            _ => AnsiColor::Yellow,
        }
    }

    fn proof_lines(&self) -> Vec<String> {
        match &self.proof {
            Proof::Package(package) => {
                let audit = package.protected_audit();
                let mut lines = vec![format!("result  {}", audit.binding.result)];
                lines.push(format!("binding {}", audit.binding.call));
                lines.extend(package.model_result().data().map(|data| {
                    format!("data    {}", String::from_utf8_lossy(&encode::<Utf8>(data)))
                }));
                lines.extend(
                    audit
                        .downstream
                        .receipt_id
                        .as_ref()
                        .map(|receipt| format!("receipt {receipt}")),
                );
                lines.extend(
                    audit
                        .downstream
                        .status_ref
                        .map(|status_ref| format!("handle  {status_ref}")),
                );
                lines
            }
            Proof::Approval(approval) => vec![
                format!("digest  {}", approval.approval_digest),
                format!(
                    "by      {}, until {}",
                    approval.approver_id,
                    UtcSecond::new(approval.expires_at).unwrap_or(UtcSecond::MAX)
                ),
            ],
            Proof::Faults(faults) => faults.iter().map(ToString::to_string).collect(),
        }
    }
}
