//! Reads which executions made which nodes, and their calls: many answers at once, in a few statements.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use skein_core::id::Entropy;
use skein_core::{ExecutionId, ItemId, Millis, NodeId, UserId, Viewer};

use crate::db::sql::{IDS_PER_STATEMENT, Row, Value, filled, params, places};
use crate::error::{SqlError, StoreError};
use crate::timeline::items::{ITEM_COLUMNS, StoredItem, checked, read_item};
use crate::tx::Tx;

/// Runs that fill these nodes' places, the latest of each node last.
static BY_ROWS: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT e.node, e.id, e.owner FROM executions e WHERE e.node IN ({}) ORDER BY e.id", places(1))
});

/// The same from facts: whatever led to a node was a call of the run that made it.
static BY_CALLS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT r.target, c.run, c.owner FROM relations r LEFT JOIN tool_calls c ON c.id = r.source
         WHERE r.target IN ({}) AND r.kind = 'triggers'",
        places(1)
    )
});

static STARTED: LazyLock<String> =
    LazyLock::new(|| format!("SELECT e.parent, e.id FROM executions e WHERE e.parent IN ({})", places(1)));

static CALLS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT c.run, c.id, r.source FROM tool_calls c
         LEFT JOIN relations r ON r.owner = c.owner AND r.kind = 'result_of' AND r.target = c.id
         WHERE c.run IN ({}) ORDER BY c.run, c.sequence",
        places(1)
    )
});

const CALLS_BEFORE: &str = "SELECT c.run, c.id, r.source FROM tool_calls c
     LEFT JOIN relations r ON r.owner = c.owner AND r.kind = 'result_of' AND r.target = c.id
     WHERE c.run = ?1 AND c.id <= ?2 ORDER BY c.id DESC LIMIT ?3";

static ITEMS: LazyLock<String> = LazyLock::new(|| {
    let items = "items i LEFT JOIN item_marks m ON m.item = i.id";
    format!("SELECT {ITEM_COLUMNS} FROM {items} WHERE i.id IN ({})", places(1))
});

/// A call of a run, and the item that says what came of it, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecutionCall {
    pub run: ExecutionId,
    pub call: ItemId,
    pub result: Option<ItemId>,
}

fn read_call(row: &dyn Row) -> Result<ExecutionCall, SqlError> {
    Ok(ExecutionCall {
        run: ExecutionId::from_bytes(row.array(0)?),
        call: ItemId::from_bytes(row.array(1)?),
        result: row.optional_array(2)?.map(ItemId::from_bytes),
    })
}

impl Tx<'_> {
    /// The run that made each of these nodes, or is making it, as far as they are the viewer's to see.
    pub fn executions_of_nodes(
        &mut self,
        viewer: &Viewer,
        nodes: &[NodeId],
    ) -> Result<HashMap<NodeId, ExecutionId>, StoreError> {
        self.run_of_each(viewer, &BY_ROWS, nodes)
    }

    /// The same for runs whose rows were forgotten, by the call that led to each node.
    pub fn removed_executions_of_nodes(
        &mut self,
        viewer: &Viewer,
        nodes: &[NodeId],
    ) -> Result<HashMap<NodeId, ExecutionId>, StoreError> {
        self.run_of_each(viewer, &BY_CALLS, nodes)
    }

    fn run_of_each(
        &mut self,
        viewer: &Viewer,
        sql: &str,
        nodes: &[NodeId],
    ) -> Result<HashMap<NodeId, ExecutionId>, StoreError> {
        let now = self.now();
        let read = |row: &dyn Row| {
            let run =
                row.optional_array(1)?.map(ExecutionId::from_bytes).zip(row.optional_array(2)?.map(UserId::from_bytes));
            Ok((NodeId::from_bytes(row.array(0)?), run))
        };
        let mut found = HashMap::new();
        for some in nodes.chunks(IDS_PER_STATEMENT) {
            let rows = self.all(sql, &filled(some).collect::<Vec<_>>(), read)?;
            let seen = rows.into_iter().filter_map(|(node, run)| Some((node, run?)));
            found.extend(
                seen.filter(|(_, (_, owner))| viewer.may_read(*owner, now)).map(|(node, (run, _))| (node, run)),
            );
        }
        Ok(found)
    }

    /// These runs and all that they started, each with the one of these that it belongs to.
    pub fn with_started(&mut self, runs: &[ExecutionId]) -> Result<HashMap<ExecutionId, ExecutionId>, StoreError> {
        let mut belongs: HashMap<ExecutionId, ExecutionId> = runs.iter().map(|run| (*run, *run)).collect();
        let mut level: Vec<ExecutionId> = runs.to_vec();
        while !level.is_empty() {
            let mut next = HashSet::new();
            for some in level.chunks(IDS_PER_STATEMENT) {
                let read = |row: &dyn Row| {
                    Ok((ExecutionId::from_bytes(row.array(0)?), ExecutionId::from_bytes(row.array(1)?)))
                };
                for (parent, child) in self.all(&STARTED, &filled(some).collect::<Vec<_>>(), read)? {
                    let root = belongs[&parent];
                    if belongs.insert(child, root).is_none() {
                        next.insert(child);
                    }
                }
            }
            level = next.into_iter().collect();
        }
        Ok(belongs)
    }

    /// The calls of these runs, those of one run in the order they were made.
    pub fn calls_of_executions(&mut self, runs: &[ExecutionId]) -> Result<Vec<ExecutionCall>, StoreError> {
        let mut calls = Vec::new();
        for some in runs.chunks(IDS_PER_STATEMENT) {
            calls.extend(self.all(&CALLS, &filled(some).collect::<Vec<_>>(), read_call)?);
        }
        Ok(calls)
    }

    /// The last calls that a run had made by a moment, newest first.
    pub fn calls_before(&mut self, run: ExecutionId, at: Millis, limit: i64) -> Result<Vec<ExecutionCall>, StoreError> {
        let latest = ItemId::new(at, Entropy([0xff; 10]));
        self.all(CALLS_BEFORE, params![&run, &latest, limit], read_call)
    }

    /// Those of these facts that are the viewer's to see.
    pub fn items_among(&mut self, viewer: &Viewer, ids: &[ItemId]) -> Result<HashMap<ItemId, StoredItem>, StoreError> {
        let now = self.now();
        let mut found = HashMap::with_capacity(ids.len());
        for some in ids.chunks(IDS_PER_STATEMENT) {
            let bound: Vec<Value<'_>> = filled(some).collect();
            for stored in self.all(&ITEMS, &bound, |row| Ok(read_item(row)))? {
                let stored = checked(stored?)?;
                if viewer.may_read(stored.item.header.owner, now) {
                    found.insert(stored.item.header.id, stored);
                }
            }
        }
        Ok(found)
    }
}
