//! The back-end in memory passes the suite of all back-ends.

use countersign_ledger::MemoryBackend;
use countersign_ledger_suite::{Build, SettableClock};

struct Memory(SettableClock, MemoryBackend);

impl Default for Memory {
    fn default() -> Self {
        let clock = SettableClock::default();
        Self(clock.clone(), MemoryBackend::new(clock))
    }
}

impl Build for Memory {
    type Backend = MemoryBackend;

    fn open(&self) -> MemoryBackend {
        self.1.clone()
    }

    fn clock(&self) -> &SettableClock {
        &self.0
    }
}

countersign_ledger_suite::suite!(Memory);
