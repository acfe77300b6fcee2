//! Provides `now`: the system clock, or a stopped clock for tests.
//!
//! A write transaction has one `now`: on PostgreSQL the database's, on SQLite this process's, clamped so that
//! it never runs backwards. Tests stop it.

use std::sync::atomic::{AtomicI64, Ordering};

use skein_core::Millis;

/// A source of time.
pub trait Clock: Send + Sync {
    fn now(&self) -> Millis;
}

/// The machine's clock.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn now(&self) -> Millis {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}

/// The machine's clock, so many milliseconds ahead.
#[derive(Debug)]
pub struct ClockAhead(pub i64);

impl Clock for ClockAhead {
    fn now(&self) -> Millis {
        SystemClock.now().plus(self.0)
    }
}

/// A clock that moves only when told to.
#[derive(Debug)]
pub struct StoppedClock(AtomicI64);

impl StoppedClock {
    pub fn at(moment: Millis) -> Self {
        Self(AtomicI64::new(moment.0))
    }

    pub fn advance(&self, milliseconds: i64) {
        self.0.fetch_add(milliseconds, Ordering::SeqCst);
    }
}

impl Clock for StoppedClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}
