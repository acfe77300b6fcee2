//! Marks items as undone or redacted, and corrects their times.

use serde_json::{Map, json};
use skein_core::garden::event::EventName;
use skein_core::garden::record::{RecordContent, RecordType};
use skein_core::garden::relation::{Endpoint, RelationAttributes, RelationDraft, RelationKind};
use skein_core::garden::{redaction, undo};
use skein_core::{ItemId, Millis, NodeId, RecordId, RuleViolation, Viewer};

use crate::db::sql::params;
use crate::error::StoreError;
use crate::timeline::items::StoredItem;
use crate::timeline::projection::TIME_OVERRIDE;
use crate::tree::NodeRow;
use crate::tree::quotes::Quotes;
use crate::tx::Tx;

const REDACTING: Viewer = Viewer::System("redaction");

impl Tx<'_> {
    /// Takes an item back within five minutes: a tombstone hides it and, where nothing else does, supersedes it (decision M4).
    pub fn undo_item(&mut self, viewer: &Viewer, id: ItemId) -> Result<StoredItem, StoreError> {
        let stored = self.item(viewer, id)?;
        if stored.tombstone.is_some() {
            return Err(undo::undone_before().into());
        }
        let tombstone = undo::undo(&stored.item.header, viewer.owner(), self.now())?;
        let tombstone = self.append_item(viewer, &tombstone)?;
        self.withdraw_relations_of(viewer, id)?;
        if self.superseding(viewer, id)?.is_some() {
            return Ok(tombstone);
        }
        let (new, old) = (Endpoint::Item(tombstone.item.header.id), Endpoint::Item(id));
        let metadata = Map::from_iter([("reason".to_owned(), json!("undo"))]);
        let qualities = RelationAttributes { confidence: None, metadata };
        self.relate(viewer, &RelationDraft::new(RelationKind::Supercedes, new, old, qualities)?)?;
        Ok(tombstone)
    }

    /// States when an item really happened; `None` withdraws the correction (decision M17).
    pub fn override_canonical_time(
        &mut self,
        viewer: &Viewer,
        id: ItemId,
        at: Option<Millis>,
    ) -> Result<(), StoreError> {
        let stored = self.item(viewer, id)?;
        let owner = stored.item.header.owner;
        if !viewer.may_write(owner) {
            return Err(StoreError::Forbidden);
        }
        // A correction that was made is withdrawn whatever it is of.
        if at.is_some() && !stored.item.header.item_type.has_stated_time() {
            let problem = format!("only Skein writes items of type {}", stored.item.header.item_type);
            let remedy = "correct the time of what somebody said or noted";
            return Err(RuleViolation::new("MG-SOIL-006", problem, remedy).into());
        }
        let content = time_override(id, at)?;
        let existing = "SELECT override_record FROM item_marks WHERE item = ?1";
        let existing =
            self.first(existing, params![&id], |row| row.optional_array(0))?.flatten().map(RecordId::from_bytes);
        if let Some(record) = existing {
            let hash = self.record(viewer, record)?.hash;
            self.change_record(viewer, record, hash, content, None)?;
        } else {
            self.create_record_for(viewer, owner, content, None)?;
        }
        self.tell(viewer, owner, EventName::ItemTimeCorrected, Some(&id.to_string()), Map::new())
    }

    /// Destroys an item's payload for good; the item, its hash and this decision stay. With what a node says goes what
    /// was made of it and what facts of runs hold of it, and with all of it what the rows of runs that have ended hold of it.
    pub fn redact_item(&mut self, viewer: &Viewer, id: ItemId, reason: &str) -> Result<StoredItem, StoreError> {
        Ok(self.redact_item_listing(viewer, id, reason, None)?.0)
    }

    /// [`Self::redact_item`] that also lists where words of a node still stand: in what people and models wrote. Messages of
    /// tool runs that quote it are redacted along with it. `known` was found by [`Self::search_quotes`].
    pub fn redact_item_listing(
        &mut self,
        viewer: &Viewer,
        id: ItemId,
        reason: &str,
        known: Option<Quotes>,
    ) -> Result<(StoredItem, Quotes), StoreError> {
        let Some(node) = self.node_of_item(viewer, id)? else {
            return Ok((self.redact_one(viewer, id, reason)?, Quotes::default()));
        };
        let content = node
            .content
            .ok_or_else(|| RuleViolation::new("MG-SOIL-010", "the node says nothing", "there is nothing to destroy"))?;
        // Before anything is looked through for somebody who may not.
        if !viewer.may_redact(node.owner, self.now()) {
            return Err(StoreError::Forbidden);
        }
        let quotes = self.quotes_of(&node, content, known)?;
        // Another redaction may have destroyed some of them since they were found.
        let messages: Vec<NodeId> = quotes.tool_runs.iter().map(|row| row.id).collect();
        let gone = self.without_content(&messages)?;
        for told in quotes.tool_runs.iter().filter(|row| !gone.contains(&row.id)) {
            let spared =
                self.raw_of_another(told, |id| id == node.id || quotes.tool_runs.iter().any(|row| row.id == id))?;
            self.redact_node(viewer, told, spared, reason)?;
        }
        let facts = self.facts_with_words_of(&node, content)?;
        let raw = self.forget_words_of_facts(&node, content, &facts)?;
        let own = self.copies_of(&node)?;
        for fact in facts.into_iter().chain(raw.into_iter().filter(|part| !own.contains(part))) {
            self.destroy_payload(viewer, fact, reason)?;
        }
        let redaction = self.redact_node(viewer, &node, None, reason)?;
        let redaction = redaction.ok_or_else(|| StoreError::NotFound(content.to_string()))?;
        Ok((redaction, quotes))
    }

    /// The raw response of a node, if it is that of another node, too, which is not about to go: a tool run ends with the
    /// answer that its conversation got.
    fn raw_of_another(&mut self, node: &NodeRow, goes: impl Fn(NodeId) -> bool) -> Result<Option<ItemId>, StoreError> {
        let Some(raw) = node.raw_response.map(|raw| raw.item_id) else { return Ok(None) };
        let sql = "SELECT id FROM nodes WHERE owner = ?1 AND author = ?2 AND raw_response = ?3";
        let bound = params![&node.owner, node.author.as_bytes(), &raw];
        let others = self.all(sql, bound, |row| row.array(0).map(NodeId::from_bytes))?;
        Ok(Some(raw).filter(|_| others.into_iter().any(|other| !goes(other))))
    }

    /// Destroys what a node says and what was made of it, save one item.
    fn redact_node(
        &mut self,
        viewer: &Viewer,
        node: &NodeRow,
        spared: Option<ItemId>,
        reason: &str,
    ) -> Result<Option<StoredItem>, StoreError> {
        for copy in self.copies_of(node)?.into_iter().filter(|copy| Some(*copy) != spared) {
            self.redact_one(viewer, copy, reason)?;
        }
        node.content.map(|content| self.redact_one(viewer, content, reason)).transpose()
    }

    fn redact_one(&mut self, viewer: &Viewer, id: ItemId, reason: &str) -> Result<StoredItem, StoreError> {
        let stored = self.item(viewer, id)?;
        self.forget_words_of(&stored.item)?;
        self.destroy_payload(viewer, id, reason)
    }

    fn destroy_payload(&mut self, viewer: &Viewer, id: ItemId, reason: &str) -> Result<StoredItem, StoreError> {
        let stored = self.item(viewer, id)?;
        let owner = stored.item.header.owner;
        if !viewer.may_redact(owner, self.now()) {
            return Err(StoreError::Forbidden);
        }
        let draft = redaction::redact(&stored.item, reason)?;
        // Under a grant an administrator decides this for another: the fact is Skein's, and says who asked.
        let redaction = self.append_item_for(&REDACTING, owner, &draft)?;
        let told = Map::from_iter([("by".to_owned(), json!(viewer.owner())), ("reason".to_owned(), json!(reason))]);
        self.tell(&REDACTING, owner, EventName::ItemRedacted, Some(&id.to_string()), told)?;
        Ok(redaction)
    }
}

/// What the record of a corrected time says; of a withdrawn correction no time is left.
pub(crate) fn time_override(id: ItemId, at: Option<Millis>) -> Result<RecordContent, RuleViolation> {
    if at.is_some_and(|at| !(Millis::MIN..=Millis::MAX).contains(&at)) {
        let remedy = "name a moment between the years 0 and 9999";
        return Err(RuleViolation::new("MG-SOIL-006", "this moment cannot be spelled", remedy));
    }
    let data = json!({ "itemId": id.to_string(), "canonicalAt": at.map(|at| at.to_string()) });
    let serde_json::Value::Object(data) = data else { unreachable!("json!({{}}) is an object") };
    Ok(RecordContent::new(RecordType::parse(TIME_OVERRIDE)?, data))
}
