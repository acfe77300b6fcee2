//! Reports the status of this server's index, and starts a rebuild.

use std::collections::HashMap;
use std::time::Instant;

use serde_json::{Map, Value, json};
use skein_core::account::Scope;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::event::EventName;
use skein_core::{UserId, Viewer};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::memory::SYSTEM;
use crate::memory::embedder_backoff::{EmbeddingFailure, SwitchProgress};
use crate::memory::follower::blocking;
use crate::request::{CommittedChange, Outcome, Request, referred};

/// Items that are counted when it is said how far behind an index is.
const BEHIND_MAX: usize = 100_000;
/// Owners that are told, those with most to do first.
const OWNERS_MAX: usize = 100;

/// How an index stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexState {
    /// How far it has come.
    pub cursor: Cursor,
    /// Where the timeline ends.
    pub end: Cursor,
    /// Items after the cursor, counted up to a hundred thousand.
    pub behind: usize,
    /// Whether everything there was when it was opened is in it: until then words are looked for in the store.
    pub has_caught_up: bool,
    /// Episodes it holds.
    pub episodes: u64,
    /// Of these, how many have a vector.
    pub with_vector: u64,
    /// Whether what somebody said is being filed under another name.
    pub is_retelling: bool,
    /// What makes its vectors.
    pub embedder: String,
    /// What is to make them, by the configuration.
    pub configured: String,
    /// Why none are made for now.
    pub failure: Option<EmbeddingFailure>,
    /// How far those of the configured embedder are made, while they do not serve yet.
    pub switching: Option<SwitchProgress>,
    /// Its size.
    pub bytes: u64,
    /// Whether somebody works on it in the background.
    pub is_followed: bool,
    /// Why whoever does came no further when last tried; it is tried again.
    pub stuck: Option<String>,
    /// How it stands with each owner, those with most to do first, at most a hundred.
    pub owners: Vec<OwnerState>,
}

/// What an index holds of one owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerState {
    /// Whose memory it is.
    pub owner: UserId,
    /// Episodes it holds.
    pub episodes: u64,
    /// Of these, how many have a vector.
    pub with_vector: u64,
    /// Things said or brought that it does not know yet, among the items that are counted.
    pub waiting: u64,
}

/// How an index is to be built again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rebuild {
    /// Whether the vectors that the configured embedder made are thrown away first: it is asked for all of them again.
    pub is_anew: bool,
}

/// An index that is being built again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebuilding {
    /// Where the timeline ended when that was asked for.
    pub end: Cursor,
}

impl Outcome for Rebuilding {
    fn reference(&self) -> Value {
        json!({ "end": self.end })
    }

    fn recall(_: &mut Tx<'_>, _: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        Ok(Self { end: referred(reference, "end")? })
    }
}

impl Engine {
    /// Begins the index anew; whoever follows the timeline, or the next to ask, builds it again.
    pub async fn forget_index(&self) -> Result<(), EngineError> {
        let Some(memory) = self.parts().memory.get() else { return Ok(()) };
        let _one_at_a_time = memory.stepping.lock().await;
        self.remove_index().await?;
        self.forget_next().await
    }

    /// [`Self::forget_index`] on request, for administrators; meanwhile words are looked for in the store. It is on record once
    /// it is done: whoever dies before leaves the request to be made again.
    pub async fn rebuild_index(
        &self,
        caller: &Caller,
        request: Request,
        rebuild: Rebuild,
    ) -> Result<CommittedChange<Rebuilding>, EngineError> {
        caller.require_admin()?;
        caller.require(Scope::Write)?;
        if self.parts().memory.get().is_none() {
            return Err(StoreError::Unavailable("nothing is remembered here".to_owned()).into());
        }
        match self.replay(caller, request).await {
            Err(EngineError::Store(StoreError::RequestInFlight)) => {}
            repeated => return repeated,
        }
        let end = self.parts().store.read(|tx| tx.end(&SYSTEM)).await?;
        if rebuild.is_anew {
            self.forget_vectors().await?;
        }
        self.forget_index().await?;
        let tell = move |tx: &mut Tx<'_>, viewer: &Viewer| {
            tx.tell_own(viewer, EventName::IndexRebuildRequested, None, Map::new())?;
            Ok(Rebuilding { end })
        };
        self.change(caller, request, "index.rebuild", tell).await
    }

    /// How the index stands, for administrators; `None` where there is none.
    pub async fn index_state(&self, caller: &Caller) -> Result<Option<IndexState>, EngineError> {
        caller.require_admin()?;
        let Some(memory) = self.parts().memory.get() else { return Ok(None) };
        let index = self.index(memory).await?;
        let cursor = memory.looked_at();
        let look = move |tx: &mut Tx<'_>| {
            let behind = tx.items_after(&SYSTEM, cursor, BEHIND_MAX)?;
            Ok((tx.end(&SYSTEM)?, behind, tx.waiting_by_owner(&SYSTEM, cursor, BEHIND_MAX)?))
        };
        let (end, behind, waiting) = self.parts().store.read(look).await?;
        let (totals, is_retelling) = (index.totals(), index.reindexing().is_some());
        let (status, bytes) = blocking(move || (index.status(), index.bytes())).await?;
        let owners = owners(&status.owners, waiting);
        Ok(Some(IndexState {
            cursor,
            end,
            behind,
            has_caught_up: memory.has_caught_up(),
            episodes: totals.episodes,
            with_vector: totals.with_vector,
            is_retelling,
            embedder: status.fingerprint.as_str().to_owned(),
            configured: memory.embedding.fingerprint().as_str().to_owned(),
            failure: memory.troubles.failure(Instant::now()),
            // What serves already is switched to, though its old folder may still be on its way out.
            switching: memory.troubles.switching().filter(|switching| switching.to != status.fingerprint.as_str()),
            bytes,
            is_followed: memory.is_followed(),
            stuck: memory.stuck().clone(),
            owners,
        }))
    }
}

fn owners(held: &[skein_recall::OwnerStatus], mut waiting: HashMap<UserId, u64>) -> Vec<OwnerState> {
    let known = held.iter().map(|status| OwnerState {
        owner: status.owner,
        episodes: u64::from(status.episodes),
        with_vector: u64::from(status.with_vector),
        waiting: waiting.remove(&status.owner).unwrap_or(0),
    });
    let mut owners: Vec<OwnerState> = known.collect();
    owners.extend(waiting.into_iter().map(|(owner, waiting)| OwnerState {
        owner,
        episodes: 0,
        with_vector: 0,
        waiting,
    }));
    owners.sort_by_key(|state| (std::cmp::Reverse((state.waiting, state.episodes)), state.owner));
    owners.truncate(OWNERS_MAX);
    owners
}
