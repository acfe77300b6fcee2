//! Why the index did not open, take a change or answer.
//!
//! Whatever is wrong with a directory, the remedy is the same: rebuild it from the timeline. The variants say so.

use std::path::PathBuf;

use crate::embedder::Fingerprint;
use skein_core::EpisodeId;

/// What is wrong with a file of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Damage {
    Missing,
    Short {
        wanted: u64,
        found: u64,
    },
    /// Another kind of file, another format, or a broken header.
    Header,
    /// A record whose checksum does not fit.
    Record {
        row: u32,
    },
    /// The words index does not open; the text says what it complains about.
    Words(String),
    /// Two files do not tell the same story.
    Disagree(&'static str),
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("is missing"),
            Self::Short { wanted, found } => write!(f, "has {found} bytes where {wanted} were committed"),
            Self::Header => f.write_str("has a header this version did not write"),
            Self::Record { row } => write!(f, "holds a broken record in row {row}"),
            Self::Words(complaint) => write!(f, "does not open: {complaint}"),
            Self::Disagree(what) => write!(f, "does not fit the other files: {what}"),
        }
    }
}

/// Why an index directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{path} {damage}; rebuild the index")]
    Damaged { path: PathBuf, damage: Damage },
    #[error("the index was made with {found:?}, not {wanted:?}; rebuild it to change the embedder")]
    OtherEmbedder { wanted: Fingerprint, found: Fingerprint },
    #[error("another process has the index directory {path} open")]
    Busy { path: PathBuf },
    #[error("could not read or write {path}")]
    Io { path: PathBuf, source: std::io::Error },
}

impl OpenError {
    /// Whether a rebuild from the timeline is the remedy.
    pub fn asks_for_rebuild(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::OtherEmbedder { .. })
    }
}

/// Why a batch was not applied. Nothing of it counts, and the same batch may be applied again.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    #[error("episode {id:?}: the vector has {found} dimensions instead of {wanted}")]
    Dimensions { id: EpisodeId, wanted: usize, found: usize },
    #[error("episode {id:?}: the vector is zero or not finite")]
    NoDirection { id: EpisodeId },
    #[error("episode {id:?}: {what} is longer than {most} bytes")]
    TooLong { id: EpisodeId, what: &'static str, most: usize },
    #[error("the cursor would go back from {reached} to {wanted}")]
    CursorBack { reached: skein_core::garden::cursor::Cursor, wanted: skein_core::garden::cursor::Cursor },
    #[error("the owner's index does not open")]
    Open(#[from] OpenError),
    #[error("the batch could not be written")]
    Write(#[source] std::io::Error),
    #[error("the words could not be written")]
    Words(#[source] tantivy::TantivyError),
}

impl ApplyError {
    /// Whether a rebuild from the timeline is the remedy.
    pub fn asks_for_rebuild(&self) -> bool {
        matches!(self, Self::Open(error) if error.asks_for_rebuild())
    }
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("the question's vector has {found} dimensions instead of {wanted}")]
    Dimensions { wanted: usize, found: usize },
    #[error("the question's vector is zero or not finite")]
    NoDirection,
    #[error("episode {0:?} is not in the index")]
    Unknown(EpisodeId),
    #[error("the owner's index does not open")]
    Open(#[from] OpenError),
    #[error("the words could not be read")]
    Words(#[source] std::io::Error),
}

impl SearchError {
    /// Whether a rebuild from the timeline is the remedy.
    pub fn asks_for_rebuild(&self) -> bool {
        matches!(self, Self::Open(error) if error.asks_for_rebuild())
    }
}
