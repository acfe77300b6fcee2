//! Receives bytes into a temporary file, hashes them on the way, and keeps the file under its hash.
//!
//! In a directory the file lies beside the objects and is renamed into place, so nothing is written twice. For an S3 service it
//! is a nameless file of the system's temporary directory and is sent in parts. A request that ends takes its file with it. After
//! `kill -9` a sweep removes named files: each is locked while its process lives, and the lock ends with the process.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write};
use std::path::Path;

use bytes::Bytes;
use futures::TryStreamExt as _;
use object_store::{MultipartUpload, ObjectStoreExt as _, PutPayload};
use sha2::{Digest as _, Sha256};
use skein_core::Digest;
use tempfile::{NamedTempFile, TempPath};

use super::{BLOB_BYTES_MAX, BlobRef, Blobs, failed, path, refuse_unclear_media_type};
use crate::db::storage_status::Reporter;
use crate::error::StoreError;

/// The folder for unfinished files, beside the objects.
const UPLOADS: &str = "uploads";
/// Size of a part sent to a service, in bytes; S3 demands 5 MiB of all but the last.
const PART_BYTES: usize = 8 << 20;
/// Room there has to be before a full disk is taken for mended, in bytes.
const PROBE_BYTES: usize = 1 << 20;
/// Parts in memory at once, of all blobs on their way to a service.
pub(super) const PARTS_SENT_AT_ONCE: usize = 4;

/// A blob that arrives; dropped, it leaves nothing behind.
#[derive(Debug)]
pub struct IncomingBlob {
    file: File,
    name: Option<TempPath>,
    hasher: Sha256,
    size: usize,
    reporter: Reporter,
}

/// A blob that has arrived and is not kept yet, or was.
#[derive(Debug)]
pub struct StagedBlob {
    file: File,
    /// Until the file is renamed into place.
    name: Option<TempPath>,
    hash: Digest,
    size: usize,
}

impl IncomingBlob {
    /// Takes the next bytes; blocks.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.size += bytes.len();
        if self.size > BLOB_BYTES_MAX {
            return Err(StoreError::Blob(format!("a blob has at most {BLOB_BYTES_MAX} bytes")));
        }
        self.hasher.update(bytes);
        let written = self.file.write_all(bytes).map_err(|error| unwritten(&error));
        written.inspect_err(|error| self.reporter.report(error))
    }

    /// All bytes have come.
    pub fn finish(self) -> Result<StagedBlob, StoreError> {
        let Self { file, name, hasher, size, .. } = self;
        Ok(StagedBlob { file, name, hash: Digest(hasher.finalize().into()), size })
    }
}

