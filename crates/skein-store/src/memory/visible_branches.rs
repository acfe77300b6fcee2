//! Computes the branches a path may see in memory (decision Z8): the path itself, through forks, and the main paths of
//! other conversations.
//!
//! Conversations with a single branch are seen whole and need no mention. What the others show is worked out once; after that
//! a question costs what was said since, see [`Tx::led_since`].

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::{Item, ItemType};
use skein_core::tree::node::{Node, NodeMarked, NodeReserved, PathMoved, TreePayload as _};
use skein_core::tree::node_place::NodeLabel;
use skein_core::{ConversationId, NodeId, UserId, Viewer};

use crate::db::sql::{Value, params};
use crate::error::StoreError;
use crate::timeline::follow::TimelineQuery;
use crate::timeline::items::read_item;
use crate::tree::read::version_above;
use crate::tx::Tx;

/// Most branches a question lists; of conversations beyond them hits are judged one by one.
const BRANCHES_MAX: usize = 10_000;
/// Most changes of branch on the way to a root.
const HOPS_MAX: i64 = 100_000;
/// Most facts that are looked at to learn what changed; beyond them everything is worked out anew.
const FACTS_SINCE_MAX: usize = 2_000;
/// Most conversations that are worked out one by one.
const LED_MAX: usize = 64;

/// What decides which branches a path shows: everything that [`Tx::main_paths`] reads is projected from these alone.
const LEADING: [ItemType; 4] = [ItemType::NODE, ItemType::NODE_RESERVED, ItemType::NODE_MARKED, ItemType::PATH_MOVED];

/// The facts among them with their payloads, with the owner as ?1; the others are only counted.
static LEADING_ALONG: LazyLock<String> = LazyLock::new(|| {
    let types = LEADING.map(|item_type| format!("'{item_type}'")).join(", ");
    format!(
        "i.tx, i.position, i.id, i.owner, i.type, i.realized_at, i.canonical_at, i.hash, i.payload_hash, i.encoding,
         CASE WHEN i.owner = ?1 AND i.type IN ({types}) THEN i.payload END, NULL, NULL"
    )
});

static ALL_PATHS: LazyLock<String> = LazyLock::new(|| branches_where(""));
static PATHS_OF_ONE: LazyLock<String> = LazyLock::new(|| branches_where("AND n.conversation = ?2"));

