//! What a server says of itself, whichever way it is asked.

use countersign_canonical::Value;

use super::{SERVER_INFO, errors, meta, results};
use crate::id::json_text;
use crate::message::Part;
use crate::read;
use crate::version::Version;
use crate::write;

/// A server's capabilities, name and instructions: what `initialize` and `server/discover` both tell, as the server wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct Introduction {
    capabilities: String,
    /// What the text of the capabilities means.
    means: Value,
    server_info: Option<String>,
    instructions: Option<String>,
}

/// For a server that does not name itself, where a name is required.
const NAMELESS: &str = "{\"name\":\"unknown\",\"version\":\"unknown\"}";

impl Introduction {
    /// What an answer to `initialize` says. Its version is read elsewhere.
    #[must_use]
    pub fn of_initialize(result: &Part<'_>) -> Option<Self> {
        Self::read(result, result.member("serverInfo"))
    }

    /// What an answer to `server/discover` says: since its final form a server names itself in `_meta`, before that it did so
    /// beside it.
    #[must_use]
    pub fn of_discover(result: &Part<'_>) -> Option<Self> {
        let meta = result.member("_meta");
        let info = meta.and_then(|meta| meta.member(SERVER_INFO));
        Self::read(result, info.or_else(|| result.member("serverInfo")))
    }

    fn read(result: &Part<'_>, server_info: Option<Part<'_>>) -> Option<Self> {
        let capabilities = result.member("capabilities")?;
        capabilities.value().as_object()?;
        let server_info = server_info.filter(|info| meta::is_implementation(info.value()));
        let instructions = result.member("instructions");
        let instructions = instructions.filter(|text| text.value().as_str().is_some());
        Some(Self {
            capabilities: capabilities.text().to_owned(),
            means: capabilities.value().clone(),
            server_info: server_info.map(|info| info.text().to_owned()),
            instructions: instructions.map(|text| text.text().to_owned()),
        })
    }

    /// The answer to `initialize`. Tasks are no part of it, since they are others in every version.
    #[must_use]
    pub fn to_initialize(&self, version: Version) -> String {
        format!(
            "{{\"protocolVersion\":{},\"capabilities\":{},\"serverInfo\":{}{}}}",
            json_text(version.as_str()),
            self.capabilities_across(),
            self.server_info().unwrap_or(NAMELESS),
            self.instructions_member()
        )
    }

    /// The answer to `server/discover`.
    #[must_use]
    pub fn to_discover(&self, supported: &[Version]) -> String {
        let result = format!(
            "{{\"supportedVersions\":{},\"capabilities\":{}{}}}",
            errors::names(supported),
            self.capabilities_across(),
            self.instructions_member()
        );
        results::complete("server/discover", &result, self.server_info())
    }

    /// Who the server is, as a JSON object; nothing where it does not say.
    #[must_use]
    pub fn server_info(&self) -> Option<&str> {
        self.server_info.as_deref()
    }

    /// What its name and version mean, for those who record who answered.
    #[must_use]
    pub fn server_info_value(&self) -> Value {
        let info = self.server_info().and_then(read::value);
        info.unwrap_or_else(|| Value::from([]))
    }

    /// Whether it has a capability.
    #[must_use]
    pub fn has(&self, capability: &str) -> bool {
        self.means.get(capability).is_some()
    }

    /// Whether a capability has a part that is true, such as `listChanged` of `tools`.
    #[must_use]
    pub fn has_part(&self, capability: &str, part: &str) -> bool {
        let held = self.means.get(capability);
        let part = held.and_then(|held| held.get(part));
        part.and_then(Value::as_bool) == Some(true)
    }

    fn capabilities_across(&self) -> String {
        write::without_members(&self.capabilities, &["tasks"])
    }

    fn instructions_member(&self) -> String {
        let text = self.instructions.as_ref();
        text.map_or_else(String::new, |text| format!(",\"instructions\":{text}"))
    }
}
