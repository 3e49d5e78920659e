//! Tests over real sockets.

#[cfg(test)]
mod remote;
