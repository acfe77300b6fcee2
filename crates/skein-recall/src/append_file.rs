//! A file that only grows, read through a memory map, and cut back to what was committed.
//!
//! The header names what the file is and of which make; anything else is refused rather than read. What stands behind
//! the committed length is the torn tail of a process that died, and is cut off at opening.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use xxhash_rust::xxh64::xxh64;

use crate::error::{Damage, OpenError};

/// Every header has this size, so that what follows is aligned.
pub(crate) const HEADER_BYTES: usize = 256;
const MAGIC: &[u8; 8] = b"SKRECALL";

/// What a file holds, as its header says; a file of another kind is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Whatever else two files must share to be read the same way.
    pub(crate) make: String,
}

impl Kind {
    fn header(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(MAGIC);
        let text = format!("{}\n{}", self.name, self.make);
        let end = text.len().min(HEADER_BYTES - 16);
        header[8..8 + end].copy_from_slice(&text.as_bytes()[..end]);
        let check = xxh64(&header[..HEADER_BYTES - 8], 0);
        header[HEADER_BYTES - 8..].copy_from_slice(&check.to_le_bytes());
        header
    }
}

/// The growing end. Bytes are durable after [`AppendFile::sync`]. It is held open only while somebody writes: there may be
/// many owners, and a process has few files.
pub(crate) struct AppendFile {
    path: PathBuf,
    file: Option<File>,
    length: u64,
}

impl AppendFile {
    pub(crate) fn create(path: &Path, kind: &Kind) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Io { path: path.to_owned(), source };
        let mut file = OpenOptions::new().read(true).append(true).create_new(true).open(path).map_err(failed)?;
        file.write_all(&kind.header()).and_then(|()| file.sync_all()).map_err(failed)?;
        Ok(Self { path: path.to_owned(), file: None, length: 0 })
    }

    /// Opens the file and cuts it to `length` bytes behind the header; a shorter one is damaged.
    pub(crate) fn open(path: &Path, kind: &Kind, length: u64) -> Result<Self, OpenError> {
        let damaged = |damage| OpenError::Damaged { path: path.to_owned(), damage };
        let failed = |source| OpenError::Io { path: path.to_owned(), source };
        let file = match OpenOptions::new().read(true).append(true).open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(damaged(Damage::Missing)),
            opened => opened.map_err(failed)?,
        };
        let found = file.metadata().map_err(failed)?.len();
        let wanted = length + HEADER_BYTES as u64;
        if found < wanted {
            return Err(damaged(Damage::Short { wanted, found }));
        }
        if found > wanted {
            file.set_len(wanted).and_then(|()| file.sync_all()).map_err(failed)?;
        }
        if mapped(&file).map_err(failed)?.header() != kind.header() {
            return Err(damaged(Damage::Header));
        }
        Ok(Self { path: path.to_owned(), file: None, length })
    }

    /// Lets go of the file until somebody writes again.
    pub(crate) fn rest(&mut self) {
        self.file = None;
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            closed => closed.insert(OpenOptions::new().read(true).append(true).open(&self.path)?),
        };
        file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    pub(crate) fn sync(&self) -> std::io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_data)
    }

    /// What is in the file now; it stays readable while the file grows.
    pub(crate) fn map(&self) -> Result<Mapped, OpenError> {
        let map = match &self.file {
            Some(file) => mapped(file),
            None => File::open(&self.path).and_then(|file| mapped(&file)),
        };
        map.map_err(|source| OpenError::Io { path: self.path.clone(), source })
    }
}

/// A map outlives the file it was made of.
fn mapped(file: &File) -> std::io::Result<Mapped> {
    #[expect(
        unsafe_code,
        reason = "the file is only appended to; what is cut at opening was never committed, so nobody reads it"
    )]
    let map = unsafe { Mmap::map(file) };
    Ok(Mapped(Arc::new(map?)))
}

/// A view of an [`AppendFile`] at one moment.
#[derive(Clone)]
pub(crate) struct Mapped(Arc<Mmap>);

impl Mapped {
    fn header(&self) -> &[u8] {
        &self.0[..HEADER_BYTES]
    }

    /// Everything behind the header.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0[HEADER_BYTES..]
    }
}
