//! The simulation, at a length that a test can take.

#[cfg(test)]
mod broken;
#[cfg(test)]
mod exhaustive;
#[cfg(test)]
mod fixed;
#[cfg(test)]
mod sound;
