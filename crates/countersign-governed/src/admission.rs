//! The operator's dispatch admission: a kill switch that is read again before every dispatch.

use countersign_canonical::{Object, Utf8, Value, encode_into};

use crate::catalog::read;
use crate::contract::{
    ADMISSION_FIELDS, ADMISSION_MAX_BYTES, ADMISSION_MAX_LIFETIME_SECONDS, ADMISSION_SCHEMA,
    GATE_CLOCK_SKEW_SECONDS, GATE_STRING_MAX_CHARS,
};
use crate::epoch::Epoch;
use crate::fault::{
    BindingReason, DefinitionReason, DocumentReason, Faults, FieldReason, Kind, Reason, Report,
    TimeReason, ValueReason,
};
use crate::grammar::Grammar;
use crate::names::{AuthorizationId, LoopbackOrigin, ToolName};
use crate::place::Path;
use crate::scalars::{Fields, bounded_text, grammar_text, is_one, literal};

/// Most tools that one admission enables.
const MAXIMUM_ENABLED_TOOLS: usize = 256;

/// What a worker is: the admission must name exactly this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerIdentity {
    colony_origin: LoopbackOrigin,
    // INVARIANT: ascending, without repetitions, not empty.
    enabled_tools: Vec<ToolName>,
    binding_identity: Option<String>,
}

impl WorkerIdentity {
    /// Describes a worker by its endpoint, its tools in any order, and what its
    /// probe found at start (nothing for a worker without a probe).
    pub fn new(
        colony_origin: LoopbackOrigin,
        enabled_tools: impl IntoIterator<Item = ToolName>,
        binding_identity: Option<String>,
    ) -> Result<Self, Faults> {
        let mut report = Report::default();
        let root = Path::ROOT;
        let mut enabled_tools: Vec<_> = enabled_tools.into_iter().collect();
        enabled_tools.sort();
        enabled_tools.dedup();
        report.require(
            &root.member("enabled_tools"),
            (1..=MAXIMUM_ENABLED_TOOLS).contains(&enabled_tools.len()),
            DefinitionReason::Count {
                minimum: 1,
                maximum: MAXIMUM_ENABLED_TOOLS,
            },
        );
        if let Some(identity) = &binding_identity {
            let checked = crate::scalars::check_text(identity, GATE_STRING_MAX_CHARS, false);
            report.keep(&root.member("binding_identity"), checked);
        }
        report.finish(Some(Self {
            colony_origin,
            enabled_tools,
            binding_identity,
        }))
    }

    /// Names the endpoint.
    pub fn colony_origin(&self) -> &LoopbackOrigin {
        &self.colony_origin
    }

    /// Lists the tools, in ascending order.
    pub fn enabled_tools(&self) -> &[ToolName] {
        &self.enabled_tools
    }
}

/// An admission that is in force for one worker; minted by its check only.
#[derive(Clone, Debug, PartialEq)]
pub struct Admission {
    authorization_id: AuthorizationId,
    expires_at: Epoch,
}

impl Admission {
    /// Reads an admission: the exact canonical UTF-8 JSON and one newline, for
    /// exactly this worker, in force now.
    pub fn parse(worker: &WorkerIdentity, input: &[u8], now: Epoch) -> Result<Self, Faults> {
        let document = read(input, ADMISSION_MAX_BYTES)?;
        let mut report = Report::default();
        report.require(
            &Path::ROOT,
            canonical_line(&document) == input,
            DocumentReason::NotCanonical,
        );
        let admission = check(worker, &document, now, &mut report);
        report.finish(admission)
    }

    /// Writes the admission of a worker from one time to another, ready to be stored.
    pub fn write(
        worker: &WorkerIdentity,
        authorization_id: &AuthorizationId,
        created_at: Epoch,
        expires_at: Epoch,
    ) -> Result<Vec<u8>, Faults> {
        let tools = worker
            .enabled_tools
            .iter()
            .map(|tool| Value::from(tool.as_str()))
            .collect();
        let document = Value::Object(Object::from_iter([
            (
                "authorization_id".to_owned(),
                Value::from(authorization_id.as_str()),
            ),
            ("authorized".to_owned(), Value::Bool(true)),
            (
                "binding_identity".to_owned(),
                worker
                    .binding_identity
                    .as_deref()
                    .map_or(Value::Null, Value::from),
            ),
            (
                "colony_origin".to_owned(),
                Value::from(worker.colony_origin.as_str()),
            ),
            ("created_at".to_owned(), created_at.to_value()),
            ("enabled_tools".to_owned(), Value::Array(tools)),
            ("expires_at".to_owned(), expires_at.to_value()),
            ("schema".to_owned(), Value::from(ADMISSION_SCHEMA)),
            ("version".to_owned(), Value::from(1_i64)),
        ]));
        let mut report = Report::default();
        let checked = check(worker, &document, created_at, &mut report);
        report.finish(checked)?;
        Ok(canonical_line(&document))
    }

