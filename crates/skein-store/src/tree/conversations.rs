//! Conversations as a whole: made, changed, listed, and what grew out of them.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use skein_core::garden::cursor::BadCursor;
use skein_core::garden::record::{Record, RecordContent};
use skein_core::garden::relation::{Endpoint, RelationAttributes, RelationDraft, RelationKind};
use skein_core::id::Entropy;
use skein_core::tree::actor::ActorId;
use skein_core::tree::node::{FrameMoved, TreePayload};
use skein_core::{ConversationId, Digest, Millis, NodeId, PathId, RecordId, RuleViolation, Viewer};

use crate::db::sql::{Row, Value, params};
use crate::error::StoreError;
use crate::timeline::items::{Page, page};
use crate::timeline::projection::CONVERSATION;
use crate::tree::rows::{CONVERSATION_COLUMNS, ConversationRow, read_conversation};
use crate::tx::Tx;

/// Conversations that are numbered by one statement; the last asks about one of them several times.
const NUMBERS_PER_STATEMENT: usize = 50;
static NUMBERS: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (2..NUMBERS_PER_STATEMENT + 2).map(|place| format!("?{place}")).collect();
    format!(
        "SELECT x.id, x.number FROM (SELECT c.id, COUNT(CASE WHEN c.kind <> 'tool_run' THEN 1 END) OVER (ORDER BY c.id)
             AS number FROM conversations c WHERE c.owner = ?1) AS x WHERE x.id IN ({})",
        places.join(", ")
    )
});

/// Most conversations one page holds.
pub const CONVERSATIONS_PER_PAGE_MAX: usize = 1_000;

/// Which conversations to list: the newest first, tool runs never.
#[derive(Debug, Clone, Default)]
pub struct ConversationQuery {
    pub archived: bool,
    pub project: Option<RecordId>,
    pub after: Option<ConversationPosition>,
    pub limit: usize,
}

/// A place in a listing: when something was last said, and in what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConversationPosition {
    pub at: Millis,
    pub id: ConversationId,
}

impl fmt::Display for ConversationPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at.0, self.id.bare())
    }
}

impl FromStr for ConversationPosition {
    type Err = BadCursor;

    fn from_str(text: &str) -> Result<Self, BadCursor> {
        let (at, id) = text.split_once('.').ok_or(BadCursor)?;
        let at = at.parse().map(Millis).map_err(|_| BadCursor)?;
        Ok(Self { at, id: ConversationId::from_bare(id).map_err(|_| BadCursor)? })
    }
}

