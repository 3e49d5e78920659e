//! Integration tests: the real program, real files, real processes, a real terminal.

#[cfg(test)]
mod approvals;
#[cfg(test)]
mod approver;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod grants;
#[cfg(test)]
mod help;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod inputs;
#[cfg(test)]
mod install;
#[cfg(test)]
mod ledger_work;
#[cfg(test)]
mod ledgers;
#[cfg(test)]
mod mcp_client;
#[cfg(test)]
mod packages;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod program;
#[cfg(test)]
mod provider;
#[cfg(test)]
mod real_client;
#[cfg(test)]
mod real_effects;
#[cfg(test)]
mod real_server;
#[cfg(test)]
mod real_servers;
#[cfg(test)]
mod real_transport;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod turns;
#[cfg(test)]
mod vectors;
#[cfg(test)]
mod watch;
#[cfg(test)]
mod workplace;
#[cfg(test)]
mod wrap;
#[cfg(test)]
mod wrap_elicit;
#[cfg(test)]
mod wrap_faults;
#[cfg(test)]
mod wrap_faults_clients;
#[cfg(test)]
mod wrap_faults_ledger;
#[cfg(test)]
mod wrap_faults_world;
#[cfg(test)]
mod wrap_security;
#[cfg(test)]
mod wrap_stateless;
