//! Appends a node: finds and checks its position, then appends the item and projects it, in one transaction.

use serde_json::Value as Json;
use skein_core::catalog::sharing::SharingRefusal;
use skein_core::garden::item::{ItemDraft, ItemType};
use skein_core::id::Entropy;
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::local_id::local_id;
use skein_core::tree::node::{
    self, Edge, EdgeType, ExecutedBy, Node, NodeFailed, NodeReserved, NodeSlot, PathMoved, RawResponse, Source,
    SourceRole, TreePayload, TurnSlot,
};
use skein_core::tree::node_hash::{Authorship, NodeContent, node_hash, raw_response_bytes};
use skein_core::tree::node_place;
use skein_core::tree::node_place::ChildTurn;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{
    ConversationId, Digest, EdgeId, ItemId, Millis, NodeId, PathId, RuleViolation, TurnId, UserId, Viewer,
};

use crate::db::sql::params;
use crate::error::{SqlError, StoreError};
use crate::tree::path_switch::{OwnedPath, PathChange};
use crate::tree::rows::{ConversationRow, NodeRow, spelled};
use crate::tx::Tx;

/// Where a new node is to stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodePosition {
    /// What is said after a node, or first of all.
    After { parent: Option<NodeId>, speaker: Speaker, turn_type: TurnType },
    /// Another alternative of a turn, answering a node of the turn before: the selected one unless named.
    Beside { turn: TurnId, parent: Option<NodeId> },
    /// What a node should have said.
    EditOf(NodeId),
    /// A remark about nodes, outside the conversation's course.
    About(Vec<NodeId>),
}

/// Who makes a node, where, and what led to it.
#[derive(Debug, Clone, PartialEq)]
pub struct NodePlacement {
    pub conversation: ConversationId,
    pub position: NodePosition,
    pub author: ActorId,
    pub author_type: AuthorType,
    /// Sources besides the parent.
    pub sources: Vec<Source>,
    pub executed_by: Option<ExecutedBy>,
    /// The path to lead to it.
    pub leads: Option<PathId>,
}

/// What a node says.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeBody {
    pub content: Json,
    /// When, if not now: for what was said elsewhere.
    pub created_at: Option<Millis>,
    pub raw: Option<RawResponseSource>,
}

/// What a model answered, as it was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawResponseSource {
    /// To be kept with the node.
    New(ReceivedResponse),
    /// An item that has it already.
    Kept(ItemId),
}

/// A model's answer as it was received: headers as a document, the body's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedResponse {
    pub headers: Json,
    pub body: Vec<u8>,
}

