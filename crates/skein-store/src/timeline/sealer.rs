//! Seals new items behind the writers, one owner at a time, each seal chained to the previous one.
//!
//! One transaction takes the next stretch of the timeline, appends a `Seal` per owner found in it and moves the
//! sealer's cursor; so a crash repeats the stretch or does not, and two sealers cannot both have it.

use std::collections::BTreeMap;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::ItemType;
use skein_core::garden::seal::{Leaf, SEAL_LEAVES_MAX, Seal};
use skein_core::{Digest, ItemId, UserId, Viewer};

use crate::db::sql::params;
use crate::error::StoreError;
use crate::store::{Store, Urgency};
use crate::timeline::follow::TimelineQuery;
use crate::tx::Tx;

const NAME: &str = "sealer";
const VIEWER: Viewer = Viewer::System("sealing");
/// Held only while sealing; a sealer that crashed keeps the others waiting no longer than this.
const LEASE_MS: i64 = 5_000;
/// A seal's document is about this large per leaf.
const LEAF_BYTES: usize = 96;

impl Tx<'_> {
    /// Seals the next stretch of the timeline; says how many items that were, or `None` at its end.
    fn seal_next(&mut self) -> Result<Option<usize>, StoreError> {
        let after = self.cursor(&VIEWER, NAME)?;
        let stretch = self.unsealed(after)?;
        let Some(&(last, ..)) = stretch.last() else { return Ok(None) };
        let mut owners: BTreeMap<UserId, Vec<(Cursor, Leaf)>> = BTreeMap::new();
        for (cursor, owner, leaf) in
            stretch.into_iter().filter_map(|(cursor, owner, leaf)| Some((cursor, owner, leaf?)))
        {
            owners.entry(owner).or_default().push((cursor, leaf));
        }
        let mut sealed = 0;
        for (owner, entries) in owners {
            let previous = self.last_seal(owner)?;
            let seal = Seal::over(owner, &entries, previous).expect("every owner here has an entry");
            self.append_item_for(&VIEWER, owner, &seal.to_draft())?;
            sealed += entries.len();
        }
        self.acknowledge(&VIEWER, NAME, last)?;
        Ok(Some(sealed))
    }

    /// The next items, of every owner; seals themselves are not leaves.
    fn unsealed(&mut self, after: Cursor) -> Result<Vec<(Cursor, UserId, Option<Leaf>)>, StoreError> {
        let settled = self.sql.settled_below()?;
        let along = TimelineQuery { columns: "i.tx, i.position, i.owner, i.id, i.hash, i.type", from: "items i" };
        let mut stretch = Vec::new();
        self.each_after(&along, after, settled, SEAL_LEAVES_MAX, &mut |row| {
            let leaf = Leaf { id: ItemId::from_bytes(row.array(3)?), hash: Digest(row.array(4)?) };
            let is_seal = row.text(5)? == ItemType::SEAL.as_str();
            let cursor = Cursor { tx: row.int(0)?, position: row.int(1)? };
            stretch.push((cursor, UserId::from_bytes(row.array(2)?), (!is_seal).then_some(leaf)));
            Ok(())
        })?;
        Ok(stretch)
    }

    fn last_seal(&mut self, owner: UserId) -> Result<Option<Digest>, StoreError> {
        let sql = "SELECT hash FROM seals WHERE owner = ?1 ORDER BY last_tx DESC, last_position DESC LIMIT 1";
        self.first(sql, params![&owner], |row| row.array(0).map(Digest))
    }
}

/// Seals everything that can be sealed now; says how many items that were. While another seals, nothing.
pub fn seal_all(store: &Store, holder: &str) -> Result<usize, StoreError> {
    let is_due = |tx: &mut Tx<'_>| {
        let after = tx.cursor(&VIEWER, NAME)?;
        Ok(!tx.follow(&VIEWER, after, 1)?.is_empty())
    };
    // At rest nothing is written, not even a lease.
    if !store.read_blocking(is_due)? {
        return Ok(0);
    }
    let mut sealed = 0;
    let outcome = loop {
        match seal_step(store, holder) {
            Ok(None) => break Ok(sealed),
            Ok(Some(taken)) => sealed += taken,
            Err(error) => break Err(error),
        }
    };
    let holder = holder.to_owned();
    store.write_blocking(move |tx| tx.release_lease(&VIEWER, NAME, &holder))?;
    outcome
}

fn seal_step(store: &Store, holder: &str) -> Result<Option<usize>, StoreError> {
    let holder = holder.to_owned();
    let step = move |tx: &mut Tx<'_>| match tx.take_lease(&VIEWER, NAME, &holder, LEASE_MS)? {
        Some(_) => tx.seal_next(),
        None => Ok(None),
    };
    Ok(store.write_later(step, SEAL_LEAVES_MAX * LEAF_BYTES, Urgency::Background)?.value)
}

/// A thread that seals from time to time, and once more when it is stopped.
pub struct Sealer {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sealer {
    pub fn start(store: Store, holder: String, interval: Duration) -> Self {
        let (stop, stopped) = channel::<()>();
        let run = move || {
            loop {
                let is_last = !matches!(stopped.recv_timeout(interval), Err(RecvTimeoutError::Timeout));
                if let Err(error) = seal_all(&store, &holder) {
                    tracing::warn!(%error, "could not seal; it will be tried again");
                }
                if is_last {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("skein-sealer".to_owned()).spawn(run);
        Self { stop: Some(stop), thread: Some(thread.expect("the system can start a thread")) }
    }
}

impl Drop for Sealer {
    fn drop(&mut self) {
        self.stop = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the sealing thread panicked");
        }
    }
}
