//! Runs computations away from the threads that answer requests: a few at once, and every user in turn.
//!
//! A request that computes over its input, or over much that is stored, gives its work to [`Compute::run`]. As many run at
//! once as the machine has cores, one user's in half of these places at most, and the places go round the users who wait.
//! Work beyond the limits of waiting is refused, so neither a user nor all of them together fill the memory with it.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skein_core::UserId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Computations of one user that run or wait.
pub const COMPUTATIONS_PER_USER: usize = 32;
/// Computations of all users that run or wait.
pub const COMPUTATIONS_MAX: usize = 256;

/// Computations that run at once, by the cores of the machine. One that takes long leaves another place at least; and places
/// of one user stay below what one user may have under way.
const PLACES: RangeInclusive<usize> = 2..=COMPUTATIONS_PER_USER;

/// Why a computation has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComputeError {
    /// One user has as many under way as one may.
    #[error("you have {COMPUTATIONS_PER_USER} computations under way, the most for one user; retry when one has ended")]
    OfUser,
    /// All users together have.
    #[error("{COMPUTATIONS_MAX} computations are under way, the most for this server; retry after Retry-After")]
    OfServer,
    /// A fault of ours.
    #[error("a computation panicked: {0}")]
    Panicked(String),
}

/// Places for computations. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Compute(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    places: Arc<Semaphore>,
    places_per_user: usize,
    users: Mutex<HashMap<UserId, Share>>,
}

/// What one user has under way.
#[derive(Debug)]
struct Share {
    /// Of the places that may be this user's at once.
    places: Arc<Semaphore>,
    computations: usize,
}

/// One computation that runs or waits; it no longer counts when this is dropped.
#[derive(Debug)]
pub(crate) struct Ticket {
    compute: Compute,
    user: UserId,
    places: Arc<Semaphore>,
}

/// A place for one computation.
#[derive(Debug)]
pub(crate) struct ComputePlace {
    _held: (OwnedSemaphorePermit, OwnedSemaphorePermit, Ticket),
}

impl Compute {
    /// Places for so many computations at once.
    pub fn new(places: NonZeroUsize) -> Self {
        let (places, places_per_user) = (places.get(), places.get().div_ceil(2));
        Self(Arc::new(Parts { places: Arc::new(Semaphore::new(places)), places_per_user, users: Mutex::default() }))
    }

    /// A place for each core, within [`PLACES`].
    pub fn on_this_machine() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let places = cores.clamp(*PLACES.start(), *PLACES.end());
        Self::new(NonZeroUsize::new(places).expect("there is more than none"))
    }

    /// Does a user's work on a thread of its own once it is their turn. Work that began holds its place until it ends, even
    /// when nobody waits for it any more.
    pub async fn run<T: Send + 'static>(
        &self,
        user: UserId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ComputeError> {
        self.place(user).await?.run(work).await
    }

    /// A place, for work whose input is only loaded once there is one.
    pub(crate) async fn place(&self, user: UserId) -> Result<ComputePlace, ComputeError> {
        Ok(self.admit(user)?.place().await)
    }

    /// [`Self::place`] for workers and imports, which are few themselves: they wait and are not refused.
    pub(crate) async fn place_in_time(&self, user: UserId) -> ComputePlace {
        let ticket = self.enter(&mut self.users(), user);
        ticket.place().await
    }

    /// Counts a computation whose input is still to come.
    pub(crate) fn admit(&self, user: UserId) -> Result<Ticket, ComputeError> {
        let mut users = self.users();
        if users.get(&user).is_some_and(|share| share.computations >= COMPUTATIONS_PER_USER) {
            return Err(ComputeError::OfUser);
        }
        if users.values().map(|share| share.computations).sum::<usize>() >= COMPUTATIONS_MAX {
            return Err(ComputeError::OfServer);
        }
        Ok(self.enter(&mut users, user))
    }

    fn enter(&self, users: &mut HashMap<UserId, Share>, user: UserId) -> Ticket {
        let places = self.0.places_per_user;
        let empty = || Share { places: Arc::new(Semaphore::new(places)), computations: 0 };
        let share = users.entry(user).or_insert_with(empty);
        share.computations += 1;
        Ticket { compute: self.clone(), user, places: Arc::clone(&share.places) }
    }

    fn users(&self) -> MutexGuard<'_, HashMap<UserId, Share>> {
        self.0.users.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// [`Compute::run`] for work that was admitted before.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ComputeError> {
        self.place().await.run(work).await
    }

    async fn place(self) -> ComputePlace {
        // One's own turn comes first: so each user stands in the line for all places only as often as they may have some.
        let own = Arc::clone(&self.places).acquire_owned().await.expect("it is never closed");
        let place = Arc::clone(&self.compute.0.places).acquire_owned().await.expect("it is never closed");
        ComputePlace { _held: (place, own, self) }
    }
}

