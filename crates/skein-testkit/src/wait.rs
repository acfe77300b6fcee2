//! Waiting for what others bring about.
//!
//! A test that looks without a pause takes the processor from the very server it waits for; on two cores that turned
//! starts of a fifth of a second into half a minute. So every look is followed by a moment of rest.

use std::time::{Duration, Instant};

const MOMENT: Duration = Duration::from_millis(3);
/// Far above what anything takes that comes to pass at all.
const PATIENCE: Duration = Duration::from_mins(1);

/// What `look` finds, once it finds something.
///
/// # Panics
/// When it never does; `what` says what was waited for.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it never happened that {what}");
        rest();
    }
}

/// Lets others work for a moment.
pub fn rest() {
    std::thread::park_timeout(MOMENT);
}

/// Lets others work for a moment, in a task.
pub async fn moment() {
    tokio::time::sleep(MOMENT).await;
}
