//! The intent: one proposed tool call, bound by digests.

use countersign_canonical::{Ascii, Digest, Object, Value, digest, digest_with};

use crate::catalog::{Arguments, Catalog, Display, Tool, read};
use crate::context::{Context, ContextField};
use crate::contract::{INTENT_FIELDS, INTENT_MAX_BYTES, INTENT_SCHEMA};
use crate::digests::{claimed, hex};
use crate::fault::{BindingReason, Fault, Faults, FieldReason, Kind, Reason, Report};
use crate::grammar::Grammar;
use crate::names::{IntentId, ToolName};
use crate::place::Path;
use crate::scalars::{Fields, grammar_text, is_one, literal};

/// A proposed call whose arguments satisfy the catalog and whose digests are all recomputed.
///
/// It is a proposal. Neither the intent nor its context is authority for anything.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_field_names, reason = "these are the names on the wire")]
pub struct Intent {
    tool_name: ToolName,
    arguments: Arguments,
    args_sha256: Digest<Ascii>,
    context: Context,
    context_sha256: Digest<Ascii>,
    idempotency_key: Digest<Ascii>,
    intent_id: IntentId,
    intent_digest: Digest<Ascii>,
    display: Display,
}

impl Intent {
    /// Reads an intent from the wire, or says everything that is wrong with it.
    pub fn parse(catalog: &Catalog, input: &[u8]) -> Result<Self, Faults> {
        Self::from_value(catalog, &read(input, INTENT_MAX_BYTES)?)
    }

    /// Checks an intent that our strict parser has read.
    pub fn from_value(catalog: &Catalog, document: &Value) -> Result<Self, Faults> {
        let mut report = Report::default();
        let intent = Self::check(catalog, document, &Path::ROOT, &mut report);
        report.finish(intent)
    }

    /// Builds the intent of a call.
    pub fn build(
        catalog: &Catalog,
        tool_name: &str,
        arguments: &Value,
        context: &Value,
    ) -> Result<Self, Faults> {
        let mut report = Report::default();
        let path = Path::ROOT;
        let tool = catalog.tool(tool_name);
        report.require(
            &path.member("tool_name"),
            tool.is_some(),
            BindingReason::UnknownTool,
        );
        let arguments =
            tool.and_then(|tool| tool.check(arguments, &path.member("args"), &mut report));
        let context = Context::check(context, &path.member("context"), &mut report);
        let intent = tool
            .zip(arguments)
            .zip(context)
            .and_then(|((tool, arguments), context)| {
                let digests = Derived {
                    args_sha256: arguments.sha256(),
                    context_sha256: context.sha256(),
                    idempotency_key: context.idempotency_key(tool_name),
                };
                Self::assemble(tool, arguments, context, digests)
            });
        report.finish(intent)
    }

    /// Names the tool.
    pub fn tool_name(&self) -> &ToolName {
        &self.tool_name
    }

    /// Shows the arguments as written.
    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// Shows the digest of the arguments.
    pub fn args_sha256(&self) -> Digest<Ascii> {
        self.args_sha256
    }

    /// Shows the circumstances of the call.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Shows the digest of the context.
    pub fn context_sha256(&self) -> Digest<Ascii> {
        self.context_sha256
    }

    /// Shows the key under which this call may be proposed once per source.
    pub fn idempotency_key(&self) -> Digest<Ascii> {
        self.idempotency_key
    }

    /// Names the intent.
    pub fn intent_id(&self) -> &IntentId {
        &self.intent_id
    }

    /// Shows the digest of the whole intent.
    pub fn intent_digest(&self) -> Digest<Ascii> {
        self.intent_digest
    }

    /// Shows the owner what the call would do; a headline, not the whole.
    pub fn display(&self) -> &Display {
        &self.display
    }

    /// Refuses an intent without a call id, whose key every call of its tool would share.
    ///
    /// Whoever takes proposals in asks this; whoever reads stored ones need not.
    pub fn check_ingress(&self) -> Result<(), Fault> {
        if self.context.text(ContextField::ToolCallId).is_empty() {
            let context = Path::ROOT.member("context");
            return Err(Fault::new(
                &context.member("tool_call_id"),
                BindingReason::NoCallIdentity,
            ));
        }
        Ok(())
    }

    /// Writes the intent as the JSON object that goes on the wire.
    pub fn to_value(&self) -> Value {
        let text = |text: String| Value::String(text);
        Value::Object(Object::from_iter([
            ("args".to_owned(), self.arguments.value().clone()),
            ("args_sha256".to_owned(), text(hex(&self.args_sha256))),
            ("context".to_owned(), self.context.value().clone()),
            ("context_sha256".to_owned(), text(hex(&self.context_sha256))),
            (
                "idempotency_key".to_owned(),
                text(hex(&self.idempotency_key)),
            ),
            ("intent_digest".to_owned(), text(hex(&self.intent_digest))),
            (
                "intent_id".to_owned(),
                text(self.intent_id.as_str().to_owned()),
            ),
            ("schema".to_owned(), Value::from(INTENT_SCHEMA)),
            (
                "tool_name".to_owned(),
                text(self.tool_name.as_str().to_owned()),
            ),
            ("version".to_owned(), Value::from(1_i64)),
        ]))
    }

