//! One-time links and the browser sessions they are exchanged for; only the hash of a token is kept.

use skein_core::{Digest, Millis, UserId, Viewer};

use crate::error::StoreError;
use crate::sql::params;
use crate::tx::{Tx, system_only};

/// A signed-in browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session {
    pub user: UserId,
    pub expires_at: Millis,
}

impl Tx<'_> {
    /// Lets whoever brings the token sign in once, as `user`, until `expires_at`.
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

    /// Exchanges a link for a session; the link is used up, whoever else has it.
    pub fn redeem_link(
        &mut self,
        viewer: &Viewer,
        link: Digest,
        session: Digest,
        session_ms: i64,
    ) -> Result<Option<Session>, StoreError> {
        system_only(viewer)?;
        let sql = "DELETE FROM sessions WHERE token_hash = ?1 AND kind = 'link' RETURNING owner, expires_at";
        let read = |row: &dyn crate::sql::Row| Ok((UserId::from_bytes(row.array(0)?), Millis(row.int(1)?)));
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
