//! Watching: events read off the timeline, from where the watcher last was, and then as they happen.
//!
//! A watcher is a follower like any other. It looks whenever the store says that the timeline has grown, so it can
//! neither miss an event nor overflow, and several servers on one database need not know of each other. Progress of
//! operations is told to watchers of the same process as it is made, and never again.

use std::sync::Arc;
use std::time::Duration;

use skein_core::garden::cursor::Cursor;
use skein_core::setting::EVENTS_REPLAY_DAYS;
use skein_core::{OperationId, UserId, Viewer};
use skein_store::timeline::follow::StoredEvent;
use skein_store::{StoreError, Tx};
use tokio::sync::{broadcast, mpsc};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::settings::SettingState;

/// Most items of the timeline a watcher that comes back is led through.
pub const REPLAY_ITEMS_MAX: usize = 100_000;
const ITEMS_PER_LOOK: usize = 1_000;
const TELLINGS_WAITING_MAX: usize = 256;
/// A watcher looks at most this often, so that a busy timeline costs it no more than a quiet one.
const LOOK_AT_MOST_EVERY: Duration = Duration::from_millis(50);
/// A watcher looks at least this often, in case a wake-up was lost.
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_secs(1);
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
const SYSTEM: Viewer = Viewer::System("watching");

/// What a watcher is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchEvent {
    /// Something happened.
    Event(StoredEvent),
    /// Too much happened since: read the state anew, and go on from here.
    Resync(Cursor),
    /// An operation has come this far, in percent.
    Progress {
        /// Which one.
        operation: OperationId,
        /// Percent done.
        percent: i64,
    },
}

/// Whose operation has come how far, in percent.
type OperationProgress = (UserId, OperationId, i64);
type ProgressReceiver = broadcast::Receiver<OperationProgress>;

/// Told to watchers in this process only.
#[derive(Clone)]
pub(crate) struct Progress(Arc<broadcast::Sender<OperationProgress>>);

impl Default for Progress {
    fn default() -> Self {
        Self(Arc::new(broadcast::channel(TELLINGS_WAITING_MAX).0))
    }
}

impl Progress {
    pub(crate) fn tell(&self, owner: UserId, operation: OperationId, percent: i64) {
        // Nobody may be watching.
        let _ = self.0.send((owner, operation, percent));
    }
}

impl Engine {
    /// Tells what happens to the caller's things after `after`, or from now on; ends when the receiver is dropped.
    pub async fn watch(
        &self,
        caller: &Caller,
        after: Option<Cursor>,
    ) -> Result<mpsc::Receiver<WatchEvent>, EngineError> {
        let (from, resync) = self.parts().store.read(move |tx| starting_point(tx, after)).await?;
        let (sender, receiver) = mpsc::channel(TELLINGS_WAITING_MAX);
        if resync {
            let _ = sender.send(WatchEvent::Resync(from)).await;
        }
        let known = after.filter(|_| !resync);
        let watcher = Watcher { engine: self.clone(), caller: caller.clone(), known, sender };
        tokio::spawn(watcher.run(from));
        Ok(receiver)
    }

    /// Where the timeline stands: whatever is read later is no older, so who watches from here misses nothing.
    pub async fn standing(&self) -> Result<Cursor, EngineError> {
        Ok(self.parts().store.read(|tx| tx.latest(&SYSTEM)).await?)
    }
}

/// Where a watcher begins, and whether it has missed too much to be told all of it.
fn starting_point(tx: &mut Tx<'_>, after: Option<Cursor>) -> Result<(Cursor, bool), StoreError> {
    let latest = tx.latest(&SYSTEM)?;
    let Some(after) = after else { return Ok((latest, false)) };
    let days = SettingState::of(&EVENTS_REPLAY_DAYS, tx.setting(&SYSTEM, EVENTS_REPLAY_DAYS.name)?).number();
    let oldest = tx.now().plus(-days * DAY_MS);
    // A place beyond the end belongs to another store, or to one that was restored since. What was just written may
    // not be settled yet, and is a place all the same.
    if after > tx.end(&SYSTEM)? || tx.is_far_behind(&SYSTEM, after, REPLAY_ITEMS_MAX, oldest)? {
        return Ok((latest, true));
    }
    // Whoever was still writing beneath a place that is not settled has to be told of as well.
    Ok((after.min(latest), false))
}

