//! Executes effects: the drivers that carry an admitted call out into the world.
//!
//! Invariants:
//! - A driver says *not started* only with proof. Everything else that did not end with an answer is *unknown*.
//! - Nothing here reads the environment or decides whether a call may run; both come from the caller.
//!
//! | module | what it is |
//! |---|---|
//! | [`command`] | one run of a local program: arguments in, answer out, bounded in time and size |

pub mod command;
