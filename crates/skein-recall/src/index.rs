//! The index of a data directory: one folder per owner, one cursor over all.
//!
//! A batch is committed owner by owner, then the cursor is moved. A process that dies in between leaves a cursor that is
//! too old, never one that is too new; the batch comes again and changes nothing where it is there already.

mod missing_vectors;
mod owner_cache;
mod purge;
mod reindex;

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use skein_core::garden::cursor::Cursor;
use skein_core::tree::actor::ActorId;
use skein_core::{EpisodeId, UserId};

use crate::embedder::{Embedder, Fingerprint};
use crate::episode::Change;
use crate::error::{ApplyError, Damage, OpenError, SearchError};
use crate::owner::{EpisodeKey, OwnerCounts, OwnerIndex, VectorMake};
use crate::query::{Hits, Query};
use owner_cache::OwnerCache;
pub use owner_cache::Totals;
pub use reindex::Reindexing;

/// Changes with every change of the files that older code could not read.
const FORMAT: u32 = 3;
/// An owner's rows are written anew when more than this part of them is dead, and at least [`DEAD_ROWS_MIN`] are.
const DEAD_PART_MAX: f64 = 0.25;
const DEAD_ROWS_MIN: u32 = 1_000;
/// Owners whose writers stay open between batches; each has a thread and up to 64 MiB.
const WRITERS_MAX: usize = 4;
/// Owners that are open at once: each has its columns in memory and a few dozen memory maps, of which a process has 65,530.
const OWNERS_OPEN_MAX: usize = 256;
/// Owners that are opened with the index, so that damage is mostly told there and not to somebody who asks.
const OWNERS_OPENED_AT_ONCE: usize = 16;
/// Episodes written at once while compacting.
const COMPACT_BATCH: usize = 10_000;

/// How an index is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub fingerprint: Fingerprint,
    pub dimensions: usize,
    /// Owners that are open at once; the least recently used is closed.
    pub owners_open_max: usize,
}

impl Options {
    pub fn new(fingerprint: Fingerprint, dimensions: usize) -> Self {
        Self { fingerprint, dimensions, owners_open_max: OWNERS_OPEN_MAX }
    }

    pub fn of(embedder: &dyn Embedder) -> Self {
        Self::new(embedder.fingerprint(), embedder.dimensions())
    }
}

/// What `index.json` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Manifest {
    format: u32,
    fingerprint: String,
    dimensions: usize,
    cursor: Cursor,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    retelling: Vec<Reindexing>,
}

/// How far an index has come.
#[derive(Debug, Clone, Default)]
struct IndexProgress {
    cursor: Cursor,
    /// Whose sayings are told anew, in this order.
    retelling: Vec<Reindexing>,
}

/// An open index. All methods may be called from any thread; one batch is applied at a time.
pub struct Index {
    folder: PathBuf,
    make: VectorMake,
    /// Held by a writer for as long as it writes; a search never waits for it.
    writing: Mutex<()>,
    reached: Mutex<IndexProgress>,
    owner_cache: OwnerCache,
    /// Who was written to last, the latest at the end.
    written: Mutex<Vec<UserId>>,
    /// Held as long as the index is open.
    _lock: File,
}

/// How far an index is and what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexStatus {
    pub cursor: Cursor,
    pub fingerprint: Fingerprint,
    pub owners: Vec<OwnerStatus>,
}

/// What is held of one owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerStatus {
    pub owner: UserId,
    pub episodes: u32,
    /// Of these, how many have a vector.
    pub with_vector: u32,
    /// Rows that wait for compaction.
    pub dead: u32,
}

