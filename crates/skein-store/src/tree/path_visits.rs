//! Remembers with which node a path went on last from each node it passed, so that a reader comes back to where they were.
//!
//! The first continuation of a node stays on its branch. So a row stands only where a path went on with a later one, and
//! following a node's ancestry is a range of an index for each of its branches. Rows repeat what the items that moved the
//! path say; they are never hashed.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use skein_core::tree::node_place::NodeLabel;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::{ConversationId, NodeId, PathId, Viewer};

use crate::db::sql::params;
use crate::error::StoreError;
use crate::tree::path_switch::{PathTarget, UPWARD};
use crate::tx::Tx;

/// Forgets, on the path ?2, every other way on from the ancestors of node ?1.
static FORGET_OTHERS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{UPWARD} DELETE FROM path_visits WHERE (path, branch, depth) IN (
             SELECT v.path, v.branch, v.depth FROM upward u
             LEFT JOIN path_visits v ON v.path = ?2 AND v.branch = u.branch AND v.depth < u.depth)"
    )
});

/// Notes, on the path ?2, every ancestor of node ?1 that opens a branch.
static NOTE_OPENERS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{UPWARD} INSERT INTO path_visits (path, branch, depth, node)
         SELECT ?2, p.branch, p.depth, o.id FROM upward u LEFT JOIN nodes o ON o.id = u.branch
         LEFT JOIN nodes p ON p.id = o.parent
         LEFT JOIN path_visits v ON v.path = ?2 AND v.branch = p.branch AND v.depth = p.depth
         WHERE p.id IS NOT NULL AND (v.node IS NULL OR v.node <> o.id)
         ON CONFLICT (path, branch, depth) DO UPDATE SET node = excluded.node"
    )
});

/// The ways on of one path.
pub(crate) struct PathVisits {
    left: HashMap<NodeLabel, NodeId>,
    openers: HashSet<NodeId>,
}

impl PathVisits {
    /// Whether the path went on with this node last, from the node it answers.
    pub(crate) fn lead_to(&self, node: NodeId, label: NodeLabel) -> bool {
        if node == label.branch {
            return self.openers.contains(&node);
        }
        let above = NodeLabel { branch: label.branch, depth: label.depth - 1 };
        label.depth > 1 && !self.left.contains_key(&above)
    }
}

impl Tx<'_> {
    /// The last complete node of a conversation's own path, below where its reader stands too; nothing where nothing was
    /// said.
    pub fn path_end(&mut self, viewer: &Viewer, conversation: ConversationId) -> Result<Option<NodeId>, StoreError> {
        let row = self.conversation(viewer, conversation)?;
        let path = PathId::main_of(conversation);
        let mut at = self.cursor_of(path)?.or(row.root_node);
        // Nothing follows an answer that failed: its reader comes from what it was to answer.
        let mut last = None;
        while let Some(node) = at.take() {
            let found = self.node(viewer, node)?;
            match found.label() {
                Some(label) if found.status == GenerationStatus::Complete => last = Some((node, label)),
                _ => at = found.parent,
            }
        }
        let Some((mut node, mut label)) = last else { return Ok(None) };
        while let Some((opener, depth)) = self.next_opener(path, label)? {
            (node, label) = (opener, NodeLabel { branch: opener, depth });
        }
        let end = self.last_of_branch(label)?.unwrap_or(node);
        if row.is_buffer() { self.shown_version(viewer, path, end).map(Some) } else { Ok(Some(end)) }
    }

    /// Where a path left a branch at a depth or further down, to go on with a later continuation.
    fn next_opener(&mut self, path: PathId, from: NodeLabel) -> Result<Option<(NodeId, i64)>, StoreError> {
        let sql = "SELECT n.id, n.depth FROM path_visits v JOIN nodes n ON n.id = v.node
             WHERE v.path = ?1 AND v.branch = ?2 AND v.depth >= ?3 AND n.status = 'complete' ORDER BY v.depth LIMIT 1";
        let bound = params![&path, &from.branch, from.depth];
        self.first(sql, bound, |row| Ok((NodeId::from_bytes(row.array(0)?), row.int(1)?)))
    }

    /// The deepest complete node of a branch, from a depth on.
    fn last_of_branch(&mut self, from: NodeLabel) -> Result<Option<NodeId>, StoreError> {
        let sql = "SELECT n.id FROM nodes n WHERE n.branch = ?1 AND n.depth > ?2 AND n.is_version = 0
             AND n.status = 'complete' ORDER BY n.depth DESC LIMIT 1";
        Ok(self.first(sql, params![&from.branch, from.depth], |row| row.array(0))?.map(NodeId::from_bytes))
    }

    /// The version of a node that its path shows.
    fn shown_version(&mut self, viewer: &Viewer, path: PathId, node: NodeId) -> Result<NodeId, StoreError> {
        let row = self.node(viewer, node)?;
        let Some(shown) = row.turn().map(|turn| self.selected_in(path, turn)).transpose()?.flatten() else {
            return Ok(node);
        };
        Ok(if self.node(viewer, shown)?.label() == row.label() { shown } else { node })
    }

    /// A path was led to a node: from each of its ancestors it went on in that direction.
    pub(crate) fn note_visit(&mut self, path: PathId, node: NodeId) -> Result<(), StoreError> {
        self.execute(&FORGET_OTHERS, params![&node, &path])?;
        self.execute(&NOTE_OPENERS, params![&node, &path])?;
        Ok(())
    }

    /// A path went on from where it stood. Only a node that opens a branch is worth a row.
    pub(crate) fn note_continuation(&mut self, path: PathId, node: &PathTarget) -> Result<(), StoreError> {
        if node.place.label.branch == node.id {
            self.execute(&NOTE_OPENERS, params![&node.id, &path])?;
        }
        Ok(())
    }

    pub(crate) fn visits(&mut self, path: PathId) -> Result<PathVisits, StoreError> {
        let sql = "SELECT v.branch, v.depth, v.node FROM path_visits v WHERE v.path = ?1";
        let rows = self.all(sql, params![&path], |row| {
            let label = NodeLabel { branch: NodeId::from_bytes(row.array(0)?), depth: row.int(1)? };
            Ok((label, NodeId::from_bytes(row.array(2)?)))
        })?;
        let left: HashMap<NodeLabel, NodeId> = rows.into_iter().collect();
        let openers = left.values().copied().collect();
        Ok(PathVisits { left, openers })
    }
}
