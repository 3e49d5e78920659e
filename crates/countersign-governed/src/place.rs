//! Where in a document something is wrong.

use std::fmt::{self, Write as _};

use crate::grammar::Grammar;

/// A place in a document, as a JSON Pointer; the empty text is the whole document.
///
/// A member name that a stranger chose is shown only when it is an identifier.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(String);

impl Place {
    /// Shows the JSON Pointer.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            formatter.write_str("the document")
        } else {
            formatter.write_str(&self.0)
        }
    }
}

/// A place on the way down: costs nothing until something is wrong there.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Member(&'a str),
    Element(usize),
}

impl<'a> Path<'a> {
    pub(crate) const ROOT: Path<'static> = Path {
        parent: None,
        step: Step::Root,
    };

    pub(crate) fn member(&'a self, name: &'a str) -> Self {
        Self {
            parent: Some(self),
            step: Step::Member(name),
        }
    }

    pub(crate) fn element(&'a self, index: usize) -> Self {
        Self {
            parent: Some(self),
            step: Step::Element(index),
        }
    }

    pub(crate) fn place(&self) -> Place {
        let mut steps = Vec::new();
        let mut next = Some(self);
        while let Some(path) = next {
            steps.push(path.step);
            next = path.parent;
        }
        let mut pointer = String::new();
        for step in steps.iter().rev() {
            match step {
                Step::Root => {}
                Step::Member(name) => push_member(&mut pointer, name),
                Step::Element(index) => {
                    // Writing to a `String` cannot fail.
                    let _ = write!(pointer, "/{index}");
                }
            }
        }
        Place(pointer)
    }
}

fn push_member(pointer: &mut String, name: &str) {
    pointer.push('/');
    if name.len() > 64 || !Grammar::SafeId.matches(name.trim_start_matches('_')) {
        pointer.push('?');
        return;
    }
    for character in name.chars() {
        match character {
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_pointer_without_foreign_text() {
        let arguments = Path::ROOT.member("args");
        let list = arguments.member("a/b");
        assert_eq!(list.element(3).place().as_str(), "/args/a~1b/3");
        assert_eq!(arguments.member("sk secret\n").place().as_str(), "/args/?");
        assert_eq!(
            arguments.member(&"k".repeat(65)).place().as_str(),
            "/args/?"
        );
        assert_eq!(Path::ROOT.place().to_string(), "the document");
    }
}
