//! Decides what a conversation gets back when a generated answer fails or is cancelled (rule BR-EXEC-001, decision Z29).
//!
//! Requesting an answer leads a path to the answer's node and may set the process hint. [`PriorState`] records what stood
//! there before, with the execution; [`rollback`] compares it with what stands there now. Whatever a person changed
//! meanwhile is theirs and stays.

use serde::{Deserialize, Serialize};

use crate::id::{NodeId, RecordId};
use crate::time::Millis;
use crate::tree::node_status::GenerationStatus;

/// Most turns whose earlier selection is recorded.
const SHOWN_MAX: usize = 1_000;

/// What the request for an answer changed in its conversation, as it was before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PriorState {
    /// The conversation's path, if it was led to the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PriorPath>,
    /// The process hint, if it was set to the process of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<PriorHint>,
    /// When the request made it active, if it was archived before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_until: Option<Millis>,
}

impl PriorState {
    /// Whether the request changed nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Where a path stood and what its turns showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PriorPath {
    /// Nothing where the path was never led anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<NodeId>,
    /// Whether the node it stood on was an answer still being generated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaited: bool,
    /// The nodes that turns showed before they showed the answer and its ancestors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<NodeId>,
}

impl PriorPath {
    /// `left` is what turns showed before, from the root down; the nearest to the answer count.
    pub fn of(cursor: Option<NodeId>, awaited: bool, left: &[NodeId]) -> Self {
        let nearest = &left[left.len().saturating_sub(SHOWN_MAX)..];
        // The path returns to the cursor, which shows it.
        let shown = nearest.iter().copied().filter(|node| Some(*node) != cursor).collect();
        Self { cursor, awaited, shown }
    }
}

/// The process hint before the request; nothing where there was none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PriorHint {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_id: Option<RecordId>,
}

/// An answer that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAnswer {
    pub node_id: NodeId,
    /// The node it was to answer.
    pub parent_id: Option<NodeId>,
    pub process_id: RecordId,
    pub prior: PriorState,
}

impl FailedAnswer {
    /// The answer the path stood on before this one, if it was being generated then: it may have failed since.
    pub fn awaited_before(&self) -> Option<NodeId> {
        self.prior.path.as_ref().filter(|path| path.awaited)?.cursor
    }
}

/// Since when a conversation is active only because these answers were requested.
pub fn archived_until(failed: &[FailedAnswer]) -> Option<Millis> {
    failed.iter().filter_map(|answer| answer.prior.archived_until).min()
}

/// How a conversation stands now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurrentState {
    pub cursor: Option<NodeId>,
    pub hint: Option<RecordId>,
}

/// What to change back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rollback {
    /// The node the path returns to.
    pub cursor: Option<NodeId>,
    /// The nodes that turns show again before the path returns, in this order.
    pub shown: Vec<NodeId>,
    /// The hint that comes back.
    pub hint: Option<PriorHint>,
}

/// Decides what comes back. `failed` begins with the answer that failed now; each further one is what the path stood on
/// before the one ahead of it, and failed meanwhile.
pub fn rollback(failed: &[FailedAnswer], now: CurrentState) -> Rollback {
    let mut back = Rollback::default();
    let Some(first) = failed.first() else { return back };
    // An answer that led no path left its reader where they are.
    let has_left = first.prior.path.is_some() && now.cursor != Some(first.node_id);
    if has_left {
        return back;
    }
    let mut hint = now.hint;
    for answer in failed {
        if let Some(path) = &answer.prior.path {
            back.cursor = path.cursor.or(answer.parent_id);
            back.shown.extend(&path.shown);
        }
        if let Some(before) = answer.prior.hint.filter(|_| hint == Some(answer.process_id)) {
            hint = before.process_id;
            back.hint = Some(before);
        }
    }
    back
}

