//! Integration tests: real files, threads, processes, and disks that fill.

#[cfg(test)]
mod backup;
#[cfg(test)]
mod batches;
#[cfg(test)]
mod builder;
#[cfg(test)]
mod children;
#[cfg(test)]
mod crashes;
#[cfg(test)]
mod disks;
#[cfg(test)]
mod files;
#[cfg(test)]
mod host;
#[cfg(test)]
mod ledger;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod suite;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod tampering;
#[cfg(test)]
mod upkeep;
#[cfg(test)]
mod waiting;
#[cfg(test)]
mod wal_cuts;
