//! Looks up what a store holds of the items of a batch and of what they name.
//!
//! The items that were put aside are asked by the same statements as the live ones.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::{Item, ItemHeader, ItemType, Payload, PayloadForm};
use skein_core::garden::record::RecordType;
use skein_core::garden::redaction::redacted_item;
use skein_core::garden::relation::{Endpoint, RelationDraft};
use skein_core::{Digest, ItemId, Millis, RecordId, RelationId, RuleViolation, UserId, Viewer};

use super::Authority;
use super::admission::{corrected_item, delta_of};
use super::check::leaves;
use crate::db::sql::params;
use crate::error::StoreError;
use crate::store::Store;
use crate::tx::Tx;

/// An item with what later ones say about it. Whether its payload is there is known, the bytes are not.
pub(crate) struct ItemState {
    pub item: Item,
    pub cursor: Cursor,
    pub is_undone: bool,
    pub is_redacted: bool,
    /// The record of its corrected time.
    pub time_override: Option<RecordId>,
}

/// A record that is here: its type, and the place of its first version.
#[derive(Clone)]
pub(crate) struct RecordState {
    pub record_type: RecordType,
    pub made_at: Option<Cursor>,
}

/// Which items of a batch are new here, and what the store holds of what these name.
#[derive(Default)]
pub(crate) struct Lookup {
    pub missing: BTreeSet<ItemId>,
    /// New items that a seal of this installation covers.
    pub sealed: BTreeSet<ItemId>,
    pub now: Millis,
    /// When the owner was made here.
    pub owner_since: Option<Millis>,
    items: BTreeMap<ItemId, ItemState>,
    /// Records that are here, with their type and place where the owner may name them.
    records: BTreeMap<RecordId, Option<RecordState>>,
    /// Ids of relations that exist here, of any owner.
    relations: BTreeSet<RelationId>,
    /// New relations whose end has its only one of the kind here.
    seconds: BTreeMap<ItemId, RuleViolation>,
}

impl Lookup {
    /// Looks the items of a batch up; what they name only where an owner imports.
    pub(crate) fn read(
        store: &Store,
        authority: &Authority,
        items: &[Item],
        sealed_by: &BTreeMap<ItemId, Digest>,
    ) -> Result<Self, StoreError> {
        let Some(owner) = items.first().map(|item| item.header.owner) else { return Ok(Self::default()) };
        let names = leaves(items);
        let (missing, now) = store.read_blocking(move |tx| Ok((tx.missing(owner, &names)?, tx.now())))?;
        let lookup = Self { missing, now, ..Self::default() };
        let Authority::Owner(viewer) = authority else { return Ok(lookup) };
        let new: Vec<&Item> = items.iter().filter(|item| lookup.missing.contains(&item.header.id)).collect();
        if new.is_empty() {
            return Ok(lookup);
        }
        let seals = new.iter().filter_map(|item| Some((item.header.id, *sealed_by.get(&item.header.id)?))).collect();
        let (viewer, references) = (viewer.clone(), new.into_iter().map(ItemReferences::by).collect());
        store.read_blocking(move |tx| tx.look_up(&viewer, lookup, seals, references))
    }

    pub(crate) fn item(&self, id: ItemId) -> Option<&ItemState> {
        self.items.get(&id)
    }

    /// Whether the store has a record, of any owner.
    pub(crate) fn has_record(&self, id: RecordId) -> bool {
        self.records.contains_key(&id)
    }

    /// A record that the store has, where the owner may name it.
    pub(crate) fn record(&self, id: RecordId) -> Option<&RecordState> {
        self.records.get(&id)?.as_ref()
    }

    pub(crate) fn has_relation(&self, id: RelationId) -> bool {
        self.relations.contains(&id)
    }

    pub(crate) fn refuse_second(&self, relation: ItemId) -> Result<(), RuleViolation> {
        self.seconds.get(&relation).cloned().map_or(Ok(()), Err)
    }
}

/// What one item names.
#[derive(Clone)]
struct ItemReferences {
    by: ItemId,
    target: Option<ItemId>,
    relation: Option<(RelationId, RelationDraft)>,
}

impl ItemReferences {
    fn by(item: &Item) -> Self {
        let document = item.document().unwrap_or_default();
        let is_of = |item_type: ItemType| item.header.item_type == item_type;
        let target = match () {
            () if is_of(ItemType::TOMBSTONE) || is_of(ItemType::REDACTION) => redacted_item(&document),
            () if is_of(ItemType::ENTITY_DELTA) => delta_of(item).as_ref().and_then(corrected_item),
            () => None,
        };
        let relation = Some(&document).filter(|_| is_of(ItemType::RELATION_CREATED));
        Self { by: item.header.id, target, relation: relation.and_then(RelationDraft::from_document) }
    }
}

