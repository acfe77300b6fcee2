//! Lets a function ask for a computation: it ends, the computation runs elsewhere, and the function runs again.
//!
//! A transaction on SQLite holds the one writing thread, so a function must not compute for long itself. It ends with
//! [`StoreError::NeedsComputation`] instead. The store runs the computation, keeps its result, and runs the function again. The
//! caller finds the result where it put it; the store knows neither its purpose nor its place.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::StoreError;
use crate::tx::{IdDraws, Tx};

/// Most computations that one function may ask for, one after the other; one that asks for more is refused.
const COMPUTATIONS_MAX: usize = 256;

/// What a computation made; it stays as long as somebody holds this.
pub type Computed = Arc<dyn Any + Send + Sync>;

type Running = Pin<Box<dyn Future<Output = Result<Computed, StoreError>> + Send>>;

/// A computation that a function needs before it can go on.
pub struct Computation(Mutex<Running>);

impl Computation {
    /// Nothing of it runs before the function has ended.
    pub fn new(running: impl Future<Output = Result<Computed, StoreError>> + Send + 'static) -> Self {
        Self(Mutex::new(Box::pin(running)))
    }

    /// Waits for its result.
    pub async fn run(self) -> Result<Computed, StoreError> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).await
    }
}

impl fmt::Debug for Computation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Computation")
    }
}

/// Tries until nothing more is to be computed. What was computed stays until then.
pub(crate) async fn until_computed<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let mut computed = Vec::new();
    loop {
        match attempt().await {
            Err(StoreError::NeedsComputation(computation)) if computed.len() < COMPUTATIONS_MAX => {
                computed.push(computation.run().await?);
            }
            outcome => return outcome,
        }
    }
}

/// A function that can be handed to a writer again. Each attempt draws the ids of the first.
pub(crate) struct Again<F>(Arc<Mutex<(F, Option<IdDraws>)>>);

impl<F> Again<F> {
    pub(crate) fn new(function: F) -> Self {
        Self(Arc::new(Mutex::new((function, None))))
    }

    /// The function for one more attempt.
    pub(crate) fn attempt<T>(&self) -> impl FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + use<T, F>
    where
        F: FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let shared = Arc::clone(&self.0);
        move |tx| {
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let (function, draws) = &mut *shared;
            tx.draw_as(*draws.get_or_insert(tx.draws()));
            function(tx)
        }
    }
}
