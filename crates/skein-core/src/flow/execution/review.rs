//! Defines the reviews of an execution: the request to a person and the decisions allowed (decision Z15).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalog::schema::{self, AtOnce, SchemaJudge, Unfit};
use crate::flow::step::Reference;
use crate::id::RecordId;
use crate::rule::RuleViolation;

const RULE: &str = "BR-STEP-006";
/// Longest question that is asked back.
pub const QUESTION_CHARS_MAX: usize = 4_000;

/// What a person is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum ReviewRequest {
    /// May this tool be called, with these inputs?
    Call {
        #[serde(flatten)]
        tool: Reference,
        inputs: Map<String, Value>,
    },
    /// A model asks for this call: may it be made?
    Wish {
        #[serde(flatten)]
        tool: Reference,
        name: String,
        inputs: Map<String, Value>,
    },
    /// May this process be run, with this context?
    Process { process_id: RecordId, inputs: Map<String, Value> },
    /// A question, answered by something of this shape.
    Answer { prompt: String, schema: Value },
    /// A call was begun and nobody saw its end: make it again, say what came of it, or give up?
    Unknown {
        #[serde(flatten)]
        tool: Reference,
        inputs: Map<String, Value>,
    },
    /// A nested execution made a call whose end nobody saw: start another, say what came of it, or give up?
    UnknownProcess { process_id: RecordId, inputs: Map<String, Value> },
}

/// How far an approval reaches (decision Z14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalScope {
    /// This call alone.
    Once,
    /// Every later call of the tool in this run.
    Run,
    /// Every later call of the tool in this run that is made with the same arguments as this one.
    SameArguments,
    /// Every later call of the tool in any run of this person's, until it is revoked or the tool changes: see
    /// [`crate::flow::approval`].
    Always,
}

/// What a person approved beyond the call they were asked about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WiderApproval {
    Tool(RecordId),
    Call { tool: RecordId, inputs: Map<String, Value> },
}

impl WiderApproval {
    /// What is remembered of an approval, if anything is.
    pub fn within(scope: ApprovalScope, tool: RecordId, inputs: &Map<String, Value>) -> Option<Self> {
        match scope {
            // What stands is looked at whenever somebody would be asked, so that revoking it counts at once.
            ApprovalScope::Once | ApprovalScope::Always => None,
            ApprovalScope::Run => Some(Self::Tool(tool)),
            ApprovalScope::SameArguments => Some(Self::Call { tool, inputs: inputs.clone() }),
        }
    }

    pub fn covers(&self, tool: RecordId, inputs: &Map<String, Value>) -> bool {
        match self {
            Self::Tool(approved) => *approved == tool,
            Self::Call { tool: approved, inputs: with } => *approved == tool && with == inputs,
        }
    }
}

/// What a person decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "decision", deny_unknown_fields)]
pub enum Decision {
    /// Make the call, perhaps with other inputs.
    Approve {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inputs: Option<Map<String, Value>>,
        /// Without it, as far as the step says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<ApprovalScope>,
    },
    Deny {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The answer itself, or what a call whose end nobody saw came to.
    Answer { value: Value },
    /// Ask the model that wants the call before deciding: it is not made, and the model goes on with the question.
    Ask { question: String },
}

impl ReviewRequest {
    /// The tool whose call is to be approved before it is made; it may be approved already.
    pub fn approvable(&self) -> Option<Reference> {
        match self {
            Self::Call { tool, .. } | Self::Wish { tool, .. } => Some(*tool),
            Self::Process { .. } | Self::Answer { .. } | Self::Unknown { .. } | Self::UnknownProcess { .. } => None,
        }
    }

    /// The tool whose call it is about.
    pub fn tool(&self) -> Option<Reference> {
        match self {
            Self::Call { tool, .. } | Self::Wish { tool, .. } | Self::Unknown { tool, .. } => Some(*tool),
            Self::Process { .. } | Self::Answer { .. } | Self::UnknownProcess { .. } => None,
        }
    }

    /// The process whose nested execution it is about.
    pub fn process(&self) -> Option<RecordId> {
        match self {
            Self::Process { process_id, .. } | Self::UnknownProcess { process_id, .. } => Some(*process_id),
            Self::Call { .. } | Self::Wish { .. } | Self::Answer { .. } | Self::Unknown { .. } => None,
        }
    }

