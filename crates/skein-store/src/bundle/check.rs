//! The first pass of an import: the whole bundle is verified, and nothing is written.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use skein_core::garden::item::{Item, ItemType};
use skein_core::{Digest, ItemId, Millis, RecordId, UserId};

use super::archive::{Archive, Lines};
use super::json_lines::parse_item;
use super::lookup::Lookup;
use super::manifest::{Manifest, Part};
use super::scratch_database::{ReferenceCheck, ScratchDatabase};
use super::seal_check::SealCheck;
use super::{Authority, BLOBS, BadBundle, ITEMS, ProgressWatch, RECORDS, RELATIONS, SEALS, altered, tell};
use super::{admission, rules};
use crate::db::sql::{Value, params};
use crate::error::StoreError;
use crate::store::Store;
use crate::tx::Tx;

/// Items looked up or written together.
pub(crate) const ITEMS_PER_BATCH: usize = 200;
/// A batch ends when its payloads exceed this many bytes.
pub(crate) const BYTES_PER_BATCH: usize = 1 << 20;
/// How far the clocks of two stores may be apart, in milliseconds.
pub(crate) const CLOCK_SKEW_MS: i64 = 5 * 60 * 1_000;

/// Verifies a bundle against itself and against the store; gives its items, put aside.
pub(crate) fn check(
    archive: &Archive,
    manifest: &Manifest,
    store: &Store,
    authority: &Authority,
    watch: ProgressWatch<'_>,
) -> Result<ScratchDatabase, StoreError> {
    authority.refuse_stranger(manifest.owner)?;
    archive.clone().secrets(manifest)?;
    let (mut facts, mut evidence) = (archive.clone(), archive.clone());
    let mut seals = SealCheck::new(evidence.lines(SEALS, manifest.seals)?, manifest.owner);
    let mut lines = facts.lines(ITEMS, manifest.items)?;
    let mut aside = ScratchDatabase::new(ReferenceCheck::Checked)?;
    let (mut done, mut latest) = (0, Millis::MIN);
    while let Some(items) = next_batch(&mut lines, manifest.owner)? {
        let mut sealed_by = BTreeMap::new();
        for item in &items {
            sealed_by.extend(seals.meet(item)?.map(|seal| (item.header.id, seal)));
        }
        let lookup = Lookup::read(store, authority, &items, &sealed_by)?;
        for item in &items {
            let is_new = lookup.missing.contains(&item.header.id);
            if is_new {
                rules::check(authority, item, &mut aside, &lookup, latest)?;
            }
            admission::take(&mut aside, item)?;
            if is_new {
                authorise(authority, item, archive, &lookup)?;
            }
            latest = latest.max(item.header.realized_at);
        }
        done += items.len() as u64;
        refuse_divergence(&items, &lookup, store, &mut aside)?;
        tell(watch, "checking", done, manifest.items.lines)?;
    }
    seals.finish(manifest.head)?;
    if let Some(item) = aside.unexplained()? {
        let problem = "its payload is gone and no redaction says why".to_owned();
        return Err(BadBundle::Item { item, problem }.into());
    }
    compare(archive, RECORDS, manifest.records, |each| aside.each_record(each))?;
    compare(archive, RELATIONS, manifest.relations, |each| aside.each_relation(each))?;
    check_blobs(archive, manifest, &mut aside, watch)?;
    Ok(aside)
}

/// The next items of a bundle, each checked against its own hashes; `None` after the last.
pub(crate) fn next_batch<R: Read>(lines: &mut Lines<R>, owner: UserId) -> Result<Option<Vec<Item>>, StoreError> {
    let (mut items, mut bytes) = (Vec::new(), 0);
    while items.len() < ITEMS_PER_BATCH && bytes < BYTES_PER_BATCH {
        let Some(line) = lines.next()? else { break };
        let item = parse_item(&line).map_err(|problem| altered(lines.name(), problem))?;
        if item.header.owner != owner {
            return Err(altered(lines.name(), format!("{} is another owner's", item.header.id)));
        }
        bytes += item.payload.as_ref().map_or(0, |payload| payload.bytes().len());
        items.push(item);
    }
    Ok((!items.is_empty()).then_some(items))
}

/// Whether an item that is new here may come at all.
fn authorise(authority: &Authority, item: &Item, archive: &Archive, lookup: &Lookup) -> Result<(), StoreError> {
    admission::authorise(authority, item, lookup.sealed.contains(&item.header.id))?;
    refuse_future(item, lookup.now)?;
    if matches!(authority, Authority::Owner(_)) { refuse_unseen(archive, item) } else { Ok(()) }
}

/// What is new about a record continues the state that it has here.
fn refuse_divergence(
    items: &[Item],
    lookup: &Lookup,
    store: &Store,
    aside: &mut ScratchDatabase,
) -> Result<(), StoreError> {
    let Some(owner) = items.first().map(|item| item.header.owner) else { return Ok(()) };
    let mut continued = Vec::new();
    for item in items.iter().filter(|item| lookup.missing.contains(&item.header.id)) {
        if let Some(delta) = admission::delta_of(item)
            && aside.continues(delta.record)?
        {
            continued.push((item.header.id, delta.record, delta.parent));
        }
    }
    if continued.is_empty() {
        return Ok(());
    }
    store.read_blocking(move |tx| {
        continued.into_iter().try_for_each(|(item, record, parent)| tx.refuse_divergence(owner, item, record, parent))
    })
}

