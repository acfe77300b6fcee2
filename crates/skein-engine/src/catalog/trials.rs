//! Calling a tool for real: asked for, written down, carried out, told.
//!
//! The call is an item before it is made and its result an item after, both of whoever called. Whether it may be made,
//! with whose secret and at whose expense, is judged when it is asked for and again right before it goes out.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};
use skein_connect::credential::Credential;
use skein_core::catalog::health::{self, Callable, Health, Vitals};
use skein_core::catalog::schema;
use skein_core::catalog::secret::Secret;
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_core::document::BadDocument;
use skein_core::flow::footing::{Chain, Footing, Holding};
use skein_core::flow::tool_call::{Asker, CallStatus, ToolCall, ToolResult, large_output};
use skein_core::garden::event::EventName;
use skein_core::garden::item::{BadItem, ItemDraft};
use skein_core::garden::relation::{Endpoint, Qualities, RelationDraft, RelationKind};
use skein_core::{ItemId, RecordId, RuleViolation, UserId, Viewer};
use skein_store::jobs::Job;
use skein_store::operations::OperationState;
use skein_store::vault::SealedSecret;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::calls::{self, Answered};
use crate::catalog::work::{self, Conclusion, Ended, Task, told, told_breach};
use crate::catalog::{SYSTEM, Shown, bindings, load, travel};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{Changed, Request};

/// The kind of an operation that calls a tool to see whether it works.
pub const TOOL_TEST: &str = "tool.test";
/// How often a call may lose its worker before it is given up.
const LOST_MAX: i64 = 3;
/// How much of an output an operation tells; the rest is in the result.
const OUTPUT_TOLD_BYTES_MAX: usize = 256 << 10;
/// Headers of an answer that say nothing about whose account was used.
const HEADERS_FOR_ALL: [&str; 4] = ["content-type", "date", "retry-after", "x-request-id"];

/// A tool with all that a call of it needs.
pub(super) struct Ready {
    pub(super) tool: Shown<Tool>,
    pub(super) service: Shown<Service>,
    pub(super) footing: Footing,
    sealed: Option<(Shown<Secret>, SealedSecret)>,
    callable: Callable,
}

/// What a tool is called for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To see whether it works; so what was down is found to work again.
    Trial,
    /// For what it answers.
    Use,
}

impl Engine {
    /// Queues a call of a tool; its operation tells what went out and what came back.
    pub async fn test_tool(
        &self,
        caller: &Caller,
        request: Request,
        tool: RecordId,
        inputs: Map<String, Value>,
    ) -> Result<Changed<()>, EngineError> {
        // Schemas are compiled here, so that the transaction finds them; what it finds is what counts.
        if let Ok(ready) = self.ready_to_call(caller.user, tool, Purpose::Trial).await {
            let _ = self.parts().schemas.of_inputs(&ready.tool);
        }
        let engine = self.clone();
        let queued = self.queue(caller, request, TOOL_TEST, move |tx, viewer, operation| {
            let ready = ready(tx, viewer.owner(), tool, Purpose::Trial)?;
            engine.check_fits(&ready)?;
            let inputs = ready.tool.entry.with_defaults(inputs.clone());
            engine.check_inputs(&ready.tool, &inputs)?;
            let draft = written(&ready, &inputs, &operation.to_string()).to_draft()?;
            let call = tx.append_item(viewer, &draft)?.item.header.id;
            let (version, secret) = (ready.tool.version, ready.footing.secret.map(|(id, _)| id));
            work::enqueue(tx, viewer, operation, &Task::ToolTest { tool, call, inputs, version, secret })
        });
        let queued = queued.await?;
        self.parts().called.notify_one();
        Ok(queued)
    }

    /// What a call stands on, judged now.
    pub(super) async fn ready_to_call(
        &self,
        executor: UserId,
        tool: RecordId,
        purpose: Purpose,
    ) -> Result<Ready, StoreError> {
        let ready = self.parts().store.read(move |tx| ready(tx, executor, tool, purpose)).await?;
        self.check_fits(&ready)?;
        Ok(ready)
    }

