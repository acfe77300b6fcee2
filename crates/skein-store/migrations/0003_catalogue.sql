-- BYTEWISE is spelled per database by schema.rs: text that identifies a row is ordered alike everywhere.

-- A deleted record keeps its row and its history; nothing finds it any more.
ALTER TABLE records ADD COLUMN deleted BIGINT NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1));
DROP INDEX records_owner;
DROP INDEX records_name;
CREATE INDEX records_owner ON records (owner, type, id) WHERE deleted = 0;
CREATE INDEX records_name ON records (owner, type, name, id) WHERE deleted = 0;

-- computed: under which headings a live record of the catalogue is listed, one row for each.
CREATE TABLE record_headings (
    record  BYTES NOT NULL REFERENCES records (id),
    heading TEXT COLLATE BYTEWISE NOT NULL,
    owner   BYTES NOT NULL,
    shared  BIGINT NOT NULL CHECK (shared IN (0, 1)),
    PRIMARY KEY (record, heading)
);
CREATE INDEX record_headings_owner ON record_headings (owner, heading, record);
CREATE INDEX record_headings_shared ON record_headings (heading, record, owner) WHERE shared = 1;

-- computed: which live record of the catalogue speaks of which other, and as what.
CREATE TABLE record_references (
    record BYTES NOT NULL REFERENCES records (id),
    kind   TEXT COLLATE BYTEWISE NOT NULL,
    target BYTES NOT NULL,
    owner  BYTES NOT NULL,
    type   TEXT NOT NULL,
    shared BIGINT NOT NULL CHECK (shared IN (0, 1)),
    PRIMARY KEY (record, kind)
);
CREATE INDEX record_references_owner ON record_references (target, kind, owner, record);
CREATE INDEX record_references_shared ON record_references (target, kind, record, owner) WHERE shared = 1;
-- Whoever uses a tool with a secret of their own uses one.
CREATE UNIQUE INDEX record_references_binding ON record_references (owner, target)
    WHERE type = 'SecretBinding' AND kind = 'tool';

-- kept: the sealed values of secrets. Nothing else has them: never hashed, never rebuilt, in no bundle.
CREATE TABLE vault (
    secret        BYTES NOT NULL PRIMARY KEY CHECK (length(secret) = 16),
    owner         BYTES NOT NULL CHECK (length(owner) = 16),
    value_version BIGINT NOT NULL CHECK (value_version >= 1),
    key_id        TEXT NOT NULL,
    wrapped_key   BYTES NOT NULL,
    ciphertext    BYTES NOT NULL
);

-- operational: how something answered when it was last asked.
CREATE TABLE health (
    record     BYTES NOT NULL PRIMARY KEY,
    owner      BYTES NOT NULL,
    status     TEXT NOT NULL CHECK (status IN ('healthy', 'degraded', 'down')),
    checked_at BIGINT NOT NULL,
    error      TEXT,
    latency_ms BIGINT
);
