//! The back-end in memory passes the suite of all back-ends.

use countersign_ledger::MemoryBackend;
use countersign_ledger_suite::{Build, SettableClock};

struct Memory {
    clock: SettableClock,
    backend: MemoryBackend,
}

fn memory() -> Memory {
    let clock = SettableClock::default();
    Memory {
        backend: MemoryBackend::new(clock.clone()),
        clock,
    }
}

impl Build for Memory {
    type Backend = MemoryBackend;

    fn open(&self) -> MemoryBackend {
        self.backend.clone()
    }

    fn clock(&self) -> &SettableClock {
        &self.clock
    }

    fn fresh(&self) -> Self {
        memory()
    }
}

countersign_ledger_suite::suite!(memory);
