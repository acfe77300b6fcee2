//! Reads and records the health of services and tools, by their last check.
//!
//! What checks found is read here and judged by `skein_core::catalog::health` alone; checking is in
//! [`crate::catalog::health_check`].

use std::collections::{BTreeMap, BTreeSet};

use skein_core::catalog::health::{EntryHealth, Health};
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_core::flow::health_report::DependencyHealth;
use skein_core::garden::record::Record;
use skein_core::{Millis, RecordId, UserId, Viewer};
use skein_store::catalog::health::LastHealth;
use skein_store::catalog::references::ReferenceKind;
use skein_store::timeline::items::Page;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{EntryQuery, SYSTEM, StoredEntry, load, shown_page};
use crate::engine::Engine;
use crate::error::EngineError;

/// Most entries that are looked at for one page of those with one status.
const LOOKS_MAX: usize = 1_000;

/// How something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthStatus {
    /// In one word.
    pub status: Health,
    /// When it was last checked.
    pub checked_at: Option<Millis>,
    /// What the check found wrong.
    pub error: Option<String>,
}

impl HealthStatus {
    /// What is not there any more is down.
    pub fn gone() -> Self {
        Self { status: GONE.status(), checked_at: None, error: None }
    }

    fn new(status: Health, last: Option<LastHealth>) -> Self {
        let (checked_at, error) = last.map_or((None, None), |last| (Some(last.checked_at), last.error));
        Self { status, checked_at, error }
    }
}

impl Engine {
    /// One service that the caller may see, and how it is.
    pub async fn service(
        &self,
        caller: &Caller,
        id: RecordId,
    ) -> Result<(StoredEntry<Service>, HealthStatus), EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| {
            let service = load(tx, &viewer, id)?;
            Ok(with_vitals(tx, &viewer, vec![service])?.remove(0))
        };
        Ok(self.parts().store.look_up(look).await?)
    }

    /// One tool that the caller may see, and how it is.
    pub async fn tool(&self, caller: &Caller, id: RecordId) -> Result<(StoredEntry<Tool>, HealthStatus), EngineError> {
        let (viewer, engine) = (caller.viewer(), self.clone());
        let look = move |tx: &mut Tx<'_>| {
            let tool = load(tx, &viewer, id)?;
            Ok(tools_with_vitals(tx, &engine, &viewer, vec![tool])?.remove(0))
        };
        Ok(self.parts().store.look_up_computing(look).await?)
    }

    /// How services are that were just made or changed.
    pub async fn services_seen(
        &self,
        caller: &Caller,
        services: Vec<StoredEntry<Service>>,
    ) -> Result<Vec<(StoredEntry<Service>, HealthStatus)>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.look_up(move |tx| with_vitals(tx, &viewer, services.clone())).await?)
    }

    /// How tools are that were just made or changed.
    pub async fn tools_seen(
        &self,
        caller: &Caller,
        tools: Vec<StoredEntry<Tool>>,
    ) -> Result<Vec<(StoredEntry<Tool>, HealthStatus)>, EngineError> {
        let (viewer, engine) = (caller.viewer(), self.clone());
        let look = move |tx: &mut Tx<'_>| tools_with_vitals(tx, &engine, &viewer, tools.clone());
        Ok(self.parts().store.look_up_computing(look).await?)
    }

    /// The services that the caller may see.
    pub async fn services(
        &self,
        caller: &Caller,
        query: EntryQuery,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<(StoredEntry<Service>, HealthStatus), RecordId>, EngineError> {
        let viewer = caller.viewer();
        let list = move |tx: &mut Tx<'_>| {
            page_by_status(tx, &query, after, limit, |tx, after, limit| {
                let page = shown_page(tx.records_visible(&viewer, &query.visible::<Service>(after, limit))?)?;
                Ok(Page { rows: with_vitals(tx, &viewer, page.rows)?, next: page.next })
            })
        };
        Ok(self.parts().store.read(list).await?)
    }

    /// The tools that the caller may see.
    pub async fn tools(
        &self,
        caller: &Caller,
        query: EntryQuery,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<(StoredEntry<Tool>, HealthStatus), RecordId>, EngineError> {
        let (viewer, engine) = (caller.viewer(), self.clone());
        let list = move |tx: &mut Tx<'_>| {
            page_by_status(tx, &query, after, limit, |tx, after, limit| {
                let page = shown_page(visible_tools(tx, &viewer, &query, after, limit)?)?;
                let rows = tools_with_vitals(tx, &engine, &viewer, page.rows)?;
                Ok(Page { rows, next: page.next })
            })
        };
        Ok(self.parts().store.read_computing(list).await?)
    }
}

