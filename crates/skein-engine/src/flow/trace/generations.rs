//! Reads how nodes were generated: for each node its execution, usage, cost, and one line for each call.
//!
//! A transcript asks this about all the answers in sight at once. It is told by facts, so it is there as long as they are.

use std::collections::HashMap;

use serde::Deserialize as _;
use serde_json::{Map, Value};
use skein_core::catalog::tool::Tool;
use skein_core::flow::tool_call::{CallRequester, CallStatus};
use skein_core::{ExecutionId, ItemId, NodeId, RecordId, Viewer};
use skein_store::flow::ExecutionCall;
use skein_store::timeline::items::StoredItem;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{StoredEntry, load};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::SYSTEM;
use crate::flow::trace::cost::TotalCost;
use crate::tool_call::builtin_tools;

/// Most nodes that are asked about at once.
pub const GENERATIONS_MAX: usize = 100;
/// How much of what went wrong is told, in characters.
const ERROR_CHARS_MAX: usize = 300;
/// How much of a model's name is told, in characters.
const MODEL_CHARS_MAX: usize = 200;

/// How a node was made, or is being made.
#[derive(Debug, Clone, PartialEq)]
pub struct Generation {
    /// The node.
    pub node: NodeId,
    /// The run that made it.
    pub run: ExecutionId,
    /// What models read for it; nothing where that was not told.
    pub input_tokens: Option<u64>,
    /// What models wrote for it.
    pub output_tokens: Option<u64>,
    /// What the run and those it started cost.
    pub spending: Option<TotalCost>,
    /// In the order they were made, those of the runs it started included.
    pub calls: Vec<CallSummary>,
}

/// One call, in a line.
#[derive(Debug, Clone, PartialEq)]
pub struct CallSummary {
    /// The item that is the call.
    pub id: ItemId,
    /// The run that made it.
    pub run: ExecutionId,
    /// Nothing once the call was destroyed.
    pub tool: Option<RecordId>,
    /// How the tool is called now.
    pub name: Option<String>,
    /// `rest_call`, `llm_call` …
    pub operation: Option<String>,
    /// Who asked for it.
    pub asker: Option<CallRequester>,
    /// Whether it is Skein's own ability.
    pub is_own: bool,
    /// Nothing while it is under way.
    pub status: Option<CallStatus>,
    /// How long it took.
    pub latency_ms: Option<i64>,
    /// What went wrong, for people.
    pub error: Option<String>,
    /// The model that answered, as its provider names it.
    pub model: Option<String>,
    /// What a model thought aloud; nothing where it did not.
    pub reasoning: Option<Reasoning>,
    /// The item that holds what a model answered, as it was received.
    pub raw_response: Option<ItemId>,
}

/// How much a model thought aloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reasoning {
    /// In tokens.
    pub tokens: u64,
    /// Whether they were reckoned from the length of what it thought, or nobody knows any more.
    pub is_estimate: bool,
}

impl Engine {
    /// How these nodes were made, as far as runs made them and they are the caller's to see.
    pub async fn generations(&self, caller: &Caller, nodes: Vec<NodeId>) -> Result<Vec<Generation>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| generations(tx, &viewer, &nodes)).await?)
    }
}

/// What was said by each fact that can be seen.
type Facts = HashMap<ItemId, Map<String, Value>>;
/// How a tool is called, and whether it is Skein's own.
type Tools = HashMap<RecordId, (String, bool)>;

fn generations(tx: &mut Tx<'_>, viewer: &Viewer, nodes: &[NodeId]) -> Result<Vec<Generation>, StoreError> {
    let mut made_by = tx.executions_of_nodes(viewer, nodes)?;
    let others: Vec<NodeId> = nodes.iter().copied().filter(|node| !made_by.contains_key(node)).collect();
    let forgotten = tx.removed_executions_of_nodes(viewer, &others)?;
    made_by.extend(&forgotten);
    let roots: Vec<ExecutionId> = made_by.values().copied().collect();
    let belongs = tx.with_started(&roots)?;
    let runs: Vec<ExecutionId> = belongs.keys().copied().collect();
    let calls = tx.calls_of_executions(&runs)?;
    let wanted: Vec<ItemId> = calls.iter().flat_map(|call| [Some(call.call), call.result]).flatten().collect();
    let facts: Facts = tx.items_among(viewer, &wanted)?.into_iter().map(|(id, stored)| (id, said(&stored))).collect();
    let tools = tools(tx, &facts)?;
    let mut by_root: HashMap<ExecutionId, Vec<ExecutionCall>> = HashMap::new();
    for call in calls.into_iter().filter(|call| facts.contains_key(&call.call)) {
        by_root.entry(belongs[&call.run]).or_default().push(call);
    }
    // Ids grow with time: those of runs that were started stand where they were made.
    for calls in by_root.values_mut() {
        calls.sort_by_key(|call| call.call);
    }
    let made = |node: &NodeId| {
        let run = *made_by.get(node)?;
        let calls = by_root.get(&run).map_or(&[][..], Vec::as_slice);
        let mut made = Generation::of(*node, run, calls, &facts, &tools);
        // Which runs a forgotten one started is not looked for: that would read much of the timeline.
        if let Some(spending) = made.spending.as_mut() {
            spending.is_complete &= !forgotten.contains_key(node);
        }
        Some(made)
    };
    Ok(nodes.iter().filter_map(made).collect())
}

