//! Reports whether an execution of a process would fail now, and why: one finding for each dependency.
//!
//! Said for people, before anything is run; whether a call may really be made is judged anew right before it goes out
//! ([`super::authorization`]). What was never checked is a warning and no error: it may be tried (decision A51).

use serde::Serialize;

use crate::catalog::health::Health;
use crate::id::UserId;

/// How something is; the later, the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthLevel {
    #[default]
    Healthy,
    /// It may be tried.
    Warning,
    /// A run would fail there.
    Error,
}

/// How one thing is, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HealthFinding {
    pub fitness: HealthLevel,
    pub reasons: Vec<String>,
}

impl HealthFinding {
    pub fn error(reason: impl Into<String>) -> Self {
        Self::default().and(HealthLevel::Error, reason)
    }

    /// What is not there any more.
    pub fn missing() -> Self {
        Self::error("it is not there any more")
    }

    /// One more reason.
    #[must_use]
    pub fn and(mut self, fitness: HealthLevel, reason: impl Into<String>) -> Self {
        self.fitness = self.fitness.max(fitness);
        self.reasons.push(reason.into());
        self
    }
}

/// What is known of a tool or a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyHealth {
    pub owner: UserId,
    pub shared: bool,
    pub enabled: bool,
    /// What the last check found; nothing if there was none.
    pub checked: Option<Health>,
    /// What it found wrong, as far as the viewer may know.
    pub error: Option<String>,
    /// Why a tool does not fit its service any more.
    pub unfit: Option<String>,
}

impl DependencyHealth {
    /// How it is for things of `user`.
    pub fn finding(&self, user: UserId) -> HealthFinding {
        let mut found = HealthFinding::default();
        if self.owner != user && !self.shared {
            found = found.and(HealthLevel::Error, "it is not shared by its owner any more");
        }
        if !self.enabled {
            return found.and(HealthLevel::Error, "it is disabled");
        }
        if let Some(unfit) = &self.unfit {
            found = found.and(HealthLevel::Error, unfit.clone());
        }
        let told = |words: &str| self.error.clone().unwrap_or_else(|| words.to_owned());
        match self.checked {
            Some(Health::Healthy) => found,
            None => found.and(HealthLevel::Warning, "it was never checked"),
            Some(Health::Degraded) => found.and(HealthLevel::Warning, told("its last check found it degraded")),
            Some(Health::Down) => found.and(HealthLevel::Error, told("its last check found it down")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNA: UserId = UserId::from_bytes([1; 16]);
    const BERT: UserId = UserId::from_bytes([2; 16]);

    fn condition() -> DependencyHealth {
        let (shared, enabled, error, unfit) = (false, true, None, None);
        DependencyHealth { owner: ANNA, shared, enabled, checked: Some(Health::Healthy), error, unfit }
    }

    fn check(condition: &DependencyHealth, user: UserId, fitness: HealthLevel, reason: &str) {
        let found = condition.finding(user);
        assert_eq!((found.fitness, found.reasons.join("; ")), (fitness, reason.to_owned()));
    }

    #[test]
    fn what_works_is_healthy_and_what_was_never_checked_may_be_tried() {
        check(&condition(), ANNA, HealthLevel::Healthy, "");
        check(&DependencyHealth { shared: true, ..condition() }, BERT, HealthLevel::Healthy, "");
        check(&DependencyHealth { checked: None, ..condition() }, ANNA, HealthLevel::Warning, "it was never checked");
        let slow = DependencyHealth {
            checked: Some(Health::Degraded),
            error: Some("it answered 503".to_owned()),
            ..condition()
        };
        check(&slow, ANNA, HealthLevel::Warning, "it answered 503");
    }

    #[test]
    fn what_a_run_would_fail_at_is_an_error() {
        check(&condition(), BERT, HealthLevel::Error, "it is not shared by its owner any more");
        check(&DependencyHealth { enabled: false, ..condition() }, ANNA, HealthLevel::Error, "it is disabled");
        let down = DependencyHealth { checked: Some(Health::Down), ..condition() };
        check(&down, ANNA, HealthLevel::Error, "its last check found it down");
        let unfit = DependencyHealth { unfit: Some("region is missing".to_owned()), checked: None, ..condition() };
        check(&unfit, ANNA, HealthLevel::Error, "region is missing; it was never checked");
        assert_eq!(HealthFinding::missing().fitness, HealthLevel::Error);
    }
}
