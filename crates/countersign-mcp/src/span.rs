//! Where the parts of a JSON text stand, so that they can be passed on without being written anew.

use std::ops::Range;

use countersign_canonical::{Limits, Value, parse};

/// A member of an object: its name as it reads after unescaping, and where its value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Where the member begins, at its name's first quote.
    pub(crate) start: usize,
    pub(crate) value: Range<usize>,
}

/// The members of the object that stands at `range`; nothing where something else stands there.
///
/// INVARIANT: `text` has been accepted by the strict parser, and `range` is one whole value of it.
pub(crate) fn members(text: &str, range: &Range<usize>) -> Option<Vec<Member>> {
    let mut scanner = Scanner::at(text, range.start);
    let mut found = Vec::new();
    if !scanner.takes(b'{') {
        return None;
    }
    while scanner.peek()? != b'}' {
        let start = scanner.offset;
        let name = scanner.value()?;
        let name = unescaped(text.get(name)?)?;
        if !scanner.takes(b':') {
            return None;
        }
        let value = scanner.value()?;
        found.push(Member { name, start, value });
        scanner.takes(b',');
    }
    Some(found)
}

/// Where the items of the array at `range` stand; nothing where something else stands there.
pub(crate) fn items(text: &str, range: &Range<usize>) -> Option<Vec<Range<usize>>> {
    let mut scanner = Scanner::at(text, range.start);
    let mut found = Vec::new();
    if !scanner.takes(b'[') {
        return None;
    }
    while scanner.peek()? != b']' {
        found.push(scanner.value()?);
        scanner.takes(b',');
    }
    Some(found)
}

/// Where a member's value stands.
pub(crate) fn member(text: &str, range: &Range<usize>, name: &str) -> Option<Range<usize>> {
    let members = members(text, range)?;
    let found = members.into_iter().find(|member| member.name == name)?;
    Some(found.value)
}

/// Where the value under a path of members stands.
pub(crate) fn at(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let mut range = whole(text)?;
    for name in path {
        range = member(text, &range, name)?;
    }
    Some(range)
}

/// The whole value of a text, without the white space around it.
pub(crate) fn whole(text: &str) -> Option<Range<usize>> {
    Scanner::at(text, 0).value()
}

fn unescaped(quoted: &str) -> Option<String> {
    let plain = quoted.get(1..quoted.len().checked_sub(1)?)?;
    if !plain.contains('\\') {
        return Some(plain.to_owned());
    }
    match parse(
        quoted.as_bytes(),
        &Limits::passthrough().with_bytes(usize::MAX),
    )
    .ok()?
    {
        Value::String(text) => Some(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

struct Scanner<'t> {
    bytes: &'t [u8],
    offset: usize,
}

impl<'t> Scanner<'t> {
    fn at(text: &'t str, offset: usize) -> Self {
        Self {
            bytes: text.as_bytes(),
            offset,
        }
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.offset)?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.offset += 1;
        }
    }

    fn takes(&mut self, wanted: u8) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.offset += 1;
        }
        is_there
    }

    /// Steps over one value.
    fn value(&mut self) -> Option<Range<usize>> {
        let first = self.peek()?;
        let start = self.offset;
        match first {
            b'"' => self.string(),
            b'{' | b'[' => self.container()?,
            _ => self.scalar(),
        }
        Some(start..self.offset)
    }

    fn string(&mut self) {
        self.offset += 1;
        let mut is_escaped = false;
        while let Some(byte) = self.bytes.get(self.offset) {
            self.offset += 1;
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => return,
                _ => {}
            }
        }
    }

    fn container(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match *self.bytes.get(self.offset)? {
                b'"' => {
                    self.string();
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            self.offset += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn scalar(&mut self) {
        let is_part =
            |byte: &u8| !matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\t' | b'\r');
        while self.bytes.get(self.offset).is_some_and(is_part) {
            self.offset += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_whatever_their_names_are_written_like() {
        let text =
            " { \"a\" : [ 1 , \"]}\\\"\" , {\"b\":[]} ] ,\"\\u0062\\\"\":-1.5e3, \"\":null}\n";
        let all = whole(text).unwrap();
        assert_eq!(text.get(all.clone()), Some(text.trim()));
        let found = members(text, &all).unwrap();
        let read: Vec<_> = found
            .iter()
            .map(|member| {
                (
                    member.name.as_str(),
                    text.get(member.value.clone()).unwrap(),
                )
            })
            .collect();
        assert_eq!(
            read,
            [
                ("a", "[ 1 , \"]}\\\"\" , {\"b\":[]} ]"),
                ("b\"", "-1.5e3"),
                ("", "null")
            ]
        );
        let inner = items(text, &found[0].value).unwrap();
        let inner: Vec<_> = inner
            .into_iter()
            .map(|range| text.get(range).unwrap())
            .collect();
        assert_eq!(inner, ["1", "\"]}\\\"\"", "{\"b\":[]}"]);
        assert_eq!(members("[]", &(0..2)), None);
        assert_eq!(items("{}", &(0..2)), None);
        assert_eq!(items("[ ]", &(0..3)), Some(Vec::new()));
        assert_eq!(members("{ }", &(0..3)), Some(Vec::new()));
    }
}
