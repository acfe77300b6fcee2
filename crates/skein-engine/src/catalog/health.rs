//! How services and tools are, as far as the last check tells; and checking a service now.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use skein_connect::http::{HttpCall, Limits, Retry};
use skein_core::account::Scope;
use skein_core::catalog::health::{Health, Vitals};
use skein_core::catalog::service::{Protocol, Service};
use skein_core::catalog::tool::Tool;
use skein_core::flow::fitness::Condition;
use skein_core::garden::record::Record;
use skein_core::{Millis, RecordId, RuleViolation, UserId, Viewer};
use skein_store::catalogue::Whose;
use skein_store::health::LastHealth;
use skein_store::items::Page;
use skein_store::references::ReferenceKind;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{EntryQuery, SYSTEM, Schemas, Shown, load, shown_page};
use crate::engine::Engine;
use crate::error::EngineError;

/// A check is short: nobody waits for it longer.
const PROBE: Limits = Limits {
    first_byte: Duration::from_secs(10),
    idle: Duration::from_secs(10),
    total: Duration::from_secs(10),
    answer_bytes_max: 1 << 20,
};

/// Most entries that are looked at for one page of those with one status.
const LOOKS_MAX: usize = 1_000;

/// How something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vital {
    /// In one word.
    pub status: Health,
    /// When it was last checked.
    pub checked_at: Option<Millis>,
    /// What the check found wrong.
    pub error: Option<String>,
}

impl Vital {
    /// Of what was never checked.
    pub fn unchecked(enabled: bool) -> Self {
        Self { status: Vitals { enabled, finding: None }.status(), checked_at: None, error: None }
    }

    fn new(status: Health, last: Option<LastHealth>) -> Self {
        let (checked_at, error) = last.map_or((None, None), |last| (Some(last.checked_at), last.error));
        Self { status, checked_at, error }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// In one word.
    pub status: Health,
    /// When.
    pub checked_at: Millis,
    /// How long the answer took.
    pub latency_ms: i64,
    /// What is wrong.
    pub error: Option<String>,
}

impl Engine {
    /// Asks a service whether it is there. What is found is kept when its owner asks, or an administrator for what
    /// belongs to the installation.
    pub async fn check_service(&self, caller: &Caller, id: RecordId) -> Result<Checked, EngineError> {
        caller.require(Scope::Write)?;
        let viewer = caller.acting();
        let look = move |tx: &mut Tx<'_>| {
            let service: Shown<Service> = load(tx, &viewer, id)?;
            let address = address_of(tx, &viewer, &service)?;
            Ok((service, address))
        };
        let (service, address) = self.parts().store.read(look).await?;
        let begun = Instant::now();
        let (status, error) = match address {
            None => (Health::Healthy, None),
            Some(address) => self.probe(&address).await,
        };
        let latency_ms = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
        let is_keeper =
            service.owner == caller.user || (service.owner == UserId::SYSTEM && caller.require_admin().is_ok());
        let kept = error.clone();
        let keep = move |tx: &mut Tx<'_>| {
            if is_keeper {
                tx.set_health(&SYSTEM, id, status.as_str(), kept.as_deref(), Some(latency_ms))?;
            }
            Ok(tx.now())
        };
        let checked_at = self.parts().store.write(keep).await?.value;
        let status = Vitals { enabled: service.entry.enabled, finding: Some(status) }.status();
        Ok(Checked { status, checked_at, latency_ms, error })
    }

    /// Whatever answers is there; one that complains about itself is degraded.
    async fn probe(&self, address: &str) -> (Health, Option<String>) {
        let call = match HttpCall::new(http::Method::GET, address) {
            Ok(call) => HttpCall { retry: Retry::NEVER, limits: PROBE, ..call },
            Err(fault) => return (Health::Down, Some(fault.to_string())),
        };
        match self.parts().outside.http().send(&call).await {
            Ok(answer) if answer.status.is_server_error() => {
                (Health::Degraded, Some(format!("it answered {}", answer.status)))
            }
            Ok(_) => (Health::Healthy, None),
            Err(fault) => (Health::Down, Some(fault.to_string())),
        }
    }

    /// One service that the caller may see, and how it is.
    pub async fn service(&self, caller: &Caller, id: RecordId) -> Result<(Shown<Service>, Vital), EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| {
            let service = load(tx, &viewer, id)?;
            Ok(with_vitals(tx, &viewer, vec![service])?.remove(0))
        };
        Ok(self.parts().store.look_up(look).await?)
    }

    /// One tool that the caller may see, and how it is.
    pub async fn tool(&self, caller: &Caller, id: RecordId) -> Result<(Shown<Tool>, Vital), EngineError> {
        let (viewer, engine) = (caller.viewer(), self.clone());
        let look = move |tx: &mut Tx<'_>| {
            let tool = load(tx, &viewer, id)?;
            Ok(tools_with_vitals(tx, &engine.parts().schemas, &viewer, vec![tool])?.remove(0))
        };
        Ok(self.parts().store.look_up(look).await?)
    }

    /// The services that the caller may see.
    pub async fn services(
        &self,
        caller: &Caller,
        query: EntryQuery,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Page<(Shown<Service>, Vital), RecordId>, EngineError> {
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
    ) -> Result<Page<(Shown<Tool>, Vital), RecordId>, EngineError> {
        let (viewer, engine) = (caller.viewer(), self.clone());
        let list = move |tx: &mut Tx<'_>| {
            page_by_status(tx, &query, after, limit, |tx, after, limit| {
                let page = shown_page(visible_tools(tx, &viewer, &query, after, limit)?)?;
                let rows = tools_with_vitals(tx, &engine.parts().schemas, &viewer, page.rows)?;
                Ok(Page { rows, next: page.next })
            })
        };
        Ok(self.parts().store.read(list).await?)
    }
}

