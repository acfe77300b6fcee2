-- Whether a request is found by index alone where SQLite is the database. Here all are: several servers write, and the index
-- settles who came first.
ALTER TABLE operations ADD COLUMN indexed BIGINT NOT NULL DEFAULT 0 CHECK (indexed IN (0, 1));
UPDATE operations SET indexed = 1 WHERE request IS NOT NULL;
CREATE INDEX operations_silent ON operations (updated_at) WHERE status = 'processing';
