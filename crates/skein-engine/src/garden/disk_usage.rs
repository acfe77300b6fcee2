//! Reports disk usage to administrators.

use skein_store::blobs::BlobTotals;

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;

/// What is kept, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskUsage {
    /// Which database it is: `sqlite` or `postgresql`.
    pub database: &'static str,
    /// How much room it takes now.
    pub database_bytes: u64,
    /// The objects beside it, as they were counted lately; nothing while they are counted for the first time.
    pub blobs: Option<BlobTotals>,
}

impl Engine {
    /// How much room the database and the blobs take.
    pub async fn storage(&self, caller: &Caller) -> Result<DiskUsage, EngineError> {
        caller.require_admin()?;
        let (store, blobs) = (&self.parts().store, &self.parts().blobs);
        let now = store.read(|tx| Ok(tx.now())).await?;
        Ok(DiskUsage {
            database: store.location().database(),
            database_bytes: store.database_bytes().await?,
            blobs: blobs.amount(now).await?,
        })
    }
}
