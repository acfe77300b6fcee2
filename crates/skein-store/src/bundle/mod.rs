//! Bundles: everything of one owner in a zip file that another store takes in, with ids, owners, times and hashes kept.
//!
//! Exporting walks the timeline up to a cut, page by page; importing first verifies the whole file without writing
//! anything, then writes what is new in small transactions. What the file holds and why is told by
//! `docs/decisions/0007-bundles.md`. Start at [`export()`] and [`import()`].

mod admission;
mod archive;
mod check;
mod conversation_selection;
mod end_record;
mod export;
mod import;
mod json_lines;
mod lookup;
mod manifest;
mod pages;
mod rules;
mod scratch_database;
mod seal_check;
mod size;

use std::ops::ControlFlow;

use skein_core::garden::cursor::Cursor;
use skein_core::{Digest, ItemId, RecordId, UserId, Viewer};

pub use conversation_selection::ConversationSelection;
pub use end_record::ENTRIES_MAX;
pub use export::{export, export_only, export_with_secrets};
pub use import::{import, owner_of, sealed_secrets};
pub use manifest::{Manifest, Part};
pub use size::ExportSize;

use crate::error::StoreError;
use crate::verify::Progress;

/// The newest format; every one up to it is read. What is written is as old as it can be.
pub const FORMAT: u64 = 2;
/// Longest line of a part: a raw payload in base64 with room to spare, in bytes.
pub const LINE_BYTES_MAX: usize = 32 << 20;
/// Largest bundle that an import over HTTP takes, in bytes.
pub const BYTES_MAX: u64 = 8 << 30;
/// A part may always expand to this many bytes …
pub const EXPANDED_BYTES_MAX: u64 = 1 << 30;
/// … and beyond that to this many times its compressed size; text expands a tenth as much.
pub const EXPANSION_MAX: u64 = 200;

const ITEMS: &str = "items.jsonl";
const SEALS: &str = "seals.jsonl";
const RECORDS: &str = "records.jsonl";
const RELATIONS: &str = "relations.jsonl";
const MANIFEST: &str = "manifest.json";
const BLOBS: &str = "blobs/";
const SECRETS: &str = "secrets.sealed.json";

/// What is exported, and for whom.
#[derive(Debug, Clone)]
pub struct ExportScope {
    pub viewer: Viewer,
    pub owner: UserId,
    /// Up to where; from [`crate::Tx::cut`].
    pub cut: Cursor,
}

/// In whose right a bundle is imported.
#[derive(Debug, Clone)]
pub enum Authority {
    /// The operator of the installation: whatever verifies.
    Installation,
    /// A user: their own things, conversations among them, and nothing new about users, keys, settings, grants or the
    /// catalog.
    Owner(Viewer),
}

impl Authority {
    /// Refuses things of somebody else's.
    pub fn refuse_stranger(&self, owner: UserId) -> Result<(), StoreError> {
        match self {
            Self::Owner(viewer) if viewer.owner() != owner => Err(StoreError::Forbidden),
            Self::Owner(_) | Self::Installation => Ok(()),
        }
    }
}

/// What an export wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportResult {
    pub manifest: Manifest,
    pub blobs: u64,
}

/// What an import did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportResult {
    pub owner: UserId,
    pub added: u64,
    pub skipped: u64,
    pub blobs: u64,
}

/// A secret as it is at a cut, and which value its record speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretAtCut {
    pub secret: RecordId,
    pub value_version: i64,
}

/// Gives the values of some secrets as one line, sealed in a way this crate knows nothing of.
pub type SealSecrets<'a> = &'a mut dyn FnMut(&[SecretAtCut]) -> Result<String, StoreError>;

/// Told how far it is; may ask to stop.
pub type ProgressWatch<'a> = &'a mut dyn FnMut(Progress) -> ControlFlow<()>;

/// Why a bundle is not taken in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadBundle {
    #[error("the bundle has format {found}, this program reads up to {FORMAT}; use a newer skein")]
    NewerFormat { found: u64 },
    #[error("this is not a bundle: {0}")]
    NotABundle(String),
    #[error("the bundle holds {0:?}, which is not part of its format")]
    UnknownEntry(String),
    #[error("{part} of the bundle is not as it was written: {problem}")]
    Altered { part: String, problem: String },
    #[error("{part} of the bundle is too large: {problem}")]
    TooLarge { part: String, problem: String },
    #[error("the export is too large: {problem}; {remedy}")]
    ExportTooLarge { problem: String, remedy: &'static str },
    #[error("{item} of the bundle cannot be taken in: {problem}")]
    Item { item: ItemId, problem: String },
    #[error("{item} is here already with the hash {here}, in the bundle it has {found}")]
    Differs { item: ItemId, here: Digest, found: Digest },
    #[error("{item} continues a state that {record} does not have here: both sides changed it; nothing was imported")]
    Diverged { item: ItemId, record: RecordId },
    #[error(
        "{record} was changed here while {item} was imported; what was imported until then stays, and the rest cannot follow it"
    )]
    ChangedMeanwhile { item: ItemId, record: RecordId },
    /// The id, or one that the item names, is not free for this owner. One answer for every reason: what the importing user
    /// may not see is neither shown nor told apart.
    #[error("{item} of the bundle cannot be taken in under its id; leave it out, or export the bundle again")]
    Unusable { item: ItemId },
    #[error("it was stopped; what was imported until then stays, and importing again continues")]
    Stopped,
}

fn tell(watch: ProgressWatch<'_>, stage: &'static str, done: u64, total: u64) -> Result<(), StoreError> {
    match watch(Progress { stage, done, total }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(BadBundle::Stopped.into()),
    }
}

fn altered(part: &str, problem: impl Into<String>) -> StoreError {
    BadBundle::Altered { part: part.to_owned(), problem: problem.into() }.into()
}

/// As [`about`], for what meets the live tables: a key that is taken there may be another owner's, so nothing is told of it.
fn about_live(item: ItemId, error: StoreError) -> StoreError {
    use crate::error::SqlError;
    match error {
        StoreError::Forbidden
        | StoreError::Exists(_)
        | StoreError::Sql(SqlError::Unique(_) | SqlError::Constraint(_)) => BadBundle::Unusable { item }.into(),
        other => about(item, other),
    }
}

/// Names the item at which something was refused; what is nobody's fault is passed on as it is.
fn about(item: ItemId, error: StoreError) -> StoreError {
    use crate::error::SqlError;
    let problem = match error {
        StoreError::Damaged(problem) => problem,
        StoreError::Rule(_)
        | StoreError::Item(_)
        | StoreError::Document(_)
        | StoreError::Record(_)
        | StoreError::Exists(_)
        | StoreError::History(_)
        | StoreError::Sql(SqlError::Unique(_) | SqlError::Constraint(_)) => error.to_string(),
        other => return other,
    };
    BadBundle::Item { item, problem }.into()
}