impl Write for IncomingBlob {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes).map(|()| bytes.len()).map_err(|error| match error {
            StoreError::DiskFull => io::ErrorKind::StorageFull.into(),
            other => io::Error::other(other),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl StagedBlob {
    pub fn hash(&self) -> Digest {
        self.hash
    }

    /// The bytes from their beginning; one reader at a time.
    pub fn reader(&mut self) -> Result<impl io::Read, StoreError> {
        self.file.rewind().map_err(|error| unread(&error))?;
        Ok(&self.file)
    }
}

impl Blobs {
    /// Begins to receive a blob.
    pub fn begin(&self) -> Result<IncomingBlob, StoreError> {
        let (file, name) = match &self.root {
            Some(root) => locked_file(&root.join(UPLOADS)).map(|(file, name)| (file, Some(name))),
            None => tempfile::tempfile().map(|file| (file, None)),
        }
        .map_err(|error| self.report(unwritten(&error)))?;
        Ok(IncomingBlob { file, name, hasher: Sha256::new(), size: 0, reporter: self.reporter.clone() })
    }

    /// [`Self::begin`] for bytes that will be attached: a media type that could not be is refused before they come.
    pub fn begin_as(&self, media_type: &str) -> Result<IncomingBlob, StoreError> {
        refuse_unclear_media_type(media_type)?;
        self.begin()
    }

    /// Keeps what has arrived; when this returns it is durable.
    pub async fn keep(&self, staged: &mut StagedBlob, media_type: &str) -> Result<BlobRef, StoreError> {
        self.place(staged).await.map_err(|error| self.report(error))?;
        let size = i64::try_from(staged.size).expect("objects are bounded");
        Ok(BlobRef { hash: staged.hash, size, media_type: media_type.to_owned() })
    }

    /// Brings a file to where its object is looked for.
    async fn place(&self, staged: &mut StagedBlob) -> Result<(), StoreError> {
        match &self.root {
            Some(root) => {
                let (root, file, name) = (root.clone(), staged.file.try_clone(), staged.name.take());
                let (hash, blobs) = (staged.hash, self.clone());
                blocking(move || {
                    let file = file.map_err(|error| unread(&error))?;
                    let (file, name) = match name {
                        Some(name) => (file, name),
                        None => copied(file, blobs.begin()?)?,
                    };
                    place(&root, &file, name, hash).map_err(|error| unwritten(&error))
                })
                .await
            }
            None => self.send(staged).await,
        }
    }

    /// Finds out whether a file of some size can be written where blobs arrive; blocks.
    pub fn probe_file(&self) -> Result<(), StoreError> {
        let mut probe = self.begin()?;
        probe.push(&vec![0; PROBE_BYTES])?;
        probe.file.sync_all().map_err(|error| unwritten(&error))
    }

    /// Copies the bytes behind a hash into a temporary file of `to`, and compares them with it.
    pub async fn spool(&self, hash: Digest, to: &Self) -> Result<StagedBlob, StoreError> {
        let mut pieces = self.open(hash, None).await?;
        let mut incoming = to.begin()?;
        while let Some(piece) = pieces.try_next().await? {
            incoming.push(&piece)?;
        }
        incoming.finish()
    }

    /// Sends a file to the service, in one piece or in parts.
    async fn send(&self, staged: &mut StagedBlob) -> Result<(), StoreError> {
        let _sending = self.sending.acquire().await.expect("nobody closes the semaphore");
        let (target, size) = (path(&staged.hash), staged.size);
        let mut file = staged.file.try_clone().map_err(|error| unread(&error))?;
        file.rewind().map_err(|error| unread(&error))?;
        if size <= PART_BYTES {
            let whole = next_part(file, size).await?.1;
            return self.objects.put(&target, whole.into()).await.map(drop).map_err(|error| failed(&error));
        }
        let mut upload = self.objects.put_multipart(&target).await.map_err(|error| failed(&error))?;
        let sent = send_parts(upload.as_mut(), file, size).await;
        if sent.is_err() {
            // Its parts would be paid for until somebody removes them; that they stay is not worth a second error.
            let _ = upload.abort().await;
        }
        sent
    }

    /// Removes unfinished files that no process holds any more.
    pub fn remove_abandoned(&self) -> Result<(), StoreError> {
        let Some(root) = &self.root else { return Ok(()) };
        let Ok(unfinished) = std::fs::read_dir(root.join(UPLOADS)) else { return Ok(()) };
        for entry in unfinished {
            let path = entry.map_err(|error| unread(&error))?.path();
            let Ok(file) = File::open(&path) else { continue };
            if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                let _ = std::fs::remove_file(&path);
            }
        }
        Ok(())
    }
}

/// A new file that is locked as long as it is open.
fn locked_file(folder: &Path) -> io::Result<(File, TempPath)> {
    loop {
        std::fs::create_dir_all(folder)?;
        let (file, name) = NamedTempFile::new_in(folder)?.into_parts();
        file.try_lock().map_err(io::Error::from)?;
        // A sweep may have come between the two.
        if name.try_exists()? {
            return Ok((file, name));
        }
    }
}

/// Another file with the same bytes: the first one was renamed, and what it became has gone.
fn copied(mut from: File, mut to: IncomingBlob) -> Result<(File, TempPath), StoreError> {
    from.rewind().and_then(|()| io::copy(&mut from, &mut to)).map_err(|error| unwritten(&error))?;
    Ok((to.file, to.name.expect("files in a directory have names")))
}

/// Renames a file to where its object is looked for; file and name are durable afterwards.
fn place(root: &Path, file: &File, name: TempPath, hash: Digest) -> io::Result<()> {
    let hex = hash.to_string();
    let folder = root.join(&hex[..2]);
    std::fs::create_dir_all(&folder)?;
    file.sync_all()?;
    // An older object of the same bytes is replaced: a sweep may be about to take it.
    name.persist(folder.join(&hex)).map_err(|error| error.error)?;
    File::open(&folder)?.sync_all()?;
    File::open(root)?.sync_all()
}

async fn send_parts(upload: &mut dyn MultipartUpload, mut file: File, size: usize) -> Result<(), StoreError> {
    let mut left = size;
    while left > 0 {
        let part;
        (file, part) = next_part(file, left.min(PART_BYTES)).await?;
        left -= part.len();
        upload.put_part(PutPayload::from(part)).await.map_err(|error| failed(&error))?;
    }
    upload.complete().await.map(drop).map_err(|error| failed(&error))
}

async fn next_part(mut file: File, length: usize) -> Result<(File, Bytes), StoreError> {
    blocking(move || {
        let mut part = vec![0; length];
        file.read_exact(&mut part).map_err(|error| unread(&error))?;
        Ok((file, Bytes::from(part)))
    })
    .await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(StoreError::Panicked(error.to_string())))
}

fn unwritten(error: &io::Error) -> StoreError {
    StoreError::of_file("an attachment cannot be written", error)
}

fn unread(error: &io::Error) -> StoreError {
    StoreError::of_file("an attachment cannot be read", error)
}
