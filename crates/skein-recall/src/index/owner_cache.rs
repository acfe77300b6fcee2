//! Caches the owners of an index: figures for all of them, open files for a few.
//!
//! An owner is opened when somebody needs it; beyond a limit the least recently used is closed. What is in use is
//! never closed, because what is open twice could be cut by one while the other writes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skein_core::UserId;

use crate::error::OpenError;
use crate::owner::{OwnerCounts, OwnerIndex};

pub(super) struct OwnerCache {
    open_max: usize,
    places: Mutex<CachedOwners>,
}

#[derive(Default)]
struct CachedOwners {
    owners: HashMap<UserId, CachedOwner>,
    /// Those that are open, in the order they were last needed.
    open: BTreeMap<u64, UserId>,
    uses: u64,
    totals: Totals,
    /// Those who have something to be embedded.
    lacking: BTreeSet<UserId>,
}

/// What is held of all owners together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    pub episodes: u64,
    /// Of these, how many have a vector.
    pub with_vector: u64,
}

struct CachedOwner {
    figures: OwnerCounts,
    open: Option<(u64, Arc<OwnerIndex>)>,
    /// Held while it is opened or closed.
    gate: Arc<Mutex<()>>,
}

impl OwnerCache {
    pub(super) fn new(open_max: usize) -> Self {
        Self { open_max: open_max.max(1), places: Mutex::default() }
    }

    /// There is such an owner, and this was committed of it.
    pub(super) fn know(&self, owner: UserId, figures: OwnerCounts) {
        self.places().note(owner, figures);
    }

    /// Who is there, opened by `open` if it is not.
    pub(super) fn get(
        &self,
        owner: UserId,
        open: impl FnOnce() -> Result<OwnerIndex, OpenError>,
    ) -> Result<Option<Arc<OwnerIndex>>, OpenError> {
        if let Some(index) = self.opened(owner) {
            return Ok(Some(index));
        }
        let Some(gate) = self.places().owners.get(&owner).map(|place| Arc::clone(&place.gate)) else { return Ok(None) };
        let one_at_a_time = gate.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = self.opened(owner) {
            return Ok(Some(index));
        }
        let index = Arc::new(open()?);
        self.put(owner, Arc::clone(&index));
        drop(one_at_a_time);
        while self.close_one() {}
        Ok(Some(index))
    }

    /// Who is open, and needed once more.
    pub(super) fn opened(&self, owner: UserId) -> Option<Arc<OwnerIndex>> {
        let mut places = self.places();
        let index = places.owners.get(&owner)?.open.as_ref().map(|(_, index)| Arc::clone(index))?;
        places.open(owner, Arc::clone(&index));
        Some(index)
    }

    /// This is the owner's index from now on.
    pub(super) fn put(&self, owner: UserId, index: Arc<OwnerIndex>) {
        let figures = index.figures();
        let mut places = self.places();
        places.note(owner, figures);
        places.open(owner, index);
    }

    /// Drops an owner's index, even if it is in use.
    pub(super) fn take(&self, owner: UserId) {
        self.places().close(owner);
    }

    /// Those that are open.
    pub(super) fn all_opened(&self) -> Vec<Arc<OwnerIndex>> {
        let places = self.places();
        let open = places.open.values().filter_map(|owner| places.owners.get(owner)?.open.as_ref());
        open.map(|(_, index)| Arc::clone(index)).collect()
    }

    /// Everybody, with what is known of them.
    pub(super) fn all(&self) -> Vec<(UserId, OwnerCounts)> {
        self.places().owners.iter().map(|(owner, place)| (*owner, place.figures)).collect()
    }

    /// Those who have something to be embedded.
    pub(super) fn lacking(&self) -> Vec<UserId> {
        self.places().lacking.iter().copied().collect()
    }

    pub(super) fn totals(&self) -> Totals {
        self.places().totals
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places().owners.is_empty()
    }

    /// Closes the least recently used owner if too many are open; returns whether it did.
    fn close_one(&self) -> bool {
        let mut places = self.places();
        if places.open.len() <= self.open_max {
            return false;
        }
        let is_idle = |owner: &UserId| {
            let open = places.owners.get(owner).and_then(|place| place.open.as_ref());
            open.is_some_and(|(_, index)| Arc::strong_count(index) == 1)
        };
        let Some(owner) = places.open.values().copied().find(is_idle) else { return false };
        let Some(gate) = places.owners.get(&owner).map(|place| Arc::clone(&place.gate)) else { return false };
        let Ok(_held_until_it_is_closed) = gate.try_lock() else { return false };
        let closed = places.close(owner);
        drop(places);
        // What was committed is safe; segments that were not merged are merged when somebody writes again.
        let _ = closed.map(|index| index.rest());
        true
    }

    fn places(&self) -> MutexGuard<'_, CachedOwners> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedOwners {
    fn note(&mut self, owner: UserId, figures: OwnerCounts) {
        let place = self.owners.entry(owner).or_insert_with(|| CachedOwner {
            figures: OwnerCounts::default(),
            open: None,
            gate: Arc::default(),
        });
        let before = std::mem::replace(&mut place.figures, figures).counts;
        let after = figures.counts;
        self.totals.episodes = self.totals.episodes + u64::from(after.living) - u64::from(before.living);
        self.totals.with_vector = self.totals.with_vector + u64::from(after.vectors) - u64::from(before.vectors);
        if after.lacking > 0 {
            self.lacking.insert(owner);
        } else {
            self.lacking.remove(&owner);
        }
    }

    fn open(&mut self, owner: UserId, index: Arc<OwnerIndex>) {
        self.close(owner);
        self.uses += 1;
        self.open.insert(self.uses, owner);
        if let Some(place) = self.owners.get_mut(&owner) {
            place.open = Some((self.uses, index));
        }
    }

    fn close(&mut self, owner: UserId) -> Option<Arc<OwnerIndex>> {
        let (used, index) = self.owners.get_mut(&owner)?.open.take()?;
        self.open.remove(&used);
        Some(index)
    }
}