    pub(crate) fn check(
        catalog: &Catalog,
        document: &Value,
        path: &Path<'_>,
        report: &mut Report,
    ) -> Option<Self> {
        let before = report.len();
        let fields = Fields::exact(document, &INTENT_FIELDS, path, report)?;
        fields.read("schema", path, report, |value| {
            literal(value, INTENT_SCHEMA)
        });
        fields.require("version", path, report, is_one, FieldReason::MustBeOne);
        let tool_name = fields.read("tool_name", path, report, |value| {
            value
                .as_str()
                .ok_or_else(|| Reason::from(FieldReason::MustBe(Kind::Text)))
        });
        let tool = tool_name.and_then(|name| catalog.tool(name));
        report.require(
            &path.member("tool_name"),
            tool.is_some() || tool_name.is_none(),
            BindingReason::UnknownTool,
        );
        let args = fields.find("args");
        let arguments = args
            .zip(tool)
            .and_then(|(args, tool)| tool.check(args, &path.member("args"), report));
        let context = fields
            .find("context")
            .and_then(|value| Context::check(value, &path.member("context"), report));

        let args_sha256 = args
            .filter(|args| args.as_object().is_some())
            .map(digest::<Ascii>);
        check_digest(&fields, "args_sha256", args_sha256, "args", path, report);
        let context_sha256 = context.as_ref().map(Context::sha256);
        check_digest(
            &fields,
            "context_sha256",
            context_sha256,
            "context",
            path,
            report,
        );
        let key = context
            .as_ref()
            .zip(tool_name)
            .map(|(context, tool_name)| context.idempotency_key(tool_name));
        check_digest(
            &fields,
            "idempotency_key",
            key,
            "the call identity (tool and context)",
            path,
            report,
        );
        let intent_id = fields.read("intent_id", path, report, |value| {
            grammar_text(value, Grammar::IntentId)
        });
        if let Some((intent_id, key)) = intent_id.zip(key) {
            let derived = intent_id_of(&key);
            report.require(
                &path.member("intent_id"),
                derived.is_some_and(|derived| derived.as_str() == intent_id),
                BindingReason::NotDerived {
                    from: "idempotency_key",
                },
            );
        }

        // The digest of the whole is judged only where all that it covers is right.
        let clean = report.len() == before;
        let digests = Derived::of(args_sha256, context_sha256, key).filter(|_| clean);
        let intent = tool.zip(arguments).zip(context).zip(digests).and_then(
            |(((tool, arguments), context), digests)| {
                Self::assemble(tool, arguments, context, digests)
            },
        );
        let whole = intent.as_ref().map(|intent| intent.intent_digest);
        check_digest(
            &fields,
            "intent_digest",
            whole,
            "the intent without itself",
            path,
            report,
        );
        intent
    }

    fn assemble(
        tool: &Tool,
        arguments: Arguments,
        context: Context,
        digests: Derived,
    ) -> Option<Self> {
        let Derived {
            args_sha256,
            context_sha256,
            idempotency_key,
        } = digests;
        let intent_id = intent_id_of(&idempotency_key)?;
        let intent_digest = digest_with::<Ascii>(|encoder| {
            encoder
                .begin_object()
                .key("args")
                .value(arguments.value())
                .key("args_sha256")
                .string(&hex(&args_sha256))
                .key("context")
                .value(context.value())
                .key("context_sha256")
                .string(&hex(&context_sha256))
                .key("idempotency_key")
                .string(&hex(&idempotency_key))
                .key("intent_id")
                .string(intent_id.as_str())
                .key("schema")
                .string(INTENT_SCHEMA)
                .key("tool_name")
                .string(tool.name().as_str())
                .key("version")
                .integer(1)
                .end_object();
        });
        let display = tool.display(&arguments);
        Some(Self {
            tool_name: tool.name().clone(),
            arguments,
            args_sha256,
            context,
            context_sha256,
            idempotency_key,
            intent_id,
            intent_digest,
            display,
        })
    }
}

/// The digests that the whole intent's digest covers.
#[derive(Clone, Copy)]
struct Derived {
    args_sha256: Digest<Ascii>,
    context_sha256: Digest<Ascii>,
    idempotency_key: Digest<Ascii>,
}

impl Derived {
    fn of(
        args: Option<Digest<Ascii>>,
        context: Option<Digest<Ascii>>,
        key: Option<Digest<Ascii>>,
    ) -> Option<Self> {
        Some(Self {
            args_sha256: args?,
            context_sha256: context?,
            idempotency_key: key?,
        })
    }
}

fn check_digest(
    fields: &Fields<'_>,
    field: &str,
    expected: Option<Digest<Ascii>>,
    of: &'static str,
    path: &Path<'_>,
    report: &mut Report,
) {
    let found = fields.read(field, path, report, claimed::<Ascii>);
    if let Some((found, expected)) = found.zip(expected) {
        report.require(
            &path.member(field),
            found == expected,
            BindingReason::DigestMismatch { of },
        );
    }
}

fn intent_id_of(idempotency_key: &Digest<Ascii>) -> Option<IntentId> {
    let digits = hex(idempotency_key);
    IntentId::parse(&format!("hti_{}", digits.get(..32)?)).ok()
}
