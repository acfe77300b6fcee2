//! Appends turns, alternatives, edits and annotations, and activates alternatives.

use std::time::Instant;

use serde_json::Value;
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::content::Content;
use skein_core::tree::node::Source;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, NodeId, PathId, RecordId, ReferenceField, RuleViolation, TurnId, Viewer};
use skein_store::timeline::items::Page;
use skein_store::tree::append::{NodeBody, NodePlacement, NodePosition};
use skein_store::tree::read::NODES_PER_PAGE_MAX;
use skein_store::tree::{ConversationRow, NodeRow, TurnRow};
use skein_store::{LockTarget, StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Request};
use crate::tree::{AppendResult, ShownNode, ShownTurn, TaggedNode, note_remembered, show_node, show_path, show_turn};

/// What content may refer to.
pub(super) const ATTACHMENT: ReferenceField = ReferenceField::new("AG-CONTENT-004", "content", "attachment");
const TRANSCRIPT: ReferenceField = ReferenceField::new("AG-CONTENT-004", "transcriptRef", "node");
/// What a turn may answer, and what an alternative may be an edit of.
pub(crate) const PARENT_TURN: ReferenceField = ReferenceField::new("BR-TURN-003", "parentTurnId", "turn");
pub(crate) const PARENT: ReferenceField =
    ReferenceField::new("BR-TURN-003", "parentAlternativeId", "alternative of the turn");
const EDITED: ReferenceField = ReferenceField::new("AG-EDIT-001", "editedFrom", "alternative of this turn");

/// Something to be said after a node.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTurn {
    /// What it answers; nothing for the first turn.
    pub parent: Option<NodeId>,
    /// The turn that node must be of, where the client says so.
    pub parent_turn: Option<TurnId>,
    /// Who speaks.
    pub speaker: Speaker,
    /// As what; each speaker has a usual one.
    pub turn_type: Option<TurnType>,
    /// What is said.
    pub content: Value,
    /// What else led to it.
    pub sources: Vec<Source>,
    /// Whether the owner's path goes on there.
    pub make_active: bool,
    /// The process that is to answer.
    pub process: Option<RecordId>,
}

/// Something that could have been said at a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAlternative {
    /// What is said.
    pub content: Option<Value>,
    /// The node it is an edit of.
    pub edited_from: Option<NodeId>,
    /// The node of the turn before that it answers; the selected one unless it is named.
    pub parent: Option<NodeId>,
    /// Whether the owner turns to it at once.
    pub make_active: bool,
    /// The process that is to answer.
    pub process: Option<RecordId>,
}

impl Engine {
    /// Appends a turn. The owner's path goes on there, unless the turn is not to be active.
    pub async fn append_turn(
        &self,
        caller: &Caller,
        request: Request,
        conversation: ConversationId,
        new: NewTurn,
    ) -> Result<CommittedChange<AppendResult>, EngineError> {
        let turn_type = new.speaker.turn_type(new.turn_type).map_err(StoreError::from)?;
        refuse_generated(new.speaker == Speaker::Agent || new.process.is_some())?;
        refuse_system(new.speaker)?;
        let content = Content::parse(&new.content).map_err(StoreError::from)?;
        content.refuse_empty().map_err(StoreError::from)?;
        self.examine(caller, &content).await?;
        let said = NodeBody { content: content.to_document(), created_at: None, raw: None };
        let weight = new.content.to_string().len();
        let owner = caller.acting().owner();
        let about =
            new.parent.map_or(LockTarget::Trees(owner), |parent| LockTarget::Turn { owner, conversation, parent });
        self.grow(caller, request, "turn.create", (about, weight), move |tx, viewer| {
            check_references(tx, viewer, &content)?;
            if let Some(parent) = new.parent {
                tx.prefetch_append(viewer, conversation, parent)?;
            }
            let parent = parent_of(tx, viewer, conversation, &new)?;
            let position = NodePosition::After { parent, speaker: new.speaker, turn_type };
            let placing = placing(viewer, conversation, position);
            let leads = placing.leads.filter(|_| new.make_active);
            let placing = NodePlacement { sources: new.sources.clone(), leads, ..placing };
            follow(tx, viewer, conversation, placing.author)?;
            let (node, moved) = tx.append_node(viewer, &placing, &said)?;
            AppendResult::now(tx, viewer, &node, moved)
        })
        .await
        .map(|grown| self.noted(caller, grown))
    }

