//! One question to both sides.

use std::fmt;

use countersign_endpoint as endpoint;
use countersign_governed as host;

/// Host and endpoint, each with the catalog that it goes by.
#[derive(Clone, Debug)]
pub struct Sides {
    /// What the host may propose.
    pub host: host::Catalog,
    /// What the endpoint performs.
    pub endpoint: endpoint::Catalog,
}

/// What each side said: nothing, or its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdicts {
    /// The host's.
    pub host: Result<(), String>,
    /// The endpoint's.
    pub endpoint: Result<(), String>,
}

impl Sides {
    /// Takes each side's own table of the ten colony tools.
    pub fn colony() -> Self {
        Self {
            host: host::Catalog::colony().clone(),
            endpoint: endpoint::Catalog::colony(),
        }
    }

    /// Asks whether these are arguments of the tool.
    ///
    /// The endpoint reads whole requests only, so that arguments beyond its limits on any
    /// document are refused here too.
    pub fn judge_arguments(&self, tool: &str, arguments: &[u8]) -> Verdicts {
        let endpoint = endpoint::parse_respelled(arguments)
            .map_err(|error| error.to_string())
            .and_then(|arguments| {
                let checked = self.endpoint.check_arguments(tool, &arguments);
                checked.map_err(|faults| faults.to_string())
            });
        Verdicts {
            host: reasons(self.host.check_arguments(tool, arguments)),
            endpoint,
        }
    }

    /// Asks whether this is an execution request of the action.
    pub fn judge_request(&self, path_action_id: &str, body: &[u8]) -> Verdicts {
        Verdicts {
            host: reasons(host::ExecutionRequest::check(
                &self.host,
                Some(path_action_id),
                body,
            )),
            endpoint: reasons(endpoint::ExecutionRequest::parse(
                path_action_id,
                body,
                &self.endpoint,
            )),
        }
    }
}

impl Verdicts {
    /// Tells whether both accept or both refuse.
    pub fn agree(&self) -> bool {
        self.host.is_ok() == self.endpoint.is_ok()
    }

    /// Tells whether both accept.
    pub fn accepted(&self) -> bool {
        self.host.is_ok() && self.endpoint.is_ok()
    }

    /// Tells whether both refuse.
    pub fn refused(&self) -> bool {
        self.host.is_err() && self.endpoint.is_err()
    }
}

impl fmt::Display for Verdicts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (side, verdict) in [("host", &self.host), ("endpoint", &self.endpoint)] {
            match verdict {
                Ok(()) => writeln!(formatter, "the {side} accepts")?,
                Err(reasons) => writeln!(formatter, "the {side} refuses: {reasons}")?,
            }
        }
        Ok(())
    }
}

fn reasons<T>(judged: Result<T, impl fmt::Display>) -> Result<(), String> {
    judged
        .map(drop)
        .map_err(|error| error.to_string().replace('\n', "; "))
}
