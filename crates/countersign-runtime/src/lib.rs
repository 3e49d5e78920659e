//! Executes effects: the drivers that carry an admitted call out into the world.
//!
//! Invariants:
//! - A driver says *not started* only with proof. Everything else that did not end with an answer is *unknown*.
//! - Nothing here reads the environment or decides whether a call may run; both come from the caller.
//!
//! | module | what it is |
//! |---|---|
//! | `driver` | performs what the pipeline's states name, synchronously |
//! | `handlers` | which handler performs which tool |
//! | `command_handler` | a handler that is a local program |
//! | [`command`] | one run of a local program: arguments in, answer out, bounded in time and size |
//! | `clock` | what time it is |

mod clock;
pub mod command;
mod command_handler;
mod driver;
mod handlers;

pub use clock::{Clock, FixedClock, SystemClock};
pub use command_handler::{Answers, CommandHandler, DiagnosticsSink};
pub use driver::{DispatchPorts, StatusPorts, dispatch, query_status};
pub use handlers::{Handler, Handlers};
