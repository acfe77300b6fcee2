//! Writing a bundle: one walk over the timeline for facts, one for seals, then what follows from them.
//!
//! No long transaction is held. The timeline below the cut never changes; a payload that is destroyed meanwhile is
//! exported as gone, together with the redaction that says so, although that lies beyond the cut.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest as _, Sha256};
use skein_core::garden::cursor::{BadCursor, Cursor};
use skein_core::garden::item::{Item, ItemType};
use skein_core::garden::redaction::redacted_item;
use skein_core::garden::seal::Seal;
use skein_core::{Digest, ItemId};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, StreamWriter, ZipWriter};

use super::conversation_selection::ConversationSelection;
use super::json_lines::item_line;
use super::manifest::{WITH_SECRETS, WITHOUT_SECRETS};
use super::pages::{BundleMembership, ItemSelection, TimelinePages};
use super::scratch_database::{ReferenceCheck, ScratchDatabase};
use super::{
    BLOBS, BadBundle, ExportResult, ExportScope, ITEMS, LINE_BYTES_MAX, MANIFEST, Manifest, Part, ProgressWatch,
    RECORDS, RELATIONS, SEALS, SECRETS, SealSecrets, tell,
};
use crate::blobs::Blobs;
use crate::error::{StoreError, is_full};
use crate::store::Store;
use crate::timeline::items::StoredItem;

/// Redactions looked up in one read.
const REDACTIONS_PER_READ: usize = 256;

/// Writes everything of one owner up to a cut. What was written is whole only when this returned well.
pub fn export<W: Write>(
    store: &Store,
    blobs: &Blobs,
    scope: &ExportScope,
    out: W,
    watch: ProgressWatch<'_>,
) -> Result<ExportResult, StoreError> {
    write(store, blobs, scope, out, watch, Extent { only: None, seal: None })
}

/// [`export`] of what belongs to one conversation.
pub fn export_only<W: Write>(
    store: &Store,
    blobs: &Blobs,
    scope: &ExportScope,
    only: ConversationSelection,
    out: W,
    watch: ProgressWatch<'_>,
) -> Result<ExportResult, StoreError> {
    write(store, blobs, scope, out, watch, Extent { only: Some(only), seal: None })
}

/// [`export`] with the values of the owner's secrets, as `seal` gives them.
pub fn export_with_secrets<W: Write>(
    store: &Store,
    blobs: &Blobs,
    scope: &ExportScope,
    out: W,
    watch: ProgressWatch<'_>,
    seal: SealSecrets<'_>,
) -> Result<ExportResult, StoreError> {
    write(store, blobs, scope, out, watch, Extent { only: None, seal: Some(seal) })
}

/// How much is written.
struct Extent<'a> {
    /// Everything, where nothing is selected.
    only: Option<ConversationSelection>,
    seal: Option<SealSecrets<'a>>,
}

fn write<W: Write>(
    store: &Store,
    blobs: &Blobs,
    scope: &ExportScope,
    out: W,
    watch: ProgressWatch<'_>,
    extent: Extent<'_>,
) -> Result<ExportResult, StoreError> {
    refuse_unsettled(store, scope)?;
    let is_given_up = Arc::new(AtomicBool::new(false));
    let mut bundle = Bundle::new(AbandonableWriter { out, is_given_up: Arc::clone(&is_given_up) });
    let outcome = write_all(store, blobs, scope, &mut bundle, watch, extent);
    is_given_up.store(outcome.is_err(), Ordering::Relaxed);
    let exported = outcome?;
    let mut out = bundle.zip.finish().map_err(|error| unwritten(&error.into()))?;
    out.flush().map_err(|error| unwritten(&error))?;
    Ok(exported)
}

/// Beyond what is settled, an item might still appear that this walk has passed.
fn refuse_unsettled(store: &Store, scope: &ExportScope) -> Result<(), StoreError> {
    let (viewer, owner) = (scope.viewer.clone(), scope.owner);
    let settled = store.read_blocking(move |tx| tx.cut(&viewer, owner))?;
    if scope.cut <= settled { Ok(()) } else { Err(BadCursor.into()) }
}

