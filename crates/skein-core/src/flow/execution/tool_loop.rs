//! The calls a model asks for while it answers a step: rounds of calls and results, within limits (decision Z14).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::flow::cost::CostTotals;
use crate::flow::execution::input::{Fault, RequestedToolCall};
use crate::flow::execution::review::WiderApproval;
use crate::flow::execution::state::Phase;
use crate::flow::step::ToolLoopLimits;
use crate::id::{ConversationId, ItemId, RecordId};
use crate::time::Millis;

/// Most of a result that is fed back to a model, in bytes of JSON; the whole is in the call's own record.
pub const RESULT_BYTES_MAX: usize = 64 << 10;

/// Member of a `tool` message that a person decided. Only such a message reaches the model without a fence.
pub const BY_PERSON: &str = "byPerson";

/// What a model and its tools said to each other so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolLoop {
    pub rounds: u32,
    pub calls: u32,
    /// Messages after those the step began with: the model's wishes and what came of them.
    pub messages: Vec<Value>,
    /// The calls of the present round.
    pub open: Vec<OpenCall>,
    /// What a person approved for the rest of the run.
    pub approved: Vec<WiderApproval>,
    /// Whether a person approved the step's own call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub call_approved: bool,
    /// Since when a person is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asking_since: Option<Millis>,
    /// How long people were waited for, in milliseconds: that is not the step's time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waited_ms: i64,
    /// Where all of it is written down for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ConversationId>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(milliseconds: &i64) -> bool {
    *milliseconds == 0
}

/// A call a model asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenCall {
    pub id: String,
    pub name: String,
    pub tool: Option<RecordId>,
    pub inputs: Map<String, Value>,
    pub phase: Phase,
    /// What the model is told.
    pub result: Value,
    /// Whether a person's decision stands for the result, and not what a tool gave.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_person: bool,
    /// The call as it was written down, once it is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ItemId>,
}

impl ToolLoop {
    /// Takes up what a model asks for. Refuses a round, or calls, beyond the limits.
    pub fn open_round(
        &mut self,
        text: &Value,
        wishes: &[RequestedToolCall],
        limits: &ToolLoopLimits,
        spent: &LimitUsage<'_>,
        is_approved: impl Fn(RecordId, &Map<String, Value>) -> bool,
    ) -> Result<(), Fault> {
        let calls = u32::try_from(wishes.len()).unwrap_or(u32::MAX);
        self.rounds += 1;
        self.calls = self.calls.saturating_add(calls);
        let over = [
            (self.rounds > u32::from(limits.rounds), "rounds"),
            (self.calls > u32::from(limits.calls), "calls"),
            (spent.seconds > i64::from(limits.seconds), "seconds"),
            (limits.tokens.is_some_and(|most| spent.tokens > most), "tokens"),
            (limits.cost.is_some_and(|most| most.is_below(spent.owed)), "cost"),
        ];
        if let Some((_, what)) = over.iter().find(|(is_over, _)| *is_over) {
            let message = format!("the model kept asking for calls beyond the limit of {what} of this step");
            return Err(Fault::new("tool_limit_exceeded", message).by_rule("Z14"));
        }
        let asked: Vec<Value> = wishes
            .iter()
            .map(|wish| json!({ "id": wish.id, "name": wish.name, "arguments": wish.arguments }))
            .collect();
        self.messages.push(json!({ "role": "assistant", "content": text, "toolCalls": asked }));
        self.open = wishes.iter().map(|wish| opened(wish, &is_approved)).collect();
        Ok(())
    }

    /// A person is asked from now on.
    pub fn ask(&mut self, now: Millis) {
        self.asking_since.get_or_insert(now);
    }

    /// A person decided, or did not in time. While others of the round are open, people are still waited for.
    pub fn answer(&mut self, now: Millis) {
        if self.open.iter().any(|call| call.phase == Phase::Asking) {
            return;
        }
        if let Some(since) = self.asking_since.take() {
            self.waited_ms += (now.0 - since.0).max(0);
        }
    }

    pub fn is_answered(&self) -> bool {
        self.open.iter().all(|call| call.phase.has_ended())
    }

    /// Ends a round: what came of the calls, in the order they were asked for.
    pub fn close_round(&mut self) {
        for call in std::mem::take(&mut self.open) {
            let mut told = json!({ "role": "tool", "toolCallId": call.id, "content": shown(&call.result) });
            if call.by_person {
                told[BY_PERSON] = Value::Bool(true);
            }
            self.messages.push(told);
        }
    }
}

fn opened(wish: &RequestedToolCall, is_approved: &impl Fn(RecordId, &Map<String, Value>) -> bool) -> OpenCall {
    let call = |phase, inputs, result| OpenCall {
        id: wish.id.clone(),
        name: wish.name.clone(),
        tool: wish.tool,
        inputs,
        phase,
        result,
        by_person: false,
        call: None,
    };
    match (wish.tool, &wish.arguments) {
        (None, _) => call(Phase::Failed, Map::new(), told("there is no tool of that name")),
        (Some(tool), Value::Object(inputs)) => {
            let is_free = !wish.needs_approval || is_approved(tool, inputs);
            call(if is_free { Phase::Calling } else { Phase::Asking }, inputs.clone(), Value::Null)
        }
        (Some(_), _) => call(Phase::Failed, Map::new(), told("the arguments are not an object")),
    }
}

/// What a step has used up.
#[derive(Debug, Clone, Copy)]
pub struct LimitUsage<'a> {
    pub seconds: i64,
    pub tokens: u64,
    /// As far as it is known.
    pub owed: &'a CostTotals,
}

impl<'a> LimitUsage<'a> {
    /// The time people took to decide is not counted.
    pub fn since(began_at: Option<Millis>, now: Millis, waited_ms: i64, tokens: u64, owed: &'a CostTotals) -> Self {
        let seconds = began_at.map_or(0, |began| (now.0 - began.0 - waited_ms) / 1_000);
        Self { seconds, tokens, owed }
    }
}

/// What a model is told of a call that did not come out.
pub fn told(problem: &str) -> Value {
    json!({ "error": problem })
}

/// What a model is told in place of a result when a person asks before they decide.
pub fn asked_back(question: &str) -> Value {
    let then = "Answer in words, or ask for the call again.";
    Value::String(format!("The call was not made. Before deciding, the person asks: {question}\n{then}"))
}

fn shown(result: &Value) -> String {
    let text = match result {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.len() <= RESULT_BYTES_MAX {
        return text;
    }
    let end = (0..=RESULT_BYTES_MAX).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{} … [cut]", &text[..end])
}
