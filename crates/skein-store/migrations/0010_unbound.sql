-- Memory, further.

-- computed by a follower of the timeline: what it could make no episode of, for operators.
CREATE TABLE unbound_episodes (
    id       BYTES NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner    BYTES NOT NULL CHECK (length(owner) = 16),
    found_at BIGINT NOT NULL
);
INSERT INTO unbound_episodes (id, owner, found_at) SELECT i.id, i.owner, i.realized_at FROM items i, cursors c
    WHERE c.name = 'episodes' AND i.type IN ('Node', 'Episode') AND i.payload IS NOT NULL
        AND (i.tx < c.tx OR i.tx = c.tx AND i.position <= c.position)
        AND NOT EXISTS (SELECT 1 FROM episodes e WHERE e.id = i.id);

-- What was brought is known again by its content, among any number of others.
CREATE INDEX items_brought ON items (owner, payload_hash, canonical_at) WHERE type = 'Episode';
