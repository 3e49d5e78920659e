//! Tests over real sockets.

#[cfg(test)]
mod listen;
#[cfg(test)]
mod page;
#[cfg(test)]
mod remote;
