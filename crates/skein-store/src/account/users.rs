//! Stores users and API keys as records, and looks up the owner of a key.

use serde_json::{Map, Value, json};
use skein_core::account::{Role, Scope};
use skein_core::garden::record::{Act, ChangeNote, Record, RecordContent, RecordType};
use skein_core::{Digest, KeyId, Millis, RecordId, UserId, Viewer};

use crate::db::sql::params;
use crate::error::StoreError;
use crate::timeline::items::{Page, page};
pub use crate::timeline::projection::API_KEY;
use crate::timeline::records::{RECORD_COLUMNS, RECORDS_PER_PAGE_MAX, read_record};
use crate::tx::{Tx, system_only};

const USER: &str = "User";
/// The entry of `meta` that names the first user; kept by backups.
pub(crate) const FIRST_USER: &str = "first_user";

/// Who a key belongs to and what it may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyOwner {
    pub key: KeyId,
    pub user: UserId,
    pub role: Role,
    pub scope: Scope,
    /// When the key stops counting; never, without a time.
    pub expires_at: Option<Millis>,
}

/// The field of an API key's record that says when it expires; keys of older stores have none.
const EXPIRES_AT: &str = "expiresAt";

impl Tx<'_> {
    /// Creates a user, who owns their own record.
    pub fn create_user(&mut self, viewer: &Viewer, name: &str, role: Role) -> Result<UserId, StoreError> {
        self.create_user_by(viewer, viewer.owner(), name, role)
    }

    /// [`Self::create_user`] at the word of `author`.
    pub fn create_user_by(
        &mut self,
        viewer: &Viewer,
        author: UserId,
        name: &str,
        role: Role,
    ) -> Result<UserId, StoreError> {
        system_only(viewer)?;
        let user = UserId::new(self.id_time(), self.entropy());
        let data = fields([("name", json!(name)), ("role", json!(role))]);
        let content = RecordContent::new(RecordType::parse(USER)?, data);
        let note = ChangeNote { author, reason: None, act: Act::Plain };
        self.create_record_noting(viewer, user.into(), user, content, note)?;
        Ok(user)
    }

    /// Changes the name or role of a user from the state with hash `based_on`, at the word of `author`.
    pub fn change_user(
        &mut self,
        viewer: &Viewer,
        author: UserId,
        user: UserId,
        based_on: Digest,
        name: Option<&str>,
        role: Option<Role>,
    ) -> Result<Record, StoreError> {
        system_only(viewer)?;
        let mut content = self.user(viewer, user)?.content;
        if let Some(name) = name {
            content.data.insert("name".to_owned(), json!(name));
        }
        if let Some(role) = role {
            content.data.insert("role".to_owned(), json!(role));
        }
        let note = ChangeNote { author, reason: None, act: Act::Plain };
        self.commit_change(viewer, user.into(), based_on, content, note)
    }

    /// The record of a user.
    pub fn user(&mut self, viewer: &Viewer, user: UserId) -> Result<Record, StoreError> {
        system_only(viewer)?;
        let found = self.find_record(user.into())?.filter(|record| record.content.record_type.as_str() == USER);
        found.ok_or_else(|| StoreError::NotFound(user.to_string()))
    }

    /// What a user may do to the installation.
    pub fn role(&mut self, viewer: &Viewer, user: UserId) -> Result<Role, StoreError> {
        let role = self.user(viewer, user)?.content.data.get("role").cloned().unwrap_or_default();
        serde_json::from_value(role).map_err(|_| StoreError::Damaged(format!("the role of {user} cannot be read")))
    }

    /// Every user, in the order they were made.
    pub fn users(
        &mut self,
        viewer: &Viewer,
        after: Option<UserId>,
        limit: usize,
    ) -> Result<Page<Record, UserId>, StoreError> {
        system_only(viewer)?;
        let limit = limit.clamp(1, RECORDS_PER_PAGE_MAX);
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let after = after.unwrap_or(UserId::from_bytes([0; 16]));
        let sql = format!(
            "SELECT {RECORD_COLUMNS} FROM records WHERE type = 'User' AND (created_at, id) > (?1, ?2)
             ORDER BY created_at, id LIMIT ?3"
        );
        // A user who was created elsewhere and imported has an id older than its place here; a page begins at the row itself.
        let at = self.first("SELECT created_at FROM records WHERE id = ?1", params![&after], |row| row.int(0))?;
        let rows = self.all(&sql, params![at.unwrap_or(i64::MIN), &after, one_more], read_record)?;
        Ok(page(rows, limit, |last| UserId::from_bytes(*last.id.as_bytes())))
    }

    /// The one user of this name; nobody where several have it.
    pub fn user_named(&mut self, viewer: &Viewer, name: &str) -> Result<Option<UserId>, StoreError> {
        let (mut after, mut found) = (None, Vec::new());
        loop {
            let page = self.users(viewer, after, RECORDS_PER_PAGE_MAX)?;
            let named = page.rows.iter().filter(|record| record.content.name() == Some(name));
            found.extend(named.map(|record| UserId::from_bytes(*record.id.as_bytes())));
            after = page.next;
            match found[..] {
                [one] if after.is_none() => return Ok(Some(one)),
                [] if after.is_none() => return Ok(None),
                [] | [_] => {}
                [_, _, ..] => return Ok(None),
            }
        }
    }

    /// How many administrators there are.
    pub fn admins(&mut self, viewer: &Viewer) -> Result<usize, StoreError> {
        let mut after = None;
        let mut admins = 0;
        loop {
            let page = self.users(viewer, after, RECORDS_PER_PAGE_MAX)?;
            let is_admin = |record: &&Record| record.content.data.get("role") == Some(&json!(Role::Admin));
            admins += page.rows.iter().filter(is_admin).count();
            after = page.next;
            if after.is_none() {
                return Ok(admins);
            }
        }
    }

    /// The user made first, who administers the installation, once that was settled.
    pub fn first_user(&mut self, viewer: &Viewer) -> Result<Option<UserId>, StoreError> {
        system_only(viewer)?;
        let settled = self.first("SELECT value FROM meta WHERE name = ?1", params![FIRST_USER], |row| {
            Ok(row.text(0)?.parse().ok())
        })?;
        Ok(settled.flatten())
    }

    /// Settles for good who the first user is: the first one created here. Somebody older may be brought in later.
    pub fn settle_first_user(&mut self, viewer: &Viewer) -> Result<Option<UserId>, StoreError> {
        if let Some(settled) = self.first_user(viewer)? {
            return Ok(Some(settled));
        }
        let sql = "SELECT id FROM records WHERE type = 'User' ORDER BY created_at, id LIMIT 1";
        let first = self.first(sql, &[], |row| row.array(0).map(UserId::from_bytes))?;
        if let Some(first) = first {
            let sql = "INSERT INTO meta (name, value) VALUES (?1, ?2)";
            self.execute(sql, params![FIRST_USER, &first.to_string()])?;
        }
        Ok(first)
    }

    /// [`Self::create_key_until`] for a key that does not expire.
    pub fn create_key(
        &mut self,
        viewer: &Viewer,
        name: &str,
        scope: Scope,
        key_hash: Digest,
    ) -> Result<KeyId, StoreError> {
        self.create_key_until(viewer, name, scope, key_hash, None)
    }

    /// Registers a key by its hash; the key itself is never kept.
    pub fn create_key_until(
        &mut self,
        viewer: &Viewer,
        name: &str,
        scope: Scope,
        key_hash: Digest,
        expires_at: Option<Millis>,
    ) -> Result<KeyId, StoreError> {
        let mut data =
            fields([("name", json!(name)), ("scope", json!(scope)), ("keyHash", json!(key_hash.to_string()))]);
        data.extend(expires_at.map(|at| (EXPIRES_AT.to_owned(), json!(at))));
        let content = RecordContent::new(RecordType::parse(API_KEY)?, data);
        let record = self.create_record_for(viewer, viewer.owner(), content, None)?;
        Ok(KeyId::from_bytes(*record.id.as_bytes()))
    }

    /// Ends a key for good.
    pub fn revoke_key(&mut self, viewer: &Viewer, key: KeyId) -> Result<(), StoreError> {
        let record = self.record(viewer, RecordId::from_bytes(*key.as_bytes()))?;
        let mut content = record.content;
        content.data.entry("revokedAt").or_insert(json!(self.now().to_string()));
        self.change_record(viewer, record.id, record.hash, content, None)?;
        Ok(())
    }

    /// Whose key this is, unless it is unknown or revoked. Whether it has expired is for the caller to judge.
    pub fn key_holder(&mut self, viewer: &Viewer, key_hash: Digest) -> Result<Option<KeyOwner>, StoreError> {
        system_only(viewer)?;
        let sql = "SELECT k.id, k.owner, k.scope, r.body FROM api_keys k JOIN records r ON r.id = k.id
                   WHERE k.key_hash = ?1 AND k.revoked = 0";
        let found = self.first(sql, params![&key_hash], |row| {
            let (scope, body) = (row.text(2)?.to_owned(), row.text(3)?.to_owned());
            Ok((KeyId::from_bytes(row.array(0)?), UserId::from_bytes(row.array(1)?), scope, body))
        })?;
        let Some((key, user, scope, body)) = found else { return Ok(None) };
        let unreadable = || StoreError::Damaged(format!("{key} cannot be read"));
        let content = serde_json::from_str(&body).ok().and_then(RecordContent::from_document).ok_or_else(unreadable)?;
        let scope = serde_json::from_value(Value::from(scope)).map_err(|_| unreadable())?;
        let (role, expires_at) = (self.role(viewer, user)?, key_expiry(&content).ok_or_else(unreadable)?);
        Ok(Some(KeyOwner { key, user, role, scope, expires_at }))
    }

    /// Whether a key has not been ended.
    pub fn is_key_live(&mut self, viewer: &Viewer, key: KeyId) -> Result<bool, StoreError> {
        system_only(viewer)?;
        let sql = "SELECT revoked FROM api_keys WHERE id = ?1 AND revoked = 0";
        Ok(self.first(sql, params![&key], |row| row.int(0))?.is_some())
    }

    /// Notes that a key was used; kept beside the record, outside its history (decision Z19).
    pub fn touch_key(&mut self, viewer: &Viewer, key: KeyId) -> Result<(), StoreError> {
        system_only(viewer)?;
        let now = self.now();
        self.execute(
            "INSERT INTO key_usage (id, last_used_at) VALUES (?1, ?2)
             ON CONFLICT (id) DO UPDATE SET last_used_at = excluded.last_used_at",
            params![&key, now],
        )?;
        Ok(())
    }

    pub fn key_last_used(&mut self, viewer: &Viewer, key: KeyId) -> Result<Option<Millis>, StoreError> {
        self.record(viewer, RecordId::from_bytes(*key.as_bytes()))?;
        self.first("SELECT last_used_at FROM key_usage WHERE id = ?1", params![&key], |row| row.int(0).map(Millis))
    }
}

/// When the key with this record expires; nothing where that cannot be read.
pub fn key_expiry(content: &RecordContent) -> Option<Option<Millis>> {
    serde_json::from_value(content.data.get(EXPIRES_AT).cloned().unwrap_or_default()).ok()
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