/// A store's clock goes on from the newest item; one from the future would stop it.
fn refuse_future(item: &Item, now: Millis) -> Result<(), StoreError> {
    let at = item.header.realized_at;
    if at <= now.plus(CLOCK_SKEW_MS) {
        return Ok(());
    }
    let problem = format!("it was recorded at {at}, and here it is {now}; compare the two clocks");
    Err(BadBundle::Item { item: item.header.id, problem }.into())
}

/// Who attaches an object has its bytes: knowing a hash opens nothing.
fn refuse_unseen(archive: &Archive, item: &Item) -> Result<(), StoreError> {
    match attached(item) {
        Some(hash) if !archive.has_blob(hash) => {
            let problem = format!("the object {hash} that it attaches is not in the bundle");
            Err(BadBundle::Item { item: item.header.id, problem }.into())
        }
        _ => Ok(()),
    }
}

/// The object an item attaches, if it does.
pub(crate) fn attached(item: &Item) -> Option<Digest> {
    let is_attachment = item.header.item_type == ItemType::BLOB_ATTACHED;
    item.document().filter(|_| is_attachment)?.get("hash")?.as_str()?.parse().ok()
}

pub(crate) fn leaves(items: &[Item]) -> Vec<(ItemId, Digest)> {
    items.iter().map(|item| (item.header.id, item.hash)).collect()
}

impl Tx<'_> {
    /// Which of an owner's items are not here. One that is here with another hash is refused; so is one whose id is
    /// another owner's, and nothing is told of that.
    pub(crate) fn missing(
        &mut self,
        owner: UserId,
        items: &[(ItemId, Digest)],
    ) -> Result<BTreeSet<ItemId>, StoreError> {
        // One statement for any number of items, so that it is prepared once.
        let places: Vec<String> = (1..=ITEMS_PER_BATCH).map(|number| format!("?{number}")).collect();
        let sql = format!("SELECT id, hash, owner FROM items WHERE id IN ({})", places.join(", "));
        let mut missing: BTreeSet<ItemId> = items.iter().map(|(id, _)| *id).collect();
        for chunk in items.chunks(ITEMS_PER_BATCH) {
            let hashes: BTreeMap<ItemId, Digest> = chunk.iter().copied().collect();
            let filler = chunk.iter().cycle().take(ITEMS_PER_BATCH);
            let bound: Vec<Value<'_>> = filler.map(|(id, _)| Value::from(id)).collect();
            let here = self.all(&sql, &bound, |row| {
                Ok((ItemId::from_bytes(row.array(0)?), Digest(row.array(1)?), UserId::from_bytes(row.array(2)?)))
            })?;
            for (item, here, held_by) in here {
                if held_by != owner {
                    return Err(BadBundle::Unusable { item }.into());
                }
                missing.remove(&item);
                if let Some(found) = hashes.get(&item).copied().filter(|found| *found != here) {
                    return Err(BadBundle::Differs { item, here, found }.into());
                }
            }
        }
        Ok(missing)
    }

    pub(crate) fn refuse_divergence(
        &mut self,
        owner: UserId,
        item: ItemId,
        record: RecordId,
        parent: Option<Digest>,
    ) -> Result<(), StoreError> {
        let here = self.first("SELECT hash, owner FROM records WHERE id = ?1", params![&record], |row| {
            Ok((Digest(row.array(0)?), UserId::from_bytes(row.array(1)?)))
        })?;
        match here {
            Some((_, held_by)) if held_by != owner => Err(BadBundle::Unusable { item }.into()),
            here if here.map(|(hash, _)| hash) == parent => Ok(()),
            _ => Err(BadBundle::Diverged { item, record }.into()),
        }
    }
}

/// Compares a part with the lines that follow from the items.
fn compare(
    archive: &Archive,
    name: &'static str,
    part: Part,
    each: impl FnOnce(&mut dyn FnMut(&str) -> Result<(), StoreError>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut archive = archive.clone();
    let mut lines = archive.lines(name, part)?;
    let differs = |number: u64| altered(name, format!("line {number} is not what the items amount to"));
    let mut number = 0;
    each(&mut |expected| {
        number += 1;
        if lines.next()?.as_deref() == Some(expected) { Ok(()) } else { Err(differs(number)) }
    })?;
    if lines.next()?.is_none() { Ok(()) } else { Err(differs(number + 1)) }
}

/// Every object that is attached is there with its hash and size, or known to be lost; no other is there.
fn check_blobs(
    archive: &Archive,
    manifest: &Manifest,
    aside: &mut ScratchDatabase,
    watch: ProgressWatch<'_>,
) -> Result<(), StoreError> {
    let mut archive = archive.clone();
    let mut strangers: BTreeSet<Digest> = archive.blobs().into_iter().collect();
    if strangers.len() as u64 != manifest.blobs {
        return Err(altered(BLOBS, format!("it holds {} objects, not {}", strangers.len(), manifest.blobs)));
    }
    let lost: BTreeSet<Digest> = manifest.lost_blobs.iter().copied().collect();
    let named = aside.named_blobs()?;
    let total = named.len() as u64;
    for (done, (hash, size)) in (1..).zip(named) {
        if archive.has_blob(hash) {
            let found = archive.copy_blob(hash, std::io::sink())?;
            if i64::try_from(found) != Ok(size) {
                return Err(altered(BLOBS, format!("{hash} has {found} bytes, not {size}")));
            }
        } else if !lost.contains(&hash) {
            return Err(altered(BLOBS, format!("{hash} is missing")));
        }
        strangers.remove(&hash);
        tell(watch, "blobs", done, total)?;
    }
    match strangers.first() {
        Some(stranger) => Err(BadBundle::UnknownEntry(format!("{BLOBS}{stranger}")).into()),
        None => Ok(()),
    }
}
