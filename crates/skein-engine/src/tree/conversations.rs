//! A conversation as a whole: begun, renamed, archived, forked, folded, reopened.

use serde_json::{Map, json};
use skein_core::catalog::entry::{Entry as _, OwnedEntry};
use skein_core::catalog::sharing::SharingRefusal;
use skein_core::flow::process::Process;
use skein_core::garden::event::EventName;
use skein_core::garden::relation::{Endpoint, RelationAttributes, RelationDraft, RelationKind};
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::conversation::{
    Citation, Conversation, ConversationChange, ConversationDraft, FoldSummary, ForkOrigin, Mode, SHOWN_ABOVE_MAX,
};
use skein_core::tree::short_text::Title;
use skein_core::{
    ConversationId, Digest, ItemId, NodeId, PathId, RecordId, ReferenceField, RuleViolation, TurnId, UserId, Viewer,
};
use skein_store::timeline::items::Page;
use skein_store::tree::conversations::{ConversationPosition, ConversationQuery};
use skein_store::tree::skeleton::SkeletonNode;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::StoredEntry;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::default_hint;
use crate::jobs::summaries;
use crate::request::{CommittedChange, Request};
use crate::tree::turns::{named_alternative, turn_of};
use crate::tree::{ShownConversation, conversation_id, projects, show_conversation, show_conversations};

/// Where a conversation may be forked and folded, and what a summary may cite.
const FORKED_AT: ReferenceField = ReferenceField::new("BR-CONV-003", "the node to fork at", "alternative");
const FOLDED_AT: ReferenceField =
    ReferenceField::new("MG-CONV-006", "nodeId", "node of the conversation that is folded");
const CITED: ReferenceField = ReferenceField::new("MG-CONV-004", "cites", "node of the conversation that is folded");

/// Where a conversation is forked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forking {
    /// The turn the node has to be of; what it shows, unless a node is named.
    pub turn: Option<TurnId>,
    /// The node to go on from; where the owner stands unless it is named.
    pub node: Option<NodeId>,
    /// How the fork is to be called.
    pub title: Option<Title>,
    /// Whether active entities are to be active in the fork too.
    pub copy_active_entities: Option<bool>,
}

/// What a conversation is folded into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folding {
    /// What came of it, in words.
    pub text: String,
    /// The fragments that say so.
    pub cites: Vec<Citation>,
    /// The last node of the branch; the end of the continuation that was read last, unless it is named.
    pub end: Option<NodeId>,
}

