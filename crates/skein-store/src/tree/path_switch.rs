//! Switches a path to a node, in the three phases of rule BR-ALT-002, at the cost of the changed turns.
//!
//! A turn a path was never led through shows its first node. So of a node's ancestors only these are not selected: those
//! that were selected once and left for another (`selections`, not selected), and those that are not the first of their
//! turn and lie beyond what the path ever reached on their branch (`path_reach`). Both are ranges of an index for each
//! branch the ancestry runs along. Nothing below the node is touched: whether a descendant is stale is derived.

use skein_core::tree::actor::ActorId;
use skein_core::tree::node_place::NodeLabel;
use skein_core::{ConversationId, NodeId, PathId, RuleViolation, TurnId, Viewer};
use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::db::sql::{DeferredStatement, Row, Value, params};
use crate::error::{SqlError, StoreError};
use crate::tree::row_cache::CachedRow;
use crate::tree::rows::{ConversationRow, NodePlace, NodeRow};
use crate::tx::Tx;

/// Rows of one statement: many changes take few round trips.
const CHANGES_PER_STATEMENT: usize = 100;
/// Neighbours on a branch from which on a statement of their own is cheaper than their share of one for many.
const STRETCH_MIN: usize = 4;

/// What a path's move changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathChange {
    /// The turns in which another node is selected now, from the root down.
    pub turns: Vec<TurnId>,
    /// What each of them showed before.
    pub left: Vec<NodeId>,
}

/// The branches a node's ancestry runs along inside its conversation, each with how deep: ?1 is the node.
pub(crate) const UPWARD: &str = "WITH RECURSIVE upward(branch, depth) AS (
    SELECT n.branch, n.depth FROM nodes n WHERE n.id = ?1
    UNION ALL
    SELECT p.branch, p.depth FROM upward u JOIN nodes o ON o.id = u.branch JOIN nodes p ON p.id = o.parent)";

/// What is not selected on the path ?2 of node ?1 and its ancestors, perhaps twice, and what is selected in its stead.
static UNSELECTED: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{UPWARD}, unselected(turn, branch, depth, node, noted) AS (
             SELECT s.turn, s.branch, s.depth, s.node, CAST(1 AS BIGINT) FROM upward u
             LEFT JOIN selections s ON s.path = ?2 AND s.branch = u.branch AND s.depth <= u.depth AND s.selected = 0
             WHERE COALESCE(s.selected, 1) = 0
             UNION ALL
             SELECT n.turn, n.branch, n.depth, n.id, CAST(0 AS BIGINT) FROM upward u
             LEFT JOIN path_reach r ON r.path = ?2 AND r.branch = u.branch
             JOIN nodes n ON n.branch = u.branch AND n.depth <= u.depth AND n.late = 1
                 AND n.depth > CASE WHEN r.depth IS NULL THEN 0 ELSE r.depth END
             UNION ALL
             SELECT n.turn, n.branch, n.depth, n.id, CAST(0 AS BIGINT) FROM nodes n WHERE n.id = ?1)
         SELECT x.turn, x.branch, x.depth, x.node, x.noted, s.node, s.branch, f.id, f.branch FROM unselected x
         LEFT JOIN selections s ON s.path = ?2 AND s.turn = x.turn AND s.selected = 1
         LEFT JOIN turns t ON t.id = CASE WHEN s.node IS NULL THEN x.turn END
         LEFT JOIN nodes f ON f.id = t.first_node"
    )
});

/// A path and whose it is.
pub(crate) struct OwnedPath {
    pub(crate) id: PathId,
    pub(crate) actor: ActorId,
}

impl OwnedPath {
    /// A path of a conversation is its owner's or, by its own name, that of `actor` (rule AG-PATH-002).
    pub(crate) fn of(conversation: &ConversationRow, id: PathId, actor: ActorId) -> Result<Self, RuleViolation> {
        if id == PathId::main_of(conversation.id) {
            return Ok(Self { id, actor: ActorId::from(conversation.owner) });
        }
        if id == PathId::of(conversation.id, actor.as_bytes()) {
            return Ok(Self { id, actor });
        }
        let problem = "this is not a path of theirs through this conversation";
        Err(RuleViolation::new("AG-PATH-002", problem, "move their own path, or the conversation's"))
    }
}