/// Which other alternative of its turn is shown in place of a failed answer: the first that is complete, else the first
/// that is still being generated. Nothing where all failed.
pub fn shown_instead(others: &[(NodeId, GenerationStatus)]) -> Option<NodeId> {
    let first = |wanted| others.iter().find(|(_, status)| *status == wanted).map(|(node, _)| *node);
    first(GenerationStatus::Complete).or_else(|| first(GenerationStatus::Pending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u8) -> NodeId {
        NodeId::from_bytes([number; 16])
    }

    fn process(number: u8) -> RecordId {
        RecordId::from_bytes([number; 16])
    }

    fn answer(number: u8, cursor: Option<u8>, hint: Option<PriorHint>) -> FailedAnswer {
        let path = PriorPath { cursor: cursor.map(node), awaited: true, shown: vec![node(number + 100)] };
        let prior = PriorState { path: Some(path), hint, archived_until: None };
        FailedAnswer { node_id: node(number), parent_id: Some(node(1)), process_id: process(number), prior }
    }

    fn hinted(before: Option<u8>) -> PriorHint {
        PriorHint { process_id: before.map(process) }
    }

    #[test]
    fn br_exec_001_in_place_of_a_failed_answer_the_first_complete_one_is_shown_holds() {
        use GenerationStatus::{Complete, Failed, Pending};
        for (others, expected) in [
            (vec![Failed, Pending, Complete, Complete], Some(2)),
            (vec![Failed, Pending, Pending], Some(1)),
            (vec![Failed], None),
            (vec![], None),
        ] {
            let others: Vec<_> = (0..).map(node).zip(others).collect();
            assert_eq!(shown_instead(&others), expected.map(node), "{others:?}");
        }
    }

    fn at(cursor: u8, hint: u8) -> CurrentState {
        CurrentState { cursor: Some(node(cursor)), hint: Some(process(hint)) }
    }

    #[test]
    fn br_exec_001_a_path_still_on_the_failed_answer_returns_with_the_hint_holds() {
        let back = rollback(&[answer(5, Some(2), Some(hinted(None)))], at(5, 5));
        let hint = Some(PriorHint { process_id: None });
        assert_eq!(back, Rollback { cursor: Some(node(2)), shown: vec![node(105)], hint });
    }

    #[test]
    fn br_exec_001_a_path_that_went_elsewhere_refuses_to_be_moved() {
        assert_eq!(rollback(&[answer(5, Some(2), Some(hinted(None)))], at(3, 5)), Rollback::default());
        assert_eq!(rollback(&[], at(3, 5)), Rollback::default());
    }

    #[test]
    fn br_exec_001_a_hint_that_somebody_chose_meanwhile_refuses_to_be_replaced() {
        let back = rollback(&[answer(5, Some(2), Some(hinted(Some(4))))], at(5, 9));
        assert_eq!((back.cursor, back.hint), (Some(node(2)), None));
    }

    #[test]
    fn br_exec_001_a_path_that_stood_nowhere_returns_to_what_was_answered_holds() {
        assert_eq!(rollback(&[answer(5, None, None)], at(5, 5)).cursor, Some(node(1)));
    }

    #[test]
    fn br_exec_001_answers_that_failed_one_after_another_return_to_before_the_first_holds() {
        let failed = [answer(6, Some(5), Some(hinted(Some(5)))), answer(5, Some(2), Some(hinted(Some(4))))];
        let back = rollback(&failed, at(6, 6));
        assert_eq!((back.cursor, back.shown), (Some(node(2)), vec![node(106), node(105)]));
        assert_eq!(back.hint, Some(PriorHint { process_id: Some(process(4)) }));
    }

    #[test]
    fn br_exec_001_an_answer_nobody_was_led_to_gives_back_the_hint_alone_holds() {
        let mut failed = answer(5, None, Some(hinted(Some(4))));
        failed.prior.path = None;
        let back = rollback(&[failed], at(3, 5));
        let hint = Some(PriorHint { process_id: Some(process(4)) });
        assert_eq!(back, Rollback { cursor: None, shown: Vec::new(), hint });
    }
}
