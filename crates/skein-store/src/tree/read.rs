//! Reads a tree, one statement for each question: a node, a turn's alternatives, a path or its end, a subtree.

use std::sync::LazyLock;

use serde_json::Value as Json;
use skein_core::tree::actor::ActorId;
use skein_core::tree::node;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, NodeId, PathId, TurnId, Viewer};

use crate::db::sql::{OffsetRow, Row, Value, params};
use crate::error::{SqlError, StoreError};
use crate::timeline::items::{ITEM_COLUMNS, Page, checked, page, read_item};
use crate::tree::row_cache::CachedRow;
use crate::tree::rows::{NODE_COLUMNS, NODE_WIDTH, NodeRow, TURN_COLUMNS, TurnRow, read_node, read_turn, spelled};
use crate::tx::Tx;

/// Most nodes one page or window holds.
pub const NODES_PER_PAGE_MAX: usize = 1_000;

/// What stands around a node on the path ?1: how that path sees the node itself, and what it answers.
pub(crate) const SEEN_ON: &str = "LEFT JOIN selections s ON s.path = ?1 AND s.branch = n.branch AND s.depth = n.depth
    LEFT JOIN turns t ON t.id = n.turn
    LEFT JOIN nodes p ON p.id = n.parent
    LEFT JOIN selections ps ON ps.path = ?1 AND ps.branch = p.branch AND ps.depth = p.depth";
/// Whether the path shows the node itself, as `selections s` has it.
pub(crate) const IS_SELECTED: &str = "CAST(CASE WHEN s.selected IS NULL THEN CASE WHEN n.ordinal = 1 THEN 1 ELSE 0 END
    WHEN s.selected = 1 AND s.node = n.id THEN 1 ELSE 0 END AS BIGINT)";
/// Whether it shows what the node answers, in whichever version.
pub(crate) const ANSWERS_SELECTED: &str =
    "CASE WHEN p.id IS NULL THEN 1 WHEN ps.selected IS NULL THEN 1 - p.late ELSE ps.selected END";
/// The version of `nodes a` that is shown, as `selections v` has it for its label.
pub(crate) const SHOWN_VERSION: &str = "CASE WHEN v.selected = 1 THEN v.node
    WHEN v.selected IS NULL AND a.is_version = 1 AND a.late = 0 THEN
        (SELECT t.first_node FROM turns t WHERE t.id = a.turn)
    ELSE a.id END";
/// The version of `nodes a`, which stands before `nodes b`, on a path of the conversation `of`. Above where that one was
/// forked nothing changes any more: of the origin the very node is shown, of what is before it what was shown when it was
/// forked (`selections f`), and of what had one version then that one.
pub(crate) fn version_above(of: &str) -> String {
    let version = "SELECT k.id FROM nodes k WHERE k.branch = a.branch AND k.depth = a.depth";
    format!(
        "CASE WHEN b.parent IS NULL THEN a.id WHEN f.node IS NOT NULL THEN f.node WHEN a.conversation = {of} OR {SHOWN_VERSION} < {of} THEN {SHOWN_VERSION}
         ELSE COALESCE(({version} AND k.is_version = 1 AND k.id < {of} ORDER BY k.id DESC LIMIT 1),
             ({version} AND k.is_version = 0 LIMIT 1), a.id) END"
    )
}
/// What follows one version follows the others too.
const HAS_CHILDREN: &str = "CAST(CASE WHEN EXISTS (SELECT 1 FROM nodes k WHERE k.parent = n.id) THEN 1
    WHEN EXISTS (SELECT 1 FROM nodes v WHERE v.branch = n.branch AND v.depth = n.depth AND v.is_version = 1 AND (
        EXISTS (SELECT 1 FROM nodes k WHERE k.parent = v.id)
        OR EXISTS (SELECT 1 FROM nodes o JOIN nodes k ON k.parent = o.id
            WHERE o.branch = n.branch AND o.depth = n.depth AND o.is_version = 0))) THEN 1 ELSE 0 END AS BIGINT)";
