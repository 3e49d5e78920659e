//! The governed contract from outside: golden vectors, mutations, boundaries, schemas, the guide.

#[cfg(test)]
mod admissions;
#[cfg(test)]
mod catalogs;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod guide;
#[cfg(test)]
mod intents;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod results;
#[cfg(test)]
mod vectors;