    /// Adds an alternative to a turn: another wording, or an edit of one that is there.
    pub async fn add_alternative(
        &self,
        caller: &Caller,
        request: Request,
        conversation: ConversationId,
        turn: TurnId,
        new: NewAlternative,
    ) -> Result<CommittedChange<AppendResult>, EngineError> {
        refuse_generated(new.process.is_some())?;
        let content = new.content.as_ref().ok_or_else(nothing_to_say).map_err(StoreError::from)?;
        let content = Content::parse(content).map_err(StoreError::from)?;
        content.refuse_empty().map_err(StoreError::from)?;
        self.examine(caller, &content).await?;
        let said = NodeBody { content: content.to_document(), created_at: None, raw: None };
        self.change(caller, request, "alternative.create", move |tx, viewer| {
            check_references(tx, viewer, &content)?;
            let row = turn_of(tx, viewer, conversation, turn)?;
            let position = if let Some(edited) = new.edited_from {
                check_edit(tx, viewer, edited, turn)?;
                NodePosition::EditOf(edited)
            } else {
                refuse_posing(row.speaker)?;
                NodePosition::Beside { turn, parent: new.parent }
            };
            let placing = placing(viewer, conversation, position);
            let leads = placing.leads.filter(|_| new.make_active);
            follow(tx, viewer, conversation, placing.author)?;
            let (node, moved) = tx.append_node(viewer, &NodePlacement { leads, ..placing }, &said)?;
            AppendResult::now(tx, viewer, &node, moved)
        })
        .await
        .map(|grown| self.noted(caller, grown))
    }

    /// A remark about a node, beside the conversation's course.
    pub async fn annotate(
        &self,
        caller: &Caller,
        request: Request,
        node: NodeId,
        content: Value,
    ) -> Result<CommittedChange<AppendResult>, EngineError> {
        let content = Content::parse(&content).map_err(StoreError::from)?;
        content.refuse_empty().map_err(StoreError::from)?;
        self.examine(caller, &content).await?;
        let said = NodeBody { content: content.to_document(), created_at: None, raw: None };
        self.change(caller, request, "annotation.create", move |tx, viewer| {
            check_references(tx, viewer, &content)?;
            let conversation = tx.node(viewer, node)?.conversation;
            let placing = placing(viewer, conversation, NodePosition::About(vec![node]));
            follow(tx, viewer, conversation, placing.author)?;
            let (node, moved) = tx.append_node(viewer, &NodePlacement { leads: None, ..placing }, &said)?;
            AppendResult::now(tx, viewer, &node, moved)
        })
        .await
        .map(|grown| self.noted(caller, grown))
    }

    /// What was said just now is to be summarised some time.
    fn noted(&self, caller: &Caller, grown: CommittedChange<AppendResult>) -> CommittedChange<AppendResult> {
        let row = &grown.value.node.seen.row;
        if !grown.is_replay {
            self.parts().growth.note(caller.user, row.conversation, row.id, Instant::now());
        }
        grown
    }

    /// Turns to a node and everything it descends from; says every turn that is affected.
    pub async fn activate(
        &self,
        caller: &Caller,
        request: Request,
        conversation: ConversationId,
        turn: TurnId,
        node: NodeId,
    ) -> Result<CommittedChange<AppendResult>, EngineError> {
        self.change(caller, request, "alternative.activate", move |tx, viewer| {
            alternative_of(tx, viewer, conversation, turn, node)?;
            let actor = ActorId::from(viewer.owner());
            let (row, moved) = tx.move_path(viewer, PathId::main_of(conversation), actor, node)?;
            AppendResult::moved(tx, viewer, &row, moved)
        })
        .await
    }

