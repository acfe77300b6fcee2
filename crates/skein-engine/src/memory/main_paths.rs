//! Caches the nodes on the main paths of each owner's conversations between queries.
//!
//! Whatever may lead a path elsewhere is a fact. So each question looks, in its own snapshot, at the facts behind what was
//! settled when this was read, and only at the conversations they speak of again: it is never out of date, also where other
//! servers write, and an owner's branches cost a question nothing as long as nobody touches them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use skein_core::garden::cursor::Cursor;
use skein_core::{UserId, Viewer};
use skein_recall::{BranchRange, VisibleBranches};
use skein_store::memory::VisibleBranch;
use skein_store::{StoreError, Tx};

use crate::memory::SYSTEM;

/// Branches that are kept of all owners together: some twenty megabytes. Whoever asked longest ago is forgotten first.
const BRANCHES_KEPT_MAX: usize = 200_000;

/// What is known of each owner.
#[derive(Default)]
pub(super) struct Paths(Mutex<CachedPaths>);

#[derive(Default)]
struct CachedPaths {
    owners: HashMap<UserId, OwnerPaths>,
    branches: usize,
    asked: u64,
}

/// What somebody's paths show, and the end of what was settled before that was read.
struct OwnerPaths {
    listed: Arc<VisibleBranches>,
    settled: Cursor,
    branches: usize,
    asked: u64,
}

impl Paths {
    /// What the viewer's main paths show in this snapshot. While nothing changes, always the very same.
    pub(super) fn of(&self, tx: &mut Tx<'_>, viewer: &Viewer) -> Result<Arc<VisibleBranches>, StoreError> {
        let owner = viewer.subject();
        let settled = tx.latest(&SYSTEM)?;
        let listed = match self.known(owner, settled) {
            None => Arc::new(all(tx, viewer)?),
            Some((listed, before)) => match tx.led_since(viewer, before)? {
                None => Arc::new(all(tx, viewer)?),
                Some(led) => {
                    let mut listed = listed;
                    for conversation in led {
                        let ranges: Vec<BranchRange> =
                            tx.main_path_of(viewer, conversation)?.into_iter().map(range).collect();
                        if listed.get(&conversation).map_or(&[][..], Vec::as_slice) != ranges {
                            Arc::make_mut(&mut listed).insert(conversation, ranges);
                        }
                    }
                    listed
                }
            },
        };
        self.keep(owner, &listed, settled);
        Ok(listed)
    }

    /// What is known of an owner, unless the timeline was taken back since.
    fn known(&self, owner: UserId, settled: Cursor) -> Option<(Arc<VisibleBranches>, Cursor)> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.owners.get(&owner).filter(|known| known.settled <= settled)?;
        Some((Arc::clone(&known.listed), known.settled))
    }

    fn keep(&self, owner: UserId, listed: &Arc<VisibleBranches>, settled: Cursor) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.keep(owner, listed, settled);
    }
}

impl CachedPaths {
    fn keep(&mut self, owner: UserId, listed: &Arc<VisibleBranches>, settled: Cursor) {
        self.asked += 1;
        if let Some(known) = self.owners.get_mut(&owner).filter(|known| Arc::ptr_eq(&known.listed, listed)) {
            (known.settled, known.asked) = (settled, self.asked);
            return;
        }
        self.forget(owner);
        let branches = 1 + listed.values().map(Vec::len).sum::<usize>();
        self.branches += branches;
        self.owners.insert(owner, OwnerPaths { listed: Arc::clone(listed), settled, branches, asked: self.asked });
        while self.branches > BRANCHES_KEPT_MAX {
            let Some(longest) = self.owners.iter().min_by_key(|(_, known)| known.asked).map(|(owner, _)| *owner) else {
                break;
            };
            self.forget(longest);
        }
    }

    fn forget(&mut self, owner: UserId) {
        self.branches -= self.owners.remove(&owner).map_or(0, |known| known.branches);
    }
}

fn all(tx: &mut Tx<'_>, viewer: &Viewer) -> Result<VisibleBranches, StoreError> {
    let mut listed = VisibleBranches::new();
    for seen in tx.main_paths(viewer)? {
        listed.entry(seen.conversation).or_default().push(range(seen));
    }
    Ok(listed)
}

pub(super) fn range(seen: VisibleBranch) -> BranchRange {
    BranchRange { branch: seen.branch, down_to: seen.down_to }
}

#[cfg(test)]
mod tests {
    use skein_core::{ConversationId, NodeId};

    use super::*;

    fn listed(branches: usize) -> Arc<VisibleBranches> {
        let range = BranchRange { branch: NodeId::from_bytes([1; 16]), down_to: 1 };
        Arc::new(VisibleBranches::from([(ConversationId::from_bytes([1; 16]), vec![range; branches])]))
    }

    fn user(number: u8) -> UserId {
        UserId::from_bytes([number; 16])
    }

    #[test]
    fn who_asked_longest_ago_is_forgotten_first() {
        let (mut kept, large) = (CachedPaths::default(), listed(BRANCHES_KEPT_MAX / 2 - 10));
        kept.keep(user(1), &large, Cursor::START);
        kept.keep(user(2), &large, Cursor::START);
        kept.keep(user(1), &large, Cursor { tx: 1, position: 1 });
        kept.keep(user(3), &listed(100), Cursor::START);
        assert!(kept.owners.contains_key(&user(1)) && !kept.owners.contains_key(&user(2)));
        kept.keep(user(4), &listed(BRANCHES_KEPT_MAX), Cursor::START);
        assert_eq!((kept.owners.len(), kept.branches), (0, 0), "one that is too large is not kept");
    }

    #[test]
    fn what_stands_behind_the_end_of_the_timeline_is_not_believed() {
        let (paths, later) = (Paths::default(), Cursor { tx: 2, position: 5 });
        paths.keep(user(1), &listed(1), later);
        assert!(paths.known(user(1), later).is_some() && paths.known(user(1), Cursor::START).is_none());
    }
}
