//! What is wrong with a document, and where.

use std::borrow::Cow;
use std::fmt;

use countersign_canonical::{DomainError, Object, Value};

use crate::identifier::IdentifierError;
use crate::inert::Inert;
use crate::profile::ProfileError;

/// The most characters of a stranger's member name that a fault repeats.
const MAX_ECHOED_CHARS: usize = 64;
/// The most faults of one document that are listed; more are only counted.
pub const MAX_LISTED_FAULTS: usize = 256;

/// Where in a document something is: `cases[0].steps[2].now`; empty for the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Cow<'static, str>);

impl Path {
    /// The whole document.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// A place that is known when the program is written.
    #[must_use]
    pub const fn fixed(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// A member of what this path names.
    #[must_use]
    pub fn member(&self, name: &str) -> Self {
        let name = echo(name);
        Self(Cow::Owned(if self.0.is_empty() {
            name
        } else {
            format!("{}.{name}", self.0)
        }))
    }

    /// An item of what this path names.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(Cow::Owned(format!("{}[{index}]", self.0)))
    }

    /// The same place in a document that stands at this path.
    #[must_use]
    pub fn within(&self, inner: &Self) -> Self {
        match inner.0.as_ref() {
            "" => self.clone(),
            text => Self(Cow::Owned(format!("{}.{text}", self.0))),
        }
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_empty() {
            "document"
        } else {
            &self.0
        })
    }
}

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Where.
    pub path: Path,
    /// What.
    pub problem: Problem,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.path, self.problem)
    }
}

/// Everything that is wrong with a document; never empty.
///
/// The first [`MAX_LISTED_FAULTS`] are listed, so that a large bad document makes no larger list; the text says how
/// many more there are.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", list(listed, *unlisted))]
pub struct Faults {
    listed: Vec<Fault>,
    unlisted: usize,
}

impl Faults {
    /// The listed faults, in document order where there is one.
    pub fn iter(&self) -> std::slice::Iter<'_, Fault> {
        self.listed.iter()
    }
}

impl<'a> IntoIterator for &'a Faults {
    type Item = &'a Fault;
    type IntoIter = std::slice::Iter<'a, Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self {
            listed: vec![fault],
            unlisted: 0,
        }
    }
}

fn list(listed: &[Fault], unlisted: usize) -> String {
    let mut lines: Vec<String> = listed.iter().map(Fault::to_string).collect();
    if unlisted > 0 {
        lines.push(format!("and has {unlisted} more faults"));
    }
    lines.join("\n")
}

/// Ways in which a document is not what it has to be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// Something else stands where an object is due.
    #[error("must be an object")]
    NotAnObject,
    /// A member that has to be there is not.
    #[error("is missing the member {0:?}")]
    Missing(String),
    /// A member that nothing defines, as a person may be shown its name.
    #[error("has the unknown member \"{0}\"")]
    Unexpected(String),
    /// A value of another kind or outside its set; the text says what is due.
    #[error("must be {0}")]
    Expected(&'static str),
    /// As [`Expected`](Self::Expected), where what is due depends on the document.
    #[error("must be {0}")]
    ExpectedThat(String),
    /// Not a bounded identifier.
    #[error("{0}")]
    Identifier(#[from] IdentifierError),
    /// Not a registered provider profile.
    #[error("{0}")]
    Profile(#[from] ProfileError),
    /// Outside the portable JSON domain, so without a digest.
    #[error("is outside the portable JSON domain: {0}")]
    Domain(#[from] DomainError),
    /// A name that stands for a secret or a control field.
    #[error("is a sensitive or control field")]
    SensitiveKey,
    /// The canonical form is larger than the contract allows.
    #[error("must be at most {0} bytes in canonical form")]
    TooManyBytes(usize),
    /// More nested containers than the contract allows.
    #[error("must be at most {0} levels deep")]
    TooDeep(usize),
    /// The output does not repeat the argument it is bound to.
    #[error("must equal the argument {0:?}")]
    NotTheArgument(String),
    /// A value that the call, principal or contract at hand fixes is another one.
    #[error("is not bound to the {0}")]
    Unbound(Binding),
    /// Two members contradict each other.
    #[error("contradicts {0}")]
    Contradicts(&'static str),
    /// The same thing stands twice.
    #[error("appears twice")]
    Duplicate,
    /// Something else refers to it, but it is not there.
    #[error("is missing")]
    Absent,
    /// Nothing asked for it.
    #[error("was not asked for")]
    NotAskedFor,
}

/// What a package's members are bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Binding {
    /// The call's operation.
    Operation,
    /// The principal.
    Principal,
    /// The provider response and call.
    ProviderContext,
    /// The registered contract.
    ToolContract,
    /// The request digest: principal, tool, arguments, revisions.
    Request,
    /// The result digest: the model's projection.
    Result,
    /// The call binding: everything together with downstream evidence.
    Call,
}

impl fmt::Display for Binding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Operation => "current operation",
            Self::Principal => "current principal",
            Self::ProviderContext => "current provider response and call",
            Self::ToolContract => "registered tool contract",
            Self::Request => "current principal, arguments and contract",
            Self::Result => "model-visible result",
            Self::Call => "current call, result and downstream evidence",
        })
    }
}

