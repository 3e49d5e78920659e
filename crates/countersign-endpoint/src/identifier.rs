//! The names and ids of the contract, each made by parsing only.

use std::fmt;

use crate::grammar::{IDENTIFIER_MAX_CHARS, exceeds_chars, is_blank, is_identifier, is_lower_hex};

/// The longest decision id, in characters. The host allows more; this boundary does not.
pub const DECISION_ID_MAX_CHARS: usize = 128;

/// Declares a text type that only `parse` can make.
macro_rules! identifier_type {
    ($(#[$attribute:meta])* $name:ident, $accepts:expr) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Checks the grammar; `None` where the text does not match it.
            pub fn parse(text: &str) -> Option<Self> {
                let accepts: fn(&str) -> bool = $accepts;
                accepts(text).then(|| Self(text.to_owned()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

identifier_type! {
    /// An action's id: a random (version 4) UUID in its canonical, lower-case form.
    ActionId, is_canonical_uuid_v4
}

identifier_type! {
    /// An intent's id: `hti_` and 32 lower-case hexadecimal digits.
    IntentId, |text| text.strip_prefix("hti_").is_some_and(|digits| is_lower_hex(digits, 32))
}

identifier_type! {
    /// An owner approval's id: `APR-` and twelve capital letters or digits.
    ApprovalId, |text| text.strip_prefix("APR-").is_some_and(|code| {
        code.len() == 12 && code.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9'))
    })
}

identifier_type! {
    /// The id of the decision behind an approval: an identifier of at most 128 characters.
    DecisionId, |text| is_identifier(text, DECISION_ID_MAX_CHARS)
}

identifier_type! {
    /// A tool's name.
    ToolName, |text| is_identifier(text, IDENTIFIER_MAX_CHARS)
}

identifier_type! {
    /// The one owner whom a credential is bound to.
    Owner, |text| !is_blank(text)
        && !exceeds_chars(text, IDENTIFIER_MAX_CHARS)
        && !text.chars().any(char::is_control)
}

identifier_type! {
    /// The id of a running endpoint process, new at each start.
    InstanceId, |text| is_identifier(text, IDENTIFIER_MAX_CHARS)
}

impl ToolName {
    /// Takes a name of this crate's own table.
    pub(crate) fn from_static(name: &'static str) -> Self {
        Self(name.to_owned())
    }
}

fn is_canonical_uuid_v4(text: &str) -> bool {
    const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
    let mut groups = text.split('-');
    let shaped = GROUPS.iter().all(|length| {
        groups
            .next()
            .is_some_and(|group| is_lower_hex(group, *length))
    });
    let bytes = text.as_bytes();
    shaped
        && groups.next().is_none()
        && bytes.get(14) == Some(&b'4')
        && matches!(bytes.get(19), Some(b'8' | b'9' | b'a' | b'b'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn action_ids_are_canonical_uuids_of_version_4() {
        for good in [
            "11cbc288-4a50-42dc-982c-18c92f429ce5",
            "00000000-0000-4000-b000-000000000000",
        ] {
            assert!(ActionId::parse(good).is_some(), "{good}");
        }
        for bad in [
            "",
            "11cbc288-4a50-12dc-982c-18c92f429ce5",
            "11cbc288-4a50-72dc-982c-18c92f429ce5",
            "11cbc288-4a50-42dc-c82c-18c92f429ce5",
            "11cbc288-4a50-42dc-782c-18c92f429ce5",
            "11CBC288-4A50-42DC-982C-18C92F429CE5",
            "11cbc2884a5042dc982c18c92f429ce5",
            "{11cbc288-4a50-42dc-982c-18c92f429ce5}",
            "11cbc288-4a50-42dc-982c-18c92f429ce5\n",
            "11cbc288-4a50-42dc-982c-18c92f429ce5-",
            "11cbc288-4a50-42dc-982c-18c92f429ce",
            "11cbc28-84a50-42dc-982c-18c92f429ce5",
        ] {
            assert_eq!(ActionId::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn intent_approval_and_decision_ids() {
        let hex = "0123456789abcdef".repeat(2);
        assert!(IntentId::parse(&format!("hti_{hex}")).is_some());
        for bad in [
            hex.clone(),
            format!("HTI_{hex}"),
            format!("hti_{hex}\n"),
            format!("hti_{}", hex.to_uppercase()),
            format!("hti_{hex}0"),
        ] {
            assert_eq!(IntentId::parse(&bad), None, "{bad:?}");
        }
        assert!(ApprovalId::parse("APR-2F238499DA36").is_some());
        assert!(ApprovalId::parse("APR-ZZZZZZZZZZZZ").is_some());
        for bad in [
            "apr-2F238499DA36",
            "APR-2f238499da36",
            "APR-2F238499DA3",
            "APR-2F238499DA366",
            "APR-2F238499DA36\n",
            "APR-ÉF238499DA3",
            "APR_2F238499DA36",
        ] {
            assert_eq!(ApprovalId::parse(bad), None, "{bad:?}");
        }
        assert!(DecisionId::parse(&"d".repeat(128)).is_some());
        for bad in [&*"d".repeat(129), "dec 1", "dec-1\n", "", "a@b"] {
            assert_eq!(DecisionId::parse(bad), None, "{bad:?}");
        }
        assert!(Owner::parse("Zoë").is_some());
        for bad in ["", " ", "a\nb", &*"o".repeat(257)] {
            assert_eq!(Owner::parse(bad), None, "{bad:?}");
        }
    }
}