type Seen<T> = Page<(StoredEntry<T>, HealthStatus), RecordId>;

/// A status follows from more than is kept, so pages by status are filtered, over a bounded number of entries; one may
/// be short and still go on.
fn page_by_status<T>(
    tx: &mut Tx<'_>,
    query: &EntryQuery,
    after: Option<RecordId>,
    limit: usize,
    mut page: impl FnMut(&mut Tx<'_>, Option<RecordId>, usize) -> Result<Seen<T>, StoreError>,
) -> Result<Seen<T>, StoreError> {
    let Some(wanted) = query.status else { return page(tx, after, limit) };
    let looked = page(tx, after, LOOKS_MAX)?;
    let mut rows: Vec<_> = looked.rows.into_iter().filter(|(_, vital)| vital.status == wanted).collect();
    let next = if rows.len() > limit {
        rows.truncate(limit);
        rows.last().map(|(last, _)| last.id)
    } else {
        looked.next
    };
    Ok(Page { rows, next })
}

/// Tools by their headings, or those on one service, of which a page may be short.
fn visible_tools(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    query: &EntryQuery,
    after: Option<RecordId>,
    limit: usize,
) -> Result<Page<Record, RecordId>, StoreError> {
    let Some(service) = query.service else { return tx.records_visible(viewer, &query.visible::<Tool>(after, limit)) };
    // On a service that the viewer may not see they have nothing to find.
    match load::<Service>(tx, viewer, service) {
        Err(StoreError::NotFound(_)) => return Ok(Page { rows: Vec::new(), next: None }),
        other => drop(other?),
    }
    let mut page = tx.instances(viewer, service, ReferenceKind::Service, query.whose, after, limit)?;
    page.rows.retain(|record| {
        let data = &record.content.data;
        let is_kind = query.kind.as_deref().is_none_or(|kind| data["operation"]["type"] == kind);
        is_kind && query.enabled.is_none_or(|enabled| data["enabled"] == enabled)
    });
    Ok(page)
}

/// Which secret a tool uses, and what its owner's calls met, is for its owner to know.
fn as_seen_by(
    viewer: &Viewer,
    mut tool: StoredEntry<Tool>,
    mut vital: HealthStatus,
) -> (StoredEntry<Tool>, HealthStatus) {
    if tool.owner != viewer.subject() {
        (tool.entry.secret_id, vital.error) = (None, None);
    }
    (tool, vital)
}

fn with_vitals(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    services: Vec<StoredEntry<Service>>,
) -> Result<Vec<(StoredEntry<Service>, HealthStatus)>, StoreError> {
    let ids: Vec<RecordId> = services.iter().map(|service| service.id).collect();
    let mut last = tx.health_of(&SYSTEM, &ids)?;
    let seen = services.into_iter().map(|service| {
        let last = last.remove(&service.id);
        let mut vital = HealthStatus::new(service_vitals(&service, last.as_ref()).status(), last);
        vital.error = vital.error.filter(|_| service.owner == viewer.subject());
        (service, vital)
    });
    Ok(seen.collect())
}

fn tools_with_vitals(
    tx: &mut Tx<'_>,
    engine: &Engine,
    viewer: &Viewer,
    tools: Vec<StoredEntry<Tool>>,
) -> Result<Vec<(StoredEntry<Tool>, HealthStatus)>, StoreError> {
    let services: BTreeSet<RecordId> = tools.iter().map(|tool| tool.entry.service_id).collect();
    let ids: Vec<RecordId> = tools.iter().map(|tool| tool.id).chain(services.iter().copied()).collect();
    let mut last = tx.health_of(&SYSTEM, &ids)?;
    let services = standing_services(tx, services)?;
    let seen = tools.into_iter().map(|tool| {
        let service = services.get(&tool.entry.service_id);
        let ground = service.map_or(GONE, |service| service_vitals(service, last.get(&service.id)));
        let unfit = service.map(|service| unfit(engine, viewer, &tool, service)).transpose()?.flatten();
        let vitals = tool_vitals(&tool, service, last.get(&tool.id)).fitting(unfit.is_none());
        let vital = HealthStatus::new(vitals.status_on(ground), last.remove(&tool.id));
        Ok(as_seen_by(viewer, tool, HealthStatus { error: unfit.or(vital.error), ..vital }))
    });
    seen.collect()
}

/// What is known of a service.
fn service_vitals(service: &StoredEntry<Service>, last: Option<&LastHealth>) -> EntryHealth {
    let vitals = EntryHealth { enabled: service.entry.enabled, finding: finding(last) };
    vitals.built_in(service.entry.builtin.is_some())
}

/// What is known of a tool by itself.
fn tool_vitals(
    tool: &StoredEntry<Tool>,
    service: Option<&StoredEntry<Service>>,
    last: Option<&LastHealth>,
) -> EntryHealth {
    let vitals = EntryHealth { enabled: tool.entry.enabled, finding: finding(last) };
    vitals.built_in(service.is_some_and(|service| service.entry.builtin.is_some()))
}

fn unfit(
    engine: &Engine,
    viewer: &Viewer,
    tool: &StoredEntry<Tool>,
    service: &StoredEntry<Service>,
) -> Result<Option<String>, StoreError> {
    match tool.entry.check_fits_by(&service.entry, &engine.judge(viewer.subject())) {
        Ok(()) => Ok(None),
        Err(StoreError::Rule(violation)) => Ok(Some(violation.problem().to_owned())),
        Err(error) => Err(error),
    }
}

/// What stands on nothing is down.
const GONE: EntryHealth = EntryHealth { enabled: false, finding: None };

fn standing_services(
    tx: &mut Tx<'_>,
    ids: BTreeSet<RecordId>,
) -> Result<BTreeMap<RecordId, StoredEntry<Service>>, StoreError> {
    let mut found = BTreeMap::new();
    for id in ids {
        match load(tx, &SYSTEM, id) {
            Ok(service) => drop(found.insert(id, service)),
            Err(StoreError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// How a tool and its service are.
pub(crate) struct HealthBasis {
    pub(crate) tool: DependencyHealth,
    /// It may be gone.
    pub(crate) service: Option<(StoredEntry<Service>, DependencyHealth)>,
}

/// How a tool and its service are, as its user is told before it is called.
pub(crate) fn conditions(
    tx: &mut Tx<'_>,
    engine: &Engine,
    viewer: &Viewer,
    tool: &StoredEntry<Tool>,
) -> Result<HealthBasis, StoreError> {
    let service = standing_services(tx, [tool.entry.service_id].into())?.remove(&tool.entry.service_id);
    let last = tx.health_of(&SYSTEM, &[tool.id, tool.entry.service_id])?;
    let unfit = service.as_ref().map(|service| unfit(engine, viewer, tool, service)).transpose()?.flatten();
    let told = |last: Option<&LastHealth>, owner: UserId| {
        last.and_then(|last| last.error.clone()).filter(|_| owner == viewer.subject())
    };
    let condition = |owner, shared, vitals: EntryHealth, error, unfit| {
        let EntryHealth { enabled, finding } = vitals;
        DependencyHealth { owner, shared, enabled, checked: finding, error, unfit }
    };
    let found = last.get(&tool.id);
    let vitals = tool_vitals(tool, service.as_ref(), found);
    let of_tool = condition(tool.owner, tool.shared, vitals, told(found, tool.owner), unfit);
    let of_service = service.map(|service| {
        let found = last.get(&service.id);
        let vitals = service_vitals(&service, found);
        let condition = condition(service.owner, service.shared, vitals, told(found, service.owner), None);
        (service, condition)
    });
    Ok(HealthBasis { tool: of_tool, service: of_service })
}

pub(super) fn finding(last: Option<&LastHealth>) -> Option<Health> {
    last.and_then(|last| Health::ALL.into_iter().find(|health| health.as_str() == last.status))
}
