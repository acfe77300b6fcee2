//! Locks the trees of one owner until the writer to them has ended (`docs/decisions/0041-turns-under-the-lock-of-their-trees.md`).
//!
//! They are advisory locks, because a lock of a row would give the transaction its number before it has waited. Then a writer
//! could build on what stands after it on the timeline, and a rebuild would meet both in the wrong order.

use skein_core::{Digest, UserId};

use crate::db::queued_write::{LockTarget, QueuedWrite};

/// Takes the lock ?1 until the transaction ends.
pub(super) const LOCK: &str = "SELECT pg_advisory_xact_lock(?1)";

/// The lock of the trees of one owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TreeLock(i64);

impl TreeLock {
    /// Two owners may have the same lock; then one of them waits for the other now and then.
    pub(crate) fn of(owner: UserId) -> Self {
        let digest = Digest::of(&[&b"trees of "[..], owner.as_bytes()].concat());
        Self(i64::from_be_bytes(digest.0[..8].try_into().expect("a digest has more than eight bytes")))
    }

    pub(super) fn key(self) -> i64 {
        self.0
    }
}

/// The locks of the trees that these functions write to, each once and in the same order for everybody.
pub(super) fn trees_of<'w>(works: impl IntoIterator<Item = &'w dyn QueuedWrite>) -> Vec<TreeLock> {
    let lock = |work: &dyn QueuedWrite| work.about().and_then(LockTarget::trees).map(TreeLock::of);
    let mut trees: Vec<TreeLock> = works.into_iter().filter_map(lock).collect();
    trees.sort_unstable();
    trees.dedup();
    trees
}

/// Statements that take these locks until the transaction ends.
pub(super) fn transaction_locks(trees: &[TreeLock]) -> String {
    statements("pg_advisory_xact_lock", trees)
}

/// Statements that take these locks for the session, and that give them back.
pub(super) fn session_locks(trees: &[TreeLock]) -> (String, String) {
    (statements("pg_advisory_lock", trees), statements("pg_advisory_unlock", trees))
}

fn statements(function: &str, trees: &[TreeLock]) -> String {
    let each: Vec<String> = trees.iter().map(|lock| format!("SELECT {function}({})", lock.0)).collect();
    each.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_of_an_owner_is_the_same_at_every_server() {
        let lock = TreeLock::of(UserId::from_bytes([7; 16]));
        assert_eq!(lock, TreeLock::of(UserId::from_bytes([7; 16])));
        assert_ne!(lock, TreeLock::of(UserId::from_bytes([8; 16])));
        assert_eq!(
            transaction_locks(&[TreeLock(3), TreeLock(-4)]),
            "SELECT pg_advisory_xact_lock(3); SELECT pg_advisory_xact_lock(-4)"
        );
    }
}
