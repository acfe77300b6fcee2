//! Attachments: bytes are made durable first, then named on the timeline; who may read them follows from the name.

use std::ops::Range;
use std::time::Duration;

use serde_json::{Value, json};
use skein_core::{Digest, ItemId, Viewer};
use skein_store::blobs::{BlobPieces, BlobRef, IncomingBlob, StagedBlob};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Outcome, Request, Reservation, referred};

/// Between two attempts to name bytes that are being removed.
const REMOVAL_PAUSE: Duration = Duration::from_millis(50);

/// Bytes that were uploaded and attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The fact that names them.
    pub item: ItemId,
    /// What they are.
    pub blob: BlobRef,
}

impl Outcome for Attachment {
    fn reference(&self) -> Value {
        json!({ "item": self.item })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let item = referred(reference, "item")?;
        Ok(Self { item, blob: tx.attached_blob(viewer, item)? })
    }
}

impl Engine {
    /// Begins to receive bytes; they are pushed on a thread that may block.
    pub fn begin_blob(&self, media_type: &str) -> Result<IncomingBlob, EngineError> {
        Ok(self.parts().blobs.begin_as(media_type)?)
    }

    /// Keeps bytes that have arrived and names them on the caller's timeline; `reservation` is the place of their request.
    pub async fn attach(
        &self,
        caller: &Caller,
        request: Request,
        reservation: &Reservation,
        mut staged: StagedBlob,
        media_type: &str,
    ) -> Result<CommittedChange<Attachment>, EngineError> {
        let (store, blobs, hash) = (&self.parts().store, &self.parts().blobs, staged.hash());
        loop {
            let before = store.read(move |tx| tx.blob_removals(hash)).await?;
            let blob = blobs.keep(&mut staged, media_type).await?;
            let attached = self.finish(caller, request, reservation, move |tx, viewer| {
                tx.refuse_removed(hash, before)?;
                let item = tx.attach_blob(viewer, &blob)?;
                Ok(Attachment { item, blob: blob.clone() })
            });
            match attached.await {
                // Somebody redacted the same bytes, or a sweep found that nobody named them.
                Err(EngineError::Store(StoreError::BlobRemoved(_))) => tokio::time::sleep(REMOVAL_PAUSE).await,
                attached => return attached,
            }
        }
    }

    /// What the same upload brought about earlier.
    pub async fn attached(
        &self,
        caller: &Caller,
        request: Request,
    ) -> Result<CommittedChange<Attachment>, EngineError> {
        self.replay(caller, request).await
    }

    /// What the caller attached under a hash; that others attached the same is not told.
    pub async fn blob(&self, caller: &Caller, hash: Digest) -> Result<BlobRef, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.blob(&viewer, hash)).await?)
    }

    /// Bytes the caller attached, piece by piece: all of them, checked against their hash, or a part.
    pub async fn read_blob(&self, blob: &BlobRef, part: Option<Range<u64>>) -> Result<BlobPieces, EngineError> {
        Ok(self.parts().blobs.open(blob.hash(), part).await?)
    }
}