fn write_all<W: Write>(
    store: &Store,
    blobs: &Blobs,
    scope: &ExportScope,
    bundle: &mut Bundle<W>,
    watch: ProgressWatch<'_>,
    Extent { only, seal }: Extent<'_>,
) -> Result<ExportResult, StoreError> {
    let is_whole = only.is_none();
    let mut facts = ExportedFacts::new(only)?;
    let items = facts.write(store, scope, bundle, watch)?;
    let (seals, head) = if is_whole {
        write_seals(store, scope, facts.local, bundle, watch)?
    } else {
        (bundle.part(SEALS, |_| Ok(()))?, None)
    };
    let mut aside = facts.aside;
    let records = bundle.part(RECORDS, |part| aside.each_record(&mut |line| part.line(line)))?;
    let relations = bundle.part(RELATIONS, |part| aside.each_relation(&mut |line| part.line(line)))?;
    let secrets = seal.map(|seal| write_secrets(&mut aside, bundle, seal)).transpose()?;
    let named: Vec<Digest> = aside.named_blobs()?.into_iter().map(|(hash, _)| hash).collect();
    let lost_blobs = write_blobs(blobs, &named, bundle, watch)?;
    let manifest = Manifest {
        format: if secrets.is_some() { WITH_SECRETS } else { WITHOUT_SECRETS },
        skein: env!("CARGO_PKG_VERSION").to_owned(),
        owner: scope.owner,
        cursor: scope.cut,
        head,
        items,
        seals,
        records,
        relations,
        secrets,
        blobs: (named.len() - lost_blobs.len()) as u64,
        lost_blobs,
    };
    bundle.entry(MANIFEST, CompressionMethod::Deflated, manifest.to_text().as_bytes())?;
    Ok(ExportResult { blobs: manifest.blobs, manifest })
}

/// Sealed values of the secrets that the exported items amount to.
fn write_secrets<W: Write>(
    aside: &mut ScratchDatabase,
    bundle: &mut Bundle<W>,
    seal: SealSecrets<'_>,
) -> Result<Part, StoreError> {
    let sealed = seal(&aside.secrets()?)?;
    if sealed.len() >= LINE_BYTES_MAX {
        let problem = format!("the limit is {LINE_BYTES_MAX} bytes");
        return Err(BadBundle::TooLarge { part: SECRETS.to_owned(), problem }.into());
    }
    bundle.part(SECRETS, |part| part.line(&sealed))
}

/// What is learnt while facts are written.
struct ExportedFacts {
    aside: ScratchDatabase,
    /// Items without payload whose redaction has not been seen.
    unexplained: BTreeSet<ItemId>,
    /// Positions of what tells of this store and is left out.
    local: BTreeSet<i64>,
    only: Option<ConversationSelection>,
}

impl ExportedFacts {
    fn new(only: Option<ConversationSelection>) -> Result<Self, StoreError> {
        let aside = ScratchDatabase::new(ReferenceCheck::Trusted)?;
        Ok(Self { aside, unexplained: BTreeSet::new(), local: BTreeSet::new(), only })
    }

    fn write<W: Write>(
        &mut self,
        store: &Store,
        scope: &ExportScope,
        bundle: &mut Bundle<W>,
        watch: ProgressWatch<'_>,
    ) -> Result<Part, StoreError> {
        let mut pages = TimelinePages::new(store, scope, ItemSelection::Facts);
        bundle.part(ITEMS, |part| {
            while let Some(reached) = pages.next(&mut |stored, belongs| self.put(&stored, belongs, part))? {
                tell_place(watch, "exporting", reached, scope.cut)?;
            }
            for redaction in self.late_redactions(store, scope)? {
                self.put(&redaction, BundleMembership::Along, part)?;
            }
            Ok(())
        })
    }

    fn put<W: Write>(
        &mut self,
        stored: &StoredItem,
        belongs: BundleMembership,
        part: &mut PartWriter<'_, W>,
    ) -> Result<(), StoreError> {
        if belongs == BundleMembership::Here {
            self.local.insert(stored.cursor.position);
            return Ok(());
        }
        let item = &stored.item;
        if self.only.as_mut().is_some_and(|only| !only.holds(item)) {
            return Ok(());
        }
        if item.payload.is_none() {
            self.unexplained.insert(item.header.id);
        }
        if item.header.item_type == ItemType::REDACTION {
            item.document().as_ref().and_then(redacted_item).inspect(|target| {
                self.unexplained.remove(target);
            });
        }
        self.aside.take(item)?;
        part.line(&item_line(item))
    }

    /// Redactions from beyond the cut, of payloads that were found gone, in timeline order.
    fn late_redactions(&self, store: &Store, scope: &ExportScope) -> Result<Vec<StoredItem>, StoreError> {
        let gone: Vec<ItemId> = self.unexplained.iter().copied().collect();
        let mut redactions = BTreeMap::new();
        for items in gone.chunks(REDACTIONS_PER_READ) {
            let (scope, items) = (scope.clone(), items.to_vec());
            let found = store.read_blocking(move |tx| tx.redactions_of(&scope.viewer, scope.owner, &items))?;
            redactions.extend(found.into_iter().map(|stored| (stored.cursor, stored)));
        }
        Ok(redactions.into_values().collect())
    }
}

/// Writes the evidence: seals, and the items they cover that are left out. Says what the last seal's hash is.
fn write_seals<W: Write>(
    store: &Store,
    scope: &ExportScope,
    local: BTreeSet<i64>,
    bundle: &mut Bundle<W>,
    watch: ProgressWatch<'_>,
) -> Result<(Part, Option<Digest>), StoreError> {
    let mut pages = TimelinePages::new(store, scope, ItemSelection::Local(Arc::new(local)));
    let mut head = None;
    let part = bundle.part(SEALS, |part| {
        let mut put = |stored: StoredItem, _| {
            head = sealed(&stored.item)?.or(head);
            part.line(&item_line(&stored.item))
        };
        while let Some(reached) = pages.next(&mut put)? {
            tell_place(watch, "seals", reached, scope.cut)?;
        }
        Ok(())
    })?;
    Ok((part, head))
}

