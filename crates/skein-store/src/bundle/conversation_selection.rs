//! A bundle of one conversation: it and those it was forked from, whole, with what they refer to.
//!
//! It has no seals, because those speak of everything an owner has. Each item proves itself, each record and node what
//! came before it; that nothing is missing only a bundle of everything can show.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value as Json};
use skein_core::garden::item::{Item, ItemType};
use skein_core::garden::redaction::redacted_item;
use skein_core::garden::relation::{Endpoint, Relation, RelationDraft, qualities_from_document};
use skein_core::tree::content::Content;
use skein_core::tree::node;
use skein_core::{ConversationId, ItemId, Millis, NodeId, RecordId, RelationId, Viewer};

use super::admission::delta_of;
use crate::db::sql::params;
use crate::error::StoreError;
use crate::store::Store;
use crate::tx::Tx;

/// Nodes looked at in one read.
const NODES_PER_READ: usize = 1_000;

/// What belongs to a conversation, and what of it was met so far.
#[derive(Debug, Clone, Default)]
pub struct ConversationSelection {
    conversations: BTreeSet<ConversationId>,
    /// The conversations, their projects and those who wrote in them.
    records: BTreeSet<RecordId>,
    nodes: HashSet<NodeId>,
    /// Where nodes stand, what they say, and what they show.
    items: HashSet<ItemId>,
    relations: HashSet<RelationId>,
    met: HashSet<ItemId>,
}

impl ConversationSelection {
    /// A conversation of the viewer's with those it was forked from.
    pub fn of(store: &Store, viewer: &Viewer, conversation: ConversationId) -> Result<Self, StoreError> {
        let mut selection = Self::default();
        let mut next = Some(conversation);
        while let Some(id) = next.filter(|id| !selection.conversations.contains(id)) {
            let viewer = viewer.clone();
            let (parent, records) = store.read_blocking(move |tx| tx.records_around(&viewer, id))?;
            selection.conversations.insert(id);
            selection.records.extend(records);
            next = parent;
        }
        for id in selection.conversations.clone() {
            selection.gather_nodes(store, viewer, id)?;
        }
        Ok(selection)
    }

    fn gather_nodes(&mut self, store: &Store, viewer: &Viewer, id: ConversationId) -> Result<(), StoreError> {
        let mut after = None;
        loop {
            let viewer = viewer.clone();
            let (last, nodes, items) = store.read_blocking(move |tx| tx.items_of_nodes(&viewer, id, after))?;
            self.nodes.extend(nodes);
            self.items.extend(items);
            if last.is_none() {
                return Ok(());
            }
            after = last;
        }
    }

    /// Where nodes stand, what they say, and what they show.
    pub(crate) fn items(&self) -> impl Iterator<Item = ItemId> {
        self.items.iter().copied()
    }

    /// Whether the next item of the timeline belongs to it.
    pub(crate) fn holds(&mut self, item: &Item) -> bool {
        let is_held = self.is_of_it(item);
        if is_held {
            self.met.insert(item.header.id);
        }
        is_held
    }

    fn is_of_it(&mut self, item: &Item) -> bool {
        let document = item.document().unwrap_or_default();
        match &item.header.item_type {
            t if *t == ItemType::ENTITY_DELTA => {
                delta_of(item).is_some_and(|delta| self.records.contains(&delta.record))
            }
            t if [ItemType::NODE_FAILED, ItemType::NODE_MARKED, ItemType::NODE_CORRECTED].contains(t) => {
                named(&document, "nodeId").is_some_and(|node| self.nodes.contains(&node))
            }
            t if [ItemType::PATH_MOVED, ItemType::TREE_SUMMARY, ItemType::FOLD_SUMMARY].contains(t) => {
                self.is_about(&document)
            }
            t if *t == ItemType::FRAME_MOVED => {
                let is_there = named(&document, "projectId").is_some_and(|of| self.records.contains(&of));
                is_there && self.is_about(&document)
            }
            t if *t == ItemType::REDACTION => redacted_item(&document).is_some_and(|item| self.met.contains(&item)),
            t if *t == ItemType::RELATION_CREATED => self.takes_relation(&document),
            t if *t == ItemType::RELATION_EDITED || *t == ItemType::RELATION_REMOVED => {
                let id =
                    qualities_from_document(&document).map(|(id, _)| id).or_else(|| named(&document, "relationId"));
                id.is_some_and(|id| self.relations.contains(&id))
            }
            t if *t == ItemType::SYSTEM_EVENT => {
                named(&document, "subject").is_some_and(|of| self.conversations.contains(&of))
            }
            _ => self.items.contains(&item.header.id),
        }
    }

    fn is_about(&self, document: &Map<String, Json>) -> bool {
        named(document, "conversationId").is_some_and(|of| self.conversations.contains(&of))
    }

    /// A relation between things that are all taken along.
    fn takes_relation(&mut self, document: &Map<String, Json>) -> bool {
        let Some((id, draft)) = RelationDraft::from_document(document) else { return false };
        let Relation { source, target, .. } = draft.into_relation(id, Millis(0));
        let is_held = |end: &Endpoint| match end {
            Endpoint::Item(item) | Endpoint::Fragment { item, .. } => self.items.contains(item),
            Endpoint::Entity(record) | Endpoint::Log(record) | Endpoint::Artifact(record) => {
                self.records.contains(record)
            }
        };
        let is_held = is_held(&source) && is_held(&target);
        if is_held {
            self.relations.insert(id);
        }
        is_held
    }
}

fn named<T: std::str::FromStr>(document: &Map<String, Json>, name: &str) -> Option<T> {
    document.get(name).and_then(Json::as_str).and_then(|id| id.parse().ok())
}

type NodesAndItems = (Option<NodeId>, Vec<NodeId>, Vec<ItemId>);

impl Tx<'_> {
    /// What a conversation was forked from, and the records that belong to it.
    fn records_around(
        &mut self,
        viewer: &Viewer,
        id: ConversationId,
    ) -> Result<(Option<ConversationId>, Vec<RecordId>), StoreError> {
        let row = self.conversation(viewer, id)?;
        let record = self.record(viewer, id.into())?;
        let begun_in = named(&record.content.data, "projectId");
        let sql = "SELECT DISTINCT author FROM nodes WHERE conversation = ?1 AND author_type <> 'human'";
        let authors = self.all(sql, params![&id], |row| row.array(0).map(RecordId::from_bytes))?;
        let records = [Some(id.into()), row.project, begun_in].into_iter().flatten().chain(authors).collect();
        Ok((row.parent, records))
    }

    /// The next nodes of a conversation and the items they are made of; the last of them, if there may be more.
    fn items_of_nodes(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        after: Option<NodeId>,
    ) -> Result<NodesAndItems, StoreError> {
        let rows = self.nodes_of(viewer, conversation, after, NODES_PER_READ)?;
        let last = rows.last().filter(|_| rows.len() == NODES_PER_READ).map(|row| row.id);
        let mut items = Vec::with_capacity(rows.len() * 2);
        for row in &rows {
            items.push(row.id.into());
            items.extend([row.content, row.reserved_by, row.raw_response.map(|raw| raw.item_id)].into_iter().flatten());
            let Some(content) = row.content else { continue };
            let said = self.find_item(content)?.and_then(|stored| node::content_of(&stored.item));
            let said = said.and_then(|said| Content::parse(&said).ok());
            items.extend(said.iter().flat_map(Content::blobs));
        }
        Ok((last, rows.iter().map(|row| row.id).collect(), items))
    }
}
