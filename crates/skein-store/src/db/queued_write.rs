//! Holds a queued write: a function that can run again, and the channel for its outcome.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use skein_core::garden::cursor::Cursor;
use skein_core::{ConversationId, ExecutionId, NodeId, UserId};
use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::tx::{POSITION_UNKNOWN, Tx};

/// What a function that keeps apart by locks has locked before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockTarget {
    /// The one run it moves.
    Run(ExecutionId),
    /// The trees of one owner: nobody else writes to them until it has ended.
    Trees(UserId),
    /// The trees of one owner, to append a turn of theirs after a node: what it rests on is read ahead.
    Turn { owner: UserId, conversation: ConversationId, parent: NodeId },
}

impl LockTarget {
    /// The owner whose trees are locked.
    pub(crate) fn trees(self) -> Option<UserId> {
        match self {
            Self::Run(_) => None,
            Self::Trees(owner) | Self::Turn { owner, .. } => Some(owner),
        }
    }

    pub(crate) fn run(self) -> Option<ExecutionId> {
        match self {
            Self::Run(run) => Some(run),
            Self::Trees(_) | Self::Turn { .. } => None,
        }
    }
}

/// The outcome of a committed write, and where on the timeline it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed<T> {
    pub value: T,
    /// The last item this write appended; [`Cursor::START`] when it appended none.
    pub cursor: Cursor,
}

/// A unit of work as the writers see it, whatever it returns.
pub(crate) trait QueuedWrite: Send {
    /// Runs the function; what it made is kept until it is acknowledged. May be called again.
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError>;

    /// Tells the waiting caller that the last run was committed, and where the last item stands whose place was not known then.
    fn acknowledge(self: Box<Self>, last_position: Option<i64>);

    fn refuse(self: Box<Self>, error: StoreError);

    /// Random bits for the ids this work makes, the same in every run.
    fn seed(&self) -> &[u8; 16];

    /// What is to be locked for it, if it says so.
    fn about(&self) -> Option<LockTarget>;

    /// The run it moves, if it says so: it is locked and read with those of others.
    fn run_id(&self) -> Option<ExecutionId> {
        self.about().and_then(LockTarget::run)
    }

    /// Whether it appends a turn, and says after which node.
    fn is_turn(&self) -> bool {
        matches!(self.about(), Some(LockTarget::Turn { .. }))
    }
}

/// Where the outcome of queued work appears.
pub(crate) type WriteOutcome<T> = oneshot::Receiver<Result<T, StoreError>>;

pub(crate) struct WriteFunction<T, F> {
    run: F,
    seed: [u8; 16],
    about: Option<LockTarget>,
    made: Option<Committed<T>>,
    waiting: oneshot::Sender<Result<Committed<T>, StoreError>>,
}

impl<T, F> WriteFunction<T, F>
where
    T: Send + 'static,
    F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
{
    /// The work to queue, and where its outcome will appear.
    pub(crate) fn queued(function: F) -> (Box<dyn QueuedWrite>, WriteOutcome<Committed<T>>) {
        Self::queued_about(None, function)
    }

    /// [`Self::queued`] for a function that needs a lock from the beginning.
    pub(crate) fn queued_about(
        about: Option<LockTarget>,
        function: F,
    ) -> (Box<dyn QueuedWrite>, WriteOutcome<Committed<T>>) {
        let (waiting, outcome) = oneshot::channel();
        let mut seed = [0; 16];
        getrandom::fill(&mut seed).expect("the operating system provides randomness");
        (Box::new(Self { run: function, seed, about, made: None, waiting }), outcome)
    }
}

impl<T, F> QueuedWrite for WriteFunction<T, F>
where
    T: Send + 'static,
    F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        self.made = None;
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.run)(tx)));
        let value = outcome.unwrap_or_else(|panic| Err(StoreError::Panicked(panic_text(&*panic))))?;
        self.made = Some(Committed { value, cursor: tx.last_cursor() });
        Ok(())
    }

    fn acknowledge(self: Box<Self>, last_position: Option<i64>) {
        let mut made = self.made.expect("only work that ran is acknowledged");
        if made.cursor != Cursor::START && made.cursor.position == POSITION_UNKNOWN {
            made.cursor.position = last_position.unwrap_or(POSITION_UNKNOWN);
        }
        // The caller may have gone away; the write stands all the same.
        let _ = self.waiting.send(Ok(made));
    }

    fn refuse(self: Box<Self>, error: StoreError) {
        let _ = self.waiting.send(Err(error));
    }

    fn seed(&self) -> &[u8; 16] {
        &self.seed
    }

    fn about(&self) -> Option<LockTarget> {
        self.about
    }
}

pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
