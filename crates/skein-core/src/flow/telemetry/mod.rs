//! Describes an ended execution as spans for a trace collector: one for each execution, step and call, nested.
//!
//! The trace has the bits of the outermost run, and every span an id that follows from what it is of, so telling a run twice
//! tells the same spans. What was said is left out unless [`TracedContent::Told`] is asked for; names of processes, steps, tools
//! and models are told. The words are those of [`conventions`]. Start at [`spans`].

pub mod conventions;
#[cfg(test)]
mod tests;
mod tool;

use serde_json::{Map, Value};

use crate::digest::FieldHasher;
use crate::flow::cost::Cost;
use crate::flow::execution::input::Fault;
use crate::flow::execution::state::{ExecutionStatus, Phase};
use crate::id::{ConversationId, ExecutionId, ItemId, RecordId};
use crate::time::Millis;
use conventions as say;

pub use tool::ToolTrace;

/// Most of a text that is told, in characters.
const CONTENT_CHARS_MAX: usize = 16_384;

/// Whether what was said is told too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TracedContent {
    #[default]
    LeftOut,
    Told,
}

/// A run with all that happened in it.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutionTrace {
    pub id: ExecutionId,
    pub process: RecordId,
    pub process_name: String,
    pub process_version: i64,
    pub conversation: Option<ConversationId>,
    pub status: ExecutionStatus,
    pub fault: Option<Fault>,
    pub tokens: i64,
    pub began_at: Millis,
    pub ended_at: Option<Millis>,
    /// The index of the step that started it, in the run above.
    pub started_by: Option<usize>,
    pub steps: Vec<StepTrace>,
    pub calls: Vec<CallTrace>,
    pub children: Vec<ExecutionTrace>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StepTrace {
    pub id: String,
    pub phase: Phase,
    pub attempts: u32,
    pub fault: Option<Fault>,
    pub began_at: Option<Millis>,
    pub ended_at: Option<Millis>,
}

/// A call as it was written down.
#[derive(Debug, Clone, PartialEq)]
pub struct CallTrace {
    pub id: ItemId,
    /// The index of the step it was made for.
    pub step: usize,
    pub at: Millis,
    pub said: Map<String, Value>,
    pub tool: ToolTrace,
    /// When it came back, and with what.
    pub result: Option<(Millis, Map<String, Value>)>,
}

/// Something that took a while.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub trace_id: [u8; 16],
    pub id: SpanId,
    pub parent: Option<SpanId>,
    pub name: String,
    pub kind: SpanKind,
    pub began_at: Millis,
    pub ended_at: Millis,
    pub attributes: Vec<(&'static str, Attribute)>,
    pub status: SpanStatus,
}

