//! The contract of tools that are not ours to describe: what they take and answer is passed on as it came.
//!
//! What is digested, authorized and recorded is a reference to the text, `{bytes, content_sha256}`; the text travels beside it.

use std::time::Duration;

use countersign_canonical::{Digest, ParseError, Utf8, Value, digest_with};
use countersign_contract::{
    Arguments, Attachment, HandlerAnswer, Revision, ToolContract, ToolName, UtcSecond,
};

use crate::pin::PinnedTool;
use crate::server::{Launch, ServerName};

/// A server's tools as the pipeline knows them.
#[derive(Clone, Debug)]
pub struct Passthrough {
    server: ServerName,
    launch: Launch,
    producer: Revision,
    policy: Revision,
    timeout: Duration,
}

/// How an upstream answered a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// With a result.
    Result,
    /// With a result that says that the tool failed.
    ErrorResult,
    /// With a protocol error that says that nothing was called.
    ProtocolError,
}

/// The hex digits of a place that stand in a tool's name.
const PLACE_DIGITS: usize = 8;
/// The longest name and version of a server that stand as they are in a revision, in characters.
const MAX_PRODUCER_CHARS: usize = 200;
/// No arguments at all are an empty object (2025-11-25, schema, `CallToolRequestParams.arguments` is optional).
const NO_ARGUMENTS: &str = "{}";

impl Passthrough {
    /// The tools of a server that is started like this, says this of itself, and is governed by this policy.
    ///
    /// `server_info` is what the server answered to `initialize`; it is data, and no proof of anything.
    #[must_use]
    pub fn new(
        server: ServerName,
        launch: Launch,
        server_info: &Value,
        policy: &str,
        timeout: Duration,
    ) -> Option<Self> {
        Some(Self {
            server,
            launch,
            producer: producer(server_info)?,
            policy: Revision::new(policy).ok()?,
            timeout,
        })
    }

    /// A tool's name in a ledger: `SERVER@PLACE/TOOL`. The same server in another directory has other tools.
    #[must_use]
    pub fn tool_name(&self, tool: &str) -> Option<ToolName> {
        let place = self.launch.place_digest().to_string();
        let place = place.get(..PLACE_DIGITS)?;
        ToolName::new(format!("{}@{place}/{tool}", self.server)).ok()
    }

    /// Whether the server is called at an address.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        self.launch.is_remote()
    }

    /// The revision of the system that acts and answers.
    #[must_use]
    pub fn producer(&self) -> &Revision {
        &self.producer
    }

    /// The contract of a pinned tool.
    ///
    /// Input and output revisions are the schemas' digests; the effect's covers what the tool says of itself, its class and where
    /// it runs; the handler's the command; the policy's whatever decides.
    #[must_use]
    pub fn contract(&self, tool: &str, pinned: &PinnedTool) -> Option<ToolContract> {
        let facets = &pinned.facets;
        let integer = || Value::from([("type", "integer".into())]);
        let text = || Value::from([("type", "string".into())]);
        let boolean = || Value::from([("type", "boolean".into())]);
        let optional = Value::from([("type", "boolean".into()), ("optional", true.into())]);
        let timeout = i64::try_from(self.timeout.as_millis()).ok()?;
        let contract = Value::from([
            ("name", self.tool_name(tool)?.as_str().into()),
            ("risk", pinned.class.as_str().into()),
            ("source_label", self.server.as_str().into()),
            (
                "revisions",
                Value::from([
                    ("input_schema", revision(&facets.input_digest())),
                    ("output_schema", revision(&facets.output_digest())),
                    ("effect", revision(&self.effect(pinned))),
                    ("handler", revision(&self.launch.digest())),
                    ("producer", self.producer.as_str().into()),
                    ("policy", self.policy.as_str().into()),
                ]),
            ),
            (
                "arguments",
                Value::from([("bytes", integer()), ("content_sha256", text())]),
            ),
            (
                "output",
                Value::from([
                    ("bytes", integer()),
                    ("content_sha256", text()),
                    ("is_error", boolean()),
                    ("is_protocol_error", optional),
                ]),
            ),
            (
                "limits",
                Value::from([
                    ("output_bytes", Value::from(512_i64)),
                    ("output_depth", Value::from(1_i64)),
                ]),
            ),
            ("timeout_ms", timeout.into()),
        ]);
        ToolContract::from_value(&contract).ok()
    }

    fn effect(&self, pinned: &PinnedTool) -> Digest<Utf8> {
        let facets = &pinned.facets;
        digest_with::<Utf8>(|encoder| {
            encoder.begin_array();
            encoder.string("countersign-effect-v1");
            encoder.string(pinned.class.as_str());
            encoder.string(facets.description_digest().to_hex().as_str());
            encoder.string(facets.annotations_digest().to_hex().as_str());
            encoder.string(self.launch.place_digest().to_hex().as_str());
            encoder.end_array();
        })
    }

    /// What an upstream's answer is to the pipeline. `text` is the result or error as it came.
    pub fn answer(
        &self,
        answered: Answered,
        text: &str,
        observed_at: UtcSecond,
    ) -> Result<(HandlerAnswer, Attachment), ParseError> {
        let attachment = Attachment::read(text)?;
        let [bytes, sha256] = attachment.content().members();
        let mut data = countersign_canonical::Object::from([
            bytes,
            sha256,
            ("is_error", (answered != Answered::Result).into()),
        ]);
        if answered == Answered::ProtocolError {
            data.insert("is_protocol_error".to_owned(), true.into());
        }
        let answer = HandlerAnswer {
            data: Value::Object(data),
            producer_revision: self.producer.as_str().to_owned(),
            resource_revision: None,
            observed_at: observed_at.to_string(),
            downstream_request_id: None,
            receipt_id: None,
        };
        Ok((answer, attachment))
    }
}

