//! The built-in embedder: a table of one vector per word piece, and their weighted mean.
//!
//! The table is made by `scripts/static_table.py` from all-MiniLM-L6-v2 (see the notice beside the asset) and read in
//! place from the binary. It needs no file, no network and a few microseconds per text.

use std::sync::LazyLock;

use crate::embedder::{EmbedError, Embedder, Fingerprint, normalise};
use crate::wordpiece::WordPiece;

static ASSET: &[u8] = include_bytes!("../assets/static-table.bin");
const MAGIC: &[u8; 8] = b"SKTABLE1";
const HEADER_BYTES: usize = 16;
/// Pieces of one text that count; the rest of a longer one is left to the words.
const PIECES_MAX: usize = 512;

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

struct Table {
    /// Scale of the row times the weight of its piece, four little-endian bytes each.
    factors: &'static [u8],
    rows: &'static [u8],
    pieces: WordPiece,
}

impl Table {
    fn read(asset: &'static [u8]) -> Option<Self> {
        let (header, rest) = asset.split_at_checked(HEADER_BYTES)?;
        let number = |at: usize| Some(u32::from_le_bytes(header.get(at..at + 4)?.try_into().ok()?));
        let (count, dimensions) = (usize::try_from(number(8)?).ok()?, usize::try_from(number(12)?).ok()?);
        if header.get(..8)? != MAGIC || dimensions != StaticTable::DIMENSIONS {
            return None;
        }
        let (factors, rest) = rest.split_at_checked(count * 4)?;
        let (rows, vocabulary) = rest.split_at_checked(count * dimensions)?;
        let vocabulary = std::str::from_utf8(vocabulary).ok()?;
        (vocabulary.lines().count() == count).then(|| Self { factors, rows, pieces: WordPiece::new(vocabulary.lines()) })
    }

    fn weighted_sum(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; StaticTable::DIMENSIONS];
        for piece in self.pieces.pieces(text, PIECES_MAX) {
            let at = piece as usize;
            let factor = self.factors[at * 4..at * 4 + 4].try_into().map(f32::from_le_bytes);
            let factor = factor.expect("four bytes were taken");
            let row = &self.rows[at * StaticTable::DIMENSIONS..][..StaticTable::DIMENSIONS];
            for (total, number) in sum.iter_mut().zip(row) {
                *total += factor * f32::from(number.cast_signed());
            }
        }
        sum
    }
}
