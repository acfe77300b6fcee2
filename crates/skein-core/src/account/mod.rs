//! Who is asking, and what they may see.
//!
//! Every call of the store begins with a [`Viewer`]; what a viewer may read or write is decided here and
//! asked nowhere else.

use crate::id::{ItemId, UserId};
use crate::time::Millis;

/// On whose behalf something is read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Viewer {
    /// A signed-in person or their key.
    User(UserId),
    /// An administrator looking at one other user's data, by a recorded grant (decision Z23).
    Admin { user: UserId, grant: Grant },
    /// Skein itself, for the reason given: sealing, following, verifying.
    System(&'static str),
}

/// A named, reasoned, time-limited permission to see one user's data; `item` is where it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub item: ItemId,
    pub owner: UserId,
    pub until: Millis,
}

impl Viewer {
    pub fn may_read(&self, owner: UserId, now: Millis) -> bool {
        match self {
            Self::User(user) => *user == owner,
            Self::Admin { user, grant } => *user == owner || (grant.owner == owner && now < grant.until),
            Self::System(_) => true,
        }
    }

    /// A grant lets an administrator look, never write in another's name.
    pub fn may_write(&self, owner: UserId) -> bool {
        match self {
            Self::User(user) | Self::Admin { user, .. } => *user == owner,
            Self::System(_) => true,
        }
    }

    /// In whose name new things are made.
    pub fn owner(&self) -> UserId {
        match self {
            Self::User(user) | Self::Admin { user, .. } => *user,
            Self::System(_) => UserId::SYSTEM,
        }
    }
}

/// What a user may do to the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Admin,
}

/// What a key may be used for; each includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Read,
    Write,
    Admin,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNA: UserId = UserId::from_bytes([1; 16]);
    const BERT: UserId = UserId::from_bytes([2; 16]);

    #[test]
    fn a_user_sees_only_their_own() {
        let viewer = Viewer::User(ANNA);
        assert!(viewer.may_read(ANNA, Millis(0)) && viewer.may_write(ANNA));
        assert!(!viewer.may_read(BERT, Millis(0)) && !viewer.may_write(BERT));
    }

    #[test]
    fn a_grant_lets_an_admin_read_until_it_ends_and_never_write() {
        let grant = Grant { item: ItemId::from_bytes([9; 16]), owner: BERT, until: Millis(100) };
        let viewer = Viewer::Admin { user: ANNA, grant };
        assert!(viewer.may_read(BERT, Millis(99)));
        assert!(!viewer.may_read(BERT, Millis(100)));
        assert!(!viewer.may_write(BERT));
    }
}
