//! The back-end passes the suite of all back-ends, its races also between six processes on one file.

use crate::builder::Sqlite;

countersign_ledger_suite::suite!(Sqlite);
countersign_ledger_suite::suite_across_processes!(Sqlite);
