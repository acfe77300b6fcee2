//! Projects: what a person works in, and where in it each participant is. Everybody has one from the start.

use serde::{Deserialize, Serialize};
use skein_core::catalog::entry::Entry as _;
use skein_core::garden::project::{Project, ProjectChange, ProjectDraft};
use skein_core::tree::actor::{Actor, ActorId};
use skein_core::{ConversationId, Digest, NodeId, RecordId, ReferenceField, UserId, Viewer};
use skein_store::timeline::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::StoredEntry;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Request, WholeOutcome};
use crate::tree::{ShownConversation, show_conversation};

/// Projects that are looked through at once for the first one, which is nearly always the oldest.
const PROJECTS_PER_LOOK: usize = 8;

/// Which project a request may name, and where a frame may turn to.
const PROJECT: ReferenceField = ReferenceField::new("MG-PROJ-003", "projectId", "project");
const TURNED_TO: ReferenceField = ReferenceField::new("MG-FRAME-001", "conversationId", "conversation of this project");
const HEAD: ReferenceField = ReferenceField::new("MG-FRAME-004", "nodeId", "node of that conversation");

/// Where a participant of a project is (rule MG-FRAME-001).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownFrame {
    /// Who.
    pub participant: ActorId,
    /// Whose project it is; the owner is a participant of their own.
    pub owner: UserId,
    /// In which conversation.
    pub conversation: ConversationId,
    /// Where they stand in it, if anywhere (rule MG-FRAME-004).
    pub head: Option<NodeId>,
}

/// Where a participant turns to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameMove {
    /// Who.
    pub participant: ActorId,
    /// To which conversation.
    pub conversation: ConversationId,
    /// To which node of it; without one they stand where they stood in it.
    pub node: Option<NodeId>,
}

impl Engine {
    /// The caller's projects, oldest first.
    pub async fn projects(
        &self,
        caller: &Caller,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<StoredEntry<Project>, RecordId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let page = tx.records(&viewer, &Project::record_type(), after, limit)?;
            let rows = page.rows.into_iter().map(StoredEntry::try_from).collect::<Result<_, _>>()?;
            Ok(Page { rows, next: page.next })
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// One project.
    pub async fn project(&self, caller: &Caller, id: RecordId) -> Result<StoredEntry<Project>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| load(tx, &viewer, id)).await?)
    }

    /// Begins a project, beside the one everybody has.
    pub async fn create_project(
        &self,
        caller: &Caller,
        request: Request,
        draft: ProjectDraft,
    ) -> Result<CommittedChange<StoredEntry<Project>>, EngineError> {
        self.change(caller, request, "project.create", move |tx, viewer| {
            default_project(tx, viewer)?;
            tx.create_of_tree(viewer, Project::create(draft.clone()).to_content(false))?.try_into()
        })
        .await
    }

    /// Changes what a project is called and said to be.
    pub async fn change_project(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
        change: ProjectChange,
        based_on: Digest,
    ) -> Result<CommittedChange<StoredEntry<Project>>, EngineError> {
        self.change(caller, request, "project.change", move |tx, viewer| {
            let next = load(tx, viewer, id)?.entry.change(change.clone())?;
            tx.update_of_tree(viewer, id, based_on, next.to_content(false))?.try_into()
        })
        .await
    }

    /// Every conversation of a project in the order they were made, folded ones and tool runs too (rule MG-PROJ-001).
    pub async fn stack(
        &self,
        caller: &Caller,
        id: RecordId,
        after: Option<ConversationId>,
        limit: usize,
    ) -> Result<Page<ShownConversation, ConversationId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            load(tx, &viewer, id)?;
            let page = tx.stack(&viewer, id, after, limit)?;
            let shown = |row: skein_store::tree::ConversationRow| {
                let record = tx.record(&viewer, row.id.into())?;
                show_conversation(tx, &viewer, record)
            };
            Ok(Page { rows: page.rows.into_iter().map(shown).collect::<Result<_, _>>()?, next: page.next })
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// Where the participants of a project are.
    pub async fn frames(&self, caller: &Caller, id: RecordId) -> Result<Vec<ShownFrame>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            let owner = load(tx, &viewer, id)?.owner;
            let mut frames = Vec::new();
            for (participant, conversation) in tx.frames(&viewer, id)? {
                // A conversation that was moved to another project takes nobody along.
                if tx.conversation(&viewer, conversation)?.project == Some(id) {
                    let head = tx.frame_head(&viewer, conversation, participant)?;
                    frames.push(ShownFrame { participant, owner, conversation, head });
                }
            }
            Ok(frames)
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// Turns a participant of a project to a conversation of it, and to a node there.
    pub async fn turn_frame(
        &self,
        caller: &Caller,
        request: Request,
        id: RecordId,
        turning: FrameMove,
    ) -> Result<CommittedChange<WholeOutcome<ShownFrame>>, EngineError> {
        self.change(caller, request, "frame.move", move |tx, viewer| {
            let owner = load(tx, viewer, id)?.owner;
            let FrameMove { participant, conversation, node } = turning;
            check_participant(tx, viewer, participant)?;
            check_member(tx, viewer, id, conversation)?;
            tx.move_frame(viewer, id, participant, conversation)?;
            if let Some(node) = node {
                check_of(tx, viewer, conversation, node)?;
                let path = tx.participant_path(viewer, conversation, participant)?;
                tx.move_path(viewer, path, participant, node)?;
            }
            let head = tx.frame_head(viewer, conversation, participant)?;
            Ok(WholeOutcome(ShownFrame { participant, owner, conversation, head }))
        })
        .await
    }

    /// Puts a conversation into another project (decision Z7).
    pub async fn move_conversation(
        &self,
        caller: &Caller,
        request: Request,
        conversation: ConversationId,
        project: RecordId,
    ) -> Result<CommittedChange<ShownConversation>, EngineError> {
        self.change(caller, request, "conversation.move", move |tx, viewer| {
            let row = tx.conversation(viewer, conversation)?;
            named(tx, viewer, project)?;
            if row.project != Some(project) {
                tx.group_conversation(viewer, conversation.into(), project)?;
            }
            let record = tx.record(viewer, conversation.into())?;
            show_conversation(tx, viewer, record)
        })
        .await
    }
}

