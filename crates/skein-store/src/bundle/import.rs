//! The second pass of an import: what is not here yet is written, in order, in transactions of a few milliseconds.
//!
//! A crash leaves a beginning of the bundle; importing it again skips that and goes on. Objects are durable before the
//! items that name them.

use std::collections::BTreeSet;
use std::fs::File;

use skein_core::garden::item::{Item, ItemType};
use skein_core::{Digest, ItemId, NodeId, UserId};

use super::archive::Archive;
use super::check::{attached, check, leaves, next_batch};
use super::manifest::Manifest;
use super::scratch_database::ScratchDatabase;
use super::{Authority, BadBundle, ITEMS, ImportResult, ProgressWatch, about_live, admission, altered, tell};
use crate::blobs::{Blobs, Removals};
use crate::error::StoreError;
use crate::store::{Store, Urgency};
use crate::tx::Tx;

/// Takes a bundle in, once all of it is verified. What is here already is skipped.
pub fn import(
    store: &Store,
    blobs: &Blobs,
    bundle: File,
    authority: &Authority,
    watch: ProgressWatch<'_>,
) -> Result<ImportResult, StoreError> {
    let (archive, manifest) = Archive::open(bundle)?;
    let aside = check(&archive, &manifest, store, authority, watch)?;
    let importer = Importer { store, blobs, archive, aside, owner: manifest.owner, put: BTreeSet::new() };
    importer.run(&manifest, watch)
}

/// Whose things a bundle says it holds; nothing else of it is looked at.
pub fn owner_of(bundle: &File) -> Result<UserId, StoreError> {
    Archive::open(again(bundle)?).map(|(_, manifest)| manifest.owner)
}

/// The values of secrets a bundle carries, sealed as they are; nothing when it carries none.
pub fn sealed_secrets(bundle: &File) -> Result<Option<String>, StoreError> {
    let (mut archive, manifest) = Archive::open(again(bundle)?)?;
    archive.secrets(&manifest)
}

fn again(bundle: &File) -> Result<File, StoreError> {
    bundle.try_clone().map_err(|error| StoreError::Blob(format!("the bundle cannot be read: {error}")))
}

struct Importer<'a> {
    store: &'a Store,
    blobs: &'a Blobs,
    archive: Archive,
    /// What the first pass verified.
    aside: ScratchDatabase,
    owner: UserId,
    put: BTreeSet<Digest>,
}

impl Importer<'_> {
    fn run(mut self, manifest: &Manifest, watch: ProgressWatch<'_>) -> Result<ImportResult, StoreError> {
        let mut facts = self.archive.clone();
        let mut lines = facts.lines(ITEMS, manifest.items)?;
        let mut imported = ImportResult { owner: manifest.owner, added: 0, skipped: 0, blobs: 0 };
        while let Some(items) = next_batch(&mut lines, manifest.owner)? {
            let total = items.len() as u64;
            let added = self.add(items)?;
            imported.added += added;
            imported.skipped += total - added;
            tell(watch, "importing", imported.added + imported.skipped, manifest.items.lines)?;
        }
        imported.blobs = self.put.len() as u64;
        Ok(imported)
    }

    /// Adds what is new of some items; says how many that were.
    fn add(&mut self, mut items: Vec<Item>) -> Result<u64, StoreError> {
        let (names, owner) = (leaves(&items), self.owner);
        let missing = self.store.read_blocking(move |tx| tx.missing(owner, &names))?;
        items.retain(|item| missing.contains(&item.header.id));
        if items.is_empty() {
            return Ok(0);
        }
        let mut kept = Vec::new();
        for item in &items {
            self.refuse_unverified(item.header.id, item.hash)?;
            kept.extend(self.put_attached(item)?);
        }
        let weight = items.iter().filter_map(|item| item.payload.as_ref()).map(|payload| payload.bytes().len()).sum();
        let add = move |tx: &mut Tx<'_>| {
            kept.iter().try_for_each(|(hash, before)| tx.refuse_removed(*hash, *before))?;
            tx.add_missing(owner, &items)
        };
        Ok(self.store.write_later(add, weight, Urgency::Interactive)?.value)
    }

    /// The file is read twice; only what was verified the first time counts.
    fn refuse_unverified(&mut self, id: ItemId, hash: Digest) -> Result<(), StoreError> {
        let verified = self.aside.item(id)?.map(|found| found.item.hash);
        if verified == Some(hash) { Ok(()) } else { Err(altered(ITEMS, "it changed while it was imported")) }
    }

    /// Keeps the object that an item attaches; gives how often it had been removed before.
    fn put_attached(&mut self, item: &Item) -> Result<Option<(Digest, Removals)>, StoreError> {
        // An object that was lost before the export is attached all the same: that it was there is a fact.
        let hash = attached(item).filter(|hash| self.archive.has_blob(*hash) && !self.put.contains(hash));
        let Some(hash) = hash else { return Ok(None) };
        let before = self.store.read_blocking(move |tx| tx.blob_removals(hash))?;
        let mut incoming = self.blobs.begin()?;
        self.archive.copy_blob(hash, &mut incoming)?;
        let mut staged = incoming.finish()?;
        self.blobs.block_on(async |blobs| blobs.keep(&mut staged, "").await)?;
        self.put.insert(hash);
        Ok(Some((hash, before)))
    }
}

impl Tx<'_> {
    /// Appends those of some complete items that are not here yet.
    fn add_missing(&mut self, owner: UserId, items: &[Item]) -> Result<u64, StoreError> {
        let missing = self.missing(owner, &leaves(items))?;
        let new: Vec<Item> = items.iter().filter(|item| missing.contains(&item.header.id)).cloned().collect();
        let cursors = self.insert_items(&new)?;
        for (item, cursor) in new.iter().zip(cursors) {
            self.refuse_change_meanwhile(owner, item)?;
            self.project(item, cursor).map_err(|error| about_live(item.header.id, error))?;
            self.reached(cursor, item.header.id);
        }
        for item in new.iter().filter(|item| item.header.item_type == ItemType::NODE) {
            self.correct_node(NodeId::from_bytes(*item.header.id.as_bytes()))?;
        }
        Ok(new.len() as u64)
    }

    /// The owner goes on working while their bundle is taken in, and may change a record that was still the same on both
    /// sides when the bundle was checked.
    fn refuse_change_meanwhile(&mut self, owner: UserId, item: &Item) -> Result<(), StoreError> {
        let Some(delta) = admission::delta_of(item) else { return Ok(()) };
        self.refuse_divergence(owner, item.header.id, delta.record, delta.parent).map_err(|error| match error {
            StoreError::Bundle(BadBundle::Diverged { item, record }) => {
                BadBundle::ChangedMeanwhile { item, record }.into()
            }
            other => other,
        })
    }
}
