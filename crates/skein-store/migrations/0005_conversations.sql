-- Conversations. Every table here is computed or decided: rebuilt from items, in their order.

-- computed: what is listed of a conversation; what a person edits of it stands in its record.
CREATE TABLE conversations (
    id         BYTES NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner      BYTES NOT NULL CHECK (length(owner) = 16),
    project    BYTES,
    kind       TEXT NOT NULL CHECK (kind IN ('main', 'fork', 'tool_run')),
    mode       TEXT NOT NULL CHECK (mode IN ('dialogue', 'buffer')),
    archived   BIGINT NOT NULL CHECK (archived IN (0, 1)),
    folded     BIGINT NOT NULL CHECK (folded IN (0, 1)),
    parent     BYTES,
    origin     BYTES,
    root_turn  BYTES,
    root_node  BYTES,
    nodes      BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    active_at  BIGINT NOT NULL
);
CREATE INDEX conversations_recent ON conversations (owner, archived, active_at, id) WHERE kind <> 'tool_run';
CREATE INDEX conversations_children ON conversations (parent, id) WHERE parent IS NOT NULL;
CREATE INDEX conversations_origin ON conversations (origin, id) WHERE origin IS NOT NULL;
CREATE INDEX conversations_project ON conversations (project, id) WHERE project IS NOT NULL;
CREATE INDEX conversations_project_recent ON conversations (project, archived, active_at, id) WHERE kind <> 'tool_run';
CREATE INDEX conversations_owner ON conversations (owner, id) WHERE kind <> 'tool_run';

-- computed: a position, made by its first node.
CREATE TABLE turns (
    id           BYTES NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    conversation BYTES NOT NULL REFERENCES conversations (id),
    parent       BYTES REFERENCES turns (id),
    speaker      TEXT NOT NULL CHECK (speaker IN ('user', 'agent', 'system')),
    type         TEXT NOT NULL CHECK (type IN ('message', 'tool_result', 'summary')),
    depth        BIGINT NOT NULL CHECK (depth >= 1),
    first_node   BYTES NOT NULL,
    CHECK ((parent IS NULL) = (depth = 1))
);
CREATE UNIQUE INDEX turns_root ON turns (conversation) WHERE parent IS NULL;
CREATE INDEX turns_children ON turns (parent, id) WHERE parent IS NOT NULL;

-- computed: the content at a turn, or an annotation, which has none. What it says stands in an item.
CREATE TABLE nodes (
    id              BYTES NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    conversation    BYTES NOT NULL REFERENCES conversations (id),
    owner           BYTES NOT NULL CHECK (length(owner) = 16),
    turn            BYTES REFERENCES turns (id),
    ordinal         BIGINT,
    parent          BYTES REFERENCES nodes (id),
    branch          BYTES,
    depth           BIGINT,
    late            BIGINT NOT NULL CHECK (late IN (0, 1)),
    edge            BYTES NOT NULL,
    local_id        TEXT COLLATE BYTEWISE NOT NULL,
    author          BYTES NOT NULL CHECK (length(author) = 16),
    author_type     TEXT NOT NULL CHECK (author_type IN ('human', 'model', 'system', 'imported')),
    status          TEXT NOT NULL CHECK (status IN ('pending', 'complete', 'failed')),
    reserved_by     BYTES,
    content         BYTES,
    content_hash    BYTES,
    raw_response    BYTES,
    raw_hash        BYTES,
    edited_from     BYTES REFERENCES nodes (id),
    is_version      BIGINT NOT NULL CHECK (is_version IN (0, 1)),
    process         BYTES,
    process_version BIGINT,
    created_at      BIGINT NOT NULL,
    bookmarked      BIGINT NOT NULL CHECK (bookmarked IN (0, 1)),
    label           TEXT,
    pruned          BIGINT NOT NULL CHECK (pruned IN (0, 1)),
    excluded        BIGINT NOT NULL CHECK (excluded IN (0, 1)),
    CHECK ((status = 'complete') = (content_hash IS NOT NULL)),
    CHECK ((turn IS NULL) = (ordinal IS NULL)),
    CHECK ((turn IS NULL) = (depth IS NULL))
);
CREATE UNIQUE INDEX nodes_local_id ON nodes (conversation, local_id);
CREATE INDEX nodes_conversation ON nodes (conversation, id);
CREATE UNIQUE INDEX nodes_turn ON nodes (turn, ordinal) WHERE turn IS NOT NULL;
CREATE INDEX nodes_parent ON nodes (parent, turn, ordinal) WHERE parent IS NOT NULL;
CREATE UNIQUE INDEX nodes_place ON nodes (branch, depth) WHERE is_version = 0;
CREATE INDEX nodes_versions ON nodes (branch, depth, id) WHERE is_version = 1;
CREATE INDEX nodes_late ON nodes (branch, depth) WHERE late = 1;
CREATE INDEX nodes_author ON nodes (owner, author, id);
CREATE INDEX nodes_edits ON nodes (edited_from, id) WHERE edited_from IS NOT NULL;
CREATE INDEX nodes_bookmarked ON nodes (owner, id) WHERE bookmarked = 1;
CREATE INDEX nodes_pruned ON nodes (branch, depth) WHERE pruned = 1;

