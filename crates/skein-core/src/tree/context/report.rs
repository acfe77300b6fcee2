//! Reports every part of a context window: shown or left out, the reason, and its tokens.

use serde::Serialize;

use crate::id::ItemId;
use crate::tree::context::budget_fit::Fitted;
use crate::tree::context::image::{ImageReport, SentAs, TextReason};
use crate::tree::context::units::Units;
use crate::tree::context::{ContextOptions, RESERVE_TOKENS, Strategy};
use crate::tree::spelled_enum::words;

words! {
    /// Why a part is not shown.
    DropReason {
        Excluded = "excluded",
        Pruned = "pruned",
        Annotation = "annotation",
        /// It says nothing.
        Empty = "empty",
        /// It stands on the path anyway.
        OnPath = "onPath",
        /// The branch left from a node that is not shown.
        OriginNotShown = "originNotShown",
        /// The buffer conversation switched its system part off.
        BufferMode = "bufferMode",
        OverBudget = "overBudget",
    }
}

/// One part of a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartReport {
    /// `agentPrompt`, `systemContext`, `instruction`, `context`, `node`, `folded`, `workingBuffer`, `marker`, or what an
    /// extra calls itself.
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<ItemId>,
    pub tokens: usize,
    pub included: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped_because: Option<DropReason>,
    /// Why an extra was offered; `pinned` for a node that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its images, and how each is sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageReport>,
}

/// A window accounted for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextReport {
    pub budget: usize,
    pub reserve: usize,
    pub strategy: Strategy,
    /// Tokens of all that is shown.
    pub total_tokens: usize,
    /// Tokens of all that is not.
    pub dropped_tokens: usize,
    /// Whether the counts are guesses.
    pub is_estimate: bool,
    /// Whether something was left out for want of room.
    pub truncated: bool,
    /// Whether even the least that is always shown is more than the budget.
    pub over_budget: bool,
    /// In the order they stand in the window.
    pub parts: Vec<PartReport>,
}

impl ContextReport {
    pub(super) fn of(units: &Units<'_>, options: ContextOptions, fitted: Fitted, is_estimate: bool) -> Self {
        let parts: Vec<PartReport> = units
            .parts()
            .map(|part| PartReport {
                kind: part.kind.to_owned(),
                node_id: part.node,
                tokens: part.tokens,
                included: part.dropped.is_none(),
                dropped_because: part.dropped,
                reason: part.reason.map(str::to_owned),
                images: part.images().collect(),
            })
            .collect();
        let sum = |included: bool| parts.iter().filter(|part| part.included == included).map(|part| part.tokens).sum();
        Self {
            budget: options.budget,
            reserve: RESERVE_TOKENS,
            strategy: options.strategy,
            total_tokens: sum(true),
            dropped_tokens: sum(false),
            is_estimate,
            truncated: parts.iter().any(|part| part.dropped_because == Some(DropReason::OverBudget)),
            over_budget: fitted.over_budget,
            parts,
        }
    }
}

impl ContextReport {
    /// Notes that an image cannot be sent as one after all.
    pub fn note_unreadable(&mut self, item: ItemId) {
        for image in self.parts.iter_mut().flat_map(|part| &mut part.images).filter(|image| image.item == item) {
            if image.sent_as == SentAs::Image {
                (image.sent_as, image.because) = (SentAs::Text, Some(TextReason::Unreadable));
            }
        }
    }
}