/// A project that a request names.
pub(super) fn named(tx: &mut Tx<'_>, viewer: &Viewer, id: RecordId) -> Result<RecordId, StoreError> {
    load(tx, viewer, id).map_err(|error| error.of_reference(PROJECT, id))?;
    Ok(id)
}

pub(super) fn load(tx: &mut Tx<'_>, viewer: &Viewer, id: RecordId) -> Result<StoredEntry<Project>, StoreError> {
    tx.record(viewer, id)?.try_into()
}

/// The viewer's first project; made the first time it is needed.
pub(crate) fn default_project(tx: &mut Tx<'_>, viewer: &Viewer) -> Result<RecordId, StoreError> {
    let mut after = None;
    loop {
        let page = tx.records(viewer, &Project::record_type(), after, PROJECTS_PER_LOOK)?;
        for record in page.rows {
            let project: StoredEntry<Project> = record.try_into()?;
            if project.entry.is_default {
                return Ok(project.id);
            }
        }
        if page.next.is_none() {
            break;
        }
        after = page.next;
    }
    Ok(tx.create_of_tree(viewer, Project::first().to_content(false))?.id)
}

/// Whoever is led about is the viewer, or an actor of theirs.
fn check_participant(tx: &mut Tx<'_>, viewer: &Viewer, participant: ActorId) -> Result<(), StoreError> {
    if participant == ActorId::from(viewer.owner()) {
        return Ok(());
    }
    let record = tx.record(viewer, RecordId::from_bytes(*participant.as_bytes()))?;
    StoredEntry::<Actor>::try_from(record).map(drop)
}

/// MG-FRAME-001: a frame is a place in its own project.
fn check_member(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    project: RecordId,
    conversation: ConversationId,
) -> Result<(), StoreError> {
    let row = tx.conversation(viewer, conversation).map_err(|error| error.of_reference(TURNED_TO, conversation))?;
    if row.project == Some(project) { Ok(()) } else { Err(TURNED_TO.unusable(conversation).into()) }
}

fn check_of(tx: &mut Tx<'_>, viewer: &Viewer, conversation: ConversationId, node: NodeId) -> Result<(), StoreError> {
    let row = tx.node(viewer, node).map_err(|error| error.of_reference(HEAD, node))?;
    if row.conversation == conversation { Ok(()) } else { Err(HEAD.unusable(node).into()) }
}
