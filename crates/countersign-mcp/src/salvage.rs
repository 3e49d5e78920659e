//! What can still be read of a message that is not one: whom to answer.

use countersign_canonical::{Limits, parse};

use crate::id::RequestId;

/// What a broken message seems to have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvaged {
    /// Its id.
    pub id: RequestId,
    /// Whether it names a method, so that its sender waits for an answer.
    pub is_request: bool,
}

/// The longest name or id that is looked at.
const MAX_TOKEN_BYTES: usize = 1024;

/// Finds the one id that stands on the outermost level of an object, whatever is wrong elsewhere.
///
/// It serves to say that a message was refused, and nothing else: nothing that is salvaged is ever passed on. Where there are
/// two ids, or one that is no id, there is none. Brackets may be unbalanced, and the end may be missing.
#[must_use]
pub fn salvage(bytes: &[u8]) -> Option<Salvaged> {
    let mut walk = Walk { bytes, offset: 0 };
    let mut depth = 0_usize;
    let (mut id, mut is_request) = (None, false);
    while let Some(byte) = walk.next_token() {
        match byte {
            b'"' => {
                let text = walk.string();
                if depth != 1 || walk.next_token() != Some(b':') {
                    continue;
                }
                walk.offset += 1;
                match text {
                    b"\"method\"" => is_request = true,
                    b"\"id\"" if id.is_some() => return None,
                    b"\"id\"" => id = Some(walk.id()?),
                    _ => {}
                }
            }
            b'[' if depth == 0 => return None,
            b'{' | b'[' => {
                depth += 1;
                walk.offset += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                walk.offset += 1;
            }
            _ => walk.offset += 1,
        }
    }
    id.map(|id| Salvaged { id, is_request })
}

struct Walk<'b> {
    bytes: &'b [u8],
    offset: usize,
}

impl<'b> Walk<'b> {
    fn next_token(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.offset)?;
            if !byte.is_ascii_whitespace() {
                return Some(byte);
            }
            self.offset += 1;
        }
    }

    /// Steps over a string; its bytes with the quotes.
    fn string(&mut self) -> &'b [u8] {
        let start = self.offset;
        self.offset += 1;
        let mut is_escaped = false;
        while let Some(byte) = self.bytes.get(self.offset) {
            self.offset += 1;
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => break,
                _ => {}
            }
        }
        self.bytes.get(start..self.offset).unwrap_or_default()
    }

    fn id(&mut self) -> Option<RequestId> {
        let token = if self.next_token()? == b'"' {
            self.string()
        } else {
            let start = self.offset;
            let is_part =
                |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
            while self.bytes.get(self.offset).is_some_and(is_part) {
                self.offset += 1;
            }
            self.bytes.get(start..self.offset)?
        };
        let value = parse(token, &Limits::passthrough().with_bytes(MAX_TOKEN_BYTES)).ok()?;
        RequestId::from_value(&value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_around_whatever_is_broken() {
        let deep = format!(
            "{{\"params\":{}1{},\"id\":7}}",
            "[".repeat(300),
            "]".repeat(300)
        );
        for (text, id, is_request) in [
            ("{\"id\":1,\"method\":\"m\",\"params\":NaN}", "1", true),
            (
                "{\"method\":\"m\",\"params\":{\"id\":2,\"\\ud800\":1},\"id\":\"x\"}",
                "\"x\"",
                true,
            ),
            ("{\"id\":1,\"result\":{\"a\":1,\"a\":2}}", "1", false),
            (
                "{\"id\":12345678901234567890,\"result\":{\"te",
                "12345678901234567890",
                false,
            ),
            (deep.as_str(), "7", false),
        ] {
            let found = salvage(text.as_bytes()).unwrap();
            assert_eq!(
                (found.id.to_json().as_str(), found.is_request),
                (id, is_request),
                "{text}"
            );
        }
        for text in [
            "",
            "nonsense",
            "{\"id\":1,\"id\":2}",
            "{\"id\":null}",
            "{\"id\":1.5}",
            "{\"params\":{\"id\":1}}",
            "[{\"id\":1,\"method\":\"m\"}]",
            "{\"a\":\"id\"}",
        ] {
            assert_eq!(salvage(text.as_bytes()), None, "{text}");
        }
        assert_eq!(salvage(b"{\"id\":1,\"\xff\":2}").unwrap().id.to_json(), "1");
    }
}
