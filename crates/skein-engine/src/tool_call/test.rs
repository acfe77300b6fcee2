//! Tests a tool by a real call: requested, recorded, made and reported.
//!
//! The call is an item before it is made and its result an item after, both of whoever called. Whether it may be made,
//! with whose secret and at whose expense, is judged when it is asked for and again right before it goes out.

use std::time::Instant;

use serde_json::{Map, Value, json};
use skein_core::flow::tool_call::{CallRequester, CallStatus, ToolCall, ToolResult};
use skein_core::garden::item::ItemDraft;
use skein_core::garden::relation::{Endpoint, RelationAttributes, RelationDraft, RelationKind};
use skein_core::{ItemId, RecordId, RuleViolation, UserId, Viewer};
use skein_store::jobs::Job;
use skein_store::operations::OperationState;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::SYSTEM;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::jobs::catalog::{self, Conclusion, Task, TaskOutcome, told, told_breach};
use crate::request::{CommittedChange, Request};
use crate::tool_call::authorize::{AuthorizedCall, CallPurpose, HealthFinding, nothing, storable, tell_owners};
use crate::tool_call::execute::{self, CallResponse, Extras};

/// The kind of an operation that calls a tool to see whether it works.
pub const TOOL_TEST: &str = "tool.test";
/// How often a call may lose its worker before it is given up.
const LOST_MAX: i64 = 3;
/// How much of an output an operation tells; the rest is in the result.
const OUTPUT_TOLD_BYTES_MAX: usize = 256 << 10;

impl Engine {
    /// Queues a call of a tool; its operation tells what went out and what came back.
    pub async fn test_tool(
        &self,
        caller: &Caller,
        request: Request,
        tool: RecordId,
        inputs: Map<String, Value>,
    ) -> Result<CommittedChange<()>, EngineError> {
        let engine = self.clone();
        let queued = self.queue(caller, request, TOOL_TEST, move |tx, viewer, operation| {
            let ready = engine.ready_in(tx, viewer.owner(), tool, CallPurpose::Trial)?;
            engine.check_fits(&ready)?;
            let inputs = ready.tool.entry.with_defaults(inputs.clone());
            engine.check_inputs(&ready, &inputs)?;
            let draft = written(&ready, &inputs, &operation.to_string()).to_draft()?;
            let call = tx.append_item(viewer, &draft)?.item.header.id;
            let (version, secret) = (ready.tool.version, ready.authorization.secret.map(|(id, _)| id));
            catalog::enqueue(tx, viewer, operation, &Task::ToolTest { tool, call, inputs, version, secret })
        });
        let queued = queued.await?;
        self.parts().called.notify_one();
        Ok(queued)
    }
}

fn written(ready: &AuthorizedCall, inputs: &Map<String, Value>, session: &str) -> ToolCall {
    ToolCall {
        tool: ready.tool.id,
        tool_version: ready.tool.version,
        operation: ready.tool.entry.operation.kind().as_str().to_owned(),
        inputs: inputs.clone(),
        asker: CallRequester::Person,
        context: "trying the tool out".to_owned(),
        session: session.to_owned(),
        sequence: 1,
        predecessor: None,
        tags: vec!["test".to_owned()],
        authorization: ready.authorization,
    }
}

/// Carries out a call that was written down before.
pub(crate) async fn carry_out(engine: &Engine, job: &Job, task: &Task) -> Result<TaskOutcome, StoreError> {
    let Task::ToolTest { tool, call, inputs, version, secret } = task else { return Ok(TaskOutcome::Taken) };
    let (executor, call) = (job.owner, *call);
    let ready = match engine.ready_to_call(executor, *tool, CallPurpose::Trial).await {
        Ok(ready) => ready,
        // Whatever became of the tool since, it may have been called before the worker vanished.
        Err(StoreError::Rule(_) | StoreError::NotFound(_) | StoreError::Refused(_)) if job.lost > 0 => {
            return Ok(lost(executor, call));
        }
        Err(StoreError::Rule(violation)) => return Ok(refused(executor, call, &violation)),
        Err(error @ (StoreError::NotFound(_) | StoreError::Refused(_))) => {
            let gone = RuleViolation::new("BR-SHARE-007", error.to_string(), "ask for what is there");
            return Ok(refused(executor, call, &gone));
        }
        Err(error) => return Err(error),
    };
    // What is on record as having been called, and at whose expense, is what is called.
    if ready.tool.version != *version || ready.authorization.secret.map(|(id, _)| id) != *secret {
        let problem = "the tool or the secret bound to it changed since the call was asked for";
        return Ok(refused(executor, call, &RuleViolation::new("BR-SHARE-007", problem, "ask for it again")));
    }
    if job.lost > 0 && (job.lost > LOST_MAX || !execute::is_repeatable(&ready.tool.entry, &ready.service.entry)) {
        return Ok(lost(executor, call));
    }
    ready.warn_if_degraded();
    let begun = Instant::now();
    let answered = engine.call(&ready, inputs, Extras::default()).await;
    let latency_ms = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
    Ok(engine.conclude(ready, call, answered, latency_ms).await)
}

