//! An open transaction, as storage functions see it.
//!
//! The statements themselves stay inside this crate: callers get methods that mean something (`append_item`,
//! `put_record`), each of which takes the viewer first and enforces tenancy.

use serde_json::Map;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::event::EventName;
use skein_core::id::Entropy;
use skein_core::{Digest, ItemId, Millis, NodeId, TurnId, UserId, Viewer};

use crate::db::sql::{DeferredStatement, Row, RowResult, Sql, Value};
use crate::error::{SqlError, StoreError};
use crate::flow::ExecutionPrefetch;
use crate::tree::{PathChange, RowCache, TurnPrefetch};

/// Refuses everybody but Skein itself.
pub(crate) fn system_only(viewer: &Viewer) -> Result<(), StoreError> {
    match viewer {
        Viewer::System(_) => Ok(()),
        Viewer::User(_) | Viewer::Admin { .. } => Err(StoreError::Forbidden),
    }
}

/// The position of an item that was not inserted yet; real ones begin above it.
pub(crate) const POSITION_UNKNOWN: i64 = 0;

/// Random bits that a function with this seed draws by this number.
pub(crate) fn entropy_of(seed: &[u8; 16], number: u64) -> Entropy {
    let mut block = [0; 24];
    block[..16].copy_from_slice(seed);
    block[16..].copy_from_slice(&number.to_be_bytes());
    let digest = Digest::of(&block);
    Entropy(digest.0[..10].try_into().expect("a digest has more than ten bytes"))
}

/// What the ids of a transaction are drawn from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IdDraws {
    seed: [u8; 16],
    at: Millis,
}

/// One transaction with its one `now`.
pub struct Tx<'a> {
    pub(crate) sql: &'a mut dyn Sql,
    now: Millis,
    number: i64,
    draws: IdDraws,
    drawn: u64,
    last: Option<(Cursor, ItemId)>,
    revises: bool,
    moved: PathChange,
    /// A request's name that was looked for and that no operation answers for.
    pub(crate) vacant: Option<Digest>,
    destroys: bool,
    queues: bool,
    /// The run this is about, where it was locked and read before.
    pub(crate) ahead: Option<ExecutionPrefetch>,
    /// The rows of trees that are known.
    pub(crate) row_cache: RowCache,
    /// What was read for the turn that this function appends.
    pub(crate) turn_ahead: Option<TurnPrefetch>,
}

impl<'a> Tx<'a> {
    pub(crate) fn new(sql: &'a mut dyn Sql, now: Millis, number: i64, seed: [u8; 16]) -> Self {
        Self {
            sql,
            now,
            number,
            draws: IdDraws { seed, at: now },
            drawn: 0,
            last: None,
            revises: false,
            destroys: false,
            queues: false,
            moved: PathChange::default(),
            vacant: None,
            ahead: None,
            row_cache: RowCache::default(),
            turn_ahead: None,
        }
    }

    /// Notes that more than plain facts is written: what was read of records, marked items and health no longer holds.
    pub(crate) fn revise(&mut self) {
        self.revises = true;
    }

    pub(crate) fn revises(&self) -> bool {
        self.revises
    }

    /// Notes a turn in which a path was led from `left` to another node.
    pub(crate) fn note_moved(&mut self, turn: TurnId, left: NodeId) {
        self.moved.turns.push(turn);
        self.moved.left.push(left);
    }

    /// What was noted since the last call.
    pub(crate) fn take_moved(&mut self) -> PathChange {
        std::mem::take(&mut self.moved)
    }

    /// Notes that something is destroyed: what the database still remembers of it is to go soon.
    pub(crate) fn destroy(&mut self) {
        self.destroys = true;
    }

    pub(crate) fn destroys(&self) -> bool {
        self.destroys
    }

    /// Notes that a job became ready: workers are to be woken.
    pub(crate) fn note_queued(&mut self) {
        self.queues = true;
    }

    pub(crate) fn has_queued(&self) -> bool {
        self.queues
    }

    pub fn now(&self) -> Millis {
        self.now
    }

    /// The time that new ids carry: that of the first attempt where a function runs again after a computation.
    pub fn id_time(&self) -> Millis {
        self.draws.at
    }

    pub(crate) fn draws(&self) -> IdDraws {
        self.draws
    }

    /// Draws the same ids as an earlier attempt: a computation that was asked for may be about them.
    pub(crate) fn draw_as(&mut self, draws: IdDraws) {
        self.draws = draws;
    }

