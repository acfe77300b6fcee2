//! The two ways of finding: by word over the postings, by meaning over the vectors.

use crate::fusion::{inverse, spread};
use crate::rows::Columns;
use crate::vectors::{Asked, Vectors};
use crate::words::WordsView;
use crate::world::Bits;

/// BM25: how soon more of the same word stops counting, and how much long texts are discounted.
const K1: f32 = 0.9;
const B: f32 = 0.4;
/// Rows whose similarity tells how similar things are in general.
const SAMPLE_ROWS: usize = 4_096;

/// BM25 of every row in the world; zero for those without a word of the question.
pub(crate) struct WordLeg {
    scores: Vec<f32>,
    /// Rows with a score.
    pub(crate) touched: Vec<u32>,
    /// One over the standard deviation.
    pub(crate) unit: f32,
}

impl WordLeg {
    pub(crate) fn ask(
        words: &WordsView,
        columns: &Columns,
        world: &Bits,
        question: &[(String, u32)],
    ) -> std::io::Result<Self> {
        let count = world.count();
        let mean_terms = mean_terms(columns, world, count);
        let mut leg = Self { scores: vec![0.0; columns.count() as usize], touched: Vec::new(), unit: 0.0 };
        let mut found = Vec::new();
        for (term, times) in question {
            found.clear();
            words.postings(term, |row, often| {
                if world.has(row) {
                    found.push((row, often));
                }
            })?;
            let weight = rarity(count, found.len()) * (*times as f32);
            for (row, often) in &found {
                let score = &mut leg.scores[*row as usize];
                if *score == 0.0 {
                    leg.touched.push(*row);
                }
                let length = columns.terms[*row as usize] as f32 / mean_terms;
                let often = *often as f32;
                *score += weight * often * (1.0 + K1) / (often + K1 * (1.0 - B + B * length));
            }
        }
        leg.unit = inverse(spread(leg.touched.iter().map(|row| leg.scores[*row as usize]), count as usize));
        Ok(leg)
    }

    pub(crate) fn score(&self, row: u32) -> f32 {
        self.scores[row as usize] * self.unit
    }

    /// The best of `among`, at least `wanted` if there are.
    pub(crate) fn best(&self, among: &Bits, wanted: usize) -> Vec<u32> {
        let mut rows: Vec<u32> = self.touched.iter().copied().filter(|row| among.has(*row)).collect();
        if rows.len() > wanted {
            rows.select_nth_unstable_by(wanted, |a, b| self.scores[*b as usize].total_cmp(&self.scores[*a as usize]));
            rows.truncate(wanted);
        }
        rows
    }
}

fn mean_terms(columns: &Columns, world: &Bits, count: u32) -> f32 {
    let sum: u64 = world.iter().map(|row| u64::from(columns.terms[row as usize])).sum();
    (sum as f64 / f64::from(count.max(1))).max(1.0) as f32
}

fn rarity(count: u32, found: usize) -> f32 {
    let found = found as f64;
    (1.0 + (f64::from(count) - found + 0.5) / (found + 0.5)).ln() as f32
}

/// Cosines with the question.
pub(crate) struct MeaningLeg<'a> {
    vectors: &'a Vectors,
    columns: &'a Columns,
    pub(crate) asked: Asked,
    mean: f32,
    pub(crate) unit: f32,
}

impl<'a> MeaningLeg<'a> {
    pub(crate) fn ask(vectors: &'a Vectors, columns: &'a Columns, world: &Bits, vector: &[f32]) -> Self {
        let asked = vectors.asked(vector);
        let count = world.count() as usize;
        let step = count.div_ceil(SAMPLE_ROWS).max(1);
        let sample = world.iter().step_by(step).filter(|row| columns.with_vector.has(*row));
        let sample: Vec<f32> = sample.map(|row| vectors.similarity(&asked, row)).collect();
        let mean = sample.iter().sum::<f32>() / sample.len().max(1) as f32;
        let unit = inverse(spread(sample.iter().map(|number| number - mean), sample.len()));
        Self { vectors, columns, asked, mean, unit }
    }

    pub(crate) fn similarity(&self, row: u32) -> Option<f32> {
        self.columns.with_vector.has(row).then(|| self.vectors.similarity(&self.asked, row))
    }

    /// Without a vector a row is as similar as any.
    pub(crate) fn score(&self, row: u32) -> f32 {
        self.similarity(row).map_or(0.0, |similarity| (similarity - self.mean) * self.unit)
    }
}
