//! Integration tests: real processes, real files, real git; and attacks on the pipeline.

#[cfg(test)]
mod attachments;
#[cfg(test)]
mod attack;
#[cfg(test)]
mod command;
#[cfg(test)]
mod command_handler;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod tools;
#[cfg(test)]
mod work;
