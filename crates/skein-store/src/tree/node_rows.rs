//! Writes the rows of a new node: its place, its turn if it is the first there, itself and its sources.

use skein_core::garden::item::Item;
use skein_core::tree::node::{Node, NodeSlot, Source, TurnSlot};
use skein_core::tree::node_place::NodeLabel;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::{ConversationId, NodeId, TurnId};

use crate::db::sql::{DeferredStatement, params};
use crate::error::StoreError;
use crate::tree::row_cache::CachedRow;
use crate::tree::rows::{NodePlace, NodeRow, TurnRow, word};
use crate::tx::Tx;

impl Tx<'_> {
    /// Writes a row of a tree: at the end of the transaction where everything that could tell is known, else at once.
    pub(super) fn write_row(&mut self, later: DeferredStatement<'_>) -> Result<(), StoreError> {
        if self.row_cache.is_filled() {
            return self.execute_later(later);
        }
        self.execute(later.sql, later.params)?;
        Ok(())
    }

    pub(super) fn place_node(
        &mut self,
        id: NodeId,
        turn: TurnSlot,
        parent: Option<&NodeRow>,
        edited: Option<&NodeRow>,
    ) -> Result<NodePlace, StoreError> {
        let ordinal = self.last_ordinal(turn.id)? + 1;
        if let Some(shared) = edited.and_then(|edited| edited.place) {
            return Ok(NodePlace { turn: turn.id, ordinal, label: shared.label, is_late: shared.is_late });
        }
        let above = parent.and_then(NodeRow::label);
        let is_continued = above.map(|above| self.is_taken(above.next())).transpose()?.unwrap_or(false);
        let label = NodeLabel::of(id, above, is_continued);
        Ok(NodePlace { turn: turn.id, ordinal, label, is_late: ordinal > 1 })
    }

    /// The number of the last alternative of a turn, 0 if there is none.
    fn last_ordinal(&mut self, turn: TurnId) -> Result<i64, StoreError> {
        if self.row_cache.turn(turn) == CachedRow::Absent {
            return Ok(0);
        }
        let sql = "SELECT MAX(ordinal) FROM nodes WHERE turn = ?1";
        Ok(self.first(sql, params![&turn], |row| row.optional_int(0))?.flatten().unwrap_or(0))
    }

    fn is_taken(&mut self, label: NodeLabel) -> Result<bool, StoreError> {
        if self.row_cache.is_vacant(label) {
            return Ok(false);
        }
        let sql = "SELECT depth FROM nodes WHERE branch = ?1 AND depth = ?2 AND is_version = 0";
        Ok(self.first(sql, params![&label.branch, label.depth], |row| row.int(0))?.is_some())
    }

    pub(super) fn insert_turn(
        &mut self,
        conversation: ConversationId,
        turn: TurnSlot,
        parent: Option<&NodeRow>,
        place: &NodePlace,
        first: NodeId,
    ) -> Result<(), StoreError> {
        let parent = parent.and_then(NodeRow::turn);
        let (depth, speaker, turn_type) = (place.label.depth, turn.speaker, turn.turn_type);
        let sql = "INSERT INTO turns (id, conversation, parent, speaker, type, depth, first_node)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let (spoken, called) = (word(speaker), word(turn_type));
        let values = params![&turn.id, &conversation, parent.as_ref(), &spoken, &called, depth, &first];
        self.write_row(DeferredStatement::new("turns", sql, values))?;
        self.row_cache.note_turn(TurnRow {
            id: turn.id,
            conversation,
            parent,
            speaker,
            turn_type,
            depth,
            first_node: first,
        });
        Ok(())
    }

    pub(super) fn insert_node(
        &mut self,
        item: &Item,
        id: NodeId,
        slot: &NodeSlot,
        node: Option<&Node>,
        place: Option<&NodePlace>,
        is_version: bool,
    ) -> Result<(), StoreError> {
        let raw = node.and_then(|node| node.raw_response.as_ref());
        let executed_by = slot.executed_by.as_ref();
        self.write_row(DeferredStatement::new(
            "nodes",
            "INSERT INTO nodes (id, conversation, owner, turn, ordinal, parent, branch, depth, late, edge, local_id, author,
                 author_type, status, content, content_hash, raw_response, raw_hash, edited_from, is_version, process,
                 process_version, created_at, reserved_by, bookmarked, label, pruned, excluded)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
                 ?23, ?24, 0, NULL, 0, 0)",
            params![
                &id,
                &slot.conversation_id,
                &item.header.owner,
                place.map(|place| &place.turn),
                place.map(|place| place.ordinal),
                slot.edge.parent().as_ref(),
                place.map(|place| &place.label.branch),
                place.map(|place| place.label.depth),
                place.is_some_and(|place| place.is_late),
                &slot.edge.id,
                &slot.local_id,
                slot.author_id.as_bytes(),
                &word(slot.author_type),
                if node.is_some() { "complete" } else { "pending" },
                node.map(|node| &node.content_id),
                node.map(|node| &node.content_hash),
                raw.map(|raw| &raw.item_id),
                raw.map(|raw| &raw.hash),
                slot.edited_from.as_ref(),
                is_version,
                executed_by.map(|by| &by.process_id),
                executed_by.map(|by| by.version),
                item.header.canonical_at,
                node.is_none().then_some(&item.header.id),
            ],
        ))?;
        match node.filter(|_| self.row_cache.is_filled()) {
            Some(node) => self.row_cache.note_node(row_of(item, id, node, place, is_version)),
            None => self.row_cache.forget(),
        }
        Ok(())
    }

    /// Writes what leads into a node besides its parent.
    pub(super) fn insert_sources(&mut self, target: NodeId, slot: &NodeSlot) -> Result<(), StoreError> {
        let (parent, edge_type) = (slot.edge.parent(), word(slot.edge.edge_type));
        let sources: Vec<Source> =
            slot.edge.sources.iter().filter(|source| Some(source.node_id) != parent).copied().collect();
        for source in sources {
            let source_row = self.find_node(source.node_id)?.filter(|row| row.conversation == slot.conversation_id);
            if source_row.is_none() {
                return Err(StoreError::Damaged(format!("{} is of another conversation", source.node_id)));
            }
            let sql = "INSERT INTO node_sources (target, source, role, kind) VALUES (?1, ?2, ?3, ?4)";
            let role = word(source.role);
            let values = params![&target, &source.node_id, &role, &edge_type];
            self.write_row(DeferredStatement { key: 2, ..DeferredStatement::new("node_sources", sql, values) })?;
        }
        Ok(())
    }

    /// AG-BUFFER-001: whatever what was edited led to, the version leads to as well, for the same purpose.
    pub(super) fn insert_version_sources(&mut self, version: NodeId, edited: NodeId) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO node_sources (target, source, role, kind)
             SELECT f.target, ?1, f.role, 'version' FROM (
                 SELECT n.id AS target, 'primary' AS role FROM nodes n WHERE n.parent = ?2
                 UNION SELECT s.target, s.role FROM node_sources s
                     WHERE s.source = ?2 AND s.kind IN ('continuation', 'version')) AS f",
            params![&version, &edited],
        )?;
        Ok(())
    }
}

/// A complete node as it is written.
fn row_of(item: &Item, id: NodeId, node: &Node, place: Option<&NodePlace>, is_version: bool) -> NodeRow {
    let Node { slot, content_id, content_hash, raw_response } = node;
    NodeRow {
        id,
        conversation: slot.conversation_id,
        owner: item.header.owner,
        place: place.copied(),
        parent: slot.edge.parent(),
        edge: slot.edge.id,
        local_id: slot.local_id.clone(),
        author: slot.author_id,
        author_type: slot.author_type,
        status: GenerationStatus::Complete,
        content: Some(*content_id),
        content_hash: Some(*content_hash),
        raw_response: *raw_response,
        edited_from: slot.edited_from,
        is_version,
        executed_by: slot.executed_by,
        created_at: item.header.canonical_at,
        bookmarked: false,
        label: None,
        pruned: false,
        excluded: false,
        reserved_by: None,
    }
}
