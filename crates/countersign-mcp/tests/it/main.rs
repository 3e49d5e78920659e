//! Messages as strangers send them, and pins as servers change.

#[cfg(test)]
mod bridge;
#[cfg(test)]
mod bridge_properties;
#[cfg(test)]
mod bridge_to_session;
#[cfg(test)]
mod bridge_to_stateless;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod pins;
#[cfg(test)]
mod stateless;
