//! Reads everything a call is authorized by, in one statement, with entries cached by version.
//!
//! An entry is known by the edition of its record, so what is remembered of it can never be out of date; which edition there
//! is now, whose it is and how it is doing is read anew for every call (rule BR-EXEC-003).

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use skein_core::catalog::entry::Entry;
use skein_core::catalog::health::Health;
use skein_core::catalog::secret::{Secret, SecretBinding};
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_core::flow::step::Reference;
use skein_core::garden::record::Record;
use skein_core::{RecordId, UserId};
use skein_store::catalog::vault::SealedSecret;
use skein_store::flow::call_dependencies::{CallDependency, RecordRevision};
use skein_store::{StoreError, Tx};

use crate::catalog::{PastTools, SYSTEM, StoredEntry};

/// Most entries of a kind that are remembered; when there are more, all are forgotten.
const REMEMBERED_MAX: usize = 4_096;
/// Looks until all that a tool names was read together: the first finds the tool and its binding, the second the rest. More
/// are needed only while somebody changes them.
const LOOKS_MAX: usize = 8;

/// An entry that was read before.
#[derive(Clone)]
enum CachedEntry {
    Tool(Arc<StoredEntry<Tool>>),
    Service(Arc<StoredEntry<Service>>),
    Secret(Arc<StoredEntry<Secret>>),
    Binding(Arc<StoredEntry<SecretBinding>>),
}

impl CachedEntry {
    /// What a record holds; nothing if that is no part of a call.
    fn of(record: Record) -> Result<Option<Self>, StoreError> {
        Ok(Some(match record.content.record_type.as_str() {
            Tool::RECORD_TYPE => Self::Tool(Arc::new(record.try_into()?)),
            Service::RECORD_TYPE => Self::Service(Arc::new(record.try_into()?)),
            Secret::RECORD_TYPE => Self::Secret(Arc::new(record.try_into()?)),
            SecretBinding::RECORD_TYPE => Self::Binding(Arc::new(record.try_into()?)),
            _ => return Ok(None),
        }))
    }
}

/// What was read of the catalogue for calls, and what tools stood on when they were last called.
#[derive(Default)]
pub(crate) struct EntryCache {
    by_edition: Mutex<HashMap<RecordRevision, CachedEntry>>,
    named: Mutex<HashMap<(UserId, RecordId), Vec<RecordId>>>,
    pub(crate) past: PastTools,
}

impl EntryCache {
    fn by_edition(&self) -> MutexGuard<'_, HashMap<RecordRevision, CachedEntry>> {
        self.by_edition.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, edition: RecordRevision, entry: &CachedEntry) {
        let mut kept = self.by_edition();
        if kept.len() >= REMEMBERED_MAX {
            kept.clear();
        }
        kept.insert(edition, entry.clone());
    }

    /// What a tool stood on when somebody last called it.
    fn named(&self, of: (UserId, RecordId)) -> Vec<RecordId> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).get(&of).cloned().unwrap_or_default()
    }

    fn note_named(&self, of: (UserId, RecordId), named: &[RecordId]) {
        let mut kept = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= REMEMBERED_MAX {
            kept.clear();
        }
        kept.insert(of, named.to_vec());
    }
}

/// A secret, and its sealed value if there is one.
pub(crate) type SecretWithValue = (Arc<StoredEntry<Secret>>, Option<SealedSecret>);

/// A tool and everything it stands on for somebody, as it was at one moment. What is missing is not there any more.
pub(crate) struct CallDependencies {
    pub(crate) tool: Arc<StoredEntry<Tool>>,
    pub(crate) service: Option<Arc<StoredEntry<Service>>>,
    /// What the tool's owner bound to it.
    pub(crate) tool_secret: Option<SecretWithValue>,
    /// What the executor bound to it, and the secret that is.
    pub(crate) binding: Option<Arc<StoredEntry<SecretBinding>>>,
    pub(crate) own_secret: Option<SecretWithValue>,
    pub(crate) tool_health: Option<Health>,
    pub(crate) service_health: Option<Health>,
    /// Whether the tool does something else by now.
    pub(crate) is_past: bool,
}

