//! Several nodes at once, each as its conversation's own path sees it: what lists ask about, in a few statements however
//! many nodes and conversations there are.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use skein_core::{NodeId, Viewer};

use crate::db::sql::{IDS_PER_STATEMENT, Row, Value, filled, params, places};
use crate::error::StoreError;
use crate::tree::read::{SEEN, SeenNode};
use crate::tx::Tx;

/// A conversation's own path has the conversation's bits.
static SEEN_BY_OWNERS: LazyLock<String> = LazyLock::new(|| {
    let seen = SEEN.replace("path = ?1", "path = n.conversation");
    format!("{seen} WHERE n.id IN ({})", places(1))
});

/// Nodes with an ancestor, or with something in its stead, that was left or never reached: see `path_switch.rs`.
static LED_ELSEWHERE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH RECURSIVE upward(node, path, branch, depth) AS (
             SELECT n.id, n.conversation, n.branch, n.depth FROM nodes n WHERE n.id IN ({}) AND n.turn IS NOT NULL
             UNION ALL
             SELECT u.node, u.path, p.branch, p.depth FROM upward u
             JOIN nodes o ON o.id = u.branch JOIN nodes p ON p.id = o.parent)
         SELECT DISTINCT u.node FROM upward u LEFT JOIN path_reach r ON r.path = u.path AND r.branch = u.branch
         WHERE EXISTS (SELECT 1 FROM selections s WHERE s.path = u.path AND s.branch = u.branch AND s.depth <= u.depth
                 AND s.selected = 0)
             OR EXISTS (SELECT 1 FROM nodes n WHERE n.branch = u.branch AND n.depth <= u.depth AND n.late = 1
                 AND n.depth > CASE WHEN r.depth IS NULL THEN 0 ELSE r.depth END)",
        places(1)
    )
});

/// Nodes that were cut off, or that descend from one that was.
static PRUNED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH RECURSIVE upward(node, branch, depth) AS (
             SELECT n.id, n.branch, n.depth FROM nodes n WHERE n.id IN ({0}) AND n.turn IS NOT NULL
             UNION ALL
             SELECT u.node, p.branch, p.depth FROM upward u
             JOIN nodes o ON o.id = u.branch JOIN nodes p ON p.id = o.parent)
         SELECT DISTINCT u.node FROM upward u
         WHERE EXISTS (SELECT 1 FROM nodes d WHERE d.branch = u.branch AND d.depth <= u.depth AND d.pruned = 1)
         UNION SELECT n.id FROM nodes n WHERE n.id IN ({0}) AND n.pruned = 1",
        places(1)
    )
});

/// What remarks are about.
static ABOUT: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT s.target, s.source FROM node_sources s WHERE s.kind = 'annotation' AND s.target IN ({})", places(1))
});

static TAGS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT g.node, g.tag FROM node_tags g WHERE g.owner = ?1 AND g.node IN ({}) ORDER BY g.node, g.tag",
        places(2)
    )
});

impl Tx<'_> {
    /// These nodes in their order, each as its conversation's own path sees it; those that are not the viewer's to see are
    /// left out.
    pub fn seen_by_owners(&mut self, viewer: &Viewer, nodes: &[NodeId]) -> Result<Vec<SeenNode>, StoreError> {
        let now = self.now();
        let mut found = HashMap::with_capacity(nodes.len());
        for some in nodes.chunks(IDS_PER_STATEMENT) {
            let seen = self.seen(&SEEN_BY_OWNERS, &filled(some).collect::<Vec<_>>())?;
            let seen = seen.into_iter().filter(|seen| viewer.may_read(seen.row.owner, now));
            found.extend(seen.map(|seen| (seen.row.id, seen)));
        }
        Ok(nodes.iter().filter_map(|node| found.remove(node)).collect())
    }

    /// Which of these are on the own path of their conversation: selected, and everything they descend from too.
    pub fn on_own_paths(&mut self, nodes: &[SeenNode]) -> Result<HashSet<NodeId>, StoreError> {
        let is_shown = |node: &&SeenNode| node.is_selected && node.row.place.is_some();
        let shown: Vec<NodeId> = nodes.iter().filter(is_shown).map(|node| node.row.id).collect();
        let mut on_path: HashSet<NodeId> = shown.iter().copied().collect();
        for some in shown.chunks(IDS_PER_STATEMENT) {
            let bound: Vec<Value<'_>> = filled(some).collect();
            for elsewhere in self.all(&LED_ELSEWHERE, &bound, |row| row.array(0).map(NodeId::from_bytes))? {
                on_path.remove(&elsewhere);
            }
        }
        Ok(on_path)
    }

    /// Which of these were cut off, or descend from something that was.
    pub fn pruned_among(&mut self, nodes: &[NodeId]) -> Result<HashSet<NodeId>, StoreError> {
        let mut pruned = HashSet::new();
        for some in nodes.chunks(IDS_PER_STATEMENT) {
            let bound: Vec<Value<'_>> = filled(some).collect();
            pruned.extend(self.all(&PRUNED, &bound, |row| row.array(0).map(NodeId::from_bytes))?);
        }
        Ok(pruned)
    }

    /// The nodes that each of these remarks is about.
    pub fn about(&mut self, remarks: &[NodeId]) -> Result<HashMap<NodeId, Vec<NodeId>>, StoreError> {
        let mut about: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for some in remarks.chunks(IDS_PER_STATEMENT) {
            let bound: Vec<Value<'_>> = filled(some).collect();
            let read = |row: &dyn Row| Ok((NodeId::from_bytes(row.array(0)?), NodeId::from_bytes(row.array(1)?)));
            for (remark, node) in self.all(&ABOUT, &bound, read)? {
                about.entry(remark).or_default().push(node);
            }
        }
        Ok(about)
    }

    /// The tags of these nodes of the viewer's, in their order.
    pub fn tags_of_many(
        &mut self,
        viewer: &Viewer,
        nodes: &[NodeId],
    ) -> Result<HashMap<NodeId, Vec<String>>, StoreError> {
        let owner = self.subject(viewer)?;
        let mut tags: HashMap<NodeId, Vec<String>> = HashMap::new();
        for some in nodes.chunks(IDS_PER_STATEMENT) {
            let mut bound = params![&owner].to_vec();
            bound.extend(filled(some));
            let found =
                self.all(&TAGS, &bound, |row| Ok((NodeId::from_bytes(row.array(0)?), row.text(1)?.to_owned())))?;
            for (node, tag) in found {
                tags.entry(node).or_default().push(tag);
            }
        }
        Ok(tags)
    }
}
