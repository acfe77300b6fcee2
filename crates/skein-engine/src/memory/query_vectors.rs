//! The vectors of the last questions: whoever turns a page, asks again or asks from another place sends nothing.

use std::collections::VecDeque;

use skein_core::Digest;
use skein_recall::Index;

/// Questions that are remembered.
const QUESTIONS_MAX: usize = 128;

/// By what was asked of whom, the last at the front.
#[derive(Default)]
pub(super) struct QueryVectorCache(VecDeque<(Digest, Vec<f32>)>);

impl QueryVectorCache {
    pub(super) fn find(&mut self, index: &Index, text: &str) -> Option<Vec<f32>> {
        let key = key(index, text);
        let place = self.0.iter().position(|(other, _)| *other == key)?;
        let found = self.0.remove(place)?;
        let vector = found.1.clone();
        self.0.push_front(found);
        Some(vector)
    }

    pub(super) fn keep(&mut self, index: &Index, text: &str, vector: Vec<f32>) {
        self.0.push_front((key(index, text), vector));
        self.0.truncate(QUESTIONS_MAX);
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

fn key(index: &Index, text: &str) -> Digest {
    let of = format!("{} {}\n{text}", index.dimensions(), index.fingerprint().as_str());
    Digest::of(of.as_bytes())
}
