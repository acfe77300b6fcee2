//! Projects the items of the tree into rows, in the order of the timeline, at each append and at a rebuild. It reads
//! only
//! rows that earlier items wrote.

use serde_json::{Map, Value as Json};
use skein_core::garden::item::{Item, ItemType};
use skein_core::garden::record::RecordContent;
use skein_core::tree::conversation::SHOWN_ABOVE_MAX;
use skein_core::tree::node::{
    FrameMoved, Node, NodeCorrected, NodeFailed, NodeMarked, NodeReserved, NodeSlot, PathMoved, TreePayload,
    TreeSummary, TurnSlot,
};
use skein_core::{ConversationId, ItemId, NodeId, RecordId, TurnId, UserId};

use crate::db::sql::{DeferredStatement, params};
use crate::error::StoreError;
use crate::timeline::projection::ProjectionResult;
use crate::tree::path_switch::{OwnedPath, PathTarget};
use crate::tree::rows::{NodeRow, word};
use crate::tx::Tx;

/// Facts that change where nodes stand, or what paths and participants show.
const WRITTEN_UNDER_LOCK: [ItemType; 5] =
    [ItemType::NODE, ItemType::NODE_RESERVED, ItemType::NODE_FAILED, ItemType::PATH_MOVED, ItemType::FRAME_MOVED];

