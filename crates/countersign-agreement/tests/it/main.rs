//! Host and endpoint over the same cases: golden vectors, probes, generated actions, mutations.

#[cfg(test)]
mod action;
#[cfg(test)]
mod catalogs;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod mutations;
#[cfg(test)]
mod strategies;
#[cfg(test)]
mod travel;
