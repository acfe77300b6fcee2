-- Processes: runs of them, their steps, what people are asked, what is streamed.

-- A record may speak of several others as the same thing: a process of many tools.
CREATE TABLE record_references_many (
    record BYTES NOT NULL REFERENCES records (id),
    kind   TEXT COLLATE BYTEWISE NOT NULL,
    target BYTES NOT NULL,
    owner  BYTES NOT NULL,
    type   TEXT NOT NULL,
    shared BIGINT NOT NULL CHECK (shared IN (0, 1)),
    PRIMARY KEY (record, kind, target)
);
INSERT INTO record_references_many SELECT record, kind, target, owner, type, shared FROM record_references;
DROP TABLE record_references;
ALTER TABLE record_references_many RENAME TO record_references;
CREATE INDEX record_references_owner ON record_references (target, kind, owner, record);
CREATE INDEX record_references_shared ON record_references (target, kind, record, owner) WHERE shared = 1;
-- Whoever uses a tool with a secret of their own uses one.
CREATE UNIQUE INDEX record_references_binding ON record_references (owner, target)
    WHERE type = 'SecretBinding' AND kind = 'tool';

-- Which process a conversation offers first.
ALTER TABLE conversations ADD COLUMN process BYTES;
CREATE INDEX conversations_process ON conversations (process, id) WHERE process IS NOT NULL;

-- computed: the calls of a session in their order, from the moves of runs.
CREATE TABLE tool_calls (
    id       BYTES NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner    BYTES NOT NULL CHECK (length(owner) = 16),
    session  BYTES NOT NULL CHECK (length(session) = 16),
    sequence BIGINT NOT NULL CHECK (sequence >= 1),
    run      BYTES NOT NULL CHECK (length(run) = 16),
    step     BIGINT NOT NULL,
    UNIQUE (owner, session, sequence)
);
CREATE INDEX tool_calls_run ON tool_calls (run, id);

-- operational: one run of a process.
CREATE TABLE executions (
    id              BYTES NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner           BYTES NOT NULL CHECK (length(owner) = 16),
    process         BYTES NOT NULL,
    process_version BIGINT NOT NULL,
    process_name    TEXT NOT NULL,
    status          TEXT NOT NULL CHECK (status IN ('running', 'completed', 'failed', 'cancelled')),
    context         TEXT NOT NULL,
    levels_left     BIGINT NOT NULL,
    stack           TEXT NOT NULL,
    parent          BYTES,
    parent_step     BIGINT,
    parent_call     BIGINT,
    conversation    BYTES,
    node            BYTES,
    answers         BYTES,
    session         BYTES NOT NULL,
    cause           BYTES NOT NULL,
    operation       BYTES,
    branched_from   BYTES,
    priority        BIGINT NOT NULL,
    tokens          BIGINT NOT NULL,
    output          TEXT,
    failure         TEXT,
    created_at      BIGINT NOT NULL,
    ended_at        BIGINT,
    CHECK ((status = 'running') = (ended_at IS NULL))
);
CREATE INDEX executions_owner ON executions (owner, id);
CREATE INDEX executions_process ON executions (process, id) WHERE status = 'running';
CREATE INDEX executions_parent ON executions (parent, id) WHERE parent IS NOT NULL;
CREATE INDEX executions_operation ON executions (operation) WHERE operation IS NOT NULL;
CREATE INDEX executions_node ON executions (node) WHERE node IS NOT NULL;
CREATE INDEX executions_ended ON executions (ended_at) WHERE ended_at IS NOT NULL;

-- operational: a step of a run, from the moment it is more than waiting.
CREATE TABLE execution_steps (
    run       BYTES NOT NULL,
    step      BIGINT NOT NULL,
    phase     TEXT NOT NULL,
    attempt   BIGINT NOT NULL,
    inputs    TEXT NOT NULL,
    output    TEXT NOT NULL,
    fault     TEXT,
    dialogue  TEXT,
    tokens    BIGINT NOT NULL,
    call      BYTES,
    is_open   BIGINT NOT NULL CHECK (is_open IN (0, 1)),
    raw       BYTES,
    began_at  BIGINT,
    ended_at  BIGINT,
    PRIMARY KEY (run, step)
);

-- operational: what people are asked, and until when.
CREATE TABLE reviews (
    id         BYTES NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner      BYTES NOT NULL,
    run        BYTES NOT NULL,
    step       BIGINT NOT NULL,
    call       BIGINT,
    status     TEXT NOT NULL CHECK (status IN ('open', 'decided', 'expired', 'withdrawn')),
    asked      TEXT NOT NULL,
    decision   TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    ended_at   BIGINT
);
CREATE INDEX reviews_owner ON reviews (owner, id);
CREATE INDEX reviews_open ON reviews (owner, id) WHERE status = 'open';
CREATE INDEX reviews_run ON reviews (run, id);
CREATE INDEX reviews_due ON reviews (expires_at) WHERE status = 'open' AND expires_at IS NOT NULL;

-- operational: what a model said so far, piece by piece.
CREATE TABLE stream_chunks (
    run        BYTES NOT NULL,
    number     BIGINT NOT NULL,
    is_reset   BIGINT NOT NULL CHECK (is_reset IN (0, 1)),
    text       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE INDEX stream_chunks_age ON stream_chunks (created_at);

-- operational: what was measured, appended and never changed.
CREATE TABLE metric_values (
    id      BYTES NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner   BYTES NOT NULL,
    name    TEXT NOT NULL,
    scope   TEXT NOT NULL,
    entity  BYTES NOT NULL,
    run     BYTES,
    value   REAL NOT NULL,
    at      BIGINT NOT NULL
);
CREATE INDEX metric_values_entity ON metric_values (entity, name, at);
CREATE INDEX metric_values_age ON metric_values (at);
