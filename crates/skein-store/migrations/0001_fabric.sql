-- One text for both databases. SERIAL_KEY, BYTES and REAL are spelled per database by schema.rs; every
-- integer is 64 bits wide. Classes (source, decided, computed, operational) are listed in ARCHITECTURE.md.

CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

-- source: facts. Only the payload may ever change, once, to nothing (redaction).
CREATE TABLE items (
    position     SERIAL_KEY,
    tx           BIGINT NOT NULL,
    id           BYTES NOT NULL CHECK (length(id) = 16),
    owner        BYTES NOT NULL CHECK (length(owner) = 16),
    type         TEXT NOT NULL,
    realized_at  BIGINT NOT NULL,
    canonical_at BIGINT NOT NULL,
    hash         BYTES NOT NULL CHECK (length(hash) = 32),
    payload_hash BYTES NOT NULL CHECK (length(payload_hash) = 32),
    encoding     BIGINT NOT NULL CHECK (encoding IN (0, 1)),
    payload      BYTES
);
CREATE UNIQUE INDEX items_id ON items (id);
CREATE INDEX items_timeline ON items (tx, position);
CREATE INDEX items_realized ON items (owner, realized_at, position);
CREATE INDEX items_canonical ON items (owner, canonical_at, position);
CREATE INDEX items_type_realized ON items (owner, type, realized_at, position);
CREATE INDEX items_type_canonical ON items (owner, type, canonical_at, position);

-- decided: what later facts say about earlier ones.
CREATE TABLE item_marks (
    item            BYTES NOT NULL PRIMARY KEY REFERENCES items (id),
    owner           BYTES NOT NULL,
    tombstone       BYTES REFERENCES items (id),
    redaction       BYTES REFERENCES items (id),
    canonical_at    BIGINT,
    override_record BYTES
);
CREATE INDEX item_marks_canonical ON item_marks (owner, canonical_at, item) WHERE canonical_at IS NOT NULL;

-- source: beliefs in their current state; their history is in EntityDelta items.
CREATE TABLE records (
    id            BYTES NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    type          TEXT NOT NULL,
    owner         BYTES NOT NULL CHECK (length(owner) = 16),
    shared        BIGINT NOT NULL CHECK (shared IN (0, 1)),
    name          TEXT,
    version       BIGINT NOT NULL CHECK (version >= 1),
    hash          BYTES NOT NULL CHECK (length(hash) = 32),
    previous_hash BYTES,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    body          TEXT NOT NULL,
    CHECK ((version = 1) = (previous_hash IS NULL))
);
CREATE INDEX records_owner ON records (owner, type, id);
CREATE INDEX records_name ON records (owner, type, name, id);
CREATE INDEX records_hash ON records (hash);
CREATE INDEX records_shared ON records (type, id) WHERE shared = 1;
CREATE INDEX records_users ON records (created_at, id) WHERE type = 'User';
CREATE UNIQUE INDEX records_setting ON records (name) WHERE type = 'Setting';

-- computed: where each version of a record is told.
CREATE TABLE record_versions (
    record        BYTES NOT NULL REFERENCES records (id),
    version       BIGINT NOT NULL,
    owner         BYTES NOT NULL,
    type          TEXT NOT NULL,
    hash          BYTES NOT NULL,
    previous_hash BYTES,
    item          BYTES NOT NULL REFERENCES items (id),
    tx            BIGINT NOT NULL,
    position      BIGINT NOT NULL,
    realized_at   BIGINT NOT NULL,
    whole         BIGINT NOT NULL,
    PRIMARY KEY (record, version)
);
CREATE INDEX record_versions_timeline ON record_versions (owner, tx, position);

