//! Commits several functions together: while one group is written, the next one gathers. Each locks the rows it relies on.
//!
//! PostgreSQL's part of a transaction costs about the same for one step of a run as for ten. So no more of its connections
//! serve such functions at a time than can be at work at once, and each takes all that wait.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use skein_core::{ExecutionId, UserId};

use crate::db::queued_write::{LockTarget, QueuedWrite};
use crate::error::StoreError;

const WAITING_MAX: usize = 1_024;
/// Most functions that share a transaction: the last one waits for all of them.
const SHARING_MAX: usize = 32;

pub(crate) struct GroupCommit {
    gathered: Mutex<GatheredWrites>,
    serving_max: usize,
}

#[derive(Default)]
struct GatheredWrites {
    works: VecDeque<Box<dyn QueuedWrite>>,
    /// Connections that take what is gathered.
    serving: usize,
    /// Owners to whose trees a connection is writing.
    busy: HashSet<UserId>,
}

/// Functions to be run in one transaction.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) works: Vec<Box<dyn QueuedWrite>>,
    /// The owners to whose trees they write: no other batch does until this one has ended.
    owners: HashSet<UserId>,
}

impl Batch {
    /// Whether this function can be run with the others; two that move the same run never share.
    fn admits(&mut self, work: &dyn QueuedWrite, runs: &mut HashSet<ExecutionId>) -> bool {
        let about = work.about();
        self.owners.extend(about.and_then(LockTarget::trees));
        about.and_then(LockTarget::run).is_none_or(|run| runs.insert(run))
    }
}

impl GatheredWrites {
    /// Whether another connection writes to the trees that this function is about: it takes it when it is done.
    fn is_busy(&self, work: &dyn QueuedWrite) -> bool {
        work.about().and_then(LockTarget::trees).is_some_and(|owner| self.busy.contains(&owner))
    }
}

impl GroupCommit {
    /// For a store with so many connections; most of them are left to others.
    pub(crate) fn new(connections: usize) -> Self {
        let at_once = std::thread::available_parallelism().map_or(1, usize::from);
        Self { gathered: Mutex::default(), serving_max: at_once.min(connections / 2).max(1) }
    }

    /// How many connections serve at most.
    pub(crate) fn serving_max(&self) -> usize {
        self.serving_max
    }

    /// Adds one; says whether another connection is to serve ([`Self::next`] until there is nothing). Writers to the same
    /// trees would wait for each other, so one connection takes all of them.
    pub(crate) fn add(&self, work: Box<dyn QueuedWrite>) -> Result<bool, StoreError> {
        let mut gathered = self.lock();
        if gathered.works.len() >= WAITING_MAX {
            return Err(StoreError::Busy);
        }
        let is_needed = gathered.serving < self.serving_max && !gathered.is_busy(&*work);
        gathered.works.push_back(work);
        gathered.serving += usize::from(is_needed);
        Ok(is_needed)
    }

    /// The functions to run after `done`; after none, the connection that asked serves no more.
    pub(crate) fn next(&self, done: &Batch) -> Batch {
        let mut gathered = self.lock();
        gathered.busy.retain(|owner| !done.owners.contains(owner));
        let (mut batch, mut runs, mut passed) = (Batch::default(), HashSet::new(), VecDeque::new());
        while batch.works.len() < SHARING_MAX
            && let Some(work) = gathered.works.pop_front()
        {
            if gathered.is_busy(&*work) {
                passed.push_back(work);
            } else if batch.admits(&*work, &mut runs) {
                batch.works.push(work);
            } else {
                gathered.works.push_front(work);
                break;
            }
        }
        passed.append(&mut gathered.works);
        gathered.works = passed;
        gathered.busy.extend(&batch.owners);
        gathered.serving -= usize::from(batch.works.is_empty());
        batch
    }

    /// Nobody could be sent to serve: what is gathered is refused, unless somebody else serves.
    pub(crate) fn give_up(&self) {
        let mut gathered = self.lock();
        gathered.serving -= 1;
        if gathered.serving == 0 {
            gathered.works.drain(..).for_each(|work| work.refuse(StoreError::Busy));
        }
    }

    fn lock(&self) -> MutexGuard<'_, GatheredWrites> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::queued_write::WriteFunction;

    fn queued(about: Option<LockTarget>) -> Box<dyn QueuedWrite> {
        WriteFunction::queued_about(about, |_: &mut crate::Tx<'_>| Ok(())).0
    }

    fn about(run: u8) -> Box<dyn QueuedWrite> {
        queued((run > 0).then(|| LockTarget::Run(ExecutionId::from_bytes([run; 16]))))
    }

    fn writing_to(owner: u8) -> Box<dyn QueuedWrite> {
        queued(Some(LockTarget::Trees(UserId::from_bytes([owner; 16]))))
    }

    fn told(batch: &Batch) -> Vec<Option<u8>> {
        let number = |work: &dyn QueuedWrite| match work.about()? {
            LockTarget::Run(run) => Some(run.as_bytes()[0]),
            LockTarget::Trees(owner) | LockTarget::Turn { owner, .. } => Some(owner.as_bytes()[0]),
        };
        batch.works.iter().map(|work| number(&**work)).collect()
    }

    fn taken(together: &GroupCommit) -> Vec<Option<u8>> {
        told(&together.next(&Batch::default()))
    }

    #[test]
    fn writers_to_the_same_trees_share_one_connection() {
        let together = GroupCommit { serving_max: 2, ..GroupCommit::new(4) };
        assert!(together.add(writing_to(1)).unwrap(), "the first needs a connection");
        let first = together.next(&Batch::default());
        assert!(!together.add(writing_to(1)).unwrap(), "the connection that writes there takes it afterwards");
        assert!(together.add(writing_to(2)).unwrap(), "other trees need another connection");
        together.add(writing_to(1)).unwrap();
        let second = together.next(&Batch::default());
        assert_eq!((told(&first), told(&second)), (vec![Some(1)], vec![Some(2)]));
        let third = together.next(&first);
        assert_eq!(told(&third), [Some(1), Some(1)], "what waited is taken together");
        assert!(together.next(&second).works.is_empty());
        assert!(together.next(&third).works.is_empty());
        assert!(together.add(writing_to(1)).unwrap(), "the trees are free again");
    }

    #[test]
    fn two_that_move_one_run_never_share() {
        let together = GroupCommit::new(4);
        for run in [1, 2, 0, 0, 1, 2] {
            together.add(about(run)).unwrap();
        }
        assert_eq!(taken(&together), [Some(1), Some(2), None, None]);
        assert_eq!(taken(&together), [Some(1), Some(2)]);
        assert!(taken(&together).is_empty());
    }

    #[test]
    fn no_more_serve_than_can_be_at_work_and_each_until_nothing_waits() {
        let together = GroupCommit { serving_max: 1, ..GroupCommit::new(4) };
        assert!(together.add(about(1)).unwrap(), "somebody is to serve");
        assert!(!together.add(about(2)).unwrap(), "who serves takes it, too");
        assert_eq!(taken(&together).len(), 2);
        assert!(taken(&together).is_empty());
        assert!(together.add(about(3)).unwrap(), "nobody serves any more");
    }

    #[test]
    fn what_nobody_can_serve_is_refused() {
        let together = GroupCommit { serving_max: 1, ..GroupCommit::new(4) };
        let (work, mut outcome) = WriteFunction::queued(|_: &mut crate::Tx<'_>| Ok(()));
        assert!(together.add(work).unwrap());
        together.give_up();
        assert!(matches!(outcome.try_recv(), Ok(Err(StoreError::Busy))));
    }
}
