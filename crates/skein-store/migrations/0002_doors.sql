-- operational: under which request an operation was started, so that a repeat of it finds it (rule BR-IDEMP-002).
ALTER TABLE operations ADD COLUMN request BYTES;
ALTER TABLE operations ADD COLUMN fingerprint BYTES;
CREATE UNIQUE INDEX operations_request ON operations (request) WHERE request IS NOT NULL;

-- computed: who may read whose things until when, from SystemEvent items.
CREATE TABLE grants (
    item     BYTES NOT NULL PRIMARY KEY REFERENCES items (id),
    owner    BYTES NOT NULL,
    admin    BYTES NOT NULL,
    name     TEXT NOT NULL,
    reason   TEXT NOT NULL,
    until    BIGINT NOT NULL,
    given_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX grants_owner ON grants (owner, item);
CREATE INDEX grants_admin ON grants (admin, item);

-- operational: one-time links and the browser sessions they were exchanged for, by the hash of their token.
CREATE TABLE sessions (
    token_hash BYTES NOT NULL PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind IN ('link', 'session')),
    owner      BYTES NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expires_at);
