//! Bytes too large or too foreign for the database: content-addressed objects in a directory or an S3 bucket.
//!
//! An object is durable before the transaction that names it; an object nobody names is swept after a day. Who may
//! read one follows from who attached it, never from knowing its hash. Bytes arrive through a temporary file
//! (`staging`), so that neither their number nor their hash has to be known before, and memory holds a piece at a time.

mod amount;
mod media_type;
mod removal;
mod staging;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::{Error as ObjectError, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _};
use serde_json::{Map, json};
use sha2::{Digest as _, Sha256};
use skein_core::garden::item::{ItemDraft, ItemType};
use skein_core::{Digest, ItemId, Millis, RuleViolation, Viewer};
use tokio::sync::Semaphore;

pub(crate) use self::media_type::refuse_other_media_types;
use self::media_type::refuse_unclear_media_type;
use crate::db::sql::params;
use crate::db::storage_status::Reporter;
use crate::error::StoreError;
use crate::store::{Store, closed};
use crate::tx::Tx;

pub use amount::{BlobTotals, COUNT_KEPT_MS};
pub use removal::Removals;
pub use staging::{IncomingBlob, StagedBlob};

/// Largest object accepted, in bytes (audio of thirty minutes).
pub const BLOB_BYTES_MAX: usize = 100 << 20;
/// Objects younger than this are never swept: the transaction that names them may be on its way.
pub const SWEEP_AFTER_MS: i64 = 24 * 60 * 60 * 1_000;

/// Bytes on their way out of the store.
pub type BlobPieces = BoxStream<'static, Result<Bytes, StoreError>>;

/// Where objects are kept.
#[derive(Clone)]
pub struct Blobs {
    objects: Arc<dyn ObjectStore>,
    /// The directory of the objects, if they are in one.
    root: Option<Arc<PathBuf>>,
    counted: Arc<amount::BlobCount>,
    /// Held while a part is sent to the service: each takes memory.
    sending: Arc<Semaphore>,
    reporter: Reporter,
}

/// How to reach an S3-compatible service.
#[derive(Debug, Clone)]
pub struct S3Options {
    pub endpoint: String,
    pub bucket: String,
    pub region: String,
    pub access_key: String,
    pub secret_key: String,
}

/// An object as the database names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobRef {
    hash: Digest,
    size: i64,
    media_type: String,
}

/// Made only by putting the bytes or by having attached them: a hash alone opens nothing.
impl BlobRef {
    pub fn hash(&self) -> Digest {
        self.hash
    }

    pub fn size(&self) -> i64 {
        self.size
    }

    pub fn media_type(&self) -> &str {
        &self.media_type
    }
}

impl Blobs {
    /// Objects in a directory, which is made if it is missing.
    pub fn directory(path: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(path).map_err(|error| StoreError::Blob(format!("{}: {error}", path.display())))?;
        let objects = LocalFileSystem::new_with_prefix(path).map_err(|error| failed(&error))?;
        Ok(Self { root: Some(Arc::new(path.to_owned())), ..Self::of(objects) })
    }

    fn of(objects: impl ObjectStore) -> Self {
        let sending = Arc::new(Semaphore::new(staging::PARTS_SENT_AT_ONCE));
        Self { objects: Arc::new(objects), root: None, counted: Arc::default(), sending, reporter: Reporter::default() }
    }

    /// The same objects; full disks and damage that are met here are reported to `store`.
    #[must_use]
    pub fn reporting_to(self, store: &Store) -> Self {
        Self { reporter: store.reporter(), ..self }
    }

    /// No objects at all, for a copy that has none.
    pub(crate) fn nowhere() -> Self {
        Self::of(object_store::memory::InMemory::new())
    }

    /// Objects in a bucket of an S3-compatible service.
    pub fn s3(options: &S3Options) -> Result<Self, StoreError> {
        // Installing it twice is refused, and fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let objects = AmazonS3Builder::new()
            .with_endpoint(&options.endpoint)
            .with_bucket_name(&options.bucket)
            .with_region(&options.region)
            .with_access_key_id(&options.access_key)
            .with_secret_access_key(&options.secret_key)
            .with_allow_http(options.endpoint.starts_with("http://"))
            .build()
            .map_err(|error| failed(&error))?;
        Ok(Self::of(objects))
    }