impl Index {
    /// Opens the index in a folder, or makes an empty one where there is none. A few owners are opened with it, all others when
    /// somebody needs them.
    pub fn open(folder: &Path, options: &Options) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Io { path: folder.to_owned(), source };
        Self::finish_removal(folder)?;
        let (is_new, owners) = (!folder.join(MANIFEST).exists(), folder.join("owners"));
        if !is_new && !owners.is_dir() {
            return Err(OpenError::Damaged { path: owners, damage: Damage::Missing });
        }
        std::fs::create_dir_all(&owners).map_err(failed)?;
        let lock = File::create(folder.join("lock")).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::Busy { path: folder.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let make = VectorMake { fingerprint: options.fingerprint.clone(), dimensions: options.dimensions };
        let reached = read_manifest(folder, &make)?;
        let owner_cache = OwnerCache::new(options.owners_open_max);
        for entry in std::fs::read_dir(owners).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.ends_with(UNFINISHED) {
                std::fs::remove_dir_all(&path).map_err(failed)?;
                continue;
            }
            match UserId::from_bare(name) {
                Ok(owner) => owner_cache.know(owner, OwnerCounts::committed(&OwnerIndex::committed(&current(&path)?)?)),
                Err(_) => return Err(OpenError::Damaged { path, damage: Damage::Disagree("nobody's folder") }),
            }
        }
        let index = Self {
            folder: folder.to_owned(),
            make,
            writing: Mutex::default(),
            reached: Mutex::new(reached.clone()),
            owner_cache,
            written: Mutex::default(),
            _lock: lock,
        };
        for (owner, _) in index.owner_cache.all().into_iter().take(OWNERS_OPENED_AT_ONCE.min(options.owners_open_max)) {
            index.owner(owner)?;
        }
        if is_new {
            index.write_manifest(&reached).map_err(failed)?;
        }
        Ok(index)
    }

    /// Removes an index that is not open, whatever state it is in, so that it can be built again.
    pub fn remove(folder: &Path) -> Result<(), OpenError> {
        let failed = |source| OpenError::Io { path: folder.to_owned(), source };
        Self::finish_removal(folder)?;
        // Under its name is all of an index or nothing: half of one, with the cursor of the whole, would look complete.
        match std::fs::rename(folder, leaving(folder)) {
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            renamed => renamed.map_err(failed)?,
        }
        folder.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all()).map_err(failed)?;
        Self::finish_removal(folder)
    }

    /// Deletes what a removal put aside, also one whose process was killed.
    pub fn finish_removal(folder: &Path) -> Result<(), OpenError> {
        let path = leaving(folder);
        match std::fs::remove_dir_all(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(OpenError::Io { path, source }),
            _ => Ok(()),
        }
    }

    /// How an index that is there has to be opened; `None` where there is none, or none that can be read.
    pub fn options(folder: &Path) -> Option<Options> {
        let manifest: Manifest = serde_json::from_slice(&std::fs::read(folder.join(MANIFEST)).ok()?).ok()?;
        let Manifest { fingerprint, dimensions, .. } = manifest;
        Some(Options::new(Fingerprint::new(&fingerprint), dimensions))
    }

    /// Whose vectors it holds.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.make.fingerprint
    }

    pub fn dimensions(&self) -> usize {
        self.make.dimensions
    }

    /// Whether nobody ever said anything that it holds.
    pub fn is_empty(&self) -> bool {
        self.owner_cache.is_empty()
    }

    /// Everything up to here is in the index.
    pub fn cursor(&self) -> Cursor {
        self.reached().cursor
    }

    fn reached(&self) -> MutexGuard<'_, IndexProgress> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies a batch in order and moves the cursor; durable when it returns. The same batch may be applied again.
    pub fn apply(&self, changes: &[Change], cursor: Cursor) -> Result<(), ApplyError> {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let reached = self.cursor();
        if cursor < reached {
            return Err(ApplyError::CursorBack { reached, wanted: cursor });
        }
        let mut by_owner: HashMap<UserId, Vec<&Change>> = HashMap::new();
        for change in changes {
            by_owner.entry(change.owner()).or_default().push(change);
        }
        for (owner, changes) in by_owner {
            self.apply_to(owner, &changes, cursor)?;
        }
        if cursor > reached {
            self.reach(|reached| reached.cursor = cursor)?;
        }
        Ok(())
    }

    /// Writes the progress to disk; the caller holds `writing`.
    fn reach(&self, change: impl FnOnce(&mut IndexProgress)) -> Result<(), ApplyError> {
        let mut reached = self.reached().clone();
        change(&mut reached);
        self.write_manifest(&reached).map_err(ApplyError::Write)?;
        *self.reached() = reached;
        Ok(())
    }

    fn apply_to(&self, owner: UserId, changes: &[&Change], cursor: Cursor) -> Result<(), ApplyError> {
        let only_deletes = changes.iter().all(|change| matches!(change, Change::Delete { .. }));
        let index = match self.owner(owner)? {
            Some(index) => index,
            None if only_deletes => return Ok(()),
            None => self.create_owner(owner)?,
        };
        let applied = index.apply(changes, cursor);
        if matches!(applied, Err(ApplyError::Write(_) | ApplyError::Words(_) | ApplyError::Open(_))) {
            self.reopen(owner)?;
        }
        applied?;
        self.rest_others(owner)?;
        let figures = index.figures();
        self.owner_cache.know(owner, figures);
        let dead = figures.dead();
        if dead >= DEAD_ROWS_MIN && f64::from(dead) > f64::from(figures.rows) * DEAD_PART_MAX {
            self.compact_owner(owner, &index)?;
        }
        Ok(())
    }

    /// The best episodes for a question.
    pub fn search(&self, query: &Query) -> Result<Hits, SearchError> {
        let cursor = self.cursor();
        match self.owner(query.owner)? {
            Some(index) => index.search(query).map(|hits| Hits { cursor, ..hits }),
            None => Ok(Hits { cursor, ..Hits::default() }),
        }
    }

    /// What resembles an episode; text and vector of the query are replaced by the episode's own.
    pub fn similar(&self, id: EpisodeId, query: &Query) -> Result<Hits, SearchError> {
        let cursor = self.cursor();
        let index = self.owner(query.owner)?.ok_or(SearchError::Unknown(id))?;
        index.similar(id, query).map(|hits| Hits { cursor, ..hits })
    }

    /// By what each of these episodes of an owner can be found; `None` for one that is not in the index.
    pub fn held(&self, owner: UserId, ids: &[EpisodeId]) -> Result<Vec<Option<EpisodeKey>>, OpenError> {
        Ok(self.owner(owner)?.map_or_else(|| vec![None; ids.len()], |index| index.held(ids)))
    }

    /// Whether all that an actor said is filed under this name.
    pub fn is_named(&self, owner: UserId, actor: ActorId, name: &str) -> Result<bool, OpenError> {
        Ok(self.owner(owner)?.is_none_or(|index| index.is_named(actor, name)))
    }

    /// What is held of all owners together.
    pub fn totals(&self) -> Totals {
        self.owner_cache.totals()
    }

    /// The size of its files, each of which is looked at.
    pub fn bytes(&self) -> u64 {
        bytes_under(&self.folder)
    }

    pub fn status(&self) -> IndexStatus {
        let all = self.owner_cache.all().into_iter().map(|(owner, figures)| {
            let (episodes, with_vector) = (figures.counts.living, figures.counts.vectors);
            OwnerStatus { owner, episodes, with_vector, dead: figures.dead() }
        });
        let mut owners: Vec<OwnerStatus> = all.collect();
        owners.sort_by_key(|status| status.owner);
        IndexStatus { cursor: self.cursor(), fingerprint: self.make.fingerprint.clone(), owners }
    }

    /// Writes every owner with dead rows anew without them, and merges the words of all.
    pub fn compact(&self) -> Result<(), ApplyError> {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        for (owner, _) in self.owner_cache.all() {
            let Some(index) = self.owner(owner)? else { continue };
            if index.figures().dead() > 0 { self.compact_owner(owner, &index)? } else { index.merge()? }
        }
        Ok(())
    }

    /// Finishes background work and gives back the memory of writing; the index stays usable.
    pub fn rest(&self) -> Result<(), ApplyError> {
        self.owner_cache.all_opened().iter().try_for_each(|index| index.rest())
    }

    /// Closes the writer of the owner that was written least recently.
    fn rest_others(&self, owner: UserId) -> Result<(), ApplyError> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.retain(|other| *other != owner);
        written.push(owner);
        if written.len() <= WRITERS_MAX {
            return Ok(());
        }
        let oldest = written.remove(0);
        self.owner_cache.opened(oldest).map_or(Ok(()), |index| index.rest())
    }

    fn compact_owner(&self, owner: UserId, index: &OwnerIndex) -> Result<(), ApplyError> {
        let home = self.home(owner);
        let before = current(&home)?;
        let after = next(&home, &before);
        let failed = |source| OpenError::Io { path: home.clone(), source };
        if after.exists() {
            std::fs::remove_dir_all(&after).map_err(failed)?;
        }
        index.rest()?;
        let cursor = index.figures().cursor;
        let fresh = OwnerIndex::create(&after, owner, &self.make)?;
        let mut waiting = Vec::new();
        index.living(|episode| {
            waiting.push(Change::Upsert(Box::new(episode)));
            if waiting.len() == COMPACT_BATCH {
                fresh.apply(&std::mem::take(&mut waiting).iter().collect::<Vec<_>>(), cursor)?;
            }
            Ok(())
        })?;
        fresh.apply(&waiting.iter().collect::<Vec<_>>(), cursor)?;
        fresh.merge()?;
        set_current(&home, &after).map_err(failed)?;
        self.owner_cache.put(owner, Arc::new(fresh));
        std::fs::remove_dir_all(&before).map_err(failed)?;
        Ok(())
    }

    fn owner(&self, owner: UserId) -> Result<Option<Arc<OwnerIndex>>, OpenError> {
        self.owner_cache.get(owner, || OwnerIndex::open(&current(&self.home(owner))?, owner, &self.make))
    }

    fn create_owner(&self, owner: UserId) -> Result<Arc<OwnerIndex>, OpenError> {
        let home = self.home(owner);
        let failed = |source| OpenError::Io { path: home.clone(), source };
        let aside = self.folder.join("owners").join(format!("{}{UNFINISHED}", owner.bare()));
        if aside.exists() {
            std::fs::remove_dir_all(&aside).map_err(failed)?;
        }
        drop(OwnerIndex::create(&aside.join(FIRST), owner, &self.make)?);
        set_current(&aside, &aside.join(FIRST)).map_err(failed)?;
        std::fs::rename(&aside, &home).map_err(failed)?;
        sync_folder(&self.folder.join("owners")).map_err(failed)?;
        self.owner_cache.know(owner, OwnerCounts::default());
        Ok(self.owner(owner)?.expect("it is known from now on"))
    }

    /// After a batch failed half-way: back to what was committed.
    fn reopen(&self, owner: UserId) -> Result<(), OpenError> {
        self.owner_cache.take(owner);
        self.owner(owner).map(drop)
    }

    fn home(&self, owner: UserId) -> PathBuf {
        self.folder.join("owners").join(owner.bare())
    }

    fn write_manifest(&self, reached: &IndexProgress) -> std::io::Result<()> {
        let manifest = Manifest {
            format: FORMAT,
            fingerprint: self.make.fingerprint.as_str().to_owned(),
            dimensions: self.make.dimensions,
            cursor: reached.cursor,
            retelling: reached.retelling.clone(),
        };
        let text = serde_json::to_string(&manifest).expect("numbers and text have a JSON form");
        write_whole(&self.folder.join(MANIFEST), text.as_bytes())
    }
}

