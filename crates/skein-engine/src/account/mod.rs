//! Authenticates callers and decides their role and scope.
//!
//! Whoever asks shows a credential: an API key, the cookie of a signed-in browser, a token of a trusted issuer, or
//! the key of this start, which lives in this process alone and acts as the first administrator. Start at
//! [`Engine::authenticate`]. What an administrator may see of others is opened by [`grants`] only.

mod grants;
mod key_uses;
mod keys;
mod secret_text;
mod sessions;
mod users;

pub(crate) use key_uses::KeyUses;
pub use keys::{KeyView, NewKey};
pub use secret_text::{BadSecretText, KeyText, LinkText, SessionText};
pub use sessions::{SESSION_MS, START_LINK_MS, SessionView, SignInLink, SignedInBrowser};
pub use users::{NewUser, User, UserChange};

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use skein_core::account::expiry::is_expired;
use skein_core::account::{Grant, Role, Scope};
use skein_core::{Digest, ItemId, KeyId, Millis, UserId, Viewer};
use skein_store::{StoreError, Tx};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::tree::projects::default_project;

const FIRST_USER_NAME: &str = "admin";
pub(crate) const SYSTEM: Viewer = Viewer::System("accounts");

/// What somebody shows to be let in.
#[derive(Debug, Clone)]
pub enum PresentedCredential {
    /// An API key, or the key of a start.
    Key(KeyText),
    /// The cookie of a browser.
    Session(SessionText),
    /// A token that was checked against its issuer's keys.
    Token {
        /// Whom it names.
        subject: UserId,
        /// What it may be used for.
        scope: Scope,
        /// When it runs out.
        until: Millis,
    },
}

/// By what somebody was let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// An API key.
    Key {
        /// Which one.
        id: KeyId,
        /// When it expires, if it does.
        ends_at: Option<Millis>,
    },
    /// The key of this start.
    Start,
    /// A signed-in browser, by the hash of its token.
    Session(Digest),
    /// A token of a trusted issuer.
    Token {
        /// When it runs out.
        until: Millis,
    },
}

impl Credential {
    /// When the API key that was shown expires: what it makes must not outlive it.
    pub(crate) fn key_ends_at(&self) -> Option<Millis> {
        match self {
            Self::Key { ends_at, .. } => *ends_at,
            Self::Start | Self::Session(_) | Self::Token { .. } => None,
        }
    }
}

/// Someone who was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Who they are.
    pub user: UserId,
    /// What the person may do to the installation.
    pub role: Role,
    /// What their credential may be used for.
    pub scope: Scope,
    /// By what they were let in.
    pub credential: Credential,
    /// What an administrator looks at, if not at their own.
    pub grant: Option<Grant>,
}

impl Caller {
    /// In whose name things are read.
    pub fn viewer(&self) -> Viewer {
        match &self.grant {
            Some(grant) => Viewer::Admin { user: self.user, grant: grant.clone() },
            None => self.acting(),
        }
    }

    /// In whose name things are changed: a grant is for looking.
    pub fn acting(&self) -> Viewer {
        Viewer::User(self.user)
    }

    /// Skein itself, doing something for a user who asked for it before.
    pub(crate) fn acting_as(user: UserId) -> Self {
        Self { user, role: Role::User, scope: Scope::Write, credential: Credential::Start, grant: None }
    }

    /// Whether what let the caller in still would: a stream outlives the request that opened it.
    pub(crate) fn is_admitted(&self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        let is_known = match self.credential {
            Credential::Key { id, ends_at } => !is_expired(ends_at, tx.now()) && tx.is_key_live(&SYSTEM, id)?,
            Credential::Session(token) => tx.session(&SYSTEM, token)?.is_some(),
            Credential::Token { until } => tx.now() < until,
            // It lives as long as this process.
            Credential::Start => true,
        };
        let Some(grant) = &self.grant else { return Ok(is_known) };
        Ok(is_known
            && tx.grant_held(&self.acting(), grant.item)?.is_some()
            && tx.role(&SYSTEM, self.user)? == Role::Admin)
    }

