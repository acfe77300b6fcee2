//! The index of a data directory: one folder per owner, one cursor over all.
//!
//! A batch is committed owner by owner, then the cursor is moved. A process that dies in between leaves a cursor that is
//! too old, never one that is too new; the batch comes again and changes nothing where it is there already.

mod bury;
mod fill;

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use skein_core::garden::cursor::Cursor;
use skein_core::tree::actor::ActorId;
use skein_core::{EpisodeId, UserId};

use crate::embedder::{Embedder, Fingerprint};
use crate::episode::Change;
use crate::error::{ApplyError, Damage, OpenError, SearchError};
use crate::owner::{Held, Make, OwnerIndex};
use crate::query::{Hits, Query};

/// Changes with every change of the files that older code could not read.
const FORMAT: u32 = 1;
/// An owner's rows are written anew when more than this part of them is dead, and at least [`DEAD_ROWS_MIN`] are.
const DEAD_PART_MAX: f64 = 0.25;
const DEAD_ROWS_MIN: u32 = 1_000;
/// Owners whose writers stay open between batches; each has a thread and up to 64 MiB.
const WRITERS_MAX: usize = 4;
/// Episodes written at once while compacting.
const COMPACT_BATCH: usize = 10_000;

/// How an index is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub fingerprint: Fingerprint,
    pub dimensions: usize,
}

impl Options {
    pub fn of(embedder: &dyn Embedder) -> Self {
        Self { fingerprint: embedder.fingerprint(), dimensions: embedder.dimensions() }
    }
}

/// What `index.json` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Manifest {
    format: u32,
    fingerprint: String,
    dimensions: usize,
    cursor: Cursor,
}

/// An open index. All methods may be called from any thread; one batch is applied at a time.
pub struct Index {
    folder: PathBuf,
    make: Make,
    /// Held by whoever writes, as long as that takes; whoever asks never waits for it.
    writing: Mutex<()>,
    cursor: Mutex<Cursor>,
    owners: RwLock<HashMap<UserId, Arc<OwnerIndex>>>,
    /// Who was written to last, the latest at the end.
    written: Mutex<Vec<UserId>>,
    /// Held as long as the index is open.
    _lock: File,
}

