//! Reads the trace of an execution from items: each call with its causes and its result. It outlives the rows of the
//! execution.

pub(crate) mod cost;
pub(crate) mod generations;

use serde_json::{Map, Value};
use skein_core::flow::execution::item_payload::{ExecutionBegun, ExecutionEnded, Trigger};
use skein_core::flow::execution::state::{ExecutionStatus, StepState};
use skein_core::garden::item::ItemType;
use skein_core::garden::relation::{Endpoint, RelationKind};
use skein_core::{ExecutionId, ItemId, Millis, Viewer};
use skein_store::flow::{ExecutionRow, StepRow};
use skein_store::timeline::items::{ItemQuery, StoredItem};
use skein_store::timeline::relations::RelationSide;
use skein_store::{StoreError, Tx};

use crate::engine::Engine;
use crate::flow::execution::lookup::{ShownExecution, ShownStep};

/// Most facts that are looked at to find how a forgotten run ended, or which runs it started.
const FACTS_LOOKED_AT_MAX: usize = 20_000;
const FACTS_AT_ONCE: usize = 500;
/// Most further causes that are told of one call.
const CAUSES_MAX: usize = 100;
/// Runs nest no deeper than processes may.
const DEPTH_MAX: usize = 11;

/// A call as it was written down, with what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedCall {
    /// The item that is the call.
    pub id: ItemId,
    /// The index of the step it was made for.
    pub step: usize,
    /// When it was written down.
    pub at: Millis,
    /// What it says; nothing once it was destroyed.
    pub said: Map<String, Value>,
    /// What led to it.
    pub caused_by: Option<ItemId>,
    /// What else it builds upon.
    pub derived_from: Vec<ItemId>,
    /// What came of it; nothing while it is under way.
    pub result: Option<TracedResult>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedResult {
    /// The item that is the result.
    pub id: ItemId,
    /// When it was written down.
    pub at: Millis,
    /// What it says; nothing once it was destroyed.
    pub said: Map<String, Value>,
}

/// The calls of a run, in the order they were made.
pub(crate) fn calls(tx: &mut Tx<'_>, viewer: &Viewer, run: ExecutionId) -> Result<Vec<TracedCall>, StoreError> {
    let made = tx.calls_of(run)?;
    made.into_iter().map(|(call, step)| traced(tx, viewer, call, step)).collect()
}

fn traced(tx: &mut Tx<'_>, viewer: &Viewer, call: ItemId, step: usize) -> Result<TracedCall, StoreError> {
    let stored = tx.item(viewer, call)?;
    let of = Endpoint::Item(call);
    let results = tx.relations(viewer, of, RelationSide::Incoming, Some(RelationKind::ResultOf), None, 1)?;
    let result = match results.rows.first().map(|relation| relation.source) {
        Some(Endpoint::Item(result)) => {
            let stored = tx.item(viewer, result)?;
            Some(TracedResult { id: result, at: stored.item.header.realized_at, said: said(&stored) })
        }
        _ => None,
    };
    let caused_by = tx.triggering(viewer, call)?.and_then(item_of);
    let further =
        tx.relations(viewer, of, RelationSide::Outgoing, Some(RelationKind::DerivedFrom), None, CAUSES_MAX)?;
    let derived_from = further.rows.iter().filter_map(|relation| item_of(relation.target)).collect();
    let at = stored.item.header.realized_at;
    Ok(TracedCall { id: call, step, at, said: said(&stored), caused_by, derived_from, result })
}

fn item_of(end: Endpoint) -> Option<ItemId> {
    match end {
        Endpoint::Item(item) => Some(item),
        _ => None,
    }
}

fn said(stored: &StoredItem) -> Map<String, Value> {
    stored.item.document().unwrap_or_default()
}

impl Engine {
    /// A run whose rows were forgotten, as its facts tell it.
    pub(crate) fn run_by_facts(
        &self,
        tx: &mut Tx<'_>,
        viewer: &Viewer,
        id: ExecutionId,
        depth: usize,
    ) -> Result<ShownExecution, StoreError> {
        let missing = || StoreError::NotFound(id.to_string());
        let stored = tx.item(viewer, ItemId::from_bytes(*id.as_bytes())).map_err(|error| match error {
            StoreError::NotFound(_) => missing(),
            error => error,
        })?;
        if stored.item.header.item_type != ItemType::EXECUTION_BEGUN || depth > DEPTH_MAX {
            return Err(missing());
        }
        let begun = ExecutionBegun::from_document(&said(&stored)).ok_or_else(missing)?;
        let (owner, began_at) = (stored.item.header.owner, stored.item.header.realized_at);
        let ended = find(tx, viewer, &ItemType::EXECUTION_ENDED, (began_at, None), |stored| {
            ExecutionEnded::from_document(&said(stored)).filter(|ended| ended.run_id == id)
        })?;
        let ended = ended.into_iter().next();
        let ended_at = ended.as_ref().map(|(at, _)| *at);
        let ended = ended.map(|(_, ended)| ended);
        let ready = self.parts().plans.of(tx, begun.process_id, begun.process_version)?;
        let calls = calls(tx, viewer, id)?;
        let names = ready.plan.steps().iter().map(|planned| planned.definition.id.clone());
        let steps = names.enumerate().map(|(step, name)| forgotten_step(step, name, ended.as_ref(), &calls)).collect();
        let children = self.children_by_facts(tx, viewer, id, (began_at, ended_at), depth)?;
        let parent = match begun.trigger {
            Trigger::Run { run_id, place } => Some((run_id, place)),
            Trigger::Person { .. } => None,
        };
        let status = ended.as_ref().map_or(ExecutionStatus::Running, |ended| ended.status);
        let name = ready.process.name.as_str().to_owned();
        let row = ExecutionRow {
            id,
            owner,
            process: begun.process_id,
            process_version: begun.process_version,
            process_name: name.clone(),
            status,
            context: begun.context,
            levels_left: 0,
            stack: vec![name],
            parent,
            target: begun.target,
            operation: None,
            branched_from: begun.branched_from,
            priority: 0,
            tokens: ended.as_ref().map_or(0, |ended| i64::try_from(ended.tokens).unwrap_or(i64::MAX)),
            output: ended.as_ref().filter(|_| status == ExecutionStatus::Completed).map(|ended| ended.output.clone()),
            failure: ended.and_then(|ended| ended.failure),
            created_at: began_at,
            ended_at,
            paused_at: None,
            session: id,
            cause: ItemId::from_bytes(*id.as_bytes()),
        };
        Ok(ShownExecution { row, steps, reviews: Vec::new(), children, calls })
    }