/// How the folder of an owner ends that is being made; what a dying process left of it is nothing yet.
const UNFINISHED: &str = ".new";
const FIRST: &str = "1";
const MANIFEST: &str = "index.json";
const CURRENT: &str = "current";

/// Where an index is put to be deleted.
fn leaving(folder: &Path) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(".leaving");
    folder.with_file_name(name)
}

fn read_manifest(folder: &Path, make: &VectorMake) -> Result<IndexProgress, OpenError> {
    let path = folder.join(MANIFEST);
    let damaged = |damage| OpenError::Damaged { path: path.clone(), damage };
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let owners = folder.join("owners");
            let mut entries = std::fs::read_dir(&owners).map_err(|source| OpenError::Io { path: owners, source })?;
            return if entries.next().is_none() { Ok(IndexProgress::default()) } else { Err(damaged(Damage::Missing)) };
        }
        read => read.map_err(|_| damaged(Damage::Header))?,
    };
    let manifest: Manifest = serde_json::from_str(&text).map_err(|_| damaged(Damage::Header))?;
    if manifest.format != FORMAT {
        return Err(damaged(Damage::Header));
    }
    if manifest.fingerprint != make.fingerprint.as_str() || manifest.dimensions != make.dimensions {
        let found = Fingerprint::new(&manifest.fingerprint);
        return Err(OpenError::OtherEmbedder { wanted: make.fingerprint.clone(), found });
    }
    Ok(IndexProgress { cursor: manifest.cursor, retelling: manifest.retelling })
}

