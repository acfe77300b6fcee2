//! Defines users as viewers: role, scope, grants, and the content each may read or write.
//!
//! Every call of the store begins with a [`Viewer`]; what a viewer may read or write is decided here and
//! asked nowhere else.

pub mod expiry;
pub mod idempotency;

use crate::id::{ItemId, UserId};
use crate::rule::RuleViolation;
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

/// Longest a grant lasts: thirty days.
pub const GRANT_MS_MAX: i64 = 30 * 24 * 60 * 60 * 1_000;
const GRANT_NAME_CHARS_MAX: usize = 100;
const GRANT_REASON_CHARS_MAX: usize = 1_000;

/// What an administrator asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantDraft {
    /// Whose things are to be seen.
    pub owner: UserId,
    pub name: String,
    pub reason: String,
    pub until: Millis,
}

impl GrantDraft {
    /// Refuses what is unnamed, unreasoned, unlimited or pointless.
    pub fn check(&self, admin: UserId, now: Millis) -> Result<(), RuleViolation> {
        let refuse = |problem: &str, remedy| Err(RuleViolation::new("BR-SEC-002", problem, remedy));
        let fits = |text: &str, limit| !text.trim().is_empty() && text.chars().count() <= limit;
        if !fits(&self.name, GRANT_NAME_CHARS_MAX) || !fits(&self.reason, GRANT_REASON_CHARS_MAX) {
            let remedy = "name it in up to 100 characters and say why in up to 1000";
            return refuse("a grant has a name and a reason", remedy);
        }
        if self.owner == admin || self.owner == UserId::SYSTEM {
            return refuse("a grant is for another user's things", "name another user");
        }
        if self.until <= now || self.until > now.plus(GRANT_MS_MAX) {
            return refuse("a grant ends within thirty days", "name a moment in the next thirty days");
        }
        Ok(())
    }
}

impl Viewer {
    /// Whether `owner`'s payloads may be destroyed at this viewer's word: their own, or under a grant.
    pub fn may_redact(&self, owner: UserId, now: Millis) -> bool {
        match self {
            // A request that names a grant means the content it opens, not the caller's own.
            Self::Admin { grant, .. } => grant.owner == owner && now < grant.until,
            Self::User(_) | Self::System(_) => self.may_read(owner, now),
        }
    }

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

    /// Whose things are listed: those a grant opens, else one's own.
    pub fn subject(&self) -> UserId {
        match self {
            Self::Admin { grant, .. } => grant.owner,
            Self::User(_) | Self::System(_) => self.owner(),
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
    fn br_sec_002_a_named_reasoned_limited_grant_holds() {
        let draft = GrantDraft { owner: BERT, name: "ticket 7".into(), reason: "asked to".into(), until: Millis(100) };
        assert!(draft.check(ANNA, Millis(99)).is_ok());
    }

    #[test]
    fn br_sec_002_a_grant_without_reason_or_end_or_for_oneself_refuses() {
        let draft = GrantDraft { owner: BERT, name: "ticket 7".into(), reason: "asked to".into(), until: Millis(100) };
        let refused = |draft: GrantDraft| draft.check(ANNA, Millis(50)).unwrap_err().rule();
        assert_eq!(refused(GrantDraft { reason: " ".into(), ..draft.clone() }), "BR-SEC-002");
        assert_eq!(refused(GrantDraft { owner: ANNA, ..draft.clone() }), "BR-SEC-002");
        assert_eq!(refused(GrantDraft { until: Millis(50), ..draft.clone() }), "BR-SEC-002");
        assert_eq!(refused(GrantDraft { until: Millis(51 + GRANT_MS_MAX), ..draft }), "BR-SEC-002");
    }

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
        assert!(viewer.may_redact(BERT, Millis(99)) && !viewer.may_redact(BERT, Millis(100)));
        assert!(!viewer.may_redact(ANNA, Millis(99)));
    }
}