    /// Refuses when what let the caller in ended, or their role changed, since the request began.
    pub(crate) fn refuse_if_ended(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let is_held = self.credential == Credential::Start
            || (self.is_admitted(tx)? && tx.role(&SYSTEM, self.user)? == self.role);
        if is_held { Ok(()) } else { Err(StoreError::CredentialEnded) }
    }

    /// Refuses unless the credential may be used for `needed`.
    pub fn require(&self, needed: Scope) -> Result<(), EngineError> {
        if self.scope >= needed {
            return Ok(());
        }
        Err(EngineError::ScopeTooNarrow { held: self.scope, needed })
    }

    /// Refuses unless an administrator asks, with a credential made for administering.
    pub fn require_admin(&self) -> Result<(), EngineError> {
        match self.role {
            Role::Admin => self.require(Scope::Admin),
            Role::User => Err(EngineError::AdminsOnly),
        }
    }
}

/// Keys that live as long as this process, by their hash.
#[derive(Default)]
pub(crate) struct StartKeys(RwLock<HashMap<Digest, UserId>>);

impl StartKeys {
    fn admit(&self, key: Digest, user: UserId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key, user);
    }

    fn holder(&self, key: Digest) -> Option<UserId> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key).copied()
    }
}

impl Engine {
    /// Who this is. Takes effect at once when a key is revoked or expires, or a session ends.
    pub async fn authenticate(
        &self,
        presented: &PresentedCredential,
        grant: Option<ItemId>,
    ) -> Result<Caller, EngineError> {
        let revisions = self.revisions_here();
        let hash = match presented {
            PresentedCredential::Key(key) => Some(key.hash()),
            PresentedCredential::Session(_) | PresentedCredential::Token { .. } => None,
        };
        let key = hash.filter(|_| grant.is_none());
        if let (Some(key), Some(revisions)) = (&key, revisions)
            && let Some(caller) = self.parts().known_keys.find(revisions, key)
        {
            self.note_use_of(&caller);
            return Ok(caller);
        }
        let starting = hash.and_then(|hash| self.parts().start_keys.holder(hash));
        if let (Some(user), None) = (starting, grant) {
            return Ok(start_caller(user));
        }
        let presented = presented.clone();
        let look_up = move |tx: &mut Tx<'_>| {
            let caller = match starting {
                Some(user) => Some(start_caller(user)),
                None => find_caller(tx, &presented)?,
            };
            let Some(caller) = caller else { return Ok(Err(EngineError::UnknownCredential)) };
            match caller.credential.key_ends_at() {
                Some(ended) if is_expired(Some(ended), tx.now()) => Ok(Err(EngineError::ExpiredKey(ended))),
                _ => with_grant(tx, caller, grant),
            }
        };
        let caller = self.parts().store.look_up(look_up).await??;
        self.note_use_of(&caller);
        // Nothing is revised when a key expires, so one that does is looked up every time.
        if let (Some(key), Some(revisions), None) = (key, revisions, caller.credential.key_ends_at()) {
            self.parts().known_keys.remember(revisions, key, caller.clone());
        }
        Ok(caller)
    }

    /// Notes the use of a key now and then, without keeping its user waiting.
    fn note_use_of(&self, caller: &Caller) {
        let Credential::Key { id: key, .. } = caller.credential else { return };
        if !self.parts().key_uses.is_due(key) {
            return;
        }
        let store = self.parts().store.clone();
        tokio::spawn(async move {
            if let Err(error) = store.write(move |tx| tx.touch_key(&SYSTEM, key)).await {
                tracing::debug!(%error, %key, "could not note that a key was used");
            }
        });
    }

    /// Refuses when what let the caller in ended since then.
    pub async fn confirm(&self, caller: &Caller) -> Result<(), EngineError> {
        let caller = caller.clone();
        Ok(self.parts().store.look_up(move |tx| caller.refuse_if_ended(tx)).await?)
    }

    /// Creates the first user, an administrator, unless there is one.
    pub async fn ensure_first_admin(&self) -> Result<UserId, EngineError> {
        if let Some(first) = self.parts().store.read(|tx| tx.first_user(&SYSTEM)).await? {
            return Ok(first);
        }
        Ok(self.parts().store.write(first_admin).await?.value)
    }

    /// Lets `key` act as the first administrator for as long as this process lives.
    pub async fn admit_start_key(&self, key: &KeyText) -> Result<(), EngineError> {
        let admin = self.ensure_first_admin().await?;
        self.parts().start_keys.admit(key.hash(), admin);
        Ok(())
    }
}

