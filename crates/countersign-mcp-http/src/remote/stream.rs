//! One stream of events, over as many connections as it takes.

use std::time::Duration;

use reqwest::Response;
use reqwest::header::HeaderValue;
use tokio::time::{sleep, timeout};

use crate::sse::decode::{Decoder, Position};

/// How long a server may say nothing. Those that have nothing to say for longer send comments.
pub(super) const MAX_SILENCE: Duration = Duration::from_hours(1);
/// How long to wait before a stream is taken up again, where the server has said nothing about it.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait, whatever the server says.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Doublings that reach the longest wait.
const MAX_DOUBLINGS: u32 = 5;

/// Where a stream stands.
#[derive(Default)]
pub(super) struct Stream {
    decoder: Decoder,
    chunk: Vec<u8>,
    taken: usize,
    position: Option<HeaderValue>,
    retry: Option<Duration>,
    /// How often it was taken up without anything new.
    fruitless: u32,
}

impl Stream {
    /// The next message; nothing where the connection has ended.
    pub(super) async fn next(&mut self, response: &mut Response) -> Option<Vec<u8>> {
        loop {
            let mut rest = self.chunk.get(self.taken..).unwrap_or_default();
            let event = self.decoder.next_event(&mut rest);
            self.taken = self.chunk.len().saturating_sub(rest.len());
            let Some(event) = event else {
                let chunk = timeout(MAX_SILENCE, response.chunk()).await;
                let Ok(Ok(Some(chunk))) = chunk else {
                    return None;
                };
                (self.chunk, self.taken) = (chunk.to_vec(), 0);
                continue;
            };
            self.fruitless = 0;
            self.retry = event.retry.or(self.retry);
            match event.position {
                Position::Unsaid => {}
                Position::Id(id) => self.position = HeaderValue::from_bytes(&id).ok(),
                Position::Lost => self.position = None,
            }
            if !event.is_other && !event.data.is_empty() {
                return Some(event.data);
            }
        }
    }

    /// Where to take it up again, if the server has said so.
    pub(super) fn position(&self) -> Option<&HeaderValue> {
        self.position.as_ref()
    }

    /// How often in a row it was taken up in vain.
    pub(super) fn fruitless(&self) -> u32 {
        self.fruitless
    }

    /// Waits before it is taken up again: as the server says, and longer each time that nothing comes of it.
    pub(super) async fn wait(&mut self) {
        // Half an event does not go on behind a break.
        (self.decoder, self.chunk, self.taken) = (Decoder::default(), Vec::new(), 0);
        sleep(delay(self.retry, self.fruitless)).await;
        self.fruitless = self.fruitless.saturating_add(1);
    }
}

fn delay(retry: Option<Duration>, fruitless: u32) -> Duration {
    let first = match fruitless {
        0 => retry.unwrap_or(FIRST_WAIT),
        _ => retry.unwrap_or_default().max(FIRST_WAIT),
    };
    first
        .saturating_mul(1 << fruitless.min(MAX_DOUBLINGS))
        .min(MAX_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_and_end_somewhere() {
        let milliseconds = |retry: Option<u64>, fruitless| {
            delay(retry.map(Duration::from_millis), fruitless).as_millis()
        };
        assert_eq!(milliseconds(None, 0), 1000);
        assert_eq!(milliseconds(Some(0), 0), 0);
        assert_eq!(milliseconds(Some(0), 1), 2000);
        assert_eq!(milliseconds(Some(20), 0), 20);
        assert_eq!(milliseconds(Some(u64::MAX), 0), 30_000);
        assert_eq!(milliseconds(None, 4), 16_000);
        assert_eq!(milliseconds(None, u32::MAX), 30_000);
    }
}
