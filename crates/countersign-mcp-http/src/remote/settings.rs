//! What a client has set in its session, to set it again in one that takes its place.

use std::collections::BTreeMap;

use countersign_mcp::{Kind, Message};

/// The most resources that are subscribed to again.
const MAX_SUBSCRIPTIONS: usize = 256;
/// The longest parameters that are kept, in bytes: an address, or the name of a level.
const MAX_PARAMS_BYTES: usize = 8 << 10;

/// The log level, and the subscriptions to resources, as they were asked for last.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    log_level: Option<String>,
    /// The parameters by address.
    subscriptions: BTreeMap<String, String>,
    /// Something was asked for that is not kept.
    pub(super) is_incomplete: bool,
}

impl Settings {
    /// Takes a request of the client, if it is one that sets something.
    pub(super) fn note(&mut self, message: &Message) {
        let Kind::Request { method, .. } = message.kind() else {
            return;
        };
        let Some(params) = message.params() else {
            return;
        };
        let text = params.text();
        let address = || Some(params.value().get("uri")?.as_str()?.to_owned());
        match method.as_str() {
            "logging/setLevel" if text.len() <= MAX_PARAMS_BYTES => {
                self.log_level = Some(text.to_owned());
            }
            "resources/subscribe" => {
                let Some(address) = address() else { return };
                let has_room = self.subscriptions.len() < MAX_SUBSCRIPTIONS
                    || self.subscriptions.contains_key(&address);
                if has_room && text.len() <= MAX_PARAMS_BYTES {
                    self.subscriptions.insert(address, text.to_owned());
                } else {
                    self.is_incomplete = true;
                }
            }
            "resources/unsubscribe" => {
                if let Some(address) = address() {
                    self.subscriptions.remove(&address);
                }
            }
            _ => {}
        }
    }

    /// The requests that set it again: methods and parameters.
    pub(super) fn requests(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let level = self
            .log_level
            .iter()
            .map(|params| ("logging/setLevel", params));
        let subscriptions = self.subscriptions.values();
        let subscriptions = subscriptions.map(|params| ("resources/subscribe", params));
        level
            .chain(subscriptions)
            .map(|(method, params)| (method, params.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(settings: &mut Settings, method: &str, params: &str) {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        settings.note(&Message::read(text.as_bytes()).unwrap());
    }

    #[test]
    fn what_was_asked_for_last_is_kept_within_bounds() {
        let mut settings = Settings::default();
        note(&mut settings, "logging/setLevel", r#"{"level":"info"}"#);
        note(&mut settings, "logging/setLevel", r#"{"level":"debug"}"#);
        note(&mut settings, "resources/subscribe", r#"{"uri":"a"}"#);
        note(&mut settings, "resources/subscribe", r#"{"uri":"b"}"#);
        note(&mut settings, "resources/unsubscribe", r#"{"uri":"a"}"#);
        note(&mut settings, "resources/read", r#"{"uri":"c"}"#);
        note(&mut settings, "resources/subscribe", r#"{"uri":7}"#);
        let kept: Vec<_> = settings.requests().collect();
        assert_eq!(
            kept,
            [
                ("logging/setLevel", r#"{"level":"debug"}"#),
                ("resources/subscribe", r#"{"uri":"b"}"#),
            ]
        );
        assert!(!settings.is_incomplete);
        for number in 0..MAX_SUBSCRIPTIONS {
            note(
                &mut settings,
                "resources/subscribe",
                &format!(r#"{{"uri":"{number}"}}"#),
            );
        }
        assert_eq!(settings.requests().count(), 1 + MAX_SUBSCRIPTIONS);
        assert!(settings.is_incomplete);
    }
}
