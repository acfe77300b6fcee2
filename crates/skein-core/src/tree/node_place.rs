//! Where a node stands: its label, fixed when it is made.
//!
//! A label is a branch and a depth. The first continuation of a node stays on its parent's branch, a later one opens its
//! own, a buffer version keeps the label of what it was edited from. So a branch is a chain, "is an ancestor of" is a
//! comparison along a few branches, and nothing has to walk to the root.

use crate::catalog::sharing::SharingRefusal;
use crate::id::{ConversationId, NodeId, TurnId};
use crate::rule::RuleViolation;
use crate::tree::node::{EdgeType, Source};
use crate::tree::node_status::GenerationStatus;
use crate::tree::turn::{Speaker, TurnType};

/// Most nodes that lead into one.
pub const SOURCES_MAX: usize = 64;

/// A branch, named by the node that opened it, and a depth on it; the root has depth 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeLabel {
    pub branch: NodeId,
    pub depth: i64,
}

impl NodeLabel {
    /// The label of a new node under `parent`; `is_continued` says whether the parent's branch goes on already.
    pub fn of(node: NodeId, parent: Option<Self>, is_continued: bool) -> Self {
        match parent {
            Some(parent) if !is_continued => parent.next(),
            Some(parent) => Self { branch: node, depth: parent.depth + 1 },
            None => Self { branch: node, depth: 1 },
        }
    }

