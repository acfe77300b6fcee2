//! The catalog: services, secrets, tools and templates, and who may call them.
//!
//! Everything here is an entry of `skein_core::catalog` kept in a record. A use case loads what an act is about, lets the
//! core decide, and writes the record; what others see of it and what stands in the way of deleting it the store knows.
//! Start at [`services`] for how an entry lives, at [`crate::tool_call::test`] for how a tool is called.

pub(crate) mod bindings;
mod builtin_catalog;
mod discovery;
mod endpoints;
mod health;
mod health_check;
mod restore;
pub(crate) mod rotation;
mod schemas;
pub(crate) mod secret_transfer;
mod secrets;
mod services;
mod templates;
mod tool_versions;
mod tools;
pub(crate) mod vault;

use serde_json::{Value, json};
use skein_core::catalog::entry::{Entry, OwnedEntry};
use skein_core::catalog::health::Health;
use skein_core::catalog::service::Service;
use skein_core::catalog::sharing::{EntryReferences, EntryVisibility, ImpactWarning, SharingReach};
use skein_core::catalog::tool::Tool;
use skein_core::garden::record::{Act, Record};
use skein_core::{Digest, Millis, RecordId, ReferenceField, UserId, Viewer};
use skein_store::catalog::entries::{OwnershipFilter, VisibleQuery};
use skein_store::catalog::references::Referrers;
use skein_store::timeline::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Outcome, Request};

pub(crate) use crate::jobs::catalog::CatalogWorker;
pub(crate) use crate::tool_call::dependencies::EntryCache;
pub use crate::tool_call::gateway::Gateway;
pub(crate) use crate::tool_call::model_prompt::{ModelPrompt, ModelReply};
pub use crate::tool_call::test::TOOL_TEST;
pub(crate) use bindings::bound;
pub(crate) use builtin_catalog::id as seed_id;
pub use discovery::{DiscoveredTools, Discovery, Source};
pub use health::HealthStatus;
pub(crate) use health::{HealthBasis, conditions};
pub use health_check::CheckResult;
pub(crate) use restore::Restoration;
pub(crate) use schemas::Schemas;
pub use secrets::SecretValue;
pub use templates::Template;
pub(crate) use tool_versions::PastTools;
pub use vault::{EphemeralKeys, KeyKeeper, KeyState, RotationState, VAULT_ROTATION, VaultState, remove_keys};

pub(crate) const SYSTEM: Viewer = Viewer::System("catalogue");

/// The secret that a tool, a binding or a discovery names.
const SECRET: ReferenceField = ReferenceField::new("Z34", "secretId", "secret");

/// An entry with what its record says about it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEntry<T> {
    /// Which one.
    pub id: RecordId,
    /// Whose it is.
    pub owner: UserId,
    /// Whether others may see and use it.
    pub shared: bool,
    /// How often it was changed, and made.
    pub version: i64,
    /// To base a change on.
    pub hash: Digest,
    /// When it was made.
    pub created_at: Millis,
    /// When it was last changed.
    pub updated_at: Millis,
    /// What it says.
    pub entry: T,
}

impl<T: Entry> TryFrom<Record> for StoredEntry<T> {
    type Error = StoreError;

    /// A record of another kind is no entry of this one.
    fn try_from(record: Record) -> Result<Self, StoreError> {
        let OwnedEntry { id, owner, shared, entry } =
            OwnedEntry::from_record(&record).ok_or_else(|| StoreError::NotFound(record.id.to_string()))?;
        let Record { version, hash, created_at, updated_at, .. } = record;
        Ok(Self { id, owner, shared, version, hash, created_at, updated_at, entry })
    }
}

impl<T: Entry> StoredEntry<T> {
    /// All that who may see and change it depends on.
    pub(crate) fn standing(&self) -> EntryVisibility {
        EntryVisibility { owner: self.owner, shared: self.shared, reach: SharingReach::of(T::RECORD_TYPE) }
    }
}

impl<T: Clone> StoredEntry<T> {
    /// As the core judges it.
    pub(crate) fn owned(&self) -> OwnedEntry<T> {
        OwnedEntry { id: self.id, owner: self.owner, shared: self.shared, entry: self.entry.clone() }
    }
}

impl<T: Entry + Send + 'static> Outcome for StoredEntry<T> {
    fn reference(&self) -> Value {
        json!({ "record": self.id, "version": self.version })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        Record::recall(tx, viewer, reference)?.try_into()
    }
}

/// What came of sharing something or taking it back, or of switching it on or off.
#[derive(Debug, Clone, PartialEq)]
pub struct SharingChange<T> {
    /// As it is now.
    pub shown: StoredEntry<T>,
    /// Who loses by it.
    pub warning: Option<ImpactWarning>,
}

impl<T: Entry + Send + 'static> Outcome for SharingChange<T> {
    fn reference(&self) -> Value {
        self.shown.reference()
    }

    /// Whoever asks again knows the warning, or asked for nothing that has one.
    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        Ok(Self { shown: StoredEntry::recall(tx, viewer, reference)?, warning: None })
    }
}

/// Which entries to list.
#[derive(Debug, Clone, Default)]
pub struct EntryQuery {
    /// Whose.
    pub whose: OwnershipFilter,
    /// Only of this type: a service's, a secret's, a tool's operation's.
    pub kind: Option<String>,
    /// Only enabled ones, or only others.
    pub enabled: Option<bool>,
    /// Only tools on this service.
    pub service: Option<RecordId>,
    /// Only those in this state.
    pub status: Option<Health>,
    /// Also archived templates.
    pub include_archived: bool,
}

