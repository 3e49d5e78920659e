//! How an order gets to the downstream, and what comes back.

use countersign_dispatch::{Execution, ExecutionOrder};

use crate::downstream::{Downstream, Ticket};
use crate::oracle::Warrant;

/// Carries orders to the downstream and answers back, in two steps: between them, whoever waits may die.
pub(crate) trait Line {
    /// Sends.
    fn send(
        &self,
        downstream: &Downstream,
        order: &ExecutionOrder<'_>,
        warrant: Warrant,
    ) -> Option<Ticket>;

    /// Takes what came back.
    fn conclude(
        &self,
        downstream: &Downstream,
        order: &ExecutionOrder<'_>,
        sent: (Ticket, Warrant),
    ) -> Execution;
}

/// The line as a handler should be: it sends once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainLine;

impl Line for PlainLine {
    fn send(
        &self,
        downstream: &Downstream,
        order: &ExecutionOrder<'_>,
        warrant: Warrant,
    ) -> Option<Ticket> {
        downstream.send(order, warrant)
    }

    fn conclude(
        &self,
        downstream: &Downstream,
        _: &ExecutionOrder<'_>,
        (ticket, _): (Ticket, Warrant),
    ) -> Execution {
        downstream.conclude(ticket)
    }
}