fn sealed(item: &Item) -> Result<Option<Digest>, StoreError> {
    if item.header.item_type != ItemType::SEAL {
        return Ok(None);
    }
    let seal = item.document().and_then(|document| Seal::from_document(item.header.owner, &document));
    let seal = seal.ok_or_else(|| StoreError::Damaged(format!("the seal {} cannot be read", item.header.id)))?;
    Ok(Some(seal.head.hash()))
}

/// Writes every object that can be read; says which cannot, for one lost object must not cost the rest.
fn write_blobs<W: Write>(
    blobs: &Blobs,
    named: &[Digest],
    bundle: &mut Bundle<W>,
    watch: ProgressWatch<'_>,
) -> Result<Vec<Digest>, StoreError> {
    let mut lost = Vec::new();
    for (done, hash) in (1..).zip(named) {
        // Whole and compared before its entry begins: an entry that was begun cannot be taken back.
        match blobs.block_on(async |blobs| blobs.spool(*hash, blobs).await) {
            // Most of them are pictures and sound, compressed already.
            Ok(mut staged) => {
                bundle.start(&format!("{BLOBS}{hash}"), CompressionMethod::Stored)?;
                io::copy(&mut staged.reader()?, &mut bundle.zip).map_err(|error| unwritten(&error))?;
            }
            Err(StoreError::NotFound(_) | StoreError::Damaged(_)) => lost.push(*hash),
            Err(error) => return Err(error),
        }
        tell(watch, "blobs", done, named.len() as u64)?;
    }
    Ok(lost)
}

/// Positions stand for how much of the timeline was walked.
fn tell_place(watch: ProgressWatch<'_>, stage: &'static str, reached: Cursor, cut: Cursor) -> Result<(), StoreError> {
    let number = |position: i64| u64::try_from(position).unwrap_or(0);
    tell(watch, stage, number(reached.position.min(cut.position)), number(cut.position))
}

struct Bundle<W: Write> {
    zip: ZipWriter<StreamWriter<AbandonableWriter<W>>>,
}

impl<W: Write> Bundle<W> {
    fn new(out: AbandonableWriter<W>) -> Self {
        Self { zip: ZipWriter::new_stream(out) }
    }

    fn start(&mut self, name: &str, method: CompressionMethod) -> Result<(), StoreError> {
        // The time of an entry stays at its default: the same items give the same bytes.
        let options = SimpleFileOptions::default().compression_method(method).large_file(true);
        self.zip.start_file(name, options).map_err(|error| unwritten(&error.into()))
    }

    fn entry(&mut self, name: &str, method: CompressionMethod, bytes: &[u8]) -> Result<(), StoreError> {
        self.start(name, method)?;
        self.zip.write_all(bytes).map_err(|error| unwritten(&error))
    }

    fn part(
        &mut self,
        name: &str,
        fill: impl FnOnce(&mut PartWriter<'_, W>) -> Result<(), StoreError>,
    ) -> Result<Part, StoreError> {
        self.start(name, CompressionMethod::Deflated)?;
        let mut part = PartWriter { zip: &mut self.zip, hasher: Sha256::new(), lines: 0, bytes: 0 };
        fill(&mut part)?;
        Ok(Part { lines: part.lines, bytes: part.bytes, sha256: Digest(part.hasher.finalize().into()) })
    }
}

struct PartWriter<'a, W: Write> {
    zip: &'a mut ZipWriter<StreamWriter<AbandonableWriter<W>>>,
    hasher: Sha256,
    lines: u64,
    bytes: u64,
}

impl<W: Write> PartWriter<'_, W> {
    fn line(&mut self, line: &str) -> Result<(), StoreError> {
        for bytes in [line.as_bytes(), b"\n"] {
            self.hasher.update(bytes);
            self.bytes += bytes.len() as u64;
            self.zip.write_all(bytes).map_err(|error| unwritten(&error))?;
        }
        self.lines += 1;
        Ok(())
    }
}

/// The zip writer completes its file when it is dropped; one that was given up must not look complete.
struct AbandonableWriter<W> {
    out: W,
    is_given_up: Arc<AtomicBool>,
}

impl<W: Write> Write for AbandonableWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_given_up.load(Ordering::Relaxed) {
            return Ok(bytes.len());
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_given_up.load(Ordering::Relaxed) { Ok(()) } else { self.out.flush() }
    }
}

fn unwritten(error: &io::Error) -> StoreError {
    if is_full(error) {
        return StoreError::DiskFull;
    }
    StoreError::Unavailable(format!("the bundle cannot be written: {error}"))
}
