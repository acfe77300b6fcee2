//! Why a use case was not carried out; each door translates this once, exhaustively.

use skein_connect::http::CallFault;
use skein_connect::passphrase::NotOpened;
use skein_connect::vault::VaultError;
use skein_core::account::Scope;
use skein_core::garden::item::BadItem;
use skein_core::setting::Setting;
use skein_core::{ItemId, Millis};
use skein_store::StoreError;

use crate::compute::ComputeError;
use crate::garden::ITEMS_PER_BATCH_MAX;

/// A refusal or a failure of any use case.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Decided or suffered by the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No such key, session, link or user, or it ended: these are told apart nowhere.
    #[error("this credential is not known here or was ended")]
    UnknownCredential,
    /// The key was made with an end, which has come.
    #[error("this key expired at {0}; make another with a signed-in browser or a key that still counts")]
    ExpiredKey(Millis),
    /// A key that expires makes no key that goes on after it.
    #[error("your key expires at {0}, and this one would outlive it; send expiresAt of that time or earlier")]
    KeyOutlivesMaker(Millis),
    /// A key that expires signs no browser in, which would stay signed in.
    #[error("your key expires at {0}, and a browser would stay signed in; ask with a key that does not expire")]
    SessionOutlivesMaker(Millis),
    /// What was asked for needs somebody outside, who could not be reached.
    #[error(transparent)]
    Call(#[from] CallFault),
    /// The value of a secret cannot be sealed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// An export with secrets is written under a passphrase.
    #[error("this export carries secrets; send the passphrase they are to be sealed with")]
    PassphraseNeeded,
    /// A passphrase for what carries no secrets.
    #[error("no secrets are in this, so there is nothing for a passphrase to open or seal; leave it out")]
    PassphraseIdle,
    /// The secrets of a bundle stay shut; nothing was taken in.
    #[error("{0}; nothing was imported")]
    NotOpened(#[from] NotOpened),
    /// Too much is computed at once, or a computation failed.
    #[error(transparent)]
    Compute(#[from] ComputeError),
    /// Only administrators may do this.
    #[error("only an administrator may do this")]
    AdminsOnly,
    /// Not the caller's grant, or one that ended.
    #[error("{0} is no grant of yours that still holds")]
    NoSuchGrant(ItemId),
    /// A grant lets an administrator look, and redact.
    #[error("a grant is for looking; leave Skein-Grant out to change your own things")]
    GrantIsForLooking,
    /// For whoever has the machine, not for keys.
    #[error("only a command on the server's own machine may do this, with the key of its start")]
    OnlyHere,
    /// Somebody cancelled it, or it was taken for lost, before it was done.
    #[error("this was cancelled before it was done; nothing of it was kept")]
    Cancelled,
    /// Signing out is for browsers; a key is revoked.
    #[error("only a signed-in browser can be signed out; a key is revoked")]
    NotABrowser,
    /// There is nothing of that name to set.
    #[error("there is no setting {0:?}")]
    NoSuchSetting(String),
    /// A value outside the setting's limits.
    #[error("{} is {}", .0.name, .0.wanted())]
    BadSetting(&'static Setting),
    /// The key was made for less than this.
    #[error("the key may only {}, this needs a key that may {}", verb(*.held), verb(*.needed))]
    ScopeTooNarrow {
        /// What the key may do.
        held: Scope,
        /// What it would have to be allowed.
        needed: Scope,
    },
    /// One item keeps the whole batch out.
    #[error("item {index} of the batch cannot be kept, so none was")]
    BatchItem {
        /// Counted from 0.
        index: usize,
        /// What is wrong with it.
        source: BadItem,
    },
    /// A batch of nothing, or of too much.
    #[error("a batch holds 1 to {ITEMS_PER_BATCH_MAX} items")]
    BatchSize,
}

fn verb(scope: Scope) -> &'static str {
    match scope {
        Scope::Read => "read",
        Scope::Write => "write",
        Scope::Admin => "administer",
    }
}
