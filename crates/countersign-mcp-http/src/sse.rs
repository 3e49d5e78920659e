//! Server-sent events, the form in which several messages answer one request (HTML Living Standard, section 9.2).

pub(crate) mod decode;
pub(crate) mod encode;
