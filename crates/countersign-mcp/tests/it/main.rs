//! Messages as strangers send them, and pins as servers change.

mod messages;
mod pins;
