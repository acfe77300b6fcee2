//! Facts: stated, read, taken back, corrected in time, destroyed on demand.

use serde_json::{Map, Value, json};
use skein_core::garden::item::{BadItem, ItemDraft, ItemType};
use skein_core::garden::proof::Proof;
use skein_core::{Digest, ItemId, Millis, Viewer};
use skein_store::timeline::items::{ItemQuery, Page, PagePosition, StoredItem};
use skein_store::tree::quotes::{Quote, Quotes};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::{WorkerSlot, cancel_all};
use crate::request::{CommittedChange, Outcome, REDACTION, Request, referred};

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

/// An item whose payload was destroyed, and what still quotes it.
#[derive(Debug, Clone)]
pub struct Redacted {
    /// The item.
    pub item: StoredItem,
    /// What people and models wrote that has its words.
    pub quotes: Vec<Quote>,
    /// Whether there are more of these.
    pub has_more: bool,
}

/// Names only what quotes it, never the words.
impl Outcome for Redacted {
    fn reference(&self) -> Value {
        json!({ "item": self.item.item.header.id, "quotes": self.quotes, "hasMore": self.has_more })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let item = tx.item(viewer, referred(reference, "item")?)?;
        // An earlier version kept the item alone.
        let quotes = referred(reference, "quotes").unwrap_or_default();
        Ok(Self { item, quotes, has_more: referred(reference, "hasMore").unwrap_or_default() })
    }
}

impl Engine {
    /// Records a fact in the caller's name.
    pub async fn append_item(
        &self,
        caller: &Caller,
        request: Request,
        item: NewItem,
    ) -> Result<CommittedChange<StoredItem>, EngineError> {
        let draft = item.into_draft().map_err(StoreError::Item)?;
        let weight = draft.weight();
        let append = move |tx: &mut Tx<'_>, viewer: &_| tx.append_item(viewer, &draft);
        self.change_weighing(caller, request, "item.append", weight, append).await
    }

    /// Records many facts in the caller's name, all or none.
    pub async fn append_items(
        &self,
        caller: &Caller,
        request: Request,
        items: Vec<NewItem>,
    ) -> Result<CommittedChange<Vec<StoredItem>>, EngineError> {
        if !(1..=ITEMS_PER_BATCH_MAX).contains(&items.len()) {
            return Err(EngineError::BatchSize);
        }
        let drafts = move || {
            let drafts = items.into_iter().enumerate();
            drafts
                .map(|(index, item)| item.into_draft().map_err(|source| EngineError::BatchItem { index, source }))
                .collect::<Result<Vec<ItemDraft>, _>>()
        };
        let drafts = self.compute().run(caller.user, drafts).await??;
        let weight = drafts.iter().map(ItemDraft::weight).sum();
        let append = move |tx: &mut Tx<'_>, viewer: &_| tx.append_items(viewer, &drafts);
        self.change_weighing(caller, request, "item.append", weight, append).await
    }

    /// One fact by its id, also when it was undone or redacted.
    pub async fn item(&self, caller: &Caller, id: ItemId) -> Result<StoredItem, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.look_up(move |tx| tx.item(&viewer, id)).await?)
    }

    /// The caller's facts, page by page.
    pub async fn items(
        &self,
        caller: &Caller,
        query: ItemQuery,
    ) -> Result<Page<StoredItem, PagePosition>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.items(&viewer, &query)).await?)
    }

    /// That a fact is part of its owner's sealed history.
    pub async fn proof(&self, caller: &Caller, id: ItemId) -> Result<Proof, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.proof(&viewer, id)).await?)
    }

    /// Takes a fact back within five minutes; what comes out is the tombstone.
    pub async fn undo_item(
        &self,
        caller: &Caller,
        request: Request,
        id: ItemId,
    ) -> Result<CommittedChange<StoredItem>, EngineError> {
        self.change(caller, request, "item.undo", move |tx, viewer| tx.undo_item(viewer, id)).await
    }

    /// States when a fact really happened, or withdraws that.
    pub async fn correct_time(
        &self,
        caller: &Caller,
        request: Request,
        id: ItemId,
        at: Option<Millis>,
    ) -> Result<CommittedChange<StoredItem>, EngineError> {
        self.change(caller, request, "item.time", move |tx, viewer| {
            tx.override_canonical_time(viewer, id, at)?;
            tx.item(viewer, id)
        })
        .await
    }

    /// Destroys the payload of a fact: its owner may, and an administrator under a grant. With an attachment go the
    /// bytes that nobody else attached, and runs that are under way with it are cancelled. Lists what still quotes a node.
    pub async fn redact_item(
        &self,
        caller: &Caller,
        request: Request,
        id: ItemId,
        reason: String,
    ) -> Result<CommittedChange<Redacted>, EngineError> {
        let seeing = caller.viewer();
        let attached = self.attached_hash(caller, id).await?;
        let known = self.search_quotes(&seeing, id).await?;
        let redact = move |engine: &Self, tx: &mut Tx<'_>, _: &_, slot: &WorkerSlot| {
            // What is to be destroyed must not go out any more.
            let stored = tx.item(&seeing, id)?;
            let open = tx.open_executions_with(&stored.item)?;
            let after = cancel_all(engine, tx, slot, &open)?;
            let (_, Quotes { listed, has_more, .. }) =
                tx.redact_item_listing(&seeing, id, &reason, Some(known.clone()))?;
            Ok((Redacted { item: tx.item(&seeing, id)?, quotes: listed, has_more }, after))
        };
        let changed = self.change_moving(caller, request, REDACTION, redact).await?;
        if let Some(hash) = attached {
            // Should this fail, the daily sweep finds that nobody names the object.
            if let Err(error) = self.parts().blobs.remove_unnamed(&self.parts().store, hash).await {
                tracing::warn!(%error, "the bytes of a redacted attachment are left for the sweep");
            }
        }
        Ok(changed)
    }

    /// What quotes an item, as far as it was recorded before the redaction begins; some items after the others, so that no
    /// read takes long.
    async fn search_quotes(&self, viewer: &Viewer, id: ItemId) -> Result<Quotes, EngineError> {
        let mut quotes = Quotes::default();
        while !quotes.is_complete() {
            let (viewer, found) = (viewer.clone(), std::mem::take(&mut quotes));
            quotes = self.parts().store.read(move |tx| tx.search_quotes(&viewer, id, found)).await?;
        }
        Ok(quotes)
    }

    /// The object an item attached, while it still says so.
    async fn attached_hash(&self, caller: &Caller, id: ItemId) -> Result<Option<Digest>, EngineError> {
        let stored = self.item(caller, id).await?;
        if stored.item.header.item_type != ItemType::BLOB_ATTACHED {
            return Ok(None);
        }
        let hash = stored.item.document().and_then(|document| document.get("hash")?.as_str()?.parse().ok());
        Ok(hash)
    }
}
