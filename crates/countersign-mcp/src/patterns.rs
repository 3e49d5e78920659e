//! Names that a person gives, some of them by their beginning.

/// Names, exact or up to a final `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patterns(Vec<String>);

/// The most patterns of one list.
pub const MAX_PATTERNS: usize = 256;

impl Patterns {
    /// Reads names with commas between them; nothing where there are too many, or a `*` stands before the end of one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let names = text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let names: Vec<_> = names.map(str::to_owned).collect();
        let is_fine = |name: &String| !name.strip_suffix('*').unwrap_or(name).contains('*');
        (names.len() <= MAX_PATTERNS && names.iter().all(is_fine)).then_some(Self(names))
    }

    /// Whether one of them means this name.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|pattern| match pattern.strip_suffix('*') {
                Some(beginning) => name.starts_with(beginning),
                None => name == pattern,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_whole_or_by_their_beginning() {
        let patterns = Patterns::parse("git_status, git_diff*,").unwrap();
        for (name, is_meant) in [
            ("git_status", true),
            ("git_status_all", false),
            ("git_diff", true),
            ("git_diff_staged", true),
            ("", false),
        ] {
            assert_eq!(patterns.matches(name), is_meant, "{name}");
        }
        assert!(Patterns::parse("*").unwrap().matches("whatever"));
        assert_eq!(Patterns::parse("a*b"), None);
        assert!(!Patterns::parse("").unwrap().matches(""));
    }
}