    /// Keeps bytes; when this returns they are durable. The same bytes are kept once.
    pub async fn put(&self, bytes: Bytes, media_type: &str) -> Result<BlobRef, StoreError> {
        let mut incoming = self.begin()?;
        incoming.push(&bytes)?;
        self.keep(&mut incoming.finish()?, media_type).await
    }

    /// The bytes behind a hash, checked against it.
    pub async fn get(&self, hash: Digest) -> Result<Bytes, StoreError> {
        let found = match self.objects.get(&path(&hash)).await {
            Ok(found) => found.bytes().await.map_err(|error| failed(&error))?,
            Err(ObjectError::NotFound { .. }) => {
                return Err(StoreError::NotFound(format!("blob {hash}")));
            }
            Err(error) => return Err(failed(&error)),
        };
        let actual = Digest::of(&found);
        if actual == hash { Ok(found) } else { Err(self.report(altered(hash, actual))) }
    }

    /// A failure that was taken note of.
    fn report(&self, error: StoreError) -> StoreError {
        self.reporter.report(&error);
        error
    }

    /// The bytes behind a hash, piece by piece, or a part of them. All of them are checked on the way, and the last
    /// piece of what was altered is held back; a part cannot be checked.
    pub async fn open(&self, hash: Digest, part: Option<Range<u64>>) -> Result<BlobPieces, StoreError> {
        let is_whole = part.is_none();
        let options = GetOptions { range: part.map(GetRange::Bounded), ..GetOptions::default() };
        let found = self.objects.get_opts(&path(&hash), options).await.map_err(|error| match error {
            ObjectError::NotFound { .. } => StoreError::NotFound(format!("blob {hash}")),
            other => failed(&other),
        })?;
        let pieces = found.into_stream().map_err(|error| failed(&error)).fuse();
        if !is_whole {
            return Ok(pieces.boxed());
        }
        let reporter = self.reporter.clone();
        Ok(checked(pieces.boxed(), hash).inspect_err(move |error| reporter.report(error)).boxed())
    }

    /// How many bytes are behind a hash; all of them are read and compared with it.
    pub async fn measure(&self, hash: Digest) -> Result<u64, StoreError> {
        let pieces = self.open(hash, None).await?;
        pieces.try_fold(0, async |size, piece| Ok(size + piece.len() as u64)).await
    }

    /// Removes an object now, if nobody names it any more; says whether it did.
    pub async fn remove_unnamed(&self, store: &Store, hash: Digest) -> Result<bool, StoreError> {
        let Some(removal) = store.write(move |tx| tx.begin_removal(hash)).await?.value else { return Ok(false) };
        let removed = self.objects.delete(&path(&hash)).await;
        store.write(move |tx| tx.end_removal(&removal)).await?;
        match removed {
            Ok(()) | Err(ObjectError::NotFound { .. }) => Ok(true),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Removes objects that nobody names and that are older than a day, and what a killed process left of uploads;
    /// says how many objects.
    pub async fn sweep(&self, store: &Store, now: Millis) -> Result<usize, StoreError> {
        self.remove_abandoned()?;
        store
            .write(|tx| {
                tx.forget_removals()?;
                Ok(())
            })
            .await?;
        let mut objects = self.objects.list(None);
        let mut swept = 0;
        while let Some(object) = objects.try_next().await.map_err(|error| failed(&error))? {
            let age = now.0 - object.last_modified.timestamp_millis();
            let Some(hash) = named_by(&object).filter(|_| age > SWEEP_AFTER_MS) else { continue };
            swept += usize::from(self.remove_unnamed(store, hash).await?);
        }
        Ok(swept)
    }

    /// Runs one of the above where there is no async runtime.
    pub(crate) fn block_on<T>(&self, work: impl AsyncFnOnce(&Self) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| StoreError::Blob(error.to_string()))?;
        runtime.block_on(work(self))
    }
}

impl Tx<'_> {
    /// Names an object, which must have been put before; from now on it is kept and its owner may read it.
    pub fn attach_blob(&mut self, viewer: &Viewer, blob: &BlobRef) -> Result<ItemId, StoreError> {
        refuse_unclear_media_type(&blob.media_type)?;
        Ok(self.append_item(viewer, &attachment(blob.hash, blob.size, &blob.media_type)?)?.item.header.id)
    }

