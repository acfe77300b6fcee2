-- Vectors.

-- operational: vectors that were made of what is remembered, so that nobody is asked for one twice. One goes with the words of
-- the item that it was first made of.
CREATE TABLE embeddings (
    embedder TEXT NOT NULL,
    content  BYTES NOT NULL CHECK (length(content) = 32),
    item     BYTES NOT NULL CHECK (length(item) = 16),
    vector   BYTES NOT NULL,
    made_at  BIGINT NOT NULL,
    PRIMARY KEY (embedder, content)
);
CREATE INDEX embeddings_item ON embeddings (item);