/// The folder an owner's index is in; what an unfinished compaction left beside it is removed.
fn current(home: &Path) -> Result<PathBuf, OpenError> {
    let failed = |source| OpenError::Io { path: home.to_owned(), source };
    let damaged = |damage| OpenError::Damaged { path: home.join(CURRENT), damage };
    let name = std::fs::read_to_string(home.join(CURRENT)).map_err(|_| damaged(Damage::Missing))?;
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(damaged(Damage::Header));
    }
    let folder = home.join(&name);
    for entry in std::fs::read_dir(home).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path != folder && path.is_dir() {
            std::fs::remove_dir_all(path).map_err(failed)?;
        }
    }
    Ok(folder)
}

fn next(home: &Path, before: &Path) -> PathBuf {
    let number = before.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse::<u64>().ok());
    home.join((number.unwrap_or(0) + 1).to_string())
}

fn set_current(home: &Path, folder: &Path) -> std::io::Result<()> {
    sync_folder(home)?;
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    write_whole(&home.join(CURRENT), name.as_bytes())
}

/// Replaces a file in one step, durably.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let aside = path.with_extension("new");
    std::fs::write(&aside, bytes)?;
    File::open(&aside)?.sync_all()?;
    std::fs::rename(&aside, path)?;
    path.parent().map_or(Ok(()), sync_folder)
}

fn sync_folder(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}

fn bytes_under(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_under(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