struct Watcher {
    engine: Engine,
    caller: Caller,
    /// Where the caller already was; it may lie beyond where the watcher begins.
    known: Option<Cursor>,
    sender: mpsc::Sender<WatchEvent>,
}

impl Watcher {
    async fn run(self, mut reached: Cursor) {
        let mut grown = self.engine.parts().store.wake().subscribe();
        let mut progress = self.engine.parts().progress.0.subscribe();
        loop {
            grown.mark_unchanged();
            match self.tell_after(reached, &mut progress).await {
                Ok(Some(now)) => reached = now,
                Ok(None) => return,
                // A grant that ran out ends the stream; what failed otherwise is tried again by the client.
                Err(error) => return tracing::debug!(%error, "a watcher was let go"),
            }
            tokio::select! {
                () = self.sender.closed() => return,
                told = self.tell_progress(&mut progress) => if told.is_err() { return },
                _ = grown.changed() => tokio::time::sleep(LOOK_AT_MOST_EVERY).await,
                () = tokio::time::sleep(LOOK_AT_LEAST_EVERY) => {}
            }
        }
    }

    /// Tells everything up to the end of the timeline, and before it the progress that led there; says how far it
    /// came, or nothing when there is nobody to tell any more.
    async fn tell_after(
        &self,
        mut reached: Cursor,
        progress: &mut ProgressReceiver,
    ) -> Result<Option<Cursor>, StoreError> {
        loop {
            let (caller, from) = (self.caller.clone(), reached);
            let look = move |tx: &mut Tx<'_>| {
                if !caller.is_admitted(tx)? {
                    return Ok(None);
                }
                tx.events(&caller.viewer(), from, ITEMS_PER_LOOK).map(Some)
            };
            let Some(seen) = self.engine.parts().store.read(look).await? else { return Ok(None) };
            let waiting = std::iter::from_fn(|| next_waiting(progress)).filter_map(|made| self.progress_of_own(made));
            let news = seen.told.into_iter().filter(|told| !self.is_known(told.cursor));
            let told: Vec<WatchEvent> = waiting.chain(news.map(WatchEvent::Event)).collect();
            for telling in told {
                if self.sender.send(telling).await.is_err() {
                    return Ok(None);
                }
            }
            reached = seen.reached;
            if seen.looked_at < ITEMS_PER_LOOK {
                return Ok(Some(reached));
            }
        }
    }

    /// Of a transaction the caller has seen a part of, that part; others beneath it may have come to light later.
    fn is_known(&self, cursor: Cursor) -> bool {
        self.known.is_some_and(|known| cursor.tx == known.tx && cursor.position <= known.position)
    }

    fn progress_of_own(&self, (owner, operation, percent): OperationProgress) -> Option<WatchEvent> {
        (owner == self.caller.viewer().subject()).then_some(WatchEvent::Progress { operation, percent })
    }

    /// Passes progress on until something else needs doing; an error when nobody listens any more.
    async fn tell_progress(&self, progress: &mut ProgressReceiver) -> Result<(), mpsc::error::SendError<WatchEvent>> {
        loop {
            match progress.recv().await {
                Ok(made) => {
                    if let Some(telling) = self.progress_of_own(made) {
                        self.sender.send(telling).await?;
                    }
                }
                // Progress that was missed is overtaken by the next.
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// Progress that was made while the watcher looked elsewhere.
fn next_waiting(progress: &mut ProgressReceiver) -> Option<OperationProgress> {
    loop {
        match progress.try_recv() {
            Ok(made) => return Some(made),
            Err(broadcast::error::TryRecvError::Lagged(_)) => {}
            Err(broadcast::error::TryRecvError::Empty | broadcast::error::TryRecvError::Closed) => return None,
        }
    }
}
