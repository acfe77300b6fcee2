//! Exporting everything of one owner, or one conversation, as a bundle, and taking one in.
//!
//! An export is a cut of the timeline, recorded as such; its bundle is written from the store whenever it is asked
//! for, so nothing is kept twice and a broken download is simply begun again. An import is checked as a whole before
//! any of it is written, and skips what is there.

use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use skein_connect::passphrase::Passphrase;
use skein_core::account::Scope;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::event::EventName;
use skein_core::{ConversationId, OperationId, RecordId, ReferenceField, UserId, Viewer};
use skein_store::bundle::{self, Authority, ConversationSelection, ExportScope, ExportSize, ImportResult};
use skein_store::catalog::vault::SealedValue;
use skein_store::jobs::exclusive_act::ExclusiveAct;
use skein_store::operations::OperationState;
use skein_store::{StoreError, Tx};

use crate::account::{Caller, Credential, widest};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::fault::halt_at;
use crate::jobs::operations::advance;
use crate::progress::StagedProgress;
use crate::request::{CommittedChange, Request, Reservation, WholeOutcome};

/// The kind of an operation that is an export.
const EXPORT: &str = "export";
const SYSTEM: Viewer = Viewer::System("imports");

/// What to do about an export that is too large.
const BY_CONVERSATION: &str = "export single conversations instead, each with its conversationId";
const SMALLER: &str = "move the whole installation with skein backup and skein restore instead";

/// The conversation that a bundle is to hold.
const EXPORTED: ReferenceField = ReferenceField::new("Z34", "conversationId", "conversation");

/// What an export holds: everything of one owner up to a place on the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportCut {
    /// Whose things.
    pub owner: UserId,
    /// Up to where.
    pub cursor: Cursor,
    /// Whether it is written with the values of secrets, under a passphrase that is nowhere kept.
    #[serde(default)]
    pub with_secrets: bool,
    /// Only this conversation, with those it was forked from; everything unless one is named.
    #[serde(default)]
    pub conversation: Option<ConversationId>,
}

/// What an export is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportExtent {
    /// Everything the caller owns.
    Everything,
    /// The values of secrets too.
    WithSecrets,
    /// One conversation, with those it was forked from.
    Conversation(ConversationId),
}

/// An export about to be written.
#[derive(Debug)]
pub struct Download {
    cut: ExportCut,
    passphrase: Option<Passphrase>,
}

/// A bundle that was brought, and what opens its secrets if that came along.
#[derive(Debug)]
pub struct BundleImport {
    /// The bundle itself.
    pub file: File,
    /// What its secrets were sealed with.
    pub passphrase: Option<Passphrase>,
}

/// What an import brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportCount {
    /// Whose things came in.
    pub owner_id: UserId,
    /// Items that were not there.
    pub added: u64,
    /// Items that were.
    pub skipped: u64,
    /// Blobs that were not there.
    pub blobs: u64,
    /// Secrets that got their value from it.
    #[serde(default)]
    pub secret_values: u64,
    /// Secrets of the owner's that have no value here; each waits for a rotation.
    #[serde(default)]
    pub secrets_without_value: i64,
}

fn exported(tx: &mut Tx<'_>, viewer: &Viewer, id: ConversationId) -> Result<ConversationId, StoreError> {
    Ok(tx.conversation(viewer, id).map_err(|error| error.of_reference(EXPORTED, id))?.id)
}

impl Engine {
    /// Makes a cut of the caller's timeline, to be downloaded; that it is to carry secrets is on record.
    pub async fn create_export(
        &self,
        caller: &Caller,
        request: Request,
        extent: ExportExtent,
    ) -> Result<CommittedChange<WholeOutcome<ExportCut>>, EngineError> {
        let with_secrets = extent == ExportExtent::WithSecrets;
        if with_secrets {
            require_everything(caller)?;
        }
        let size = self.export_size(caller, extent).await?;
        self.change(caller, request, EXPORT, move |tx, viewer| {
            let owner = viewer.owner();
            let conversation = match extent {
                ExportExtent::Conversation(id) => Some(exported(tx, viewer, id)?),
                ExportExtent::Everything | ExportExtent::WithSecrets => None,
            };
            if let Some(size) = size {
                size.refuse_too_large(if conversation.is_some() { SMALLER } else { BY_CONVERSATION })?;
            }
            let cut = ExportCut { owner, cursor: tx.cut(viewer, owner)?, with_secrets, conversation };
            let mut told = Map::from_iter([("cursor".to_owned(), json!(cut.cursor))]);
            if with_secrets {
                told.insert("withSecrets".to_owned(), json!(true));
            }
            if let Some(conversation) = conversation {
                told.insert("conversationId".to_owned(), json!(conversation));
            }
            tx.tell_own(viewer, EventName::ExportMade, None, told)?;
            Ok(WholeOutcome(cut))
        })
        .await
    }

