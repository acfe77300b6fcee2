//! What a path may see of what is remembered (decision Z8), as stretches of branches: the path itself, through forks, and
//! the main paths of other conversations.
//!
//! Conversations with a single branch are seen whole and need no mention, so that a question costs what its owner's
//! branches are, not what everything is.

use std::collections::HashMap;
use std::sync::LazyLock;

use skein_core::tree::place::Label;
use skein_core::{ConversationId, NodeId, Viewer};

use crate::error::StoreError;
use crate::sql::params;
use crate::tree::read::version_above;
use crate::tx::Tx;

/// Most branches a question lists; of conversations beyond them hits are judged one by one.
const BRANCHES_MAX: usize = 10_000;
/// Most changes of branch on the way to a root.
const HOPS_MAX: i64 = 100_000;

/// A branch of a conversation, seen down to a depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisibleBranch {
    pub conversation: ConversationId,
    pub branch: NodeId,
    /// Nothing of it is seen where this lies above its beginning.
    pub down_to: i64,
}

/// A branch, where it leaves another, and how far the main path follows it by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchOf {
    conversation: ConversationId,
    branch: NodeId,
    leaves: Option<Label>,
    /// The first depth at which the path was led elsewhere, never was led, or everything was cut off.
    ends_at: Option<i64>,
}

impl Tx<'_> {
    /// The path that leads to a node, through forks.
    pub fn ancestry(&mut self, viewer: &Viewer, node: NodeId) -> Result<Vec<VisibleBranch>, StoreError> {
        self.node(viewer, node)?;
        let sql = "WITH RECURSIVE upward(hop, conversation, branch, depth) AS (
                 SELECT CAST(0 AS BIGINT), n.conversation, n.branch, n.depth FROM nodes n
                 WHERE n.id = ?1 AND n.turn IS NOT NULL
                 UNION ALL
                 SELECT u.hop + 1, p.conversation, p.branch, p.depth FROM upward u JOIN nodes o ON o.id = u.branch
                 JOIN conversations c ON c.id = u.conversation
                 JOIN nodes p ON p.id = CASE WHEN o.parent IS NULL THEN c.origin ELSE o.parent END WHERE u.hop < ?2)
             SELECT u.conversation, u.branch, u.depth FROM upward u";
        self.all(sql, params![&node, HOPS_MAX], |row| {
            let (conversation, branch) = (ConversationId::from_bytes(row.array(0)?), NodeId::from_bytes(row.array(1)?));
            Ok(VisibleBranch { conversation, branch, down_to: row.int(2)? })
        })
    }

    /// Which version a path to a node shows where another of its nodes stands; `path` is its [`Self::ancestry`]. `None` where
    /// the path does not lead. The end of the path and where it was forked are those very nodes.
    pub fn version_on(&mut self, path: &[VisibleBranch], end: NodeId, at: Label) -> Result<Option<NodeId>, StoreError> {
        static SHOWN: LazyLock<String> = LazyLock::new(|| {
            format!(
                "SELECT {} FROM nodes b JOIN nodes a ON a.id = b.parent
                 LEFT JOIN selections v ON v.path = a.conversation AND v.branch = a.branch AND v.depth = a.depth
                 LEFT JOIN selections f ON f.path = ?3 AND f.branch = a.branch AND f.depth = a.depth
                     AND a.conversation <> ?3
                 WHERE b.branch = ?1 AND b.depth = ?2 AND b.is_version = 0",
                version_above("?3")
            )
        });
        let covers = |seen: &VisibleBranch| seen.branch == at.branch && at.depth <= seen.down_to;
        let (Some(hop), Some(of)) = (path.iter().position(covers), path.first()) else { return Ok(None) };
        let next = match hop.checked_sub(1).map(|below| path[below]) {
            _ if at.depth < path[hop].down_to => Label { branch: at.branch, depth: at.depth + 1 },
            None => return Ok(Some(end)),
            Some(below) if below.conversation != path[hop].conversation => {
                let sql = "SELECT c.origin FROM conversations c WHERE c.id = ?1";
                let origin = self.first(sql, params![&below.conversation], |row| row.optional_array(0))?;
                return Ok(origin.flatten().map(NodeId::from_bytes));
            }
            Some(below) => Label { branch: below.branch, depth: at.depth + 1 },
        };
        let bound = params![&next.branch, next.depth, &of.conversation];
        self.first(&SHOWN, bound, |row| row.array(0).map(NodeId::from_bytes))
    }

    /// Of the viewer's conversations with several branches, what their main paths show of each.
    pub fn main_paths(&mut self, viewer: &Viewer) -> Result<Vec<VisibleBranch>, StoreError> {
        let owner = self.subject(viewer)?;
        let limit = i64::try_from(BRANCHES_MAX).unwrap_or(i64::MAX);
        let sql = "WITH beside(conversation, id) AS (
                 SELECT n.conversation, n.id FROM nodes n
                 WHERE n.owner = ?1 AND n.branch = n.id AND (n.parent IS NOT NULL OR n.ordinal > 1)
                 ORDER BY n.conversation DESC, n.id LIMIT ?2),
             begun(conversation, id) AS (
                 SELECT b.conversation, b.id FROM beside b
                 UNION SELECT c.id, c.root_node FROM conversations c WHERE c.id IN (SELECT b.conversation FROM beside b))
             SELECT g.conversation, g.id, p.branch, p.depth,
                 (SELECT MIN(s.depth) FROM selections s WHERE s.path = g.conversation AND s.branch = g.id AND s.selected = 0),
                 (SELECT MIN(l.depth) FROM nodes l WHERE l.branch = g.id AND l.late = 1 AND l.depth > (
                     SELECT CASE WHEN MAX(r.depth) IS NULL THEN 0 ELSE MAX(r.depth) END FROM path_reach r
                     WHERE r.path = g.conversation AND r.branch = g.id)),
                 (SELECT MIN(d.depth) FROM nodes d WHERE d.branch = g.id AND d.pruned = 1)
             FROM begun g JOIN nodes n ON n.id = g.id LEFT JOIN nodes p ON p.id = n.parent";
        let branches = self.all(sql, params![&owner, limit], |row| {
            let leaves = match (row.optional_array(2)?, row.optional_int(3)?) {
                (Some(branch), Some(depth)) => Some(Label { branch: NodeId::from_bytes(branch), depth }),
                _ => None,
            };
            let (conversation, branch) = (ConversationId::from_bytes(row.array(0)?), NodeId::from_bytes(row.array(1)?));
            let ends = [row.optional_int(4)?, row.optional_int(5)?, row.optional_int(6)?];
            Ok(BranchOf { conversation, branch, leaves, ends_at: ends.into_iter().flatten().min() })
        })?;
        let is_cut = branches.len() >= BRANCHES_MAX;
        let last = branches.iter().map(|branch| branch.conversation).min().filter(|_| is_cut);
        Ok(seen(&branches).into_iter().filter(|branch| Some(branch.conversation) != last).collect())
    }
}

