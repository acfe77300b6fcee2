//! Defines the inputs of the machine and the effects it requests.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::flow::cost::CostTotals;
use crate::flow::execution::review::{Decision, ReviewRequest};
use crate::id::RecordId;
use crate::rule::RuleViolation;

/// Which call of a run is meant: that of a step, or one a model asked for while it answered a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallSite {
    /// The step's index in the plan.
    pub step: usize,
    /// Which of the calls the model asked for last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
}

impl CallSite {
    pub fn of(step: usize) -> Self {
        Self { step, call: None }
    }
}

/// Why something did not come out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fault {
    /// For programs: `timeout`, `rule_violation` …
    pub code: String,
    /// For people, in the words of the service that failed (rule BR-EXEC-006).
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Whether the same call may come out another time. A breach of a rule will not.
    pub retryable: bool,
    /// Whether the call may have been carried out, and doing it twice may do harm: only a person has it made again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncertain: bool,
    /// What was being called: tool, service, other runs.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub details: Value,
}

impl Fault {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        let (code, message, details) = (code.to_owned(), message.into(), Value::Null);
        Self { code, message, rule: None, retryable: false, uncertain: false, details }
    }

    /// Every refusal by a rule reads alike.
    pub fn breach(violation: &RuleViolation) -> Self {
        let message = format!("{}; {}", violation.problem(), violation.remedy());
        Self { rule: Some(violation.rule().to_owned()), ..Self::new("rule_violation", message) }
    }

    #[must_use]
    pub fn by_rule(mut self, rule: &str) -> Self {
        self.rule = Some(rule.to_owned());
        self
    }
}

/// A call a model asks for, as far as the engine could make sense of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestedToolCall {
    /// The model's own name for this call, by which it expects the result.
    pub id: String,
    pub name: String,
    /// The offered tool of that name, if there is one.
    pub tool: Option<RecordId>,
    pub arguments: Value,
    /// Whether a person has to approve.
    pub needs_approval: bool,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    Begin,
    /// A call came back.
    Returned {
        place: CallSite,
        output: Value,
        tokens: u64,
        wishes: Vec<RequestedToolCall>,
        /// What all calls of the step cost so far, as far as that is known.
        owed: CostTotals,
        /// Whether a model answered without text and without asking for a call.
        says_nothing: bool,
    },
    /// A call failed, timed out, or may not be made.
    Faulted {
        place: CallSite,
        fault: Fault,
    },
    /// A call was begun, its worker vanished, and it may not be made again: nobody knows what came of it.
    Lost {
        place: CallSite,
    },
    /// The call of a step is not made before a person approves it.
    Held {
        place: CallSite,
    },
    /// A person decided.
    Decided {
        place: CallSite,
        decision: Decision,
    },
    /// Nobody decided in time.
    Expired {
        place: CallSite,
    },
    /// The run that a step started has ended.
    ChildEnded {
        place: CallSite,
        outcome: Result<Value, Fault>,
        tokens: u64,
    },
    Cancel,
}

/// What is to be done, in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Queue a call of a tool.
    Call {
        place: CallSite,
        tool: RecordId,
        inputs: Map<String, Value>,
        attempt: u32,
        delay_ms: i64,
    },
    /// Ask a person, and go on without holding anything.
    Ask {
        place: CallSite,
        asked: ReviewRequest,
        expires_after_s: Option<u64>,
    },
    /// Start another run, and go on when it has ended.
    Run {
        place: CallSite,
        process: RecordId,
        context: Map<String, Value>,
        delay_ms: i64,
    },
    /// Take back every call, question and run of this one that is still open.
    Withdraw,
    End(ExecutionOutcome),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum ExecutionOutcome {
    Completed {
        output: Value,
    },
    /// `step` is where, unless it was the output itself.
    Failed {
        step: Option<usize>,
        fault: Fault,
    },
    Cancelled,
}