pub type SpanId = [u8; 8];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Done here.
    Internal,
    /// Asked of somebody else.
    Client,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    Text(String),
    Whole(i64),
    Real(f64),
    Truth(bool),
    Texts(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpanStatus {
    /// Nothing is said: it came out, or was taken back.
    Unset,
    /// It failed; why in words only where content is told.
    Error(Option<String>),
}

/// Every span of a run and of those it started, the outermost first.
pub fn spans(run: &ExecutionTrace, content: TracedContent) -> Vec<Span> {
    let teller = SpanBuilder { trace_id: *run.id.as_bytes(), conversation: run.conversation, content };
    let mut spans = Vec::new();
    teller.run(run, None, &mut spans);
    spans
}

struct SpanBuilder {
    trace_id: [u8; 16],
    conversation: Option<ConversationId>,
    content: TracedContent,
}

impl SpanBuilder {
    fn run(&self, run: &ExecutionTrace, parent: Option<SpanId>, spans: &mut Vec<Span>) {
        let (id, ended_at) = (span_id("run", run.id.as_bytes(), 0), run.end());
        let mut span = self.span(id, parent, format!("{} {}", say::INVOKE_AGENT, run.process_name));
        (span.began_at, span.ended_at) = (run.began_at, ended_at);
        span.text(say::OPERATION_NAME, say::INVOKE_AGENT);
        span.text(say::PROVIDER_NAME, say::OURSELVES);
        span.text(say::AGENT_ID, run.process.to_string());
        span.text(say::AGENT_NAME, &run.process_name);
        span.text(say::AGENT_VERSION, run.process_version.to_string());
        span.text(say::RUN_ID, run.id.to_string());
        span.text(say::RUN_STATUS, run.status.as_str());
        span.attributes.push((say::RUN_TOKENS, Attribute::Whole(run.tokens)));
        if run.status == ExecutionStatus::Failed {
            self.failed(&mut span, run.fault.as_ref());
        }
        spans.push(span);
        let steps: Vec<Option<SpanId>> =
            run.steps.iter().enumerate().map(|(index, step)| self.step(run, (index, step), id, spans)).collect();
        let below = |step: usize| steps.get(step).copied().flatten().unwrap_or(id);
        for call in &run.calls {
            spans.push(self.call(call, below(call.step), ended_at));
        }
        for child in &run.children {
            self.run(child, Some(child.started_by.map_or(id, below)), spans);
        }
    }

    /// A step that never began took no time.
    fn step(
        &self,
        run: &ExecutionTrace,
        (index, step): (usize, &StepTrace),
        parent: SpanId,
        spans: &mut Vec<Span>,
    ) -> Option<SpanId> {
        let began_at = step.began_at?;
        let id = span_id("step", run.id.as_bytes(), index);
        let mut span = self.span(id, Some(parent), format!("step {}", step.id));
        (span.began_at, span.ended_at) = (began_at, step.ended_at.unwrap_or(run.end()).max(began_at));
        span.text(say::STEP_ID, &step.id);
        span.text(say::STEP_PHASE, step.phase.as_str());
        span.attributes.push((say::STEP_ATTEMPTS, Attribute::Whole(step.attempts.into())));
        if step.phase == Phase::Failed {
            self.failed(&mut span, step.fault.as_ref());
        }
        spans.push(span);
        Some(id)
    }

    fn call(&self, call: &CallTrace, parent: SpanId, run_ended_at: Millis) -> Span {
        let id = span_id("call", call.id.as_bytes(), 0);
        let mut span = self.span(id, Some(parent), call.tool.span_name());
        let (ended_at, result) = match &call.result {
            Some((at, result)) => (*at, result),
            None => (run_ended_at, &Map::new()),
        };
        (span.began_at, span.ended_at) = (call.at, ended_at.max(call.at));
        call.tool.describe(&mut span, call.id);
        span.text(say::CALL_ID, call.id.to_string());
        for (name, value) in [(say::CALL_ASKED_BY, call.said.get("caller")), (say::CALL_STATUS, result.get("status"))] {
            span.told_text(name, value);
        }
        describe_result(&mut span, result);
        if call.tool.is_model() {
            describe_answer(&mut span, result);
        }
        if self.content == TracedContent::Told {
            call.tool.tell_content(&mut span, &call.said, result);
        }
        if result.get("status").and_then(Value::as_str) == Some("error") {
            let error = result.get("error").cloned().unwrap_or_default();
            let text = |name: &str| error[name].as_str().unwrap_or_default();
            self.failed(&mut span, Some(&Fault::new(text("code"), text("message"))));
        }
        span
    }

    fn span(&self, id: SpanId, parent: Option<SpanId>, name: String) -> Span {
        let conversation = self.conversation.map(|id| (say::CONVERSATION_ID, Attribute::Text(id.to_string())));
        Span {
            trace_id: self.trace_id,
            id,
            parent,
            name,
            kind: SpanKind::Internal,
            began_at: Millis(0),
            ended_at: Millis(0),
            attributes: conversation.into_iter().collect(),
            status: SpanStatus::Unset,
        }
    }

    fn failed(&self, span: &mut Span, fault: Option<&Fault>) {
        let code = fault.map(|fault| fault.code.as_str()).filter(|code| !code.is_empty());
        span.text(say::ERROR_TYPE, code.unwrap_or("_OTHER"));
        let words = fault.map(|fault| cut(&fault.message)).filter(|_| self.content == TracedContent::Told);
        span.status = SpanStatus::Error(words);
    }
}

impl ExecutionTrace {
    fn end(&self) -> Millis {
        self.ended_at.unwrap_or(self.began_at).max(self.began_at)
    }
}

impl Span {
    fn text(&mut self, name: &'static str, text: impl Into<String>) {
        self.attributes.push((name, Attribute::Text(text.into())));
    }

    fn told_text(&mut self, name: &'static str, value: Option<&Value>) {
        if let Some(text) = value.and_then(Value::as_str) {
            self.text(name, text);
        }
    }
}

/// What was used up, and what it cost where that is known.
fn describe_result(span: &mut Span, result: &Map<String, Value>) {
    let usage = result.get("usage").unwrap_or(&Value::Null);
    for (name, tokens) in
        [(say::USAGE_INPUT_TOKENS, &usage["inputTokens"]), (say::USAGE_OUTPUT_TOKENS, &usage["outputTokens"])]
    {
        span.attributes.extend(tokens.as_i64().map(|tokens| (name, Attribute::Whole(tokens))));
    }
    if usage["isEstimate"] == true {
        span.attributes.push((say::USAGE_IS_ESTIMATE, Attribute::Truth(true)));
    }
    let cost = result.get("cost").and_then(|cost| serde_json::from_value::<Cost>(cost.clone()).ok());
    if let Some(cost) = cost {
        span.attributes.push((say::COST_AMOUNT, Attribute::Real(cost.amount.as_f64())));
        span.text(say::COST_CURRENCY, cost.currency.to_string());
    }
}

/// What a provider said about its answer.
fn describe_answer(span: &mut Span, result: &Map<String, Value>) {
    let output = result.get("output").unwrap_or(&Value::Null);
    span.told_text(say::RESPONSE_MODEL, output.get("model"));
    span.told_text(say::RESPONSE_ID, result.get("responseId"));
    if let Some(finish) = output["finish"].as_str() {
        span.attributes.push((say::RESPONSE_FINISH_REASONS, Attribute::Texts(vec![finish.to_owned()])));
    }
}

/// The same whenever it is asked for, and never all zeros, which means none.
fn span_id(kind: &str, of: &[u8; 16], index: usize) -> SpanId {
    let index = u64::try_from(index).unwrap_or(u64::MAX).to_be_bytes();
    let digest = FieldHasher::new().field(b"span").field(kind.as_bytes()).field(of).field(&index).finish();
    let mut id: SpanId = digest.0[..8].try_into().expect("a digest has more than eight bytes");
    id[7] |= u8::from(id == [0; 8]);
    id
}

fn cut(text: &str) -> String {
    text.chars().take(CONTENT_CHARS_MAX).collect()
}
