//! Keeps the rows of trees that a transaction knows, so that appending a turn asks the database once.
//!
//! [`Tx::prefetch_append`](crate::Tx::prefetch_append) and [`Tx::keep_missing_summaries`](crate::Tx::keep_missing_summaries)
//! fill it; otherwise it is empty. Each statement that changes such a row changes it here too, or empties the cache. Functions
//! that share a transaction hand it on. While it is filled, rows are written at the end of the transaction and together;
//! tests on SQLite compare what it answers with the database.

use std::collections::HashMap;

use skein_core::garden::item::Item;
use skein_core::tree::actor::ActorId;
use skein_core::tree::node;
use skein_core::tree::node_place::NodeLabel;
use skein_core::{ConversationId, ItemId, Millis, NodeId, PathId, RecordId, TurnId, UserId};

use crate::tree::read::SeenNode;
use crate::tree::rows::{ConversationRow, NodeRow, TurnRow};

/// Rows up to which a transaction keeps any.
const ROWS_MAX: usize = 4_096;

/// What the cache knows of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CachedRow<T> {
    Row(T),
    /// There is none yet.
    Absent,
    Unknown,
}

impl<'a, T> CachedRow<&'a T> {
    fn of(kept: Option<&'a Option<T>>) -> Self {
        kept.map_or(Self::Unknown, |row| row.as_ref().map_or(Self::Absent, Self::Row))
    }
}

/// Where a participant of a project is, and whose the project is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownFrame {
    pub(crate) owner: UserId,
    pub(crate) conversation: Option<ConversationId>,
}

/// The id of the node that is appended next, and which of its likely short names are taken.
#[derive(Debug)]
pub(crate) struct NextNode {
    pub(crate) id: NodeId,
    pub(crate) conversation: ConversationId,
    pub(crate) taken: Vec<String>,
    pub(crate) is_given: bool,
}

/// What [`crate::tree::prefetch`] read around the parent of a new node.
#[derive(Debug)]
pub(crate) struct ParentSurroundings {
    pub(crate) conversation: ConversationRow,
    pub(crate) parent: Option<NodeRow>,
    pub(crate) path: PathId,
    pub(crate) cursor: Option<NodeId>,
    pub(crate) parent_is_selected: bool,
    pub(crate) parent_is_continued: bool,
    pub(crate) frame: Option<((RecordId, ActorId), KnownFrame)>,
    pub(crate) next: NextNode,
}

/// The rows of trees that a transaction knows.
#[derive(Debug, Default)]
pub(crate) struct RowCache {
    is_filled: bool,
    conversations: HashMap<ConversationId, ConversationRow>,
    /// `None` for a node that is about to be made.
    nodes: HashMap<NodeId, Option<NodeRow>>,
    turns: HashMap<TurnId, Option<TurnRow>>,
    cursors: HashMap<PathId, Option<NodeId>>,
    frames: HashMap<(RecordId, ActorId), KnownFrame>,
    item_owners: HashMap<ItemId, UserId>,
    /// A label on which nothing stands yet.
    vacant: Option<NodeLabel>,
    next: Option<NextNode>,
    /// A parent that its path shows, or not.
    parent: Option<(PathId, NodeId, bool)>,
    /// The node with which a path went on in this function.
    led: Option<(PathId, NodeId)>,
    continued: Option<(PathId, SeenNode)>,
}

impl RowCache {
    /// Whether rows that are written may wait until the end of the transaction.
    pub(crate) fn is_filled(&self) -> bool {
        self.is_filled
    }

    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Adds what was read. Rows that are known already may be newer than what the database says.
    pub(crate) fn fill(&mut self, read: ParentSurroundings) {
        if self.nodes.len() > ROWS_MAX {
            self.forget();
        }
        self.is_filled = true;
        let parent = read.parent;
        self.vacant =
            parent.as_ref().and_then(NodeRow::label).map(NodeLabel::next).filter(|_| !read.parent_is_continued);
        self.parent = parent.as_ref().map(|parent| (read.path, parent.id, read.parent_is_selected));
        self.conversations.entry(read.conversation.id).or_insert(read.conversation);
        if let Some(parent) = parent {
            self.nodes.entry(parent.id).or_insert(Some(parent));
        }
        self.cursors.entry(read.path).or_insert(read.cursor);
        if let Some((place, frame)) = read.frame {
            self.frames.entry(place).or_insert(frame);
        }
        (self.led, self.continued) = (None, None);
        self.next = Some(read.next);
    }

    /// Adds rows that were read together.
    pub(crate) fn note_read(&mut self, conversation: ConversationRow, nodes: Vec<NodeRow>) {
        self.is_filled = true;
        self.conversations.entry(conversation.id).or_insert(conversation);
        for node in nodes {
            self.nodes.entry(node.id).or_insert(Some(node));
        }
    }

