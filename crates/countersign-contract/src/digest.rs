//! The digests of Tool Result v2, and exactly what each binds.
//!
//! Every digest is SHA-256 over the canonical Tool Result form of an object with fixed members. They are written here
//! member by member in canonical order, straight into the hasher.

use std::fmt;

use countersign_canonical::{Digest, Encoder, Sink, ToolResult};

use crate::call::Call;
use crate::identifier::{ApproverId, IdempotencyKey, SubjectId, TenantId, ToolName};
use crate::principal::Principal;
use crate::protected_audit::Downstream;
use crate::tool_contract::{Revisions, ToolContract, encode_texts, texts};
use crate::wire::digest_of;

macro_rules! digests {
    ($($(#[$doc:meta])+ $name:ident;)+) => {$(
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Digest<ToolResult>);

        impl $name {
            /// Reads 64 lower-case hex digits.
            #[must_use]
            pub fn parse_hex(text: &str) -> Option<Self> {
                Digest::parse_hex(text).ok().map(Self)
            }

            /// The digest itself.
            #[must_use]
            pub fn as_digest(&self) -> &Digest<ToolResult> {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }
    )+};
}

digests! {
    /// Binds a request: tenant, subject, tool, arguments, and the input, output and effect revisions.
    ///
    /// Not the key and not the call: two calls can make one request.
    RequestDigest;
    /// Binds the model's projection of a result.
    ResultDigest;
    /// Binds a result and its downstream evidence to one call, principal and whole tool contract.
    CallBindingDigest;
    /// Binds a call identity to what it was first used for: provider context, operation, key, purpose and request.
    CallFingerprint;
    /// Binds an approval to exactly one call: provider context, operation, key, request, revisions, policy and
    /// approver.
    ApprovalDigest;
    /// Binds what a subject means to have done: tenant, subject, tool and arguments, under whatever revisions.
    ///
    /// Two calls of one intent mean one effect, however often they are proposed.
    IntentDigest;
}

impl IntentDigest {
    /// Digests what a call means to have done.
    #[must_use]
    pub fn of(principal: &Principal, call: &Call) -> Self {
        Self(digest_of(|encoder| {
            encoder.begin_object();
            encoder.key("arguments");
            encoder.value(call.arguments.value());
            member(encoder, ("subject_id", principal.subject_id.as_str()));
            member(encoder, ("tenant_id", principal.tenant_id.as_str()));
            member(encoder, ("tool", call.name.as_str()));
            encoder.end_object();
        }))
    }

    /// The key that the host gives to the so-manieth effect of this intent: the same for everybody who proposes it.
    #[must_use]
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "a word, 64 hex digits and a number are an identifier"
    )]
    pub fn key(&self, generation: u64) -> IdempotencyKey {
        IdempotencyKey::new(format!("intent_{}_{generation}", self.0)).expect("a short text")
    }
}

impl ApprovalDigest {
    /// Sixty-four zeros: a well-formed digest that no approval has, for fixtures.
    #[must_use]
    pub fn of_nothing() -> Self {
        Self(Digest::from_bytes([0; 32]))
    }
}

/// What a call identity is used for. The two purposes never share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// To act.
    Dispatch,
    /// To ask what became of an action.
    QueryStatus,
}

impl Purpose {
    fn as_str(self) -> &'static str {
        match self {
            Self::Dispatch => "dispatch",
            Self::QueryStatus => "query_status",
        }
    }
}

impl RequestDigest {
    /// Digests a call's request under the registered contract, or under none.
    #[must_use]
    pub fn of(principal: &Principal, call: &Call, contract: Option<&ToolContract>) -> Self {
        let [effect, _, input, _, output, _, _] = texts(&call.name, revisions(contract));
        Self(digest_of(|encoder| {
            encoder.begin_object();
            encoder.key("arguments");
            encoder.value(call.arguments.value());
            member(encoder, effect);
            member(encoder, input);
            member(encoder, output);
            member(encoder, ("subject_id", principal.subject_id.as_str()));
            member(encoder, ("tenant_id", principal.tenant_id.as_str()));
            member(encoder, ("tool", call.name.as_str()));
            encoder.end_object();
        }))
    }
}

