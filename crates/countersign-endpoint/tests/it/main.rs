//! The endpoint crate from outside: golden vectors, boundaries, properties, and the machine as a whole.

#[cfg(test)]
mod boundaries;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod machine;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod results;
#[cfg(test)]
mod sample;
