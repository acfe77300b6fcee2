//! How tools did lately, in brief: how many calls, how many of them failed, how long they took, and what went wrong last.
//!
//! A catalogue asks this about all the tools in sight. What is measured is everybody's own: nobody learns how others use a
//! tool. Only the last calls of a tool are looked at, whoever made them, so the answer costs the same in every store.

use std::collections::HashMap;

use skein_core::catalog::tool::Tool;
use skein_core::flow::latency::Latency;
use skein_core::{Millis, RecordId, RunId, Viewer};
use skein_store::flow::LastMeasured;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::load;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::makings::{failure_words, said, tool_of};

/// Most tools that are asked about at once.
pub const TOOL_METRICS_MAX: usize = 100;
/// How many of a tool's last calls are looked at.
const CALLS_LOOKED_AT: i64 = 500;

/// How one tool did in the caller's own runs.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolMetrics {
    /// The tool.
    pub tool: RecordId,
    /// Calls that were looked at.
    pub calls: usize,
    /// Those of them that did not succeed.
    pub failures: usize,
    /// How long they took.
    pub latency: Option<Latency>,
    /// When the earliest of them ended.
    pub since: Option<Millis>,
    /// When the latest of them ended.
    pub last_call_at: Option<Millis>,
    /// The last of them that did not succeed.
    pub last_failure: Option<LastFailure>,
}

/// A call that did not succeed.
#[derive(Debug, Clone, PartialEq)]
pub struct LastFailure {
    /// When it ended.
    pub at: Millis,
    /// The run that made it.
    pub run: Option<RunId>,
    /// What went wrong; nothing once that was destroyed.
    pub message: Option<String>,
}

impl Engine {
    /// How these tools did lately, as far as the caller may see them.
    pub async fn tool_metrics(&self, caller: &Caller, tools: Vec<RecordId>) -> Result<Vec<ToolMetrics>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| metrics(tx, &viewer, &tools)).await?)
    }
}

fn metrics(tx: &mut Tx<'_>, viewer: &Viewer, tools: &[RecordId]) -> Result<Vec<ToolMetrics>, StoreError> {
    let mut found = Vec::with_capacity(tools.len());
    for tool in tools {
        match load::<Tool>(tx, viewer, *tool) {
            Ok(_) => found.push(of(tx, viewer, *tool)?),
            Err(StoreError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    explain(tx, viewer, &mut found)?;
    Ok(found)
}

fn of(tx: &mut Tx<'_>, viewer: &Viewer, tool: RecordId) -> Result<ToolMetrics, StoreError> {
    let calls = tx.last_measured(viewer, tool, "latency_ms", CALLS_LOOKED_AT)?;
    let since = calls.last().map(|call| call.at);
    let failures = tx.last_measured(viewer, tool, "errors", CALLS_LOOKED_AT)?;
    let failures: Vec<LastMeasured> = failures.into_iter().filter(|one| Some(one.at) >= since).collect();
    let last_failure = failures.first().map(|one| LastFailure { at: one.at, run: one.run, message: None });
    Ok(ToolMetrics {
        tool,
        calls: calls.len(),
        // What was measured at one moment need not be cut off at the same call.
        failures: failures.len().min(calls.len()),
        latency: Latency::of(calls.iter().map(|call| call.value).collect()),
        since,
        last_call_at: calls.first().map(|call| call.at),
        last_failure,
    })
}

/// What went wrong last, by the facts of the runs in which it did.
fn explain(tx: &mut Tx<'_>, viewer: &Viewer, found: &mut [ToolMetrics]) -> Result<(), StoreError> {
    let runs: Vec<RunId> = found.iter().filter_map(|one| one.last_failure.as_ref()?.run).collect();
    let calls = tx.calls_of_runs(&runs)?;
    let wanted: Vec<_> = calls.iter().flat_map(|call| [Some(call.call), call.result]).flatten().collect();
    let facts: HashMap<_, _> =
        tx.items_among(viewer, &wanted)?.into_iter().map(|(id, stored)| (id, said(&stored))).collect();
    for one in found {
        let Some(failure) = &mut one.last_failure else { continue };
        let mine = calls.iter().rev().filter(|call| Some(call.run) == failure.run);
        let mut results = mine.filter(|call| facts.get(&call.call).and_then(tool_of) == Some(one.tool));
        failure.message = results.find_map(|call| failure_words(facts.get(&call.result?)?));
    }
    Ok(())
}
