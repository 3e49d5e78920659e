//! Integration tests: real processes, real files, real git.

#[cfg(test)]
mod command;
#[cfg(test)]
mod tools;