impl EntryQuery {
    fn visible<T: Entry>(&self, after: Option<RecordId>, limit: usize) -> VisibleQuery {
        VisibleQuery {
            whose: self.whose,
            kind: self.kind.clone(),
            enabled: self.enabled,
            include_archived: self.include_archived,
            after,
            ..VisibleQuery::of(T::record_type(), limit)
        }
    }
}

impl Engine {
    /// One entry that the caller may see.
    pub async fn entry<T: Entry + Send + 'static>(
        &self,
        caller: &Caller,
        id: RecordId,
    ) -> Result<StoredEntry<T>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.look_up(move |tx| load(tx, &viewer, id)).await?)
    }

    /// The entries of one kind that the caller may see: their own, and what others share.
    pub async fn entries<T: Entry + Send + 'static>(
        &self,
        caller: &Caller,
        query: EntryQuery,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<StoredEntry<T>, RecordId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| shown_page(tx.records_visible(&viewer, &query.visible::<T>(after, limit))?);
        Ok(self.parts().store.read(list).await?)
    }

    /// Lets others see an entry, or takes it back; its owner learns who loses by that, and is never kept from it.
    pub(crate) async fn reshare<T: Entry + Clone + Send + 'static>(
        &self,
        caller: &Caller,
        request: Request,
        kind: &'static str,
        (id, shared): (RecordId, bool),
        warn: fn(&mut Tx<'_>, &StoredEntry<T>) -> Result<Option<ImpactWarning>, StoreError>,
    ) -> Result<CommittedChange<SharingChange<T>>, EngineError> {
        self.change(caller, request, kind, move |tx, viewer| {
            let current: StoredEntry<T> = load(tx, viewer, id)?;
            let warning = if current.shared && !shared { warn(tx, &current)? } else { None };
            let shown = save(tx, viewer, &current, &current.entry, NewVersion { shared, ..NewVersion::of(&current) })?;
            Ok(SharingChange { shown, warning })
        })
        .await
    }
}

pub(crate) fn shown_page<T: Entry>(page: Page<Record, RecordId>) -> Result<Page<StoredEntry<T>, RecordId>, StoreError> {
    let rows = page.rows.into_iter().map(StoredEntry::try_from).collect::<Result<_, _>>()?;
    Ok(Page { rows, next: page.next })
}

/// An entry that the viewer may see.
pub(crate) fn load<T: Entry>(tx: &mut Tx<'_>, viewer: &Viewer, id: RecordId) -> Result<StoredEntry<T>, StoreError> {
    tx.record(viewer, id)?.try_into()
}

/// How many versions of an entry are looked at for the last that was shared.
const VERSIONS_LOOKED_AT_MAX: usize = 20;

/// The last version of an entry that was shared, unless many followed. What became of it since is its owner's affair (rule
/// BR-SHARE-001).
pub(crate) fn last_shared<T: Entry>(
    tx: &mut Tx<'_>,
    entry: &StoredEntry<T>,
) -> Result<Option<StoredEntry<T>>, StoreError> {
    for version in (1..entry.version).rev().take(VERSIONS_LOOKED_AT_MAX) {
        let past = tx.record_version(&SYSTEM, entry.id, version)?;
        if past.content.shared {
            return past.try_into().map(Some);
        }
    }
    Ok(None)
}

/// Whether the name of the service below a tool is told to somebody who may call the tool.
pub(crate) fn names_service(executor: UserId, tool: &StoredEntry<Tool>, service: &StoredEntry<Service>) -> bool {
    let is_of_sharer = tool.shared && service.owner == tool.owner;
    service.owner == executor || service.shared || is_of_sharer
}

/// An entry that a request names.
pub(crate) fn load_named<T: Entry>(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    reference: ReferenceField,
    id: RecordId,
) -> Result<StoredEntry<T>, StoreError> {
    load(tx, viewer, id).map_err(|error| error.of_reference(reference, id))
}

/// Makes an entry in the viewer's name.
pub(crate) fn make<T: Entry>(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    entry: &T,
    shared: bool,
) -> Result<StoredEntry<T>, StoreError> {
    tx.create_entry(viewer, entry.to_content(shared), None)?.try_into()
}

/// What a new version of an entry is based on, and what it is called.
#[derive(Clone, Copy)]
pub(crate) struct NewVersion {
    pub(crate) based_on: Digest,
    pub(crate) shared: bool,
    pub(crate) act: Act,
}

impl NewVersion {
    /// Based on what was loaded in the same transaction.
    pub(crate) fn of<T>(current: &StoredEntry<T>) -> Self {
        Self { based_on: current.hash, shared: current.shared, act: Act::Plain }
    }

    /// Based on what the client looked at, if they said so.
    pub(crate) fn based_on<T>(current: &StoredEntry<T>, based_on: Option<Digest>) -> Self {
        Self { based_on: based_on.unwrap_or(current.hash), ..Self::of(current) }
    }
}

pub(crate) fn save<T: Entry>(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    current: &StoredEntry<T>,
    entry: &T,
    saving: NewVersion,
) -> Result<StoredEntry<T>, StoreError> {
    let NewVersion { based_on, shared, act } = saving;
    tx.update_entry(viewer, current.id, based_on, entry.to_content(shared), act, None)?.try_into()
}

/// How many things refer to something, as the core counts.
pub(crate) fn references(found: Referrers) -> EntryReferences {
    let count = |number: i64| u64::try_from(number).unwrap_or_default();
    EntryReferences {
        all: count(found.total),
        by_others: count(found.by_others),
        other_owners: count(found.owners_among_others),
    }
}
