//! Images and recordings that are said: looked at before anything is written, so that nothing else passes for them.
//!
//! Only the beginning of the attached bytes is read. A thumbnail that a client made and names is looked at, too; for
//! others there is [`Engine::thumbnail`].

use futures::StreamExt as _;
use skein_core::ItemId;
use skein_core::tree::content::{Block, Content};
use skein_core::tree::media::{HEAD_BYTES, check_thumbnail};
use skein_store::StoreError;
use skein_store::blobs::BlobRef;

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::tree::turns::ATTACHMENT;

impl Engine {
    /// Refuses content whose attached bytes are not what it says they are (rules AG-CONTENT-002, AG-CONTENT-004).
    pub(super) async fn examine(&self, caller: &Caller, content: &Content) -> Result<(), EngineError> {
        for block in content.blocks() {
            match block {
                Block::Text(_) => {}
                Block::Image(image) => {
                    let (size, head) = self.beginning(caller, image.blob).await?;
                    image.check_bytes(size, &head).map_err(StoreError::from)?;
                    if let Some(thumbnail) = image.thumbnail {
                        let (size, head) = self.beginning(caller, thumbnail).await?;
                        check_thumbnail(size, &head).map_err(StoreError::from)?;
                    }
                }
                Block::Audio(audio) => {
                    let (size, head) = self.beginning(caller, audio.blob).await?;
                    audio.check_bytes(size, &head).map_err(StoreError::from)?;
                }
            }
        }
        Ok(())
    }

    /// The size of what an item attached, and its first bytes.
    async fn beginning(&self, caller: &Caller, item: ItemId) -> Result<(u64, Vec<u8>), EngineError> {
        let viewer = caller.acting();
        let blob: BlobRef = self
            .parts()
            .store
            .read(move |tx| tx.attached_blob(&viewer, item))
            .await
            .map_err(|error| error.of_reference(ATTACHMENT, item))?;
        let size = u64::try_from(blob.size()).unwrap_or_default();
        let part = 0..size.min(HEAD_BYTES as u64);
        let mut head = Vec::new();
        if !part.is_empty() {
            let mut pieces = self.parts().blobs.open(blob.hash(), Some(part)).await?;
            while let Some(piece) = pieces.next().await {
                head.extend_from_slice(&piece?);
            }
        }
        Ok((size, head))
    }
}
