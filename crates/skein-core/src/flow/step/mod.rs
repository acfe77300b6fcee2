//! One unit of work inside a process: whom it calls, with what, when, and what happens if that fails.
//!
//! A step is written by a client and read back many times. Its shape and its limits are checked when it is read
//! ([`Step::parse`]); what depends on the steps around it is checked by [`super::plan`].

mod ineffective_members;
mod wire;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalog::pricing::Currency;
use crate::flow::cost::{Amount, CostTotals};
use crate::id::RecordId;
use crate::rule::RuleViolation;

/// Most steps of a process, those of fallbacks included.
pub const STEPS_MAX: usize = 100;
/// Longest id of a step, in bytes.
pub const STEP_ID_BYTES_MAX: usize = 64;
/// Most inputs of a step.
pub const INPUTS_MAX: usize = 100;
/// Longest call, in seconds (BR-STEP-005).
pub const TIMEOUT_S_MAX: u32 = 300;
/// Longest wait for a person that expires, in seconds: a year.
pub const EXPIRES_AFTER_S_MAX: u64 = 366 * 24 * 3_600;
/// Most tokens of a budget.
pub const TOKEN_BUDGET_MAX: u64 = 1_000_000_000;
/// Most attempts after the first.
pub const RETRIES_MAX: u8 = 10;
/// Longest pause before another attempt, in milliseconds.
pub const BACKOFF_MS_MAX: u32 = 300_000;
/// Most conditions that abort a process.
pub const ABORT_CONDITIONS_MAX: usize = 16;
/// Most tools offered to a model by one step.
pub const OFFERS_MAX: usize = 64;
pub const OFFER_ROUNDS_MAX: u8 = 32;
pub const OFFER_CALLS_MAX: u16 = 256;
pub const OFFER_SECONDS_MAX: u32 = 3_600;

/// A step as it is defined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "wire::StepWire", into = "wire::StepWire")]
pub struct Step {
    /// Unique in its process.
    pub id: String,
    pub name: Option<String>,
    pub target: StepTarget,
    /// The version of the tool whose definition it goes on calling; without it, what the tool is when it is called.
    pub tool_version: Option<i64>,
    /// Values with places to fill in, by the target's names for them.
    pub inputs: Map<String, Value>,
    pub output: StepOutput,
    pub execution: StepExecution,
    /// Ids of earlier steps. A sequential step also waits for the steps right before it, named or not.
    pub depends_on: Option<Vec<String>>,
    pub review: Option<Review>,
    pub retry: Option<StepRetry>,
    /// What is run in its place when it has failed for good.
    pub fallback: Vec<Step>,
    /// Conditions that end the whole process when one holds after a failure of this step.
    pub abort_when: Vec<String>,
    /// Tools that a model may call.
    pub offers: Vec<OfferedTool>,
    pub offer_limits: Option<ToolLoopLimits>,
}

/// Whom a step calls: exactly one (BR-STEP-007).
#[derive(Debug, Clone, PartialEq)]
pub enum StepTarget {
    Tool(RecordId),
    Process(RecordId),
    /// A person, who is asked for an answer.
    Ask(ReviewQuestion),
}

/// A tool or process that is named: as it is now, or a tool as a version defined it. Only tools are ever written down so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reference {
    #[serde(rename = "toolId")]
    pub id: RecordId,
    #[serde(rename = "toolVersion", default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
}

impl From<RecordId> for Reference {
    fn from(id: RecordId) -> Self {
        Self { id, version: None }
    }
}

/// A question to a person; the answer is the step's output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewQuestion {
    /// A text with places to fill in.
    pub prompt: String,
    /// What the answer has to satisfy.
    #[serde(default = "anything")]
    pub schema: Value,
}

fn anything() -> Value {
    Value::Bool(true)
}

/// Where a result goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StepOutput {
    pub variable: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<u64>,
    /// Whether the process fails without it (BR-STEP-004).
    #[serde(default = "is_required_by_default")]
    pub required: bool,
}

fn is_required_by_default() -> bool {
    true
}