    /// How large the bundle can become; nothing where there is no such conversation, which the change itself says.
    async fn export_size(&self, caller: &Caller, extent: ExportExtent) -> Result<Option<ExportSize>, EngineError> {
        let (store, acting) = (self.parts().store.clone(), caller.acting());
        let count = move || match extent {
            ExportExtent::Conversation(id) => match ConversationSelection::of(&store, &acting, id) {
                Ok(only) => ExportSize::of_selection(&store, &acting, &only).map(Some),
                Err(StoreError::NotFound(_)) => Ok(None),
                Err(error) => Err(error),
            },
            ExportExtent::Everything | ExportExtent::WithSecrets => {
                ExportSize::of_owner(&store, &acting, acting.owner()).map(Some)
            }
        };
        Ok(self.compute().run(caller.user, count).await??)
    }

    /// The cut an operation of the caller's made, with the passphrase it needs when it is to carry secrets.
    pub async fn download(
        &self,
        caller: &Caller,
        id: OperationId,
        passphrase: Option<Passphrase>,
    ) -> Result<Download, EngineError> {
        caller.require(Scope::Read)?;
        let operation = self.operation(caller, id).await?;
        let cut = match &operation.state {
            OperationState::Completed { result } if operation.kind == EXPORT => serde_json::from_str(result).ok(),
            _ => None,
        };
        let cut: ExportCut = cut.ok_or_else(|| StoreError::NotFound(format!("an export {id}")))?;
        match (cut.with_secrets, &passphrase) {
            (true, None) => return Err(EngineError::PassphraseNeeded),
            (false, Some(_)) => return Err(EngineError::PassphraseIdle),
            // To everybody but their owner, grant or no grant, secrets do not exist.
            (true, Some(_)) if caller.grant.is_some() || cut.owner != caller.user => {
                return Err(StoreError::Forbidden.into());
            }
            (true, Some(_)) => require_everything(caller)?,
            (false, None) => {}
        }
        Ok(Download { cut, passphrase })
    }

    /// Writes the bundle of a cut; blocks, for a thread of its own.
    pub fn write_bundle(&self, caller: &Caller, download: &Download, out: impl Write) -> Result<(), EngineError> {
        self.write_cut(caller, download, out).inspect_err(|error| {
            if let EngineError::Store(error) = error {
                self.report_storage(error);
            }
        })
    }

    fn write_cut(&self, caller: &Caller, download: &Download, out: impl Write) -> Result<(), EngineError> {
        let Download { cut, passphrase } = download;
        let scope = ExportScope { viewer: caller.viewer(), owner: cut.owner, cut: cut.cursor };
        let (store, blobs) = (&self.parts().store, &self.parts().blobs);
        let watch = &mut |_| ControlFlow::Continue(());
        match (passphrase, cut.conversation) {
            (None, Some(conversation)) => {
                let only = ConversationSelection::of(store, &scope.viewer, conversation)?;
                bundle::export_only(store, blobs, &scope, only, out, watch)?
            }
            (None, None) => bundle::export(store, blobs, &scope, out, watch)?,
            (Some(passphrase), _) => bundle::export_with_secrets(store, blobs, &scope, out, watch, &mut |secrets| {
                self.seal_for_travel(cut.owner, passphrase, secrets)
            })?,
        };
        Ok(())
    }

    /// Takes a bundle in; `reservation` is the place of the request. What is not the caller's own is refused, unless
    /// a command on this machine brings it.
    pub async fn import_bundle(
        &self,
        caller: &Caller,
        request: Request,
        reservation: &Reservation,
        brought: BundleImport,
    ) -> Result<CommittedChange<WholeOutcome<ImportCount>>, EngineError> {
        let BundleImport { file, passphrase } = brought;
        let (file, opened) = self.open_travelled(caller.user, file, passphrase).await?;
        let imported = self.take_in(caller, reservation.operation, file).await?;
        let conclude = async || {
            let values = self.seal_travelled(imported.owner, &opened).await?;
            self.conclude_import(caller, request, reservation, imported, values).await
        };
        self.while_key_changes(conclude).await
    }

