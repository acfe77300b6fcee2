//! Defines the payloads of an execution's items: its beginning, each transition, reviews and their decisions, its end.
//!
//! A move holds no content, only ids and phases, and it alone tells what caused what; so everything a person may want
//! destroyed can be, and the trace can still be walked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::digest::FieldHasher;
use crate::flow::cost::CostTotals;
use crate::flow::execution::input::{CallSite, Fault};
use crate::flow::execution::review::{Decision, ReviewRequest};
use crate::flow::execution::state::{ExecutionStatus, Phase};
use crate::garden::item::{BadItem, ItemDraft, ItemType, Payload, PayloadForm};
use crate::garden::relation::RelationKind;
use crate::id::{ConversationId, Entropy, ExecutionId, ItemId, NodeId, RecordId, RelationId, ReviewId, UserId};
use crate::tree::rollback::PriorState;

/// A run that begins. Its item has the bits of its [`ExecutionId`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionBegun {
    pub process_id: RecordId,
    /// The version of the process's record that is carried out, to the end.
    pub process_version: i64,
    pub context: Map<String, Value>,
    pub trigger: Trigger,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<OutputTarget>,
    /// What the request changed in the target's conversation, as it was before.
    #[serde(default, skip_serializing_if = "PriorState::is_empty")]
    pub prior: PriorState,
    /// The run whose earlier outputs it took over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branched_from: Option<ExecutionId>,
    /// What a person put in place of those outputs, by variable.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub branched_with: Map<String, Value>,
}

/// Why a run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "by")]
pub enum Trigger {
    Person {
        user_id: UserId,
    },
    /// A step of another run.
    Run {
        run_id: ExecutionId,
        place: CallSite,
    },
}

/// Where the output of a run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputTarget {
    pub conversation_id: ConversationId,
    /// The node whose place is kept for it.
    pub node_id: NodeId,
    /// What it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<NodeId>,
}

/// One move of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionMoved {
    pub run_id: ExecutionId,
    pub steps: Vec<StepMoved>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<CausalLink>,
}

/// Where a step stands after a move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepMoved {
    pub step: usize,
    pub phase: Phase,
}

/// A call that was written down in this move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRecord {
    pub call_id: ItemId,
    pub place: CallSite,
    /// The conversation or the run, by its bits.
    pub session: ExecutionId,
    pub sequence: i64,
}

/// What led to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CausalLink {
    pub kind: CausalLinkKind,
    pub source: ItemId,
    pub target: ItemId,
}

/// The relations a run makes (decision Z13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CausalLinkKind {
    /// From the latest cause to its effect.
    Triggers,
    /// From an effect to a further cause.
    DerivedFrom,
    /// From a result to its call.
    ResultOf,
}

impl CausalLinkKind {
    pub fn relation(self) -> RelationKind {
        match self {
            Self::Triggers => RelationKind::Triggers,
            Self::DerivedFrom => RelationKind::DerivedFrom,
            Self::ResultOf => RelationKind::ResultOf,
        }
    }
}

impl ExecutionMoved {
    /// The id of the relation a link makes: the same whenever it is made again.
    pub fn relation_id(item: ItemId, index: usize) -> RelationId {
        let index = u64::try_from(index).unwrap_or(u64::MAX).to_be_bytes();
        let digest = FieldHasher::new().field(item.as_bytes()).field(&index).finish();
        let entropy = Entropy(digest.0[..10].try_into().expect("a digest has more than ten bytes"));
        RelationId::new(item.made_at(), entropy)
    }

    pub fn to_draft(&self) -> Result<ItemDraft, BadItem> {
        draft(ItemType::EXECUTION_MOVED, self)
    }

    /// A move as it was recorded.
    pub fn of(payload: &Payload) -> Option<Self> {
        serde_json::from_slice(payload.bytes()).ok().filter(|_| payload.form() == PayloadForm::Document)
    }
}

impl ExecutionBegun {
    pub fn to_draft(&self) -> Result<ItemDraft, BadItem> {
        draft(ItemType::EXECUTION_BEGUN, self)
    }

    pub fn from_document(document: &Map<String, Value>) -> Option<Self> {
        serde_json::from_value(Value::Object(document.clone())).ok()
    }
}

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionEnded {
    pub run_id: ExecutionId,
    pub status: ExecutionStatus,
    pub output: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    pub latency_ms: i64,
    pub tokens: u64,
    /// What its calls and those of the runs it started cost, as far as that is known.
    #[serde(default, skip_serializing_if = "CostTotals::is_empty")]
    pub owed: CostTotals,
    /// Every step in order: also those that were skipped or never begun.
    pub steps: Vec<StepSummary>,
}

/// What is told of a step at the end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepSummary {
    pub id: String,
    pub phase: Phase,
    pub attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

/// Why a run failed, with all it takes to find out (rule BR-EXEC-006).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub process_id: RecordId,
    pub process_name: String,
    /// The step's number, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_id: Option<String>,
    #[serde(flatten)]
    pub fault: Fault,
    pub suggested_action: String,
}

impl ExecutionEnded {
    pub fn from_document(document: &Map<String, Value>) -> Option<Self> {
        serde_json::from_value(Value::Object(document.clone())).ok()
    }

    pub fn to_draft(&self) -> Result<ItemDraft, BadItem> {
        draft(ItemType::EXECUTION_ENDED, self)
    }
}

/// What a person is asked; its item has the bits of its [`ReviewId`].
pub fn review_asked(run: ExecutionId, step: &str, asked: &ReviewRequest) -> Result<ItemDraft, BadItem> {
    draft(ItemType::REVIEW_ASKED, &json!({ "runId": run, "step": step, "asked": asked }))
}

/// What a person decided.
pub fn review_decided(review: ReviewId, decider: UserId, decision: &Decision) -> Result<ItemDraft, BadItem> {
    draft(ItemType::REVIEW_DECIDED, &json!({ "reviewId": review, "deciderId": decider, "decided": decision }))
}

/// That nobody decided in time, and what follows from that was done (decision Z15).
pub fn review_expired(review: ReviewId) -> Result<ItemDraft, BadItem> {
    let expired = json!({ "decision": "expired" });
    draft(ItemType::REVIEW_DECIDED, &json!({ "reviewId": review, "deciderId": null, "decided": expired }))
}

fn draft(item_type: ItemType, fact: &impl Serialize) -> Result<ItemDraft, BadItem> {
    let document = serde_json::to_value(fact).expect("facts are plain JSON");
    crate::document::check(&document)?;
    let Value::Object(document) = document else { unreachable!("facts are objects") };
    ItemDraft::recorded_within_limits(item_type, &document)
}