fn start_caller(user: UserId) -> Caller {
    Caller { user, role: Role::Admin, scope: Scope::Admin, credential: Credential::Start, grant: None }
}

fn find_caller(tx: &mut Tx<'_>, presented: &PresentedCredential) -> Result<Option<Caller>, StoreError> {
    let caller = |user, role, scope, credential| Some(Caller { user, role, scope, credential, grant: None });
    match presented {
        PresentedCredential::Key(key) => {
            let holder = tx.key_holder(&SYSTEM, key.hash())?;
            Ok(holder.and_then(|holder| {
                let credential = Credential::Key { id: holder.key, ends_at: holder.expires_at };
                caller(holder.user, holder.role, holder.scope, credential)
            }))
        }
        PresentedCredential::Session(token) => {
            let Some(session) = tx.session(&SYSTEM, token.hash())? else { return Ok(None) };
            let role = tx.role(&SYSTEM, session.user)?;
            Ok(caller(session.user, role, widest(role), Credential::Session(token.hash())))
        }
        PresentedCredential::Token { subject, scope, until } => match tx.role(&SYSTEM, *subject) {
            Ok(role) => Ok(caller(*subject, role, *scope, Credential::Token { until: *until })),
            Err(StoreError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        },
    }
}

/// A person at a browser may do whatever their role lets them.
pub(crate) fn widest(role: Role) -> Scope {
    match role {
        Role::Admin => Scope::Admin,
        Role::User => Scope::Write,
    }
}

fn with_grant(
    tx: &mut Tx<'_>,
    caller: Caller,
    grant: Option<ItemId>,
) -> Result<Result<Caller, EngineError>, StoreError> {
    let Some(id) = grant else { return Ok(Ok(caller)) };
    if let Err(refused) = caller.require_admin() {
        return Ok(Err(refused));
    }
    let held = tx.grant_held(&caller.acting(), id)?;
    Ok(held.map(|grant| Caller { grant: Some(grant), ..caller }).ok_or(EngineError::NoSuchGrant(id)))
}

fn first_admin(tx: &mut Tx<'_>) -> Result<UserId, StoreError> {
    if let Some(user) = tx.settle_first_user(&SYSTEM)? {
        return Ok(user);
    }
    let user = tx.create_user(&SYSTEM, FIRST_USER_NAME, Role::Admin)?;
    tx.settle_first_user(&SYSTEM)?;
    default_project(tx, &Viewer::User(user))?;
    crate::flow::give(tx, &Viewer::User(user))?;
    Ok(user)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(role: Role, scope: Scope) -> Caller {
        Caller { user: UserId::SYSTEM, role, scope, credential: Credential::Start, grant: None }
    }

    #[test]
    fn a_key_may_do_what_its_scope_includes() {
        assert!(caller(Role::User, Scope::Admin).require(Scope::Write).is_ok());
        assert!(caller(Role::User, Scope::Read).require(Scope::Read).is_ok());
        let refused = caller(Role::User, Scope::Read).require(Scope::Write).unwrap_err().to_string();
        assert_eq!(refused, "the key may only read, this needs a key that may write");
    }

    #[test]
    fn administering_needs_both_the_role_and_the_scope() {
        assert!(caller(Role::Admin, Scope::Admin).require_admin().is_ok());
        assert!(caller(Role::Admin, Scope::Write).require_admin().is_err());
        assert!(caller(Role::User, Scope::Admin).require_admin().is_err());
    }
}
