//! Projects the transitions of an execution into rows of calls and causes.

use skein_core::flow::execution::item_payload::ExecutionMoved;
use skein_core::garden::item::Item;
use skein_core::garden::relation::{Endpoint, RelationAttributes, RelationDraft};
use skein_core::{ExecutionId, ItemId, UserId};

use crate::db::sql::{DeferredStatement, params};
use crate::error::StoreError;
use crate::flow::executions::{index, whole};
use crate::timeline::projection::{OnConflict, ProjectionResult};
use crate::tx::Tx;

/// The call a session made last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastCall {
    pub call: ItemId,
    pub sequence: i64,
}

impl Tx<'_> {
    pub(crate) fn project_execution_moved(&mut self, item: &Item) -> ProjectionResult {
        let Some(moved) = item.payload.as_ref().and_then(ExecutionMoved::of) else { return Ok(None) };
        for made in &moved.calls {
            if made.session != moved.run_id {
                // The outermost run numbers its calls after this one.
                self.sql.forget_run(made.session);
            }
            let sql =
                "INSERT INTO tool_calls (id, owner, session, sequence, run, step) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let (owner, step) = (&item.header.owner, whole(made.place.step));
            let values = params![&made.call_id, owner, &made.session, made.sequence, &moved.run_id, step];
            self.execute_later(DeferredStatement::new("tool_calls", sql, values))?;
        }
        for (index, link) in moved.links.iter().enumerate() {
            let (source, target) = (Endpoint::Item(link.source), Endpoint::Item(link.target));
            let Ok(draft) = RelationDraft::new(link.kind.relation(), source, target, RelationAttributes::default())
            else {
                return Ok(None);
            };
            // A person may have said before what came of a call; a run does not stand still for that.
            self.insert_relation(item, ExecutionMoved::relation_id(item.header.id, index), draft, OnConflict::Leave)?;
        }
        Ok(Some(()))
    }

    /// The call a session made last.
    pub fn last_call(&mut self, owner: UserId, session: ExecutionId) -> Result<Option<LastCall>, StoreError> {
        let sql =
            "SELECT id, sequence FROM tool_calls WHERE owner = ?1 AND session = ?2 ORDER BY sequence DESC LIMIT 1";
        self.first(sql, params![&owner, &session], |row| {
            Ok(LastCall { call: ItemId::from_bytes(row.array(0)?), sequence: row.int(1)? })
        })
    }

    /// The calls of a run in the order they were made, each with the step it was made for.
    pub fn calls_of(&mut self, run: ExecutionId) -> Result<Vec<(ItemId, usize)>, StoreError> {
        let sql = "SELECT id, step FROM tool_calls WHERE run = ?1 ORDER BY sequence";
        self.all(sql, params![&run], |row| Ok((ItemId::from_bytes(row.array(0)?), index(row.int(1)?)?)))
    }
}
