//! Reads a tree to show it whole: the sources of a path's nodes, the conversations folded along it, and missing
//! summaries.

use std::sync::LazyLock;

use skein_core::tree::node::SourceRole;
use skein_core::{ConversationId, NodeId, Viewer};

use crate::db::sql::params;
use crate::error::StoreError;
use crate::tree::read::version_above;
use crate::tree::rows::{
    CONVERSATION_COLUMNS, ConversationRow, NODE_COLUMNS, NodeRow, read_conversation, read_node, spelled,
};
use crate::tx::Tx;

/// Most nodes that wait for a summary and are told of at once.
pub const UNSUMMARISED_MAX: usize = 64;

/// The path that leads to the node ?1 of the conversation ?3, at most ?2 of it, through forks, each node in the version that
/// is shown there.
static WALK: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH RECURSIVE walk(id, hop) AS (
             SELECT n.id, CAST(1 AS BIGINT) FROM nodes n WHERE n.id = ?1
             UNION ALL
             SELECT {}, w.hop + 1 FROM walk w
             JOIN nodes b ON b.id = w.id AND b.turn IS NOT NULL
             JOIN conversations c ON c.id = b.conversation
             JOIN nodes a ON a.id = CASE WHEN b.parent IS NULL THEN c.origin ELSE b.parent END
             LEFT JOIN selections v ON v.path = a.conversation AND v.branch = a.branch AND v.depth = a.depth
             LEFT JOIN selections f ON f.path = ?3 AND f.branch = a.branch AND f.depth = a.depth AND a.conversation <> ?3
             WHERE w.hop < ?2)",
        version_above("?3")
    )
});

impl Tx<'_> {
    /// The path that leads to a node, through forks, from the root's side on: the last `limit` of it.
    pub fn path_ids(&mut self, viewer: &Viewer, node: NodeId, limit: usize) -> Result<Vec<NodeId>, StoreError> {
        let conversation = self.node(viewer, node)?.conversation;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = format!("{} SELECT w.id FROM walk w ORDER BY w.hop DESC", *WALK);
        self.all(&sql, params![&node, limit, &conversation], |row| row.array(0).map(NodeId::from_bytes))
    }

    /// What that path shows of nodes that have several versions, the nearest first, at most `most` of them.
    pub fn path_versions(
        &mut self,
        viewer: &Viewer,
        node: NodeId,
        limit: usize,
        most: usize,
    ) -> Result<Vec<NodeId>, StoreError> {
        let conversation = self.node(viewer, node)?.conversation;
        let [limit, most] = [limit, most].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        let sql = format!(
            "{} SELECT w.id FROM walk w LEFT JOIN nodes n ON n.id = w.id WHERE EXISTS (SELECT 1 FROM nodes k
                 WHERE k.branch = n.branch AND k.depth = n.depth AND k.is_version = 1) ORDER BY w.hop LIMIT ?4",
            *WALK
        );
        self.all(&sql, params![&node, limit, &conversation, most], |row| row.array(0).map(NodeId::from_bytes))
    }

    /// What fed the nodes of that path beside their parents: which node, by what, and as what; of the nearest nodes
    /// first, at most `most` of them.
    pub fn path_feeds(
        &mut self,
        viewer: &Viewer,
        node: NodeId,
        limit: usize,
        most: usize,
    ) -> Result<Vec<(NodeId, NodeId, SourceRole)>, StoreError> {
        let conversation = self.node(viewer, node)?.conversation;
        let [limit, most] = [limit, most].map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        // An outer join is walked from the path to its sources, whatever SQLite thinks of their numbers.
        let sql = format!(
            "{} SELECT s.target, s.source, s.role FROM walk w
             LEFT JOIN node_sources s ON s.target = w.id
             WHERE COALESCE(s.kind, '') = 'continuation' ORDER BY w.hop, s.source LIMIT ?4",
            *WALK
        );
        self.all(&sql, params![&node, limit, &conversation, most], |row| {
            let [target, source] = [row.array(0)?, row.array(1)?].map(NodeId::from_bytes);
            Ok((target, source, spelled(row, 2)?))
        })
    }

    /// Which of a conversation's forks were folded, with the nodes they left from; what tools did is not told (rule
    /// BR-EPISODE-003).
    pub fn folded_forks(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        limit: usize,
    ) -> Result<Vec<ConversationRow>, StoreError> {
        self.conversation(viewer, conversation)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = format!(
            "SELECT {CONVERSATION_COLUMNS} FROM conversations c WHERE c.parent = ?1 AND c.folded = 1
             AND c.kind <> 'tool_run' ORDER BY c.id LIMIT ?2"
        );
        self.all(&sql, params![&conversation, limit], read_conversation)
    }

    /// What an annotation is about.
    pub fn annotated(&mut self, viewer: &Viewer, annotation: NodeId) -> Result<Option<NodeId>, StoreError> {
        self.node(viewer, annotation)?;
        let sql = "SELECT source FROM node_sources WHERE target = ?1 AND kind = 'annotation' ORDER BY source LIMIT 1";
        Ok(self.first(sql, params![&annotation], |row| row.array(0))?.map(NodeId::from_bytes))
    }

    /// Complete nodes of a tree that have no summary, from one of them on.
    pub fn unsummarised(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        from: NodeId,
    ) -> Result<Vec<NodeId>, StoreError> {
        self.conversation(viewer, conversation)?;
        let limit = i64::try_from(UNSUMMARISED_MAX).expect("a batch is small");
        let sql = "SELECT n.id FROM nodes n WHERE n.conversation = ?1 AND n.id >= ?2 AND n.status = 'complete'
             AND NOT EXISTS (SELECT 1 FROM tree_summaries s WHERE s.subject = n.id) ORDER BY n.id LIMIT ?3";
        self.all(sql, params![&conversation, &from, limit], |row| row.array(0).map(NodeId::from_bytes))
    }

    /// The nodes of a tree after one of them, oldest first, annotations too, without what they say.
    pub fn nodes_of(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Vec<NodeRow>, StoreError> {
        self.conversation(viewer, conversation)?;
        let after = after.unwrap_or(NodeId::from_bytes([0; 16]));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let sql = format!(
            "SELECT {NODE_COLUMNS} FROM nodes n WHERE n.conversation = ?1 AND n.id > ?2 ORDER BY n.id LIMIT ?3"
        );
        self.all(&sql, params![&conversation, &after, limit], read_node)
    }

    /// How many nodes of a tree, not counting remarks, were answered in more than one way, and the newest of them.
    pub fn branch_points(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        limit: usize,
    ) -> Result<(i64, Vec<NodeId>), StoreError> {
        self.conversation(viewer, conversation)?;
        let forked = "FROM (SELECT n.parent AS id FROM nodes n
             WHERE n.conversation = ?1 AND n.parent IS NOT NULL AND n.is_version = 0
             GROUP BY n.parent HAVING COUNT(*) > 1) AS forked";
        let count = format!("SELECT COUNT(*) {forked}");
        let count = self.first(&count, params![&conversation], |row| row.int(0))?.unwrap_or(0);
        let newest = format!("SELECT forked.id {forked} ORDER BY forked.id DESC LIMIT ?2");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let newest = self.all(&newest, params![&conversation, limit], |row| row.array(0).map(NodeId::from_bytes))?;
        Ok((count, newest))
    }
}
