//! Adds the vectors of episodes that were indexed by their words first.

use std::collections::HashMap;
use std::sync::PoisonError;

use skein_core::{EpisodeId, UserId};

use super::Index;
use crate::episode::{Change, Episode};
use crate::error::{ApplyError, OpenError};

impl Index {
    /// Living episodes that say something and have no vector, at most so many, without those that are passed over.
    pub fn waiting(&self, most: usize, is_passed_over: impl Fn(EpisodeId) -> bool) -> Result<Vec<Episode>, OpenError> {
        let mut found = Vec::new();
        for owner in self.owner_cache.lacking() {
            if found.len() == most {
                break;
            }
            if let Some(index) = self.owner(owner)? {
                found.extend(index.waiting(most - found.len(), &is_passed_over));
            }
        }
        Ok(found)
    }

    /// Gives episodes that were [waiting](Self::waiting) their vectors, and says how many; durable when it returns. What was
    /// changed meanwhile, went, or has one already is left alone.
    pub fn fill(&self, made: Vec<(Episode, Vec<f32>)>) -> Result<usize, ApplyError> {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut by_owner: HashMap<UserId, Vec<(Episode, Vec<f32>)>> = HashMap::new();
        for (episode, vector) in made {
            by_owner.entry(episode.owner).or_default().push((episode, vector));
        }
        let mut filled = 0;
        for (owner, made) in by_owner {
            let Some(index) = self.owner(owner)? else { continue };
            let changes: Vec<Change> = index.fitting(made);
            filled += changes.len();
            self.apply_to(owner, &changes.iter().collect::<Vec<_>>(), index.figures().cursor)?;
        }
        Ok(filled)
    }
}
