//! Records one call of an execution before it goes out, makes it, and records its result.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use skein_core::catalog::operation::{Operation, OperationType};
use skein_core::catalog::service::{Builtin, Service};
use skein_core::catalog::tool::{Tool, ToolRetry};
use skein_core::flow::execution::input::{CallSite, Fault, Input, RequestedToolCall};
use skein_core::flow::execution::item_payload::{CallRecord, CausalLink, CausalLinkKind, OutputTarget};
use skein_core::flow::tool_call::{CallRequester, CallStatus, ToolCall, ToolResult};
use skein_core::garden::item::{ItemDraft, ItemType};
use skein_core::ravens::input_hash;
use skein_core::tree::node_hash::raw_response_bytes;
use skein_core::{ExecutionId, ItemId, RuleViolation, UserId};
use skein_store::flow::{LastCall, StreamChunk};
use skein_store::jobs::Job;
use skein_store::metrics::Measurement;
use skein_store::{StoreError, Tx};

use crate::catalog::names_service;
use crate::engine::Engine;
use crate::flow::SYSTEM;
use crate::flow::answer::actor::AnsweringActor;
use crate::flow::execution::transaction::{ExecutionTransaction, LoadedExecution, PostCommit, WorkerSlot};
use crate::flow::process::offered_tools::ResolvedOffer;
use crate::tool_call::authorize::{
    AuthorizedCall, CallPurpose, HealthFinding, is_told, nothing, ready_on, storable, tell_owners,
};
use crate::tool_call::builtin_tools::{self, AnswerContext};
use crate::tool_call::dependencies::CallDependencies;
use crate::tool_call::execute::{CallResponse, Extras, is_repeatable};

/// How long a call may take where its step says nothing.
const TIMEOUT_DEFAULT: Duration = Duration::from_mins(5);

/// A call that is written down and can be made.
pub(crate) struct PendingCall {
    pub(crate) run: ExecutionId,
    pub(crate) place: CallSite,
    pub(crate) kind: OperationType,
    pub(crate) job: Option<Job>,
    owner: UserId,
    ready: AuthorizedCall,
    inputs: Map<String, Value>,
    pub(crate) call: ItemId,
    attempt: u32,
    /// How often the model asked for calls, where this is one of them.
    round: u32,
    timeout: Duration,
    dialogue: Vec<Value>,
    /// The answer that is worked on, where the call makes its context.
    answer: AnswerContext,
    /// The actor that answers, where a model is asked for an answer.
    actor: Option<AnsweringActor>,
    offered: Vec<ResolvedOffer>,
    max_tokens: Option<u32>,
    /// How many pieces were said before, where the answer is passed on as it comes.
    said_before: Option<i64>,
    /// Whether locking the run keeps others apart ([`crate::flow::execution::transaction::LoadedExecution::is_plain`]).
    pub(crate) is_plain: bool,
}

/// What whoever is called sees of a call.
#[cfg(test)]
impl PendingCall {
    pub(crate) fn tool(&self) -> skein_core::RecordId {
        self.ready.tool.id
    }

    pub(crate) fn inputs(&self) -> &Map<String, Value> {
        &self.inputs
    }

    /// What a model is told by its tools.
    pub(crate) fn told(&self) -> impl Iterator<Item = &str> {
        self.dialogue.iter().filter(|message| message["role"] == "tool").filter_map(|told| told["content"].as_str())
    }
}

/// What a call stands on, and what it is made with.
type AuthorizedInputs = (AuthorizedCall, Map<String, Value>);

impl PendingCall {
    pub(crate) fn held_by(self, job: Job, kind: OperationType) -> Self {
        Self { job: Some(job), kind, ..self }
    }

    /// Whether what comes is passed on while it comes.
    pub(crate) fn is_heard(&self) -> bool {
        self.said_before.is_some()
    }

    /// Stays the same when the same call is made again: a service that knows it carries the call out once.
    fn key(&self) -> String {
        let CallSite { step, call } = self.place;
        let hash = input_hash(&Value::Object(self.inputs.clone()));
        let wish = call.map_or_else(String::new, |call| format!("{}.{call}", self.round));
        format!("{}:{step}:{wish}:{hash}", self.run)
    }
}