pub(crate) fn said(stored: &StoredItem) -> Map<String, Value> {
    stored.item.document().unwrap_or_default()
}

/// The tools these calls were of. Whoever called one knows it, whatever became of it since.
fn tools(tx: &mut Tx<'_>, facts: &Facts) -> Result<Tools, StoreError> {
    let mut tools = Tools::new();
    for tool in facts.values().filter_map(tool_of) {
        if tools.contains_key(&tool) {
            continue;
        }
        match load::<Tool>(tx, &SYSTEM, tool) {
            Ok(StoredEntry { entry, .. }) => {
                tools.insert(tool, (entry.name.as_str().to_owned(), builtin_tools::is_own(entry.service_id)))
            }
            Err(StoreError::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
    }
    Ok(tools)
}

pub(crate) fn tool_of(said: &Map<String, Value>) -> Option<RecordId> {
    said.get("toolId")?.as_str()?.parse().ok()
}

impl Generation {
    fn of(node: NodeId, run: ExecutionId, calls: &[ExecutionCall], facts: &Facts, tools: &Tools) -> Self {
        let mut made = Self { node, run, input_tokens: None, output_tokens: None, spending: None, calls: Vec::new() };
        let mut spending = TotalCost::nothing();
        for call in calls {
            let (said, result) = (&facts[&call.call], call.result.and_then(|result| facts.get(&result)));
            spending.count(said, result);
            let usage = result.and_then(|result| result.get("usage"));
            add(&mut made.input_tokens, usage, "inputTokens");
            add(&mut made.output_tokens, usage, "outputTokens");
            made.calls.push(CallSummary::of(call, said, result, tools));
        }
        made.spending = Some(spending).filter(|spending| !spending.owed.is_empty());
        made
    }
}

fn add(sum: &mut Option<u64>, usage: Option<&Value>, name: &str) {
    if let Some(tokens) = usage.and_then(|usage| usage[name].as_u64()) {
        *sum = Some(sum.unwrap_or_default() + tokens);
    }
}

impl CallSummary {
    fn of(call: &ExecutionCall, said: &Map<String, Value>, result: Option<&Map<String, Value>>, tools: &Tools) -> Self {
        let tool = tool_of(said);
        let known = tool.and_then(|tool| tools.get(&tool));
        let operation = said.get("operation").and_then(Value::as_str);
        // Other tools may well put out something that is called so.
        let answer = result.filter(|_| operation == Some("llm_call"));
        let model = answer.and_then(|result| result.get("output")?.get("model")?.as_str());
        Self {
            id: call.call,
            run: call.run,
            tool,
            name: known.map(|(name, _)| name.clone()),
            operation: operation.map(str::to_owned),
            asker: said.get("caller").and_then(|caller| CallRequester::deserialize(caller).ok()),
            is_own: known.is_some_and(|(_, is_own)| *is_own),
            status: result.and_then(|result| CallStatus::deserialize(result.get("status")?).ok()),
            latency_ms: result.and_then(|result| result.get("latencyMs")?.as_i64()),
            model: model.map(|name| name.chars().take(MODEL_CHARS_MAX).collect()),
            reasoning: answer.and_then(|result| Reasoning::of(result.get("usage")?)),
            raw_response: answer.and_then(|result| result.get("rawResponseId")?.as_str()?.parse().ok()),
            error: result.and_then(failure_words),
        }
    }
}

impl Reasoning {
    fn of(usage: &Value) -> Option<Self> {
        let tokens = usage["reasoningTokens"].as_u64().filter(|tokens| *tokens > 0)?;
        // Results that were written before this was told do not say whether anybody counted.
        Some(Self { tokens, is_estimate: usage["reasoningIsEstimate"] != false })
    }
}

/// What went wrong, for people, as far as the result of a call says so.
pub(crate) fn failure_words(result: &Map<String, Value>) -> Option<String> {
    let words = result.get("error")?.get("message")?.as_str()?;
    Some(words.chars().take(ERROR_CHARS_MAX).collect())
}