impl ComputePlace {
    /// Does the work on a thread of its own, and gives the place back when it ends.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ComputeError> {
        let working = tokio::task::spawn_blocking(move || {
            let _held = self;
            work()
        });
        working.await.map_err(|error| ComputeError::Panicked(error.to_string()))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut users = self.compute.users();
        if let Some(share) = users.get_mut(&self.user) {
            share.computations -= 1;
            if share.computations == 0 {
                users.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures::poll;

    use super::*;

    const TWO: NonZeroUsize = NonZeroUsize::new(2).expect("two is not zero");

    fn user(number: u8) -> UserId {
        UserId::from_bytes([number; 16])
    }

    /// Work that goes on until it is told to end.
    fn held() -> (mpsc::Sender<()>, impl FnOnce() -> bool + Send) {
        let (end, ended) = mpsc::channel();
        (end, move || ended.recv().is_ok())
    }

    #[tokio::test]
    async fn a_user_whose_work_takes_long_leaves_a_place_to_others() {
        let compute = Compute::new(TWO);
        let (end, work) = held();
        let mut first = Box::pin(compute.run(user(1), work));
        let mut second = Box::pin(compute.run(user(1), || true));
        assert!(poll!(first.as_mut()).is_pending() && poll!(second.as_mut()).is_pending());
        assert_eq!(compute.run(user(2), || 7).await, Ok(7));
        assert!(poll!(second.as_mut()).is_pending());
        end.send(()).unwrap();
        assert_eq!((first.await, second.await), (Ok(true), Ok(true)));
    }

    #[tokio::test]
    async fn what_waits_is_limited_for_a_user_and_for_the_server() {
        let compute = Compute::new(TWO);
        let mut waiting = Vec::new();
        let users = COMPUTATIONS_MAX / COMPUTATIONS_PER_USER;
        for number in 0..users {
            for _ in 0..COMPUTATIONS_PER_USER {
                waiting.push(compute.admit(user(u8::try_from(number).unwrap())).unwrap());
            }
        }
        assert_eq!(compute.admit(user(0)).unwrap_err(), ComputeError::OfUser);
        assert_eq!(compute.admit(user(200)).unwrap_err(), ComputeError::OfServer);
        waiting.pop();
        assert!(compute.admit(user(200)).is_ok());
        drop(waiting);
        assert!(compute.0.users.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_any_more_holds_its_place_until_it_ends() {
        let compute = Compute::new(NonZeroUsize::MIN);
        let (end, work) = held();
        let mut left = Box::pin(compute.run(user(1), work));
        assert!(poll!(left.as_mut()).is_pending());
        drop(left);
        let mut next = Box::pin(compute.run(user(2), || true));
        assert!(poll!(next.as_mut()).is_pending());
        end.send(()).unwrap();
        assert_eq!(next.await, Ok(true));
    }

    #[tokio::test]
    async fn work_that_panics_gives_its_place_back() {
        let compute = Compute::new(NonZeroUsize::MIN);
        let panicked = compute.run(user(1), || -> u8 { panic!("on purpose") }).await;
        assert!(matches!(panicked, Err(ComputeError::Panicked(_))), "{panicked:?}");
        assert_eq!(compute.run(user(1), || 7).await, Ok(7));
    }
}
