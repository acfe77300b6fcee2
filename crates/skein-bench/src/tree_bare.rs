//! The other side of conversations: bare statements on the store's own tables that write the same rows.

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use rusqlite::{Connection, params};
use skein_core::{ConversationId, Digest, Millis, NodeId, PathId, UserId};
use skein_store::clock::{Clock as _, SystemClock};

use crate::bare::{HEADER_BYTES, open_for_reading, open_for_writing};
use crate::notes::{OWNER, Random};

const ITEM: &str =
    "INSERT INTO items (tx, id, owner, type, realized_at, canonical_at, hash, payload_hash, encoding, payload)
    VALUES (0, ?1, ?2, ?3, ?4, ?4, ?5, ?6, 0, ?7)";
const TURN: &str = "INSERT INTO turns (id, conversation, parent, speaker, type, depth, first_node)
    VALUES (?1, ?2, ?3, 'user', 'message', ?4, ?5)";
const NODE: &str =
    "INSERT INTO nodes (id, conversation, owner, turn, ordinal, parent, branch, depth, late, edge, local_id,
        author, author_type, status, content, content_hash, is_version, created_at, bookmarked, pruned, excluded)
    VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, 0, ?1, ?8, ?3, 'human', 'complete', ?9, ?10, 0, ?11, 0, 0, 0)";
const ACTIVITY: &str = "UPDATE conversations SET nodes = nodes + 1, active_at = ?2 WHERE id = ?1";
const CURSOR: &str = "INSERT INTO paths (id, conversation, actor, cursor_node) VALUES (?1, ?1, ?2, ?3)
    ON CONFLICT (id) DO UPDATE SET cursor_node = excluded.cursor_node";

/// A conversation that is continued by bare statements, each turn in a durable transaction of its own.
pub(crate) struct Line {
    connection: Connection,
    conversation: ConversationId,
    random: Random,
    last: Option<(NodeId, NodeId, Digest)>,
    branch: Option<NodeId>,
    depth: i64,
}

impl Line {
    pub(crate) fn open(directory: &Path, conversation: ConversationId) -> Result<Self> {
        let connection = open_for_writing(directory)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Self { connection, conversation, random: Random::default(), last: None, branch: None, depth: 0 })
    }

    /// Says one thing more.
    pub(crate) fn append(&mut self, text: &str) -> Result<()> {
        let now = SystemClock.now();
        let [node, content, turn] = [(); 3].map(|()| NodeId::from_bytes(*self.random.item_id(now).as_bytes()));
        let said = format!(r#"{{"content":{{"text":"{text}","type":"text"}},"nodeId":"{node}"}}"#);
        let parent = self.last.map(|(_, _, hash)| hash.to_string()).unwrap_or_default();
        let hash = Digest::of(format!("{said}=|d|={parent}=|d|={now}=|d|={}", OWNER.bare()).as_bytes());
        let placed = format!(
            r#"{{"authorId":"{}","authorType":"human","contentHash":"{hash}","contentId":"{content}","conversationId":"{}","edge":{{"id":"{turn}","sources":[{{"nodeId":"{parent}","role":"primary"}}],"type":"continuation"}},"localId":"{}","pathId":"{}","turn":{{"id":"{turn}","speaker":"user","type":"message"}}}}"#,
            OWNER.bare(),
            self.conversation,
            &node.bare()[18..],
            self.conversation,
        );
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        self.insert_item(content, "NodeContent", now, &said)?;
        self.insert_item(node, "Node", now, &placed)?;
        self.insert_node(node, content, turn, &hash, now)?;
        self.connection.execute_batch("COMMIT")?;
        self.last = Some((node, turn, hash));
        Ok(())
    }

    fn insert_item(&self, id: NodeId, item_type: &str, now: Millis, payload: &str) -> Result<()> {
        let payload_hash = Digest::of(payload.as_bytes());
        let mut header = [0; HEADER_BYTES];
        header[..16].copy_from_slice(id.as_bytes());
        header[16..48].copy_from_slice(payload_hash.as_bytes());
        let hash = Digest::of(&header);
        self.connection.prepare_cached(ITEM)?.execute(params![
            id.as_bytes(),
            OWNER.as_bytes(),
            item_type,
            now.0,
            hash.as_bytes(),
            payload_hash.as_bytes(),
            payload.as_bytes(),
        ])?;
        Ok(())
    }

    fn insert_node(&mut self, node: NodeId, content: NodeId, turn: NodeId, hash: &Digest, now: Millis) -> Result<()> {
        self.depth += 1;
        let branch = *self.branch.get_or_insert(node);
        let (conversation, above) = (self.conversation, self.last.map(|(node, turn, _)| (node, turn)));
        let above = |part: fn((NodeId, NodeId)) -> NodeId| above.map(|above| *part(above).as_bytes());
        self.connection.prepare_cached(TURN)?.execute(params![
            turn.as_bytes(),
            conversation.as_bytes(),
            above(|(_, turn)| turn),
            self.depth,
            node.as_bytes(),
        ])?;
        self.connection.prepare_cached(NODE)?.execute(params![
            node.as_bytes(),
            conversation.as_bytes(),
            OWNER.as_bytes(),
            turn.as_bytes(),
            above(|(node, _)| node),
            branch.as_bytes(),
            self.depth,
            &node.bare()[18..],
            content.as_bytes(),
            hash.as_bytes(),
            now.0,
        ])?;
        self.connection.prepare_cached(ACTIVITY)?.execute(params![conversation.as_bytes(), now.0])?;
        let cursor = params![conversation.as_bytes(), OWNER.as_bytes(), node.as_bytes()];
        self.connection.prepare_cached(CURSOR)?.execute(cursor)?;
        Ok(())
    }
}

