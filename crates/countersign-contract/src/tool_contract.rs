//! A tool's contract: what it takes, what it answers, under which revisions, and its limits.

use std::time::Duration;

use countersign_canonical::{Encoder, Sink, ToolResult};

use crate::call::Arguments;
use crate::fault::{FaultCollector, Faults, Path};
use crate::identifier::{Revision, SourceLabel, ToolName};
use crate::rule::{Members, Side};

/// Whether a tool changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Risk {
    /// It observes. No key, no approval, no record.
    Read,
    /// It acts. It needs a key and an approval, and acts once.
    Write,
}

/// The revisions of a contract's parts. Which digest binds which of them is said there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Revisions {
    /// Of the arguments' rules.
    pub input_schema: Revision,
    /// Of the output's rules.
    pub output_schema: Revision,
    /// Of what the tool does to the world.
    pub effect: Revision,
    /// Of the code that calls the producer.
    pub handler: Revision,
    /// Of the system that acts and answers.
    pub producer: Revision,
    /// Of the policy that allows and approves it.
    pub policy: Revision,
}

/// A registered tool's contract.
///
/// Compared and digested by name and revisions: whoever changes a rule changes its revision.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolContract {
    /// The name the model calls.
    pub name: ToolName,
    /// Whether it changes anything.
    pub risk: Risk,
    /// The label under which its results are attributed.
    pub source_label: SourceLabel,
    /// The revisions of its parts.
    pub revisions: Revisions,
    /// The arguments, exactly.
    pub arguments: Members,
    /// The output, exactly.
    pub output: Members,
    /// Bounds of the output.
    pub limits: OutputLimits,
    /// How long one execution may take. Waiting for a person does not count.
    pub timeout: Duration,
}

impl ToolContract {
    /// Holds proposed arguments against the input contract, and lists everything that breaks it.
    pub fn check_arguments(&self, arguments: &Arguments) -> Result<(), Faults> {
        let mut faults = FaultCollector::new();
        let path = Path::fixed("arguments");
        self.arguments
            .check(arguments.value(), Side::Arguments, &path, &mut faults);
        faults.finish()
    }
}

/// Bounds of a tool's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLimits {
    /// The most bytes of its canonical form.
    pub bytes: usize,
    /// The most nested containers; the output object itself is one.
    pub depth: usize,
}

impl OutputLimits {
    /// The most bytes a contract may allow.
    pub const MAX_BYTES: usize = 4 * 1024 * 1024;
    /// The deepest output a contract may allow: projection and package wrap it in an object each, and the digest
    /// domain ends at 32 levels.
    pub const MAX_DEPTH: usize = 30;
}

/// What digests and the audit projection say about a tool: its name and revisions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContractReference {
    /// The name the model called.
    pub name: ToolName,
    /// The registered revisions; none for a tool that is not registered.
    pub revisions: Option<Revisions>,
}

/// Stands for each revision of a tool that is not registered.
const UNREGISTERED: &str = "unregistered";

impl ContractReference {
    /// What stands for the contract, or for its absence under the name that was called.
    #[must_use]
    pub fn of(contract: Option<&ToolContract>, name: &ToolName) -> Self {
        Self {
            name: name.clone(),
            revisions: contract.map(|contract| contract.revisions.clone()),
        }
    }

    pub(crate) fn texts(&self) -> [(&'static str, &str); 7] {
        texts(&self.name, self.revisions.as_ref())
    }
}

/// The reference's members in canonical order, for digests that hold only borrowed parts.
pub(crate) fn texts<'a>(
    name: &'a ToolName,
    revisions: Option<&'a Revisions>,
) -> [(&'static str, &'a str); 7] {
    let revision = |part: fn(&Revisions) -> &Revision| {
        revisions.map_or(UNREGISTERED, |revisions| part(revisions).as_str())
    };
    [
        ("effect_revision", revision(|parts| &parts.effect)),
        ("handler_revision", revision(|parts| &parts.handler)),
        (
            "input_schema_revision",
            revision(|parts| &parts.input_schema),
        ),
        ("name", name.as_str()),
        (
            "output_schema_revision",
            revision(|parts| &parts.output_schema),
        ),
        ("policy_revision", revision(|parts| &parts.policy)),
        ("producer_revision", revision(|parts| &parts.producer)),
    ]
}

pub(crate) fn encode_texts<S: Sink>(
    texts: &[(&'static str, &str)],
    encoder: &mut Encoder<'_, ToolResult, S>,
) {
    encoder.begin_object();
    for (name, text) in texts {
        encoder.key(name);
        encoder.string(text);
    }
    encoder.end_object();
}