impl Tx<'_> {
    /// An item of anybody's, by its id.
    pub(crate) fn item_state(&mut self, id: ItemId) -> Result<Option<ItemState>, StoreError> {
        let sql = "SELECT i.type, i.owner, i.realized_at, i.canonical_at, i.hash, i.payload_hash,
                       CAST(CASE WHEN i.payload IS NULL THEN 0 ELSE 1 END AS BIGINT), i.tx, i.position, m.tombstone, m.redaction, m.override_record
                   FROM items i LEFT JOIN item_marks m ON m.item = i.id WHERE i.id = ?1";
        self.first(sql, params![&id], |row| {
            let parsed = ItemType::parse(row.text(0)?);
            let header = ItemHeader {
                item_type: parsed.map_err(|error| crate::SqlError::Other(error.to_string()))?,
                id,
                owner: UserId::from_bytes(row.array(1)?),
                realized_at: Millis(row.int(2)?),
                canonical_at: Millis(row.int(3)?),
            };
            let payload = (row.int(6)? == 1).then(|| Payload::stored(Vec::new(), PayloadForm::Document));
            Ok(ItemState {
                item: Item { header, payload, payload_hash: Digest(row.array(5)?), hash: Digest(row.array(4)?) },
                cursor: Cursor { tx: row.int(7)?, position: row.int(8)? },
                is_undone: row.optional_array::<16>(9)?.is_some(),
                is_redacted: row.optional_array::<16>(10)?.is_some(),
                time_override: row.optional_array(11)?.map(RecordId::from_bytes),
            })
        })
    }

    fn look_up(
        &mut self,
        viewer: &Viewer,
        mut lookup: Lookup,
        seals: BTreeMap<ItemId, Digest>,
        named: Vec<ItemReferences>,
    ) -> Result<Lookup, StoreError> {
        let owner = viewer.owner();
        lookup.owner_since = self.find_record(owner.into())?.map(|user| user.created_at);
        let mut made_here = BTreeMap::new();
        for (item, seal) in seals {
            let is_here = match made_here.entry(seal) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(unknown) => *unknown.insert(self.has_seal(owner, seal)?),
            };
            lookup.sealed.extend(is_here.then_some(item));
        }
        for ItemReferences { by, target, relation } in named {
            self.look_up_items(owner, &mut lookup, target)?;
            let Some((id, draft)) = relation else { continue };
            if self.first("SELECT id FROM relations WHERE id = ?1", params![&id], |_| Ok(()))?.is_some() {
                lookup.relations.insert(id);
            }
            match self.refuse_second(owner, &draft) {
                Err(StoreError::Rule(second)) => drop(lookup.seconds.insert(by, second)),
                looked => looked?,
            }
            for end in [draft.source(), draft.target()] {
                self.look_up_end(viewer, &mut lookup, end)?;
            }
        }
        Ok(lookup)
    }

    fn look_up_items(
        &mut self,
        owner: UserId,
        lookup: &mut Lookup,
        items: impl IntoIterator<Item = ItemId>,
    ) -> Result<(), StoreError> {
        for id in items {
            let found = self.item_state(id)?.filter(|found| found.item.header.owner == owner);
            lookup.items.extend(found.map(|found| (id, found)));
        }
        Ok(())
    }

    fn look_up_end(&mut self, viewer: &Viewer, lookup: &mut Lookup, end: Endpoint) -> Result<(), StoreError> {
        match end {
            Endpoint::Item(item) | Endpoint::Fragment { item, .. } => {
                self.look_up_items(viewer.owner(), lookup, [item])
            }
            Endpoint::Entity(id) | Endpoint::Artifact(id) | Endpoint::Log(id) => {
                if self.find_record(id)?.is_some() {
                    let usable = match self.record(viewer, id) {
                        Ok(record) => {
                            Some(RecordState { record_type: record.content.record_type, made_at: self.made_at(id)? })
                        }
                        Err(StoreError::NotFound(_)) => None,
                        Err(error) => return Err(error),
                    };
                    lookup.records.insert(id, usable);
                }
                Ok(())
            }
        }
    }

    /// Whether a seal of an owner was made here.
    fn has_seal(&mut self, owner: UserId, hash: Digest) -> Result<bool, StoreError> {
        let sql = "SELECT leaves FROM seals WHERE owner = ?1 AND hash = ?2";
        Ok(self.first(sql, params![&owner, &hash], |row| row.int(0))?.is_some())
    }
}
