//! Rolls a conversation back when an answer fails: records what requesting it changes, and changes that back in the
//! transaction that ends the execution (rule BR-EXEC-001).
//!
//! `skein_core::tree::rollback` decides what comes back. The failed node itself stays as a failed alternative.

use skein_core::catalog::entry::Entry as _;
use skein_core::flow::execution::item_payload::{ExecutionBegun, OutputTarget};
use skein_core::tree::actor::ActorId;
use skein_core::tree::conversation::{Conversation, ConversationStatus};
use skein_core::tree::node_status::GenerationStatus;
use skein_core::tree::rollback::{
    CurrentState, FailedAnswer, PriorHint, PriorPath, Rollback, archived_until, rollback, shown_instead,
};
use skein_core::{ExecutionId, ItemId, NodeId, PathId, Viewer};
use skein_store::tree::read::NODES_PER_PAGE_MAX;
use skein_store::tree::{NodeRow, PathChange};
use skein_store::{StoreError, Tx};

use crate::catalog::StoredEntry;
use crate::flow::execution::transaction::ExecutionTransaction;
use crate::flow::trace::generations::said;
use crate::tree::usable_hint;

/// Most answers that failed one after another and are rolled back together.
const FAILED_MAX: usize = 100;

/// Where a path stood before it was led to `node`.
pub(crate) fn prior_path(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    cursor: Option<NodeId>,
    node: &NodeRow,
    moved: &PathChange,
) -> Result<PriorPath, StoreError> {
    let awaited = match cursor.filter(|cursor| Some(*cursor) != node.parent) {
        Some(cursor) => tx.node(viewer, cursor)?.status == GenerationStatus::Pending,
        None => false,
    };
    Ok(PriorPath::of(cursor, awaited, &moved.left))
}

/// What an execution was begun with, unless that was destroyed.
pub(crate) fn begun(tx: &mut Tx<'_>, viewer: &Viewer, run: ExecutionId) -> Result<Option<ExecutionBegun>, StoreError> {
    match tx.item(viewer, ItemId::from_bytes(*run.as_bytes())) {
        Ok(stored) => Ok(ExecutionBegun::from_document(&said(&stored))),
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The execution that generates a node, also after its rows were forgotten.
pub(crate) fn run_of_node(tx: &mut Tx<'_>, viewer: &Viewer, node: NodeId) -> Result<Option<ExecutionId>, StoreError> {
    if let Some(row) = tx.execution_of_node(node)? {
        return Ok(Some(row.id));
    }
    Ok(tx.removed_executions_of_nodes(viewer, &[node])?.remove(&node))
}

impl ExecutionTransaction<'_, '_> {
    /// Gives the conversation back what the request for a failed answer changed, unless somebody went on meanwhile.
    pub(crate) fn roll_back(
        &mut self,
        viewer: &Viewer,
        run: ExecutionId,
        target: OutputTarget,
    ) -> Result<(), StoreError> {
        let conversation = target.conversation_id;
        let failed = failed_answers(self.tx, viewer, run)?;
        let path = PathId::main_of(conversation);
        let cursor = self.tx.path_cursor(viewer, conversation, path)?;
        let current: StoredEntry<Conversation> = self.tx.record(viewer, conversation.into())?.try_into()?;
        let Rollback { cursor, shown, hint } =
            rollback(&failed, CurrentState { cursor, hint: current.entry.process_id });
        if let Some(cursor) = cursor {
            let actor = ActorId::from(self.tx.conversation(viewer, conversation)?.owner);
            self.tx.return_path(viewer, path, actor, cursor, shown)?;
        }
        show_another(self.tx, viewer, path, target.node_id)?;
        let archive = match archived_until(&failed) {
            Some(since) => !self.tx.is_said_since(viewer, conversation, since)?,
            None => false,
        };
        restore(self.tx, viewer, &current, hint, archive)
    }
}

/// A turn that shows a failed answer shows another alternative instead, wherever the path stands: of several answers that were
/// asked for at once, the first is shown before any is complete.
fn show_another(tx: &mut Tx<'_>, viewer: &Viewer, path: PathId, failed: NodeId) -> Result<(), StoreError> {
    let Some(turn) = tx.node(viewer, failed)?.turn() else { return Ok(()) };
    if tx.selected_node(viewer, path, turn)? != failed {
        return Ok(());
    }
    let (row, page) = tx.alternatives(viewer, path, turn, Some(failed), None, NODES_PER_PAGE_MAX)?;
    let others: Vec<_> = page.rows.iter().map(|seen| (seen.row.id, seen.row.status)).collect();
    let Some(shown) = shown_instead(&others) else { return Ok(()) };
    let cursor = tx.path_cursor(viewer, row.conversation, path)?.filter(|cursor| *cursor != failed);
    let actor = ActorId::from(tx.conversation(viewer, row.conversation)?.owner);
    tx.return_path(viewer, path, actor, cursor.unwrap_or(shown), vec![shown]).map(drop)
}

/// The answer of a run, then those the path stood on before it that failed as well.
fn failed_answers(tx: &mut Tx<'_>, viewer: &Viewer, run: ExecutionId) -> Result<Vec<FailedAnswer>, StoreError> {
    let (mut failed, mut next) = (Vec::new(), Some(run));
    while let Some(run) = next.take().filter(|_| failed.len() < FAILED_MAX) {
        let Some(ExecutionBegun { process_id, target: Some(target), prior, .. }) = begun(tx, viewer, run)? else {
            break;
        };
        let answer = FailedAnswer { node_id: target.node_id, parent_id: target.parent_id, process_id, prior };
        if let Some(earlier) = answer.awaited_before()
            && tx.node(viewer, earlier)?.status == GenerationStatus::Failed
        {
            next = run_of_node(tx, viewer, earlier)?;
        }
        failed.push(answer);
    }
    Ok(failed)
}

/// A process that can no longer be used is not offered again (rule BR-CONV-001).
fn restore(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    current: &StoredEntry<Conversation>,
    hint: Option<PriorHint>,
    archive: bool,
) -> Result<(), StoreError> {
    let mut next = current.entry.clone();
    if let Some(PriorHint { process_id }) = hint {
        next.process_id = match process_id {
            Some(process) => usable_hint(tx, viewer.owner(), process)?.unwrap_or(false).then_some(process),
            None => None,
        };
    }
    if archive {
        next.status = ConversationStatus::Archived;
    }
    if next == current.entry {
        return Ok(());
    }
    tx.update_of_tree(viewer, current.id, current.hash, next.to_content(false))?;
    Ok(())
}