impl Tx<'_> {
    /// Appends a node that is complete.
    pub fn append_node(
        &mut self,
        viewer: &Viewer,
        placing: &NodePlacement,
        said: &NodeBody,
    ) -> Result<(NodeRow, PathChange), StoreError> {
        let conversation = self.writable(viewer, placing.conversation)?;
        let drawn = self.row_cache.take_node_id(conversation.id);
        let id = drawn.unwrap_or_else(|| NodeId::new(self.id_time(), self.entropy()));
        let (slot, parents) = self.slot(&conversation, id, placing)?;
        self.take_moved();
        self.record_node(viewer, conversation.owner, id, slot, said, &parents).map_err(raced)?;
        self.wake(viewer, &conversation)?;
        Ok((self.node(viewer, id)?, self.take_moved()))
    }

    /// Keeps a place for what is being generated (decision Z5).
    pub fn reserve_node(
        &mut self,
        viewer: &Viewer,
        placing: &NodePlacement,
    ) -> Result<(NodeRow, PathChange), StoreError> {
        let conversation = self.writable(viewer, placing.conversation)?;
        let id = NodeId::new(self.id_time(), self.entropy());
        let (slot, _) = self.slot(&conversation, id, placing)?;
        self.take_moved();
        let reserved = NodeReserved { node_id: id, slot }.to_draft();
        self.append_item_for(viewer, conversation.owner, &reserved).map_err(raced)?;
        self.wake(viewer, &conversation)?;
        Ok((self.node(viewer, id)?, self.take_moved()))
    }

    /// Completes a node whose place was kept, by the author the place was kept for.
    pub fn complete_node(&mut self, viewer: &Viewer, id: NodeId, said: &NodeBody) -> Result<NodeRow, StoreError> {
        let pending = self.pending_node(viewer, id)?;
        self.complete_node_by(viewer, id, said, (pending.author, pending.author_type))
    }

    /// Completes a node whose place was kept. Only its end shows who wrote it: another step may stand in for a model.
    pub fn complete_node_by(
        &mut self,
        viewer: &Viewer,
        id: NodeId,
        said: &NodeBody,
        (author_id, author_type): (ActorId, AuthorType),
    ) -> Result<NodeRow, StoreError> {
        let pending = self.pending_node(viewer, id)?;
        self.writable(viewer, pending.conversation)?;
        let slot = NodeSlot { author_id, author_type, ..self.reserved_slot(&pending)? };
        let parents = self.hashes_of(&slot.edge)?;
        self.record_node(viewer, pending.owner, id, slot, said, &parents)?;
        self.node(viewer, id)
    }

    /// Leaves a node whose place was kept as one that came to nothing.
    pub fn fail_node(&mut self, viewer: &Viewer, id: NodeId, reason: &str) -> Result<NodeRow, StoreError> {
        let pending = self.pending_node(viewer, id)?;
        let failed = NodeFailed { node_id: id, reason: reason.to_owned() };
        self.append_item_for(viewer, pending.owner, &failed.to_draft())?;
        self.node(viewer, id)
    }

    /// Leads a path to a node and everything it descends from (rules BR-ALT-002, BR-ALT-006A).
    pub fn move_path(
        &mut self,
        viewer: &Viewer,
        path: PathId,
        actor: ActorId,
        node: NodeId,
    ) -> Result<(NodeRow, PathChange), StoreError> {
        self.return_path(viewer, path, actor, node, Vec::new())
    }

    /// Leads a path back to a node, after turns show again what they showed before (rule BR-EXEC-001).
    pub fn return_path(
        &mut self,
        viewer: &Viewer,
        path: PathId,
        actor: ActorId,
        node: NodeId,
        shown: Vec<NodeId>,
    ) -> Result<(NodeRow, PathChange), StoreError> {
        let row = self.node(viewer, node)?;
        if !viewer.may_write(row.owner) {
            return Err(StoreError::Forbidden);
        }
        OwnedPath::of(&self.conversation(viewer, row.conversation)?, path, actor)?;
        if row.place.is_none() {
            let problem = "an annotation stands beside the conversation's course";
            return Err(RuleViolation::new("AG-EDGE-004", problem, "turn to the node it is about").into());
        }
        self.take_moved();
        let moved =
            PathMoved { path_id: path, conversation_id: row.conversation, actor_id: actor, node_id: node, shown };
        self.append_item_for(viewer, row.owner, &moved.to_draft()).map_err(raced)?;
        Ok((row, self.take_moved()))
    }

    fn pending_node(&mut self, viewer: &Viewer, id: NodeId) -> Result<NodeRow, StoreError> {
        let row = self.node(viewer, id)?;
        if !viewer.may_write(row.owner) {
            return Err(StoreError::Forbidden);
        }
        if row.status == GenerationStatus::Pending {
            return Ok(row);
        }
        let problem = format!("{id} is no longer being generated");
        Err(SharingRefusal::Conflict(RuleViolation::new("Z5", problem, "nothing more can come of it")).into())
    }

    /// The seat a place was kept with, as it was recorded.
    fn reserved_slot(&mut self, pending: &NodeRow) -> Result<NodeSlot, StoreError> {
        let damaged = || StoreError::Damaged(format!("the reservation of {} cannot be read", pending.id));
        let reservation = pending.reserved_by.ok_or_else(damaged)?;
        let reservation = self.find_item(reservation)?.ok_or_else(damaged)?;
        let document = reservation.item.document().ok_or_else(damaged)?;
        Ok(NodeReserved::from_document(&document).ok_or_else(damaged)?.slot)
    }

    /// A conversation that is the viewer's to write to and is not folded.
    pub(crate) fn writable(&mut self, viewer: &Viewer, id: ConversationId) -> Result<ConversationRow, StoreError> {
        let conversation = self.conversation(viewer, id)?;
        if !viewer.may_write(conversation.owner) {
            return Err(StoreError::Forbidden);
        }
        node_place::check_open(conversation.folded)?;
        Ok(conversation)
    }

    /// BR-CONV-005: writing to an archived conversation makes it active again.
    fn wake(&mut self, viewer: &Viewer, conversation: &ConversationRow) -> Result<(), StoreError> {
        if !conversation.archived {
            return Ok(());
        }
        let record = self.record(viewer, conversation.id.into())?;
        let mut content = record.content;
        content.data.insert("status".to_owned(), Json::from("active"));
        self.change_record(viewer, record.id, record.hash, content, None)?;
        Ok(())
    }

    /// Where a node is to stand, and the hashes of what leads into it.
    fn slot(
        &mut self,
        conversation: &ConversationRow,
        id: NodeId,
        placing: &NodePlacement,
    ) -> Result<(NodeSlot, Vec<Digest>), StoreError> {
        let (turn, parent, edited_from) = match &placing.position {
            NodePosition::After { parent, speaker, turn_type } => {
                let (turn, parent) = self.turn_after(conversation, *parent, *speaker, *turn_type)?;
                (Some(turn), parent, None)
            }
            NodePosition::Beside { turn, parent } => {
                let (turn, parent) = self.beside(conversation, *turn, *parent)?;
                (Some(turn), parent, None)
            }
            NodePosition::EditOf(edited) => {
                let edited_row = self.member(conversation, *edited)?;
                node_place::check_parent(edited_row.status)?;
                let Some(turn) = edited_row.turn() else { return Err(not_of_the_course().into()) };
                let parent = edited_row.parent.map(|parent| self.member(conversation, parent)).transpose()?;
                (Some(self.turn_slot(turn)?), parent, Some(*edited))
            }
            NodePosition::About(_) => (None, None, None),
        };
        let (edge, parents) = self.edge(conversation, placing, parent.as_ref())?;
        let local_id = self.free_local_id(conversation.id, id)?;
        let slot = NodeSlot {
            conversation_id: conversation.id,
            turn,
            author_id: placing.author,
            author_type: placing.author_type,
            local_id,
            edge,
            edited_from,
            executed_by: placing.executed_by,
            path_id: placing.leads,
        };
        Ok((slot, parents))
    }

    /// BR-ALT-005: the turn that answers this node already, else a new one.
    fn turn_after(
        &mut self,
        conversation: &ConversationRow,
        parent: Option<NodeId>,
        speaker: Speaker,
        turn_type: TurnType,
    ) -> Result<(TurnSlot, Option<NodeRow>), StoreError> {
        let new = |entropy: Entropy, now| TurnSlot { id: TurnId::new(now, entropy), speaker, turn_type };
        let Some(parent) = parent else {
            node_place::check_root(conversation.root_turn.is_some())?;
            return Ok((new(self.entropy(), self.id_time()), None));
        };
        let row = self.member(conversation, parent)?;
        if row.place.is_none() {
            return Err(not_of_the_course().into());
        }
        node_place::check_parent(row.status)?;
        let mut answering = Vec::new();
        // The first that answers any of them stands on the next label.
        if !row.label().is_some_and(|label| self.row_cache.is_vacant(label.next())) {
            for member in self.lineage(conversation, &row)? {
                answering.extend(self.turns_answering(member)?);
            }
        }
        answering.sort_by_key(|turn| turn.id);
        if let Some(id) = node_place::turn_to_continue(&answering, speaker, turn_type) {
            return Ok((TurnSlot { id, speaker, turn_type }, Some(row)));
        }
        let turn = new(self.entropy(), self.id_time());
        self.row_cache.note_new_turn(turn.id);
        Ok((turn, Some(row)))
    }

    /// The nodes that stand for each other with this one: in buffer mode its versions, else itself (rule AG-EDGE-002).
    fn lineage(&mut self, conversation: &ConversationRow, node: &NodeRow) -> Result<Vec<NodeId>, StoreError> {
        let Some(label) = node.label().filter(|_| conversation.is_buffer()) else { return Ok(vec![node.id]) };
        let sql = "SELECT n.id FROM nodes n WHERE n.branch = ?1 AND n.depth = ?2 AND n.is_version = 0
             UNION ALL SELECT n.id FROM nodes n WHERE n.branch = ?1 AND n.depth = ?2 AND n.is_version = 1";
        self.all(sql, params![&label.branch, label.depth], |row| row.array(0).map(NodeId::from_bytes))
    }

    /// The few turns that answer a node, however many alternatives they have.
    fn turns_answering(&mut self, parent: NodeId) -> Result<Vec<ChildTurn>, StoreError> {
        let sql = "WITH RECURSIVE answering(turn) AS (
                 SELECT (SELECT n.turn FROM nodes n WHERE n.parent = ?1 ORDER BY n.turn LIMIT 1)
                 UNION ALL
                 SELECT (SELECT n.turn FROM nodes n WHERE n.parent = ?1 AND n.turn > a.turn ORDER BY n.turn LIMIT 1)
                 FROM answering a WHERE a.turn IS NOT NULL)
             SELECT t.id, t.speaker, t.type FROM answering a JOIN turns t ON t.id = a.turn";
        self.all(sql, params![&parent], |row| {
            let id = TurnId::from_bytes(row.array(0)?);
            Ok(ChildTurn { id, speaker: spelled(row, 1)?, turn_type: spelled(row, 2)? })
        })
    }

    fn beside(
        &mut self,
        conversation: &ConversationRow,
        turn: TurnId,
        parent: Option<NodeId>,
    ) -> Result<(TurnSlot, Option<NodeRow>), StoreError> {
        let row = self.find_turn(turn)?.filter(|row| row.conversation == conversation.id);
        let row = row.ok_or_else(|| StoreError::NotFound(turn.to_string()))?;
        let main = PathId::main_of(conversation.id);
        let parent = match (parent, row.parent) {
            (None, Some(above)) => self.selected_in(main, above)?,
            (named, _) => named,
        };
        let parent = parent.map(|parent| self.member(conversation, parent)).transpose()?;
        if let Some(answered) = &parent {
            node_place::check_parent(answered.status)?;
            answered.place.ok_or_else(not_of_the_course)?;
        }
        node_place::check_answer(row.parent, parent.as_ref().and_then(NodeRow::turn))?;
        Ok((TurnSlot { id: turn, speaker: row.speaker, turn_type: row.turn_type }, parent))
    }

    fn edge(
        &mut self,
        conversation: &ConversationRow,
        placing: &NodePlacement,
        parent: Option<&NodeRow>,
    ) -> Result<(Edge, Vec<Digest>), StoreError> {
        let primary = |node_id| Source { node_id, role: SourceRole::Primary };
        let (edge_type, first): (_, Vec<Source>) = match &placing.position {
            NodePosition::About(nodes) => (EdgeType::Annotation, nodes.iter().copied().map(primary).collect()),
            _ => (EdgeType::Continuation, parent.map(|row| primary(row.id)).into_iter().collect()),
        };
        let mut sources: Vec<Source> = Vec::new();
        for source in first.iter().chain(&placing.sources) {
            if sources.iter().all(|known| known.node_id != source.node_id) {
                sources.push(*source);
            }
        }
        node_place::check_sources(edge_type, &sources, parent.map(|row| row.id))?;
        let mut hashes = Vec::with_capacity(sources.len());
        for source in &sources {
            let read = match parent {
                Some(parent) if parent.id == source.node_id => None,
                _ => Some(self.member(conversation, source.node_id)?),
            };
            let Some(row) = read.as_ref().or(parent) else { continue };
            node_place::check_parent(row.status)?;
            hashes.extend(row.content_hash.filter(|_| edge_type == EdgeType::Continuation));
        }
        Ok((Edge { id: EdgeId::new(self.id_time(), self.entropy()), edge_type, sources }, hashes))
    }

    /// A node of this conversation; one of another is none (rule AG-EDGE-003).
    fn member(&mut self, conversation: &ConversationRow, id: NodeId) -> Result<NodeRow, StoreError> {
        let found = self.find_node(id)?.filter(|row| row.owner == conversation.owner);
        node_place::check_member(id, found.as_ref().map(|row| row.conversation), conversation.id)?;
        found.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    fn turn_slot(&mut self, id: TurnId) -> Result<TurnSlot, StoreError> {
        let row = self.find_turn(id)?.ok_or_else(|| StoreError::Damaged(format!("{id} is gone")))?;
        Ok(TurnSlot { id, speaker: row.speaker, turn_type: row.turn_type })
    }

    /// Most names are among the first four, which are looked for together.
    fn free_local_id(&mut self, conversation: ConversationId, id: NodeId) -> Result<String, StoreError> {
        let bare = id.bare();
        let likely = likely_names(&bare);
        let taken = if let Some(taken) = self.row_cache.taken_names(conversation, id) {
            taken
        } else {
            let sql = "SELECT local_id FROM nodes WHERE conversation = ?1 AND local_id IN (?2, ?3, ?4, ?5)";
            let bound = params![&conversation, likely[0], likely[1], likely[2], likely[3]];
            self.all(sql, bound, |row| row.text(0).map(str::to_owned))?
        };
        local_id(&bare, |candidate| {
            if likely.contains(&candidate) {
                return Ok(taken.iter().any(|name| name == candidate));
            }
            let sql = "SELECT late FROM nodes WHERE conversation = ?1 AND local_id = ?2";
            Ok(self.first(sql, params![&conversation, candidate], |row| row.int(0))?.is_some())
        })
    }

    /// Records what was said, then where it stands.
    fn record_node(
        &mut self,
        viewer: &Viewer,
        owner: UserId,
        id: NodeId,
        slot: NodeSlot,
        said: &NodeBody,
        parents: &[Digest],
    ) -> Result<(), StoreError> {
        if said.raw.is_some() && slot.author_type != AuthorType::Model {
            let problem = "only a node that a model wrote has a raw response";
            return Err(
                RuleViolation::new("AG-HASH-002", problem, "leave the raw response out, or name the model").into()
            );
        }
        let raw_response = said.raw.as_ref().map(|raw| self.record_raw(viewer, owner, raw)).transpose()?;
        let now = self.now();
        let created_at = said.created_at.unwrap_or(now);
        let content_hash = hash_of(&slot, said, created_at, raw_response.as_ref(), parents);
        let content = node::content_draft(id, &said.content)?.happened_at(created_at);
        let content_id = ItemId::new(self.id_time(), self.entropy());
        let draft = Node { slot, content_id, content_hash, raw_response }.to_draft().happened_at(created_at);
        let content = content.realize(content_id, owner, now);
        self.append_of_tree(vec![content.clone(), draft.realize(id.into(), owner, now)])?;
        self.row_cache.note_said(id, &content);
        Ok(())
    }

    fn record_raw(
        &mut self,
        viewer: &Viewer,
        owner: UserId,
        raw: &RawResponseSource,
    ) -> Result<RawResponse, StoreError> {
        let raw = match raw {
            RawResponseSource::New(raw) => raw,
            RawResponseSource::Kept(id) => {
                let item = self.find_item(*id)?.filter(|found| found.item.header.owner == owner);
                let item = item.ok_or_else(|| StoreError::NotFound(id.to_string()))?.item;
                let hash = item.payload.as_ref().map(|payload| Digest::of(payload.bytes()));
                let hash = hash.ok_or_else(|| StoreError::NotFound(id.to_string()))?;
                return Ok(RawResponse { item_id: *id, hash });
            }
        };
        let bytes = raw_response_bytes(&raw.headers, &raw.body);
        let hash = Digest::of(&bytes);
        let draft = ItemDraft::recorded_raw(ItemType::RAW_RESPONSE, bytes)?;
        let item = self.append_item_for(viewer, owner, &draft)?;
        Ok(RawResponse { item_id: item.item.header.id, hash })
    }

    /// The hashes of what leads into a node by continuation, as they were when its place was kept.
    fn hashes_of(&mut self, edge: &Edge) -> Result<Vec<Digest>, StoreError> {
        let sources = edge.sources.iter().filter(|_| edge.edge_type == EdgeType::Continuation);
        let hash = |source: &Source| {
            let hash = self.find_node(source.node_id)?.and_then(|row| row.content_hash);
            hash.ok_or_else(|| StoreError::Damaged(format!("{} has no hash", source.node_id)))
        };
        sources.map(hash).collect()
    }
}

/// The short names that a node most likely gets.
pub(crate) fn likely_names(bare: &str) -> [&str; 4] {
    [&bare[..6], &bare[..7], &bare[..8], &bare[18..]]
}

fn hash_of(
    slot: &NodeSlot,
    said: &NodeBody,
    created_at: Millis,
    raw: Option<&RawResponse>,
    parents: &[Digest],
) -> Digest {
    let authorship = match raw {
        Some(raw) => Authorship::Generated { raw_response: &raw.hash },
        None => Authorship::Stated,
    };
    let author = slot.author_id.bare();
    node_hash(&NodeContent { content: &said.content, parents, created_at, author: &author, authorship })
}

/// Somebody else took the place between looking and writing: run again, it will be seen.
fn raced(error: StoreError) -> StoreError {
    match error {
        StoreError::Sql(SqlError::Unique(detail)) => SqlError::Collision(detail).into(),
        error => error,
    }
}

fn not_of_the_course() -> RuleViolation {
    let problem = "an annotation stands beside the conversation's course";
    RuleViolation::new("AG-EDGE-004", problem, "name the node it is about")
}
