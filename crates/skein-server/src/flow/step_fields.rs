//! The parts of a process as the API document describes them; `skein_core::flow::step` reads and writes them.

#![expect(dead_code, reason = "describes skein_core::flow::step::Step")]

use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// One unit of work: exactly one of toolId, processId and ask says whom it calls.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct StepFields {
    /// Unique in its process: up to 64 letters, digits and `_-.`.
    #[schema(example = "forecast")]
    id: String,
    name: Option<String>,
    /// A tool of yours, or a shared one.
    #[schema(example = "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    tool_id: Option<String>,
    /// A version of that tool, if it is your own: the step goes on calling what it did then. Without it, what it does now.
    #[schema(minimum = 1)]
    tool_version: Option<i64>,
    /// A process of yours.
    process_id: Option<String>,
    /// A question to a person.
    ask: Option<AskFields>,
    /// What the target asks for; `{x}`, `{context.x}` and `{step.x}` are places for variables.
    #[schema(value_type = Option<Object>)]
    inputs: Option<Map<String, Value>>,
    output: StepOutputFields,
    execution: Option<StepExecutionFields>,
    /// Ids of earlier steps; a sequential step waits for those right before it, named or not.
    depends_on: Option<Vec<String>>,
    /// For steps that a person approves or answers.
    review: Option<ReviewFields>,
    retry: Option<RetryFields>,
    /// What is run in its place when it has failed for good, step after step; the last has the same output variable.
    #[schema(no_recursion)]
    fallback: Option<Vec<StepFields>>,
    /// Conditions on `error.code`, `error.message` and variables; one that holds after a failure ends the process.
    abort_when: Option<Vec<String>>,
    /// Tools that the model of an `llm_call` may call.
    tools: Option<Vec<OfferFields>>,
    tool_limits: Option<OfferLimitsFields>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskFields {
    prompt: String,
    /// A JSON Schema of the answer; anything unless it is said.
    schema: Option<Value>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct StepOutputFields {
    /// Under which later steps and the outputTemplate find the result.
    #[schema(example = "forecast")]
    variable: String,
    #[schema(minimum = 1)]
    token_budget: Option<u64>,
    /// Whether the process fails without it; true unless it is said.
    required: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct StepExecutionFields {
    /// sequential or parallel.
    #[schema(example = "sequential")]
    mode: Option<String>,
    /// A JavaScript expression over variables; the step is skipped when it does not hold.
    condition: Option<String>,
    /// Longest time of a tool call or a nested execution, in seconds; then it is cancelled. Default: 300 for a tool call, none for
    /// a nested execution. Waits for people inside a nested execution count, pauses do not. Refused where the step asks a person.
    #[schema(minimum = 1, maximum = 300)]
    timeout: Option<u32>,
    /// auto, or manual: a person sees, may edit, and approves or denies the tool call or the nested execution before it starts.
    #[schema(example = "auto")]
    interaction_mode: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ReviewFields {
    /// In seconds; without it the step waits for as long as it takes.
    #[schema(minimum = 1)]
    expires_after: Option<u64>,
    /// fail, default or skip.
    #[schema(example = "fail")]
    on_expire: Option<String>,
    /// The answer when onExpire is default. It must satisfy ask.schema. A required output that stays empty fails the step.
    default: Option<Value>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct RetryFields {
    #[schema(maximum = 10)]
    max_retries: u8,
    /// fixed or exponential.
    #[schema(example = "fixed")]
    backoff: Option<String>,
    #[schema(maximum = 300_000)]
    backoff_ms: Option<u32>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct OfferFields {
    tool_id: String,
    /// As with a step's own tool.
    #[schema(minimum = 1)]
    tool_version: Option<i64>,
    /// `never`, `always` or `once`. Default: approval, unless the call only reads and no argument names an address.
    approval: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfferLimitsFields {
    #[schema(minimum = 1, maximum = 32)]
    rounds: Option<u8>,
    #[schema(minimum = 1, maximum = 256)]
    calls: Option<u16>,
    #[schema(minimum = 1, maximum = 3600)]
    seconds: Option<u32>,
    #[schema(minimum = 1)]
    tokens: Option<u64>,
    cost: Option<CostLimitFields>,
}

/// The most that a model's calls and those of its tools may cost together; what is spent in another currency, or at prices
/// nobody knows, is not counted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CostLimitFields {
    /// A decimal number.
    #[schema(example = "0.50")]
    amount: String,
    #[schema(example = "USD")]
    currency: String,
}