-- computed: what leads into a node besides its parent: further sources, versions, what an annotation is about.
CREATE TABLE node_sources (
    target  BYTES NOT NULL REFERENCES nodes (id),
    source  BYTES NOT NULL REFERENCES nodes (id),
    role    TEXT NOT NULL CHECK (role IN ('primary', 'context', 'instruction')),
    kind    TEXT NOT NULL CHECK (kind IN ('continuation', 'version', 'annotation')),
    PRIMARY KEY (target, source)
);
CREATE INDEX node_sources_source ON node_sources (source, kind, target);

-- decided: where each actor stands.
CREATE TABLE paths (
    id           BYTES NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    conversation BYTES NOT NULL REFERENCES conversations (id),
    actor        BYTES NOT NULL,
    cursor_node  BYTES NOT NULL REFERENCES nodes (id)
);
CREATE UNIQUE INDEX paths_actor ON paths (conversation, actor);

-- decided: which node of a turn a path was led to, and which it left; a turn it never was led through shows its first node.
CREATE TABLE selections (
    path     BYTES NOT NULL,
    branch   BYTES NOT NULL,
    depth    BIGINT NOT NULL,
    turn     BYTES NOT NULL REFERENCES turns (id),
    node     BYTES NOT NULL REFERENCES nodes (id),
    selected BIGINT NOT NULL CHECK (selected IN (0, 1)),
    PRIMARY KEY (path, branch, depth)
);
CREATE UNIQUE INDEX selections_turn ON selections (path, turn) WHERE selected = 1;
CREATE INDEX selections_left ON selections (path, branch, depth) WHERE selected = 0;

-- decided: how deep on a branch a path was ever led; what is late beyond that it was never led to.
CREATE TABLE path_reach (
    path   BYTES NOT NULL,
    branch BYTES NOT NULL,
    depth  BIGINT NOT NULL,
    PRIMARY KEY (path, branch)
);

-- decided: tags of nodes.
CREATE TABLE node_tags (
    node  BYTES NOT NULL REFERENCES nodes (id),
    tag   TEXT COLLATE BYTEWISE NOT NULL,
    owner BYTES NOT NULL,
    PRIMARY KEY (node, tag)
);
CREATE INDEX node_tags_owner ON node_tags (owner, tag, node);

-- decided: which conversation each participant of a project is in.
CREATE TABLE frames (
    project      BYTES NOT NULL,
    actor        BYTES NOT NULL,
    conversation BYTES NOT NULL REFERENCES conversations (id),
    PRIMARY KEY (project, actor)
);

-- decided: summaries of nodes and of whole trees; the newest counts.
CREATE TABLE tree_summaries (
    item    BYTES NOT NULL PRIMARY KEY REFERENCES items (id),
    subject BYTES NOT NULL CHECK (length(subject) = 16),
    nodes   BIGINT NOT NULL
);
CREATE INDEX tree_summaries_subject ON tree_summaries (subject, item);
