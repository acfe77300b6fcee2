//! Telling an index anew what somebody said who is called otherwise now: page by page, and where it was left.

use std::sync::PoisonError;

use serde::{Deserialize, Serialize};
use skein_core::tree::actor::ActorId;
use skein_core::{EpisodeId, UserId};

use super::Index;
use crate::episode::Change;
use crate::error::ApplyError;

/// Somebody whose sayings are told anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reindexing {
    /// Whose memory they are in.
    pub owner: UserId,
    pub actor: ActorId,
    /// Everything up to this one was told.
    pub after: Option<EpisodeId>,
}

impl Index {
    /// Whose sayings are to be told anew next, and from where on.
    pub fn reindexing(&self) -> Option<Reindexing> {
        self.reached().retelling.first().copied()
    }

    /// Everything these said is to be told anew, from the beginning; durable when it returns.
    pub fn reindex(&self, renamed: &[(UserId, ActorId)]) -> Result<(), ApplyError> {
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.reach(|reached| {
            reached.retelling.retain(|told| !renamed.contains(&(told.owner, told.actor)));
            let begun = renamed.iter().map(|(owner, actor)| Reindexing { owner: *owner, actor: *actor, after: None });
            reached.retelling.extend(begun);
        })
    }

    /// Applies what somebody said, as it is told anew, and goes on after `last`; without one nothing is left to be told.
    pub fn apply_reindexed(
        &self,
        told: Reindexing,
        changes: &[Change],
        last: Option<EpisodeId>,
    ) -> Result<(), ApplyError> {
        self.apply(changes, self.cursor())?;
        let _one_at_a_time = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.reach(|reached| match last {
            Some(last) => {
                let of = |other: &&mut Reindexing| (other.owner, other.actor) == (told.owner, told.actor);
                reached.retelling.iter_mut().filter(of).for_each(|other| other.after = Some(last));
            }
            None => reached.retelling.retain(|other| (other.owner, other.actor) != (told.owner, told.actor)),
        })
    }
}