    /// Keeps the values that came with a bundle and ends its operation.
    async fn conclude_import(
        &self,
        caller: &Caller,
        request: Request,
        reservation: &Reservation,
        imported: ImportResult,
        values: Vec<(RecordId, SealedValue)>,
    ) -> Result<CommittedChange<WholeOutcome<ImportCount>>, EngineError> {
        self.finish(caller, request, reservation, move |tx, viewer| {
            let owner = Viewer::User(imported.owner);
            let mut secret_values = 0;
            for (secret, value) in &values {
                secret_values += u64::from(tx.restore_sealed(&owner, *secret, value)?);
            }
            let count = ImportCount {
                owner_id: imported.owner,
                added: imported.added,
                skipped: imported.skipped,
                blobs: imported.blobs,
                secret_values,
                secrets_without_value: tx.count_unsealed(&owner, imported.owner)?,
            };
            let told =
                Map::from_iter([("ownerId".to_owned(), json!(imported.owner)), ("count".to_owned(), json!(count))]);
            tx.tell_own(viewer, EventName::ImportMade, None, told)?;
            Ok(WholeOutcome(count))
        })
        .await
    }

    /// What the same import brought earlier.
    pub async fn imported(
        &self,
        caller: &Caller,
        request: Request,
    ) -> Result<CommittedChange<WholeOutcome<ImportCount>>, EngineError> {
        self.replay(caller, request).await
    }

    async fn take_in(&self, caller: &Caller, operation: OperationId, file: File) -> Result<ImportResult, EngineError> {
        // Opening a bundle reads its whole directory. It was uploaded, so it waits for its turn and is not refused.
        let place = self.compute().place_in_time(caller.user).await;
        let (file, owner) = place.run(move || bundle::owner_of(&file).map(|owner| (file, owner))).await??;
        let authority = authority(caller, owner);
        authority.refuse_stranger(owner)?;
        let admitted = caller.clone();
        let begin = move |tx: &mut Tx<'_>| {
            admitted.refuse_if_ended(tx)?;
            tx.begin_exclusive_act(&SYSTEM, ExclusiveAct::Import(owner), operation)
        };
        self.parts().store.write(begin).await?;
        let (engine, acting, user) = (self.clone(), caller.acting(), caller.user);
        let taking = tokio::task::spawn_blocking(move || {
            let (mut told, mut forward) = (std::time::Instant::now(), StagedProgress::default());
            bundle::import(&engine.parts().store, &engine.parts().blobs, file, &authority, &mut |step| {
                let percent = forward.with(step);
                halt_at(&format!("import.{}", step.stage));
                if told.elapsed() < std::time::Duration::from_secs(1) {
                    return ControlFlow::Continue(());
                }
                told = std::time::Instant::now();
                let acting = acting.clone();
                // Says that the work goes on; ends it when somebody cancelled.
                let alive = engine.parts().store.write_blocking(move |tx| advance(tx, &acting, operation, percent));
                match alive {
                    Ok(reached) => engine.parts().progress.tell(user, operation, reached.value),
                    Err(StoreError::Ended(_)) => return ControlFlow::Break(()),
                    Err(_) => {}
                }
                ControlFlow::Continue(())
            })
        });
        let taken = taking.await.map_err(|error| StoreError::Panicked(error.to_string()))?;
        Ok(taken?)
    }
}

/// Secrets come out only to a credential that may do everything its owner may.
fn require_everything(caller: &Caller) -> Result<(), EngineError> {
    caller.require(widest(caller.role))
}

/// Whoever asks brings their own history. Somebody else's, with their role and their keys, is brought by whoever has the
/// machine itself: a command on the server's directory, never a key over the network.
fn authority(caller: &Caller, owner: UserId) -> Authority {
    match caller.credential {
        Credential::Start if owner != caller.user && owner != UserId::SYSTEM => Authority::Installation,
        _ => Authority::Owner(caller.acting()),
    }
}