/// Collects faults while a document is read, so that a reader hears of all of them at once.
#[derive(Debug, Default)]
pub struct FaultCollector {
    // INVARIANT: at most `MAX_LISTED_FAULTS`; further ones are counted in `unlisted`.
    listed: Vec<Fault>,
    unlisted: usize,
}

impl FaultCollector {
    /// Starts without faults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a fault.
    pub fn push(&mut self, path: Path, problem: impl Into<Problem>) {
        if self.is_full() {
            self.unlisted += 1;
        } else {
            self.listed.push(Fault {
                path,
                problem: problem.into(),
            });
        }
    }

    /// Tells whether a further fault would only be counted: a reason to stop reading a long list.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.listed.len() >= MAX_LISTED_FAULTS
    }

    fn count(&self) -> usize {
        self.listed.len() + self.unlisted
    }

    /// Notes the fault of a failed step and goes on.
    pub fn take<T, E: Into<Problem>>(&mut self, path: &Path, result: Result<T, E>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(problem) => {
                self.push(path.clone(), problem);
                None
            }
        }
    }

    /// Reads an object that has exactly the named members; notes what is missing or unknown.
    pub fn exact_object<'v>(
        &mut self,
        path: &Path,
        value: &'v Value,
        members: &[&str],
    ) -> Option<&'v Object> {
        self.object_of(path, value, members, &[])
    }

    /// Reads an object that has the required members and none beyond the optional ones.
    pub fn object_of<'v>(
        &mut self,
        path: &Path,
        value: &'v Value,
        required: &[&str],
        optional: &[&str],
    ) -> Option<&'v Object> {
        let Some(object) = value.as_object() else {
            self.push(path.clone(), Problem::NotAnObject);
            return None;
        };
        // Nothing is to be looked up where the members were named in order: the common case.
        if object.keys().eq(required.iter().copied()) {
            return Some(object);
        }
        let before = self.count();
        for name in required.iter().filter(|name| !object.contains_key(name)) {
            self.push(path.clone(), Problem::Missing((*name).to_owned()));
        }
        // With all required members there and no others, the counts agree.
        if self.count() != before || object.len() != required.len() {
            for (name, _) in object.iter() {
                if !required.contains(&name) && !optional.contains(&name) {
                    self.push(path.clone(), Problem::Unexpected(echo(name)));
                }
            }
        }
        (self.count() == before).then_some(object)
    }

    /// Tells whether nothing was noted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// Ends the reading: `Ok` without faults.
    pub fn finish(self) -> Result<(), Faults> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.into_faults())
        }
    }

    /// Ends the reading with what was read; a value that could not be read has left a fault.
    pub fn finish_with<T>(self, value: Option<T>) -> Result<T, Faults> {
        match value {
            Some(value) if self.is_empty() => Ok(value),
            _ if self.is_empty() => Err(Faults::from(Fault {
                path: Path::root(),
                problem: Problem::Expected("complete"),
            })),
            _ => Err(self.into_faults()),
        }
    }

    /// Takes over the faults of another reading.
    pub fn extend(&mut self, faults: Faults) {
        for fault in faults.listed {
            self.push(fault.path, fault.problem);
        }
        self.unlisted += faults.unlisted;
    }

    fn into_faults(self) -> Faults {
        Faults {
            listed: self.listed,
            unlisted: self.unlisted,
        }
    }
}

/// A stranger's text as a fault repeats it: bounded, and without characters that act on a terminal.
pub(crate) fn echo(text: &str) -> String {
    Inert::beginning(text, MAX_ECHOED_CHARS).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echoed_names_are_bounded_and_inert() {
        let path = Path::root()
            .member("a\u{1b}[31m\u{202e}b")
            .index(3)
            .member(&"x".repeat(100));
        assert_eq!(
            path.as_str(),
            format!("a\\u{{1b}}[31m\\u{{202e}}b[3].{}…", "x".repeat(64))
        );
    }

    #[test]
    fn faults_beyond_the_listed_ones_are_counted_and_still_refuse() {
        let mut faults = FaultCollector::new();
        for index in 0..MAX_LISTED_FAULTS {
            faults.push(Path::root().index(index), Problem::Absent);
        }
        assert!(faults.is_full());
        let object = Value::Object(Object::new());
        assert!(
            faults
                .exact_object(&Path::root(), &object, &["a"])
                .is_none()
        );
        let mut outer = FaultCollector::new();
        outer.push(Path::root(), Problem::Duplicate);
        outer.extend(faults.finish().unwrap_err());
        let faults = outer.finish().unwrap_err();
        assert_eq!(faults.iter().count(), MAX_LISTED_FAULTS);
        assert!(faults.to_string().ends_with("\nand has 2 more faults"));
    }

    #[test]
    fn every_missing_and_unknown_member_is_named() {
        let object: Object = [("a", 1), ("z", 2)]
            .map(|(name, value)| (name.to_owned(), Value::from(value)))
            .into_iter()
            .collect();
        let mut faults = FaultCollector::new();
        assert!(
            faults
                .exact_object(&Path::fixed("p"), &Value::Object(object), &["a", "b"])
                .is_none()
        );
        assert_eq!(
            faults.finish().unwrap_err().to_string(),
            "p is missing the member \"b\"\np has the unknown member \"z\""
        );
    }
}
