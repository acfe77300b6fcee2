//! What a process would meet if it were run now: how each thing it depends on is, and why.
//!
//! Said for people, before anything is run; whether a call may really be made is judged anew right before it goes out
//! ([`super::authorization`]). What was never checked is a warning and no error: it may be tried (decision A51).

use serde::Serialize;

use crate::catalog::health::Health;
use crate::id::UserId;

/// How something is; the later, the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fitness {
    #[default]
    Healthy,
    /// It may be tried.
    Warning,
    /// A run would fail there.
    Error,
}

/// How one thing is, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finding {
    pub fitness: Fitness,
    pub reasons: Vec<String>,
}

impl Finding {
    pub fn error(reason: impl Into<String>) -> Self {
        Self::default().and(Fitness::Error, reason)
    }

    /// What is not there any more.
    pub fn missing() -> Self {
        Self::error("it is not there any more")
    }

    /// One more reason.
    #[must_use]
    pub fn and(mut self, fitness: Fitness, reason: impl Into<String>) -> Self {
        self.fitness = self.fitness.max(fitness);
        self.reasons.push(reason.into());
        self
    }
}

/// What is known of a tool or a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub owner: UserId,
    pub shared: bool,
    pub enabled: bool,
    /// What the last check found; nothing if there was none.
    pub checked: Option<Health>,
    /// What it found wrong, as far as whoever asks may know.
    pub error: Option<String>,
    /// Why a tool does not fit its service any more.
    pub unfit: Option<String>,
}

impl Condition {
    /// How it is for things of `user`.
    pub fn finding(&self, user: UserId) -> Finding {
        let mut found = Finding::default();
        if self.owner != user && !self.shared {
            found = found.and(Fitness::Error, "it is not shared by its owner any more");
        }
        if !self.enabled {
            return found.and(Fitness::Error, "it is disabled");
        }
        if let Some(unfit) = &self.unfit {
            found = found.and(Fitness::Error, unfit.clone());
        }
        let told = |words: &str| self.error.clone().unwrap_or_else(|| words.to_owned());
        match self.checked {
            Some(Health::Healthy) => found,
            None => found.and(Fitness::Warning, "it was never checked"),
            Some(Health::Degraded) => found.and(Fitness::Warning, told("its last check found it degraded")),
            Some(Health::Down) => found.and(Fitness::Error, told("its last check found it down")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNA: UserId = UserId::from_bytes([1; 16]);
    const BERT: UserId = UserId::from_bytes([2; 16]);

    fn condition() -> Condition {
        let (shared, enabled, error, unfit) = (false, true, None, None);
        Condition { owner: ANNA, shared, enabled, checked: Some(Health::Healthy), error, unfit }
    }

    fn check(condition: &Condition, user: UserId, fitness: Fitness, reason: &str) {
        let found = condition.finding(user);
        assert_eq!((found.fitness, found.reasons.join("; ")), (fitness, reason.to_owned()));
    }

    #[test]
    fn what_works_is_healthy_and_what_was_never_checked_may_be_tried() {
        check(&condition(), ANNA, Fitness::Healthy, "");
        check(&Condition { shared: true, ..condition() }, BERT, Fitness::Healthy, "");
        check(&Condition { checked: None, ..condition() }, ANNA, Fitness::Warning, "it was never checked");
        let slow =
            Condition { checked: Some(Health::Degraded), error: Some("it answered 503".to_owned()), ..condition() };
        check(&slow, ANNA, Fitness::Warning, "it answered 503");
    }

    #[test]
    fn what_a_run_would_fail_at_is_an_error() {
        check(&condition(), BERT, Fitness::Error, "it is not shared by its owner any more");
        check(&Condition { enabled: false, ..condition() }, ANNA, Fitness::Error, "it is disabled");
        let down = Condition { checked: Some(Health::Down), ..condition() };
        check(&down, ANNA, Fitness::Error, "its last check found it down");
        let unfit = Condition { unfit: Some("region is missing".to_owned()), checked: None, ..condition() };
        check(&unfit, ANNA, Fitness::Error, "region is missing; it was never checked");
        assert_eq!(Finding::missing().fitness, Fitness::Error);
    }
}
