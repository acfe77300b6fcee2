//! Generates the notes that benchmarks write: about 400 bytes each, the same on both sides and in every pass.

use anyhow::Result;
use serde_json::{Map, Value};
use skein_core::garden::item::{ItemDraft, ItemType};
use skein_core::id::Entropy;
use skein_core::{ItemId, Millis, UserId, Viewer};

/// Whose notes they are.
pub(crate) const OWNER: UserId = UserId::from_bytes([7; 16]);
pub(crate) const VIEWER: Viewer = Viewer::User(OWNER);

/// With the braces and the name around it the median payload has 400 bytes.
const DESCRIPTION_BYTES: std::ops::Range<u64> = 182..583;
const WORDS: [&str; 16] = [
    "the",
    "garden",
    "remembers",
    "what",
    "was",
    "planted",
    "when",
    "rain",
    "came",
    "and",
    "who",
    "saw",
    "it",
    "grow",
    "before",
    "winter",
];

/// What a note says.
#[derive(Clone)]
pub(crate) struct Note(String);

impl Note {
    /// The note as an agent would state it.
    pub(crate) fn draft(&self, canonical_at: Option<Millis>) -> Result<ItemDraft> {
        let data = Map::from_iter([("description".to_owned(), Value::from(self.0.as_str()))]);
        Ok(ItemDraft::stated(ItemType::NOTE, data, canonical_at)?)
    }

    /// The bytes the store keeps of it.
    pub(crate) fn payload(&self) -> Vec<u8> {
        format!(r#"{{"description":"{}"}}"#, self.0).into_bytes()
    }

    /// The note as it is sent to `POST /api/v1/items`.
    pub(crate) fn body(&self) -> Vec<u8> {
        format!(r#"{{"_type":"Note","data":{{"description":"{}"}}}}"#, self.0).into_bytes()
    }
}

/// The first `count` notes, of which there are always the same.
pub(crate) fn notes(count: usize) -> Vec<Note> {
    Notes::default().take(count).collect()
}

/// All notes there are.
#[derive(Default)]
pub(crate) struct Notes(Random);

impl Iterator for Notes {
    type Item = Note;

    fn next(&mut self) -> Option<Note> {
        let span = DESCRIPTION_BYTES.end - DESCRIPTION_BYTES.start;
        let length = usize::try_from(DESCRIPTION_BYTES.start + self.0.below(span)).ok()?;
        let mut text = String::with_capacity(length + 16);
        while text.len() < length {
            text.push_str(WORDS[usize::try_from(self.0.below(WORDS.len() as u64)).ok()?]);
            text.push(' ');
        }
        text.truncate(length);
        Some(Note(text))
    }
}

/// Bits that look random and are the same in every run (splitmix64).
#[derive(Default)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Bits that differ from those of every other seed.
    pub(crate) fn seeded(seed: usize) -> Self {
        Self((seed as u64) << 32)
    }

    /// 128 bits for one request.
    pub(crate) fn next_key(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }

    /// An id such as the store makes: the time, then random bits.
    pub(crate) fn item_id(&mut self, now: Millis) -> ItemId {
        let mut entropy = [0; 10];
        entropy[..8].copy_from_slice(&self.next().to_be_bytes());
        entropy[8..].copy_from_slice(&self.next().to_be_bytes()[..2]);
        ItemId::new(now, Entropy(entropy))
    }
}

#[cfg(test)]
mod tests {
    use super::notes;

    #[test]
    fn the_median_payload_has_about_400_bytes() {
        let mut lengths: Vec<usize> = notes(10_001).iter().map(|note| note.payload().len()).collect();
        lengths.sort_unstable();
        assert!((390..=410).contains(&lengths[5_000]), "{}", lengths[5_000]);
    }

    #[test]
    fn both_sides_write_the_same_bytes() {
        for note in notes(10) {
            let (draft, payload) = (note.draft(None).unwrap(), note.payload());
            assert_eq!(draft.weight(), payload.len());
        }
    }
}