/// The nodes that stand for node ?2: its versions and itself.
const LINEAGE: &str = "SELECT v.id, v.depth FROM nodes o JOIN nodes v ON v.branch = o.branch AND v.depth = o.depth
        AND v.is_version = 0 WHERE o.id = ?2
    UNION ALL SELECT v.id, v.depth FROM nodes o JOIN nodes v ON v.branch = o.branch AND v.depth = o.depth
        AND v.is_version = 1 WHERE o.id = ?2";
const SEEN_WIDTH: usize = 5;

/// A node as one path sees it, with what it says.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an answer of its own")]
pub struct SeenNode {
    pub row: NodeRow,
    /// Who speaks at its turn, and as what.
    pub spoken: Option<(Speaker, TurnType)>,
    /// Whether it is the node that its turn shows.
    pub is_selected: bool,
    /// Whether what it answers is what the turn before shows; so too at the root.
    pub answers_selected: bool,
    pub has_children: bool,
    /// `None` while it is generated, when it failed, and once it was destroyed.
    pub content: Option<Json>,
    /// Whether what it said was destroyed.
    pub is_redacted: bool,
}

pub(crate) static SEEN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT {NODE_COLUMNS}, {IS_SELECTED}, {ANSWERS_SELECTED}, {HAS_CHILDREN}, t.speaker, t.type, {ITEM_COLUMNS} FROM nodes n {SEEN_ON} {CONTENT}"
    )
});
const CONTENT: &str = "LEFT JOIN items i ON i.id = n.content AND i.owner = n.owner
    LEFT JOIN item_marks m ON m.item = i.id";