/// The branches of those conversations of ?1 that have several.
fn branches_where(narrowed: &str) -> String {
    format!(
        "WITH beside(conversation, id) AS (
             SELECT n.conversation, n.id FROM nodes n
             WHERE n.owner = ?1 AND n.branch = n.id AND (n.parent IS NOT NULL OR n.ordinal > 1) {narrowed}
             ORDER BY n.conversation DESC, n.id LIMIT {BRANCHES_MAX}),
         begun(conversation, id) AS (
             SELECT b.conversation, b.id FROM beside b
             UNION SELECT c.id, c.root_node FROM conversations c WHERE c.id IN (SELECT b.conversation FROM beside b))
         SELECT g.conversation, g.id, p.branch, p.depth,
             (SELECT MIN(s.depth) FROM selections s WHERE s.path = g.conversation AND s.branch = g.id AND s.selected = 0),
             (SELECT MIN(l.depth) FROM nodes l WHERE l.branch = g.id AND l.late = 1 AND l.depth > (
                 SELECT CASE WHEN MAX(r.depth) IS NULL THEN 0 ELSE MAX(r.depth) END FROM path_reach r
                 WHERE r.path = g.conversation AND r.branch = g.id)),
             (SELECT MIN(d.depth) FROM nodes d WHERE d.branch = g.id AND d.pruned = 1)
         FROM begun g JOIN nodes n ON n.id = g.id LEFT JOIN nodes p ON p.id = n.parent"
    )
}

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
pub struct BranchOrigin {
    conversation: ConversationId,
    branch: NodeId,
    leaves: Option<NodeLabel>,
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
    pub fn version_on(
        &mut self,
        path: &[VisibleBranch],
        end: NodeId,
        at: NodeLabel,
    ) -> Result<Option<NodeId>, StoreError> {
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
            _ if at.depth < path[hop].down_to => NodeLabel { branch: at.branch, depth: at.depth + 1 },
            None => return Ok(Some(end)),
            Some(below) if below.conversation != path[hop].conversation => {
                let sql = "SELECT c.origin FROM conversations c WHERE c.id = ?1";
                let origin = self.first(sql, params![&below.conversation], |row| row.optional_array(0))?;
                return Ok(origin.flatten().map(NodeId::from_bytes));
            }
            Some(below) => NodeLabel { branch: below.branch, depth: at.depth + 1 },
        };
        let bound = params![&next.branch, next.depth, &of.conversation];
        self.first(&SHOWN, bound, |row| row.array(0).map(NodeId::from_bytes))
    }

    /// Of the viewer's conversations with several branches, what their main paths show of each.
    pub fn main_paths(&mut self, viewer: &Viewer) -> Result<Vec<VisibleBranch>, StoreError> {
        let owner = self.subject(viewer)?;
        self.branches_seen(&ALL_PATHS, params![&owner])
    }

    /// [`Self::main_paths`] of one conversation.
    pub fn main_path_of(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
    ) -> Result<Vec<VisibleBranch>, StoreError> {
        let owner = self.subject(viewer)?;
        self.branches_seen(&PATHS_OF_ONE, params![&owner, &conversation])
    }

    fn branches_seen(&mut self, sql: &str, bound: &[Value<'_>]) -> Result<Vec<VisibleBranch>, StoreError> {
        let mut branches = self.all(sql, bound, |row| {
            let leaves = match (row.optional_array(2)?, row.optional_int(3)?) {
                (Some(branch), Some(depth)) => Some(NodeLabel { branch: NodeId::from_bytes(branch), depth }),
                _ => None,
            };
            let (conversation, branch) = (ConversationId::from_bytes(row.array(0)?), NodeId::from_bytes(row.array(1)?));
            let ends = [row.optional_int(4)?, row.optional_int(5)?, row.optional_int(6)?];
            Ok(BranchOrigin { conversation, branch, leaves, ends_at: ends.into_iter().flatten().min() })
        })?;
        branches.sort_unstable_by_key(|branch| (branch.conversation, branch.branch));
        let is_cut = branches.len() >= BRANCHES_MAX;
        let last = branches.iter().map(|branch| branch.conversation).min().filter(|_| is_cut);
        Ok(seen(&branches).into_iter().filter(|branch| Some(branch.conversation) != last).collect())
    }

    /// The viewer's conversations whose main paths may show something else than before a cursor, which was
    /// [settled](Self::latest) when that was read; `None` when so much was said since that all are to be looked at again.
    ///
    /// What was not visible then stands behind that cursor, in whatever order it was committed.
    pub fn led_since(
        &mut self,
        viewer: &Viewer,
        after: Cursor,
    ) -> Result<Option<BTreeSet<ConversationId>>, StoreError> {
        let owner = self.subject(viewer)?;
        let along = TimelineQuery { columns: &LEADING_ALONG, from: "items i" };
        let (mut looked_at, mut leading) = (0, Vec::new());
        self.each_bound_after(&along, params![&owner], after, i64::MAX, FACTS_SINCE_MAX + 1, &mut |row| {
            looked_at += 1;
            let item = read_item(row)?.item;
            if item.header.owner == owner && LEADING.contains(&item.header.item_type) {
                leading.push(item);
            }
            Ok(())
        })?;
        if looked_at > FACTS_SINCE_MAX {
            return Ok(None);
        }
        let mut led = BTreeSet::new();
        for item in leading {
            let Some(conversation) = self.led_by(owner, &item)? else { return Ok(None) };
            led.insert(conversation);
        }
        Ok((led.len() <= LED_MAX).then_some(led))
    }

    /// The conversation whose paths a fact may lead elsewhere.
    fn led_by(&mut self, owner: UserId, item: &Item) -> Result<Option<ConversationId>, StoreError> {
        let Some(document) = item.document() else { return Ok(None) };
        let placed = match &item.header.item_type {
            t if *t == ItemType::NODE => Node::from_document(&document).map(|node| node.slot.conversation_id),
            t if *t == ItemType::NODE_RESERVED => {
                NodeReserved::from_document(&document).map(|reserved| reserved.slot.conversation_id)
            }
            t if *t == ItemType::PATH_MOVED => PathMoved::from_document(&document).map(|moved| moved.conversation_id),
            _ => {
                let Some(marked) = NodeMarked::from_document(&document) else { return Ok(None) };
                let node = self.find_node(marked.node_id)?.filter(|node| node.owner == owner);
                node.map(|node| node.conversation)
            }
        };
        Ok(placed)
    }
}

/// How much of each branch is on the main path: nothing of one that leaves another where that is not seen any more.
fn seen(branches: &[BranchOrigin]) -> Vec<VisibleBranch> {
    let known: HashMap<NodeId, &BranchOrigin> = branches.iter().map(|branch| (branch.branch, branch)).collect();
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
    let down_to = |branch: &BranchOrigin| depths.get(&branch.branch).copied().unwrap_or(0);
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

    fn branch(name: u8, leaves: Option<(u8, i64)>, ends_at: Option<i64>) -> BranchOrigin {
        let id = |byte: u8| NodeId::from_bytes([byte; 16]);
        let leaves = leaves.map(|(branch, depth)| NodeLabel { branch: id(branch), depth });
        BranchOrigin { conversation: ConversationId::from_bytes([0; 16]), branch: id(name), leaves, ends_at }
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
