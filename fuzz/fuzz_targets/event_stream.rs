//! Bytes of a stream of events, in pieces.
#![no_main]

use countersign_mcp::{MESSAGE_LIMITS, Message};
use countersign_mcp_http::events_of;
use libfuzzer_sys::fuzz_target;

// The first byte says how long the pieces are.
fuzz_target!(|input: &[u8]| {
    let Some((length, stream)) = input.split_first() else {
        return;
    };
    let whole = events_of([stream]);
    let in_pieces = events_of(stream.chunks(usize::from(*length).max(1)));
    assert_eq!(whole, in_pieces, "how bytes come changes nothing");
    let mut bytes = 0;
    for (data, _) in &whole {
        bytes += data.len();
        assert!(data.len() <= MESSAGE_LIMITS.bytes + 1);
        let _ = Message::read(data);
    }
    assert!(bytes <= stream.len(), "nothing is made of nothing");
});
