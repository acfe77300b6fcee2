-- The table anew: a list of more than two values in a check is a table of its own that SQLite makes for every row it
-- inserts. What was there keeps being found by the index, which from here on is for work that goes on after it began.
DROP INDEX operations_owner;
DROP INDEX operations_request;
ALTER TABLE operations RENAME TO operations_before;
CREATE TABLE operations (
    id          BLOB NOT NULL PRIMARY KEY,
    owner       BLOB NOT NULL,
    kind        TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status = 'completed' OR status = 'queued' OR status = 'processing'
                    OR status = 'failed' OR status = 'cancelled'),
    progress    INTEGER NOT NULL CHECK (progress BETWEEN 0 AND 100),
    result      TEXT,
    error       TEXT,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    request     BLOB,
    fingerprint BLOB,
    indexed     INTEGER NOT NULL DEFAULT 0 CHECK (indexed IN (0, 1))
) STRICT;
INSERT INTO operations (id, owner, kind, status, progress, result, error, created_at, updated_at, request, fingerprint,
    indexed)
SELECT id, owner, kind, status, progress, result, error, created_at, updated_at, request, fingerprint,
    request IS NOT NULL
FROM operations_before ORDER BY id;
DROP TABLE operations_before;
CREATE INDEX operations_owner ON operations (owner, created_at, id);
CREATE INDEX operations_silent ON operations (updated_at) WHERE status = 'processing';
CREATE UNIQUE INDEX operations_request ON operations (request) WHERE request IS NOT NULL AND indexed = 1;

-- operational: where the names of requests are that are no longer kept in memory, by the day they were first used. Stands in
-- for an index that would change a page for each request.
CREATE TABLE request_names (
    day       INTEGER NOT NULL,
    name      INTEGER NOT NULL,
    operation BLOB NOT NULL,
    PRIMARY KEY (day, name, operation)
) STRICT, WITHOUT ROWID;
-- Operations from this moment on are read at the start, for their names; earlier ones are filed.
INSERT INTO meta (name, value) SELECT 'requests_filed', CAST(coalesce(max(created_at), 0) AS TEXT) FROM operations;
