//! Exchanges one-time links for browser sessions. Only the hash of a token is stored.

use skein_core::{Digest, Millis, SessionId, UserId, Viewer};

use crate::db::sql::params;
use crate::error::StoreError;
use crate::timeline::items::{Page, page};
use crate::tx::{Tx, system_only};

/// A signed-in browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    pub user: UserId,
    pub expires_at: Millis,
}

/// Most sessions one page holds.
pub const SESSIONS_PER_PAGE_MAX: usize = 1_000;

/// A signed-in browser as its person sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenSession {
    pub token: Digest,
    pub started_at: Millis,
    pub expires_at: Millis,
}

impl OpenSession {
    /// Half of the hash of its token: enough to name it, and no way to the token.
    pub fn id(&self) -> SessionId {
        session_id(self.token)
    }
}

/// What the session with this token is called.
pub fn session_id(token: Digest) -> SessionId {
    SessionId::from_slice(&token.as_bytes()[..16]).expect("a digest has 32 bytes")
}

/// The first and the last hash a token of that session could have.
fn hashes(id: SessionId) -> (Digest, Digest) {
    let with = |rest: u8| {
        let mut hash = [rest; 32];
        hash[..16].copy_from_slice(id.as_bytes());
        Digest(hash)
    };
    (with(0), with(255))
}

impl Tx<'_> {
    /// Lets the bearer of the token sign in once, as `user`, until `expires_at`.
    pub fn admit_link(
        &mut self,
        viewer: &Viewer,
        user: UserId,
        token: Digest,
        expires_at: Millis,
    ) -> Result<(), StoreError> {
        system_only(viewer)?;
        self.insert_token("link", user, token, expires_at)
    }

    /// Exchanges a link for a session; the link is used up, even if others have it.
    pub fn redeem_link(
        &mut self,
        viewer: &Viewer,
        link: Digest,
        session: Digest,
        session_ms: i64,
    ) -> Result<Option<Session>, StoreError> {
        system_only(viewer)?;
        let sql = "DELETE FROM sessions WHERE token_hash = ?1 AND kind = 'link' RETURNING owner, expires_at";
        let read = |row: &dyn crate::db::sql::Row| Ok((UserId::from_bytes(row.array(0)?), Millis(row.int(1)?)));
        let Some((user, link_until)) = self.first(sql, params![&link], read)? else { return Ok(None) };
        if link_until <= self.now() {
            return Ok(None);
        }
        let expires_at = self.now().plus(session_ms);
        self.insert_token("session", user, session, expires_at)?;
        Ok(Some(Session { user, expires_at }))
    }

    fn insert_token(&mut self, kind: &str, user: UserId, token: Digest, until: Millis) -> Result<(), StoreError> {
        let now = self.now();
        self.execute(
            "INSERT INTO sessions (token_hash, kind, owner, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![&token, kind, &user, now, until],
        )?;
        Ok(())
    }

    /// Whose session this is, unless it ended or ran out.
    pub fn session(&mut self, viewer: &Viewer, token: Digest) -> Result<Option<Session>, StoreError> {
        system_only(viewer)?;
        let now = self.now();
        let sql =
            "SELECT owner, expires_at FROM sessions WHERE token_hash = ?1 AND kind = 'session' AND expires_at > ?2";
        self.first(sql, params![&token, now], |row| {
            Ok(Session { user: UserId::from_bytes(row.array(0)?), expires_at: Millis(row.int(1)?) })
        })
    }

    /// The viewer's sessions that go on, by id.
    pub fn sessions(
        &mut self,
        viewer: &Viewer,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Page<OpenSession, SessionId>, StoreError> {
        let (owner, now) = (viewer.owner(), self.now());
        let after = after.map_or(Digest([0; 32]), |id| hashes(id).1);
        let limit = limit.clamp(1, SESSIONS_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let sql = "SELECT token_hash, created_at, expires_at FROM sessions
                   WHERE kind = 'session' AND owner = ?1 AND expires_at > ?2 AND token_hash > ?3
                   ORDER BY token_hash LIMIT ?4";
        let rows = self.all(sql, params![&owner, now, &after, one_more], |row| {
            Ok(OpenSession {
                token: Digest(row.array(0)?),
                started_at: Millis(row.int(1)?),
                expires_at: Millis(row.int(2)?),
            })
        })?;
        Ok(page(rows, limit, OpenSession::id))
    }

    /// Ends a session of the viewer's by its id.
    pub fn end_session_named(&mut self, viewer: &Viewer, id: SessionId) -> Result<(), StoreError> {
        let (first, last) = hashes(id);
        let sql = "DELETE FROM sessions WHERE kind = 'session' AND owner = ?1 AND token_hash BETWEEN ?2 AND ?3";
        match self.execute(sql, params![&viewer.owner(), &first, &last])? {
            0 => Err(StoreError::NotFound(id.to_string())),
            _ => Ok(()),
        }
    }

    /// Whom an unused link signs in.
    pub fn link_holder(&mut self, viewer: &Viewer, link: Digest) -> Result<Option<UserId>, StoreError> {
        system_only(viewer)?;
        let now = self.now();
        let sql = "SELECT owner FROM sessions WHERE token_hash = ?1 AND kind = 'link' AND expires_at > ?2";
        self.first(sql, params![&link, now], |row| row.array(0).map(UserId::from_bytes))
    }

    /// Takes away the viewer's unused links that were made to last no longer than `lasts_ms`.
    pub fn end_links(&mut self, viewer: &Viewer, lasts_ms: i64) -> Result<(), StoreError> {
        let sql = "DELETE FROM sessions WHERE kind = 'link' AND owner = ?1 AND expires_at - created_at <= ?2";
        self.execute(sql, params![&viewer.owner(), lasts_ms])?;
        Ok(())
    }

    /// Ends a session; one that is unknown stays so.
    pub fn end_session(&mut self, viewer: &Viewer, token: Digest) -> Result<(), StoreError> {
        let sql = "DELETE FROM sessions WHERE token_hash = ?1 AND owner = ?2";
        self.execute(sql, params![&token, &viewer.owner()])?;
        Ok(())
    }

    /// Takes away links and sessions that ran out; says how many.
    pub fn sweep_sessions(&mut self, viewer: &Viewer) -> Result<u64, StoreError> {
        system_only(viewer)?;
        let now = self.now();
        Ok(self.execute("DELETE FROM sessions WHERE expires_at <= ?1", params![now])?)
    }
}
