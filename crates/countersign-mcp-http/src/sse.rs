//! Server-sent events, the form in which several messages answer one request (HTML Living Standard, section 9.2).

pub(crate) mod decode;
pub(crate) mod encode;

/// The events of a stream that comes in pieces: the data of each, and whether it is a message. For the fuzz target.
#[cfg(fuzzing)]
#[must_use]
pub fn events_of<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<(Vec<u8>, bool)> {
    let mut decoder = decode::Decoder::default();
    let mut events = Vec::new();
    for mut piece in pieces {
        while let Some(event) = decoder.next_event(&mut piece) {
            events.push((event.data, !event.is_other));
        }
    }
    events
}
