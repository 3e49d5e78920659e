//! One thing that was looked at.

/// How it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Ok,
    /// It works, but somebody should look.
    Warning,
    /// It does not work, or does not protect.
    Problem,
}

impl Level {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// What was looked at, how it is, and what to do.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) level: Level,
    pub(crate) about: &'static str,
    pub(crate) said: String,
    pub(crate) remedy: Option<String>,
}

impl Finding {
    pub(crate) fn ok(about: &'static str, said: impl Into<String>) -> Self {
        Self {
            level: Level::Ok,
            about,
            said: said.into(),
            remedy: None,
        }
    }

    pub(crate) fn warning(
        about: &'static str,
        said: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::with_remedy(Level::Warning, about, said.into(), remedy.into())
    }

    pub(crate) fn problem(
        about: &'static str,
        said: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::with_remedy(Level::Problem, about, said.into(), remedy.into())
    }

    fn with_remedy(level: Level, about: &'static str, said: String, remedy: String) -> Self {
        Self {
            level,
            about,
            said,
            remedy: Some(remedy),
        }
    }
}
