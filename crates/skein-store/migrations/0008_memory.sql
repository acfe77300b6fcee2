-- Memory.

-- computed by a follower of the timeline: what is remembered; what it says stands in its item.
CREATE TABLE episodes (
    id           BYTES NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner        BYTES NOT NULL CHECK (length(owner) = 16),
    item         BYTES NOT NULL,
    conversation BYTES,
    node         BYTES,
    turn         BYTES,
    branch       BYTES,
    depth        BIGINT,
    previous     BYTES,
    actor        BYTES,
    source       TEXT NOT NULL CHECK (source IN ('message', 'text', 'json', 'summary', 'introspection')),
    valid_at     BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    CHECK ((conversation IS NULL) = (node IS NULL)),
    CHECK ((conversation IS NULL) = (branch IS NULL)),
    CHECK ((conversation IS NULL) = (depth IS NULL))
);
CREATE INDEX episodes_owner ON episodes (owner, id);
CREATE UNIQUE INDEX episodes_item ON episodes (item);
CREATE INDEX episodes_conversation ON episodes (conversation, id) WHERE conversation IS NOT NULL;

-- Branches beside the first of their conversation: a question lists those of its owner.
CREATE INDEX nodes_branches ON nodes (owner, conversation, id) WHERE branch = id AND (parent IS NOT NULL OR ordinal > 1);
