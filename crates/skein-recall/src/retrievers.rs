//! Scores episodes by three retrievers: words over the postings, likeness over the pieces, vectors over the
//! vectors.

use std::sync::{Mutex, PoisonError};

use crate::analysis;
use crate::fusion::Scale;
use crate::lexical_index::LexicalView;
use crate::rows::Columns;
use crate::static_table::Table;
use crate::vectors::{QueryVector, Vectors};
use crate::visible_rows::RowSet;

/// BM25: how soon more of the same word stops counting, and how much long texts are discounted.
const K1: f32 = 0.9;
const B: f32 = 0.4;
/// Sheets that are kept: as many as questions of one owner are usually asked at once.
const SHEETS_KEPT_MAX: usize = 2;
/// How many sketches are looked at for each vector that is wanted.
const SKETCHED: usize = 8;
/// Rows that tell how scores are spread in general.
const SAMPLE_ROWS: usize = 1_024;

/// What words are counted on: a score for every row, and the rows that have one.
#[derive(Debug, Default)]
pub(crate) struct ScoreSheet {
    scores: Vec<f32>,
    touched: Vec<u32>,
    /// Rows that have the word just looked for, and how often.
    found: Vec<(u32, u32)>,
}

/// Sheets without a score, kept between questions: new memory for a million rows costs more than wiping a few scores.
#[derive(Debug, Default)]
pub(crate) struct ScoreSheets(Mutex<Vec<ScoreSheet>>);

impl ScoreSheets {
    fn take(&self, rows: usize) -> ScoreSheet {
        let mut sheet = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        sheet.scores.resize(rows, 0.0);
        sheet
    }

    fn put_back(&self, mut sheet: ScoreSheet) {
        for row in sheet.touched.drain(..) {
            sheet.scores[row as usize] = 0.0;
        }
        let mut sheets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sheets.len() < SHEETS_KEPT_MAX {
            sheets.push(sheet);
        }
    }
}

/// BM25 of every row in the world; zero for those without a word of the question.
pub(crate) struct WordRetriever<'a> {
    sheets: &'a ScoreSheets,
    sheet: ScoreSheet,
    /// How rare each word of the question is here, in its order.
    pub(crate) rarities: Vec<f32>,
    scale: Scale,
}

impl Drop for WordRetriever<'_> {
    fn drop(&mut self) {
        self.sheets.put_back(std::mem::take(&mut self.sheet));
    }
}

impl<'a> WordRetriever<'a> {
    #[expect(clippy::cast_precision_loss, reason = "words are counted in texts of at most a mebibyte")]
    pub(crate) fn ask(
        words: &LexicalView,
        columns: &'a Columns,
        world: &RowSet,
        question: &[analysis::QueryTerm],
    ) -> std::io::Result<Self> {
        let count = world.count();
        let mean_terms = mean_terms(columns, world, count);
        let sheet = columns.sheets.take(columns.count() as usize);
        let mut retriever = Self { sheets: &columns.sheets, sheet, rarities: Vec::new(), scale: Scale::default() };
        for asked in question {
            let ScoreSheet { scores, touched, found } = &mut retriever.sheet;
            found.clear();
            words.postings(&asked.term, |row, often| {
                if world.has(row) {
                    found.push((row, often));
                }
            })?;
            add_forms(words, world, &asked.stems, found)?;
            let rarity = rarity(count, found.len());
            retriever.rarities.push(rarity);
            let weight = rarity * (asked.times as f32);
            for (row, often) in found {
                let score = &mut scores[*row as usize];
                if *score == 0.0 {
                    touched.push(*row);
                }
                let length = columns.terms.of(*row) as f32 / mean_terms;
                let often = *often as f32;
                *score += weight * often * (1.0 + K1) / (often + K1 * (1.0 - B + B * length));
            }
        }
        let scores = retriever.sheet.touched.iter().map(|row| retriever.sheet.scores[*row as usize]);
        retriever.scale = Scale::of(scores, count as usize);
        Ok(retriever)
    }

    /// Whether the row has any word of the question, in its text or in the name of who said it.
    pub(crate) fn has_any(&self, row: u32) -> bool {
        self.sheet.scores[row as usize] > 0.0
    }

    pub(crate) fn score(&self, row: u32) -> f32 {
        self.scale.apply(self.sheet.scores[row as usize])
    }

    /// The best of `among`, at least `wanted` if there are.
    pub(crate) fn best(&self, among: &RowSet, wanted: usize) -> Vec<u32> {
        let ScoreSheet { scores, touched, .. } = &self.sheet;
        let mut rows: Vec<u32> = touched.iter().copied().filter(|row| among.has(*row)).collect();
        if rows.len() > wanted {
            rows.select_nth_unstable_by(wanted, |a, b| scores[*b as usize].total_cmp(&scores[*a as usize]));
            rows.truncate(wanted);
        }
        rows
    }
}

