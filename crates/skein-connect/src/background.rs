//! Runs work over long texts away from the threads that answer requests; over short ones, at once.

use std::panic::resume_unwind;

/// Work over so many bytes is done within a few milliseconds.
const INLINE_BYTES_MAX: usize = 16 << 10;

/// The result of work over so many bytes.
pub(crate) async fn run<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes <= INLINE_BYTES_MAX {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime is ending, and the waiting task with it.
            Err(_) => std::future::pending().await,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::thread::current;

    use super::*;

    #[tokio::test]
    async fn only_work_over_few_bytes_runs_on_the_thread_of_the_caller() {
        let here = current().id();
        assert_eq!(run(INLINE_BYTES_MAX, || current().id()).await, here);
        assert_ne!(run(INLINE_BYTES_MAX + 1, || current().id()).await, here);
    }
}
