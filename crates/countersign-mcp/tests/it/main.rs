//! Messages as strangers send them, and pins as servers change.

#[cfg(test)]
mod messages;
#[cfg(test)]
mod pins;
#[cfg(test)]
mod stateless;