impl Tx<'_> {
    pub(crate) fn find_node(&mut self, id: NodeId) -> Result<Option<NodeRow>, StoreError> {
        let known = match self.row_cache.node(id) {
            CachedRow::Row(row) => Some(row.clone()),
            CachedRow::Absent => None,
            CachedRow::Unknown => return self.stored_node(id),
        };
        debug_assert!(self.sql.is_shared() || self.stored_node(id)? == known, "a node was changed past the cache");
        Ok(known)
    }

    fn stored_node(&mut self, id: NodeId) -> Result<Option<NodeRow>, StoreError> {
        static BY_ID: LazyLock<String> =
            LazyLock::new(|| format!("SELECT {NODE_COLUMNS} FROM nodes n WHERE n.id = ?1"));
        self.first(&BY_ID, params![&id], read_node)
    }

    pub(crate) fn find_turn(&mut self, id: TurnId) -> Result<Option<TurnRow>, StoreError> {
        let known = match self.row_cache.turn(id) {
            CachedRow::Row(row) => Some(*row),
            CachedRow::Absent => None,
            CachedRow::Unknown => return self.stored_turn(id),
        };
        debug_assert!(self.sql.is_shared() || self.stored_turn(id)? == known, "a turn was changed past the cache");
        Ok(known)
    }

    fn stored_turn(&mut self, id: TurnId) -> Result<Option<TurnRow>, StoreError> {
        self.first(&format!("SELECT {TURN_COLUMNS} FROM turns t WHERE t.id = ?1"), params![&id], read_turn)
    }

    /// A node, if it is the viewer's to see.
    pub fn node(&mut self, viewer: &Viewer, id: NodeId) -> Result<NodeRow, StoreError> {
        let now = self.now();
        let found = self.find_node(id)?.filter(|row| viewer.may_read(row.owner, now));
        found.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// A turn of a conversation that is the viewer's to see.
    pub fn turn(&mut self, viewer: &Viewer, id: TurnId) -> Result<TurnRow, StoreError> {
        let missing = || StoreError::NotFound(id.to_string());
        let turn = self.find_turn(id)?.ok_or_else(missing)?;
        // Only that it is not theirs to see is told otherwise: a collision has to be seen, and the work run again.
        self.conversation(viewer, turn.conversation).map_err(|error| match error {
            StoreError::NotFound(_) => missing(),
            other => other,
        })?;
        Ok(turn)
    }

    /// A node by the short name it has in its conversation, in any case (rule AG-LOCAL-004).
    pub fn node_by_local_id(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        local_id: &str,
    ) -> Result<NodeRow, StoreError> {
        self.conversation(viewer, conversation)?;
        let sql = format!("SELECT {NODE_COLUMNS} FROM nodes n WHERE n.conversation = ?1 AND n.local_id = ?2");
        let found = self.first(&sql, params![&conversation, &local_id.to_ascii_uppercase()], read_node)?;
        found.ok_or_else(|| StoreError::NotFound(local_id.chars().take(16).collect()))
    }

    /// A node as a path sees it.
    pub fn seen_node(&mut self, viewer: &Viewer, path: PathId, id: NodeId) -> Result<SeenNode, StoreError> {
        let found = match self.row_cache.continued(path, id).cloned() {
            Some(known) => {
                debug_assert!(
                    self.sql.is_shared() || self.stored_seen(path, id)?.as_ref() == Some(&known),
                    "a node was changed past the cache"
                );
                Some(known)
            }
            None => self.stored_seen(path, id)?,
        };
        let now = self.now();
        let found = found.filter(|node| viewer.may_read(node.row.owner, now));
        found.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    fn stored_seen(&mut self, path: PathId, id: NodeId) -> Result<Option<SeenNode>, StoreError> {
        let found = self.seen(&format!("{} WHERE n.id = ?2", *SEEN), params![&path, &id])?;
        Ok(found.into_iter().next())
    }

    /// The last `limit` alternatives of a turn before one of them, by its number, in the order they were made, one of them
    /// left out if it is named; then where the earlier ones are, if there are any.
    pub fn alternatives(
        &mut self,
        viewer: &Viewer,
        path: PathId,
        turn: TurnId,
        left_out: Option<NodeId>,
        before: Option<i64>,
        limit: usize,
    ) -> Result<(TurnRow, Page<SeenNode, i64>), StoreError> {
        let row = self.turn(viewer, turn)?;
        let limit = limit.clamp(1, NODES_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let left_out = left_out.unwrap_or(NodeId::from_bytes([0; 16]));
        let sql =
            format!("{} WHERE n.turn = ?2 AND n.ordinal < ?3 AND n.id <> ?4 ORDER BY n.ordinal DESC LIMIT ?5", *SEEN);
        let nodes = self.seen(&sql, params![&path, &turn, before.unwrap_or(i64::MAX), &left_out, one_more])?;
        let mut page = page(nodes, limit, |last| last.row.place.map_or(0, |place| place.ordinal));
        page.rows.reverse();
        Ok((row, page))
    }

    /// How many alternatives a turn has.
    pub fn alternatives_count(&mut self, viewer: &Viewer, turn: TurnId) -> Result<i64, StoreError> {
        self.turn(viewer, turn)?;
        // They are numbered without gaps, and none ever goes.
        let sql = "SELECT n.ordinal FROM nodes n WHERE n.turn = ?1 ORDER BY n.ordinal DESC LIMIT 1";
        Ok(self.first(sql, params![&turn], |row| row.int(0))?.unwrap_or(0))
    }

    /// The end of the path that leads to `node`: at most `limit` nodes, from the root's side on, through the conversations
    /// it was forked from (decision Z2), each in the version that the path shows or, above a fork, that was there when it
    /// was made.
    pub fn path_to(
        &mut self,
        viewer: &Viewer,
        path: PathId,
        node: NodeId,
        limit: usize,
    ) -> Result<Vec<SeenNode>, StoreError> {
        let of_node = self.node(viewer, node)?.conversation;
        let conversation = self.conversation_of_path(path, of_node)?;
        // Every node of the walk is there; as an inner join SQLite would read all nodes and look each up in the walk.
        let sql = format!(
            "WITH RECURSIVE walk(id, hop) AS (
                 SELECT n.id, CAST(1 AS BIGINT) FROM nodes n WHERE n.id = ?2
                 UNION ALL
                 SELECT {}, w.hop + 1 FROM walk w
                 JOIN nodes b ON b.id = w.id AND b.turn IS NOT NULL
                 JOIN conversations c ON c.id = b.conversation
                 JOIN nodes a ON a.id = CASE WHEN b.parent IS NULL THEN c.origin ELSE b.parent END
                 LEFT JOIN selections v ON v.path = CASE WHEN a.conversation = ?4 THEN ?1 ELSE a.conversation END
                     AND v.branch = a.branch AND v.depth = a.depth
                 LEFT JOIN selections f ON f.path = ?4 AND f.branch = a.branch AND f.depth = a.depth AND a.conversation <> ?4
                 WHERE w.hop < ?3)
             SELECT {NODE_COLUMNS}, {IS_SELECTED}, {ANSWERS_SELECTED}, {HAS_CHILDREN}, t.speaker, t.type, {ITEM_COLUMNS} FROM walk w LEFT JOIN nodes n ON n.id = w.id {SEEN_ON} {CONTENT}
             ORDER BY w.hop DESC",
            version_above("?4")
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.seen(&sql, params![&path, &node, limit, &conversation])
    }

    /// The conversation a path leads through: a window may end above where it was forked.
    fn conversation_of_path(&mut self, path: PathId, of_node: ConversationId) -> Result<ConversationId, StoreError> {
        if path == PathId::main_of(of_node) {
            return Ok(of_node);
        }
        let main = ConversationId::from_bytes(*path.as_bytes());
        if self.find_conversation(main)?.is_some() {
            return Ok(main);
        }
        let sql = "SELECT conversation FROM paths WHERE id = ?1";
        let led = self.first(sql, params![&path], |row| row.array(0))?.map(ConversationId::from_bytes);
        Ok(led.unwrap_or(of_node))
    }

    /// A node and what follows it, down to `depth` more turns, oldest first: so parents come before children.
    pub fn subtree(
        &mut self,
        viewer: &Viewer,
        path: PathId,
        node: NodeId,
        depth: i64,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<SeenNode, NodeId>, StoreError> {
        let top = self.node(viewer, node)?;
        let own = top.label().map_or(0, |label| label.depth);
        let limit = limit.clamp(1, NODES_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let after = after.unwrap_or(NodeId::from_bytes([0; 16]));
        let sql = format!(
            "WITH RECURSIVE below(id, depth) AS (
                 SELECT l.id, l.depth FROM ({LINEAGE} UNION ALL SELECT n.id, n.depth FROM nodes n
                     WHERE n.id = ?2 AND n.branch IS NULL) AS l
                 UNION ALL
                 SELECT k.id, k.depth FROM below b JOIN nodes k ON k.parent = b.id WHERE k.depth <= ?3)
             SELECT {NODE_COLUMNS}, {IS_SELECTED}, {ANSWERS_SELECTED}, {HAS_CHILDREN}, t.speaker, t.type, {ITEM_COLUMNS} FROM below b LEFT JOIN nodes n ON n.id = b.id {SEEN_ON} {CONTENT}
             WHERE (b.id = ?2 OR b.depth > ?5) AND b.id > ?6 ORDER BY b.id LIMIT ?4"
        );
        let bound = params![&path, &node, own.saturating_add(depth), one_more, own, &after];
        Ok(page(self.seen(&sql, bound)?, limit, |last| last.row.id))
    }

    /// The viewer's nodes by one author, newest first.
    pub fn nodes_by_author(
        &mut self,
        viewer: &Viewer,
        author: ActorId,
        before: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<NodeRow, NodeId>, StoreError> {
        let bound = [Value::from(author.as_bytes())];
        self.nodes_where(viewer, "n.author = ?4", &bound, before, limit)
    }

    /// The viewer's bookmarked nodes, newest first.
    pub fn bookmarked_nodes(
        &mut self,
        viewer: &Viewer,
        before: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<NodeRow, NodeId>, StoreError> {
        self.nodes_where(viewer, "n.bookmarked = 1", &[], before, limit)
    }

    /// The viewer's nodes with a tag, newest first.
    pub fn tagged_nodes(
        &mut self,
        viewer: &Viewer,
        tag: &str,
        before: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<NodeRow, NodeId>, StoreError> {
        let which = "n.id IN (SELECT g.node FROM node_tags g WHERE g.owner = ?1 AND g.tag = ?4)";
        self.nodes_where(viewer, which, &[Value::from(tag)], before, limit)
    }

    fn nodes_where(
        &mut self,
        viewer: &Viewer,
        which: &str,
        bound: &[Value<'_>],
        before: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<NodeRow, NodeId>, StoreError> {
        let owner = self.subject(viewer)?;
        let before = before.unwrap_or(NodeId::from_bytes([255; 16]));
        let limit = limit.clamp(1, NODES_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let sql = format!(
            "SELECT {NODE_COLUMNS} FROM nodes n WHERE n.owner = ?1 AND n.id < ?2 AND {which} ORDER BY n.id DESC LIMIT ?3"
        );
        let mut all = params![&owner, &before, one_more].to_vec();
        all.extend_from_slice(bound);
        let rows = self.all(&sql, &all, read_node)?;
        Ok(page(rows, limit, |last| last.id))
    }

    /// The nodes made by editing this one, or that it was made from by editing, after one of them, oldest first.
    pub fn edits(
        &mut self,
        viewer: &Viewer,
        node: NodeId,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<NodeId, NodeId>, StoreError> {
        self.node(viewer, node)?;
        let limit = limit.clamp(1, NODES_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let after = after.unwrap_or(NodeId::from_bytes([0; 16]));
        let sql = "WITH RECURSIVE earlier(id) AS (
                 SELECT n.id FROM nodes n WHERE n.id = ?1
                 UNION SELECT n.edited_from FROM earlier e JOIN nodes n ON n.id = e.id WHERE n.edited_from IS NOT NULL),
             lineage(id) AS (
                 SELECT e.id FROM earlier e
                 UNION SELECT n.id FROM lineage l JOIN nodes n ON n.edited_from = l.id)
             SELECT l.id FROM lineage l WHERE l.id > ?2 ORDER BY l.id LIMIT ?3";
        let ids = self.all(sql, params![&node, &after, one_more], |row| row.array(0).map(NodeId::from_bytes))?;
        Ok(page(ids, limit, |last| *last))
    }

    pub(crate) fn seen(&mut self, sql: &str, bound: &[Value<'_>]) -> Result<Vec<SeenNode>, StoreError> {
        let found = self.all(sql, bound, |row| Ok(read_seen(row)))?;
        found.into_iter().map(|read| read.map_err(StoreError::from).and_then(|read| read)).collect()
    }
}

fn read_seen(row: &dyn Row) -> Result<Result<SeenNode, StoreError>, SqlError> {
    let node = read_node(row)?;
    let [is_selected, answers_selected, has_children] =
        [row.int(NODE_WIDTH)? == 1, row.int(NODE_WIDTH + 1)? == 1, row.int(NODE_WIDTH + 2)? == 1];
    let spoken = match node.place {
        Some(_) => Some((spelled(row, NODE_WIDTH + 3)?, spelled(row, NODE_WIDTH + 4)?)),
        None => None,
    };
    let item = OffsetRow(row, NODE_WIDTH + SEEN_WIDTH);
    let item: &dyn Row = &item;
    let has_item = item.optional_array::<16>(2)?.is_some();
    let item = if has_item { Some(read_item(item)?) } else { None };
    let content = match item.map(checked).transpose() {
        Ok(item) => item.and_then(|stored| node::content_of(&stored.item)),
        Err(altered) => return Ok(Err(altered)),
    };
    let is_redacted = node.status == GenerationStatus::Complete && content.is_none();
    Ok(Ok(SeenNode { row: node, spoken, is_selected, answers_selected, has_children, content, is_redacted }))
}
