//! What a server says by itself, on a stream of its own (2025-11-25, "Listening for Messages from the Server").

use std::ops::ControlFlow;
use std::sync::Arc;

use countersign_mcp::salvage;
use tokio::sync::watch;

use super::body::{self, Content, content};
use super::link::Link;
use super::stream::Stream;

/// Listens in each session from its opening on, until this is dropped.
pub(super) async fn listen(link: Arc<Link>, mut opened: watch::Receiver<u64>) {
    let mut is_open = opened.changed().await.is_ok();
    while is_open {
        // A new session has a new stream; in the old one nothing comes any more.
        is_open = tokio::select! {
            () = session(&link) => opened.changed().await.is_ok(),
            changed = opened.changed() => changed.is_ok(),
        };
    }
}

/// Listens in one session; ends where the server has no such stream, or no such session.
async fn session(link: &Link) {
    let mut stream = Stream::default();
    while connection(link, &mut stream).await == ControlFlow::Continue(()) {
        stream.wait().await;
    }
}

async fn connection(link: &Link, stream: &mut Stream) -> ControlFlow<()> {
    let generation = link.session.generation();
    let request = link.get(stream.position());
    let Ok(mut response) = link.call(link.reach.pooled(), request).await else {
        return ControlFlow::Continue(());
    };
    match response.status() {
        status if status.is_success() && content(&response) == Content::Events => {}
        status if status.is_server_error() => return ControlFlow::Continue(()),
        _ => {
            // Mostly 405: it has no such stream.
            if link.session.has_id() && body::ends_session(response).await {
                link.session.expire(generation);
            }
            return ControlFlow::Break(());
        }
    }
    while let Some(bytes) = stream.next(&mut response).await {
        // Answers belong to the streams of their requests.
        if salvage(&bytes).is_none_or(|found| found.is_request) {
            link.delivery.message(bytes, None).await;
        }
    }
    ControlFlow::Continue(())
}