/// A node of a conversation's course that a path is led to.
pub(crate) struct PathTarget {
    pub(crate) id: NodeId,
    pub(crate) conversation: ConversationId,
    pub(crate) place: NodePlace,
    pub(crate) parent: Option<NodeId>,
}

/// A node that has to be selected, and the one that is selected in its stead.
struct SelectionChange {
    turn: TurnId,
    label: NodeLabel,
    node: NodeId,
    /// Whether it was selected once and left, and nothing of its lineage since.
    is_noted: bool,
    left: NodeId,
    left_branch: NodeId,
    /// Whether the path was led to what is left, and does not only show it as the first of its turn.
    left_is_noted: bool,
}

/// Which side of a change is written.
#[derive(Clone, Copy)]
enum ChangeSide {
    Left,
    Selected,
}

impl ChangeSide {
    fn label(self, change: &SelectionChange) -> NodeLabel {
        match self {
            Self::Left => NodeLabel { branch: change.left_branch, depth: change.label.depth },
            Self::Selected => change.label,
        }
    }

    /// Whether two changes are neighbours on a branch whose rows are there and only have to be turned over.
    fn goes_on(self, change: &SelectionChange, next: &SelectionChange) -> bool {
        let are_noted = match self {
            Self::Left => change.left_is_noted && next.left_is_noted,
            Self::Selected => change.is_noted && next.is_noted,
        };
        let (label, next) = (self.label(change), self.label(next));
        are_noted && label.branch == next.branch && label.depth + 1 == next.depth
    }
}

/// The statements that leave and select so many nodes of a path ?1.
fn change_statements(changes: usize) -> [String; 2] {
    let statement = |selected: u8, after: &str| {
        let row = |number: usize| {
            let first = number * 4 + 2;
            format!("(?1, ?{}, ?{}, ?{}, ?{}, {selected})", first, first + 1, first + 2, first + 3)
        };
        let rows: Vec<String> = (0..changes).map(row).collect();
        format!(
            "INSERT INTO selections (path, branch, depth, turn, node, selected) VALUES {}
             ON CONFLICT (path, branch, depth) DO UPDATE SET {after}",
            rows.join(", ")
        )
    };
    [statement(0, "selected = 0"), statement(1, "node = excluded.node, selected = 1")]
}

