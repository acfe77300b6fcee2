//! Rows of one owner that still have no vector.

use skein_core::EpisodeId;

use super::write::episode;
use super::{OwnerIndex, speaker};
use crate::episode::{Change, Episode};

impl OwnerIndex {
    pub(crate) fn waiting(&self, most: usize, is_passed_over: &dyn Fn(EpisodeId) -> bool) -> Vec<Episode> {
        let state = self.read();
        let lacking = state.columns.lacking.iter().filter(|row| !is_passed_over(state.columns.id_of(**row)));
        lacking.take(most).map(|row| episode(&state, *row, self.owner)).collect()
    }

    /// What gives episodes their vectors: only those that still say what the vectors were made of, and have none.
    pub(crate) fn fitting(&self, made: Vec<(Episode, Vec<f32>)>) -> Vec<Change> {
        let state = self.read();
        let fitting = made.into_iter().filter_map(|(made, vector)| {
            let row = state.columns.row_of(made.id).filter(|row| !state.columns.with_vector.has(*row))?;
            let kept = state.row(row);
            let is_same = speaker(&state.texts, &kept) == made.speaker && state.text(&kept) == made.text;
            is_same.then(|| Episode { vector: Some(vector), ..episode(&state, row, self.owner) })
        });
        fitting.map(|episode| Change::Upsert(Box::new(episode))).collect()
    }
}