/// Where a service is found: as its schema says, else where a tool of the viewer's on it goes. Built-in ones are here.
fn address_of(tx: &mut Tx<'_>, viewer: &Viewer, service: &Shown<Service>) -> Result<Option<String>, StoreError> {
    if service.entry.builtin.is_some() {
        return Ok(None);
    }
    let refuse = |problem: &str, remedy| RuleViolation::new("BR-SERVICE-003", problem, remedy);
    if !matches!(service.entry.protocol, Protocol::Http | Protocol::Https) {
        let problem = format!("services that speak {} cannot be checked yet", service.entry.protocol.as_str());
        return Err(refuse(&problem, "test one of its tools once that is possible").into());
    }
    let endpoint = &service.entry.connection_schema["properties"]["endpoint"];
    let prescribed = ["const", "default"].iter().find_map(|keyword| endpoint[keyword].as_str());
    if let Some(address) = prescribed {
        return Ok(Some(address.to_owned()));
    }
    let tools = tx.instances(viewer, service.id, ReferenceKind::Service, Whose::Own, None, 1)?;
    let tool = tools.rows.into_iter().next().map(Shown::<Tool>::try_from).transpose()?;
    let address = tool.and_then(|tool| tool.entry.connection_params.get("endpoint")?.as_str().map(str::to_owned));
    let nowhere = || refuse("nothing says where this service is", "make a tool on it, with its endpoint, first");
    Ok(Some(address.ok_or_else(nowhere)?))
}

type Seen<T> = Page<(Shown<T>, Vital), RecordId>;

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
fn as_seen_by(viewer: &Viewer, mut tool: Shown<Tool>, mut vital: Vital) -> (Shown<Tool>, Vital) {
    if tool.owner != viewer.subject() {
        (tool.entry.secret_id, vital.error) = (None, None);
    }
    (tool, vital)
}

fn with_vitals(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    services: Vec<Shown<Service>>,
) -> Result<Vec<(Shown<Service>, Vital)>, StoreError> {
    let ids: Vec<RecordId> = services.iter().map(|service| service.id).collect();
    let mut last = tx.health_of(&SYSTEM, &ids)?;
    let seen = services.into_iter().map(|service| {
        let last = last.remove(&service.id);
        let vitals = Vitals { enabled: service.entry.enabled, finding: finding(last.as_ref()) };
        let mut vital = Vital::new(vitals.status(), last);
        vital.error = vital.error.filter(|_| service.owner == viewer.subject());
        (service, vital)
    });
    Ok(seen.collect())
}

