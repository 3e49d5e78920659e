//! Versions: fresh, upgraded, of the future, and many processes at once.

use std::fs;
use std::sync::Arc;

use countersign_ledger_sqlite::{
    Engine, Limits, MachineClock, Migration, OpenError, Refusal, Schema,
};

use crate::children::Actor;
use crate::stage::{SCHEMA, Stage, count, raw, write_note};

const NEXT: Schema = Schema {
    mark: SCHEMA.mark,
    migrations: &[
        SCHEMA.migrations[0],
        Migration {
            name: "0002_title",
            script: "ALTER TABLE note ADD COLUMN title TEXT;",
        },
    ],
};
const BROKEN: Schema = Schema {
    mark: SCHEMA.mark,
    migrations: &[
        SCHEMA.migrations[0],
        Migration {
            name: "0002_broken",
            script: "CREATE TABLE half (a TEXT) STRICT; CREATE TABLE nonsense (a NONSENSE) STRICT;",
        },
    ],
};

fn open(stage: &Stage, schema: Schema) -> Result<Engine, OpenError> {
    Engine::open(
        &stage.path(),
        schema,
        Limits::default(),
        Arc::new(MachineClock),
    )
}

#[test]
fn a_migration_is_seen_before_and_made_once() {
    let stage = Stage::new();
    assert_eq!(
        SCHEMA.pending(&stage.path()).unwrap_err(),
        OpenError::Refused(Refusal::Missing)
    );
    write_note(&stage.open(), "w", 1).unwrap();
    let pending = NEXT.pending(&stage.path()).unwrap();
    assert_eq!((pending.version, pending.missing), (1, vec!["0002_title"]));
    assert_eq!(count(&open(&stage, NEXT).unwrap()), 2);
    let pending = NEXT.pending(&stage.path()).unwrap();
    assert_eq!((pending.version, pending.missing), (2, vec![]));
}

#[test]
fn a_newer_version_is_refused_and_not_touched() {
    let stage = Stage::new();
    drop(open(&stage, NEXT).unwrap());
    let before = fs::read(stage.path()).unwrap();
    let newer = OpenError::Newer { found: 2, known: 1 };
    assert_eq!(open(&stage, SCHEMA).unwrap_err(), newer);
    assert_eq!(SCHEMA.pending(&stage.path()).unwrap_err(), newer);
    assert!(fs::read(stage.path()).unwrap() == before);
    assert!(newer.to_string().contains("newer program"));
}

#[test]
fn a_migration_that_fails_leaves_the_old_version() {
    let stage = Stage::new();
    write_note(&stage.open(), "w", 1).unwrap();
    assert!(open(&stage, BROKEN).is_err());
    assert_eq!(SCHEMA.pending(&stage.path()).unwrap().version, 1);
    assert_eq!(count(&stage.open()), 2);
    let tables: i64 = raw(&stage.path())
        .query_row(
            "SELECT count(*) FROM sqlite_schema WHERE name = 'half'",
            [],
            |r| r.get(0),
        )
        .unwrap();
    assert_eq!(tables, 0);
}

#[test]
fn twelve_processes_that_start_at_once_make_one_ledger() {
    for _ in 0..3 {
        let stage = Stage::new();
        let children: Vec<_> = (0..12)
            .map(|_| Actor::start("open", &stage.path()))
            .collect();
        for mut child in children {
            child.expect("opened");
            child.finish();
        }
        write_note(&stage.open(), "w", 1).unwrap();
    }
}
