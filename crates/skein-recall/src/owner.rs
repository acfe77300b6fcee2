//! One owner's index: files that grow together and are committed at once.
//!
//! Rows, texts, vectors and burials are appended and made durable first; then the words are committed, and with them how
//! far the other files count. Whatever a dying process left behind that point is cut at opening. Questions are answered
//! from memory maps and columns while a batch is being written; only its last step keeps them waiting.

mod missing_vectors;
mod write;

use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};

use skein_core::garden::cursor::Cursor;
use skein_core::tree::actor::ActorId;
use skein_core::{EpisodeId, UserId};
use xxhash_rust::xxh64::xxh64;

use crate::append_file::{AppendFile, Kind, Mapped};
use crate::embedder::{Fingerprint, normalise};
use crate::error::{Damage, OpenError, SearchError};
use crate::lexical_index::{CommittedMeta, LexicalIndex, LexicalView};
use crate::query::{Hits, Query};
use crate::rows::{Columns, ROW_BYTES, Row};
use crate::search;
use crate::vectors::{VectorFiles, Vectors};
pub(crate) use write::OwnerCounts;

/// By what an episode can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpisodeKey {
    /// By its words: it has no vector.
    ByWords,
    /// By its words and by what it means.
    ByMeaning,
}

/// Which vectors an index holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VectorMake {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) dimensions: usize,
}

/// What questions read.
pub(crate) struct OwnerState {
    pub(crate) columns: Columns,
    pub(crate) words: LexicalView,
    pub(crate) vectors: Vectors,
    pub(crate) cursor: Cursor,
    rows: Mapped,
    texts: Mapped,
    pieces: Mapped,
}

impl OwnerState {
    pub(crate) fn row(&self, row: u32) -> Row {
        let at = row as usize * ROW_BYTES;
        Row::decode(&self.rows.bytes()[at..at + ROW_BYTES])
            .expect("every record was checked when it was read or written")
    }

    pub(crate) fn text(&self, row: &Row) -> &str {
        text(&self.texts, row)
    }

    /// The different word pieces of a row's text, two bytes each.
    pub(crate) fn pieces(&self, row: u32) -> &[u8] {
        let start = usize::try_from(self.columns.pieces_at[row as usize]).unwrap_or(usize::MAX);
        let end = start.saturating_add(usize::from(self.columns.pieces[row as usize]) * 2);
        self.pieces.bytes().get(start..end).unwrap_or_default()
    }
}

fn speaker<'a>(texts: &'a Mapped, row: &Row) -> &'a str {
    let start = usize::try_from(row.text_at).unwrap_or(usize::MAX);
    let bytes = texts.bytes().get(start..start.saturating_add(row.speaker_bytes as usize));
    std::str::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
}

fn text<'a>(texts: &'a Mapped, row: &Row) -> &'a str {
    let start = usize::try_from(row.text_at).unwrap_or(usize::MAX).saturating_add(row.speaker_bytes as usize);
    let bytes = texts.bytes().get(start..start.saturating_add(row.text_bytes as usize));
    std::str::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
}

struct Files {
    words: LexicalIndex,
    rows: AppendFile,
    texts: AppendFile,
    pieces: AppendFile,
    burials: AppendFile,
    vectors: VectorFiles,
    /// A batch failed half-way: the files must be opened again before the next.
    is_torn: bool,
}

/// One owner's index, open.
pub(crate) struct OwnerIndex {
    owner: UserId,
    make: VectorMake,
    files: Mutex<Files>,
    state: RwLock<OwnerState>,
}

fn kinds() -> [Kind; 4] {
    ["rows 1", "texts 1", "pieces 1", "burials 1"].map(|name| Kind { name, make: String::new() })
}

impl OwnerIndex {
    /// Makes an empty index in a folder that does not exist yet.
    pub(crate) fn create(folder: &Path, owner: UserId, make: &VectorMake) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Io { path: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let [rows, texts, pieces, burials] = kinds();
        let files = Files {
            rows: AppendFile::create(&folder.join("rows"), &rows)?,
            texts: AppendFile::create(&folder.join("texts"), &texts)?,
            pieces: AppendFile::create(&folder.join("pieces"), &pieces)?,
            burials: AppendFile::create(&folder.join("burials"), &burials)?,
            vectors: VectorFiles::create(folder, &make.fingerprint, make.dimensions)?,
            words: LexicalIndex::create(&folder.join("words"))?,
            is_torn: false,
        };
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Self::of(owner, make, files, &CommittedMeta::default(), folder)
    }

