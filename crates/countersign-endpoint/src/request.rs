//! The execution request: parsed, checked against the contract and the catalog, digests recomputed.

use crate::approval::ApprovalBinding;
use crate::arguments::check_arguments;
use crate::catalog::Catalog;
use crate::digest::{AsciiDigest, Utf8Digest};
use crate::encoding::{canonical_json_ascii, sha256_json_ascii, sha256_json_utf8};
use crate::fault::{Fault, FaultKind, Faults, Location, RequestError};
use crate::field_reader::FieldReader;
use crate::identifier::{ActionId, IntentId, ToolName};
use crate::parser::{parse, parse_respelled};
use crate::value::{Members, Value};

/// The schema of an execution request.
pub const EXECUTION_REQUEST_SCHEMA: &str = "ColonyGovernedActionExecutionV1";

/// A request that keeps the whole contract.
///
/// Every digest in it has been recomputed, its arguments are its tool's, and its
/// approval binding is exact. Whether the approval is alive depends on when one
/// asks: see [`ApprovalBinding::liveness`].
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutionRequest {
    action_id: ActionId,
    action_digest: Utf8Digest,
    intent_id: IntentId,
    intent_digest: AsciiDigest,
    tool_name: ToolName,
    arguments: Members,
    arguments_sha256: AsciiDigest,
    approval: ApprovalBinding,
    execution_digest: Utf8Digest,
    content: Content,
}

/// The ASCII canonical form of a request: two requests are the same if this is.
///
/// `1` and `1.0` differ in it; member order, white space and escapes do not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content(String);

impl Content {
    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl ExecutionRequest {
    /// Reads a PUT body for the action that the path names.
    ///
    /// On failure the error holds every fault, and nothing of the request's own text.
    pub fn parse(
        path_action_id: &str,
        body: &[u8],
        catalog: &Catalog,
    ) -> Result<Self, RequestError> {
        Self::read(parse(body)?, Some(path_action_id), Some(catalog))
    }

    /// Reads a request back from its stored content.
    ///
    /// Everything is checked again but the catalog's rules: a tool that has since
    /// changed or gone must not make a recorded result unreadable.
    pub(crate) fn restore(content: &str) -> Result<Self, RequestError> {
        Self::read(parse_respelled(content.as_bytes())?, None, None)
    }

    /// The action's id.
    pub fn action_id(&self) -> &ActionId {
        &self.action_id
    }

    /// The digest of the host's action.
    pub fn action_digest(&self) -> Utf8Digest {
        self.action_digest
    }

    /// The intent's id.
    pub fn intent_id(&self) -> &IntentId {
        &self.intent_id
    }

    /// The digest of the intent.
    pub fn intent_digest(&self) -> AsciiDigest {
        self.intent_digest
    }

    /// The tool to run.
    pub fn tool_name(&self) -> &ToolName {
        &self.tool_name
    }

    /// The tool's arguments.
    pub fn arguments(&self) -> &Members {
        &self.arguments
    }

    /// The digest of the arguments.
    pub fn arguments_sha256(&self) -> AsciiDigest {
        self.arguments_sha256
    }

    /// The owner's approval.
    pub fn approval(&self) -> &ApprovalBinding {
        &self.approval
    }

    /// The digest of the request without this digest.
    pub fn execution_digest(&self) -> Utf8Digest {
        self.execution_digest
    }

    /// What makes two requests the same.
    pub fn content(&self) -> &Content {
        &self.content
    }

    fn read(
        document: Value,
        path_action_id: Option<&str>,
        catalog: Option<&Catalog>,
    ) -> Result<Self, RequestError> {
        let content = Content(canonical_json_ascii(&document));
        let Value::Object(mut members) = document else {
            return Err(refuse(vec![Fault::new(
                Location::Document,
                FaultKind::NotAnObject,
            )]));
        };
        let mut faults = Vec::new();
        let mut fields =
            FieldReader::new(&members, &mut faults, Location::Document, Location::Field);
        fields.text("schema", FaultKind::WrongSchema, |text| {
            (text == EXECUTION_REQUEST_SCHEMA).then_some(())
        });
        fields.one("version");
        let action_id = fields.text("action_id", FaultKind::NotAnActionId, ActionId::parse);
        if let (Some(id), Some(path)) = (&action_id, path_action_id)
            && id.as_str() != path
        {
            fields.fault("action_id", FaultKind::OtherAction);
        }
        let action_digest = fields.text("action_digest", FaultKind::NotADigest, Utf8Digest::parse);
        let intent_id = fields.text("intent_id", FaultKind::NotAnIntentId, IntentId::parse);
        let intent_digest = fields.text("intent_digest", FaultKind::NotADigest, AsciiDigest::parse);
        let tool_name = fields.text("tool_name", FaultKind::UnknownTool, ToolName::parse);
        let arguments = fields.value("args");
        let arguments_sha256 =
            fields.text("args_sha256", FaultKind::NotADigest, AsciiDigest::parse);
        let approval = fields.value("approval");
        let execution_digest =
            fields.text("execution_digest", FaultKind::NotADigest, Utf8Digest::parse);
        fields.finish();

        if let (Some(catalog), Some(tool_name), Some(arguments)) = (catalog, &tool_name, arguments)
        {
            check_arguments(catalog, tool_name.as_str(), arguments, &mut faults);
        }
        if let (Some(arguments), Some(digest)) = (arguments, arguments_sha256)
            && sha256_json_ascii(arguments) != digest
        {
            faults.push(Fault::new(
                Location::Field("args_sha256"),
                FaultKind::DigestMismatch,
            ));
        }
        let approval = approval.and_then(|value| ApprovalBinding::read(value, &mut faults));
        members.take("execution_digest");
        let unsigned = Value::Object(members);
        if execution_digest.is_some_and(|digest| sha256_json_utf8(&unsigned) != digest) {
            faults.push(Fault::new(
                Location::Field("execution_digest"),
                FaultKind::DigestMismatch,
            ));
        }
        let arguments = unsigned
            .into_object()
            .and_then(|mut members| members.take("args"));
        let complete = (|| {
            Some(Self {
                action_id: action_id?,
                action_digest: action_digest?,
                intent_id: intent_id?,
                intent_digest: intent_digest?,
                tool_name: tool_name?,
                arguments: arguments?.into_object()?,
                arguments_sha256: arguments_sha256?,
                approval: approval?,
                execution_digest: execution_digest?,
                content,
            })
        })();
        match complete {
            Some(request) if faults.is_empty() => Ok(request),
            Some(_) | None => Err(refuse(faults)),
        }
    }
}

fn refuse(faults: Vec<Fault>) -> RequestError {
    RequestError::Contract(Faults::new(faults))
}
