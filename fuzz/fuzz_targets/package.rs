//! A stranger's package, held against a fixed call: whatever it says, nothing but the package of that call passes.
//!
//! The first byte chooses. Even: the rest is a whole document. Odd: the rest is a series of edits of a valid package,
//! each a place and a member to put there.

#![no_main]

use std::sync::LazyLock;

use countersign_canonical::{Limits, Value, parse};
use countersign_contract::{
    Call, Delivery, ErrorCode, HandlerAnswer, Package, Principal, RequestDigest, Scope, StatusRef,
    ToolContract, UtcSecond, VerifiedPackage, verify, verify_result_set,
};
use libfuzzer_sys::fuzz_target;

/// The one part of a package that no digest covers.
const UNBOUND: &str = "redactions";

struct Setting {
    principal: Principal,
    call: Call,
    contract: ToolContract,
    packages: Vec<Value>,
}

static SETTING: LazyLock<Setting> = LazyLock::new(Setting::new);

fuzz_target!(|input: &[u8]| {
    let Some((choice, rest)) = input.split_first() else {
        return;
    };
    let setting = &*SETTING;
    if choice % 2 == 0 {
        if let Ok(package) = parse(rest, &Limits::passthrough()) {
            setting.judge(&package);
            let _ = ToolContract::from_value(&package).map(|contract| {
                assert_eq!(ToolContract::from_value(&contract.to_value()), Ok(contract));
            });
            let _ = Call::from_value(&package);
            let _ = Principal::from_value(&package);
        }
    } else {
        let which = usize::from(choice / 2) % setting.packages.len();
        let mut package = setting.packages[which].clone();
        for edit in rest.split(|byte| *byte == b'\n').take(8) {
            package = edited(package, edit);
        }
        setting.judge(&package);
    }
});

impl Setting {
    fn new() -> Self {
        let contract = include_bytes!("../../testdata/contracts/create_refund_draft.json");
        let contract = ToolContract::from_value(&json(contract)).expect("the contract is in order");
        let principal = json(br#"{"tenant_id": "t", "subject_id": "s", "roles": []}"#);
        let principal = Principal::from_value(&principal).expect("the principal is in order");
        let call = json(
            br#"{
                "provider": "openai", "api_family": "responses", "adapter_revision": "openai-responses-v1",
                "response_id": "r", "call_id": "c", "operation_id": "o", "idempotency_key": "k",
                "name": "create_refund_draft", "arguments": {"order_ref": "ORDER-7", "reason": "other"}
            }"#,
        );
        let call = Call::from_value(&call).expect("the call is in order");
        let mut setting = Self {
            principal,
            call,
            contract,
            packages: Vec::new(),
        };
        setting.packages = setting.every_package();
        setting
    }

    fn every_package(&self) -> Vec<Value> {
        let answer = HandlerAnswer {
            data: json(br#"{"draft_id": "DRAFT-1", "order_ref": "ORDER-7", "reason": "other"}"#),
            producer_revision: "refunds-mock-v2".to_owned(),
            resource_revision: None,
            observed_at: "2026-07-19T00:00:00Z".to_owned(),
            downstream_request_id: Some("q".to_owned()),
            receipt_id: Some("p".to_owned()),
        };
        let answer = answer
            .check(&self.contract, &self.call.arguments)
            .expect("the answer is in order");
        let request = RequestDigest::of(&self.principal, &self.call, Some(&self.contract));
        let status_ref =
            Scope::of(&self.principal, &self.call).map(|scope| StatusRef::of(&scope, &request));
        let now = UtcSecond::new(0).expect("the time is portable");
        let success = Package::success(
            &self.principal,
            &self.call,
            &self.contract,
            request,
            &answer,
            status_ref,
            Delivery::Fresh,
        );
        let errors = ErrorCode::ALL.iter().map(|code| {
            Package::error(
                &self.principal,
                &self.call,
                Some(&self.contract),
                request,
                *code,
                now,
                status_ref,
            )
        });
        std::iter::once(success)
            .chain(errors)
            .map(|package| Value::from(&package))
            .collect()
    }

    /// Only a package of the setting passes, with redactions as they may be; alone and in a set alike.
    fn judge(&self, package: &Value) {
        let alone = self.verify(package);
        let set = verify_result_set(
            &self.principal,
            &[&self.call],
            |_| Some(&self.contract),
            std::slice::from_ref(package),
        );
        assert_eq!(alone.is_some(), set.is_ok());
        if let Some(proof) = alone {
            let plain = without_redactions(package);
            let known = self
                .packages
                .iter()
                .any(|known| without_redactions(known) == plain);
            assert!(known, "a forged package passed: {}", proof.model_result());
        }
    }

    fn verify(&self, package: &Value) -> Option<VerifiedPackage<'_>> {
        verify(&self.principal, &self.call, Some(&self.contract), package)
            .map_err(|faults| assert!(!faults.to_string().is_empty()))
            .ok()
    }
}

/// Puts the JSON behind the first byte at the place that this byte names, or takes that place out where it is none.
fn edited(package: Value, edit: &[u8]) -> Value {
    let Some((place, member)) = edit.split_first() else {
        return package;
    };
    let mut left = usize::from(*place);
    let member = parse(member, &Limits::passthrough()).ok();
    put(package, &mut left, &mut Some(member))
}

/// Walks the members in order and edits the one at which `left` runs out.
fn put(value: Value, left: &mut usize, member: &mut Option<Option<Value>>) -> Value {
    let Value::Object(object) = value else {
        return value;
    };
    let members = object.into_iter().filter_map(|(name, value)| {
        if *left == 0
            && let Some(member) = member.take()
        {
            return member.map(|member| (name, member));
        }
        *left = left.saturating_sub(1);
        Some((name, put(value, left, member)))
    });
    Value::Object(members.collect())
}

fn without_redactions(package: &Value) -> Value {
    let mut package = package.as_object().cloned().unwrap_or_default();
    if let Some(Value::Object(mut audit)) = package.remove("protected_audit") {
        audit.remove(UNBOUND);
        package.insert("protected_audit".to_owned(), Value::Object(audit));
    }
    Value::Object(package)
}

fn json(text: &[u8]) -> Value {
    parse(text, &Limits::tool_result()).expect("the setting is JSON")
}