impl Tx<'_> {
    /// Keeps others from writing to the trees of an owner until the transaction ends.
    pub(crate) fn hold_trees(&mut self, owner: UserId) -> Result<(), StoreError> {
        Ok(self.sql.hold_trees(owner)?)
    }

    /// Writes what a fact of the tree says; `None` when it is not what its type promises.
    pub(crate) fn project_tree(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        if WRITTEN_UNDER_LOCK.contains(&item.header.item_type) {
            self.hold_trees(item.header.owner)?;
        }
        match &item.header.item_type {
            t if *t == ItemType::NODE => self.project_node(item, document),
            t if *t == ItemType::NODE_RESERVED => self.project_reserved(item, document),
            t if *t == ItemType::NODE_FAILED => self.project_failed(item, document),
            t if *t == ItemType::NODE_MARKED => self.project_marked(item, document),
            t if *t == ItemType::NODE_CORRECTED => self.check_corrected(item, document),
            t if *t == ItemType::PATH_MOVED => self.project_path_moved(item, document),
            t if *t == ItemType::FRAME_MOVED => self.project_frame_moved(item, document),
            t if *t == ItemType::TREE_SUMMARY => self.project_summary(item, document),
            _ => Ok(Some(())),
        }
    }

    fn project_node(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        let Some(node) = Node::from_document(document) else { return Ok(None) };
        let id = NodeId::from_bytes(*item.header.id.as_bytes());
        self.refuse_foreign(item, node.content_id)?;
        if let Some(raw) = node.raw_response {
            self.refuse_foreign(item, raw.item_id)?;
        }
        let Some(reserved) = self.find_node(id)? else {
            self.project_slot(item, id, &node.slot, Some(&node))?;
            return Ok(Some(()));
        };
        if reserved.conversation != node.slot.conversation_id {
            return Ok(None);
        }
        self.row_cache.forget();
        let completed = self.execute(
            "UPDATE nodes SET status = 'complete', content = ?2, content_hash = ?3, raw_response = ?4, raw_hash = ?5,
                 created_at = ?6, author = ?8, author_type = ?9 WHERE id = ?1 AND status = 'pending' AND owner = ?7",
            params![
                &id,
                &node.content_id,
                &node.content_hash,
                node.raw_response.as_ref().map(|raw| &raw.item_id),
                node.raw_response.as_ref().map(|raw| &raw.hash),
                item.header.canonical_at,
                &item.header.owner,
                node.slot.author_id.as_bytes(),
                &word(node.slot.author_type),
            ],
        )?;
        self.note_activity(node.slot.conversation_id, item, 0)?;
        Ok((completed == 1).then_some(()))
    }

    fn project_reserved(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        let Some(NodeReserved { node_id, slot }) = NodeReserved::from_document(document) else { return Ok(None) };
        self.project_slot(item, node_id, &slot, None)?;
        Ok(Some(()))
    }

    fn project_failed(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        let Some(NodeFailed { node_id, .. }) = NodeFailed::from_document(document) else { return Ok(None) };
        self.row_cache.forget();
        let sql = "UPDATE nodes SET status = 'failed' WHERE id = ?1 AND status = 'pending' AND owner = ?2";
        let failed = self.execute(sql, params![&node_id, &item.header.owner])?;
        Ok((failed == 1).then_some(()))
    }

    /// A correction has no rows of its own: verification reads it by its id. It is of a node of its owner's.
    fn check_corrected(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        let Some(corrected) = NodeCorrected::from_document(document) else { return Ok(None) };
        let is_own = self.find_node(corrected.node_id)?.is_some_and(|node| node.owner == item.header.owner);
        Ok((is_own && item.header.id == NodeCorrected::id_of(corrected.node_id)).then_some(()))
    }

    /// Gives a node its place, makes its turn if it is the first there, and leads the path to it.
    fn project_slot(
        &mut self,
        item: &Item,
        id: NodeId,
        slot: &NodeSlot,
        node: Option<&Node>,
    ) -> Result<(), StoreError> {
        let conversation = self.own_conversation_row(item, slot.conversation_id)?;
        let parent = slot.edge.parent().map(|parent| self.placed_node(slot, parent)).transpose()?;
        let edited = slot.edited_from.map(|edited| self.placed_node(slot, edited)).transpose()?;
        let is_version = conversation.is_buffer() && edited.is_some() && slot.turn.is_some();
        if edited.as_ref().is_some_and(|edited| edited.turn() != slot.turn.map(|turn| turn.id)) {
            return Err(StoreError::Damaged(format!("{id} is an edit in another turn")));
        }
        let place = match slot.turn {
            Some(turn) => Some(self.place_node(id, turn, parent.as_ref(), edited.as_ref().filter(|_| is_version))?),
            None => None,
        };
        if let (Some(turn), Some(_)) = (slot.turn, place.filter(|place| place.ordinal > 1)) {
            self.refuse_other_turn(slot.conversation_id, turn, parent.as_ref())?;
        }
        if let (Some(turn), Some(place)) = (slot.turn, place.filter(|place| place.ordinal == 1)) {
            self.insert_turn(slot.conversation_id, turn, parent.as_ref(), &place, id)?;
        }
        self.insert_node(item, id, slot, node, place.as_ref(), is_version)?;
        self.insert_sources(id, slot)?;
        if is_version {
            self.insert_version_sources(id, edited.as_ref().expect("a version was edited from something").id)?;
        }
        self.note_activity(slot.conversation_id, item, 1)?;
        if place.is_some_and(|place| place.label.depth == 1 && place.ordinal == 1) {
            self.note_root(slot.conversation_id, slot.turn.map(|turn| turn.id), id)?;
        }
        if let (Some(path), Some(place)) = (slot.path_id, place) {
            let way = OwnedPath::of(&conversation, path, slot.author_id)?;
            let led = PathTarget { id, conversation: conversation.id, place, parent: slot.edge.parent() };
            // An edit stands beside what it edits; only what is said under a version is said to that version.
            let under = parent.as_ref().filter(|_| conversation.is_buffer() && edited.is_none());
            self.lead_path_on(&way, &led, under)?;
        }
        Ok(())
    }

    /// An alternative is of a turn of its conversation, answers a node of the turn before, and speaks as the turn does.
    fn refuse_other_turn(
        &mut self,
        conversation: ConversationId,
        turn: TurnSlot,
        parent: Option<&NodeRow>,
    ) -> Result<(), StoreError> {
        let known = self.find_turn(turn.id)?.filter(|known| {
            known.conversation == conversation
                && known.parent == parent.and_then(NodeRow::turn)
                && (known.speaker, known.turn_type) == (turn.speaker, turn.turn_type)
        });
        known.map(drop).ok_or_else(|| StoreError::Damaged(format!("{} is another turn", turn.id)))
    }

    /// A node of the same conversation.
    fn placed_node(&mut self, slot: &NodeSlot, id: NodeId) -> Result<NodeRow, StoreError> {
        let found = self.find_node(id)?.filter(|node| node.conversation == slot.conversation_id);
        found.ok_or_else(|| StoreError::Damaged(format!("{id} is not a node of {}", slot.conversation_id)))
    }

    fn note_activity(&mut self, conversation: ConversationId, item: &Item, more: i64) -> Result<(), StoreError> {
        let at = item.header.realized_at;
        let sql = "UPDATE conversations SET nodes = nodes + ?2, active_at = ?3 WHERE id = ?1";
        self.write_row(DeferredStatement::new("conversations", sql, params![&conversation, more, at]))?;
        self.row_cache.note_activity(conversation, more, at);
        Ok(())
    }

    fn note_root(&mut self, id: ConversationId, turn: Option<TurnId>, node: NodeId) -> Result<(), StoreError> {
        let sql = "UPDATE conversations SET root_turn = ?2, root_node = ?3 WHERE id = ?1";
        self.row_cache.forget();
        self.execute(sql, params![&id, turn.as_ref(), &node])?;
        Ok(())
    }

    fn project_path_moved(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        let Some(moved) = PathMoved::from_document(document) else { return Ok(None) };
        // Who works on an older snapshot of this conversation collides, and is run again.
        if self.sql.is_shared() {
            self.execute("UPDATE conversations SET nodes = nodes WHERE id = ?1", params![&moved.conversation_id])?;
        }
        let conversation = self.own_conversation_row(item, moved.conversation_id)?;
        let node = self.find_node(moved.node_id)?.filter(|node| node.conversation == moved.conversation_id);
        let Some((node, place)) = node.and_then(|node| node.place.map(|place| (node, place))) else { return Ok(None) };
        let way = OwnedPath::of(&conversation, moved.path_id, moved.actor_id)?;
        for shown in moved.shown {
            let row = self.find_node(shown)?.filter(|row| row.conversation == moved.conversation_id);
            let Some(place) = row.and_then(|row| row.place) else { return Ok(None) };
            self.show_alone(way.id, shown, &place)?;
        }
        self.lead_path(&way, &PathTarget { id: node.id, conversation: conversation.id, place, parent: node.parent })?;
        Ok(Some(()))
    }

    fn project_marked(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        let Some(marked) = NodeMarked::from_document(document) else { return Ok(None) };
        let (node, owner) = (&marked.node_id, &item.header.owner);
        self.row_cache.forget();
        if self.find_node(marked.node_id)?.is_none_or(|row| row.owner != *owner) {
            return Ok(None);
        }
        let flags = [("bookmarked", marked.bookmarked), ("pruned", marked.pruned), ("excluded", marked.excluded)];
        for (column, value) in flags {
            let Some(value) = value else { continue };
            let sql = format!("UPDATE nodes SET {column} = ?2 WHERE id = ?1 AND owner = ?3");
            self.execute(&sql, params![node, value, owner])?;
        }
        if marked.bookmarked == Some(false) || marked.label.is_some() {
            let sql = "UPDATE nodes SET label = ?2 WHERE id = ?1 AND owner = ?3";
            self.execute(sql, params![node, marked.label.as_ref(), owner])?;
        }
        for tag in &marked.tagged {
            let sql = "INSERT INTO node_tags (node, tag, owner) VALUES (?1, ?2, ?3) ON CONFLICT (node, tag) DO NOTHING";
            self.execute(sql, params![node, tag, owner])?;
        }
        for tag in &marked.untagged {
            self.execute(
                "DELETE FROM node_tags WHERE node = ?1 AND tag = ?2 AND owner = ?3",
                params![node, tag, owner],
            )?;
        }
        Ok(Some(()))
    }

    fn project_frame_moved(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        let Some(moved) = FrameMoved::from_document(document) else { return Ok(None) };
        self.own_conversation_row(item, moved.conversation_id)?;
        let owner = match self.row_cache.frame(moved.project_id, moved.actor_id) {
            Some(known) => Some(known.owner),
            None => self.find_record(moved.project_id)?.map(|project| project.owner),
        };
        if owner != Some(item.header.owner) {
            return Ok(None);
        }
        let sql = "INSERT INTO frames (project, actor, conversation) VALUES (?1, ?2, ?3)
             ON CONFLICT (project, actor) DO UPDATE SET conversation = excluded.conversation";
        let values = params![&moved.project_id, moved.actor_id.as_bytes(), &moved.conversation_id];
        self.write_row(DeferredStatement { key: 2, replaces: true, ..DeferredStatement::new("frames", sql, values) })?;
        self.row_cache.note_frame(moved.project_id, moved.actor_id, moved.conversation_id);
        Ok(Some(()))
    }

    fn project_summary(&mut self, item: &Item, document: &Map<String, Json>) -> ProjectionResult {
        let Some(summary) = TreeSummary::from_document(document) else { return Ok(None) };
        self.own_conversation_row(item, summary.conversation_id)?;
        if let Some(node) = summary.node_id
            && self.find_node(node)?.is_none_or(|row| row.conversation != summary.conversation_id)
        {
            return Ok(None);
        }
        let subject = summary.node_id.map_or(*summary.conversation_id.as_bytes(), |node| *node.as_bytes());
        let sql = "INSERT INTO tree_summaries (item, subject, nodes) VALUES (?1, ?2, ?3)";
        self.write_row(DeferredStatement::new(
            "tree_summaries",
            sql,
            params![&item.header.id, &subject, summary.nodes],
        ))?;
        Ok(Some(()))
    }

    /// A fact speaks about conversations of its owner only, wherever it came from.
    fn own_conversation_row(
        &mut self,
        item: &Item,
        id: ConversationId,
    ) -> Result<crate::tree::ConversationRow, StoreError> {
        let found = self.find_conversation(id)?;
        let found = found.ok_or_else(|| StoreError::Damaged(format!("{id} is not a conversation")))?;
        if found.owner == item.header.owner { Ok(found) } else { Err(StoreError::Forbidden) }
    }

    /// Z7: a conversation is of the project of its owner's that it was grouped with last.
    pub(crate) fn project_membership(&mut self, item: &Item, conversation: &[u8; 16]) -> Result<(), StoreError> {
        self.hold_trees(item.header.owner)?;
        self.row_cache.forget();
        self.execute(
            "UPDATE conversations SET project = (SELECT r.target FROM relations r JOIN records p ON p.id = r.target
                 WHERE r.source = ?1 AND r.kind = 'groups_with' AND r.owner = ?2 AND p.type = 'Project' AND p.owner = ?2
                 ORDER BY r.id DESC LIMIT 1)
             WHERE id = ?1 AND owner = ?2",
            params![conversation, &item.header.owner],
        )?;
        Ok(())
    }

    /// What is listed of a conversation, from its record.
    pub(crate) fn project_conversation(
        &mut self,
        item: &Item,
        id: RecordId,
        content: &RecordContent,
    ) -> ProjectionResult {
        self.row_cache.forget();
        let text = |name: &str| content.data.get(name).and_then(Json::as_str);
        let origin = content.data.get("forkedFrom").and_then(Json::as_object);
        let origin = |name: &str| origin.and_then(|origin| origin.get(name)).and_then(Json::as_str);
        let parent = origin("conversationId").and_then(|id| id.parse::<ConversationId>().ok());
        let node = origin("nodeId").and_then(|id| id.parse::<NodeId>().ok());
        if let Some(node) = node
            && self
                .find_node(node)?
                .is_none_or(|row| row.owner != item.header.owner || Some(row.conversation) != parent)
        {
            return Ok(None);
        }
        let (Some(kind), Some(mode), Some(status)) = (text("kind"), text("mode"), text("status")) else {
            return Ok(None);
        };
        let folded = content.data.get("summary").is_some_and(Json::is_object);
        let process = text("processId").and_then(|id| id.parse::<RecordId>().ok());
        self.execute(
            "INSERT INTO conversations (id, owner, project, kind, mode, archived, folded, parent, origin, root_turn, root_node,
                 nodes, created_at, active_at, process)
             VALUES (?1, ?2, NULL, ?3, ?4, ?5, ?6, ?7, ?8, NULL, NULL, 0, ?9, ?9, ?10)
             ON CONFLICT (id) DO UPDATE SET archived = excluded.archived, folded = excluded.folded, process = excluded.process",
            params![
                &id,
                &item.header.owner,
                kind,
                mode,
                status == "archived",
                folded,
                parent.as_ref(),
                node.as_ref(),
                item.header.realized_at,
                process.as_ref(),
            ],
        )?;
        let above = content.data.get("shownAbove").and_then(Json::as_array);
        let above = above.into_iter().flatten().filter_map(|id| id.as_str()?.parse::<ItemId>().ok());
        self.keep_shown_above(item, id, above.take(SHOWN_ABOVE_MAX))?;
        Ok(Some(()))
    }

    /// What a fork shows of the conversations it came from is settled when it is made: its own path is led through it.
    fn keep_shown_above(
        &mut self,
        item: &Item,
        fork: RecordId,
        nodes: impl Iterator<Item = ItemId>,
    ) -> Result<(), StoreError> {
        for node in nodes {
            let found = self.find_node(NodeId::from_bytes(*node.as_bytes()))?;
            let Some(row) = found.filter(|row| row.owner == item.header.owner) else { continue };
            let Some(place) = row.place.filter(|_| row.conversation.as_bytes() != fork.as_bytes()) else { continue };
            self.execute(
                "INSERT INTO selections (path, branch, depth, turn, node, selected) VALUES (?1, ?2, ?3, ?4, ?5, 1)
                 ON CONFLICT DO NOTHING",
                params![&fork, &place.label.branch, place.label.depth, &place.turn, &row.id],
            )?;
        }
        Ok(())
    }
}

/// Whether facts of this type say nothing about earlier items, records or marks.
pub(crate) fn only_adds(item_type: &ItemType) -> bool {
    let adding =
        [ItemType::EPISODE, ItemType::NODE, ItemType::NODE_CONTENT, ItemType::NODE_RESERVED, ItemType::PATH_MOVED];
    let of_runs = [
        ItemType::RAW_RESPONSE,
        ItemType::TOOL_CALL,
        ItemType::TOOL_RESULT,
        ItemType::TOOL_OUTPUT,
        ItemType::EXECUTION_BEGUN,
        ItemType::EXECUTION_MOVED,
        ItemType::EXECUTION_ENDED,
        ItemType::REVIEW_ASKED,
        ItemType::REVIEW_DECIDED,
    ];
    adding.contains(item_type) || of_runs.contains(item_type)
}
