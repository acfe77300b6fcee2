//! Lists the nodes around a node, page by page and oldest first: continuations, alternatives, annotations, and the
//! edges
//! that touch it.

use skein_core::tree::node::{EdgeType, SourceRole};
use skein_core::{EdgeId, NodeId, PathId, Viewer};

use crate::db::sql::params;
use crate::error::StoreError;
use crate::timeline::items::{Page, page};
use crate::tree::read::{NODES_PER_PAGE_MAX, SEEN, SeenNode};
use crate::tree::rows::spelled;
use crate::tx::Tx;

/// Which nodes around one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdjacentKind {
    /// What continues it; what follows one version follows the others too (rule AG-EDIT-003).
    Children,
    /// What else continues the same node: one for each lineage, the first that was made (rule AG-PATH-004).
    Siblings,
    /// Remarks about it.
    Annotations,
}

impl AdjacentKind {
    /// The ids of these nodes; ?2 is the one they are around.
    const fn chosen(self) -> &'static str {
        match self {
            Self::Children => {
                "SELECT k.id FROM nodes k WHERE k.parent = ?2
                 UNION
                 SELECT k.id FROM nodes x JOIN nodes v ON v.branch = x.branch AND v.depth = x.depth AND v.is_version = 0
                 JOIN nodes k ON k.parent = v.id WHERE x.id = ?2
                 UNION
                 SELECT k.id FROM nodes x JOIN nodes v ON v.branch = x.branch AND v.depth = x.depth AND v.is_version = 1
                 JOIN nodes k ON k.parent = v.id WHERE x.id = ?2"
            }
            // The two kinds of parents have an index each.
            Self::Siblings => {
                "SELECT k.id FROM nodes x JOIN nodes a ON a.id = x.parent
                 JOIN nodes p ON p.branch = a.branch AND p.depth = a.depth AND p.is_version = 0
                 JOIN nodes k ON k.parent = p.id AND k.is_version = 0
                 WHERE x.id = ?2 AND NOT (k.branch = x.branch AND k.depth = x.depth)
                 UNION
                 SELECT k.id FROM nodes x JOIN nodes a ON a.id = x.parent
                 JOIN nodes p ON p.branch = a.branch AND p.depth = a.depth AND p.is_version = 1
                 JOIN nodes k ON k.parent = p.id AND k.is_version = 0
                 WHERE x.id = ?2 AND NOT (k.branch = x.branch AND k.depth = x.depth)
                 UNION
                 SELECT k.id FROM nodes x JOIN nodes k ON k.turn = x.turn AND k.is_version = 0
                 WHERE x.id = ?2 AND x.parent IS NULL AND NOT (k.branch = x.branch AND k.depth = x.depth)"
            }
            Self::Annotations => "SELECT a.target FROM node_sources a WHERE a.source = ?2 AND a.kind = 'annotation'",
        }
    }
}

/// What leads into a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeRow {
    pub id: EdgeId,
    pub edge_type: EdgeType,
    pub target: NodeId,
    pub sources: Vec<EdgeSource>,
}

/// One source of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeSource {
    pub node: NodeId,
    pub role: SourceRole,
    /// Whether it came later, as a version of a source that was there (rule AG-BUFFER-001).
    pub is_version: bool,
}

impl Tx<'_> {
    /// The nodes around one, as a path sees them.
    pub fn nodes_around(
        &mut self,
        viewer: &Viewer,
        path: PathId,
        node: NodeId,
        around: AdjacentKind,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<SeenNode, NodeId>, StoreError> {
        self.node(viewer, node)?;
        let (limit, one_more) = bounded(limit);
        let after = after.unwrap_or(NodeId::from_bytes([0; 16]));
        let sql = format!("{} WHERE n.id IN ({}) AND n.id > ?3 ORDER BY n.id LIMIT ?4", *SEEN, around.chosen());
        let rows = self.seen(&sql, params![&path, &node, &after, one_more])?;
        Ok(page(rows, limit, |last| last.row.id))
    }

    /// The edge into a node and those out of it, by the ids of their targets.
    pub fn edges(
        &mut self,
        viewer: &Viewer,
        node: NodeId,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<EdgeRow, NodeId>, StoreError> {
        self.node(viewer, node)?;
        let (limit, one_more) = bounded(limit);
        let after = after.unwrap_or(NodeId::from_bytes([0; 16]));
        let sql = "SELECT n.id, n.edge, n.parent, n.turn FROM nodes n WHERE n.id > ?2 AND n.id IN (
                 SELECT x.id FROM nodes x WHERE x.id = ?1
                 UNION SELECT k.id FROM nodes k WHERE k.parent = ?1
                 UNION SELECT s.target FROM node_sources s WHERE s.source = ?1)
             ORDER BY n.id LIMIT ?3";
        let mut edges = self.all(sql, params![&node, &after, one_more], |row| {
            let parent = row.optional_array(2)?.map(NodeId::from_bytes);
            let is_annotation = row.optional_array::<16>(3)?.is_none();
            Ok(EdgeRow {
                target: NodeId::from_bytes(row.array(0)?),
                id: EdgeId::from_bytes(row.array(1)?),
                edge_type: if is_annotation { EdgeType::Annotation } else { EdgeType::Continuation },
                sources: parent
                    .map(|node| EdgeSource { node, role: SourceRole::Primary, is_version: false })
                    .into_iter()
                    .collect(),
            })
        })?;
        for edge in &mut edges {
            let sql = "SELECT source, role, kind FROM node_sources WHERE target = ?1 ORDER BY source";
            let more = self.all(sql, params![&edge.target], |row| {
                let node = NodeId::from_bytes(row.array(0)?);
                Ok(EdgeSource { node, role: spelled(row, 1)?, is_version: row.text(2)? == "version" })
            })?;
            edge.sources.extend(more);
        }
        Ok(page(edges, limit, |last| last.target))
    }

    /// The viewer's tags after one, with how many nodes have each.
    pub fn tags_after(
        &mut self,
        viewer: &Viewer,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page<(String, i64), String>, StoreError> {
        let owner = self.subject(viewer)?;
        let (limit, one_more) = bounded(limit);
        let sql =
            "SELECT tag, COUNT(*) FROM node_tags WHERE owner = ?1 AND tag > ?2 GROUP BY tag ORDER BY tag LIMIT ?3";
        let bound = params![&owner, after.unwrap_or_default(), one_more];
        let rows = self.all(sql, bound, |row| Ok((row.text(0)?.to_owned(), row.int(1)?)))?;
        Ok(page(rows, limit, |(tag, _)| tag.clone()))
    }
}

/// How many rows a page has, and how many are looked for to know whether there are more.
fn bounded(limit: usize) -> (usize, i64) {
    let limit = limit.clamp(1, NODES_PER_PAGE_MAX);
    (limit, i64::try_from(limit + 1).expect("pages are small"))
}