    pub(crate) fn conversation(&self, id: ConversationId) -> Option<&ConversationRow> {
        self.conversations.get(&id)
    }

    pub(crate) fn node(&self, id: NodeId) -> CachedRow<&NodeRow> {
        CachedRow::of(self.nodes.get(&id))
    }

    pub(crate) fn turn(&self, id: TurnId) -> CachedRow<&TurnRow> {
        CachedRow::of(self.turns.get(&id))
    }

    pub(crate) fn cursor(&self, path: PathId) -> CachedRow<NodeId> {
        match CachedRow::of(self.cursors.get(&path)) {
            CachedRow::Row(node) => CachedRow::Row(*node),
            CachedRow::Absent => CachedRow::Absent,
            CachedRow::Unknown => CachedRow::Unknown,
        }
    }

    pub(crate) fn frame(&self, project: RecordId, participant: ActorId) -> Option<KnownFrame> {
        self.frames.get(&(project, participant)).copied()
    }

    pub(crate) fn item_owner(&self, item: ItemId) -> Option<UserId> {
        self.item_owners.get(&item).copied()
    }

    /// Whether nothing stands on this label.
    pub(crate) fn is_vacant(&self, label: NodeLabel) -> bool {
        self.vacant == Some(label)
    }

    /// The names that a node about to be made cannot have, of its likely ones.
    pub(crate) fn taken_names(&self, conversation: ConversationId, id: NodeId) -> Option<Vec<String>> {
        let next = self.next.as_ref().filter(|next| (next.id, next.conversation) == (id, conversation));
        next.map(|next| next.taken.clone())
    }

    /// The id that was drawn for a node of a conversation, once.
    pub(crate) fn take_node_id(&mut self, conversation: ConversationId) -> Option<NodeId> {
        let next = self.next.as_mut().filter(|next| next.conversation == conversation && !next.is_given)?;
        next.is_given = true;
        self.nodes.insert(next.id, None);
        Some(next.id)
    }

    /// Notes a turn that is about to be made.
    pub(crate) fn note_new_turn(&mut self, id: TurnId) {
        if self.is_filled {
            self.turns.insert(id, None);
        }
    }

    pub(crate) fn note_items(&mut self, items: &[Item]) {
        self.item_owners.extend(items.iter().map(|item| (item.header.id, item.header.owner)));
    }

    pub(crate) fn note_turn(&mut self, turn: TurnRow) {
        if self.is_filled {
            self.turns.insert(turn.id, Some(turn));
        }
    }

    pub(crate) fn note_node(&mut self, node: NodeRow) {
        if !self.is_filled {
            return;
        }
        self.vacant = self.vacant.filter(|label| node.label() != Some(*label));
        self.nodes.insert(node.id, Some(node));
    }

    pub(crate) fn note_activity(&mut self, conversation: ConversationId, more: i64, at: Millis) {
        if let Some(row) = self.conversations.get_mut(&conversation) {
            row.nodes += more;
            row.active_at = at;
        }
    }

    pub(crate) fn note_cursor(&mut self, path: PathId, node: NodeId) {
        if self.is_filled {
            self.cursors.insert(path, Some(node));
        }
    }

    pub(crate) fn note_frame(&mut self, project: RecordId, participant: ActorId, conversation: ConversationId) {
        if let Some(frame) = self.frames.get_mut(&(project, participant)) {
            frame.conversation = Some(conversation);
        }
    }

    /// Notes that a path went on with a node from where it stood.
    pub(crate) fn note_led(&mut self, path: PathId, node: NodeId) {
        self.led = self.is_filled.then_some((path, node));
    }

    /// Notes what a node says. The path that went on with it sees it as the first of its turn, which nothing follows yet.
    pub(crate) fn note_said(&mut self, id: NodeId, content: &Item) {
        let Some((path, _)) = self.led.filter(|(_, node)| *node == id) else { return };
        let Some(Some(row)) = self.nodes.get(&id) else { return };
        let Some((_, _, parent_is_selected)) =
            self.parent.filter(|(of, parent, _)| *of == path && Some(*parent) == row.parent)
        else {
            return;
        };
        let Some(Some(turn)) = row.turn().and_then(|turn| self.turns.get(&turn)) else { return };
        let seen = SeenNode {
            row: row.clone(),
            spoken: Some((turn.speaker, turn.turn_type)),
            is_selected: true,
            answers_selected: parent_is_selected,
            has_children: false,
            content: node::content_of(content),
            is_redacted: false,
        };
        self.continued = Some((path, seen));
    }

    /// A node with which this path went on in this function.
    pub(crate) fn continued(&self, path: PathId, id: NodeId) -> Option<&SeenNode> {
        self.continued.as_ref().filter(|(of, seen)| *of == path && seen.row.id == id).map(|(_, seen)| seen)
    }
}
