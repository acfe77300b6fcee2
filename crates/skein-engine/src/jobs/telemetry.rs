//! Sends the traces of completed executions to a collector.
//!
//! Where a collector is configured, the transaction that ends an outermost run also queues that it is told, so no crash
//! loses it and no run waits for it. Whoever works in the background reads the run again, makes spans of it and sends them.
//! A collector that is away or busy is tried again, later and later; after a day, or a dozen tries, the run is let go of,
//! with a line in the log and a count.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use skein_connect::telemetry::{Collector, DeliveryError};
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_core::flow::telemetry::{CallTrace, ExecutionTrace, Span, StepTrace, ToolTrace, TracedContent, spans};
use skein_core::{ExecutionId, RecordId, Viewer};
use skein_store::jobs::{AfterFailure, Job, JobDraft};
use skein_store::{StoreError, Tx};

use crate::catalog::{StoredEntry, load};
use crate::engine::Engine;
use crate::flow::SYSTEM;
use crate::flow::execution::lookup::ShownExecution;
use crate::flow::trace::TracedCall;
use crate::request::referred;

const QUEUE: &str = "telemetry";
const LEASE_MS: i64 = 120_000;
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Spans of one request: a run may have very many, and collectors refuse what is too large.
const SPANS_AT_ONCE: usize = 500;
/// How often a run is tried to be told.
const TRIES_MAX: i64 = 12;
/// How long it is tried.
const TRIED_FOR_MS: i64 = 24 * 60 * 60 * 1_000;
/// The longest pause before the next try of the same run.
const PAUSE_MAX: Duration = Duration::from_mins(5);
/// The longest time nothing is told at all because a collector is away.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// Where runs are told, and what has become of that so far.
#[derive(Debug)]
pub struct Telemetry {
    collector: Collector,
    content: TracedContent,
    counts: Mutex<TelemetryCounts>,
}

/// What this process has told a collector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TelemetryCounts {
    /// Spans it took.
    pub spans: u64,
    /// Spans it did not want.
    pub rejected: u64,
    /// Tries that failed.
    pub failures: u64,
    /// Runs that were let go of.
    pub dropped: u64,
}

impl Telemetry {
    /// Tells `collector` of runs; what was said in them only where `content` says so.
    pub fn new(collector: Collector, content: TracedContent) -> Self {
        Self { collector, content, counts: Mutex::default() }
    }