impl Tx<'_> {
    /// Makes a conversation in a project of the viewer's, and turns them to it.
    pub fn create_conversation(
        &mut self,
        viewer: &Viewer,
        content: RecordContent,
        project: RecordId,
        participant: ActorId,
    ) -> Result<Record, StoreError> {
        refuse_other(&content)?;
        self.record(viewer, project)?;
        let record = self.create_record_for(viewer, viewer.owner(), content, None)?;
        self.group_conversation(viewer, record.id, project)?;
        let conversation = ConversationId::from_bytes(*record.id.as_bytes());
        self.move_frame(viewer, project, participant, conversation)?;
        Ok(record)
    }

    /// How many conversations of anybody offer a process first, archived ones too.
    pub fn hints_at(&mut self, process: RecordId) -> Result<i64, StoreError> {
        let sql = "SELECT count(*) FROM conversations WHERE process = ?1";
        Ok(self.first(sql, params![&process], |row| row.int(0))?.unwrap_or_default())
    }

    /// Makes a project or an actor in the viewer's name.
    pub fn create_of_tree(&mut self, viewer: &Viewer, content: RecordContent) -> Result<Record, StoreError> {
        refuse_other(&content)?;
        self.create_record_for(viewer, viewer.owner(), content, None)
    }

    /// Changes what a person edits of a conversation, a project or an actor.
    pub fn update_of_tree(
        &mut self,
        viewer: &Viewer,
        id: RecordId,
        based_on: Digest,
        content: RecordContent,
    ) -> Result<Record, StoreError> {
        refuse_other(&content)?;
        self.change_record(viewer, id, based_on, content, None)
    }

    /// Puts a conversation into a project, out of the one it was in.
    pub fn group_conversation(
        &mut self,
        viewer: &Viewer,
        conversation: RecordId,
        project: RecordId,
    ) -> Result<(), StoreError> {
        let grouped = "SELECT id FROM relations WHERE owner = ?1 AND source = ?2 AND kind = 'groups_with'";
        let owner = viewer.owner();
        let before = self.all(grouped, params![&owner, &conversation], |row| row.array(0))?;
        for relation in before {
            self.remove_relation(viewer, skein_core::RelationId::from_bytes(relation), "moved to another project")?;
        }
        let (source, target) = (Endpoint::Entity(conversation), Endpoint::Entity(project));
        self.relate(
            viewer,
            &RelationDraft::new(RelationKind::GroupsWith, source, target, RelationAttributes::default())?,
        )?;
        Ok(())
    }

    /// Turns a participant of a project to a conversation (rule MG-FRAME-003).
    pub fn move_frame(
        &mut self,
        viewer: &Viewer,
        project: RecordId,
        participant: ActorId,
        conversation: ConversationId,
    ) -> Result<(), StoreError> {
        if self.row_cache.frame(project, participant).is_none() {
            self.record(viewer, project)?;
        }
        self.conversation(viewer, conversation)?;
        let moved = FrameMoved { project_id: project, actor_id: participant, conversation_id: conversation };
        let moved = self.draw_item(viewer, moved.to_draft())?;
        self.append_of_tree(vec![moved.into()])
    }

    /// Which conversation of a project each participant is in.
    pub fn frames(&mut self, viewer: &Viewer, project: RecordId) -> Result<Vec<(ActorId, ConversationId)>, StoreError> {
        self.record(viewer, project)?;
        let sql = "SELECT actor, conversation FROM frames WHERE project = ?1 ORDER BY actor";
        self.all(sql, params![&project], |row| {
            Ok((ActorId::from_bytes(row.array(0)?), ConversationId::from_bytes(row.array(1)?)))
        })
    }

    /// Where a participant stands in a conversation: where their path does, else at the last node they wrote in it (rule
    /// MG-FRAME-004).
    pub fn frame_head(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        participant: ActorId,
    ) -> Result<Option<NodeId>, StoreError> {
        let path = self.participant_path(viewer, conversation, participant)?;
        if let Some(cursor) = self.path_cursor(viewer, conversation, path)? {
            return Ok(Some(cursor));
        }
        let owner = self.conversation(viewer, conversation)?.owner;
        let sql = "SELECT id FROM nodes WHERE owner = ?1 AND author = ?2 AND conversation = ?3 AND turn IS NOT NULL
             AND status = 'complete' ORDER BY id DESC LIMIT 1";
        let written = self.first(sql, params![&owner, participant.as_bytes(), &conversation], |row| row.array(0))?;
        Ok(written.map(NodeId::from_bytes))
    }

    /// Which conversation of a project a participant is in.
    pub fn frame_of(
        &mut self,
        viewer: &Viewer,
        project: RecordId,
        participant: ActorId,
    ) -> Result<Option<ConversationId>, StoreError> {
        if let Some(known) = self.row_cache.frame(project, participant) {
            return Ok(known.conversation);
        }
        self.record(viewer, project)?;
        let sql = "SELECT conversation FROM frames WHERE project = ?1 AND actor = ?2";
        let found = self.first(sql, params![&project, participant.as_bytes()], |row| row.array(0))?;
        Ok(found.map(ConversationId::from_bytes))
    }

    /// The how many-th of its owner's conversations each of these is, tool runs not counted; those of one page, in few
    /// statements.
    pub fn conversation_numbers(
        &mut self,
        viewer: &Viewer,
        ids: &[ConversationId],
    ) -> Result<BTreeMap<ConversationId, i64>, StoreError> {
        let mut found = BTreeMap::new();
        let Some(first) = ids.first() else { return Ok(found) };
        let owner = self.conversation(viewer, *first)?.owner;
        for some in ids.chunks(NUMBERS_PER_STATEMENT) {
            let filled = some.iter().cycle().take(NUMBERS_PER_STATEMENT).map(Value::from);
            let bound: Vec<Value<'_>> = std::iter::once(Value::from(&owner)).chain(filled).collect();
            let numbered = |row: &dyn Row| Ok((ConversationId::from_bytes(row.array(0)?), row.int(1)?));
            found.extend(self.all(&NUMBERS, &bound, numbered)?);
        }
        Ok(found)
    }

    pub(crate) fn find_conversation(&mut self, id: ConversationId) -> Result<Option<ConversationRow>, StoreError> {
        if let Some(known) = self.row_cache.conversation(id).cloned() {
            debug_assert!(
                self.sql.is_shared() || self.stored_conversation(id)?.as_ref() == Some(&known),
                "a conversation was changed past the cache"
            );
            return Ok(Some(known));
        }
        self.stored_conversation(id)
    }

    fn stored_conversation(&mut self, id: ConversationId) -> Result<Option<ConversationRow>, StoreError> {
        let sql = format!("SELECT {CONVERSATION_COLUMNS} FROM conversations c WHERE c.id = ?1");
        self.first(&sql, params![&id], read_conversation)
    }

    /// A conversation, if it is the viewer's to see (rule BR-SEC-002).
    pub fn conversation(&mut self, viewer: &Viewer, id: ConversationId) -> Result<ConversationRow, StoreError> {
        let now = self.now();
        let found = self.find_conversation(id)?.filter(|row| viewer.may_read(row.owner, now));
        found.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// The viewer's conversations, the one last spoken in first.
    pub fn conversations(
        &mut self,
        viewer: &Viewer,
        query: &ConversationQuery,
    ) -> Result<Page<ConversationRow, ConversationPosition>, StoreError> {
        let owner = self.subject(viewer)?;
        let limit = query.limit.clamp(1, CONVERSATIONS_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let start = ConversationPosition { at: Millis(i64::MAX), id: ConversationId::from_bytes([255; 16]) };
        let after = query.after.unwrap_or(start);
        let of_project = if query.project.is_some() { "AND c.project = ?6" } else { "" };
        let sql = format!(
            "SELECT {CONVERSATION_COLUMNS} FROM conversations c
             WHERE c.owner = ?1 AND c.archived = ?2 AND c.kind <> 'tool_run' AND (c.active_at, c.id) < (?3, ?4) {of_project}
             ORDER BY c.active_at DESC, c.id DESC LIMIT ?5"
        );
        let mut bound = params![&owner, query.archived, after.at, &after.id, one_more].to_vec();
        bound.extend(query.project.as_ref().map(Value::from));
        let rows = self.all(&sql, &bound, read_conversation)?;
        Ok(page(rows, limit, |last| ConversationPosition { at: last.active_at, id: last.id }))
    }

    /// Every conversation of a project in the order they were made, folded ones and tool runs too (rule MG-PROJ-001).
    pub fn stack(
        &mut self,
        viewer: &Viewer,
        project: RecordId,
        after: Option<ConversationId>,
        limit: usize,
    ) -> Result<Page<ConversationRow, ConversationId>, StoreError> {
        let owner = self.record(viewer, project)?.owner;
        let after = after.unwrap_or(ConversationId::from_bytes([0; 16]));
        let limit = limit.clamp(1, CONVERSATIONS_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let sql = format!(
            "SELECT {CONVERSATION_COLUMNS} FROM conversations c
             WHERE c.project = ?1 AND c.id > ?2 AND c.owner = ?3 ORDER BY c.id LIMIT ?4"
        );
        let rows = self.all(&sql, params![&project, &after, &owner, one_more], read_conversation)?;
        Ok(page(rows, limit, |last| last.id))
    }

    /// The forks of a conversation, in the order they were made.
    pub fn forks(
        &mut self,
        viewer: &Viewer,
        id: ConversationId,
        after: Option<ConversationId>,
        limit: usize,
    ) -> Result<Page<ConversationRow, ConversationId>, StoreError> {
        self.conversation(viewer, id)?;
        self.grown_from("c.parent", id.as_bytes(), after, limit)
    }

    /// The forks at one node, in the order they were made.
    pub fn forks_at(
        &mut self,
        viewer: &Viewer,
        node: NodeId,
        after: Option<ConversationId>,
        limit: usize,
    ) -> Result<Page<ConversationRow, ConversationId>, StoreError> {
        self.node(viewer, node)?;
        self.grown_from("c.origin", node.as_bytes(), after, limit)
    }

    fn grown_from(
        &mut self,
        column: &str,
        from: &[u8; 16],
        after: Option<ConversationId>,
        limit: usize,
    ) -> Result<Page<ConversationRow, ConversationId>, StoreError> {
        let after = after.unwrap_or(ConversationId::from_bytes([0; 16]));
        let limit = limit.clamp(1, CONVERSATIONS_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let sql = format!(
            "SELECT {CONVERSATION_COLUMNS} FROM conversations c WHERE {column} = ?1 AND c.id > ?2 ORDER BY c.id LIMIT ?3"
        );
        let rows = self.all(&sql, params![from, &after, one_more], read_conversation)?;
        Ok(page(rows, limit, |last| last.id))
    }

    /// How many forks of a conversation are neither folded nor archived; where tools worked, nobody goes on (rule
    /// MG-CONV-003).
    pub fn active_forks(&mut self, viewer: &Viewer, id: ConversationId) -> Result<i64, StoreError> {
        self.conversation(viewer, id)?;
        let sql = "SELECT COUNT(*) FROM conversations c
             WHERE c.parent = ?1 AND c.folded = 0 AND c.archived = 0 AND c.kind <> 'tool_run'";
        Ok(self.first(sql, params![&id], |row| row.int(0))?.unwrap_or(0))
    }

    /// A node of a conversation that is still being generated, if there is one.
    pub fn pending_in(&mut self, viewer: &Viewer, id: ConversationId) -> Result<Option<NodeId>, StoreError> {
        self.conversation(viewer, id)?;
        let sql = "SELECT n.id FROM nodes n WHERE n.conversation = ?1 AND n.status = 'pending' ORDER BY n.id LIMIT 1";
        Ok(self.first(sql, params![&id], |row| row.array(0))?.map(NodeId::from_bytes))
    }

    /// Whether anything was said in a conversation, or is being said, since a moment. What failed was not.
    pub fn is_said_since(&mut self, viewer: &Viewer, id: ConversationId, since: Millis) -> Result<bool, StoreError> {
        self.conversation(viewer, id)?;
        let first = NodeId::new(since, Entropy([0; 10]));
        let sql = "SELECT 1 FROM nodes n WHERE n.conversation = ?1 AND n.id >= ?2 AND n.status <> 'failed' LIMIT 1";
        Ok(self.first(sql, params![&id, &first], |_| Ok(()))?.is_some())
    }

    /// Where a path of a conversation stands.
    pub fn path_cursor(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        path: PathId,
    ) -> Result<Option<NodeId>, StoreError> {
        self.conversation(viewer, conversation)?;
        let sql = "SELECT cursor_node FROM paths WHERE id = ?1 AND conversation = ?2";
        Ok(self.first(sql, params![&path, &conversation], |row| row.array(0))?.map(NodeId::from_bytes))
    }

    /// The path of a participant: the owner's is the conversation's own.
    pub fn participant_path(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        participant: ActorId,
    ) -> Result<PathId, StoreError> {
        let row = self.conversation(viewer, conversation)?;
        if participant.as_bytes() == row.owner.as_bytes() {
            return Ok(PathId::main_of(conversation));
        }
        Ok(PathId::of(conversation, participant.as_bytes()))
    }
}

/// These acts are for conversations, projects and actors.
fn refuse_other(content: &RecordContent) -> Result<(), RuleViolation> {
    if [CONVERSATION, "Project", "Actor"].contains(&content.record_type.as_str()) {
        return Ok(());
    }
    Err(RuleViolation::new("MG-CORE-007", "this is no part of a conversation", "use the act made for its type"))
}
