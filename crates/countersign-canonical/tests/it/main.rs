//! The canonical crate from outside: golden vectors, errors and their places, limits, properties.

#[cfg(test)]
mod domain;
#[cfg(test)]
mod encoder;
#[cfg(test)]
mod encodings;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod vectors;
