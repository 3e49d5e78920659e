//! The states of an action and what each says about its effect.

/// Where an action stands.
///
/// `prepared -> executing -> completed | ambiguous`, `prepared -> failed`, and no
/// other step, ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StateName {
    /// Accepted and stored; nothing has begun.
    Prepared,
    /// The effect may have begun.
    Executing,
    /// The effect was performed and verified.
    Completed,
    /// The effect was not performed, and never will be.
    Failed,
    /// Nobody knows whether the effect was performed; it is never tried again.
    Ambiguous,
}

impl StateName {
    /// All states.
    pub const ALL: [Self; 5] = [
        Self::Prepared,
        Self::Executing,
        Self::Completed,
        Self::Failed,
        Self::Ambiguous,
    ];

    /// The name on the wire and in the ledger.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prepared => "prepared",
            Self::Executing => "executing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Ambiguous => "ambiguous",
        }
    }

    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// What a result in this state says about the effect.
    pub fn effect_state(self) -> &'static str {
        match self {
            Self::Prepared => "not_started",
            Self::Executing | Self::Ambiguous => "uncertain",
            Self::Completed => "performed",
            Self::Failed => "not_performed",
        }
    }

    /// Whether the ledger may replace this state by `next`.
    pub fn may_become(self, next: Self) -> bool {
        match self {
            Self::Prepared => matches!(next, Self::Executing | Self::Failed),
            Self::Executing => matches!(next, Self::Completed | Self::Ambiguous),
            Self::Completed | Self::Failed | Self::Ambiguous => false,
        }
    }
}
