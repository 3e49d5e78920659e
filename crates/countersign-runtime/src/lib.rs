//! Executes effects: the drivers that carry an admitted call out into the world.
//!
//! Invariants:
//! - A driver says *not started* only with proof. Everything else that did not end with an answer is *unknown*.
//! - Nothing here reads the environment or decides whether a call may run; both come from the caller.
//!
//! | module | what it is |
//! |---|---|
//! | `driver` | performs what the pipeline's states name, synchronously |
//! | `handlers` | which handler performs which tool, and which status operation knows what became of it |
//! | `command_handler` | a handler that is a local program |
//! | [`command`] | one run of a local program: arguments in, answer out, bounded in time and size |
//! | `work` | performs an operation that is due: begins it, asks for its receipt, or sends it again |
//! | `poller` | looks for what is due, again and again, until it is stopped |
//! | `heartbeat` | says that this host is alive while it performs something |
//! | `clock` | what time it is |

mod clock;
pub mod command;
mod command_handler;
mod driver;
mod handlers;
mod heartbeat;
mod poller;
mod work;

pub use clock::{Clock, FixedClock, SystemClock};
pub use command_handler::{Answers, CommandHandler, DiagnosticsSink};
pub use driver::{DispatchPorts, StatusPorts, dispatch, query_status};
pub use handlers::{Handler, Handlers, StatusSources};
pub use heartbeat::while_alive;
pub use poller::{Gauges, Poller, PollerSettings, Stop, Tick};
pub use work::{
    Performed, Plan, PrincipalDirectory, WorkLedger, WorkPorts, ask_status, perform, plan,
};
