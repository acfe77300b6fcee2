//! Functions that lock what they rely on, run several to a transaction: while some are being written, others gather.
//!
//! PostgreSQL's part of a transaction costs about the same for one step of a run as for ten. So no more of its connections
//! serve such functions at a time than can be at work at once, and each takes all that wait.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::StoreError;
use crate::work::Work;

const WAITING_MAX: usize = 1_024;
/// Most functions that share a transaction: whoever comes last waits for all of them.
const SHARING_MAX: usize = 32;

pub(crate) struct Together {
    gathered: Mutex<Gathered>,
    serving_max: usize,
}

#[derive(Default)]
struct Gathered {
    works: VecDeque<Box<dyn Work>>,
    /// Connections that take what is gathered.
    serving: usize,
}

impl Together {
    /// For a store with so many connections; most of them are left to others.
    pub(crate) fn new(connections: usize) -> Self {
        let at_once = std::thread::available_parallelism().map_or(1, usize::from);
        Self { gathered: Mutex::default(), serving_max: at_once.min(connections / 2).max(1) }
    }

    /// How many connections serve at most.
    pub(crate) fn serving_max(&self) -> usize {
        self.serving_max
    }

    /// Adds one; says whether another connection is to serve ([`Self::next`] until there is nothing).
    pub(crate) fn add(&self, work: Box<dyn Work>) -> Result<bool, StoreError> {
        let mut gathered = self.lock();
        if gathered.works.len() >= WAITING_MAX {
            return Err(StoreError::Busy);
        }
        gathered.works.push_back(work);
        let is_needed = gathered.serving < self.serving_max;
        gathered.serving += usize::from(is_needed);
        Ok(is_needed)
    }

    /// What is to be run next; after nothing, whoever asked serves no more. Two that move the same run never share.
    pub(crate) fn next(&self) -> Vec<Box<dyn Work>> {
        let mut gathered = self.lock();
        let (mut taken, mut runs) = (Vec::new(), HashSet::new());
        while let Some(work) = gathered.works.front()
            && taken.len() < SHARING_MAX
            && work.about().is_none_or(|run| runs.insert(run))
        {
            taken.extend(gathered.works.pop_front());
        }
        gathered.serving -= usize::from(taken.is_empty());
        taken
    }

    /// Nobody could be sent to serve: what is gathered is refused, unless somebody else serves.
    pub(crate) fn give_up(&self) {
        let mut gathered = self.lock();
        gathered.serving -= 1;
        if gathered.serving == 0 {
            gathered.works.drain(..).for_each(|work| work.refuse(StoreError::Busy));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use skein_core::RunId;

    use super::*;
    use crate::work::Function;

    fn about(run: u8) -> Box<dyn Work> {
        let run = (run > 0).then(|| RunId::from_bytes([run; 16]));
        Function::queued_about(run, |_: &mut crate::Tx<'_>| Ok(())).0
    }

    fn taken(together: &Together) -> Vec<Option<u8>> {
        together.next().iter().map(|work| work.about().map(|run| run.as_bytes()[0])).collect()
    }

    #[test]
    fn two_that_move_one_run_never_share() {
        let together = Together::new(4);
        for run in [1, 2, 0, 0, 1, 2] {
            together.add(about(run)).unwrap();
        }
        assert_eq!(taken(&together), [Some(1), Some(2), None, None]);
        assert_eq!(taken(&together), [Some(1), Some(2)]);
        assert!(taken(&together).is_empty());
    }

    #[test]
    fn no_more_serve_than_can_be_at_work_and_each_until_nothing_waits() {
        let together = Together { serving_max: 1, ..Together::new(4) };
        assert!(together.add(about(1)).unwrap(), "somebody is to serve");
        assert!(!together.add(about(2)).unwrap(), "who serves takes it, too");
        assert_eq!(taken(&together).len(), 2);
        assert!(taken(&together).is_empty());
        assert!(together.add(about(3)).unwrap(), "nobody serves any more");
    }

    #[test]
    fn what_nobody_can_serve_is_refused() {
        let together = Together { serving_max: 1, ..Together::new(4) };
        let (work, mut outcome) = Function::queued(|_: &mut crate::Tx<'_>| Ok(()));
        assert!(together.add(work).unwrap());
        together.give_up();
        assert!(matches!(outcome.try_recv(), Ok(Err(StoreError::Busy))));
    }
}