/// How much of each branch is on the main path: nothing of one that leaves another where that is not seen any more.
fn seen(branches: &[BranchOf]) -> Vec<VisibleBranch> {
    let known: HashMap<NodeId, &BranchOf> = branches.iter().map(|branch| (branch.branch, branch)).collect();
    let mut depths: HashMap<NodeId, i64> = HashMap::with_capacity(branches.len());
    for branch in branches {
        let mut chain = vec![branch];
        while let Some(above) = chain.last().and_then(|last| last.leaves).filter(|at| !depths.contains_key(&at.branch))
        {
            let Some(above) = known.get(&above.branch) else { break };
            chain.push(above);
        }
        for branch in chain.into_iter().rev() {
            let is_led_to =
                branch.leaves.is_none_or(|at| depths.get(&at.branch).is_some_and(|down_to| at.depth <= *down_to));
            let down_to = if is_led_to { branch.ends_at.map_or(i64::MAX, |end| end - 1) } else { 0 };
            depths.insert(branch.branch, down_to);
        }
    }
    let down_to = |branch: &BranchOf| depths.get(&branch.branch).copied().unwrap_or(0);
    branches
        .iter()
        .map(|branch| VisibleBranch {
            conversation: branch.conversation,
            branch: branch.branch,
            down_to: down_to(branch),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(name: u8, leaves: Option<(u8, i64)>, ends_at: Option<i64>) -> BranchOf {
        let id = |byte: u8| NodeId::from_bytes([byte; 16]);
        let leaves = leaves.map(|(branch, depth)| Label { branch: id(branch), depth });
        BranchOf { conversation: ConversationId::from_bytes([0; 16]), branch: id(name), leaves, ends_at }
    }

    #[test]
    fn what_leaves_a_branch_below_its_end_is_not_seen() {
        // The path was led from branch 1 to branch 2 at depth 3, and branch 3 leaves branch 1 further down.
        let branches = [
            branch(3, Some((1, 5)), None),
            branch(2, Some((1, 2)), None),
            branch(1, None, Some(3)),
            branch(4, Some((3, 6)), None),
        ];
        let depths: Vec<i64> = seen(&branches).iter().map(|branch| branch.down_to).collect();
        assert_eq!(depths, [0, i64::MAX, 2, 0]);
    }
}