/// Adds rows that have the word in another form of their own language. Each counts once, as often as the commonest form.
fn add_forms(
    words: &LexicalView,
    world: &RowSet,
    stems: &[String],
    found: &mut Vec<(u32, u32)>,
) -> std::io::Result<()> {
    let before = found.len();
    for stem in stems {
        words.postings(stem, |row, often| {
            if world.has(row) {
                found.push((row, often));
            }
        })?;
    }
    if found.len() > before {
        found.sort_unstable_by_key(|(row, often)| (*row, std::cmp::Reverse(*often)));
        found.dedup_by_key(|(row, _)| *row);
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a mean needs no more digits")]
fn mean_terms(columns: &Columns, world: &RowSet, count: u32) -> f32 {
    (world.sum(&columns.terms) as f64 / f64::from(count.max(1))).max(1.0) as f32
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a logarithm needs no more digits")]
fn rarity(count: u32, found: usize) -> f32 {
    let found = found as f64;
    (1.0 + (f64::from(count) - found + 0.5) / (found + 0.5)).ln() as f32
}

/// Evenly chosen rows of a world.
fn sample(world: &RowSet) -> Vec<u32> {
    world.every((world.count() as usize).div_ceil(SAMPLE_ROWS).max(1))
}

/// Cosines with the question.
pub(crate) struct VectorRetriever<'a> {
    vectors: &'a Vectors,
    columns: &'a Columns,
    asked: QueryVector,
    scale: Scale,
}

impl<'a> VectorRetriever<'a> {
    pub(crate) fn ask(vectors: &'a Vectors, columns: &'a Columns, world: &RowSet, vector: &[f32]) -> Self {
        let asked = vectors.asked(vector);
        let sampled = sample(world).into_iter().filter(|row| columns.with_vector.has(*row));
        let sampled: Vec<f32> = sampled.map(|row| vectors.similarity(&asked, row)).collect();
        let scale = Scale::of(sampled.iter().copied(), sampled.len());
        Self { vectors, columns, asked, scale }
    }

    pub(crate) fn similarity(&self, row: u32) -> Option<f32> {
        self.columns.with_vector.has(row).then(|| self.vectors.similarity(&self.asked, row))
    }

    /// The nearest of `among`, at least `wanted` if there are.
    pub(crate) fn nearest(&self, among: &RowSet, wanted: usize) -> Vec<u32> {
        let among = among.and(&self.columns.with_vector);
        let rows = self.vectors.candidates(&self.asked, &among, self.columns.count(), wanted * SKETCHED);
        let mut similar: Vec<(u32, f32)> =
            rows.into_iter().map(|row| (row, self.vectors.similarity(&self.asked, row))).collect();
        if similar.len() > wanted {
            similar.select_nth_unstable_by(wanted, |a, b| b.1.total_cmp(&a.1));
            similar.truncate(wanted);
        }
        similar.into_iter().map(|(row, _)| row).collect()
    }

    /// Without a vector a row is as similar as any.
    pub(crate) fn score(&self, similarity: Option<f32>) -> f32 {
        similarity.map_or(0.0, |similarity| self.scale.apply(similarity))
    }
}

/// For every piece of the question's words, how like the likest piece of a text is. Works with any embedder: pieces are
/// compared by the built-in table.
#[derive(Clone)]
pub(crate) struct LikenessRetriever {
    /// Pieces of the question, and what each counts.
    asked: Vec<(u16, f32)>,
    /// For pieces met so far, the place of their likenesses in `known`, plus one.
    place: Vec<u32>,
    /// One for every piece asked for, up to a whole number of lanes.
    known: Vec<[f32; LANES]>,
    scale: Scale,
}

impl LikenessRetriever {
    pub(crate) fn ask<'a>(asked: Vec<(u16, f32)>, world: &RowSet, pieces: impl Fn(u32) -> &'a [u8]) -> Self {
        let place = vec![0; Table::built_in().count()];
        let mut retriever = Self { asked, place, known: Vec::new(), scale: Scale::default() };
        if retriever.asked.is_empty() {
            return retriever;
        }
        let sampled: Vec<f32> = sample(world).into_iter().map(|row| retriever.raw(pieces(row))).collect();
        retriever.scale = Scale::of(sampled.iter().copied(), sampled.len());
        retriever
    }

    pub(crate) fn score(&mut self, pieces: &[u8]) -> f32 {
        let raw = self.raw(pieces);
        self.scale.apply(raw)
    }

    fn raw(&mut self, pieces: &[u8]) -> f32 {
        let mut best = [[0.0_f32; LANES]; ASKED_PIECES_MAX / LANES];
        for piece in pieces.chunks_exact(2) {
            let piece = u16::from_le_bytes([piece[0], piece[1]]);
            for (best, like) in best.iter_mut().zip(self.likenesses(piece)) {
                for lane in 0..LANES {
                    best[lane] = if like[lane] > best[lane] { like[lane] } else { best[lane] };
                }
            }
        }
        best.as_flattened().iter().zip(&self.asked).map(|(best, (_, weight))| weight * best * best).sum()
    }

    /// The likenesses of a piece with all pieces of the question.
    fn likenesses(&mut self, piece: u16) -> &[[f32; LANES]] {
        let Some(place) = self.place.get_mut(usize::from(piece)) else { return &[] };
        if *place == 0 {
            *place = u32::try_from(self.known.len()).unwrap_or(u32::MAX - 1) + 1;
            let table = Table::built_in();
            for asked in self.asked.chunks(LANES) {
                let mut like = [0.0; LANES];
                like.iter_mut().zip(asked).for_each(|(like, (asked, _))| *like = table.similarity(*asked, piece));
                self.known.push(like);
            }
        }
        &self.known[*place as usize - 1..][..self.asked.len().div_ceil(LANES)]
    }
}

/// Numbers that are compared at once.
const LANES: usize = 8;

/// Pieces of one question that are compared.
pub(crate) const ASKED_PIECES_MAX: usize = 64;

/// The pieces of a question's telling words, each weighted by how rare its word is here and how rare the piece is at all.
pub(crate) fn asked_pieces(question: &[analysis::QueryTerm], rarities: &[f32]) -> Vec<(u16, f32)> {
    let table = Table::built_in();
    let words = question.iter().zip(rarities);
    let pieces =
        words.flat_map(|(asked, rarity)| table.pieces(&asked.word).into_iter().map(move |piece| (piece, *rarity)));
    pieces.map(|(piece, rarity)| (piece, rarity * table.weight(piece))).take(ASKED_PIECES_MAX).collect()
}