impl ResultDigest {
    pub(crate) fn new(digest: Digest<ToolResult>) -> Self {
        Self(digest)
    }
}

impl CallFingerprint {
    /// Digests what a call identity is used for.
    #[must_use]
    pub fn of(call: &Call, purpose: Purpose, request: &RequestDigest) -> Self {
        Self(digest_of(|encoder| {
            encoder.begin_object();
            member(
                encoder,
                ("adapter_revision", call.profile.adapter_revision()),
            );
            member(encoder, ("api_family", call.profile.api_family()));
            member(encoder, ("call_id", call.call_id.as_str()));
            key_member(encoder, call);
            member(encoder, ("operation_id", call.operation_id.as_str()));
            member(encoder, ("provider", call.profile.provider()));
            member(encoder, ("purpose", purpose.as_str()));
            hex_member(encoder, "request_sha256", &request.0);
            member(encoder, ("response_id", call.response_id.as_str()));
            encoder.end_object();
        }))
    }
}

impl ApprovalDigest {
    /// Digests what an approver approves.
    #[must_use]
    pub fn of(
        call: &Call,
        contract: &ToolContract,
        request: &RequestDigest,
        approver: &ApproverId,
    ) -> Self {
        let revisions = &contract.revisions;
        Self(digest_of(|encoder| {
            encoder.begin_object();
            member(
                encoder,
                ("adapter_revision", call.profile.adapter_revision()),
            );
            member(encoder, ("api_family", call.profile.api_family()));
            member(encoder, ("approval_revision", revisions.policy.as_str()));
            member(encoder, ("approver_id", approver.as_str()));
            member(encoder, ("call_id", call.call_id.as_str()));
            member(encoder, ("effect_revision", revisions.effect.as_str()));
            key_member(encoder, call);
            member(
                encoder,
                ("input_schema_revision", revisions.input_schema.as_str()),
            );
            member(encoder, ("operation_id", call.operation_id.as_str()));
            member(
                encoder,
                ("output_schema_revision", revisions.output_schema.as_str()),
            );
            member(encoder, ("provider", call.profile.provider()));
            hex_member(encoder, "request_sha256", &request.0);
            member(encoder, ("response_id", call.response_id.as_str()));
            encoder.end_object();
        }))
    }
}

impl CallBindingDigest {
    /// Digests everything that ties a result to a call.
    ///
    /// The evidence is bounded: it comes from a checked answer or a checked package.
    pub(crate) fn of(
        principal: &Principal,
        call: &Call,
        contract: Option<&ToolContract>,
        request: &RequestDigest,
        result: &ResultDigest,
        downstream: &Downstream,
    ) -> Self {
        Self(digest_of(|encoder| {
            encoder.begin_object();
            member(
                encoder,
                ("adapter_revision", call.profile.adapter_revision()),
            );
            member(encoder, ("api_family", call.profile.api_family()));
            member(encoder, ("call_id", call.call_id.as_str()));
            encoder.key("downstream");
            downstream.encode(encoder);
            key_member(encoder, call);
            member(encoder, ("operation_id", call.operation_id.as_str()));
            member(encoder, ("provider", call.profile.provider()));
            hex_member(encoder, "request_sha256", &request.0);
            member(encoder, ("response_id", call.response_id.as_str()));
            hex_member(encoder, "result_sha256", &result.0);
            member(encoder, ("subject_id", principal.subject_id.as_str()));
            member(encoder, ("tenant_id", principal.tenant_id.as_str()));
            encoder.key("tool_contract");
            encode_texts(&texts(&call.name, revisions(contract)), encoder);
            encoder.end_object();
        }))
    }
}

