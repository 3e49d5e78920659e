//! Integration tests.

#[cfg(test)]
mod conditions;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod sequences;
#[cfg(test)]
mod suite;
#[cfg(test)]
mod unsettled;
#[cfg(test)]
mod writes;