    fn check_fits(&self, ready: &Ready) -> Result<(), RuleViolation> {
        let schema = self.parts().schemas.of_service(&ready.service)?;
        ready.tool.entry.check_fits_by(&ready.service.entry, &schema)
    }

    fn check_inputs(&self, tool: &Shown<Tool>, inputs: &Map<String, Value>) -> Result<(), RuleViolation> {
        let compiled = self.parts().schemas.of_inputs(tool)?;
        compiled.check(&Value::Object(inputs.clone())).map_err(|breaches| {
            let problem = format!("the inputs do not fit: {}", schema::describe(&breaches));
            RuleViolation::new("BR-TOOL-002", problem, "give what the tool's inputSchema asks for")
        })
    }
}

fn written(ready: &Ready, inputs: &Map<String, Value>, session: &str) -> ToolCall {
    ToolCall {
        tool: ready.tool.id,
        tool_version: ready.tool.version,
        operation: ready.tool.entry.operation.kind().as_str().to_owned(),
        inputs: inputs.clone(),
        asker: Asker::Person,
        context: "trying the tool out".to_owned(),
        session: session.to_owned(),
        sequence: 1,
        predecessor: None,
        tags: vec!["test".to_owned()],
        footing: ready.footing,
    }
}

/// Loads what a call stands on and judges it.
fn ready(tx: &mut Tx<'_>, executor: UserId, tool: RecordId, purpose: Purpose) -> Result<Ready, StoreError> {
    let viewer = Viewer::User(executor);
    let tool: Shown<Tool> = load(tx, &viewer, tool)?;
    // What the tool stands on may not be the executor's to see; the chain says whether it may be used.
    let service: Shown<Service> = load(tx, &SYSTEM, tool.entry.service_id)?;
    let tool_secret = tool.entry.secret_id.map(|secret| load::<Secret>(tx, &SYSTEM, secret)).transpose()?;
    let own = bindings::bound(tx, &viewer, tool.id)?;
    own.as_ref().map_or(Ok(()), |binding| binding.entry.check(&tool.entry))?;
    let own_secret = own.map(|binding| load::<Secret>(tx, &viewer, binding.entry.secret_id)).transpose()?;
    let chain = Chain {
        executor,
        tool: holding(&tool),
        service: holding(&service),
        tool_secret: tool_secret.as_ref().map(holding),
        own_secret: own_secret.as_ref().map(holding),
        requires_secret: service.entry.requires_secret,
    };
    let footing = chain.judge()?;
    let secret =
        footing.secret.and_then(|(id, _)| [own_secret, tool_secret].into_iter().flatten().find(|s| s.id == id));
    let sealed = match secret {
        None => None,
        Some(secret) => {
            let sealed = tx.sealed(&SYSTEM, secret.id)?.ok_or_else(|| no_value(&secret))?;
            Some((secret, sealed))
        }
    };
    let (tool_vitals, service_vitals) = super::health::vitals_of(tx, &tool, &service)?;
    let is_trial = purpose == Purpose::Trial;
    let asked = |vitals: Vitals| {
        let finding = vitals.finding.filter(|found| !is_trial || *found != Health::Down);
        Vitals { finding, ..vitals }
    };
    let callable = health::check_call(asked(tool_vitals), asked(service_vitals))?;
    Ok(Ready { tool, service, footing, sealed, callable })
}

fn holding<T>(shown: &Shown<T>) -> Holding {
    Holding { id: shown.id, owner: shown.owner, shared: shown.shared }
}

fn no_value(secret: &Shown<Secret>) -> RuleViolation {
    let problem = format!("the vault holds no value for the secret {:?}", secret.entry.name.as_str());
    RuleViolation::new("BR-SECRET-001", problem, "give the secret a value: it came here without one")
}

