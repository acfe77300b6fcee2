//! Writes a batch into the index of one owner, and removes dead rows.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use skein_core::garden::cursor::Cursor;
use skein_core::{EpisodeId, Millis};

use super::{Files, OwnerIndex, OwnerState, speaker, text};
use crate::analysis::terms;
use crate::append_file::AppendFile;
use crate::episode::{Change, Episode, KIND_BYTES_MAX, SPEAKER_BYTES_MAX, TEXT_BYTES_MAX};
use crate::error::ApplyError;
use crate::language::Language;
use crate::lexical_index::CommittedMeta;
use crate::rows::{Counts, Row, content_of, is_lacking, kind_bytes};
use crate::static_table::Table;
use xxhash_rust::xxh64::xxh64;

/// What a batch comes to after looking at what is there.
#[derive(Default)]
struct Plan<'a> {
    written: Vec<(&'a Episode, u64)>,
    purged: Vec<u32>,
    /// What lives after it.
    counts: Counts,
}

impl OwnerIndex {
    /// Applies changes in order and commits them with the cursor. After an error nothing of them counts, and the owner's
    /// index has to be opened again.
    pub(crate) fn apply(&self, changes: &[&Change], cursor: Cursor) -> Result<(), ApplyError> {
        changes.iter().try_for_each(|change| self.check(change))?;
        let mut files = self.files();
        if files.is_torn {
            return Err(ApplyError::Write(std::io::Error::other("an earlier batch failed half-way")));
        }
        let plan = plan(changes, &self.read());
        if plan.written.is_empty() && plan.purged.is_empty() {
            return Ok(());
        }
        files.is_torn = true;
        let rows = files.write(&plan, cursor, self.read().columns.count())?;
        self.show(&files, &rows, &plan.purged, cursor)?;
        files.is_torn = false;
        Ok(())
    }

    fn check(&self, change: &Change) -> Result<(), ApplyError> {
        let Change::Upsert(episode) = change else { return Ok(()) };
        let id = episode.id;
        let lengths = [
            ("the text", episode.text.len(), TEXT_BYTES_MAX),
            ("the kind", episode.kind.len(), KIND_BYTES_MAX),
            ("the speaker", episode.speaker.len(), SPEAKER_BYTES_MAX),
        ];
        if let Some((what, _, most)) = lengths.into_iter().find(|(_, length, most)| length > most) {
            return Err(ApplyError::TooLong { id, what, most });
        }
        let Some(vector) = &episode.vector else { return Ok(()) };
        if vector.len() != self.make.dimensions {
            return Err(ApplyError::Dimensions { id, wanted: self.make.dimensions, found: vector.len() });
        }
        let length = vector.iter().map(|number| number * number).sum::<f32>();
        if length.is_finite() && length > 0.0 { Ok(()) } else { Err(ApplyError::NoDirection { id }) }
    }

    /// Lets questions see what was written.
    fn show(&self, files: &Files, rows: &[Row], purged: &[u32], cursor: Cursor) -> Result<(), ApplyError> {
        let words = files.words.view(&self.read().words).map_err(ApplyError::Words)?;
        let (mapped, texts, vectors) = (files.rows.map()?, files.texts.map()?, files.vectors.map()?);
        let pieces = files.pieces.map()?;
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        for row in rows {
            state.columns.push(row, || speaker(&texts, row), || text(&texts, row));
        }
        for row in purged {
            state.columns.purge(*row);
        }
        state.words = words;
        (state.rows, state.texts, state.pieces) = (mapped, texts, pieces);
        (state.vectors, state.cursor) = (vectors, cursor);
        Ok(())
    }

    /// Merges the words into one segment and gives memory and threads of writing back.
    pub(crate) fn merge(&self) -> Result<(), ApplyError> {
        let mut files = self.files();
        files.close();
        files.words.merge().map_err(ApplyError::Words)?;
        let words = files.words.view(&self.read().words).map_err(ApplyError::Words)?;
        self.state.write().unwrap_or_else(PoisonError::into_inner).words = words;
        Ok(())
    }

    /// Waits for what tantivy does in the background, and lets go of the files until somebody writes again.
    pub(crate) fn rest(&self) -> Result<(), ApplyError> {
        let mut files = self.files();
        files.close();
        files.words.rest().map_err(ApplyError::Words)
    }