    /// One turn with the last `limit` of its alternatives before the one of that number.
    pub async fn turn(
        &self,
        caller: &Caller,
        conversation: ConversationId,
        id: TurnId,
        before: Option<i64>,
        limit: usize,
    ) -> Result<ShownTurn, EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| {
            turn_of(tx, &viewer, conversation, id)?;
            let mut turn = show_turn(tx, &viewer, PathId::main_of(conversation), id, (before, limit))?;
            note_remembered(tx, &mut turn.alternatives.rows)?;
            Ok(turn)
        };
        Ok(self.parts().store.read(look).await?)
    }

    /// One node.
    pub async fn node(&self, caller: &Caller, id: NodeId) -> Result<ShownNode, EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| {
            let row = tx.node(&viewer, id)?;
            let mut node = show_node(tx, &viewer, PathId::main_of(row.conversation), id)?;
            note_remembered(tx, [&mut node])?;
            Ok(node)
        };
        Ok(self.parts().store.read(look).await?)
    }

    /// The last `limit` nodes of the path to `end`, from the root's side on, and where the path goes on above them.
    pub async fn path(
        &self,
        caller: &Caller,
        conversation: ConversationId,
        end: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<ShownNode, NodeId>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| path_page(tx, &viewer, conversation, end, limit)).await?)
    }

    /// The end of a path, its nodes with their tags.
    pub async fn tagged_path(
        &self,
        caller: &Caller,
        conversation: ConversationId,
        end: Option<NodeId>,
        limit: usize,
    ) -> Result<Page<TaggedNode, NodeId>, EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| {
            let Page { rows, next } = path_page(tx, &viewer, conversation, end, limit)?;
            let ids: Vec<NodeId> = rows.iter().map(|node| node.seen.row.id).collect();
            let mut tags = tx.tags_of_many(&viewer, &ids)?;
            let with_tags = |node: ShownNode| {
                let tags = tags.remove(&node.seen.row.id).unwrap_or_default();
                TaggedNode { node, tags }
            };
            Ok(Page { rows: rows.into_iter().map(with_tags).collect(), next })
        };
        Ok(self.parts().store.read(look).await?)
    }
}

/// A turn of a conversation; one of another is none.
pub(super) fn turn_of(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    turn: TurnId,
) -> Result<TurnRow, StoreError> {
    tx.conversation(viewer, conversation)?;
    let row = tx.turn(viewer, turn)?;
    if row.conversation == conversation { Ok(row) } else { Err(StoreError::NotFound(turn.to_string())) }
}

/// A node that can be selected at a turn (rule BR-ALT-002).
pub(crate) fn alternative_of(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    turn: TurnId,
    node: NodeId,
) -> Result<NodeRow, StoreError> {
    turn_of(tx, viewer, conversation, turn)?;
    let row = tx.node(viewer, node)?;
    if row.turn() == Some(turn) {
        return Ok(row);
    }
    let problem = format!("{node} is not an alternative of {turn}");
    Err(RuleViolation::new("BR-ALT-002", problem, "name one of this turn's alternatives").into())
}

/// An alternative of a turn that a body names.
pub(crate) fn named_alternative(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    (conversation, turn): (ConversationId, TurnId),
    field: ReferenceField,
    node: NodeId,
) -> Result<NodeRow, StoreError> {
    turn_of(tx, viewer, conversation, turn)?;
    alternative_of(tx, viewer, conversation, turn, node).map_err(|error| error.of_reference(field, node))
}

/// A node of a conversation or of one it was forked from.
fn ancestral(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: &ConversationRow,
    node: NodeId,
) -> Result<NodeId, StoreError> {
    let of = tx.node(viewer, node)?.conversation;
    let (mut at, mut above) = (conversation.id, conversation.parent);
    while at != of {
        let Some(parent) = above else { return Err(StoreError::NotFound(node.to_string())) };
        (at, above) = (parent, tx.conversation(viewer, parent)?.parent);
    }
    Ok(node)
}

fn path_page(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    end: Option<NodeId>,
    limit: usize,
) -> Result<Page<ShownNode, NodeId>, StoreError> {
    let row = tx.conversation(viewer, conversation)?;
    let main = PathId::main_of(conversation);
    let end = match end {
        Some(node) => Some(ancestral(tx, viewer, &row, node)?),
        None => tx.path_cursor(viewer, conversation, main)?.or(row.origin),
    };
    let Some(end) = end else { return Ok(Page { rows: Vec::new(), next: None }) };
    let limit = limit.clamp(1, NODES_PER_PAGE_MAX);
    let mut nodes = tx.path_to(viewer, main, end, limit + 1)?;
    let next = if nodes.len() > limit { Some(nodes.remove(0).row.id) } else { None };
    let mut rows = show_path(tx, viewer, main, nodes)?;
    note_remembered(tx, &mut rows)?;
    Ok(Page { rows, next })
}