    fn children_by_facts(
        &self,
        tx: &mut Tx<'_>,
        viewer: &Viewer,
        id: ExecutionId,
        (began_at, ended_at): (Millis, Option<Millis>),
        depth: usize,
    ) -> Result<Vec<ShownExecution>, StoreError> {
        let is_child = |stored: &StoredItem| {
            let begun = ExecutionBegun::from_document(&said(stored))?;
            let is_child = matches!(begun.trigger, Trigger::Run { run_id, .. } if run_id == id);
            is_child.then(|| ExecutionId::from_bytes(*stored.item.header.id.as_bytes()))
        };
        let found = all(tx, viewer, &ItemType::EXECUTION_BEGUN, (began_at, ended_at), is_child)?;
        found.into_iter().map(|(_, child)| self.run_by_facts(tx, viewer, child, depth + 1)).collect()
    }
}

/// What the end of a run and its calls tell of a step.
fn forgotten_step(step: usize, id: String, ended: Option<&ExecutionEnded>, calls: &[TracedCall]) -> ShownStep {
    let told = ended.and_then(|ended| ended.steps.get(step));
    let last = calls.iter().rfind(|call| call.step == step && call.said.get("caller") != Some(&Value::from("model")));
    let given = |call: &TracedCall| match call.said.get("inputs") {
        Some(Value::Object(inputs)) => inputs.clone(),
        _ => Map::new(),
    };
    let result = last.and_then(|call| call.result.as_ref());
    let state = StepState {
        phase: told.map(|told| told.phase).unwrap_or_default(),
        attempt: told.map_or(0, |told| told.attempts),
        fault: told.and_then(|told| told.fault.clone()),
        inputs: last.map(given).unwrap_or_default(),
        output: result.and_then(|result| result.said.get("output").cloned()).unwrap_or_default(),
        began_at: last.map(|call| call.at),
        ended_at: result.map(|result| result.at),
        ..StepState::default()
    };
    let raw = result.and_then(|result| result.said.get("rawResponseId")?.as_str()?.parse().ok());
    let row = StepRow { state, call: last.map(|call| call.id), raw, ..StepRow::waiting(step) };
    ShownStep { id, row }
}

/// The first fact of a type in a span of time that is meant.
fn find<T>(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    item_type: &ItemType,
    span: (Millis, Option<Millis>),
    meant: impl Fn(&StoredItem) -> Option<T>,
) -> Result<Option<(Millis, T)>, StoreError> {
    let mut found = None;
    walk(tx, viewer, item_type, span, |stored| {
        found = meant(stored).map(|meant| (stored.item.header.realized_at, meant));
        found.is_none()
    })?;
    Ok(found)
}

/// Every fact of a type in a span of time that is meant.
fn all<T>(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    item_type: &ItemType,
    span: (Millis, Option<Millis>),
    meant: impl Fn(&StoredItem) -> Option<T>,
) -> Result<Vec<(Millis, T)>, StoreError> {
    let mut found = Vec::new();
    walk(tx, viewer, item_type, span, |stored| {
        found.extend(meant(stored).map(|meant| (stored.item.header.realized_at, meant)));
        true
    })?;
    Ok(found)
}

fn walk(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    item_type: &ItemType,
    (from, until): (Millis, Option<Millis>),
    mut goes_on: impl FnMut(&StoredItem) -> bool,
) -> Result<(), StoreError> {
    let (mut after, mut looked_at) = (None, 0);
    loop {
        let query = ItemQuery {
            item_type: Some(item_type.clone()),
            from: Some(from),
            until: until.map(|until| until.plus(1)),
            after,
            limit: FACTS_AT_ONCE,
            ..ItemQuery::default()
        };
        let page = tx.items(viewer, &query)?;
        looked_at += page.rows.len();
        if !page.rows.iter().all(&mut goes_on) {
            return Ok(());
        }
        after = page.next;
        if after.is_none() || looked_at >= FACTS_LOOKED_AT_MAX {
            return Ok(());
        }
    }
}