    /// Everything that lives, in the order it came, as it was sent.
    pub(crate) fn living(&self, mut each: impl FnMut(Episode) -> Result<(), ApplyError>) -> Result<(), ApplyError> {
        let count = self.read().columns.count();
        for row in 0..count {
            let state = self.read();
            if !state.columns.alive.has(row) {
                continue;
            }
            let episode = episode(&state, row, self.owner);
            drop(state);
            each(episode)?;
        }
        Ok(())
    }

    pub(crate) fn figures(&self) -> OwnerCounts {
        let state = self.read();
        OwnerCounts { rows: state.columns.count(), counts: state.columns.counts, cursor: state.cursor }
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts of one owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OwnerCounts {
    pub(crate) rows: u32,
    pub(crate) counts: Counts,
    pub(crate) cursor: Cursor,
}

impl OwnerCounts {
    /// As they were committed.
    pub(crate) fn committed(committed: &CommittedMeta) -> Self {
        let cursor = committed.cursor.parse().unwrap_or(Cursor::START);
        Self { rows: committed.rows, counts: committed.counts, cursor }
    }

    pub(crate) fn dead(&self) -> u32 {
        self.rows - self.counts.living
    }
}

pub(super) fn episode(state: &OwnerState, row: u32, owner: skein_core::UserId) -> Episode {
    let kept = state.row(row);
    Episode {
        id: kept.id,
        owner,
        place: kept.place,
        previous: kept.previous,
        actor: kept.actor,
        speaker: speaker(&state.texts, &kept).to_owned(),
        kind: kept.kind().to_owned(),
        valid_at: kept.valid_at,
        created_at: kept.created_at,
        text: state.text(&kept).to_owned(),
        vector: kept.has_vector.then(|| state.vectors.vector(row)),
    }
}

/// Only the last change of each episode counts; what is there already is left alone.
fn plan<'a>(changes: &[&'a Change], state: &OwnerState) -> Plan<'a> {
    let mut last: HashMap<EpisodeId, usize> = HashMap::new();
    for (place, change) in changes.iter().enumerate() {
        last.insert(id_of(change), place);
    }
    let (mut plan, mut replaced) = (Plan::default(), Vec::new());
    let counting = changes.iter().enumerate().filter(|(place, change)| last[&id_of(change)] == *place);
    for (_, change) in counting {
        let there = state.columns.row_of(id_of(change));
        match change {
            Change::Delete { .. } => plan.purged.extend(there),
            Change::Upsert(episode) => {
                let content = content_of(episode);
                if there.is_none_or(|row| state.columns.content[row as usize] != content) {
                    plan.written.push((episode, content));
                    replaced.extend(there);
                }
            }
        }
    }
    plan.counts = state.columns.counts_without(plan.purged.iter().copied().chain(replaced));
    for (episode, _) in &plan.written {
        let has_vector = episode.vector.is_some();
        plan.counts.add(has_vector, is_lacking(has_vector, || &episode.text));
    }
    plan
}

fn id_of(change: &Change) -> EpisodeId {
    match change {
        Change::Upsert(episode) => episode.id,
        Change::Delete { id, .. } => *id,
    }
}

/// The bytes a batch adds to each file.
#[derive(Default)]
struct AddedBytes {
    texts: Vec<u8>,
    pieces: Vec<u8>,
    records: Vec<u8>,
}

impl Files {
    /// Everything durable, the words last: they say how much of the rest counts.
    fn write(&mut self, plan: &Plan<'_>, cursor: Cursor, first: u32) -> Result<Vec<Row>, ApplyError> {
        let mut rows = Vec::with_capacity(plan.written.len());
        let mut added = AddedBytes::default();
        for (number, (episode, content)) in (first..).zip(&plan.written) {
            let IndexedBatch { words, telling, language } = indexed(episode);
            let text_at = self.texts.length() + added.texts.len() as u64;
            let pieces_at = self.pieces.length() + added.pieces.len() as u64;
            let pieces = different_pieces(&episode.text);
            let row = Row { language, ..row(episode, (text_at, pieces_at), (telling, pieces.len()), *content) };
            added.texts.extend(episode.speaker.as_bytes());
            added.texts.extend(episode.text.as_bytes());
            added.pieces.extend(pieces.iter().flat_map(|piece| piece.to_le_bytes()));
            added.records.extend(row.encode());
            rows.push(row);
            self.words.add(number, words).map_err(ApplyError::Words)?;
        }
        self.append(plan, &added).map_err(ApplyError::Write)?;
        let committed = CommittedMeta {
            rows: first + u32::try_from(rows.len()).expect("a batch is counted in 32 bits"),
            text_bytes: self.texts.length(),
            piece_bytes: self.pieces.length(),
            burials: self.burials.length() / 4,
            counts: plan.counts,
            cursor: cursor.to_string(),
        };
        self.words.commit(&committed).map_err(ApplyError::Words)?;
        Ok(rows)
    }