impl ExecutionTransaction<'_, '_> {
    /// Judges a call right before it is made and writes it down; nothing is remembered of earlier judgements (rule
    /// BR-EXEC-003).
    pub(crate) fn prepare(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        base: CallDependencies,
        inputs: &Map<String, Value>,
        attempt: u32,
    ) -> Result<Result<PendingCall, Fault>, StoreError> {
        let (owner, id) = (self.load(run)?.row.owner, base.tool.id);
        let (ready, inputs) = match self.judged(owner, base, inputs)? {
            Ok(judged) => judged,
            Err(fault) => return self.explained(run, place.step, id, fault).map(Err),
        };
        let call = match self.write_call(run, place, &ready, &inputs)? {
            Ok(call) => call,
            Err(fault) => return self.explained(run, place.step, id, fault).map(Err),
        };
        self.ready_to_make(run, place, ready, inputs, call, attempt).map(Ok)
    }

    pub(crate) fn judged(
        &mut self,
        owner: UserId,
        base: CallDependencies,
        inputs: &Map<String, Value>,
    ) -> Result<Result<AuthorizedInputs, Fault>, StoreError> {
        let id = base.tool.id;
        let ready = match ready_on(base, owner, self.tx.now(), CallPurpose::Use) {
            Ok(ready) => ready,
            Err(StoreError::Rule(violation)) => return Ok(Err(Fault::breach(&violation))),
            Err(StoreError::NotFound(_) | StoreError::Refused(_)) => return self.out_of_reach(owner, id).map(Err),
            Err(error) => return Err(error),
        };
        let inputs = ready.tool.entry.with_defaults(inputs.clone());
        match self.engine.check_fits(&ready).and_then(|()| self.engine.check_inputs(&ready, &inputs)) {
            Ok(()) => Ok(Ok((ready, inputs))),
            Err(StoreError::Rule(violation)) => Ok(Err(Fault::breach(&violation))),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn write_call(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        ready: &AuthorizedCall,
        inputs: &Map<String, Value>,
    ) -> Result<Result<ItemId, Fault>, StoreError> {
        let loaded = self.load(run)?;
        let (owner, session) = (loaded.row.owner, loaded.row.session);
        let step = &loaded.ready.plan.steps()[place.step].definition;
        let context = format!("step {} of {}", step.id, loaded.row.process_name);
        let (asker, causes) = match place.call {
            None => (CallRequester::Process, loaded.causes_of(place.step)),
            Some(_) => {
                (CallRequester::Model, loaded.steps.get(&place.step).and_then(|row| row.call).into_iter().collect())
            }
        };
        let cause = causes.iter().copied().max().unwrap_or(loaded.row.cause);
        let session_told = self.session_told(run)?;
        let last = self.last_call(owner, session)?;
        let sequence = last.map_or(1, |last| last.sequence + 1);
        let written = ToolCall {
            tool: ready.tool.id,
            tool_version: ready.tool.version,
            operation: ready.tool.entry.operation.kind().as_str().to_owned(),
            inputs: inputs.clone(),
            asker,
            context,
            session: session_told,
            sequence,
            predecessor: last.map(|last| last.call),
            tags: Vec::new(),
            authorization: ready.authorization,
        };
        let draft = match written.to_draft() {
            Ok(draft) => draft,
            Err(bad) => return Ok(Err(Fault::new("inputs_not_storable", bad.to_string()))),
        };
        let call = self.append_item(owner, draft)?;
        // Told with the intent: whatever becomes of the call, their things are used (rule BR-SHARE-010).
        if is_told(&ready.authorization) {
            self.flush_items()?;
            tell_owners(self.tx, &ready.authorization, ready.tool.id, call)?;
        }
        #[cfg(test)]
        if crate::flow::simulation::PlantedBug::LostIntent.is_in(self.engine) {
            return Ok(Ok(call));
        }
        self.sequences.insert(session, Some(LastCall { call, sequence }));
        let loaded = self.load(run)?;
        loaded.note_call(CallRecord { call_id: call, place, session, sequence });
        loaded.links.push(CausalLink { kind: CausalLinkKind::Triggers, source: cause, target: call });
        let further = causes.into_iter().filter(|further| *further != cause);
        loaded.links.extend(further.map(|further| CausalLink {
            kind: CausalLinkKind::DerivedFrom,
            source: call,
            target: further,
        }));
        Ok(Ok(call))
    }

    /// The conversation a run, or the one that started it, answers in; else the outermost run (decision Z12).
    fn session_told(&mut self, run: ExecutionId) -> Result<String, StoreError> {
        let (target, session) = self.target_of(run)?;
        Ok(target.map_or_else(|| session.to_string(), |target| target.conversation_id.to_string()))
    }

    /// The answer that a run, or the one that started it, fills; and its session.
    pub(crate) fn target_of(&mut self, run: ExecutionId) -> Result<(Option<OutputTarget>, ExecutionId), StoreError> {
        let mut at = run;
        loop {
            // Only looked at: whoever is above is not moved by a call.
            let (target, parent, session) = if let Some(LoadedExecution { row, .. }) = self.runs.get(&at) {
                (row.target, row.parent, row.session)
            } else {
                let row = self.tx.execution(&SYSTEM, at)?;
                (row.target, row.parent, row.session)
            };
            match (target, parent) {
                (None, Some((parent, _))) => at = parent,
                (target, _) => return Ok((target, session)),
            }
        }
    }

    /// The last call of a session, this transaction's own included.
    fn last_call(&mut self, owner: UserId, session: ExecutionId) -> Result<Option<LastCall>, StoreError> {
        match self.sequences.get(&session) {
            Some(last) => Ok(*last),
            None => self.tx.last_call(owner, session),
        }
    }

    /// Everything the call needs once the transaction is over.
    pub(crate) fn ready_to_make(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        ready: AuthorizedCall,
        inputs: Map<String, Value>,
        call: ItemId,
        attempt: u32,
    ) -> Result<PendingCall, StoreError> {
        let owner = self.load(run)?.row.owner;
        let offers = self.load(run)?.ready.plan.steps()[place.step].definition.offers.clone();
        let offered = if place.call.is_none() { self.offered(owner, &offers)? } else { Vec::new() };
        let is_streamed = place.call.is_none() && self.load(run)?.ready.plan.streamed_step() == Some(place.step);
        let said_before = if is_streamed { Some(self.tx.last_chunk(run)?) } else { None };
        let answer = if is_context(&ready) { self.answer_context(run)? } else { AnswerContext::default() };
        let actor = if place.call.is_none() { self.answering_actor(run, place.step, &ready)? } else { None };
        let loaded = self.load(run)?;
        let planned = &loaded.ready.plan.steps()[place.step];
        let seconds = planned.definition.execution.timeout_s.map(|seconds| Duration::from_secs(u64::from(seconds)));
        let dialogue = loaded.state.steps[place.step].dialogue.as_ref().filter(|_| place.call.is_none());
        let budget = planned.token_budget.and_then(|tokens| u32::try_from(tokens).ok());
        Ok(PendingCall {
            run,
            place,
            kind: ready.tool.entry.operation.kind(),
            job: None,
            owner: loaded.row.owner,
            timeout: seconds.unwrap_or(TIMEOUT_DEFAULT),
            is_plain: loaded.is_plain(),
            round: loaded.state.steps[place.step].dialogue.as_ref().map_or(0, |dialogue| dialogue.rounds),
            dialogue: dialogue.map(|dialogue| dialogue.messages.clone()).unwrap_or_default(),
            max_tokens: budget.filter(|_| place.call.is_none()),
            said_before,
            ready,
            inputs,
            call,
            attempt,
            answer,
            actor,
            offered,
        })
    }
}

/// Whether a call makes the messages that a model is sent.
fn is_context(ready: &AuthorizedCall) -> bool {
    let is_own = ready.service.entry.builtin == Some(Builtin::Abilities);
    is_own && matches!(&ready.tool.entry.operation, Operation::McpTool(call) if call.tool == builtin_tools::CONTEXT)
}

impl ExecutionTransaction<'_, '_> {
    /// Writes down what came of a call, and what it tells about tool and service.
    pub(crate) fn write_result(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        result: &ToolResult,
        large: Option<&ItemDraft>,
        raw: Option<ItemId>,
    ) -> Result<ItemId, StoreError> {
        let owner = self.load(run)?.row.owner;
        let output_in = large.map(|output| self.append_item(owner, output.clone())).transpose()?;
        let draft = ToolResult { output_in, raw_response: raw, ..result.clone() }.to_draft()?;
        self.keep_result(run, place, result, draft, raw)
    }

    fn keep_result(
        &mut self,
        run: ExecutionId,
        place: CallSite,
        result: &ToolResult,
        draft: ItemDraft,
        raw: Option<ItemId>,
    ) -> Result<ItemId, StoreError> {
        let owner = self.load(run)?.row.owner;
        let written = self.append_item(owner, draft)?;
        self.load(run)?.note_result(place, result, written, raw);
        Ok(written)
    }

    /// Leaves no call of a run without an end. Those that were written down in this very move never went out.
    pub(crate) fn close_calls(&mut self, run: ExecutionId, unmade: &[ItemId]) -> Result<(), StoreError> {
        for (place, call) in self.load(run)?.open_calls() {
            let error = if unmade.contains(&call) {
                json!({ "code": "not_made", "message": "the run ended before the call was made" })
            } else {
                let message = "the run ended while the call was under way; the service may have carried it out";
                json!({ "code": "cancelled", "message": message })
            };
            let result = ToolResult { status: CallStatus::Cancelled, error: Some(error), ..nothing(call) };
            self.write_result(run, place, &result, None, None)?;
        }
        Ok(())
    }
}

/// What its tool says about repeats, else what its kind allows: asking a model twice costs twice and does no harm.
pub(crate) fn retry_of(tool: &Tool, service: Option<&Service>) -> ToolRetry {
    let by_kind = match &tool.operation {
        Operation::LlmCall(_) => ToolRetry::Safe,
        _ if service.is_some_and(|service| is_repeatable(tool, service)) => ToolRetry::Safe,
        _ => ToolRetry::Never,
    };
    tool.retry.unwrap_or(by_kind)
}

impl AuthorizedCall {
    pub(crate) fn retry(&self) -> ToolRetry {
        retry_of(&self.tool.entry, Some(&self.service.entry))
    }
}

/// What came of a call, ready to be written down.
pub(crate) struct CallOutcome {
    answered: CallResponse,
    large: Option<ItemDraft>,
    result: ToolResult,
    /// The result as a fact, where it names no other that is yet to be written.
    fact: Option<ItemDraft>,
    /// Pieces that were said and are not written down yet.
    unwritten: Vec<StreamChunk>,
}

impl CallOutcome {
    /// As much as can be said before the transaction: everybody else who writes waits for that.
    pub(crate) fn new(
        pending: &PendingCall,
        answered: CallResponse,
        large: Option<ItemDraft>,
        latency_ms: i64,
    ) -> Self {
        let blank = ToolResult {
            latency_ms,
            usage: answered.usage.clone(),
            cost: pending.ready.cost(&answered),
            response_id: answered.response_id.clone(),
            scrubbed: answered.scrubbed,
            ..nothing(pending.call)
        };
        let result = match &answered.outcome {
            Ok(_) if large.is_some() => ToolResult { status: CallStatus::Success, ..blank },
            Ok(output) => ToolResult { status: CallStatus::Success, output: output.clone(), ..blank },
            Err(error) => {
                let status = if pending.is_uncertain(error) { CallStatus::Unknown } else { CallStatus::Error };
                ToolResult { status, error: Some(error.clone()), ..blank }
            }
        };
        let names_others = large.is_some() || answered.raw.is_some();
        let fact = if names_others { None } else { result.to_draft().ok() };
        Self { answered, large, result, fact, unwritten: Vec::new() }
    }

    /// The same call, as one whose result cannot be kept.
    pub(crate) fn refused(&self, pending: &PendingCall, error: &StoreError) -> Self {
        let message = format!("what came of the call cannot be kept: {error}");
        Self::new(pending, CallResponse::fault("output_not_storable", &message, false), None, self.result.latency_ms)
    }

    pub(crate) fn weight(&self) -> usize {
        let raw = self.answered.raw.as_ref().map_or(0, |raw| raw.body.len());
        self.large.as_ref().map_or(0, ItemDraft::weight) + raw
    }
}

/// Makes the call; it is broken off when its time is up.
pub(crate) async fn make(engine: &Engine, pending: &PendingCall) -> CallOutcome {
    let begun = Instant::now();
    let (streams, store) = (&engine.parts().streams, &engine.parts().store);
    let job = pending.job.as_ref();
    let heard = pending.said_before.zip(job);
    let listener = heard.map(|(before, job)| streams.listener(store, pending.run, job, before));
    let key = pending.key();
    let is_keyed = pending.ready.retry() == ToolRetry::Keyed;
    let extras = Extras {
        dialogue: &pending.dialogue,
        offers: pending.offered.iter().map(ResolvedOffer::definition).collect(),
        max_tokens: pending.max_tokens,
        key: Some(key.as_str()).filter(|_| is_keyed),
        answer: pending.answer.clone(),
        actor: pending.actor.clone(),
        listener: listener.as_ref().map(|listener| listener as &(dyn Fn(&str) + Send + Sync)),
        ..Extras::default()
    };
    let answering = engine.call(&pending.ready, &pending.inputs, extras);
    let answered = tokio::time::timeout(pending.timeout, answering).await.unwrap_or_else(|_| {
        let message = format!("no answer within {} s", pending.timeout.as_secs());
        CallResponse::fault("timeout", &message, true).uncertain(true)
    });
    let (answered, large) = storable(engine.checked(&pending.ready, answered).await);
    let latency_ms = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
    let unwritten = job.map(|job| streams.unwritten(pending.run, job)).unwrap_or_default();
    CallOutcome { unwritten, ..CallOutcome::new(pending, answered, large, latency_ms) }
}

/// Writes down what came of a call and moves its run on, in one transaction. Whoever lost the job writes nothing.
pub(crate) fn conclude(
    engine: &Engine,
    tx: &mut Tx<'_>,
    pending: &PendingCall,
    came: &CallOutcome,
    slot: &WorkerSlot,
) -> Result<PostCommit, StoreError> {
    let Some(job) = &pending.job else { return Ok(PostCommit::default()) };
    // The run before its job: ending a run locks in the same order.
    let mut execution_tx = ExecutionTransaction::new(engine, tx, slot).locking(pending.is_plain);
    execution_tx.load(pending.run)?;
    let CallOutcome { answered, large, result, fact, unwritten } = came;
    execution_tx.tx.put_chunks(&SYSTEM, job, pending.run, unwritten)?;
    execution_tx.finishes(job.clone());
    let raw = execution_tx.keep_raw(pending.owner, answered)?;
    match fact {
        Some(fact) => execution_tx.keep_result(pending.run, pending.place, result, fact.clone(), None)?,
        None => execution_tx.write_result(pending.run, pending.place, result, large.as_ref(), raw)?,
    };
    execution_tx.note_use(pending, result, answered.is_telling)?;
    let input = match &answered.outcome {
        Ok(output) => Input::Returned {
            place: pending.place,
            output: output.clone(),
            tokens: tokens(answered.usage.as_ref()),
            wishes: pending.wishes(output),
            owed: execution_tx.load(pending.run)?.owed_by(pending.place.step),
            says_nothing: pending.says_nothing(output),
        },
        Err(error) => Input::Faulted { place: pending.place, fault: pending.fault(error) },
    };
    execution_tx.push_input(pending.run, input);
    execution_tx.finish()
}

impl ExecutionTransaction<'_, '_> {
    /// A model's answer as it was received is a fact of its own.
    fn keep_raw(&mut self, owner: UserId, answered: &CallResponse) -> Result<Option<ItemId>, StoreError> {
        let Some(raw) = &answered.raw else { return Ok(None) };
        let draft = ItemDraft::recorded_raw(ItemType::RAW_RESPONSE, raw_response_bytes(&raw.headers, &raw.body))?;
        self.append_item(owner, draft).map(Some)
    }

    /// Health is noted, and what was measured is kept either way.
    fn note_use(&mut self, pending: &PendingCall, result: &ToolResult, is_telling: bool) -> Result<(), StoreError> {
        let ready = &pending.ready;
        if is_telling && let Some(finding) = HealthFinding::of(ready, result) {
            finding.keep(self.tx)?;
        }
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of a call are far below 2^52")]
        let latency = result.latency_ms as f64;
        let (entity, run) = (ready.tool.id, Some(pending.run));
        let of = |name, value| Measurement { name, scope: "tool", entity, run, value };
        self.tx.measure(pending.owner, &of("latency_ms", latency))?;
        if result.status != CallStatus::Success {
            self.tx.measure(pending.owner, &of("errors", 1.0))?;
        }
        if let Some(cost) = result.cost {
            let name = format!("cost.{}", cost.currency);
            self.tx.measure(cost.payer_id, &Measurement { name: &name, ..of("cost", cost.amount.as_f64()) })?;
        }
        Ok(())
    }
}

impl PendingCall {
    /// What a model asks for in its answer.
    fn wishes(&self, output: &Value) -> Vec<RequestedToolCall> {
        let asked = output["toolCalls"].as_array().filter(|_| !self.offered.is_empty());
        let wish = |asked: &Value| {
            let name = asked["name"].as_str().unwrap_or_default().to_owned();
            let offered = self.offered.iter().find(|offered| offered.name == name);
            let written = asked["arguments"].as_str().unwrap_or_default();
            let written = if written.trim().is_empty() { "{}" } else { written };
            let arguments = serde_json::from_str(written).unwrap_or_else(|_| Value::String(written.to_owned()));
            RequestedToolCall {
                id: asked["id"].as_str().unwrap_or_default().to_owned(),
                tool: offered.map(|offered| offered.tool),
                needs_approval: offered.is_none_or(|offered| offered.needs_approval(&arguments)),
                arguments,
                name,
            }
        };
        asked.into_iter().flatten().map(wish).collect()
    }

    /// Whether a model answered without text and without asking for a call (rule BR-STEP-004).
    fn says_nothing(&self, output: &Value) -> bool {
        let is_model = matches!(self.ready.tool.entry.operation, Operation::LlmCall(_));
        let asks = output["toolCalls"].as_array().is_some_and(|calls| !calls.is_empty());
        is_model && !asks && output["text"].as_str().is_some_and(|text| text.trim().is_empty())
    }

    /// Whether the call may have been carried out and must not be twice.
    fn is_uncertain(&self, error: &Value) -> bool {
        error["uncertain"] == true && self.ready.retry() == ToolRetry::Never
    }

    fn fault(&self, error: &Value) -> Fault {
        let text = |name: &str| error[name].as_str().unwrap_or_default();
        let code = if text("code").is_empty() { "call_failed" } else { text("code") };
        Fault {
            code: code.to_owned(),
            message: text("message").to_owned(),
            rule: error["rule"].as_str().map(str::to_owned),
            retryable: error["retryable"].as_bool().unwrap_or(false),
            uncertain: self.is_uncertain(error),
            details: self.fault_details(),
        }
    }

    fn fault_details(&self) -> Value {
        let (tool, service) = (&self.ready.tool, &self.ready.service);
        let mut details = json!({
            "step": self.place.step + 1,
            "toolId": tool.id,
            "toolName": tool.entry.name.as_str(),
            "serviceId": service.id,
            "callId": self.call,
            "attempt": self.attempt,
        });
        if names_service(self.owner, tool, service) {
            details["serviceName"] = json!(service.entry.name.as_str());
        }
        details
    }
}

fn tokens(usage: Option<&Value>) -> u64 {
    let of = |name: &str| usage.and_then(|usage| usage[name].as_u64()).unwrap_or_default();
    of("inputTokens") + of("outputTokens")
}

/// A breach that is nobody's call.
pub(crate) fn breach(rule: &'static str, problem: impl Into<String>, remedy: &'static str) -> StoreError {
    RuleViolation::new(rule, problem, remedy).into()
}