/// Carries out a call that was written down before.
pub(super) async fn carry_out(engine: &Engine, job: &Job, task: &Task) -> Result<Ended, StoreError> {
    let Task::ToolTest { tool, call, inputs, version, secret } = task else { return Ok(Ended::Taken) };
    let (executor, call) = (job.owner, *call);
    let ready = match engine.ready_to_call(executor, *tool, Purpose::Trial).await {
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
    if ready.tool.version != *version || ready.footing.secret.map(|(id, _)| id) != *secret {
        let problem = "the tool or the secret bound to it changed since the call was asked for";
        return Ok(refused(executor, call, &RuleViolation::new("BR-SHARE-007", problem, "ask for it again")));
    }
    if job.lost > 0 && (job.lost > LOST_MAX || !calls::is_repeatable(&ready.tool.entry, &ready.service.entry)) {
        return Ok(lost(executor, call));
    }
    if ready.callable == Callable::WithWarning {
        tracing::debug!(%tool, "calling a tool that is degraded or was never checked");
    }
    let begun = Instant::now();
    let answered = engine.call(&ready, inputs).await;
    let latency_ms = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
    Ok(engine.conclude(ready, call, answered, latency_ms))
}

/// Ends a call that was cancelled while it was under way. Whoever's things were used is told of it all the same (rule
/// BR-SHARE-010).
pub(super) fn broken_off(executor: UserId, call: ItemId) -> Ended {
    let message = "it was cancelled while it was under way; the service may have carried it out";
    let error = told("cancelled", message);
    let result = ToolResult { status: CallStatus::Cancelled, error: Some(error.clone()), ..nothing(call) };
    let conclude: Conclusion = Box::new(move |tx| {
        write_result(tx, executor, &result, None)?;
        let asked = tx.item(&SYSTEM, call)?.item.document();
        if let Some((tool, footing)) = asked.as_ref().and_then(ToolCall::stood_on)
            && footing.is_across_users()
        {
            tell_owners(tx, &footing, tool, call)?;
        }
        Ok(OperationState::Failed { error: error.to_string() })
    });
    Ended::Concluded { conclude, weight: 0 }
}

/// Ends a call that was cancelled before it was made.
pub(super) fn cancelled(executor: UserId, call: ItemId) -> Ended {
    failed(
        executor,
        ToolResult { status: CallStatus::Cancelled, ..nothing(call) },
        told("cancelled", "it was cancelled"),
    )
}

/// Ends a call that was not made because it may not be.
fn refused(executor: UserId, call: ItemId, violation: &RuleViolation) -> Ended {
    failed(executor, ToolResult { status: CallStatus::Error, ..nothing(call) }, told_breach(violation))
}

/// Ends a call whose worker vanished and that is not made twice.
fn lost(executor: UserId, call: ItemId) -> Ended {
    let message = "the server stopped while the call was under way; look at the service before calling again";
    failed(executor, nothing(call), told("outcome_unknown", message))
}

fn failed(executor: UserId, result: ToolResult, error: Value) -> Ended {
    let result = ToolResult { error: Some(error.clone()), ..result };
    let conclude: Conclusion = Box::new(move |tx| {
        write_result(tx, executor, &result, None)?;
        Ok(OperationState::Failed { error: error.to_string() })
    });
    Ended::Concluded { conclude, weight: 0 }
}

/// Where the result of a call was written down, and where its output is.
pub(super) struct Written {
    pub(super) result: ItemId,
    output_in: ItemId,
}

/// The result of a call as a fact, joined to the call; a large output before it, as a fact of its own.
pub(super) fn write_result(
    tx: &mut Tx<'_>,
    executor: UserId,
    result: &ToolResult,
    large: Option<&ItemDraft>,
) -> Result<Written, StoreError> {
    let viewer = Viewer::User(executor);
    let output_in =
        large.map(|output| tx.append_item(&viewer, output)).transpose()?.map(|stored| stored.item.header.id);
    let output_in = output_in.or(result.output_in);
    let draft = ToolResult { output_in, ..result.clone() }.to_draft()?;
    let written = tx.append_item(&viewer, &draft)?.item.header.id;
    let (source, target) = (Endpoint::Item(written), Endpoint::Item(result.call));
    tx.relate(&viewer, &RelationDraft::new(RelationKind::ResultOf, source, target, Qualities::default())?)?;
    Ok(Written { result: written, output_in: output_in.unwrap_or(written) })
}

impl Engine {
    /// Makes the call.
    async fn call(&self, ready: &Ready, inputs: &Map<String, Value>) -> Answered {
        let credential = match self.credential(ready) {
            Ok(credential) => credential,
            Err(problem) => return Answered::fault("secret_unavailable", &problem, false),
        };
        let (http, tool, service) = (self.parts().outside.http(), &ready.tool.entry, &ready.service.entry);
        calls::call(http, tool, service, inputs, credential.as_ref()).await
    }

    /// Opens the secret, if one is used; keys that another server made are looked for once.
    pub(super) fn credential(&self, ready: &Ready) -> Result<Option<Arc<Credential>>, String> {
        let Some((secret, sealed)) = &ready.sealed else { return Ok(None) };
        let opened = travel::open_value(&self.parts().outside, sealed).map_err(|error| {
            tracing::warn!(%error, secret = %secret.id, "a secret cannot be opened");
            error.to_string()
        })?;
        let key_use = calls::secret_use(&ready.tool.entry, secret.entry.secret_type);
        let credential = Credential::new(secret.entry.secret_type, &opened, key_use.as_ref());
        let credential = credential.map_err(|violation| violation.problem().to_owned())?;
        let (engine, sealed) = (self.clone(), sealed.clone());
        Ok(Some(Arc::new(credential.on_renewal(Arc::new(move |value| {
            let (engine, sealed) = (engine.clone(), sealed.clone());
            Box::pin(async move {
                if let Err(error) = engine.keep_renewed(&sealed, value.into()).await {
                    tracing::warn!(%error, secret = %sealed.secret, "a renewed token could not be kept");
                }
            })
        })))))
    }

    /// Writes down what came of a call.
    fn conclude(&self, ready: Ready, call: ItemId, answered: Answered, latency_ms: i64) -> Ended {
        let (answered, large) = storable(self.checked(&ready.tool, answered));
        let Answered { outcome, request, response, usage, scrubbed, is_telling } = answered;
        let blank = ToolResult { latency_ms, usage: usage.clone(), scrubbed, ..nothing(call) };
        let result = match &outcome {
            Ok(_) if large.is_some() => ToolResult { status: CallStatus::Success, ..blank },
            Ok(output) => ToolResult { status: CallStatus::Success, output: output.clone(), ..blank },
            Err(error) => ToolResult { status: CallStatus::Error, error: Some(error.clone()), ..blank },
        };
        let response = if ready.footing.payer == ready.footing.executor { response } else { without_account(response) };
        let told = json!({ "latencyMs": latency_ms, "request": request, "response": response, "usage": usage,
            "callId": call, "payerId": ready.footing.payer });
        let outcome = outcome.map(|output| Some(output).filter(is_soon_told));
        let weight = large.as_ref().map_or(0, ItemDraft::weight);
        let conclude: Conclusion = Box::new(move |tx| {
            let written = write_result(tx, ready.footing.executor, &result, large.as_ref())?;
            let mut told = told.clone();
            told["resultId"] = json!(written.result);
            if ready.footing.is_across_users() {
                tell_owners(tx, &ready.footing, ready.tool.id, call)?;
            }
            if is_telling {
                Finding::of(&ready, &result).map_or(Ok(()), |finding| finding.keep(tx))?;
            }
            Ok(ended_as(outcome.clone(), told, written.output_in))
        });
        Ended::Concluded { conclude, weight }
    }

    /// A result that does not fit what the tool promises is none (rule BR-TOOL-003).
    fn checked(&self, tool: &Shown<Tool>, answered: Answered) -> Answered {
        let Ok(output) = &answered.outcome else { return answered };
        let problem = match self.parts().schemas.of_outputs(tool) {
            Ok(compiled) => compiled.check(output).err().map(|breaches| schema::describe(&breaches)),
            Err(violation) => Some(violation.problem().to_owned()),
        };
        let Some(problem) = problem else { return answered };
        let mut error = told("output_mismatch", &format!("the answer does not fit the tool's outputSchema: {problem}"));
        error["rule"] = json!("BR-TOOL-003");
        Answered { outcome: Err(error), ..answered }
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

/// An output that is larger than a document is kept beside the result. What cannot be kept at all is no result: the call
/// is then on record as having failed to give one.
fn storable(answered: Answered) -> (Answered, Option<ItemDraft>) {
    let Ok(output) = &answered.outcome else { return (answered, None) };
    let inside = ToolResult { output: output.clone(), ..nothing(ItemId::from_bytes([0; 16])) }.to_draft();
    let kept = match inside {
        Ok(_) => Ok(None),
        Err(BadItem::Document(BadDocument::TooLarge { .. })) => large_output(output).map(Some),
        Err(bad) => Err(bad),
    };
    match kept {
        Ok(large) => (answered, large),
        Err(bad) => {
            let message = format!("the answer cannot be kept: {bad}; have the tool select less of it");
            let outcome = Err(told("output_not_storable", &message));
            (Answered { outcome, is_telling: false, ..answered }, None)
        }
    }
}

/// An answer as somebody sees it who did not pay for it: headers may name the account that did.
fn without_account(mut response: Value) -> Value {
    if let Some(headers) = response["headers"].as_object_mut() {
        headers.retain(|name, _| HEADERS_FOR_ALL.contains(&name.as_str()));
    }
    response
}

/// What an owner's own call tells about how their things are.
struct Finding {
    tool: RecordId,
    service: Option<RecordId>,
    problem: Option<String>,
}

impl Finding {
    fn of(ready: &Ready, result: &ToolResult) -> Option<Self> {
        let Footing { executor, tool_owner, service_owner, secret, .. } = ready.footing;
        let is_own = tool_owner == executor && secret.is_none_or(|(_, owner)| owner == executor);
        is_own.then(|| Self {
            tool: ready.tool.id,
            service: Some(ready.service.id).filter(|_| service_owner == executor),
            problem: result.error.as_ref().map(|error| error["message"].as_str().unwrap_or_default().to_owned()),
        })
    }

    /// One answer shows that both work. One failure shows only that something is wrong with the tool.
    fn keep(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let status = if self.problem.is_none() { Health::Healthy } else { Health::Degraded };
        tx.set_health(&SYSTEM, self.tool, status.as_str(), self.problem.as_deref(), None)?;
        match self.service.filter(|_| self.problem.is_none()) {
            Some(service) => tx.set_health(&SYSTEM, service, status.as_str(), None, None),
            None => Ok(()),
        }
    }
}

pub(super) fn nothing(call: ItemId) -> ToolResult {
    let (output, output_in, error, usage, cost) = (Value::Null, None, None, None, None);
    let status = CallStatus::Unknown;
    ToolResult { call, status, output, output_in, error, latency_ms: 0, usage, cost, scrubbed: false }
}

/// Owners see who used what of theirs, and at whose expense; not what was asked or answered (rule BR-SHARE-010).
pub(super) fn tell_owners(tx: &mut Tx<'_>, footing: &Footing, tool: RecordId, call: ItemId) -> Result<(), StoreError> {
    let mut owners = vec![footing.tool_owner, footing.service_owner];
    owners.dedup();
    for owner in owners.into_iter().filter(|owner| *owner != footing.executor && *owner != UserId::SYSTEM) {
        let about =
            [("executorId", json!(footing.executor)), ("payerId", json!(footing.payer)), ("callId", json!(call))];
        let about = about.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        tx.tell_own(&Viewer::User(owner), EventName::ToolUsed, Some(&tool.to_string()), about)?;
    }
    Ok(())
}