fn placing(viewer: &Viewer, conversation: ConversationId, position: NodePosition) -> NodePlacement {
    NodePlacement {
        conversation,
        position,
        author: ActorId::from(viewer.owner()),
        author_type: AuthorType::Human,
        sources: Vec::new(),
        executed_by: None,
        leads: Some(PathId::main_of(conversation)),
    }
}

/// Moves the frame of an author to the conversation they write in (rule MG-FRAME-002).
pub(crate) fn follow(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    author: ActorId,
) -> Result<(), StoreError> {
    let Some(project) = tx.conversation(viewer, conversation)?.project else { return Ok(()) };
    if tx.frame_of(viewer, project, author)? == Some(conversation) {
        return Ok(());
    }
    tx.move_frame(viewer, project, author, conversation)
}

/// The same for the author of an answer. Where they have a path of their own, it is led to what they answered.
pub(crate) fn follow_answer(tx: &mut Tx<'_>, viewer: &Viewer, answer: &NodeRow) -> Result<(), StoreError> {
    let (conversation, author) = (answer.conversation, answer.author);
    if author == ActorId::SYSTEM {
        return Ok(());
    }
    follow(tx, viewer, conversation, author)?;
    let own = tx.participant_path(viewer, conversation, author)?;
    if own != PathId::main_of(conversation) && tx.path_cursor(viewer, conversation, own)?.is_some() {
        tx.move_path(viewer, own, author, answer.id)?;
    }
    Ok(())
}

/// What is answered: the node that is named, else what the turn that is named shows (rules BR-TURN-003, BR-ALT-005).
fn parent_of(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    new: &NewTurn,
) -> Result<Option<NodeId>, StoreError> {
    let Some(turn) = new.parent_turn else { return Ok(new.parent) };
    tx.conversation(viewer, conversation)?;
    turn_of(tx, viewer, conversation, turn).map_err(|error| error.of_reference(PARENT_TURN, turn))?;
    let Some(parent) = new.parent else {
        return tx.selected_node(viewer, PathId::main_of(conversation), turn).map(Some);
    };
    let found = tx.node(viewer, parent).map_err(|error| error.of_reference(PARENT, parent))?;
    if found.turn() == Some(turn) { Ok(Some(parent)) } else { Err(PARENT.unusable(parent).into()) }
}

/// What an agent says is generated, never said for it (rule BR-TURN-010).
fn refuse_generated(is_generated: bool) -> Result<(), StoreError> {
    if !is_generated {
        return Ok(());
    }
    let problem = "what an agent says is generated by a process";
    Err(RuleViolation::new("BR-TURN-010", problem, "leave the content out, with speaker agent and a processId").into())
}

fn refuse_system(speaker: Speaker) -> Result<(), StoreError> {
    if speaker != Speaker::System {
        return Ok(());
    }
    let problem = "what the system says is written by Skein alone";
    Err(RuleViolation::new("BR-TURN-005", problem, "say it as a user, or set systemContext of the conversation").into())
}

/// Z4: people answer in an agent's turn by editing what it said.
fn refuse_posing(speaker: Speaker) -> Result<(), StoreError> {
    if speaker == Speaker::User {
        return Ok(());
    }
    let problem = "this turn is not a user's";
    Err(RuleViolation::new("BR-TURN-010", problem, "name what you edit as editedFrom").into())
}

fn check_edit(tx: &mut Tx<'_>, viewer: &Viewer, edited: NodeId, turn: TurnId) -> Result<(), StoreError> {
    let row = tx.node(viewer, edited).map_err(|error| error.of_reference(EDITED, edited))?;
    if row.turn() == Some(turn) { Ok(()) } else { Err(EDITED.unusable(edited).into()) }
}

fn nothing_to_say() -> RuleViolation {
    RuleViolation::new("BR-TURN-010", "an alternative says something", "send content")
}

/// AG-CONTENT-004: attachments and transcripts that content refers to exist and are the writer's own.
fn check_references(tx: &mut Tx<'_>, viewer: &Viewer, content: &Content) -> Result<(), StoreError> {
    for blob in content.blobs() {
        tx.attached_blob(viewer, blob).map_err(|error| error.of_reference(ATTACHMENT, blob))?;
    }
    for transcript in content.transcripts() {
        let node = NodeId::from_bytes(*transcript.as_bytes());
        tx.node(viewer, node).map_err(|error| error.of_reference(TRANSCRIPT, transcript))?;
    }
    Ok(())
}