    fn close(&mut self) {
        [&mut self.rows, &mut self.texts, &mut self.pieces, &mut self.burials].into_iter().for_each(AppendFile::rest);
        self.vectors.rest();
    }

    fn append(&mut self, plan: &Plan<'_>, added: &AddedBytes) -> std::io::Result<()> {
        if !plan.purged.is_empty() {
            let burials: Vec<u8> = plan.purged.iter().flat_map(|row| row.to_le_bytes()).collect();
            self.burials.append(&burials)?;
            self.burials.sync()?;
        }
        if plan.written.is_empty() {
            return Ok(());
        }
        let vectors: Vec<Option<&[f32]>> = plan.written.iter().map(|(episode, _)| episode.vector.as_deref()).collect();
        self.texts.append(&added.texts)?;
        self.pieces.append(&added.pieces)?;
        self.rows.append(&added.records)?;
        self.vectors.append(&vectors)?;
        self.texts.sync()?;
        self.pieces.sync()?;
        self.rows.sync()?;
        self.vectors.sync()
    }
}

/// The pieces of a text, each once, in order of their number.
fn different_pieces(text: &str) -> Vec<u16> {
    let mut pieces = Table::built_in().pieces(text);
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

fn row(episode: &Episode, (text_at, pieces_at): (u64, u64), (terms, pieces): (u32, usize), content: u64) -> Row {
    let bytes = |text: &str| u32::try_from(text.len()).expect("lengths were checked");
    Row {
        id: episode.id,
        place: episode.place,
        previous: episode.previous,
        actor: episode.actor,
        kind: kind_bytes(&episode.kind),
        valid_at: episode.valid_at,
        created_at: episode.created_at,
        text_at,
        speaker_bytes: bytes(&episode.speaker),
        text_bytes: bytes(&episode.text),
        terms,
        pieces_at,
        pieces: u16::try_from(pieces).expect("a text has at most 512 pieces"),
        speaker: xxh64(episode.speaker.as_bytes(), 0),
        language: None,
        has_vector: episode.vector.is_some(),
        content,
    }
}

/// What an episode is filed under.
struct IndexedBatch {
    words: Vec<String>,
    /// How many of the words tell something; stems are no further words.
    telling: u32,
    language: Option<Language>,
}

/// The terms of speaker, text and date, and the stems of the text in its own language.
fn indexed(episode: &Episode) -> IndexedBatch {
    let language = Language::of(&episode.text);
    let parts = [episode.speaker.as_str(), &episode.text, &date(episode.valid_at)].map(terms);
    let telling = parts.iter().flatten().filter(|term| !term.is_stop_word).count();
    let spoken = language.map(|language| (language, &parts[1]));
    let stems = spoken.into_iter().flat_map(|(language, terms)| {
        terms.iter().filter_map(move |term| language.stem(&episode.text[term.at.clone()]))
    });
    let stems: Vec<String> = stems.collect();
    let words = parts.into_iter().flatten().map(|term| term.text).chain(stems).collect();
    IndexedBatch { words, telling: u32::try_from(telling).unwrap_or(u32::MAX), language }
}

/// `8 May 2023`, as people ask for days.
fn date(moment: Millis) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let spelled = moment.to_string();
    let number = |range| spelled.get(range).and_then(|digits: &str| digits.parse::<usize>().ok());
    match (number(0..4), number(5..7), number(8..10)) {
        (Some(year), Some(month @ 1..=12), Some(day)) => format!("{day} {} {year}", MONTHS[month - 1]),
        _ => String::new(),
    }
}
