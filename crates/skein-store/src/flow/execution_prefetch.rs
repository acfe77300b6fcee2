//! Prefetches executions: on PostgreSQL because the functions of one transaction are about them, and
//! they are locked and read in one go; on SQLite because the one thread that writes left them so
//! ([`crate::db::sqlite::writer_cache`]).

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value as Json};
use skein_core::flow::cost::Cost;
use skein_core::flow::execution::input::Fault;
use skein_core::{ExecutionId, ItemId};

use crate::db::postgres::PostgresTransaction;
use crate::db::sql::{OffsetRow, Row};
use crate::error::SqlError;
use crate::flow::executions::{COLUMNS, ExecutionRow, StepRow, read_execution, read_step};
use crate::flow::projection::LastCall;

/// A transaction that locks several waits for nobody: each that cannot be had at once is moved by itself, and waits alone.
static LOCK: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH held AS (SELECT id FROM executions WHERE id = ANY(?1) FOR UPDATE NOWAIT)
         UPDATE executions SET priority = priority WHERE id IN (SELECT id FROM held) RETURNING {COLUMNS}"
    )
});
const STEPS: &str = "WITH run AS MATERIALIZED (SELECT e.id AS run, c.id, c.sequence FROM executions e LEFT JOIN LATERAL (
         SELECT t.id, t.sequence FROM tool_calls t WHERE t.owner = e.owner AND t.session = e.id ORDER BY t.sequence DESC LIMIT 1
     ) c ON true WHERE e.id = ANY(?1))
     SELECT run.run, run.id, run.sequence, s.step, s.phase, s.attempt, s.inputs, s.output, s.fault, s.dialogue, s.tokens, s.call,
         s.raw, s.began_at, s.ended_at, s.is_open
     FROM run JOIN execution_steps s ON s.run = run.run ORDER BY s.run, s.step";

/// Bytes up to which a run is kept in memory.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// A run as [`crate::Tx::locked_execution`] and [`crate::Tx::steps_and_last_call`] would give it; each is given once, for
/// what is written afterwards is not in it.
#[derive(Debug, PartialEq)]
pub(crate) struct ExecutionPrefetch {
    row: Option<ExecutionRow>,
    steps: Option<(Vec<StepRow>, Option<LastCall>)>,
    pub(crate) id: ExecutionId,
    /// Bytes it takes where it is kept, roughly.
    pub(crate) weight: usize,
}

impl ExecutionPrefetch {
    /// A run as a move left it, unless it takes too much room.
    pub(crate) fn left(row: ExecutionRow, steps: Vec<StepRow>, last: Option<LastCall>) -> Option<Self> {
        let weight = weight_of_row(&row) + steps.iter().map(weight_of_step).sum::<usize>();
        let is_small = weight <= KEPT_BYTES_MAX && steps.iter().all(|step| step.state.dialogue.is_none());
        is_small.then_some(Self { id: row.id, row: Some(row), steps: Some((steps, last)), weight })
    }

    pub(crate) fn row(&mut self, run: ExecutionId) -> Option<ExecutionRow> {
        self.row.take_if(|row| row.id == run)
    }

    pub(crate) fn steps(&mut self, run: ExecutionId) -> Option<(Vec<StepRow>, Option<LastCall>)> {
        self.steps.take_if(|_| self.id == run)
    }

    /// Locks runs until the transaction ends, and reads them and their steps.
    pub(crate) fn of(
        sql: &mut PostgresTransaction<'_>,
        runs: &[ExecutionId],
    ) -> Result<HashMap<ExecutionId, Self>, SqlError> {
        let ids: Vec<&[u8]> = runs.iter().map(|run| &run.as_bytes()[..]).collect();
        let mut ahead = HashMap::new();
        for row in sql.of_ids(&LOCK, &ids)? {
            let row = read_execution(&row)?;
            // It is gone with the transaction.
            let weight = 0;
            ahead.insert(row.id, Self { id: row.id, row: Some(row), steps: Some((Vec::new(), None)), weight });
        }
        for row in sql.of_ids(STEPS, &ids)? {
            let row: &dyn Row = &row;
            let Some(of) = ahead.get_mut(&ExecutionId::from_bytes(row.array(0)?)) else { continue };
            let (steps, last) = of.steps.get_or_insert_default();
            if let (Some(call), Some(sequence)) = (row.optional_array(1)?, row.optional_int(2)?) {
                *last = Some(LastCall { call: ItemId::from_bytes(call), sequence });
            }
            steps.push(read_step(&OffsetRow(row, 3))?);
        }
        Ok(ahead)
    }
}

fn weight_of_row(row: &ExecutionRow) -> usize {
    let failure = row.failure.as_ref().map_or(0, |failure| {
        let words = failure.process_name.len() + failure.suggested_action.len();
        words + failure.step_id.as_ref().map_or(0, String::len) + weight_of_fault(&failure.fault)
    });
    size_of::<ExecutionRow>()
        + row.process_name.len()
        + weight_of(&row.context)
        + row.stack.iter().map(|name| size_of::<String>() + name.len()).sum::<usize>()
        + row.output.as_ref().map_or(0, weight)
        + failure
}

fn weight_of_step(step: &StepRow) -> usize {
    size_of::<StepRow>()
        + weight_of(&step.state.inputs)
        + weight(&step.state.output)
        + step.state.fault.as_ref().map_or(0, weight_of_fault)
        + step.owed.costs().count() * size_of::<Cost>()
}

fn weight_of_fault(fault: &Fault) -> usize {
    fault.code.len() + fault.message.len() + fault.rule.as_ref().map_or(0, String::len) + weight(&fault.details)
}

fn weight(value: &Json) -> usize {
    let words = match value {
        Json::String(text) => text.len(),
        Json::Array(values) => values.iter().map(weight).sum(),
        Json::Object(object) => weight_of(object),
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
    };
    size_of::<Json>() + words
}

fn weight_of(object: &Map<String, Json>) -> usize {
    object.iter().map(|(name, value)| size_of::<String>() + name.len() + weight(value)).sum()
}