    /// An object the viewer attached; that another's object has this hash is not told.
    pub fn blob(&mut self, viewer: &Viewer, hash: Digest) -> Result<BlobRef, StoreError> {
        let sql = "SELECT size, media_type FROM blobs WHERE hash = ?1 AND owner = ?2 ORDER BY attached_at LIMIT 1";
        let owner = self.subject(viewer)?;
        let found = self.first(sql, params![&hash, &owner], |row| {
            Ok(BlobRef { hash, size: row.int(0)?, media_type: row.text(1)?.to_owned() })
        })?;
        found.ok_or_else(|| StoreError::NotFound(format!("blob {hash}")))
    }

    /// The object an item of the viewer's attached.
    pub fn attached_blob(&mut self, viewer: &Viewer, item: ItemId) -> Result<BlobRef, StoreError> {
        let owner = self.subject(viewer)?;
        let sql = "SELECT hash, size, media_type FROM blobs WHERE item = ?1 AND owner = ?2";
        let found = self.first(sql, params![&item, &owner], |row| {
            Ok(BlobRef { hash: Digest(row.array(0)?), size: row.int(1)?, media_type: row.text(2)?.to_owned() })
        })?;
        found.ok_or_else(|| StoreError::NotFound(format!("what {item} attached")))
    }

    fn is_blob_named(&mut self, hash: Digest) -> Result<bool, StoreError> {
        let sql = "SELECT size FROM blobs WHERE hash = ?1 LIMIT 1";
        Ok(self.first(sql, params![&hash], |row| row.int(0))?.is_some())
    }

    /// Every object named anywhere.
    pub(crate) fn named_blobs(&mut self) -> Result<Vec<(Digest, i64)>, StoreError> {
        let sql = "SELECT DISTINCT hash, size FROM blobs ORDER BY hash";
        self.all(sql, &[], |row| Ok((Digest(row.array(0)?), row.int(1)?)))
    }
}

/// Those of some objects that nobody names any more.
pub(crate) fn unnamed_of(store: &Store, hashes: Vec<Digest>) -> Result<Vec<Digest>, StoreError> {
    let look = move |tx: &mut Tx<'_>| {
        let mut unnamed = Vec::new();
        for hash in hashes {
            if !tx.is_blob_named(hash)? {
                unnamed.push(hash);
            }
        }
        Ok(unnamed)
    };
    store.read_everything(look)?.blocking_recv().unwrap_or_else(|_| Err(closed()))
}

/// Passes pieces on one behind, so that the last is given only when all of them have the hash they should.
fn checked(pieces: BlobPieces, hash: Digest) -> BlobPieces {
    let state = (pieces, Sha256::new(), None);
    stream::try_unfold(Some(state), move |state| async move {
        let Some((mut pieces, mut hasher, mut held)) = state else { return Ok(None) };
        while let Some(piece) = pieces.try_next().await? {
            hasher.update(&piece);
            if let Some(ready) = held.replace(piece) {
                return Ok(Some((ready, Some((pieces, hasher, held)))));
            }
        }
        let actual = Digest(hasher.finalize().into());
        if actual == hash { Ok(held.map(|last| (last, None))) } else { Err(altered(hash, actual)) }
    })
    .boxed()
}

fn altered(hash: Digest, actual: Digest) -> StoreError {
    StoreError::Damaged(format!("blob {hash} now has the hash {actual}"))
}

/// The fact that an object was attached.
pub(crate) fn attachment(hash: Digest, size: i64, media_type: &str) -> Result<ItemDraft, RuleViolation> {
    refuse_other_media_types(media_type)?;
    let data = Map::from_iter([
        ("hash".to_owned(), json!(hash.to_string())),
        ("mediaType".to_owned(), json!(media_type)),
        ("size".to_owned(), json!(size)),
    ]);
    Ok(ItemDraft::recorded(ItemType::BLOB_ATTACHED, &data))
}

fn path(hash: &Digest) -> object_store::path::Path {
    let hex = hash.to_string();
    object_store::path::Path::from_iter([&hex[..2], &hex[..]])
}

/// The hash an object is named by; what has another name is no object of ours.
fn named_by(object: &ObjectMeta) -> Option<Digest> {
    object.location.filename().and_then(|name| name.parse().ok())
}

fn failed(error: &ObjectError) -> StoreError {
    if StoreError::has_full_disk_among_causes(error) {
        return StoreError::DiskFull;
    }
    StoreError::Blob(error.to_string())
}
