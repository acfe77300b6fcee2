//! Every change, once: the request that asked for it, the operation it is on record as, and its repeats.
//!
//! A use case gives [`Engine::change`] a function over the transaction. In that same transaction the request is
//! looked up, the change is made and its operation is written, so a client that lost the answer (or whose server
//! crashed after committing it) finds the change when it asks again, and never makes it twice. Work that cannot be
//! done inside a transaction, such as receiving an upload, reserves its request first ([`Engine::reserve`]).

use serde_json::{Value, json};
use skein_core::account::Scope;
use skein_core::account::idempotency::{IdempotencyKey, RequestMark};
use skein_core::garden::cursor::Cursor;
use skein_core::garden::record::{Record, RecordRefused};
use skein_core::garden::relation::{Relation, RelationDraft};
use skein_core::{Digest, ItemId, Millis, OperationId, RecordId, Viewer};
use skein_store::operations::{OperationState, RepeatCheck};
use skein_store::timeline::items::StoredItem;
use skein_store::{Committed, LockTarget, StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;

/// The one kind of change an administrator makes under a grant.
pub(crate) const REDACTION: &str = "item.redact";

/// What a client asked for, as far as repeats are concerned, and what it is based on.
#[derive(Debug, Clone, Copy)]
pub struct Request(pub(crate) RequestMark, Option<(RecordId, Digest)>);

impl Request {
    /// `target` is the path with its query.
    pub fn new(caller: &Caller, key: &IdempotencyKey, method: &str, target: &str, body: &[u8]) -> Self {
        Self(key.mark(caller.user, method, target, body), None)
    }

    /// The same request, to be refused unless the record still has this hash (rule MG-CORE-002).
    #[must_use]
    pub fn based_on(self, record: RecordId, hash: Digest) -> Self {
        Self(self.0, Some((record, hash)))
    }

    fn refuse_stale(&self, tx: &mut Tx<'_>, viewer: &Viewer) -> Result<(), StoreError> {
        let Some((id, based_on)) = self.1 else { return Ok(()) };
        match tx.record(viewer, id) {
            Ok(current) if current.hash != based_on => {
                let (current, current_version) = (current.hash, current.version);
                Err(RecordRefused::Conflict { current, current_version, based_on }.into())
            }
            // The change itself says what is not there.
            Ok(_) | Err(StoreError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// A change that was made, now or by an earlier request.
#[derive(Debug, Clone)]
pub struct CommittedChange<T> {
    /// What came out.
    pub value: T,
    /// As what the change is on record.
    pub operation: OperationId,
    /// Where the timeline ends with it; unknown when it is told again.
    pub cursor: Option<Cursor>,
    /// Whether an earlier request made it.
    pub is_replay: bool,
}

impl<T> CommittedChange<T> {
    /// The same change, seen otherwise.
    pub fn map<U>(self, see: impl FnOnce(T) -> U) -> CommittedChange<U> {
        let Self { value, operation, cursor, is_replay } = self;
        CommittedChange { value: see(value), operation, cursor, is_replay }
    }
}

/// What can be told again to whoever lost the answer. Kept is a reference, never a copy of what can be destroyed.
pub trait Outcome: Sized + Send + 'static {
    /// Enough to find it again.
    fn reference(&self) -> Value;

    /// Finds it again as it was, as far as it still exists.
    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError>;
}

/// A place taken for work that is done before its transaction.
#[derive(Debug)]
pub struct Reservation {
    pub(crate) operation: OperationId,
}

/// What became of asking for a place.
#[derive(Debug)]
pub enum ReservationOutcome {
    /// Go on, then finish or release it.
    Place(Reservation),
    /// An earlier request with this key came this far; compare before answering.
    Earlier,
}

impl Engine {
    /// Makes a change in one transaction, unless an earlier request made it.
    pub(crate) async fn change<T: Outcome>(
        &self,
        caller: &Caller,
        request: Request,
        kind: &'static str,
        change: impl FnMut(&mut Tx<'_>, &Viewer) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<CommittedChange<T>, EngineError> {
        self.change_weighing(caller, request, kind, 0, change).await
    }

    /// [`Self::change`] for administrative acts and for whatever lets somebody in: what let the caller in still does in the
    /// transaction that makes the change, although it may have ended since the request began.
    pub(crate) async fn change_admitted<T: Outcome>(
        &self,
        caller: &Caller,
        request: Request,
        kind: &'static str,
        mut change: impl FnMut(&mut Tx<'_>, &Viewer) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<CommittedChange<T>, EngineError> {
        let admitted = caller.clone();
        self.change(caller, request, kind, move |tx, viewer| {
            admitted.refuse_if_ended(tx)?;
            change(tx, viewer)
        })
        .await
    }

    /// [`Self::change`] for what carries many bytes.
    pub(crate) async fn change_weighing<T: Outcome>(
        &self,
        caller: &Caller,
        request: Request,
        kind: &'static str,
        weight: usize,
        change: impl FnMut(&mut Tx<'_>, &Viewer) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<CommittedChange<T>, EngineError> {
        let run = unless_repeated(caller, request, kind, change)?;
        let committed = self.parts().store.write_weighing(weight.max(1 << 10), run).await?;
        Ok(placed(committed))
    }

    /// [`Self::change_weighing`] for what only adds to the caller's own trees, and rests on nothing else that can change: it
    /// is kept apart from other writers there by the lock of the trees (`docs/decisions/0041-turns-under-the-lock-of-their-trees.md`).
    pub(crate) async fn grow<T: Outcome>(
        &self,
        caller: &Caller,
        request: Request,
        kind: &'static str,
        (about, weight): (LockTarget, usize),
        change: impl FnMut(&mut Tx<'_>, &Viewer) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<CommittedChange<T>, EngineError> {
        let run = unless_repeated(caller, request, kind, change)?;
        let committed = self.parts().store.write_locking(weight.max(1 << 10), Some(about), run).await?;
        Ok(placed(committed))
    }

    /// Puts work on disk to be done later; a repeat finds the same operation and queues nothing (BR-IDEMP-005).
    pub(crate) async fn queue(
        &self,
        caller: &Caller,
        request: Request,
        kind: &'static str,
        enqueue: impl FnMut(&mut Tx<'_>, &Viewer, OperationId) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<CommittedChange<()>, EngineError> {
        let queued = self.queue_with(caller, request, kind, Isolation::Serially, enqueue).await?;
        self.parts().queued.notify_one();
        Ok(queued.map(drop))
    }

    /// [`Self::queue`] that also gives what was queued, unless an earlier request queued it.
    pub(crate) async fn queue_with<T: Send + 'static>(
        &self,
        caller: &Caller,
        request: Request,
        kind: &'static str,
        apart: Isolation,
        mut enqueue: impl FnMut(&mut Tx<'_>, &Viewer, OperationId) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<CommittedChange<Option<T>>, EngineError> {
        caller.require(Scope::Write)?;
        refuse_grant(caller, kind)?;
        let acting = caller.acting();
        let run = move |tx: &mut Tx<'_>| {
            if let RepeatCheck::Of(operation) = tx.repeat(&acting, &request.0)? {
                return Ok(CommittedChange { value: None, operation: operation.id, cursor: None, is_replay: true });
            }
            request.refuse_stale(tx, &acting)?;
            let operation = tx.start_operation(&acting, kind, &OperationState::Queued, Some(&request.0))?;
            let value = Some(enqueue(tx, &acting, operation)?);
            Ok(CommittedChange { value, operation, cursor: None, is_replay: false })
        };
        let committed = match apart {
            Isolation::Serially => self.parts().store.write(run).await?,
            Isolation::ByLocks => self.parts().store.write_locking(1 << 10, None, run).await?,
        };
        let cursor = (!committed.value.is_replay).then_some(committed.cursor);
        Ok(CommittedChange { cursor, ..committed.value })
    }

    /// Takes the place of a request whose body has not arrived yet, in a commit of its own.
    pub async fn reserve(
        &self,
        caller: &Caller,
        key: &IdempotencyKey,
        kind: &'static str,
    ) -> Result<ReservationOutcome, EngineError> {
        caller.require(Scope::Write)?;
        refuse_grant(caller, kind)?;
        let acting = caller.acting();
        // What is asked for is not known yet: a fingerprint that fits nothing tells whether somebody was here before.
        let mark = RequestMark { name: key.name(caller.user), fingerprint: Digest([0; 32]) };
        let reserve = move |tx: &mut Tx<'_>| match tx.repeat(&acting, &mark) {
            Ok(RepeatCheck::First) => {
                let operation = tx.reserve_operation(&acting, kind, mark.name)?;
                Ok(ReservationOutcome::Place(Reservation { operation }))
            }
            Ok(RepeatCheck::Of(_)) | Err(StoreError::RequestMismatch) => Ok(ReservationOutcome::Earlier),
            Err(error) => Err(error),
        };
        Ok(self.parts().store.write(reserve).await?.value)
    }

    /// Makes the change a place was reserved for.
    pub(crate) async fn finish<T: Outcome>(
        &self,
        caller: &Caller,
        request: Request,
        reservation: &Reservation,
        mut change: impl FnMut(&mut Tx<'_>, &Viewer) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<CommittedChange<T>, EngineError> {
        let (admitted, acting, operation) = (caller.clone(), caller.acting(), reservation.operation);
        let run = move |tx: &mut Tx<'_>| {
            admitted.refuse_if_ended(tx)?;
            let value = change(tx, &acting)?;
            tx.finish_reserved(&acting, operation, request.0.fingerprint, &value.reference().to_string())?;
            Ok(CommittedChange { value, operation, cursor: None, is_replay: false })
        };
        let committed = self.parts().store.write(run).await.map_err(|error| match error {
            StoreError::Ended(_) => EngineError::Cancelled,
            other => other.into(),
        })?;
        Ok(CommittedChange { cursor: Some(committed.cursor), ..committed.value })
    }

    /// What an earlier request with the same key and the same body brought about.
    pub(crate) async fn replay<T: Outcome>(
        &self,
        caller: &Caller,
        request: Request,
    ) -> Result<CommittedChange<T>, EngineError> {
        let acting = caller.acting();
        let look = move |tx: &mut Tx<'_>| match tx.repeat(&acting, &request.0)? {
            RepeatCheck::Of(operation) => {
                let value = recall(tx, &acting, &operation.state)?;
                Ok(CommittedChange { value, operation: operation.id, cursor: None, is_replay: true })
            }
            RepeatCheck::First => Err(StoreError::RequestInFlight),
        };
        Ok(self.parts().store.write(look).await?.value)
    }

    /// Says that the work a place was reserved for goes on.
    pub async fn still_working(&self, caller: &Caller, reservation: &Reservation) -> Result<(), EngineError> {
        let (acting, operation) = (caller.acting(), reservation.operation);
        let state = OperationState::Processing { progress: 0 };
        self.parts().store.write(move |tx| tx.advance_operation(&acting, operation, &state)).await?;
        Ok(())
    }

    /// Gives a reserved place back: the work came to nothing and may be tried again with the same key.
    pub async fn release(&self, caller: &Caller, reservation: &Reservation, problem: &str) -> Result<(), EngineError> {
        let (acting, operation) = (caller.acting(), reservation.operation);
        let error = json!({ "message": problem }).to_string();
        self.parts().store.write(move |tx| tx.release_reserved(&acting, operation, &error)).await?;
        Ok(())
    }
}

/// A change with the operation it is on record as, unless an earlier request made it.
fn unless_repeated<T: Outcome, F>(
    caller: &Caller,
    request: Request,
    kind: &'static str,
    mut change: F,
) -> Result<impl FnMut(&mut Tx<'_>) -> Result<CommittedChange<T>, StoreError> + Send + use<T, F>, EngineError>
where
    F: FnMut(&mut Tx<'_>, &Viewer) -> Result<T, StoreError> + Send + 'static,
{
    caller.require(Scope::Write)?;
    refuse_grant(caller, kind)?;
    let (acting, seeing) = (caller.acting(), caller.viewer());
    Ok(move |tx: &mut Tx<'_>| {
        if let RepeatCheck::Of(operation) = tx.repeat(&acting, &request.0)? {
            let value = recall(tx, &seeing, &operation.state)?;
            return Ok(CommittedChange { value, operation: operation.id, cursor: None, is_replay: true });
        }
        request.refuse_stale(tx, &acting)?;
        let value = change(tx, &acting)?;
        let result = value.reference().to_string();
        let state = OperationState::Completed { result };
        let operation = tx.start_operation(&acting, kind, &state, Some(&request.0))?;
        Ok(CommittedChange { value, operation, cursor: None, is_replay: false })
    })
}

/// What was committed, with where the timeline ends.
fn placed<T>(committed: Committed<CommittedChange<T>>) -> CommittedChange<T> {
    let cursor = (!committed.value.is_replay).then_some(committed.cursor);
    CommittedChange { cursor, ..committed.value }
}

/// A change under a grant would silently be the administrator's own; only a redaction is meant for the other.
fn refuse_grant(caller: &Caller, kind: &str) -> Result<(), EngineError> {
    if caller.grant.is_some() && kind != REDACTION { Err(EngineError::GrantIsForLooking) } else { Ok(()) }
}

fn recall<T: Outcome>(tx: &mut Tx<'_>, viewer: &Viewer, state: &OperationState) -> Result<T, StoreError> {
    let OperationState::Completed { result } = state else { return Err(StoreError::RequestInFlight) };
    let reference: Value = serde_json::from_str(result).map_err(|_| unreadable())?;
    T::recall(tx, viewer, &reference)
}

fn unreadable() -> StoreError {
    StoreError::Damaged("an operation's result cannot be read".to_owned())
}

/// A field of a reference, as the type it was written from.
pub(crate) fn referred<T: serde::de::DeserializeOwned>(reference: &Value, name: &str) -> Result<T, StoreError> {
    serde_json::from_value(reference.get(name).cloned().unwrap_or_default()).map_err(|_| unreadable())
}

/// How a change that many make at once is kept apart from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Isolation {
    Serially,
    /// It only adds, and locks what it relies on: of two with the same name, the index of names lets one in.
    ByLocks,
}

impl Outcome for StoredItem {
    fn reference(&self) -> Value {
        json!({ "item": self.item.header.id })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        tx.item(viewer, referred(reference, "item")?)
    }
}

impl Outcome for Vec<StoredItem> {
    fn reference(&self) -> Value {
        let ids: Vec<ItemId> = self.iter().map(|stored| stored.item.header.id).collect();
        json!({ "items": ids })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let ids: Vec<ItemId> = referred(reference, "items")?;
        ids.into_iter().map(|id| tx.item(viewer, id)).collect()
    }
}

/// Records are told again as they were then.
impl Outcome for Record {
    fn reference(&self) -> Value {
        json!({ "record": self.id, "version": self.version })
    }

    fn recall(tx: &mut Tx<'_>, _: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let (id, version): (RecordId, i64) = (referred(reference, "record")?, referred(reference, "version")?);
        // The change was the caller's own, though users and settings belong to the installation.
        tx.record_version(&Viewer::System("telling a change again"), id, version)
    }
}

impl Outcome for Relation {
    fn reference(&self) -> Value {
        json!({ "relation": self.to_document(), "realizedAt": self.realized_at })
    }

    fn recall(_: &mut Tx<'_>, _: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let realized_at: Millis = referred(reference, "realizedAt")?;
        let document = reference.get("relation").and_then(Value::as_object).ok_or_else(unreadable)?;
        let (id, draft) = RelationDraft::from_document(document).ok_or_else(unreadable)?;
        Ok(draft.into_relation(id, realized_at))
    }
}

/// Small things that hold nothing to destroy are kept whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeOutcome<T>(pub T);

impl<T> Outcome for WholeOutcome<T>
where
    T: serde::Serialize + serde::de::DeserializeOwned + Send + 'static,
{
    fn reference(&self) -> Value {
        serde_json::to_value(&self.0).expect("small outcomes are plain JSON")
    }

    fn recall(_: &mut Tx<'_>, _: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        serde_json::from_value(reference.clone()).map(Self).map_err(|_| unreadable())
    }
}
