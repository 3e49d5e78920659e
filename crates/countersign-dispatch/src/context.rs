//! What every state of a dispatch or a status query knows.

use countersign_contract::{
    Call, CheckedAnswer, Delivery, ErrorCode, Package, Principal, RequestDigest, StatusRef,
    ToolContract, UtcSecond,
};
use countersign_policy::AccessRequest;

/// A call with its contract and request digest, and the results that can be packaged for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) principal: &'a Principal,
    pub(crate) call: &'a Call,
    pub(crate) contract: &'a ToolContract,
    pub(crate) request: RequestDigest,
    pub(crate) now: UtcSecond,
}

impl<'a> Context<'a> {
    /// Steps 2 and 3: the tool is registered and the arguments keep its contract, or the call is refused.
    ///
    /// Another tool's contract is none: a write never passes for the read that stands beside it.
    pub(crate) fn open(
        principal: &'a Principal,
        call: &'a Call,
        contract: Option<&'a ToolContract>,
        now: UtcSecond,
    ) -> Result<Self, Box<Package>> {
        let contract = contract.filter(|contract| contract.name == call.name);
        let request = RequestDigest::of(principal, call, contract);
        let Some(contract) = contract else {
            let code = ErrorCode::UnknownTool;
            return Err(Box::new(Package::error(
                principal, call, None, request, code, now, None,
            )));
        };
        let context = Self {
            principal,
            call,
            contract,
            request,
            now,
        };
        if contract.check_arguments(&call.arguments).is_err() {
            return Err(Box::new(context.refuse(ErrorCode::InvalidArguments)));
        }
        Ok(context)
    }

    pub(crate) fn access(&self) -> AccessRequest<'a> {
        AccessRequest {
            principal: self.principal,
            call: self.call,
            contract: self.contract,
        }
    }

    /// The result of a check that did not pass.
    pub(crate) fn refuse(&self, code: ErrorCode) -> Package {
        self.error(code, None)
    }

    /// An error about an operation whose status can be asked for.
    pub(crate) fn error(&self, code: ErrorCode, status_ref: Option<StatusRef>) -> Package {
        let contract = Some(self.contract);
        Package::error(
            self.principal,
            self.call,
            contract,
            self.request,
            code,
            self.now,
            status_ref,
        )
    }

    /// A success.
    pub(crate) fn success(
        &self,
        answer: &CheckedAnswer,
        status_ref: Option<StatusRef>,
        delivery: Delivery,
    ) -> Package {
        Package::success(
            self.principal,
            self.call,
            self.contract,
            self.request,
            answer,
            status_ref,
            delivery,
        )
    }
}
