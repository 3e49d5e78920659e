//! One module per command.

pub(crate) mod approvals;
pub(crate) mod approver;
pub(crate) mod canonical;
pub(crate) mod contract;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod documentation;
pub(crate) mod grants;
pub(crate) mod install;
pub(crate) mod ledger;
pub(crate) mod operations;
pub(crate) mod scenario;
pub(crate) mod tools;
pub(crate) mod turn;
pub(crate) mod vectors;
pub(crate) mod verify;
pub(crate) mod work;
pub(crate) mod wrap;
