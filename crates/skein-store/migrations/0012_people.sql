-- People and runs, further.

-- When somebody paused a run: nothing of it is begun until somebody lets it go on.
ALTER TABLE executions ADD COLUMN paused_at BIGINT;

-- Whom its owner asked to decide in their place, and who decided.
ALTER TABLE reviews ADD COLUMN delegate BYTES CHECK (length(delegate) = 16);
ALTER TABLE reviews ADD COLUMN decided_by BYTES CHECK (length(decided_by) = 16);
UPDATE reviews SET decided_by = owner WHERE status = 'decided';
CREATE INDEX reviews_delegated ON reviews (delegate, id) WHERE delegate IS NOT NULL;
CREATE INDEX reviews_delegated_open ON reviews (delegate, id) WHERE status = 'open' AND delegate IS NOT NULL;
