//! The protocol's versions, as data: what of their differences matters here.

use countersign_contract::Profile;

/// A version of the protocol that is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// 2024-11-05.
    V2024_11_05,
    /// 2025-03-26.
    V2025_03_26,
    /// 2025-06-18.
    V2025_06_18,
    /// 2025-11-25.
    V2025_11_25,
    /// 2026-07-28.
    V2026_07_28,
}

/// How two sides come to speak a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// `initialize` opens a session (2025-11-25, Lifecycle).
    Handshake,
    /// Every request says its version and its sender's capabilities in `_meta`, and stands alone (2026-07-28, changelog, major
    /// changes 1 and 2).
    EachRequest,
}

/// How a server asks its client for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerAsks {
    /// With a request of its own.
    Requests,
    /// With a result that says what is missing, upon which the client sends its request again (2026-07-28, Multi Round-Trip
    /// Requests; changelog, major change 7).
    Rounds,
}

/// What matters of a version.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one difference, read by itself"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// How it is spoken from.
    pub opening: Opening,
    /// How servers ask.
    pub server_asks: ServerAsks,
    /// Whether the protocol has batches. Only 2025-03-26 demands them, and 2025-06-18 removed them (its changelog, major change 1);
    /// they are refused everywhere.
    pub batches: bool,
    /// Whether results may have `structuredContent`, and tools an `outputSchema` (2025-06-18, changelog, major change 2).
    pub structured_content: bool,
    /// Whether `structuredContent` may be any JSON value, not only an object (2026-07-28, changelog, minor change 10).
    pub structured_any: bool,
    /// Whether tools have `annotations`, among them `readOnlyHint` (2025-03-26, changelog, major change 4).
    pub annotations: bool,
    /// Whether a server can ask a client to open a page (2025-11-25, changelog, major change 6).
    pub url_elicitation: bool,
    /// Whether calls may become tasks within the core protocol (2025-11-25, Tasks; an extension since 2026-07-28).
    pub core_tasks: bool,
    /// Whether results have to say their `resultType` (2026-07-28, changelog, major change 8).
    pub result_type: bool,
}

impl Version {
    /// All of them, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The newest one that is spoken in sessions: what `initialize` is asked for.
    pub const NEWEST_SESSION: Self = Self::V2025_11_25;

    /// The version of a session whose client asks for `requested`: that one, or else the newest (2025-11-25, Lifecycle, Version
    /// Negotiation).
    #[must_use]
    pub fn for_session(requested: &str) -> Self {
        let known = Self::parse(requested);
        known
            .filter(|version| version.traits().opening == Opening::Handshake)
            .unwrap_or(Self::NEWEST_SESSION)
    }

    /// Its name in messages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Reads a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|version| version.as_str() == text)
    }

    /// The profile of calls that come through it.
    #[must_use]
    pub fn profile(self) -> Profile {
        match self {
            Self::V2024_11_05 => Profile::Mcp20241105,
            Self::V2025_03_26 => Profile::Mcp20250326,
            Self::V2025_06_18 => Profile::Mcp20250618,
            Self::V2025_11_25 => Profile::Mcp20251125,
            Self::V2026_07_28 => Profile::Mcp20260728,
        }
    }

    /// What matters of it.
    #[must_use]
    pub fn traits(self) -> Traits {
        let first = Traits {
            opening: Opening::Handshake,
            server_asks: ServerAsks::Requests,
            batches: false,
            structured_content: false,
            structured_any: false,
            annotations: false,
            url_elicitation: false,
            core_tasks: false,
            result_type: false,
        };
        let june_2025 = Traits {
            structured_content: true,
            annotations: true,
            ..first
        };
        match self {
            Self::V2024_11_05 => first,
            Self::V2025_03_26 => Traits {
                batches: true,
                annotations: true,
                ..first
            },
            Self::V2025_06_18 => june_2025,
            Self::V2025_11_25 => Traits {
                url_elicitation: true,
                core_tasks: true,
                ..june_2025
            },
            Self::V2026_07_28 => Traits {
                opening: Opening::EachRequest,
                server_asks: ServerAsks::Rounds,
                structured_any: true,
                url_elicitation: true,
                result_type: true,
                ..june_2025
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_has_a_name_and_a_profile_of_its_own() {
        for version in Version::ALL {
            assert_eq!(Version::parse(version.as_str()), Some(version));
            let profile = version.profile();
            assert_eq!(profile.provider(), "mcp");
            assert_eq!(profile.api_family(), version.as_str());
        }
        assert_eq!(Version::parse("2025-06-19"), None);
    }
}