/// Selections as one row for each turn, written by a program that walks up to the root.
pub(crate) struct Selections(Connection);

impl Selections {
    pub(crate) fn open(directory: &Path) -> Result<Self> {
        let connection = open_for_writing(directory)?;
        connection.execute_batch(
            "CREATE TABLE chosen (path BLOB NOT NULL, turn BLOB NOT NULL, node BLOB NOT NULL, PRIMARY KEY (path, turn)) STRICT",
        )?;
        Ok(Self(connection))
    }

    /// Selects a node and all it descends from; says how many milliseconds that took.
    pub(crate) fn switch(&self, path: PathId, node: NodeId) -> Result<f64> {
        let started = Instant::now();
        self.0.execute_batch("BEGIN IMMEDIATE")?;
        let walk = "WITH RECURSIVE up(id, turn, parent) AS (
                SELECT id, turn, parent FROM nodes WHERE id = ?1
                UNION ALL SELECT n.id, n.turn, n.parent FROM up JOIN nodes n ON n.id = up.parent)
            SELECT id, turn FROM up";
        let mut walk = self.0.prepare_cached(walk)?;
        let ancestors = walk.query_map(params![node.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let ancestors = ancestors.collect::<rusqlite::Result<Vec<([u8; 16], [u8; 16])>>>()?;
        let choose = "INSERT INTO chosen (path, turn, node) VALUES (?1, ?2, ?3)
            ON CONFLICT (path, turn) DO UPDATE SET node = excluded.node";
        let mut choose = self.0.prepare_cached(choose)?;
        for (node, turn) in ancestors {
            choose.execute(params![path.as_bytes(), turn, node])?;
        }
        self.0.execute_batch("COMMIT")?;
        Ok(started.elapsed().as_secs_f64() * 1_000.0)
    }
}

const PROVED: &str =
    "SELECT n.id, p.content_hash, n.content_hash, n.created_at, n.author, n.author_type, i.payload, m.redaction
    FROM nodes n LEFT JOIN nodes p ON p.id = n.parent LEFT JOIN items i ON i.id = n.content AND i.owner = n.owner
    LEFT JOIN item_marks m ON m.item = i.id WHERE n.conversation = ?1 ORDER BY n.id";

/// Reads every node of a tree, with what it says and the hash of what it answers, and hashes it again; says how many are
/// what they were.
pub(crate) fn hash_nodes(directory: &Path, conversation: ConversationId) -> Result<usize> {
    let connection = open_for_reading(directory)?;
    let mut statement = connection.prepare(PROVED)?;
    let mut rows = statement.query(params![conversation.as_bytes()])?;
    let (mut right, mut covered) = (0, Vec::new());
    while let Some(row) = rows.next()? {
        let payload = row.get_ref(6)?.as_blob()?;
        covered.clear();
        // `{"content":…,"nodeId":"item_…"}`
        covered.extend_from_slice(&payload[11..payload.len() - 44]);
        covered.extend_from_slice(b"=|d|=");
        if let Some(parent) = row.get::<_, Option<[u8; 32]>>(1)? {
            write!(covered, "{}", Digest(parent))?;
        }
        let (at, author) = (Millis(row.get(3)?), UserId::from_bytes(row.get(4)?));
        write!(covered, "=|d|={at}=|d|={}", author.bare())?;
        right += usize::from(Digest::of(&covered).as_bytes()[..] == *row.get_ref(2)?.as_blob()?);
    }
    Ok(right)
}
