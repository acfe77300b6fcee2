//! Exporting everything of one owner as a bundle, and taking one in.
//!
//! An export is a cut of the timeline, recorded as such; its bundle is written from the store whenever it is asked
//! for, so nothing is kept twice and a broken download is simply begun again. An import is checked as a whole before
//! any of it is written, and skips what is there.

use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use skein_core::account::Scope;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::event::EventName;
use skein_core::{OperationId, UserId};
use skein_store::StoreError;
use skein_store::bundle::{self, Authority, ExportScope, Imported};
use skein_store::operations::OperationState;

use crate::account::{Caller, Credential};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::forward::Forward;
use crate::operations::advance;
use crate::request::{Changed, Kept, Request, Reservation};

/// The kind of an operation that is an export.
const EXPORT: &str = "export";

/// What an export holds: everything of one owner up to a place on the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportCut {
    /// Whose things.
    pub owner: UserId,
    /// Up to where.
    pub cursor: Cursor,
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
}

impl Engine {
    /// Makes a cut of the caller's timeline, to be downloaded.
    pub async fn create_export(
        &self,
        caller: &Caller,
        request: Request,
    ) -> Result<Changed<Kept<ExportCut>>, EngineError> {
        self.change(caller, request, EXPORT, move |tx, viewer| {
            let owner = viewer.owner();
            let cut = ExportCut { owner, cursor: tx.cut(viewer, owner)? };
            let told = Map::from_iter([("cursor".to_owned(), json!(cut.cursor))]);
            tx.tell_own(viewer, EventName::ExportMade, None, told)?;
            Ok(Kept(cut))
        })
        .await
    }

    /// The cut an operation of the caller's made.
    pub async fn export_cut(&self, caller: &Caller, id: OperationId) -> Result<ExportCut, EngineError> {
        caller.require(Scope::Read)?;
        let operation = self.operation(caller, id).await?;
        let cut = match &operation.state {
            OperationState::Completed { result } if operation.kind == EXPORT => serde_json::from_str(result).ok(),
            _ => None,
        };
        cut.ok_or_else(|| StoreError::NotFound(format!("an export {id}")).into())
    }

    /// Writes the bundle of a cut; blocks, for a thread of its own.
    pub fn write_bundle(&self, caller: &Caller, cut: ExportCut, out: impl Write) -> Result<(), EngineError> {
        let scope = ExportScope { viewer: caller.viewer(), owner: cut.owner, cut: cut.cursor };
        bundle::export(&self.parts().store, &self.parts().blobs, &scope, out, &mut |_| ControlFlow::Continue(()))?;
        Ok(())
    }

    /// Takes a bundle in; `reservation` is the place of the request. What is not the caller's own is refused, unless
    /// a command on this machine brings it.
    pub async fn import_bundle(
        &self,
        caller: &Caller,
        request: Request,
        reservation: &Reservation,
        file: File,
    ) -> Result<Changed<Kept<ImportCount>>, EngineError> {
        let imported = self.take_in(caller, reservation.operation, file).await?;
        let count = ImportCount {
            owner_id: imported.owner,
            added: imported.added,
            skipped: imported.skipped,
            blobs: imported.blobs,
        };
        self.finish(caller, request, reservation, move |tx, viewer| {
            let told =
                Map::from_iter([("ownerId".to_owned(), json!(imported.owner)), ("count".to_owned(), json!(count))]);
            tx.tell_own(viewer, EventName::ImportMade, None, told)?;
            Ok(Kept(count))
        })
        .await
    }

    /// What the same import brought earlier.
    pub async fn imported(&self, caller: &Caller, request: Request) -> Result<Changed<Kept<ImportCount>>, EngineError> {
        self.replay(caller, request).await
    }

    async fn take_in(&self, caller: &Caller, operation: OperationId, file: File) -> Result<Imported, EngineError> {
        let owner = bundle::owner_of(&file)?;
        let authority = authority(caller, owner);
        let (engine, acting, user) = (self.clone(), caller.acting(), caller.user);
        let taking = tokio::task::spawn_blocking(move || {
            let (mut told, mut forward) = (std::time::Instant::now(), Forward::default());
            bundle::import(&engine.parts().store, &engine.parts().blobs, file, &authority, &mut |step| {
                let percent = forward.with(step);
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

/// Whoever asks brings their own history. Somebody else's, with their role and their keys, is brought by whoever has the
/// machine itself: a command on the server's directory, never a key over the network.
fn authority(caller: &Caller, owner: UserId) -> Authority {
    match caller.credential {
        Credential::Start if owner != caller.user && owner != UserId::SYSTEM => Authority::Installation,
        _ => Authority::Owner(caller.acting()),
    }
}
