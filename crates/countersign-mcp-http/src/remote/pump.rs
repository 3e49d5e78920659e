//! Sends what is to be sent, in an order that the protocol can rely on.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use countersign_mcp::port::{NotSent, Ticket, Unanswered};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::exchange::{Asked, ask};
use super::general;
use super::in_flight::{Place, Sort};
use super::link::{Link, Told};
use super::renewal::OPENING_TIMEOUT;

/// How long answers are still waited for when nothing is sent any more.
const CLOSING_GRACE: Duration = Duration::from_secs(5);
/// How long it may take to say that there are none.
const CLOSING_TIMEOUT: Duration = Duration::from_secs(2);

/// Something to be sent, with its place among what may wait. There are never more of them than places.
pub(super) struct Queued {
    pub(super) item: Item,
    pub(super) permit: OwnedSemaphorePermit,
}

pub(super) enum Item {
    Asked(Asked, Place),
    Told(Told),
    /// The client has said that it is ready.
    Initialized(Told),
}

/// Sends until nothing comes any more, then ends the session.
///
/// What opens a session goes out by itself: what comes later waits for it. Requests then go out side by side; messages that have no
/// answer go out one after the other, beside them.
pub(super) async fn run(link: Arc<Link>, mut queue: UnboundedReceiver<Queued>) {
    let mut requests = JoinSet::new();
    let mut streams = JoinSet::new();
    streams.spawn(general::listen(Arc::clone(&link), link.opened.subscribe()));
    let (in_turn, turns) = unbounded_channel();
    let telling = tokio::spawn(tell_in_turn(Arc::clone(&link), turns));
    while let Some(queued) = queue.recv().await {
        while requests.try_join_next().is_some() {}
        pass(&link, queued, &mut requests, &in_turn).await;
    }
    drop(in_turn);
    let are_done = async {
        let _ = telling.await;
        while requests.join_next().await.is_some() {}
    };
    if timeout(CLOSING_GRACE, are_done).await.is_err() {
        link.in_flight.cancel_all();
        let are_told = async { while requests.join_next().await.is_some() {} };
        let _ = timeout(CLOSING_TIMEOUT, are_told).await;
    }
    streams.shutdown().await;
    link.end().await;
    link.delivery.gone().await;
}

async fn pass(
    link: &Arc<Link>,
    queued: Queued,
    requests: &mut JoinSet<()>,
    in_turn: &UnboundedSender<(Told, OwnedSemaphorePermit)>,
) {
    let Queued { item, permit } = queued;
    match item {
        Item::Asked(asked, place) if asked.sort == Sort::Opening => {
            let is_done = timeout(OPENING_TIMEOUT, follow(link, &asked, place)).await;
            if is_done.is_err() {
                link.in_flight.cancel(&asked.id, Duration::ZERO);
                link.delivery.unanswered(&asked.id, Unanswered::Lost).await;
            }
        }
        Item::Asked(asked, place) => {
            let link = Arc::clone(link);
            requests.spawn(async move {
                follow(&link, &asked, place).await;
                drop(permit);
            });
        }
        Item::Initialized(told) => {
            link.tell(told).await;
            link.announce_open();
        }
        Item::Told(told) => {
            let _ = in_turn.send((told, permit));
        }
    }
}

/// Follows a request to its end, or until it is given up.
async fn follow(link: &Link, asked: &Asked, mut place: Place) {
    let is_given_up = tokio::select! {
        biased;
        () = ask(link, asked) => false,
        () = place.given_up() => true,
    };
    link.in_flight.leave(&asked.id, &place);
    // Its stream may still be open behind the answer.
    if is_given_up && !asked.is_answered.load(Ordering::Acquire) {
        let is_unsent = asked.ticket.as_ref().is_some_and(Ticket::give_up);
        let why = if is_unsent {
            Unanswered::NotSent(NotSent::GivenUp)
        } else {
            Unanswered::Lost
        };
        link.delivery.unanswered(&asked.id, why).await;
    }
}

async fn tell_in_turn(link: Arc<Link>, mut turns: UnboundedReceiver<(Told, OwnedSemaphorePermit)>) {
    while let Some((told, permit)) = turns.recv().await {
        link.tell(told).await;
        drop(permit);
    }
}