    /// The same question, without what it is about: somebody destroyed that.
    #[must_use]
    pub fn without_words(self) -> Self {
        match self {
            Self::Call { tool, .. } => Self::Call { tool, inputs: Map::new() },
            Self::Wish { tool, name, .. } => Self::Wish { tool, name, inputs: Map::new() },
            Self::Answer { schema, .. } => Self::Answer { prompt: String::new(), schema },
            Self::Unknown { tool, .. } => Self::Unknown { tool, inputs: Map::new() },
            Self::Process { process_id, .. } => Self::Process { process_id, inputs: Map::new() },
            Self::UnknownProcess { process_id, .. } => Self::UnknownProcess { process_id, inputs: Map::new() },
        }
    }

    /// Refuses decisions that do not answer what was asked.
    pub fn check(&self, decision: &Decision) -> Result<(), RuleViolation> {
        self.check_by(decision, &AtOnce)
    }

    /// [`Self::check`] with a judge of schemas.
    pub fn check_by<J: SchemaJudge>(&self, decision: &Decision, judge: &J) -> Result<(), J::Error> {
        match (self, decision) {
            (Self::Answer { schema, .. }, Decision::Answer { value }) => check_answer(schema, value, judge),
            _ => Ok(self.check_kind(decision)?),
        }
    }

    fn check_kind(&self, decision: &Decision) -> Result<(), RuleViolation> {
        match (self, decision) {
            (Self::Unknown { .. } | Self::UnknownProcess { .. }, Decision::Approve { scope: Some(scope), .. })
                if *scope != ApprovalScope::Once =>
            {
                let remedy = "leave scope out: whether to make a call again is decided for each";
                Err(RuleViolation::new(RULE, "a call whose end nobody saw is approved once", remedy))
            }
            (Self::Process { .. }, Decision::Approve { scope: Some(ApprovalScope::Always), .. }) => {
                let remedy = "approve it once, for this run or for the same arguments";
                Err(RuleViolation::new(RULE, "only a tool is approved for good, and this is a process", remedy))
            }
            (Self::Wish { .. }, Decision::Ask { question }) => check_question(question),
            (_, Decision::Ask { .. }) => {
                let remedy = "deny it and say why, or ask somebody else to decide";
                Err(RuleViolation::new(RULE, "only a model that wants a call can be asked back", remedy))
            }
            (Self::Answer { .. }, Decision::Approve { .. }) => {
                Err(RuleViolation::new(RULE, "an answer is asked for, not an approval", "answer with a value, or deny"))
            }
            (_, Decision::Deny { .. } | Decision::Approve { .. })
            | (Self::Answer { .. } | Self::Unknown { .. } | Self::UnknownProcess { .. }, Decision::Answer { .. }) => {
                Ok(())
            }
            (Self::Call { .. } | Self::Wish { .. } | Self::Process { .. }, Decision::Answer { .. }) => {
                Err(RuleViolation::new(RULE, "an approval is asked for, not an answer", "approve or deny the call"))
            }
        }
    }
}

impl Decision {
    /// Whether it approves for good.
    pub fn stands(&self) -> bool {
        matches!(self, Self::Approve { scope: Some(ApprovalScope::Always), .. })
    }

    /// That it was decided, without what was said with it.
    #[must_use]
    pub fn without_words(self) -> Self {
        match self {
            Self::Approve { scope, .. } => Self::Approve { inputs: None, scope },
            Self::Deny { .. } => Self::Deny { reason: None },
            Self::Answer { .. } => Self::Answer { value: Value::Null },
            Self::Ask { .. } => Self::Ask { question: String::new() },
        }
    }
}

fn check_question(question: &str) -> Result<(), RuleViolation> {
    if !question.trim().is_empty() && question.chars().count() <= QUESTION_CHARS_MAX {
        return Ok(());
    }
    let remedy = "ask in 1 to 4000 characters, or decide";
    Err(RuleViolation::new(RULE, "who asks back says what they want to know", remedy))
}

pub(crate) fn check_answer<J: SchemaJudge>(schema: &Value, value: &Value, judge: &J) -> Result<(), J::Error> {
    let bad = |problem: String| RuleViolation::new(RULE, problem, "give an answer of the shape that is asked for");
    judge.verdict(schema, value)?.map_err(|unfit| match unfit {
        Unfit::Schema(error) => bad(error.to_string()).into(),
        Unfit::Value(breaches) => bad(format!("the answer does not fit: {}", schema::describe(&breaches))).into(),
    })
}
