//! Who is asking: the first user, keys, and what a key's holder may do.
//!
//! A key is shown once and kept only as its SHA-256. The key of a start acts as the first administrator and lives as
//! long as the process that printed it. Start at [`Engine::authenticate`].

mod key_text;
mod key_uses;

pub use key_text::{BadKeyText, KeyText};
pub(crate) use key_uses::KeyUses;

use skein_core::account::{Role, Scope};
use skein_core::garden::record::{RecordContent, RecordType};
use skein_core::{KeyId, UserId, Viewer};
use skein_store::accounts::{API_KEY, KeyHolder};
use skein_store::{StoreError, Tx};

use crate::engine::Engine;
use crate::error::EngineError;

const FIRST_USER_NAME: &str = "admin";
const START_KEY_PREFIX: &str = "start ";
const KEYS_PER_PAGE: usize = 1_000;
const SYSTEM: Viewer = Viewer::System("accounts");

/// Someone whose key was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// In whose name things are read and written.
    pub viewer: Viewer,
    /// What the person may do to the installation.
    pub role: Role,
    /// What this key may be used for.
    pub scope: Scope,
    /// The key that was shown.
    pub key: KeyId,
}

impl Caller {
    /// Refuses unless the key may be used for `needed`.
    pub fn require(&self, needed: Scope) -> Result<(), EngineError> {
        if self.scope >= needed {
            return Ok(());
        }
        Err(EngineError::ScopeTooNarrow { held: self.scope, needed })
    }
}

impl From<KeyHolder> for Caller {
    fn from(holder: KeyHolder) -> Self {
        let KeyHolder { key, user, role, scope } = holder;
        Self { viewer: Viewer::User(user), role, scope, key }
    }
}

impl Engine {
    /// Whose key this is. Takes effect at once when a key is revoked: nothing is remembered.
    pub async fn authenticate(&self, key: &KeyText) -> Result<Caller, EngineError> {
        let hash = key.hash();
        let holder = self.store.read(move |tx| tx.key_holder(&SYSTEM, hash)).await?;
        let holder = holder.ok_or(EngineError::UnknownKey)?;
        self.note_use(holder.key);
        Ok(holder.into())
    }

    /// Notes the use of a key now and then, without keeping its user waiting.
    fn note_use(&self, key: KeyId) {
        if !self.key_uses.is_due(key) {
            return;
        }
        let store = self.store.clone();
        tokio::spawn(async move {
            if let Err(error) = store.write(move |tx| tx.touch_key(&SYSTEM, key)).await {
                tracing::debug!(%error, %key, "could not note that a key was used");
            }
        });
    }

    /// Creates the first user, an administrator, unless there is one.
    pub async fn ensure_first_admin(&self) -> Result<UserId, EngineError> {
        Ok(self.store.write(first_admin).await?.value)
    }

    /// Lets `key` act as the first administrator.
    pub async fn admit_start_key(&self, key: &KeyText) -> Result<KeyId, EngineError> {
        let hash = key.hash();
        let admit = move |tx: &mut Tx<'_>| {
            let admin = Viewer::User(first_admin(tx)?);
            let name = format!("{START_KEY_PREFIX}{}", tx.now());
            tx.create_key(&admin, &name, Scope::Admin, hash)
        };
        Ok(self.store.write(admit).await?.value)
    }

    /// Ends every key of a start; for whoever knows that no other start is under way.
    pub async fn retire_start_keys(&self) -> Result<(), EngineError> {
        self.store.write(retire_start_keys).await?;
        Ok(())
    }

    /// Ends a key; one that is unknown or ended already stays so.
    pub async fn retire_key(&self, key: &KeyText) -> Result<(), EngineError> {
        let hash = key.hash();
        let retire = move |tx: &mut Tx<'_>| match tx.key_holder(&SYSTEM, hash)? {
            Some(holder) => tx.revoke_key(&Viewer::User(holder.user), holder.key),
            None => Ok(()),
        };
        self.store.write(retire).await?;
        Ok(())
    }
}

fn first_admin(tx: &mut Tx<'_>) -> Result<UserId, StoreError> {
    match tx.first_user(&SYSTEM)? {
        Some(user) => Ok(user),
        None => tx.create_user(&SYSTEM, FIRST_USER_NAME, Role::Admin),
    }
}

fn retire_start_keys(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    let Some(admin) = tx.first_user(&SYSTEM)?.map(Viewer::User) else { return Ok(()) };
    let record_type = RecordType::parse(API_KEY)?;
    let mut after = None;
    loop {
        let page = tx.records(&admin, &record_type, after, KEYS_PER_PAGE)?;
        for record in page.rows.iter().filter(|record| is_live_start_key(&record.content)) {
            tx.revoke_key(&admin, KeyId::from_bytes(*record.id.as_bytes()))?;
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

fn is_live_start_key(content: &RecordContent) -> bool {
    let is_start = content.name().is_some_and(|name| name.starts_with(START_KEY_PREFIX));
    is_start && !content.data.contains_key("revokedAt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_may_do_what_its_scope_includes() {
        let caller = |scope| Caller {
            viewer: Viewer::User(UserId::SYSTEM),
            role: Role::User,
            scope,
            key: KeyId::from_bytes([1; 16]),
        };
        assert!(caller(Scope::Admin).require(Scope::Write).is_ok());
        assert!(caller(Scope::Read).require(Scope::Read).is_ok());
        let refused = caller(Scope::Read).require(Scope::Write).unwrap_err().to_string();
        assert_eq!(refused, "the key may only read, this needs a key that may write");
    }
}
