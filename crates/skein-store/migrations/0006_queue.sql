-- The queue anew: owners take turns, so what waits is ordered by owner first; what is not due yet stands apart; a job may
-- belong to a run. Every list in a check is spelled out, because SQLite makes a table of one for each row it inserts.
DROP INDEX jobs_next;
DROP INDEX jobs_lost;
ALTER TABLE jobs RENAME TO jobs_before;
CREATE TABLE jobs (
    id          BYTES NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner       BYTES NOT NULL CHECK (length(owner) = 16),
    queue       TEXT COLLATE BYTEWISE NOT NULL,
    priority    BIGINT NOT NULL,
    state       TEXT NOT NULL CHECK (state = 'queued' OR state = 'leased' OR state = 'delayed' OR state = 'dead'),
    run_at      BIGINT NOT NULL,
    attempts    BIGINT NOT NULL,
    lost        BIGINT NOT NULL,
    fence       BIGINT NOT NULL,
    epoch       BIGINT NOT NULL,
    lease_until BIGINT,
    worker      TEXT COLLATE BYTEWISE,
    run         BYTES CHECK (length(run) = 16),
    step        BIGINT,
    error       TEXT,
    payload     TEXT NOT NULL,
    created_at  BIGINT NOT NULL
);
-- Whatever waits is looked at once more: some of it is not due.
INSERT INTO jobs (id, owner, queue, priority, state, run_at, attempts, lost, fence, epoch, lease_until, worker, error, payload,
    created_at)
SELECT id, owner, queue, priority, CASE WHEN state = 'queued' THEN 'delayed' ELSE state END, run_at, attempts, lost, fence, 0,
    lease_until, worker, error, payload, created_at
FROM jobs_before;
DROP TABLE jobs_before;
CREATE INDEX jobs_ready ON jobs (queue, owner, priority DESC, run_at, id) WHERE state = 'queued';
CREATE INDEX jobs_due ON jobs (run_at, id) WHERE state = 'delayed';
-- Without the end of the lease: keeping a job then changes no index.
CREATE INDEX jobs_leased ON jobs (worker) WHERE state = 'leased';
CREATE INDEX jobs_dead ON jobs (id) WHERE state = 'dead';
CREATE INDEX jobs_run ON jobs (run) WHERE run IS NOT NULL;

-- operational: who takes up jobs. A row for each start of a process; what was lost is found by the jobs' own leases.
CREATE TABLE workers (
    id         TEXT COLLATE BYTEWISE NOT NULL PRIMARY KEY,
    queues     TEXT NOT NULL,
    places     BIGINT NOT NULL,
    host       TEXT NOT NULL,
    pid        BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    beat_at    BIGINT NOT NULL,
    ended_at   BIGINT,
    processed  BIGINT NOT NULL,
    errors     BIGINT NOT NULL
);
CREATE INDEX workers_beat ON workers (beat_at);
