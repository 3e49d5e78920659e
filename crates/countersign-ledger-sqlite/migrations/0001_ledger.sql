-- What the ledger of dispatch keeps. Times are milliseconds since 1970 by the ledger's clock; digests are SHA-256.
-- A document is canonical JSON, kept with its digest and verified whenever it is read.

-- One write under one key. Newer operations have higher ids: one that is opened anew gets the next.
CREATE TABLE operation (
    id INTEGER PRIMARY KEY,
    scope BLOB NOT NULL UNIQUE CHECK (length(scope) = 32), -- the digest of the next four
    tenant_id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    key TEXT NOT NULL,
    status_ref TEXT NOT NULL UNIQUE,
    -- Not as a list: for one, SQLite builds a table in memory with every row that it writes.
    state TEXT NOT NULL CHECK (
        state = 'succeeded' OR state = 'executing' OR state = 'unknown' OR state = 'awaiting_approval' OR
        state = 'reserved' OR state = 'denied' OR state = 'expired' OR state = 'blocked' OR state = 'failed' OR
        state = 'resolved_committed' OR state = 'resolved_not_executed'),
    holder TEXT CHECK ((holder IS NOT NULL) = (state = 'executing')),
    due_at INTEGER CHECK (due_at >= 0),
    expires_at INTEGER CHECK (expires_at >= 0),
    opened_at INTEGER NOT NULL CHECK (opened_at >= 0),
    changed_at INTEGER NOT NULL CHECK (changed_at >= 0),
    is_dead_letter INTEGER NOT NULL CHECK (is_dead_letter IN (0, 1)),
    document BLOB NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;

-- Each index holds only what somebody still has to do something about, so that settled operations cost it nothing.
CREATE INDEX operation_open ON operation (state, holder, is_dead_letter, due_at)
    WHERE state = 'executing' OR state = 'unknown' OR state = 'awaiting_approval' OR state = 'reserved';
CREATE INDEX operation_waiting ON operation (tenant_id, subject_id) WHERE state = 'awaiting_approval';
CREATE INDEX operation_due ON operation (tool, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX operation_expiring ON operation (expires_at) WHERE expires_at IS NOT NULL;

-- What was asked for.
CREATE TABLE proposal (
    operation INTEGER PRIMARY KEY REFERENCES operation (id) ON DELETE CASCADE,
    document BLOB NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;

-- What was answered.
CREATE TABLE receipt (
    operation INTEGER PRIMARY KEY REFERENCES operation (id) ON DELETE CASCADE,
    document BLOB NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;

-- What calls are bound to.
CREATE TABLE call (
    identity BLOB PRIMARY KEY CHECK (length(identity) = 32),
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
    operation INTEGER NOT NULL REFERENCES operation (id) ON UPDATE CASCADE ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX call_operation ON call (operation);

-- Which approvals are consumed.
CREATE TABLE approval_use (
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    approval_id TEXT NOT NULL,
    operation INTEGER NOT NULL REFERENCES operation (id) ON UPDATE CASCADE ON DELETE CASCADE,
    PRIMARY KEY (digest, approval_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX approval_use_operation ON approval_use (operation);

-- The latest effect of an intent. It keeps its operation: without it the host would make the same key again.
CREATE TABLE intent (
    digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
    generation INTEGER NOT NULL CHECK (generation >= 0),
    operation INTEGER NOT NULL REFERENCES operation (id) ON UPDATE CASCADE ON DELETE RESTRICT
) STRICT, WITHOUT ROWID;
CREATE INDEX intent_operation ON intent (operation);

-- Until when running hosts count as alive.
CREATE TABLE instance (
    instance TEXT PRIMARY KEY,
    alive_until INTEGER NOT NULL CHECK (alive_until >= 0)
) STRICT, WITHOUT ROWID;

-- Standing approvals.
CREATE TABLE standing_grant (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    tenant_id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    document BLOB NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;
CREATE INDEX standing_grant_subject ON standing_grant (tenant_id, subject_id, tool);

-- What happened, without gaps within a tenant.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    document BLOB NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    UNIQUE (tenant_id, sequence)
) STRICT;