    fn counts(&self) -> TelemetryCounts {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What belongs together is counted together: whoever reads sees all of it or nothing.
    fn count(&self, happened: impl FnOnce(&mut TelemetryCounts)) {
        happened(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Engine {
    /// What was told of runs, since this process started.
    pub fn telemetry_counts(&self) -> TelemetryCounts {
        self.parts().gateway.telemetry().map(Telemetry::counts).unwrap_or_default()
    }
}

/// Has a run told that ends in this transaction.
pub(crate) fn enqueue(tx: &mut Tx<'_>, owner: &Viewer, run: ExecutionId) -> Result<(), StoreError> {
    tx.enqueue(owner, &JobDraft::new(QUEUE, json!({ "run": run }).to_string())).map(drop)
}

/// What became of a try.
enum DeliveryAttempt {
    Settled,
    /// The collector is away: nobody is told for a while.
    Away,
}

/// Tells runs for as long as it is polled; nobody where nobody is to be told.
pub(crate) async fn tell(engine: &Engine, worker: &str) {
    let Some(telemetry) = engine.parts().gateway.telemetry() else { return };
    let store = &engine.parts().store;
    let mut rung = store.job_wake().subscribe();
    let mut failed: u32 = 0;
    loop {
        match store.claim_job(QUEUE, worker, LEASE_MS).await {
            Ok(Some(job)) => match carry_out(engine, telemetry, &job).await {
                DeliveryAttempt::Settled => failed = 0,
                DeliveryAttempt::Away => {
                    failed = failed.saturating_add(1);
                    tokio::time::sleep(pause(failed).min(SILENCE_MAX)).await;
                }
            },
            Ok(None) => _ = tokio::time::timeout(LOOK_EVERY, rung.changed()).await,
            Err(error) => {
                tracing::debug!(%error, "could not look for runs to tell");
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    }
}

async fn carry_out(engine: &Engine, telemetry: &Telemetry, job: &Job) -> DeliveryAttempt {
    let payload: Value = serde_json::from_str(&job.payload).unwrap_or_default();
    let Ok(run) = referred::<ExecutionId>(&payload, "run") else {
        return let_go(engine, telemetry, job, "its job cannot be read").await;
    };
    let (own, owner) = (engine.clone(), Viewer::User(job.owner));
    let read = move |tx: &mut Tx<'_>| Ok((own.run_trace(tx, &owner, run)?, tx.now()));
    let (trace, now) = match engine.parts().store.read(read).await {
        Ok(read) => read,
        Err(error @ (StoreError::NotFound(_) | StoreError::Damaged(_))) => {
            return let_go(engine, telemetry, job, &error.to_string()).await;
        }
        Err(error) => return later(engine, telemetry, job, &error.to_string(), None).await,
    };
    let told = tell_all(engine, telemetry, job, &spans(&trace, telemetry.content)).await;
    match told {
        Ok(()) => {
            take_off_queue(engine, job).await;
            DeliveryAttempt::Settled
        }
        Err(DeliveryError::Never(cause)) => let_go(engine, telemetry, job, &cause.to_string()).await,
        Err(DeliveryError::Later { cause, .. })
            if job.attempts >= TRIES_MAX || now.0 - job.id.made_at().0 >= TRIED_FOR_MS =>
        {
            let_go(engine, telemetry, job, &cause.to_string()).await;
            DeliveryAttempt::Away
        }
        Err(DeliveryError::Later { cause, after }) => later(engine, telemetry, job, &cause.to_string(), after).await,
    }
}

async fn tell_all(engine: &Engine, telemetry: &Telemetry, job: &Job, spans: &[Span]) -> Result<(), DeliveryError> {
    for (index, part) in spans.chunks(SPANS_AT_ONCE).enumerate() {
        if index > 0 {
            let job = job.clone();
            // Whoever took it over tells the same spans.
            let _ = engine.parts().store.write(move |tx| tx.heartbeat(&SYSTEM, &job, LEASE_MS)).await;
        }
        let taken = telemetry.collector.tell(part).await?;
        let taken_spans = (part.len() as u64).saturating_sub(taken.rejected);
        telemetry.count(|counts| {
            counts.spans += taken_spans;
            counts.rejected += taken.rejected;
        });
        if taken.rejected > 0 {
            let why = taken.why.unwrap_or_default();
            tracing::warn!(rejected = taken.rejected, why, "the collector did not want some spans of a run");
        }
    }
    Ok(())
}

/// How long to wait after so many failures in a row.
fn pause(failures: u32) -> Duration {
    Duration::from_secs(1 << failures.saturating_sub(1).min(10)).min(PAUSE_MAX)
}

async fn later(
    engine: &Engine,
    telemetry: &Telemetry,
    job: &Job,
    why: &str,
    after: Option<Duration>,
) -> DeliveryAttempt {
    telemetry.count(|counts| counts.failures += 1);
    tracing::debug!(why, job = %job.id, "a run could not be told; it will be tried again");
    let own = pause(u32::try_from(job.attempts).unwrap_or(u32::MAX));
    let wait = after.unwrap_or_default().clamp(own, PAUSE_MAX);
    let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
    let (job, why) = (job.clone(), why.to_owned());
    let put_back = engine.parts().store.write(move |tx| {
        let at = tx.now().plus(wait);
        tx.fail_job(&SYSTEM, &job, &why, AfterFailure::RetryAt(at))
    });
    // Its lease runs out, and it is tried again.
    let _ = put_back.await;
    DeliveryAttempt::Away
}

async fn let_go(engine: &Engine, telemetry: &Telemetry, job: &Job, why: &str) -> DeliveryAttempt {
    telemetry.count(|counts| {
        counts.failures += 1;
        counts.dropped += 1;
    });
    tracing::warn!(why, job = %job.id, tries = job.attempts, "a run is not told to the collector");
    take_off_queue(engine, job).await;
    DeliveryAttempt::Settled
}

async fn take_off_queue(engine: &Engine, job: &Job) {
    let job = job.clone();
    // Whoever took it over tells the same spans.
    let _ = engine.parts().store.write(move |tx| tx.complete_job(&SYSTEM, &job)).await;
}

/// Tools by their versions, as far as they were looked up.
type Tools = HashMap<(RecordId, i64), ToolTrace>;

impl Engine {
    fn run_trace(&self, tx: &mut Tx<'_>, owner: &Viewer, run: ExecutionId) -> Result<ExecutionTrace, StoreError> {
        let shown = self.shown(tx, owner, run)?;
        Ok(traced(tx, shown, &mut Tools::new()))
    }
}

fn traced(tx: &mut Tx<'_>, shown: ShownExecution, tools: &mut Tools) -> ExecutionTrace {
    let ShownExecution { row, steps, calls, children, .. } = shown;
    let steps = steps.into_iter().map(|step| StepTrace {
        id: step.id,
        phase: step.row.state.phase,
        attempts: step.row.state.attempt,
        fault: step.row.state.fault,
        began_at: step.row.state.began_at,
        ended_at: step.row.state.ended_at,
    });
    ExecutionTrace {
        id: row.id,
        process: row.process,
        process_name: row.process_name,
        process_version: row.process_version,
        conversation: row.target.map(|target| target.conversation_id),
        status: row.status,
        fault: row.failure.map(|failure| failure.fault),
        tokens: row.tokens,
        began_at: row.created_at,
        ended_at: row.ended_at,
        started_by: row.parent.map(|(_, place)| place.step),
        steps: steps.collect(),
        calls: calls.into_iter().map(|call| traced_call(tx, call, tools)).collect(),
        children: children.into_iter().map(|child| traced(tx, child, tools)).collect(),
    }
}

fn traced_call(tx: &mut Tx<'_>, call: TracedCall, tools: &mut Tools) -> CallTrace {
    let TracedCall { id, step, at, said, result, .. } = call;
    let named = said.get("toolId").and_then(|id| id.as_str()?.parse::<RecordId>().ok());
    let version = said.get("toolVersion").and_then(Value::as_i64).unwrap_or_default();
    let tool = match named {
        Some(tool) => tools.entry((tool, version)).or_insert_with(|| tool_trace(tx, tool, version)).clone(),
        None => ToolTrace::unknown("unknown".to_owned()),
    };
    CallTrace { id, step, at, said, tool, result: result.map(|came| (came.at, came.said)) }
}

/// The tool as it was when it was called; of one that cannot be read any more, its id.
fn tool_trace(tx: &mut Tx<'_>, tool: RecordId, version: i64) -> ToolTrace {
    let record = tx.record_version(&SYSTEM, tool, version).and_then(StoredEntry::<Tool>::try_from);
    let Ok(shown) = record else { return ToolTrace::unknown(tool.to_string()) };
    let service = load::<Service>(tx, &SYSTEM, shown.entry.service_id);
    ToolTrace::of(&shown.entry, service.ok().and_then(|service| service.entry.builtin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_that_is_away_is_tried_later_and_later() {
        let pauses: Vec<u64> = [1, 2, 3, 4, 9, 10, u32::MAX].map(|failures| pause(failures).as_secs()).to_vec();
        assert_eq!(pauses, [1, 2, 4, 8, 256, 300, 300]);
    }
}
