//! Why a use case was not carried out; each door translates this once, exhaustively.

use skein_core::account::Scope;
use skein_core::garden::item::BadItem;
use skein_store::StoreError;

use crate::garden::ITEMS_PER_BATCH_MAX;

/// A refusal or a failure of any use case.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Decided or suffered by the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No such key, or it was revoked: the two are told apart nowhere.
    #[error("the key is not known here or was revoked")]
    UnknownKey,
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