impl CallDependencies {
    /// Reads all of it; nothing if there is no such tool.
    pub(crate) fn read(
        tx: &mut Tx<'_>,
        known: &EntryCache,
        executor: UserId,
        Reference { id: tool, version }: Reference,
    ) -> Result<Option<Self>, StoreError> {
        let mut others = known.named((executor, tool));
        for _ in 0..LOOKS_MAX {
            let met = RefCell::new(HashMap::new());
            let is_known = |edition: &RecordRevision| {
                let entry = known.by_edition().get(edition).cloned();
                entry.map(|entry| met.borrow_mut().insert(*edition, entry)).is_some()
            };
            let read = tx.call_dependencies(&SYSTEM, executor, tool, &others, is_known)?;
            let read = read.into_iter().map(|one| (one.edition.id, one)).collect();
            let Some((base, named)) = DependencyRead { known, met: met.into_inner(), read }.base(tool)? else {
                return Ok(None);
            };
            if named.iter().all(|id| others.contains(id)) {
                return base.defined_as(tx, known, executor, version).map(Some);
            }
            known.note_named((executor, tool), &named);
            others = named;
        }
        Err(StoreError::Busy)
    }

    /// With what a version of the tool did, if one is named. What checks found of the tool is about what it does now.
    fn defined_as(
        self,
        tx: &mut Tx<'_>,
        known: &EntryCache,
        by: UserId,
        version: Option<i64>,
    ) -> Result<Self, StoreError> {
        if version.is_none() {
            return Ok(self);
        }
        let now = self.tool.entry.definition_version;
        let tool = known.past.defined_as(tx, StoredEntry::clone(&self.tool), by, version)?;
        let is_past = tool.entry.definition_version != now;
        let tool_health = self.tool_health.filter(|_| !is_past);
        Ok(Self { tool: Arc::new(tool), tool_health, is_past, ..self })
    }
}

/// What one statement saw.
struct DependencyRead<'a> {
    known: &'a EntryCache,
    /// What of it was known before.
    met: HashMap<RecordRevision, CachedEntry>,
    read: HashMap<RecordId, CallDependency>,
}

impl DependencyRead<'_> {
    /// The tool with what was seen of the rest, and which records the rest is.
    fn base(&mut self, id: RecordId) -> Result<Option<(CallDependencies, Vec<RecordId>)>, StoreError> {
        let Some(CachedEntry::Tool(tool)) = self.entry(id)? else { return Ok(None) };
        let bound = self.read.values().find(|one| one.is_binding).map(|one| one.edition.id);
        let binding = match bound.map(|id| self.entry(id)).transpose()?.flatten() {
            Some(CachedEntry::Binding(binding)) => Some(binding),
            _ => None,
        };
        let service = match self.entry(tool.entry.service_id)? {
            Some(CachedEntry::Service(service)) => Some(service),
            _ => None,
        };
        let own = binding.as_ref().map(|binding| binding.entry.secret_id);
        let named = [Some(tool.entry.service_id), tool.entry.secret_id, own].into_iter().flatten().collect();
        let base = CallDependencies {
            tool_secret: self.keyed(tool.entry.secret_id)?,
            own_secret: self.keyed(own)?,
            tool_health: self.health(tool.id),
            service_health: self.health(tool.entry.service_id),
            is_past: false,
            tool,
            service,
            binding,
        };
        Ok(Some((base, named)))
    }

    fn entry(&mut self, id: RecordId) -> Result<Option<CachedEntry>, StoreError> {
        let Some(read) = self.read.get_mut(&id) else { return Ok(None) };
        let Some(record) = read.record.take() else { return Ok(self.met.get(&read.edition).cloned()) };
        let Some(entry) = CachedEntry::of(record)? else { return Ok(None) };
        self.met.insert(read.edition, entry.clone());
        self.known.keep(read.edition, &entry);
        Ok(Some(entry))
    }

    fn keyed(&mut self, secret: Option<RecordId>) -> Result<Option<SecretWithValue>, StoreError> {
        let Some(id) = secret else { return Ok(None) };
        let sealed = self.read.get(&id).and_then(|read| read.sealed.clone());
        match self.entry(id)? {
            Some(CachedEntry::Secret(secret)) => Ok(Some((secret, sealed))),
            _ => Ok(None),
        }
    }

    fn health(&self, id: RecordId) -> Option<Health> {
        let status = self.read.get(&id)?.health.as_deref()?;
        Health::ALL.into_iter().find(|health| health.as_str() == status)
    }
}