impl Engine {
    /// The caller's conversations, the one last spoken in first.
    pub async fn conversations(
        &self,
        caller: &Caller,
        query: ConversationQuery,
    ) -> Result<Page<ShownConversation, ConversationPosition>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let page = tx.conversations(&viewer, &query)?;
            Ok(Page { rows: show_conversations(tx, &viewer, &page.rows)?, next: page.next })
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// One conversation.
    pub async fn conversation(&self, caller: &Caller, id: ConversationId) -> Result<ShownConversation, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| shown(tx, &viewer, id)).await?)
    }

    /// The forks of a conversation, tool runs too, in the order they were made.
    pub async fn forks(
        &self,
        caller: &Caller,
        id: ConversationId,
        after: Option<ConversationId>,
        limit: usize,
    ) -> Result<Page<ShownConversation, ConversationId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let page = tx.forks(&viewer, id, after, limit)?;
            Ok(Page { rows: show_conversations(tx, &viewer, &page.rows)?, next: page.next })
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// The whole tree without what it says, as its owner's path sees it, and where that path stands.
    pub async fn skeleton(
        &self,
        caller: &Caller,
        id: ConversationId,
    ) -> Result<(Option<NodeId>, Vec<SkeletonNode>), EngineError> {
        let viewer = caller.viewer();
        let path = PathId::main_of(id);
        let look = move |tx: &mut Tx<'_>| Ok((tx.path_cursor(&viewer, id, path)?, tx.skeleton(&viewer, path, id)?));
        Ok(self.parts().store.read(look).await?)
    }

    /// Begins a conversation.
    pub async fn create_conversation(
        &self,
        caller: &Caller,
        request: Request,
        draft: ConversationDraft,
    ) -> Result<CommittedChange<ShownConversation>, EngineError> {
        let engine = self.clone();
        self.change(caller, request, "conversation.create", move |tx, viewer| {
            let default = projects::default_project(tx, viewer)?;
            let process = match draft.process_id {
                None => default_hint(tx, &engine, viewer)?,
                Some(_) => None,
            };
            let conversation = Conversation::create(draft.clone(), process);
            conversation.check_system_context()?;
            check_hint(tx, viewer, &conversation)?;
            let project = match draft.project_id {
                Some(named) => projects::named(tx, viewer, named)?,
                None => default,
            };
            make(tx, viewer, &conversation, project)
        })
        .await
    }

    /// Changes what a conversation is called, whether it is archived, and what every model is told in it.
    pub async fn change_conversation(
        &self,
        caller: &Caller,
        request: Request,
        id: ConversationId,
        change: ConversationChange,
        based_on: Digest,
    ) -> Result<CommittedChange<ShownConversation>, EngineError> {
        self.change(caller, request, "conversation.change", move |tx, viewer| {
            let current = load(tx, viewer, id)?;
            let next = current.entry.change(change.clone())?;
            if next.process_id != current.entry.process_id {
                check_hint(tx, viewer, &next)?;
            }
            let is_closed = next.is_archived() && !current.entry.is_archived();
            let record = tx.update_of_tree(viewer, current.id, based_on, next.to_content(false))?;
            if is_closed {
                summaries::enqueue_closed(tx, viewer, id)?;
            }
            show_conversation(tx, viewer, record)
        })
        .await
    }

    /// Grows a new conversation from a node of this one (rule BR-CONV-003); the forker turns to it.
    pub async fn fork_conversation(
        &self,
        caller: &Caller,
        request: Request,
        id: ConversationId,
        forking: Forking,
    ) -> Result<CommittedChange<ShownConversation>, EngineError> {
        Conversation::check_copying(forking.copy_active_entities).map_err(StoreError::from)?;
        self.change(caller, request, "conversation.fork", move |tx, viewer| {
            let current = shown(tx, viewer, id)?;
            let node = match (forking.turn, forking.node) {
                (Some(turn), Some(node)) => named_alternative(tx, viewer, (id, turn), FORKED_AT, node)?.id,
                (Some(turn), None) => {
                    turn_of(tx, viewer, id, turn)?;
                    tx.selected_node(viewer, PathId::main_of(id), turn)?
                }
                (None, node) => node.or(current.cursor).ok_or_else(nothing_said)?,
            };
            let origin = origin(tx, viewer, id, node).map_err(|error| error.of_reference(FORKED_AT, node))?;
            let fork = current.shown.entry.fork(origin, forking.title.clone());
            let fork = Conversation { shown_above: shown_above(tx, viewer, fork.mode, node)?, ..fork };
            let project = current.row.project.map_or_else(|| projects::default_project(tx, viewer), Ok)?;
            let made = make(tx, viewer, &fork, project)?;
            tell(tx, viewer, EventName::BranchCreated, made.shown.id, &json!({ "forkedFrom": origin }))?;
            Ok(made)
        })
        .await
    }

    /// Folds a conversation into a summary; from then on it takes nothing more.
    pub async fn fold_conversation(
        &self,
        caller: &Caller,
        request: Request,
        id: ConversationId,
        folding: Folding,
    ) -> Result<CommittedChange<ShownConversation>, EngineError> {
        self.change(caller, request, "conversation.fold", move |tx, viewer| {
            let current = load(tx, viewer, id)?;
            let active = usize::try_from(tx.active_forks(viewer, id)?).unwrap_or(usize::MAX);
            let Folding { text, cites, end } = folding.clone();
            let author = (ActorId::from(viewer.owner()), AuthorType::Human);
            let end = match end {
                Some(node) => Some(named_end(tx, viewer, id, node)?.into()),
                None => tx.path_end(viewer, id)?.map(Into::into),
            };
            let (at, (author_id, author_type)) = (tx.now(), author);
            let text_item = None;
            let summary = FoldSummary { at, author_id, author_type, text: text.clone(), text_item, cites, end };
            check_cites(tx, viewer, id, &summary.cites)?;
            refuse_pending(tx, viewer, id)?;
            let next = current.entry.fold(active, summary)?;
            let next = next.with_text_in(tx.keep_fold_text(viewer, id, text)?);
            let record = tx.update_of_tree(viewer, current.id, current.hash, next.to_content(false))?;
            tell(tx, viewer, EventName::BranchFolded, record.id, &json!({}))?;
            summaries::enqueue_closed(tx, viewer, id)?;
            show_conversation(tx, viewer, record)
        })
        .await
    }

    /// Goes on with a folded conversation in a new one, which cites it and sees it (rule MG-CONV-006).
    pub async fn reopen_conversation(
        &self,
        caller: &Caller,
        request: Request,
        id: ConversationId,
    ) -> Result<CommittedChange<ShownConversation>, EngineError> {
        self.change(caller, request, "conversation.reopen", move |tx, viewer| {
            let current = shown(tx, viewer, id)?;
            let end = end_when_folded(tx, viewer, &current)?;
            let origin = end.map(|end| origin(tx, viewer, id, end)).transpose()?;
            let next = current.shown.entry.reopen(current.shown.id, origin)?;
            let next = match end {
                Some(end) => Conversation { shown_above: shown_above(tx, viewer, next.mode, end)?, ..next },
                None => next,
            };
            let project = current.row.project.map_or_else(|| projects::default_project(tx, viewer), Ok)?;
            let made = make(tx, viewer, &next, project)?;
            let (new, old) = (Endpoint::Log(made.shown.id), Endpoint::Log(current.shown.id));
            tx.relate(viewer, &RelationDraft::new(RelationKind::Continues, new, old, RelationAttributes::default())?)?;
            tell(tx, viewer, EventName::BranchReopened, made.shown.id, &json!({ "continues": current.shown.id }))?;
            Ok(made)
        })
        .await
    }
}

