//! Broken: what was sent and not answered is sent again, to whichever downstream.

use countersign_dispatch::{Execution, ExecutionOrder};

use crate::downstream::{Downstream, Ticket};
use crate::line::{Line, PlainLine};
use crate::oracle::Warrant;

/// Sends once more where no answer came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetryingLine;

impl Line for RetryingLine {
    fn send(
        &self,
        downstream: &Downstream,
        order: &ExecutionOrder<'_>,
        warrant: Warrant,
    ) -> Option<Ticket> {
        PlainLine.send(downstream, order, warrant)
    }

    fn conclude(
        &self,
        downstream: &Downstream,
        order: &ExecutionOrder<'_>,
        (ticket, warrant): (Ticket, Warrant),
    ) -> Execution {
        let execution = downstream.conclude(ticket);
        if execution != Execution::AnswerLost {
            return execution;
        }
        let again = downstream.send(order, warrant);
        again.map_or(execution, |ticket| downstream.conclude(ticket))
    }
}