/// The arguments of a call as the pipeline knows them, from their text as it came.
pub fn arguments(text: Option<&str>) -> Result<Arguments, ParseError> {
    Attachment::read(text.unwrap_or(NO_ARGUMENTS)).map(Arguments::attached)
}

/// The tool's own name within a name of [`Passthrough::tool_name`].
#[must_use]
pub fn tool_of(name: &ToolName) -> Option<&str> {
    // No server's name has a slash.
    name.as_str().split_once('/').map(|(_, tool)| tool)
}

/// How the data of an answer says that the upstream answered.
#[must_use]
pub fn answered(data: &Value) -> Answered {
    let is = |name: &str| data.get(name).and_then(Value::as_bool) == Some(true);
    match (is("is_protocol_error"), is("is_error")) {
        (true, _) => Answered::ProtocolError,
        (false, true) => Answered::ErrorResult,
        (false, false) => Answered::Result,
    }
}

fn producer(server_info: &Value) -> Option<Revision> {
    let text = |name: &str| server_info.get(name).and_then(Value::as_str).unwrap_or("?");
    let (name, version) = (text("name"), text("version"));
    let plain = format!("{name} {version}");
    if plain.chars().count() <= MAX_PRODUCER_CHARS {
        return Revision::new(plain).ok();
    }
    let digest = digest_with::<Utf8>(|encoder| {
        encoder.begin_array();
        encoder.string(name);
        encoder.string(version);
        encoder.end_array();
    });
    Revision::new(format!("sha256:{digest}")).ok()
}

fn revision(digest: &Digest<Utf8>) -> Value {
    format!("sha256:{digest}").into()
}

#[cfg(test)]
mod tests {
    use countersign_canonical::{Limits, parse};
    use countersign_contract::Risk;

    use super::*;
    use crate::pin::Class;
    use crate::tools::ToolDefinition;

    fn passthrough(directory: &str) -> Passthrough {
        Passthrough::new(
            ServerName::new("files").unwrap(),
            Launch::new(vec!["files".to_owned()], directory.to_owned()),
            &Value::from([("name", "files".into()), ("version", "1".into())]),
            "policy-1",
            Duration::from_mins(1),
        )
        .unwrap()
    }

    fn pinned(text: &str, class: Class) -> PinnedTool {
        let value = parse(text.as_bytes(), &Limits::passthrough()).unwrap();
        PinnedTool {
            facets: ToolDefinition::read(&value).unwrap().facets().clone(),
            class,
            revision: 1,
        }
    }

    #[test]
    fn a_contract_follows_from_the_pin_and_the_place() {
        let tool = pinned(r#"{"name":"write","inputSchema":{}}"#, Class::Write);
        let here = passthrough("/a").contract("write", &tool).unwrap();
        assert_eq!(here.risk, Risk::Write);
        assert_eq!(tool_of(&here.name), Some("write"));
        assert_eq!(here.revisions.producer.as_str(), "files 1");
        let elsewhere = passthrough("/b").contract("write", &tool).unwrap();
        assert_ne!(here.name, elsewhere.name);
        assert_ne!(here.revisions.effect, elsewhere.revisions.effect);
        assert_eq!(here.revisions.handler, elsewhere.revisions.handler);
        let other = pinned(
            r#"{"name":"write","description":"d","inputSchema":{}}"#,
            Class::Write,
        );
        let other = passthrough("/a").contract("write", &other).unwrap();
        assert_ne!(here.revisions.effect, other.revisions.effect);
        assert_eq!(here.revisions.input_schema, other.revisions.input_schema);
    }

    #[test]
    fn an_answer_keeps_its_contract_whatever_it_says() {
        let passthrough = passthrough("/a");
        let tool = pinned(r#"{"name":"write","inputSchema":{}}"#, Class::Write);
        let contract = passthrough.contract("write", &tool).unwrap();
        let sent = arguments(Some(
            r#"{"deep":[[[[123456789012345678901]]]],"password":"x"}"#,
        ))
        .unwrap();
        contract.check_arguments(&sent).unwrap();
        let now = UtcSecond::new(1_784_419_200).unwrap();
        for how in [
            Answered::Result,
            Answered::ErrorResult,
            Answered::ProtocolError,
        ] {
            let text = r#"{"content":[{"type":"new","token":"x"}],"n":18446744073709551616}"#;
            let (answer, attachment) = passthrough.answer(how, text, now).unwrap();
            assert_eq!(answered(&answer.data), how);
            let checked = answer.check_with(&contract, &sent, attachment).unwrap();
            assert_eq!(checked.attachment().unwrap().text(), text);
        }
    }

    #[test]
    fn no_arguments_are_an_empty_object() {
        let (none, empty) = (arguments(None).unwrap(), arguments(Some("{ }")).unwrap());
        assert_eq!(none.value(), empty.value());
        assert!(arguments(Some("{\"a\":1,\"a\":1}")).is_err());
    }
}