    /// What was committed, without opening anything.
    pub(crate) fn committed(folder: &Path) -> Result<CommittedMeta, OpenError> {
        LexicalIndex::committed(&folder.join("words"))
    }

    /// Opens what was committed and cuts the rest off.
    pub(crate) fn open(folder: &Path, owner: UserId, make: &VectorMake) -> Result<Self, OpenError> {
        let (words, committed) = LexicalIndex::open(&folder.join("words"))?;
        let [rows, texts, pieces, burials] = kinds();
        let row_bytes = u64::from(committed.rows) * ROW_BYTES as u64;
        let files = Files {
            rows: AppendFile::open(&folder.join("rows"), &rows, row_bytes)?,
            texts: AppendFile::open(&folder.join("texts"), &texts, committed.text_bytes)?,
            pieces: AppendFile::open(&folder.join("pieces"), &pieces, committed.piece_bytes)?,
            burials: AppendFile::open(&folder.join("burials"), &burials, committed.burials * 4)?,
            vectors: VectorFiles::open(folder, &make.fingerprint, make.dimensions, committed.rows)?,
            words,
            is_torn: false,
        };
        Self::of(owner, make, files, &committed, folder)
    }

    fn of(
        owner: UserId,
        make: &VectorMake,
        files: Files,
        committed: &CommittedMeta,
        folder: &Path,
    ) -> Result<Self, OpenError> {
        let damaged = |path: &str, damage| OpenError::Damaged { path: folder.join(path), damage };
        let (rows, texts, pieces) = (files.rows.map()?, files.texts.map()?, files.pieces.map()?);
        let mut columns = Columns::default();
        for (number, record) in (0..committed.rows).zip(rows.bytes().chunks_exact(ROW_BYTES)) {
            let row = Row::decode(record).ok_or_else(|| damaged("rows", Damage::Record { row: number }))?;
            columns.push(&row, || speaker(&texts, &row), || text(&texts, &row));
        }
        for burial in files.burials.map()?.bytes().chunks_exact(4) {
            let row = u32::from_le_bytes(burial.try_into().expect("chunks have four bytes"));
            if row >= committed.rows {
                return Err(damaged("burials", Damage::Record { row }));
            }
            columns.purge(row);
        }
        let words = files.words.view(&LexicalView::default());
        let words = words.map_err(|error| damaged("words", Damage::Words(error.to_string())))?;
        if words.documents() != committed.rows as usize {
            return Err(damaged("words", Damage::Disagree("the number of documents")));
        }
        let cursor = committed.cursor.parse().unwrap_or(Cursor::START);
        let state = OwnerState { columns, words, vectors: files.vectors.map()?, cursor, rows, texts, pieces };
        Ok(Self { owner, make: make.clone(), files: Mutex::new(files), state: RwLock::new(state) })
    }

    pub(crate) fn search(&self, query: &Query) -> Result<Hits, SearchError> {
        let mut query = query.clone();
        if let Some(vector) = &mut query.vector {
            if vector.len() != self.make.dimensions {
                return Err(SearchError::Dimensions { wanted: self.make.dimensions, found: vector.len() });
            }
            if !normalise(vector) {
                return Err(SearchError::NoDirection);
            }
        }
        search::search(&self.read(), &query, None)
    }

    /// What resembles an episode, asked with its own text and vector.
    pub(crate) fn similar(&self, id: EpisodeId, query: &Query) -> Result<Hits, SearchError> {
        let state = self.read();
        let row = state.columns.row_of(id).ok_or(SearchError::Unknown(id))?;
        let kept = state.row(row);
        let query = Query {
            text: state.text(&kept).to_owned(),
            vector: kept.has_vector.then(|| state.vectors.vector(row)),
            ..query.clone()
        };
        search::search(&state, &query, Some(row))
    }

    /// By what each of these can be found; `None` for one that is not here.
    pub(crate) fn held(&self, ids: &[EpisodeId]) -> Vec<Option<EpisodeKey>> {
        let state = self.read();
        let held = |id: &EpisodeId| {
            let row = state.columns.row_of(*id)?;
            Some(if state.columns.with_vector.has(row) { EpisodeKey::ByMeaning } else { EpisodeKey::ByWords })
        };
        ids.iter().map(held).collect()
    }

    pub(crate) fn is_named(&self, actor: ActorId, name: &str) -> bool {
        self.read().columns.is_named(actor, xxh64(name.as_bytes(), 0))
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, OwnerState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }
}
