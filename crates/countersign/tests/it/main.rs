//! The program as a user meets it: vectors, the governed contract, help.

#[cfg(test)]
mod contract;
#[cfg(test)]
mod help;
#[cfg(test)]
mod program;
#[cfg(test)]
mod vectors;
