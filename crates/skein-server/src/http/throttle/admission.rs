//! Limits how much of one kind of work is done at once: for the whole server, and for each user.
//!
//! Work beyond a limit is refused and not queued: a queue holds its requests in memory and only grows. The limit of one user is
//! below that of the server, so nobody can take all places.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use skein_core::UserId;

use crate::http::error::ApiError;

/// How many places there are for one kind of work.
#[derive(Debug, Clone)]
pub(crate) struct AdmissionLimit(Arc<AdmissionParts>);

#[derive(Debug)]
struct AdmissionParts {
    /// The kind of work, in the plural, as people are told.
    work: &'static str,
    per_server: usize,
    per_user: usize,
    taken: Mutex<HashMap<UserId, usize>>,
}

/// A place; it is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct AdmissionPermit {
    limit: AdmissionLimit,
    user: UserId,
}

impl AdmissionLimit {
    pub(crate) fn new(work: &'static str, per_server: usize, per_user: usize) -> Self {
        Self(Arc::new(AdmissionParts { work, per_server, per_user, taken: Mutex::default() }))
    }

    /// Takes a place for a user, or says which limit is reached.
    pub(crate) fn admit(&self, user: UserId) -> Result<AdmissionPermit, ApiError> {
        let AdmissionParts { work, per_server, per_user, taken } = &*self.0;
        let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.get(&user).is_some_and(|count| count >= per_user) {
            return Err(ApiError::too_many_at_once(work, *per_user));
        }
        if taken.values().sum::<usize>() >= *per_server {
            return Err(ApiError::server_full(work, *per_server));
        }
        *taken.entry(user).or_default() += 1;
        Ok(AdmissionPermit { limit: self.clone(), user })
    }
}

impl Drop for AdmissionPermit {
    fn drop(&mut self) {
        let mut taken = self.limit.0.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;

    use super::*;

    fn user(number: u8) -> UserId {
        UserId::from_bytes([number; 16])
    }

    fn status(admitted: Result<AdmissionPermit, ApiError>) -> u16 {
        admitted.expect_err("it should be refused").into_response().status().as_u16()
    }

    #[test]
    fn a_user_beyond_their_limit_and_a_full_server_are_refused_until_a_place_is_free() {
        let limit = AdmissionLimit::new("uploads", 3, 2);
        let first = limit.admit(user(1)).unwrap();
        let _second = limit.admit(user(1)).unwrap();
        assert_eq!(status(limit.admit(user(1))), 429);
        let _other = limit.admit(user(2)).unwrap();
        assert_eq!(status(limit.admit(user(3))), 503);
        drop(first);
        assert!(limit.admit(user(3)).is_ok());
        assert!(limit.admit(user(1)).is_ok());
    }
}
