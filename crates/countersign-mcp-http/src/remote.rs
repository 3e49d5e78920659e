//! The side that speaks to a server.