-- source: edges. Uniqueness is per kind.
CREATE TABLE relations (
    id              BYTES NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner           BYTES NOT NULL,
    kind            TEXT NOT NULL,
    source_type     TEXT NOT NULL,
    source          BYTES NOT NULL,
    target_type     TEXT NOT NULL,
    target          BYTES NOT NULL,
    target_position BIGINT,
    confidence      REAL,
    metadata        TEXT NOT NULL,
    realized_at     BIGINT NOT NULL,
    item            BYTES NOT NULL REFERENCES items (id)
);
CREATE UNIQUE INDEX relations_one_per_target ON relations (owner, kind, target)
    WHERE kind IN ('triggers', 'supercedes', 'result_of');
CREATE UNIQUE INDEX relations_one_per_source ON relations (owner, kind, source)
    WHERE kind IN ('replies_to', 'continues');
CREATE INDEX relations_source ON relations (source, kind, id);
CREATE INDEX relations_target ON relations (target, kind, id);

-- computed: which seal covers what.
CREATE TABLE seals (
    owner          BYTES NOT NULL,
    last_tx        BIGINT NOT NULL,
    last_position  BIGINT NOT NULL,
    first_tx       BIGINT NOT NULL,
    first_position BIGINT NOT NULL,
    leaves         BIGINT NOT NULL,
    root           BYTES NOT NULL,
    previous       BYTES,
    hash           BYTES NOT NULL,
    item           BYTES NOT NULL REFERENCES items (id),
    PRIMARY KEY (owner, last_tx, last_position)
);

-- computed: which stored objects are attached, and to whom.
CREATE TABLE blobs (
    item        BYTES NOT NULL PRIMARY KEY REFERENCES items (id),
    hash        BYTES NOT NULL,
    owner       BYTES NOT NULL,
    size        BIGINT NOT NULL,
    media_type  TEXT NOT NULL,
    attached_at BIGINT NOT NULL
);
CREATE INDEX blobs_hash ON blobs (hash, owner);

-- computed: from ApiKey records.
CREATE TABLE api_keys (
    id       BYTES NOT NULL PRIMARY KEY REFERENCES records (id),
    key_hash BYTES NOT NULL UNIQUE,
    owner    BYTES NOT NULL,
    scope    TEXT NOT NULL,
    revoked  BIGINT NOT NULL
);

-- operational: prunable, never hashed.
CREATE TABLE key_usage (
    id           BYTES NOT NULL PRIMARY KEY,
    last_used_at BIGINT NOT NULL
);

CREATE TABLE jobs (
    id          BYTES NOT NULL PRIMARY KEY,
    owner       BYTES NOT NULL,
    queue       TEXT NOT NULL,
    priority    BIGINT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('queued', 'leased', 'dead')),
    run_at      BIGINT NOT NULL,
    attempts    BIGINT NOT NULL,
    lost        BIGINT NOT NULL,
    fence       BIGINT NOT NULL,
    lease_until BIGINT,
    worker      TEXT,
    error       TEXT,
    payload     TEXT NOT NULL,
    created_at  BIGINT NOT NULL
);
CREATE INDEX jobs_next ON jobs (queue, priority DESC, run_at, id) WHERE state = 'queued';
CREATE INDEX jobs_lost ON jobs (lease_until) WHERE state = 'leased';

CREATE TABLE operations (
    id         BYTES NOT NULL PRIMARY KEY,
    owner      BYTES NOT NULL,
    kind       TEXT NOT NULL,
    status     TEXT NOT NULL CHECK (status IN ('queued', 'processing', 'completed', 'failed', 'cancelled')),
    progress   BIGINT NOT NULL CHECK (progress BETWEEN 0 AND 100),
    result     TEXT,
    error      TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX operations_owner ON operations (owner, created_at, id);

CREATE TABLE cursors (
    owner    BYTES NOT NULL,
    name     TEXT NOT NULL,
    tx       BIGINT NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (owner, name)
);

CREATE TABLE leases (
    name        TEXT NOT NULL PRIMARY KEY,
    holder      TEXT NOT NULL,
    fence       BIGINT NOT NULL,
    lease_until BIGINT NOT NULL
);
