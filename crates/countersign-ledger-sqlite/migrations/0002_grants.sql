-- Standing approvals by what still counts of them. No program ever wrote one before this version.
DROP TABLE standing_grant;

CREATE TABLE standing_grant (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    tenant_id TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    expires_at INTEGER NOT NULL CHECK (expires_at >= 0),
    is_open INTEGER NOT NULL CHECK (is_open IN (0, 1)), -- uses are left, and nobody took it back
    document BLOB NOT NULL,
    digest BLOB NOT NULL CHECK (length(digest) = 32)
) STRICT;
CREATE INDEX standing_grant_open ON standing_grant (tenant_id, subject_id, tool, expires_at) WHERE is_open = 1;
