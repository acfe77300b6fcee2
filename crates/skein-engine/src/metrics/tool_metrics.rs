//! Summarises recent calls of tools: their number, failures, latencies and last error.
//!
//! A catalogue asks this about all the tools in sight. What is measured is everybody's own: nobody learns how others use a
//! tool. Only the caller's last calls of a tool are looked at, and of a run only a few, so the answer costs the same in every
//! store.

use serde_json::{Map, Value};
use skein_core::catalog::tool::Tool;
use skein_core::flow::latency::Latency;
use skein_core::{ExecutionId, ItemId, Millis, RecordId, Viewer};
use skein_store::metrics::LastMeasurement;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::load;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::trace::generations::{failure_words, said, tool_of};

/// Most tools that are asked about at once.
pub const TOOL_METRICS_MAX: usize = 100;
/// How many of one's last calls of a tool are looked at.
const CALLS_LOOKED_AT: i64 = 500;
/// How many calls of a run are looked at for the one that failed: it was among the last that the run had made by then.
const CALLS_OF_RUN_MAX: i64 = 32;

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
    pub run: Option<ExecutionId>,
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
    Ok(found)
}

fn of(tx: &mut Tx<'_>, viewer: &Viewer, tool: RecordId) -> Result<ToolMetrics, StoreError> {
    let calls = tx.last_measured(viewer, tool, "latency_ms", CALLS_LOOKED_AT)?;
    let since = calls.last().map(|call| call.at);
    let failures = tx.last_measured(viewer, tool, "errors", CALLS_LOOKED_AT)?;
    let failures: Vec<LastMeasurement> = failures.into_iter().filter(|one| Some(one.at) >= since).collect();
    let last_failure = match failures.first() {
        Some(last) => Some(LastFailure { at: last.at, run: last.run, message: words(tx, viewer, tool, last)? }),
        None => None,
    };
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

/// What went wrong, by the facts of the run in which it did.
fn words(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    tool: RecordId,
    failure: &LastMeasurement,
) -> Result<Option<String>, StoreError> {
    let Some(run) = failure.run else { return Ok(None) };
    for call in tx.calls_before(run, failure.at, CALLS_OF_RUN_MAX)? {
        let Some(result) = call.result else { continue };
        // What another tool brought back may be large, and is not read.
        if fact(tx, viewer, call.call)?.and_then(|said| tool_of(&said)) != Some(tool) {
            continue;
        }
        if let Some(words) = fact(tx, viewer, result)?.and_then(|said| failure_words(&said)) {
            return Ok(Some(words));
        }
    }
    Ok(None)
}

fn fact(tx: &mut Tx<'_>, viewer: &Viewer, id: ItemId) -> Result<Option<Map<String, Value>>, StoreError> {
    Ok(tx.items_among(viewer, &[id])?.get(&id).map(said))
}
