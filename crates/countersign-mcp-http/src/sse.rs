//! Server-sent events, the form in which several messages answer one request.

pub(crate) mod decode;
