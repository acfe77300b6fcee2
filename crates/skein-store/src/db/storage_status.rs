//! Reports a full disk and damage as reads and writes meet them: to the log, to administrators as an event, and to readiness.
//!
//! This is the only place that reports damage found while serving. The message of a problem may quote what is stored, so it goes
//! to the log alone; events and readiness say that there is damage, and how many places were found. What is damaged stays
//! reported until the process ends: `skein verify` names it, and mending it takes a restart.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError, Weak};

use serde_json::{Map, json};
use skein_core::account::Role;
use skein_core::garden::event::EventName;
use skein_core::{Millis, UserId, Viewer};

use crate::clock::{Clock as _, SystemClock};
use crate::db::sql::params;
use crate::error::StoreError;
use crate::store::{Inner, Store, Urgency};
use crate::tx::Tx;

/// Places that are told apart; later ones are taken for known.
const PLACES_MAX: usize = 1_000;
/// Rough size of the event, for the queue of writes.
const EVENT_WEIGHT: usize = 1 << 10;
const SYSTEM: Viewer = Viewer::System("damage");

/// What reads and writes have met since the store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StorageStatus {
    /// A write found no room, and none has been found since.
    pub is_full: bool,
    pub damage: Option<DamageStatus>,
}

/// Damage found while serving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DamageStatus {
    /// Different places that were found damaged.
    pub places: usize,
    pub first_found_at: Millis,
    /// The database itself is corrupt, not only something in it.
    pub is_database_corrupt: bool,
}

#[derive(Debug, Default)]
pub(crate) struct StorageReports(Mutex<StorageReport>);

#[derive(Debug, Default)]
struct StorageReport {
    status: StorageStatus,
    places: HashSet<String>,
}

impl StorageReports {
    fn status(&self) -> StorageStatus {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).status
    }

    /// Says whether it was otherwise before.
    fn set_full(&self, is_full: bool) -> bool {
        let mut reported = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut reported.status.is_full, is_full) != is_full
    }

    /// Says whether the place was not known.
    fn add_damage(&self, place: String, is_database_corrupt: bool, now: Millis) -> bool {
        let mut reported = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let StorageReport { status, places } = &mut *reported;
        if places.len() >= PLACES_MAX || !places.insert(place) {
            return false;
        }
        let found = DamageStatus { places: 0, first_found_at: now, is_database_corrupt: false };
        let damage = status.damage.get_or_insert(found);
        damage.places += 1;
        damage.is_database_corrupt |= is_database_corrupt;
        true
    }
}

/// Reports to a store without keeping it open; one that was made from nothing reports nowhere.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reporter(Weak<Inner>);

impl Reporter {
    pub(crate) fn report(&self, error: &StoreError) {
        if let Some(inner) = self.0.upgrade() {
            Store { inner }.report(error);
        }
    }
}

impl Store {
    /// Takes note of a failure, if it says something about the storage.
    pub fn report(&self, error: &StoreError) {
        match error {
            StoreError::DiskFull if self.inner.reports.set_full(true) => {
                tracing::error!("the storage has no room left; writes are refused until some is freed");
            }
            StoreError::Damaged(_) | StoreError::History(_) | StoreError::Corrupt(_) => self.report_damage(error),
            _ => {}
        }
    }

    fn report_damage(&self, error: &StoreError) {
        let is_corrupt = matches!(error, StoreError::Corrupt(_));
        if !self.inner.reports.add_damage(error.to_string(), is_corrupt, SystemClock.now()) {
            return;
        }
        tracing::error!(%error, "damage was found while serving; skein verify lists what is damaged");
        // Nobody waits for it: where not even this can be written, the log has told.
        if let Err(error) = self.submit(tell_administrators, EVENT_WEIGHT, Urgency::Background) {
            tracing::warn!(%error, "the event about the damage was not written");
        }
    }

    pub(crate) fn reporter(&self) -> Reporter {
        Reporter(std::sync::Arc::downgrade(&self.inner))
    }

    /// What was met so far.
    pub fn storage_status(&self) -> StorageStatus {
        self.inner.reports.status()
    }

    /// Finds out whether a transaction can be committed.
    pub async fn probe_commit(&self) -> Result<(), StoreError> {
        self.write(note_probe).await.map(drop)
    }

    /// Takes note that there is room again.
    pub fn note_disk_usage(&self) {
        if self.inner.reports.set_full(false) {
            tracing::info!("the storage has room again");
        }
    }
}

fn note_probe(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    let sql = "INSERT INTO meta (name, value) VALUES ('write_probe', ?1)
               ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    let now = tx.now().to_string();
    tx.execute(sql, params![now.as_str()])?;
    Ok(())
}

/// An event for each administrator. It names nothing: what is damaged may be somebody else's.
fn tell_administrators(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let page = tx.users(&SYSTEM, after, 100)?;
        for user in &page.rows {
            if user.content.data.get("role") == Some(&json!(Role::Admin)) {
                let owner = UserId::from_bytes(*user.id.as_bytes());
                let told = Map::from_iter([("remedy".to_owned(), json!("run skein verify"))]);
                tx.tell(&SYSTEM, owner, EventName::DamageFound, None, told)?;
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_counted_once_and_a_corrupt_database_is_remembered() {
        let reports = StorageReports::default();
        assert!(reports.add_damage("one".to_owned(), false, Millis(7)));
        assert!(!reports.add_damage("one".to_owned(), false, Millis(8)));
        assert!(reports.add_damage("two".to_owned(), true, Millis(9)));
        assert!(reports.add_damage("three".to_owned(), false, Millis(9)));
        let expected = DamageStatus { places: 3, first_found_at: Millis(7), is_database_corrupt: true };
        assert_eq!(reports.status().damage, Some(expected));
    }

    #[test]
    fn the_places_kept_are_bounded() {
        let reports = StorageReports::default();
        let added = (0..PLACES_MAX + 10).filter(|place| reports.add_damage(place.to_string(), false, Millis(1)));
        assert_eq!(added.count(), PLACES_MAX);
    }
}