/// How far an index is and what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub cursor: Cursor,
    pub fingerprint: Fingerprint,
    pub owners: Vec<OwnerStatus>,
    pub bytes: u64,
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
    /// Opens the index in a folder, or makes an empty one where there is none. Every owner's files are looked at, so that
    /// damage is told here and not to somebody who asks.
    pub fn open(folder: &Path, options: &Options) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Io { path: folder.to_owned(), source };
        std::fs::create_dir_all(folder.join("owners")).map_err(failed)?;
        let lock = File::create(folder.join("lock")).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::Busy { path: folder.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let make = Make { fingerprint: options.fingerprint.clone(), dimensions: options.dimensions };
        let cursor = read_manifest(folder, &make)?;
        let mut owners = HashMap::new();
        for entry in std::fs::read_dir(folder.join("owners")).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.ends_with(UNFINISHED) {
                std::fs::remove_dir_all(&path).map_err(failed)?;
                continue;
            }
            match UserId::from_bare(name) {
                Ok(owner) => {
                    owners.insert(owner, Arc::new(OwnerIndex::open(&current(&path)?, owner, &make)?));
                }
                Err(_) => return Err(OpenError::Damaged { path, damage: Damage::Disagree("nobody's folder") }),
            }
        }
        let index = Self {
            folder: folder.to_owned(),
            make,
            writing: Mutex::default(),
            cursor: Mutex::new(cursor),
            owners: RwLock::new(owners),
            written: Mutex::default(),
            _lock: lock,
        };
        if !folder.join(MANIFEST).exists() {
            index.write_manifest(cursor).map_err(failed)?;
        }
        Ok(index)
    }

    /// Removes an index that is not open, whatever state it is in, so that it can be built again.
    pub fn remove(folder: &Path) -> Result<(), OpenError> {
        match std::fs::remove_dir_all(folder) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(OpenError::Io { path: folder.to_owned(), source })
            }
            _ => Ok(()),
        }
    }

    /// How an index that is there has to be opened; `None` where there is none, or none that can be read.
    pub fn options(folder: &Path) -> Option<Options> {
        let manifest: Manifest = serde_json::from_slice(&std::fs::read(folder.join(MANIFEST)).ok()?).ok()?;
        let Manifest { fingerprint, dimensions, .. } = manifest;
        Some(Options { fingerprint: Fingerprint::new(&fingerprint), dimensions })
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
        self.owners.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Everything up to here is in the index.
    pub fn cursor(&self) -> Cursor {
        *self.cursor.lock().unwrap_or_else(PoisonError::into_inner)
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
            self.write_manifest(cursor).map_err(ApplyError::Write)?;
            *self.cursor.lock().unwrap_or_else(PoisonError::into_inner) = cursor;
        }
        Ok(())
    }

    fn apply_to(&self, owner: UserId, changes: &[&Change], cursor: Cursor) -> Result<(), ApplyError> {
        let only_deletes = changes.iter().all(|change| matches!(change, Change::Delete { .. }));
        let index = match self.owner(owner) {
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
        let dead = figures.rows - figures.living;
        if dead >= DEAD_ROWS_MIN && f64::from(dead) > f64::from(figures.rows) * DEAD_PART_MAX {
            self.compact_owner(owner, &index)?;
        }
        Ok(())
    }

    /// The best episodes for a question.
    pub fn search(&self, query: &Query) -> Result<Hits, SearchError> {
        let cursor = self.cursor();
        match self.owner(query.owner) {
            Some(index) => index.search(query).map(|hits| Hits { cursor, ..hits }),
            None => Ok(Hits { hits: Vec::new(), cursor, visible: 0 }),
        }
    }

    /// What resembles an episode; text and vector of the query are replaced by the episode's own.
    pub fn similar(&self, id: EpisodeId, query: &Query) -> Result<Hits, SearchError> {
        let cursor = self.cursor();
        let index = self.owner(query.owner).ok_or(SearchError::Unknown(id))?;
        index.similar(id, query).map(|hits| Hits { cursor, ..hits })
    }

    /// By what each of these episodes of an owner can be found; `None` for one that is not in the index.
    pub fn held(&self, owner: UserId, ids: &[EpisodeId]) -> Vec<Option<Held>> {
        self.owner(owner).map_or_else(|| vec![None; ids.len()], |index| index.held(ids))
    }

    /// Whether all that an actor said is filed under this name.
    pub fn is_named(&self, owner: UserId, actor: ActorId, name: &str) -> bool {
        self.owner(owner).is_none_or(|index| index.is_named(actor, name))
    }

    pub fn status(&self) -> Status {
        let owners = self.owners.read().unwrap_or_else(PoisonError::into_inner);
        let mut owners: Vec<OwnerStatus> = owners
            .iter()
            .map(|(owner, index)| {
                let figures = index.figures();
                let dead = figures.rows - figures.living;
                OwnerStatus { owner: *owner, episodes: figures.living, with_vector: figures.vectors, dead }
            })
            .collect();
        owners.sort_by_key(|status| status.owner);
        let fingerprint = self.make.fingerprint.clone();
        Status { cursor: self.cursor(), fingerprint, owners, bytes: bytes_under(&self.folder) }
    }

    /// Writes every owner with dead rows anew without them, and merges the words of all.
    pub fn compact(&self) -> Result<(), ApplyError> {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let owners: Vec<_> = {
            let owners = self.owners.read().unwrap_or_else(PoisonError::into_inner);
            owners.iter().map(|(owner, index)| (*owner, index.clone())).collect()
        };
        for (owner, index) in owners {
            let figures = index.figures();
            if figures.rows > figures.living { self.compact_owner(owner, &index)? } else { index.merge()? }
        }
        Ok(())
    }

    /// Finishes background work and gives back the memory of writing; the index stays usable.
    pub fn rest(&self) -> Result<(), ApplyError> {
        let owners: Vec<_> = self.owners.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        owners.iter().try_for_each(|index| index.rest())
    }

    /// Closes the writer of whoever was not written to for longest.
    fn rest_others(&self, owner: UserId) -> Result<(), ApplyError> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.retain(|other| *other != owner);
        written.push(owner);
        if written.len() <= WRITERS_MAX {
            return Ok(());
        }
        let oldest = written.remove(0);
        self.owner(oldest).map_or(Ok(()), |index| index.rest())
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
        self.owners.write().unwrap_or_else(PoisonError::into_inner).insert(owner, Arc::new(fresh));
        std::fs::remove_dir_all(&before).map_err(failed)?;
        Ok(())
    }

    fn owner(&self, owner: UserId) -> Option<Arc<OwnerIndex>> {
        self.owners.read().unwrap_or_else(PoisonError::into_inner).get(&owner).cloned()
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
        let index = Arc::new(OwnerIndex::open(&home.join(FIRST), owner, &self.make)?);
        self.owners.write().unwrap_or_else(PoisonError::into_inner).insert(owner, index.clone());
        Ok(index)
    }

    /// After a batch failed half-way: back to what was committed.
    fn reopen(&self, owner: UserId) -> Result<(), OpenError> {
        let mut owners = self.owners.write().unwrap_or_else(PoisonError::into_inner);
        owners.remove(&owner);
        let index = OwnerIndex::open(&current(&self.home(owner))?, owner, &self.make)?;
        owners.insert(owner, Arc::new(index));
        Ok(())
    }

    fn home(&self, owner: UserId) -> PathBuf {
        self.folder.join("owners").join(owner.bare())
    }

    fn write_manifest(&self, cursor: Cursor) -> std::io::Result<()> {
        let manifest = Manifest {
            format: FORMAT,
            fingerprint: self.make.fingerprint.as_str().to_owned(),
            dimensions: self.make.dimensions,
            cursor,
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

fn read_manifest(folder: &Path, make: &Make) -> Result<Cursor, OpenError> {
    let path = folder.join(MANIFEST);
    let damaged = |damage| OpenError::Damaged { path: path.clone(), damage };
    let text = match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let owners = folder.join("owners");
            let mut entries = std::fs::read_dir(&owners).map_err(|source| OpenError::Io { path: owners, source })?;
            return if entries.next().is_none() { Ok(Cursor::START) } else { Err(damaged(Damage::Missing)) };
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
    Ok(manifest.cursor)
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