    /// Names the authorization.
    pub fn authorization_id(&self) -> &AuthorizationId {
        &self.authorization_id
    }

    /// Shows when the admission ends.
    pub fn expires_at(&self) -> Epoch {
        self.expires_at
    }
}

fn check(
    worker: &WorkerIdentity,
    document: &Value,
    now: Epoch,
    report: &mut Report,
) -> Option<Admission> {
    let path = Path::ROOT;
    let fields = Fields::exact(document, &ADMISSION_FIELDS, &path, report)?;
    fields.read("schema", &path, report, |value| {
        literal(value, ADMISSION_SCHEMA)
    });
    fields.require("version", &path, report, is_one, FieldReason::MustBeOne);
    fields.require(
        "authorized",
        &path,
        report,
        |value| value.as_bool() == Some(true),
        FieldReason::MustBeTrue,
    );
    let authorization_id = fields.read("authorization_id", &path, report, |value| {
        grammar_text(value, Grammar::AuthorizationId)
    });
    let origin = fields.read("colony_origin", &path, report, |value| {
        grammar_text(value, Grammar::LoopbackOrigin)
    });
    if let Some(origin) = origin {
        let differs = BindingReason::Differs {
            from: "the worker's endpoint",
        };
        report.require(
            &path.member("colony_origin"),
            origin == worker.colony_origin.as_str(),
            differs,
        );
    }
    if let Some(tools) = fields.find("enabled_tools") {
        check_tools(worker, tools, &path.member("enabled_tools"), report);
    }
    let identity = fields.read("binding_identity", &path, report, |value| {
        if value.is_null() {
            Ok(None)
        } else {
            bounded_text(value, GATE_STRING_MAX_CHARS, false).map(Some)
        }
    });
    if let Some(identity) = identity {
        let differs = BindingReason::Differs {
            from: "what the worker's probe found",
        };
        report.require(
            &path.member("binding_identity"),
            identity == worker.binding_identity.as_deref(),
            differs,
        );
    }
    let expires_at = check_times(&fields, now, &path, report);
    Some(Admission {
        authorization_id: AuthorizationId::parse(authorization_id?).ok()?,
        expires_at: expires_at?,
    })
}

fn check_tools(worker: &WorkerIdentity, tools: &Value, path: &Path<'_>, report: &mut Report) {
    let Some(listed) = tools.as_array() else {
        report.add(path, FieldReason::MustBe(Kind::Array));
        return;
    };
    let mut names = Vec::new();
    for (index, tool) in listed.iter().enumerate() {
        names.extend(report.keep(&path.element(index), grammar_text(tool, Grammar::ToolName)));
    }
    report.require(
        path,
        names.is_sorted_by(|left, right| left < right),
        ValueReason::NotSorted,
    );
    let own = worker.enabled_tools.iter().map(ToolName::as_str);
    let differs = BindingReason::Differs {
        from: "the worker's tools",
    };
    report.require(
        path,
        names.len() == listed.len() && names.iter().copied().eq(own),
        differs,
    );
}

fn check_times(
    fields: &Fields<'_>,
    now: Epoch,
    path: &Path<'_>,
    report: &mut Report,
) -> Option<Epoch> {
    let epoch = |value: &Value| {
        Epoch::from_value(value).ok_or_else(|| Reason::from(FieldReason::MustBe(Kind::Epoch)))
    };
    let created_at = fields.read("created_at", path, report, epoch);
    let expires_at = fields.read("expires_at", path, report, epoch);
    let (created_at, expires_at) = (created_at?, expires_at?);
    report.require(
        &path.member("created_at"),
        !created_at.is_ahead_of(now, GATE_CLOCK_SKEW_SECONDS),
        TimeReason::InFuture,
    );
    let path = path.member("expires_at");
    report.require(
        &path,
        expires_at > created_at,
        TimeReason::NotAfter("created_at"),
    );
    report.require(&path, expires_at > now, TimeReason::Passed);
    report.require(
        &path,
        expires_at.seconds_since(created_at) <= ADMISSION_MAX_LIFETIME_SECONDS,
        TimeReason::LifetimeTooLong {
            maximum_seconds: 2_592_000,
            after: "created_at",
        },
    );
    Some(expires_at)
}

fn canonical_line(document: &Value) -> Vec<u8> {
    let mut line = Vec::new();
    encode_into::<Utf8>(document, &mut line);
    line.push(b'\n');
    line
}