impl Tx<'_> {
    /// Leads a path to a node that was just made. Continuing at the end of the path changes nothing above. `under` is
    /// what it was said under, where that may be a version that is not shown: then it is shown first (decision Z3).
    pub(crate) fn lead_path_on(
        &mut self,
        path: &OwnedPath,
        node: &PathTarget,
        under: Option<&NodeRow>,
    ) -> Result<(), StoreError> {
        let goes_on = node.place.ordinal == 1 && node.parent.is_some() && self.cursor_of(path.id)? == node.parent;
        if goes_on {
            self.note_continuation(path.id, node)?;
            self.row_cache.note_led(path.id, node.id);
            return self.put_cursor(path, node);
        }
        if let Some((above, turn)) = under.and_then(|above| Some((above.id, above.turn()?)))
            && self.selected_in(path.id, turn)? != Some(above)
        {
            self.select_ancestry(path.id, above)?;
        }
        self.lead_path(path, node)
    }

    /// Selects `node` and everything it descends from, and puts the path's cursor there.
    pub(crate) fn lead_path(&mut self, path: &OwnedPath, node: &PathTarget) -> Result<(), StoreError> {
        self.select_ancestry(path.id, node.id)?;
        self.note_visit(path.id, node.id)?;
        self.put_cursor(path, node)
    }

    /// Has a turn show one of its nodes, whatever that descends from. The path is led somewhere afterwards.
    pub(crate) fn show_alone(&mut self, path: PathId, node: NodeId, place: &NodePlace) -> Result<(), StoreError> {
        let shown = self.selected_in(path, place.turn)?.filter(|shown| *shown != node);
        let Some(left) = shown.map(|shown| self.find_node(shown)).transpose()?.flatten() else { return Ok(()) };
        let Some(left_label) = left.label() else { return Ok(()) };
        let change = SelectionChange {
            turn: place.turn,
            label: place.label,
            node,
            is_noted: false,
            left: left.id,
            left_branch: left_label.branch,
            left_is_noted: false,
        };
        self.write_changes(path, ChangeSide::Left, &[&change])?;
        self.write_changes(path, ChangeSide::Selected, &[&change])?;
        self.note_moved(change.turn, change.left);
        Ok(())
    }

    fn put_cursor(&mut self, path: &OwnedPath, node: &PathTarget) -> Result<(), StoreError> {
        let sql = "INSERT INTO paths (id, conversation, actor, cursor_node) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (id) DO UPDATE SET cursor_node = excluded.cursor_node";
        let values = params![&path.id, &node.conversation, path.actor.as_bytes(), &node.id];
        self.write_row(DeferredStatement { replaces: true, ..DeferredStatement::new("paths", sql, values) })?;
        self.row_cache.note_cursor(path.id, node.id);
        Ok(())
    }

    /// Where a path stands, if it was ever led anywhere.
    pub(crate) fn cursor_of(&mut self, path: PathId) -> Result<Option<NodeId>, StoreError> {
        match self.row_cache.cursor(path) {
            CachedRow::Row(node) => return Ok(Some(node)),
            CachedRow::Absent => return Ok(None),
            CachedRow::Unknown => {}
        }
        let sql = "SELECT cursor_node FROM paths WHERE id = ?1";
        Ok(self.first(sql, params![&path], |row| row.array(0))?.map(NodeId::from_bytes))
    }

    fn select_ancestry(&mut self, path: PathId, node: NodeId) -> Result<(), StoreError> {
        let changes = self.changes(path, node)?;
        // First everything is left, then everything selected: at no moment are two nodes of a turn.
        for which in [ChangeSide::Left, ChangeSide::Selected] {
            let mut rest: Vec<&SelectionChange> = Vec::new();
            for stretch in changes.chunk_by(|change, next| which.goes_on(change, next)) {
                match stretch {
                    [first, .., last] if stretch.len() >= STRETCH_MIN => {
                        self.write_stretch(path, which, which.label(first), last.label.depth)?;
                    }
                    few => rest.extend(few),
                }
            }
            let (whole, remainder) = rest.as_chunks::<CHANGES_PER_STATEMENT>();
            for many in whole {
                self.write_changes(path, which, many)?;
            }
            for one in remainder.chunks(1) {
                self.write_changes(path, which, one)?;
            }
        }
        for change in changes {
            self.note_moved(change.turn, change.left);
        }
        self.reach(path, node)
    }

    fn write_stretch(
        &mut self,
        path: PathId,
        which: ChangeSide,
        first: NodeLabel,
        last: i64,
    ) -> Result<(), StoreError> {
        let is_selected = matches!(which, ChangeSide::Selected);
        self.execute(
            "UPDATE selections SET selected = ?5 WHERE path = ?1 AND branch = ?2 AND depth BETWEEN ?3 AND ?4",
            params![&path, &first.branch, first.depth, last, is_selected],
        )?;
        Ok(())
    }

    fn write_changes(
        &mut self,
        path: PathId,
        which: ChangeSide,
        changes: &[&SelectionChange],
    ) -> Result<(), StoreError> {
        static ONE: LazyLock<[String; 2]> = LazyLock::new(|| change_statements(1));
        static MANY: LazyLock<[String; 2]> = LazyLock::new(|| change_statements(CHANGES_PER_STATEMENT));
        let [leave, select] = if changes.len() == 1 { &*ONE } else { &*MANY };
        let mut bound = Vec::with_capacity(changes.len() * 4 + 1);
        bound.push(Value::from(&path));
        for change in changes {
            let (branch, node) = match which {
                ChangeSide::Left => (&change.left_branch, &change.left),
                ChangeSide::Selected => (&change.label.branch, &change.node),
            };
            bound.extend(params![branch, change.label.depth, &change.turn, node]);
        }
        self.execute(if matches!(which, ChangeSide::Left) { leave } else { select }, &bound)?;
        Ok(())
    }

    /// What is not selected of a node and its ancestors, from the root down.
    fn changes(&mut self, path: PathId, node: NodeId) -> Result<Vec<SelectionChange>, StoreError> {
        let found = self.all(&UNSELECTED, params![&node, &path], read_change)?;
        // Of the versions that share a label the one asked for counts, else the newest.
        let mut changes = BTreeMap::new();
        for change in found.into_iter().filter(|change| change.node != change.left) {
            let known = changes.entry((change.label.depth, change.turn)).or_insert(None::<SelectionChange>);
            let is_better = known.as_ref().is_none_or(|known| known.node != node && change.node > known.node);
            if is_better || change.node == node {
                *known = Some(change);
            }
        }
        Ok(changes.into_values().flatten().collect())
    }

    /// Notes how deep the path was led on each branch that has nodes it would not show by itself.
    fn reach(&mut self, path: PathId, node: NodeId) -> Result<(), StoreError> {
        let sql = format!(
            "{UPWARD} SELECT u.branch, u.depth FROM upward u
             LEFT JOIN path_reach r ON r.path = ?2 AND r.branch = u.branch
             WHERE EXISTS (SELECT 1 FROM nodes n WHERE n.branch = u.branch AND n.depth <= u.depth AND n.late = 1
                 AND n.depth > CASE WHEN r.depth IS NULL THEN 0 ELSE r.depth END)"
        );
        let reached =
            self.all(&sql, params![&node, &path], |row| Ok((NodeId::from_bytes(row.array(0)?), row.int(1)?)))?;
        for (branch, depth) in reached {
            self.execute(
                "INSERT INTO path_reach (path, branch, depth) VALUES (?1, ?2, ?3)
                 ON CONFLICT (path, branch) DO UPDATE SET depth = excluded.depth",
                params![&path, &branch, depth],
            )?;
        }
        Ok(())
    }

    /// Whether a node and everything it descends from is selected on a path.
    pub fn is_on_path(&mut self, viewer: &Viewer, path: PathId, node: NodeId) -> Result<bool, StoreError> {
        let row = self.node(viewer, node)?;
        Ok(row.place.is_some() && self.changes(path, node)?.is_empty())
    }

    /// The node of a turn that a path shows.
    pub fn selected_node(&mut self, viewer: &Viewer, path: PathId, turn: TurnId) -> Result<NodeId, StoreError> {
        self.turn(viewer, turn)?;
        self.selected_in(path, turn)?.ok_or_else(|| StoreError::Damaged(format!("{turn} shows nothing")))
    }

    pub(crate) fn selected_in(&mut self, path: PathId, turn: TurnId) -> Result<Option<NodeId>, StoreError> {
        let sql = "SELECT CASE WHEN s.node IS NULL THEN t.first_node ELSE s.node END FROM turns t
             LEFT JOIN selections s ON s.path = ?1 AND s.turn = t.id AND s.selected = 1 WHERE t.id = ?2";
        Ok(self.first(sql, params![&path, &turn], |row| row.array(0))?.map(NodeId::from_bytes))
    }
}

fn read_change(row: &dyn Row) -> Result<SelectionChange, SqlError> {
    let left_is_noted = row.optional_array::<16>(5)?.is_some();
    let left = if left_is_noted { 5 } else { 7 };
    Ok(SelectionChange {
        turn: TurnId::from_bytes(row.array(0)?),
        label: NodeLabel { branch: NodeId::from_bytes(row.array(1)?), depth: row.int(2)? },
        node: NodeId::from_bytes(row.array(3)?),
        is_noted: row.int(4)? == 1,
        left: NodeId::from_bytes(row.array(left)?),
        left_branch: NodeId::from_bytes(row.array(left + 1)?),
        left_is_noted,
    })
}