/// A tool that does not fit its service any more is down, whatever it was found to be before (decision A52).
fn tools_with_vitals(
    tx: &mut Tx<'_>,
    schemas: &Schemas,
    viewer: &Viewer,
    tools: Vec<Shown<Tool>>,
) -> Result<Vec<(Shown<Tool>, Vital)>, StoreError> {
    let services: BTreeSet<RecordId> = tools.iter().map(|tool| tool.entry.service_id).collect();
    let ids: Vec<RecordId> = tools.iter().map(|tool| tool.id).chain(services.iter().copied()).collect();
    let mut last = tx.health_of(&SYSTEM, &ids)?;
    let services = standing_services(tx, services)?;
    let seen = tools.into_iter().map(|tool| {
        let vitals = Vitals { enabled: tool.entry.enabled, finding: finding(last.get(&tool.id)) };
        let service = services.get(&tool.entry.service_id);
        let ground = service
            .map_or(GONE, |service| Vitals { enabled: service.entry.enabled, finding: finding(last.get(&service.id)) });
        let unfit = service.and_then(|service| unfit(schemas, &tool, service));
        let status = if unfit.is_some() { Health::Down } else { vitals.status_on(ground) };
        let vital = Vital::new(status, last.remove(&tool.id));
        as_seen_by(viewer, tool, Vital { error: unfit.or(vital.error), ..vital })
    });
    Ok(seen.collect())
}

fn unfit(schemas: &Schemas, tool: &Shown<Tool>, service: &Shown<Service>) -> Option<String> {
    let schema = schemas.of_service(service);
    let fits = schema.and_then(|schema| tool.entry.check_fits_by(&service.entry, &schema));
    fits.err().map(|violation| violation.problem().to_owned())
}

/// What stands on nothing is down.
const GONE: Vitals = Vitals { enabled: false, finding: None };

fn standing_services(
    tx: &mut Tx<'_>,
    ids: BTreeSet<RecordId>,
) -> Result<BTreeMap<RecordId, Shown<Service>>, StoreError> {
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
pub(crate) struct Ground {
    pub(crate) tool: Condition,
    /// It may be gone.
    pub(crate) service: Option<(Shown<Service>, Condition)>,
}

/// How a tool and its service are, as its user is told before it is called.
pub(crate) fn conditions(
    tx: &mut Tx<'_>,
    schemas: &Schemas,
    viewer: &Viewer,
    tool: &Shown<Tool>,
) -> Result<Ground, StoreError> {
    let service = standing_services(tx, [tool.entry.service_id].into())?.remove(&tool.entry.service_id);
    let last = tx.health_of(&SYSTEM, &[tool.id, tool.entry.service_id])?;
    let unfit = service.as_ref().and_then(|service| unfit(schemas, tool, service));
    let seen = |last: Option<&LastHealth>, owner: UserId| {
        let error = last.and_then(|last| last.error.clone()).filter(|_| owner == viewer.subject());
        (finding(last), error)
    };
    let (checked, error) = seen(last.get(&tool.id), tool.owner);
    let Shown { owner, shared, .. } = *tool;
    let of_tool = Condition { owner, shared, enabled: tool.entry.enabled, checked, error, unfit };
    let of_service = service.map(|service| {
        let (checked, error) = seen(last.get(&service.id), service.owner);
        let Shown { owner, shared, .. } = service;
        let enabled = service.entry.enabled;
        // What is built in is always there.
        let checked = if service.entry.builtin.is_some() { Some(Health::Healthy) } else { checked };
        let condition = Condition { owner, shared, enabled, checked, error, unfit: None };
        (service, condition)
    });
    Ok(Ground { tool: of_tool, service: of_service })
}

fn finding(last: Option<&LastHealth>) -> Option<Health> {
    last.and_then(|last| Health::ALL.into_iter().find(|health| health.as_str() == last.status))
}