/// Ends a call that was cancelled while it was under way. Whoever's things were used is told of it all the same (rule
/// BR-SHARE-010).
pub(crate) fn broken_off(executor: UserId, call: ItemId) -> TaskOutcome {
    let message = "it was cancelled while it was under way; the service may have carried it out";
    let error = told("cancelled", message);
    let result = ToolResult { status: CallStatus::Cancelled, error: Some(error.clone()), ..nothing(call) };
    let conclude: Conclusion = Box::new(move |tx| {
        write_result(tx, executor, &result, None)?;
        let asked = tx.item(&SYSTEM, call)?.item.document();
        if let Some((tool, authorization)) = asked.as_ref().and_then(ToolCall::stood_on)
            && authorization.is_across_users()
        {
            tell_owners(tx, &authorization, tool, call)?;
        }
        Ok(OperationState::Failed { error: error.to_string() })
    });
    TaskOutcome::Concluded { conclude, weight: 0 }
}

/// Ends a call that was cancelled before it was made.
pub(crate) fn cancelled(executor: UserId, call: ItemId) -> TaskOutcome {
    failed(
        executor,
        ToolResult { status: CallStatus::Cancelled, ..nothing(call) },
        told("cancelled", "it was cancelled"),
    )
}

/// Ends a call that was not made because it may not be.
fn refused(executor: UserId, call: ItemId, violation: &RuleViolation) -> TaskOutcome {
    failed(executor, ToolResult { status: CallStatus::Error, ..nothing(call) }, told_breach(violation))
}

/// Ends a call whose worker vanished and that is not made twice.
fn lost(executor: UserId, call: ItemId) -> TaskOutcome {
    let message = "the server stopped while the call was under way; look at the service before calling again";
    failed(executor, nothing(call), told("outcome_unknown", message))
}

fn failed(executor: UserId, result: ToolResult, error: Value) -> TaskOutcome {
    let result = ToolResult { error: Some(error.clone()), ..result };
    let conclude: Conclusion = Box::new(move |tx| {
        write_result(tx, executor, &result, None)?;
        Ok(OperationState::Failed { error: error.to_string() })
    });
    TaskOutcome::Concluded { conclude, weight: 0 }
}

/// Where the result of a call was written down, and where its output is.
pub(crate) struct RecordedResult {
    pub(crate) result: ItemId,
    output_in: ItemId,
}

/// The result of a call as a fact, joined to the call; a large output before it, as a fact of its own.
pub(crate) fn write_result(
    tx: &mut Tx<'_>,
    executor: UserId,
    result: &ToolResult,
    large: Option<&ItemDraft>,
) -> Result<RecordedResult, StoreError> {
    let viewer = Viewer::User(executor);
    let output_in =
        large.map(|output| tx.append_item(&viewer, output)).transpose()?.map(|stored| stored.item.header.id);
    let output_in = output_in.or(result.output_in);
    let draft = ToolResult { output_in, ..result.clone() }.to_draft()?;
    let written = tx.append_item(&viewer, &draft)?.item.header.id;
    let (source, target) = (Endpoint::Item(written), Endpoint::Item(result.call));
    tx.relate(&viewer, &RelationDraft::new(RelationKind::ResultOf, source, target, RelationAttributes::default())?)?;
    Ok(RecordedResult { result: written, output_in: output_in.unwrap_or(written) })
}

impl Engine {
    /// Writes down what came of a call.
    async fn conclude(
        &self,
        ready: AuthorizedCall,
        call: ItemId,
        answered: CallResponse,
        latency_ms: i64,
    ) -> TaskOutcome {
        let (answered, large) = storable(self.checked(&ready, answered).await);
        let cost = ready.cost(&answered);
        let CallResponse { outcome, request, response, usage, scrubbed, is_telling, response_id, .. } = answered;
        let blank = ToolResult { latency_ms, usage: usage.clone(), cost, response_id, scrubbed, ..nothing(call) };
        let result = match &outcome {
            Ok(_) if large.is_some() => ToolResult { status: CallStatus::Success, ..blank },
            Ok(output) => ToolResult { status: CallStatus::Success, output: output.clone(), ..blank },
            Err(error) => ToolResult { status: CallStatus::Error, error: Some(error.clone()), ..blank },
        };
        let told = json!({ "latencyMs": latency_ms, "request": request, "response": response, "usage": usage,
            "cost": cost, "callId": call, "payerId": ready.authorization.payer });
        let outcome = outcome.map(|output| Some(output).filter(is_soon_told));
        let weight = large.as_ref().map_or(0, ItemDraft::weight);
        let conclude: Conclusion = Box::new(move |tx| {
            let written = write_result(tx, ready.authorization.executor, &result, large.as_ref())?;
            let mut told = told.clone();
            told["resultId"] = json!(written.result);
            if ready.authorization.is_across_users() {
                tell_owners(tx, &ready.authorization, ready.tool.id, call)?;
            }
            if is_telling {
                HealthFinding::of(&ready, &result).map_or(Ok(()), |finding| finding.keep(tx))?;
            }
            Ok(ended_as(outcome.clone(), told, written.output_in))
        });
        TaskOutcome::Concluded { conclude, weight }
    }
}

fn is_soon_told(output: &Value) -> bool {
    output.to_string().len() <= OUTPUT_TOLD_BYTES_MAX
}

/// The state an operation ends in. What is too long to be told again is read where it is.
fn ended_as(outcome: Result<Option<Value>, Value>, mut told: Value, output_in: ItemId) -> OperationState {
    match outcome {
        Ok(Some(output)) => {
            told["output"] = output;
            OperationState::Completed { result: told.to_string() }
        }
        Ok(None) => {
            told["outputIn"] = json!(output_in);
            OperationState::Completed { result: told.to_string() }
        }
        Err(mut error) => {
            for (name, value) in told.as_object_mut().into_iter().flatten() {
                error[name] = value.take();
            }
            OperationState::Failed { error: error.to_string() }
        }
    }
}