    /// The number of this transaction on the timeline.
    pub(crate) fn number(&self) -> i64 {
        self.number
    }

    pub(crate) fn last_cursor(&self) -> Cursor {
        self.last.map_or(Cursor::START, |(cursor, _)| cursor)
    }

    /// The last item this transaction appended.
    pub(crate) fn last_item(&self) -> Option<ItemId> {
        self.last.map(|(_, item)| item)
    }

    pub(crate) fn reached(&mut self, cursor: Cursor, item: ItemId) {
        self.last = Some((cursor, item));
    }

    /// Random bits for the next id: the same ones in the same order when the function is run again.
    pub fn entropy(&mut self) -> Entropy {
        let drawn = self.drawn;
        self.drawn += 1;
        entropy_of(&self.draws.seed, drawn)
    }

    /// Whose things a listing shows, if the viewer may see them.
    pub(crate) fn subject(&self, viewer: &Viewer) -> Result<UserId, StoreError> {
        let subject = viewer.subject();
        if viewer.may_read(subject, self.now) { Ok(subject) } else { Err(StoreError::NotFound(subject.to_string())) }
    }

    /// Tells watchers of `owner`'s things about a change that no fact of its own tells.
    pub(crate) fn tell(
        &mut self,
        viewer: &Viewer,
        owner: UserId,
        name: EventName,
        subject: Option<&str>,
        told: Map<String, serde_json::Value>,
    ) -> Result<(), StoreError> {
        self.append_item_for(viewer, owner, &name.to_draft(subject, told)).map(drop)
    }

    /// [`Self::tell`] on the viewer's own timeline.
    pub fn tell_own(
        &mut self,
        viewer: &Viewer,
        name: EventName,
        subject: Option<&str>,
        told: Map<String, serde_json::Value>,
    ) -> Result<(), StoreError> {
        self.tell(viewer, viewer.owner(), name, subject, told)
    }

    pub(crate) fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, SqlError> {
        self.sql.execute(sql, params)
    }

    /// Carries a statement out before anything that could tell. What must be unique in it is drawn, or another came first.
    pub(crate) fn execute_later(&mut self, later: DeferredStatement<'_>) -> Result<(), StoreError> {
        self.sql.execute_later(later).map_err(|error| match error {
            SqlError::Unique(detail) => SqlError::Collision(detail).into(),
            error => error.into(),
        })
    }

    /// Carries out what was put off; to be called before the commit. Where the last item stands that waited.
    pub(crate) fn settle(&mut self) -> Result<Option<i64>, StoreError> {
        Ok(self.sql.settle()?)
    }

    /// Every row, converted by `read`.
    pub(crate) fn all<T>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T, SqlError>,
    ) -> Result<Vec<T>, StoreError> {
        gathered(read, |each| self.sql.query(sql, params, each))
    }

    /// The row that is named so among what waits to be written ([`DeferredStatement`]), if there is one.
    pub(crate) fn first_about<T>(
        &mut self,
        (table, key): (&'static str, &[u8]),
        sql: &str,
        params: &[Value<'_>],
        mut read: impl FnMut(&dyn Row) -> Result<T, SqlError>,
    ) -> Result<Option<T>, StoreError> {
        let mut found = None;
        self.sql.query_about(table, key, sql, params, &mut |row| {
            if found.is_none() {
                found = Some(read(row)?);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// [`Self::all`] of what functions that share a transaction ask alike, and seldom change.
    pub(crate) fn all_once<T>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T, SqlError>,
    ) -> Result<Vec<T>, StoreError> {
        gathered(read, |each| self.sql.query_once(sql, params, each))
    }

    /// The only row there can be, if there is one.
    pub(crate) fn first<T>(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        read: impl FnMut(&dyn Row) -> Result<T, SqlError>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.all(sql, params, read)?.into_iter().next())
    }
}

/// The rows that are asked for, converted by `read`.
fn gathered<T>(
    mut read: impl FnMut(&dyn Row) -> Result<T, SqlError>,
    ask: impl FnOnce(&mut dyn FnMut(&dyn Row) -> RowResult) -> RowResult,
) -> Result<Vec<T>, StoreError> {
    let mut rows = Vec::new();
    ask(&mut |row| {
        rows.push(read(row)?);
        Ok(())
    })?;
    Ok(rows)
}