/// A principal as the audit projection names it: `sha256:` and the digest of tenant and subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrincipalReference(Digest<ToolResult>);

impl PrincipalReference {
    /// Digests tenant and subject; roles are not part of an identity.
    #[must_use]
    pub fn of(principal: &Principal) -> Self {
        Self(digest_of(|encoder| {
            encoder.begin_object();
            member(encoder, ("subject_id", principal.subject_id.as_str()));
            member(encoder, ("tenant_id", principal.tenant_id.as_str()));
            encoder.end_object();
        }))
    }
}

impl fmt::Display for PrincipalReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "sha256:{}", self.0)
    }
}

/// Within which at most one effect happens: tenant, subject, tool and key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    /// The tenant.
    pub tenant_id: TenantId,
    /// The subject.
    pub subject_id: SubjectId,
    /// The tool.
    pub tool: ToolName,
    /// The key.
    pub key: IdempotencyKey,
}

impl Scope {
    /// The scope of a call that has a key.
    #[must_use]
    pub fn of(principal: &Principal, call: &Call) -> Option<Self> {
        Some(Self {
            tenant_id: principal.tenant_id.clone(),
            subject_id: principal.subject_id.clone(),
            tool: call.name.clone(),
            key: call.idempotency_key.clone()?,
        })
    }
}

/// The handle under which the outcome of a write can be asked for: `status_` and 32 hex digits.
///
/// It follows from scope and request, so it names the same operation every time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StatusRef([u8; Self::DIGITS]);

impl StatusRef {
    const PREFIX: &'static str = "status_";
    const DIGITS: usize = 32;

    /// The handle of a write.
    #[must_use]
    pub fn of(scope: &Scope, request: &RequestDigest) -> Self {
        let digest: Digest<ToolResult> = digest_of(|encoder| {
            encoder.begin_object();
            hex_member(encoder, "request_sha256", &request.0);
            encoder.key("scope");
            encoder.begin_array();
            encoder.string(scope.tenant_id.as_str());
            encoder.string(scope.subject_id.as_str());
            encoder.string(scope.tool.as_str());
            encoder.string(scope.key.as_str());
            encoder.end_array();
            encoder.end_object();
        });
        let mut digits = [0; Self::DIGITS];
        for (digit, hex) in digits.iter_mut().zip(digest.to_hex().as_str().as_bytes()) {
            *digit = *hex;
        }
        Self(digits)
    }

    /// Reads a handle.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits: [u8; Self::DIGITS] = text
            .strip_prefix(Self::PREFIX)?
            .as_bytes()
            .try_into()
            .ok()?;
        let lower_hex = |digit: &u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(digit);
        digits.iter().all(lower_hex).then_some(Self(digits))
    }

    fn digits(&self) -> &str {
        // INVARIANT: only ASCII digits and letters are ever stored.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for StatusRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(Self::PREFIX)?;
        formatter.write_str(self.digits())
    }
}

impl fmt::Debug for StatusRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

fn revisions(contract: Option<&ToolContract>) -> Option<&Revisions> {
    contract.map(|contract| &contract.revisions)
}

fn member<S: Sink>(encoder: &mut Encoder<'_, ToolResult, S>, (name, text): (&str, &str)) {
    encoder.key(name);
    encoder.string(text);
}

fn key_member<S: Sink>(encoder: &mut Encoder<'_, ToolResult, S>, call: &Call) {
    encoder.key("idempotency_key");
    encoder.optional_string(call.idempotency_key.as_ref().map(IdempotencyKey::as_str));
}

pub(crate) fn hex_member<S: Sink>(
    encoder: &mut Encoder<'_, ToolResult, S>,
    name: &str,
    digest: &Digest<ToolResult>,
) {
    encoder.key(name);
    encoder.string(digest.to_hex().as_str());
}
