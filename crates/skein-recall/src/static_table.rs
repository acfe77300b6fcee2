//! The built-in embedder: a table of one vector per word piece, and their weighted mean.
//!
//! The table is made by `scripts/static_table.py` from all-MiniLM-L6-v2 (see the notice beside the asset) and read in
//! place from the binary. It needs no file, no network and a few microseconds per text.

use std::sync::LazyLock;

use crate::embedder::{EmbedError, Embedder, Fingerprint, normalise};
use crate::simd::product;
use crate::wordpiece::WordPiece;

static ASSET: &[u8] = include_bytes!("../assets/static-table.bin");
const MAGIC: &[u8; 8] = b"SKTABLE1";
const HEADER_BYTES: usize = 16;
/// Pieces of one text that count; the rest of a longer one is left to the words.
const PIECES_MAX: usize = 512;
/// Pieces are counted in 16 bits.
const PIECES_KNOWN_MAX: usize = 1 << 16;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(ASSET).expect("the asset was checked by a test"));

/// The table that is part of the binary.
#[derive(Debug, Clone, Copy, Default)]
pub struct StaticTable;

impl StaticTable {
    /// Changes whenever the asset or the way of cutting and weighing does.
    pub const NAME: &str = "skein-static-minilm-256-v1";
    pub const DIMENSIONS: usize = 256;

    /// `None` for a text without any known piece.
    pub fn vector(self, text: &str) -> Option<Vec<f32>> {
        let mut vector = TABLE.weighted_sum(text);
        normalise(&mut vector).then_some(vector)
    }
}

impl Embedder for StaticTable {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Self::NAME)
    }

    fn dimensions(&self) -> usize {
        Self::DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| TABLE.weighted_sum(text)).collect())
    }
}

/// The table, read in place.
pub(crate) struct Table {
    /// What one step of a row is worth, four little-endian bytes each.
    steps: &'static [u8],
    /// How much a piece counts: the rarer the more.
    weights: &'static [u8],
    rows: &'static [u8],
    /// One over the length of each row, in steps.
    lengths: Vec<f32>,
    pieces: WordPiece,
}

impl Table {
    pub(crate) fn built_in() -> &'static Self {
        &TABLE
    }

    fn read(asset: &'static [u8]) -> Option<Self> {
        let (header, rest) = asset.split_at_checked(HEADER_BYTES)?;
        let number = |at: usize| Some(u32::from_le_bytes(header.get(at..at + 4)?.try_into().ok()?));
        let (count, dimensions) = (usize::try_from(number(8)?).ok()?, usize::try_from(number(12)?).ok()?);
        if header.get(..8)? != MAGIC || dimensions != StaticTable::DIMENSIONS || count > PIECES_KNOWN_MAX {
            return None;
        }
        let (steps, rest) = rest.split_at_checked(count * 4)?;
        let (weights, rest) = rest.split_at_checked(count * 4)?;
        let (rows, vocabulary) = rest.split_at_checked(count * dimensions)?;
        let vocabulary = std::str::from_utf8(vocabulary).ok()?;
        #[expect(clippy::cast_precision_loss, reason = "256 squares of at most 2^14 are exact in a single")]
        let length = |row: &[u8]| {
            let squares: i32 = row.iter().map(|number| i32::from(number.cast_signed()).pow(2)).sum();
            1.0 / (squares.max(1) as f32).sqrt()
        };
        let lengths = rows.chunks_exact(dimensions).map(length).collect();
        let pieces = WordPiece::new(vocabulary.lines());
        (vocabulary.lines().count() == count).then_some(Self { steps, weights, rows, lengths, pieces })
    }

    /// Pieces in the table.
    pub(crate) fn count(&self) -> usize {
        self.lengths.len()
    }

    /// The pieces of a text, by their number.
    pub(crate) fn pieces(&self, text: &str) -> Vec<u16> {
        let pieces = self.pieces.pieces(text, PIECES_MAX).into_iter();
        pieces.map(|piece| u16::try_from(piece).expect("the table has no more pieces than 16 bits count")).collect()
    }

    pub(crate) fn weight(&self, piece: u16) -> f32 {
        number_at(self.weights, piece)
    }

    /// The cosine of two pieces.
    #[expect(clippy::cast_precision_loss, reason = "256 products of at most 2^14 are exact in a single")]
    pub(crate) fn similarity(&self, a: u16, b: u16) -> f32 {
        product(self.row(a), self.row(b)) as f32 * self.lengths[usize::from(a)] * self.lengths[usize::from(b)]
    }

    fn row(&self, piece: u16) -> &[u8] {
        &self.rows[usize::from(piece) * StaticTable::DIMENSIONS..][..StaticTable::DIMENSIONS]
    }

    fn weighted_sum(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; StaticTable::DIMENSIONS];
        for piece in self.pieces(text) {
            let factor = number_at(self.steps, piece) * self.weight(piece);
            for (total, number) in sum.iter_mut().zip(self.row(piece)) {
                *total += factor * f32::from(number.cast_signed());
            }
        }
        sum
    }
}

fn number_at(numbers: &[u8], piece: u16) -> f32 {
    let bytes = &numbers[usize::from(piece) * 4..][..4];
    f32::from_le_bytes(bytes.try_into().expect("four bytes were taken"))
}