    /// The place after this one on the same branch.
    #[must_use]
    pub fn next(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

/// A turn that answers something, as far as continuing is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildTurn {
    pub id: TurnId,
    pub speaker: Speaker,
    pub turn_type: TurnType,
}

/// BR-ALT-005: what is said after a node joins the turn that answers this very node already, if one speaks the same way.
pub fn turn_to_continue(answering: &[ChildTurn], speaker: Speaker, turn_type: TurnType) -> Option<TurnId> {
    answering.iter().find(|turn| turn.speaker == speaker && turn.turn_type == turn_type).map(|turn| turn.id)
}

/// Nothing follows what is not there yet, or never will be (decision Z5).
pub fn check_parent(status: GenerationStatus) -> Result<(), SharingRefusal> {
    let refuse = |problem: &str, remedy| Err(SharingRefusal::Conflict(RuleViolation::new("Z5", problem, remedy)));
    match status {
        GenerationStatus::Complete => Ok(()),
        GenerationStatus::Pending => {
            refuse("this node is still being generated", "wait until it is complete, or continue from another node")
        }
        GenerationStatus::Failed => refuse("this node was never completed", "continue from another alternative"),
    }
}

/// BR-TURN-009: an alternative answers one of the parent turn's nodes; a root alternative answers none.
pub fn check_answer(turn_parent: Option<TurnId>, answered: Option<TurnId>) -> Result<(), RuleViolation> {
    if turn_parent == answered {
        return Ok(());
    }
    let (problem, remedy) = match turn_parent {
        None => ("an alternative of the first turn answers nothing", "leave the parent out"),
        Some(_) => ("an alternative answers a node of the turn before its own", "name one of that turn's nodes"),
    };
    Err(RuleViolation::new("BR-TURN-009", problem, remedy))
}

/// MG-CONV-005: what was folded stays as it was summarised.
pub fn check_open(is_folded: bool) -> Result<(), SharingRefusal> {
    if !is_folded {
        return Ok(());
    }
    let problem = "the conversation was folded";
    Err(SharingRefusal::Conflict(RuleViolation::new(
        "MG-CONV-005",
        problem,
        "reopen it, which continues in a new conversation",
    )))
}

/// AG-EDGE-003: what leads into a node is of the same tree; `found` is the conversation of a node the writer can see.
pub fn check_member(node: NodeId, found: Option<ConversationId>, wanted: ConversationId) -> Result<(), RuleViolation> {
    if found == Some(wanted) {
        return Ok(());
    }
    let problem = format!("{node} is not a node of this conversation");
    Err(RuleViolation::new("AG-EDGE-003", problem, "name a node of this one; across conversations things are linked"))
}

/// AG-EDGE-001: an edge has sources, each for a purpose, and a continuation answers one thing.
pub fn check_sources(edge_type: EdgeType, sources: &[Source], parent: Option<NodeId>) -> Result<(), RuleViolation> {
    let refuse = |problem: &str, remedy| Err(RuleViolation::new("AG-EDGE-001", problem, remedy));
    if sources.len() > SOURCES_MAX {
        return refuse("an edge has at most 64 sources", "leave some out");
    }
    match edge_type {
        EdgeType::Annotation if sources.is_empty() => refuse("an annotation is about something", "name a node"),
        EdgeType::Continuation if parent.is_none() && !sources.is_empty() => {
            refuse("the first turn follows nothing", "leave the sources out, or name what it follows")
        }
        _ => Ok(()),
    }
}

/// BR-TURN-003: one first turn, and whatever comes later names what it follows.
pub fn check_root(has_root: bool) -> Result<(), RuleViolation> {
    if !has_root {
        return Ok(());
    }
    let problem = "the conversation has its first turn";
    Err(RuleViolation::new("BR-TURN-003", problem, "name the node it follows, or add an alternative to the first turn"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::node::SourceRole;

    fn node(number: u8) -> NodeId {
        NodeId::from_bytes([number; 16])
    }

    #[test]
    fn the_first_continuation_stays_on_the_branch_and_later_ones_open_their_own() {
        let root = NodeLabel::of(node(1), None, false);
        assert_eq!(root, NodeLabel { branch: node(1), depth: 1 });
        assert_eq!(NodeLabel::of(node(2), Some(root), false), NodeLabel { branch: node(1), depth: 2 });
        assert_eq!(NodeLabel::of(node(3), Some(root), true), NodeLabel { branch: node(3), depth: 2 });
    }

    #[test]
    fn br_alt_005_a_turn_that_answers_and_speaks_alike_is_reused_holds() {
        let turn =
            |number, speaker| ChildTurn { id: TurnId::from_bytes([number; 16]), speaker, turn_type: TurnType::Message };
        let answering = [turn(1, Speaker::Agent), turn(2, Speaker::User)];
        let found = turn_to_continue(&answering, Speaker::User, TurnType::Message);
        assert_eq!(found, Some(TurnId::from_bytes([2; 16])));
    }

    #[test]
    fn br_alt_005_a_turn_that_speaks_otherwise_refuses_to_be_reused() {
        let agent =
            ChildTurn { id: TurnId::from_bytes([1; 16]), speaker: Speaker::Agent, turn_type: TurnType::Message };
        assert_eq!(turn_to_continue(&[agent], Speaker::User, TurnType::Message), None);
        assert_eq!(turn_to_continue(&[agent], Speaker::Agent, TurnType::ToolResult), None);
    }

    #[test]
    fn br_turn_003_the_first_turn_of_an_empty_conversation_holds() {
        assert!(check_root(false).is_ok());
    }

    #[test]
    fn br_turn_003_a_second_root_turn_refuses() {
        assert_eq!(check_root(true).unwrap_err().rule(), "BR-TURN-003");
    }

    #[test]
    fn br_turn_009_answering_the_parent_turn_holds() {
        let parent = Some(TurnId::from_bytes([1; 16]));
        assert!(check_answer(parent, parent).is_ok());
        assert!(check_answer(None, None).is_ok());
    }

    #[test]
    fn br_turn_009_answering_another_turn_or_at_the_root_refuses() {
        let turn = |number| Some(TurnId::from_bytes([number; 16]));
        for (parent, answered) in [(turn(1), turn(2)), (turn(1), None), (None, turn(1))] {
            assert_eq!(check_answer(parent, answered).unwrap_err().rule(), "BR-TURN-009");
        }
    }

    #[test]
    fn mg_conv_005_an_open_conversation_takes_more_holds() {
        assert!(check_open(false).is_ok());
    }

    #[test]
    fn mg_conv_005_a_folded_conversation_refuses_more() {
        assert!(
            matches!(check_open(true), Err(SharingRefusal::Conflict(violation)) if violation.rule() == "MG-CONV-005")
        );
    }

    #[test]
    fn ag_edge_003_nodes_of_one_conversation_holds() {
        let conversation = ConversationId::from_bytes([1; 16]);
        assert!(check_member(node(3), Some(conversation), conversation).is_ok());
    }

    #[test]
    fn ag_edge_003_a_node_of_another_conversation_refuses() {
        let conversation = |number| ConversationId::from_bytes([number; 16]);
        for found in [Some(conversation(1)), None] {
            assert_eq!(check_member(node(3), found, conversation(2)).unwrap_err().rule(), "AG-EDGE-003");
        }
    }

    #[test]
    fn ag_edge_001_one_or_several_sources_holds() {
        let sources = [SourceRole::Primary, SourceRole::Context].map(|role| Source { node_id: node(1), role });
        assert!(check_sources(EdgeType::Continuation, &sources, Some(node(1))).is_ok());
        assert!(check_sources(EdgeType::Annotation, &sources[..1], None).is_ok());
    }

    #[test]
    fn ag_edge_001_no_source_a_rootless_one_or_too_many_refuses() {
        let source = Source { node_id: node(1), role: SourceRole::Context };
        for (edge_type, sources, parent) in [
            (EdgeType::Annotation, vec![], None),
            (EdgeType::Continuation, vec![source], None),
            (EdgeType::Continuation, vec![source; SOURCES_MAX + 1], Some(node(1))),
        ] {
            assert_eq!(check_sources(edge_type, &sources, parent).unwrap_err().rule(), "AG-EDGE-001");
        }
    }

    #[test]
    fn z5_following_what_is_complete_holds() {
        assert!(check_parent(GenerationStatus::Complete).is_ok());
    }

    #[test]
    fn z5_following_what_is_not_there_refuses() {
        for status in [GenerationStatus::Pending, GenerationStatus::Failed] {
            assert!(
                matches!(check_parent(status), Err(SharingRefusal::Conflict(violation)) if violation.rule() == "Z5")
            );
        }
    }
}
