//! The garden's use cases: stating facts and reading them back.
//!
//! What a fact may be is decided in `skein_core::garden`; where it is kept, in `skein-store`.

use serde_json::{Map, Value};
use skein_core::account::Scope;
use skein_core::garden::item::{BadItem, ItemDraft, ItemType};
use skein_core::{ItemId, Millis};
use skein_store::items::{ItemQuery, Page, PagePlace, StoredItem};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;

/// Most items one batch holds.
pub const ITEMS_PER_BATCH_MAX: usize = 1_000;

/// A fact as it is stated: its type is text until it was judged.
#[derive(Debug, Clone, PartialEq)]
pub struct NewItem {
    /// `CamelCase`, for example `Note`.
    pub item_type: String,
    /// What is stated.
    pub data: Map<String, Value>,
    /// When it happened, if that is not now.
    pub canonical_at: Option<Millis>,
}

impl NewItem {
    fn into_draft(self) -> Result<ItemDraft, BadItem> {
        let item_type = ItemType::parse(&self.item_type)?;
        ItemDraft::stated(item_type, self.data, self.canonical_at)
    }
}

impl Engine {
    /// Records a fact in the caller's name.
    pub async fn append_item(&self, caller: &Caller, item: NewItem) -> Result<StoredItem, EngineError> {
        caller.require(Scope::Write)?;
        let draft = item.into_draft().map_err(StoreError::Item)?;
        let (weight, viewer) = (draft.weight(), caller.viewer.clone());
        let append = move |tx: &mut Tx<'_>| tx.append_item(&viewer, &draft);
        Ok(self.store.write_weighing(weight, append).await?.value)
    }

    /// Records many facts in the caller's name, all or none.
    pub async fn append_items(&self, caller: &Caller, items: Vec<NewItem>) -> Result<Vec<StoredItem>, EngineError> {
        caller.require(Scope::Write)?;
        if !(1..=ITEMS_PER_BATCH_MAX).contains(&items.len()) {
            return Err(EngineError::BatchSize);
        }
        let drafts = items
            .into_iter()
            .enumerate()
            .map(|(index, item)| item.into_draft().map_err(|source| EngineError::BatchItem { index, source }));
        let drafts: Vec<ItemDraft> = drafts.collect::<Result<_, _>>()?;
        let weight = drafts.iter().map(ItemDraft::weight).sum();
        let viewer = caller.viewer.clone();
        let append = move |tx: &mut Tx<'_>| tx.append_items(&viewer, &drafts);
        Ok(self.store.write_weighing(weight, append).await?.value)
    }

    /// One fact by its id, also when it was undone or redacted.
    pub async fn item(&self, caller: &Caller, id: ItemId) -> Result<StoredItem, EngineError> {
        let viewer = caller.viewer.clone();
        Ok(self.store.read(move |tx| tx.item(&viewer, id)).await?)
    }

    /// The caller's facts, page by page.
    pub async fn items(&self, caller: &Caller, query: ItemQuery) -> Result<Page<StoredItem, PagePlace>, EngineError> {
        let viewer = caller.viewer.clone();
        Ok(self.store.read(move |tx| tx.items(&viewer, &query)).await?)
    }
}
