//! The contract crate from outside: golden vectors, attacks on packages, answers, arguments, documents.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod arguments;
#[cfg(test)]
mod attacks;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod editing;
#[cfg(test)]
mod forger;
#[cfg(test)]
mod guide;
#[cfg(test)]
mod mutations;
#[cfg(test)]
mod result_sets;
#[cfg(test)]
mod sensitive_keys;
#[cfg(test)]
mod time;
#[cfg(test)]
mod vectors;
