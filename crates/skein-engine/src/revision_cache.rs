//! Caches reads until the next revision.
//!
//! Where this process alone can commit, a look at the count of revisions ([`crate::Engine::revisions_here`]) is enough to
//! know that no record, no mark and no health changed in between; elsewhere there is no such count, and nothing is
//! remembered.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// Most things remembered at once; beyond that all are forgotten, and read again as they are asked for.
const REMEMBERED_MAX: usize = 1_024;

/// Values by what they answer.
pub struct RevisionCache<K, V>(Mutex<CachedValue<K, V>>);

struct CachedValue<K, V> {
    /// After how many revisions they were read.
    revisions: u64,
    values: HashMap<K, V>,
}

impl<K, V> Default for RevisionCache<K, V> {
    fn default() -> Self {
        Self(Mutex::new(CachedValue { revisions: 0, values: HashMap::new() }))
    }
}

impl<K: Eq + Hash, V: Clone> RevisionCache<K, V> {
    /// What was read, if that was after this many revisions.
    pub fn find(&self, revisions: u64, key: &K) -> Option<V> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.revisions == revisions { known.values.get(key).cloned() } else { None }
    }

    /// Remembers what was read when `revisions` had been made: they were counted before reading.
    pub fn remember(&self, revisions: u64, key: K, value: V) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.revisions > revisions {
            return;
        }
        if known.revisions < revisions || known.values.len() >= REMEMBERED_MAX {
            known.values.clear();
            known.revisions = revisions;
        }
        known.values.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_holds_until_the_next_revision() {
        let remembered = RevisionCache::default();
        remembered.remember(5, "key", 1);
        assert_eq!(remembered.find(5, &"key"), Some(1));
        assert_eq!(remembered.find(6, &"key"), None);
    }

    #[test]
    fn a_late_look_does_not_overrule_a_newer_one() {
        let remembered = RevisionCache::default();
        remembered.remember(6, "key", 2);
        remembered.remember(5, "key", 1);
        assert_eq!((remembered.find(6, &"key"), remembered.find(5, &"key")), (Some(2), None));
    }

    #[test]
    fn not_more_than_a_limit_is_remembered() {
        let remembered = RevisionCache::default();
        for key in 0..=2 * REMEMBERED_MAX {
            remembered.remember(0, key, key);
        }
        assert_eq!(remembered.find(0, &(2 * REMEMBERED_MAX)), Some(2 * REMEMBERED_MAX));
        assert!(remembered.0.lock().unwrap().values.len() <= REMEMBERED_MAX);
    }
}