/// BR-CONV-001: what a conversation offers first is an enabled process of its owner's.
fn check_hint(tx: &mut Tx<'_>, viewer: &Viewer, conversation: &Conversation) -> Result<(), StoreError> {
    let Some(process) = conversation.process_id else { return Ok(()) };
    Ok(conversation.check_hint(usable_hint(tx, viewer.owner(), process)?)?)
}

/// Whether a conversation of this owner's may offer a process; nothing when there is no such process.
pub(crate) fn usable_hint(tx: &mut Tx<'_>, owner: UserId, process: RecordId) -> Result<Option<bool>, StoreError> {
    match tx.record(&Viewer::User(owner), process) {
        Ok(record) => Ok(OwnedEntry::<Process>::from_record(&record)
            .map(|found| found.owner == owner && found.entry.enabled && !found.entry.archived)),
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn load(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    id: ConversationId,
) -> Result<StoredEntry<Conversation>, StoreError> {
    tx.conversation(viewer, id)?;
    tx.record(viewer, id.into())?.try_into()
}

pub(super) fn shown(tx: &mut Tx<'_>, viewer: &Viewer, id: ConversationId) -> Result<ShownConversation, StoreError> {
    tx.conversation(viewer, id)?;
    let record = tx.record(viewer, id.into())?;
    show_conversation(tx, viewer, record)
}

fn make(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: &Conversation,
    project: RecordId,
) -> Result<ShownConversation, StoreError> {
    let participant = ActorId::from(viewer.owner());
    let record = tx.create_conversation(viewer, conversation.to_content(false), project, participant)?;
    show_conversation(tx, viewer, record)
}

/// Where a node of a conversation stands, as something may grow from there.
fn origin(tx: &mut Tx<'_>, viewer: &Viewer, id: ConversationId, node: NodeId) -> Result<ForkOrigin, StoreError> {
    let row = tx.node(viewer, node)?;
    let turn_id = row.turn().ok_or_else(|| {
        let problem = "an annotation stands beside the conversation's course";
        RuleViolation::new("BR-CONV-003", problem, "fork at the node it is about")
    })?;
    let origin = ForkOrigin { conversation_id: id.into(), turn_id, node_id: node.into() };
    origin.check(Some((row.conversation.into(), turn_id)))?;
    skein_core::tree::node_place::check_parent(row.status)?;
    Ok(origin)
}

/// What is shown above a node now, for what grows from there: it goes on showing that.
fn shown_above(tx: &mut Tx<'_>, viewer: &Viewer, mode: Mode, node: NodeId) -> Result<Vec<ItemId>, StoreError> {
    // In a dialogue an edit is another branch, and a node has one version.
    if mode == Mode::Dialogue {
        return Ok(Vec::new());
    }
    let shown = tx.path_versions(viewer, node, usize::MAX, SHOWN_ABOVE_MAX)?;
    Ok(shown.into_iter().map(ItemId::from).collect())
}

/// The node a folded conversation ended at when it was folded (decision Z35). What older summaries do not record is where
/// it ends now.
fn end_when_folded(tx: &mut Tx<'_>, viewer: &Viewer, folded: &ShownConversation) -> Result<Option<NodeId>, StoreError> {
    let recorded = folded.shown.entry.summary.as_ref().and_then(|summary| summary.end);
    match recorded {
        Some(end) => Ok(Some(NodeId::from_bytes(*end.as_bytes()))),
        None => tx.path_end(viewer, folded.row.id),
    }
}

fn nothing_said() -> RuleViolation {
    RuleViolation::new("BR-CONV-003", "nothing was said in this conversation", "say something first, or begin another")
}

/// Nothing could come of it any more: a folded conversation takes nothing.
fn refuse_pending(tx: &mut Tx<'_>, viewer: &Viewer, id: ConversationId) -> Result<(), StoreError> {
    let Some(pending) = tx.pending_in(viewer, id)? else { return Ok(()) };
    let problem = format!("{pending} is still being generated");
    Err(SharingRefusal::Conflict(RuleViolation::new("Z5", problem, "wait until it is done, or cancel it")).into())
}

/// The node at which a branch is folded: one of its course that something could follow.
fn named_end(tx: &mut Tx<'_>, viewer: &Viewer, id: ConversationId, node: NodeId) -> Result<NodeId, StoreError> {
    let row = tx.node(viewer, node).map_err(|error| error.of_reference(FOLDED_AT, node))?;
    if row.conversation != id || row.turn().is_none() {
        return Err(FOLDED_AT.unusable(node).into());
    }
    skein_core::tree::node_place::check_parent(row.status)?;
    Ok(node)
}

/// A summary cites nodes of the conversation it folds.
fn check_cites(tx: &mut Tx<'_>, viewer: &Viewer, id: ConversationId, cites: &[Citation]) -> Result<(), StoreError> {
    for cite in cites {
        let node = NodeId::from_bytes(*ItemId::as_bytes(&cite.node));
        let row = tx.node(viewer, node).map_err(|error| error.of_reference(CITED, cite))?;
        if row.conversation != id {
            return Err(CITED.unusable(cite).into());
        }
    }
    Ok(())
}

fn tell(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    name: EventName,
    subject: RecordId,
    told: &serde_json::Value,
) -> Result<(), StoreError> {
    let told = told.as_object().cloned().unwrap_or_else(Map::new);
    tx.tell_own(viewer, name, Some(&conversation_id(subject).to_string()), told)
}
