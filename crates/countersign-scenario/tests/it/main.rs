//! Integration tests: fixtures as they come from a stranger.

#[cfg(test)]
mod builtin;
#[cfg(test)]
mod faulty;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod vectors;
