//! Decides until when an API key may be used.
//!
//! A key without a time is used until it is revoked. A key that expires cannot make another that outlives it.

use crate::rule::RuleViolation;
use crate::time::Millis;

const RULE: &str = "MG-CORE-007";

/// Whether a key no longer counts at `now`.
pub fn is_expired(expires_at: Option<Millis>, now: Millis) -> bool {
    expires_at.is_some_and(|expires_at| expires_at <= now)
}

/// Refuses a time that is not in the future.
pub fn check_expiry(expires_at: Option<Millis>, now: Millis) -> Result<(), RuleViolation> {
    if !is_expired(expires_at, now) {
        return Ok(());
    }
    let problem = "expiresAt is not in the future, so the key could never be used";
    Err(RuleViolation::new(RULE, problem, "send a later time, or leave it out for a key that does not expire"))
}

/// Whether what lasts until `lasts_until` (for good, without one) goes on after a credential that ends at `ends_at`.
pub fn outlives(lasts_until: Option<Millis>, ends_at: Option<Millis>) -> bool {
    ends_at.is_some_and(|ends_at| lasts_until.is_none_or(|lasts_until| lasts_until > ends_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(7);

    #[test]
    fn a_key_counts_until_the_moment_it_expires() {
        assert!(!is_expired(None, NOW));
        assert!(!is_expired(Some(NOW.plus(1)), NOW));
        assert!(is_expired(Some(NOW), NOW));
    }

    #[test]
    fn mg_core_007_a_key_with_a_time_ahead_or_none_holds() {
        assert_eq!(check_expiry(None, NOW), Ok(()));
        assert_eq!(check_expiry(Some(NOW.plus(1)), NOW), Ok(()));
    }

    #[test]
    fn mg_core_007_a_key_with_a_time_that_has_passed_refuses() {
        for past in [NOW, NOW.plus(-1), Millis(0)] {
            assert_eq!(check_expiry(Some(past), NOW).unwrap_err().rule(), RULE);
        }
    }

    #[test]
    fn what_ends_with_a_credential_or_before_does_not_outlive_it() {
        assert!(!outlives(None, None) && !outlives(Some(NOW), None));
        assert!(!outlives(Some(NOW), Some(NOW)) && !outlives(Some(NOW.plus(-1)), Some(NOW)));
        assert!(outlives(Some(NOW.plus(1)), Some(NOW)) && outlives(None, Some(NOW)));
    }
}
