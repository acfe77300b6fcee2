//! Whose key was whose at the last look, for as long as no record was changed since.
//!
//! A program asks many times in a row with the same key. Where this process alone can commit, a look at the count of
//! revisions is enough to know that no key was revoked and no role changed in between; elsewhere nothing is remembered.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use skein_core::Digest;

use crate::account::Caller;

const KEYS_MAX: usize = 1_024;

#[derive(Default)]
pub(crate) struct KnownKeys(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// After how many revisions they were looked up.
    revisions: u64,
    callers: HashMap<Digest, Caller>,
}

impl KnownKeys {
    /// The holder of a key, if it was looked up after this many revisions.
    pub(crate) fn find(&self, revisions: u64, key: &Digest) -> Option<Caller> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.revisions == revisions { known.callers.get(key).cloned() } else { None }
    }

    /// Remembers what was looked up when `revisions` had been made: read before the look.
    pub(crate) fn remember(&self, revisions: u64, key: Digest, caller: Caller) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.revisions > revisions {
            return;
        }
        if known.revisions < revisions || known.callers.len() >= KEYS_MAX {
            known.callers.clear();
            known.revisions = revisions;
        }
        known.callers.insert(key, caller);
    }
}

#[cfg(test)]
mod tests {
    use skein_core::UserId;
    use skein_core::account::{Role, Scope};

    use super::*;
    use crate::account::Credential;

    fn caller(user: u8) -> Caller {
        let user = UserId::from_bytes([user; 16]);
        Caller { user, role: Role::User, scope: Scope::Read, credential: Credential::Start, grant: None }
    }

    #[test]
    fn what_was_looked_up_holds_until_the_next_revision() {
        let (known, key) = (KnownKeys::default(), Digest([1; 32]));
        known.remember(5, key, caller(1));
        assert_eq!(known.find(5, &key), Some(caller(1)));
        assert_eq!(known.find(6, &key), None);
    }

    #[test]
    fn a_late_look_does_not_overrule_a_newer_one() {
        let (known, key) = (KnownKeys::default(), Digest([1; 32]));
        known.remember(6, key, caller(2));
        known.remember(5, key, caller(1));
        assert_eq!((known.find(6, &key), known.find(5, &key)), (Some(caller(2)), None));
    }
}