/// When and how a step runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StepExecution {
    pub mode: StepMode,
    /// It is skipped when this does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// How long a call may take, in seconds.
    #[serde(rename = "timeout", skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<u32>,
    #[serde(rename = "interactionMode")]
    pub interaction: Interaction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepMode {
    /// After the steps before it.
    #[default]
    Sequential,
    /// Beside its neighbours that are parallel too.
    Parallel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interaction {
    #[default]
    Auto,
    /// A person sees, may edit, and approves or denies the call.
    Manual,
}

/// How long a person is waited for, and what then.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// In seconds; without it the step waits for as long as it takes.
    pub expires_after_s: Option<u64>,
    pub on_expire: OnExpire,
}

/// What an unanswered question comes to.
#[derive(Debug, Clone, PartialEq)]
pub enum OnExpire {
    Fail,
    /// This value stands for the answer.
    Default(Value),
    Skip,
}

/// How often a call that failed is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StepRetry {
    pub max_retries: u8,
    #[serde(default)]
    pub backoff: Backoff,
    #[serde(default)]
    pub backoff_ms: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backoff {
    #[default]
    Fixed,
    /// Twice as long each time.
    Exponential,
}

impl StepRetry {
    /// The pause before retry `number`, from 1, in milliseconds.
    pub fn pause_ms(&self, number: u8) -> u32 {
        let doublings = match self.backoff {
            Backoff::Fixed => 0,
            Backoff::Exponential => u32::from(number.saturating_sub(1)),
        };
        let factor = 1_u32.checked_shl(doublings).unwrap_or(u32::MAX);
        self.backoff_ms.saturating_mul(factor).min(BACKOFF_MS_MAX)
    }
}

/// A tool that the model of a step may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OfferedTool {
    pub tool_id: RecordId,
    /// As with a step's own tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_version: Option<i64>,
    /// Default: by the tool and the arguments ([`crate::flow::approval_policy`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
}

impl OfferedTool {
    pub fn reference(&self) -> Reference {
        Reference { id: self.tool_id, version: self.tool_version }
    }
}

/// Whether a person approves a call that a model asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    Never,
    Always,
    /// The first call of a run; those after it go through.
    Once,
}

/// How far a model may go with the tools it is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ToolLoopLimits {
    pub rounds: u8,
    pub calls: u16,
    pub seconds: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostLimit>,
}

impl Default for ToolLoopLimits {
    fn default() -> Self {
        Self { rounds: 8, calls: 32, seconds: 300, tokens: None, cost: None }
    }
}

/// The most that may be spent. What is spent in another currency, or at prices nobody knows, is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostLimit {
    pub amount: Amount,
    pub currency: Currency,
}

impl CostLimit {
    /// Whether more than this is owed, by whomever.
    pub fn is_below(&self, owed: &CostTotals) -> bool {
        let costs = owed.costs().filter(|cost| cost.currency == self.currency);
        costs.fold(Amount::default(), |sum, cost| sum.plus(cost.amount)) > self.amount
    }
}

impl Step {
    /// Understands a step as a client sends it; `number` is its place, from 1, for the one who reads the refusal.
    pub fn parse(step: &Value, number: usize) -> Result<Self, RuleViolation> {
        let wire: wire::StepWire = serde_json::from_value(step.clone()).map_err(|error| {
            let problem = format!("step {number} is not understood: {error}");
            RuleViolation::new("BR-PROCESS-001", problem, "describe each step by its id, target, inputs and output")
        })?;
        wire.into_step().map_err(|broken| {
            let problem = format!("step {number}: {}", broken.problem());
            RuleViolation::new(broken.rule(), problem, broken.remedy())
        })
    }

    /// The tools and processes it names.
    pub fn references(&self) -> impl Iterator<Item = Reference> + '_ {
        let target = match self.target {
            StepTarget::Tool(id) => Some(Reference { id, version: self.tool_version }),
            StepTarget::Process(id) => Some(id.into()),
            StepTarget::Ask(_) => None,
        };
        target.into_iter().chain(self.offers.iter().map(OfferedTool::reference))
    }

    /// A tool that is called for it or for its model, as it names it.
    pub fn naming(&self, tool: RecordId) -> Reference {
        self.references().find(|named| named.id == tool).unwrap_or(tool.into())
    }

    /// Whether a person has a part in it.
    pub fn waits_for_a_person(&self) -> bool {
        matches!(self.target, StepTarget::Ask(_)) || self.execution.interaction == Interaction::Manual
    }
}
