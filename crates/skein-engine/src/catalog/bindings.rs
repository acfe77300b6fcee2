//! One's own secret for somebody else's tool: used, and paying, before the owner's (decision Z16).

use skein_core::catalog::secret::{Secret, SecretBinding};
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_core::{RecordId, Viewer};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{NewVersion, SECRET, SYSTEM, StoredEntry, load, load_named, make, save};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Request};

impl Engine {
    /// Binds a secret of the caller's to a tool that another user shares, in place of one bound before.
    pub async fn bind_secret(
        &self,
        caller: &Caller,
        request: Request,
        tool: RecordId,
        secret: RecordId,
    ) -> Result<CommittedChange<StoredEntry<SecretBinding>>, EngineError> {
        self.change(caller, request, "secret_binding.change", move |tx, viewer| {
            let tool: StoredEntry<Tool> = load(tx, viewer, tool)?;
            let secret: StoredEntry<Secret> = load_named(tx, viewer, SECRET, secret)?;
            // Whoever sees the tool may not see what it stands on; its protocol is all that is used of that.
            let service: StoredEntry<Service> = load(tx, &SYSTEM, tool.entry.service_id)?;
            let protocol = service.entry.protocol;
            let binding = SecretBinding::create(viewer.owner(), &tool.owned(), &secret.owned(), protocol)?;
            match bound(tx, viewer, tool.id)? {
                Some(current) => save(tx, viewer, &current, &binding, NewVersion::of(&current)),
                None => make(tx, viewer, &binding, false),
            }
        })
        .await
    }

    /// Goes back to the owner's secret.
    pub async fn unbind_secret(
        &self,
        caller: &Caller,
        request: Request,
        tool: RecordId,
    ) -> Result<CommittedChange<StoredEntry<SecretBinding>>, EngineError> {
        self.change(caller, request, "secret_binding.delete", move |tx, viewer| {
            let current = bound(tx, viewer, tool)?;
            let current = current.ok_or_else(|| StoreError::NotFound(format!("a secret of yours bound to {tool}")))?;
            tx.delete_record(viewer, current.id, None, None)?.try_into()
        })
        .await
    }
}

/// What the viewer bound to a tool.
pub(crate) fn bound(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    tool: RecordId,
) -> Result<Option<StoredEntry<SecretBinding>>, StoreError> {
    tx.secret_binding(viewer, tool)?.map(StoredEntry::try_from).transpose()
}
