//! Asking a service whether it is there, at every address it is reached at.
//!
//! A service may say itself where it is; its tools may go to addresses of their own. Each address is asked once, and what
//! follows for the service and for each tool is decided by `skein_core::catalog::health`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures::future::join_all;
use skein_connect::http::{HttpCall, Limits, Retry};
use skein_core::account::Scope;
use skein_core::catalog::health::{self, EntryHealth, Health};
use skein_core::catalog::service::{Protocol, Service};
use skein_core::catalog::tool::Tool;
use skein_core::{Millis, RecordId, RuleViolation, UserId, Viewer};
use skein_store::catalog::entries::OwnershipFilter;
use skein_store::catalog::references::ReferenceKind;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::health::finding;
use crate::catalog::{SYSTEM, StoredEntry, load};
use crate::engine::Engine;
use crate::error::EngineError;

/// A check is short: nobody waits for it longer.
const PROBE: Limits = Limits {
    first_byte: Duration::from_secs(10),
    idle: Duration::from_secs(10),
    total: Duration::from_secs(10),
    answer_bytes_max: 1 << 20,
};
/// Tools whose addresses are asked by one check.
const TOOLS_MAX: usize = 100;
/// Addresses asked by one check.
const ADDRESSES_MAX: usize = 8;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    /// In one word.
    pub status: Health,
    /// When.
    pub checked_at: Millis,
    /// How long the answer took.
    pub latency_ms: i64,
    /// What is wrong.
    pub error: Option<String>,
}

/// Where a service is reached, and by which of the caller's tools.
struct CheckedEndpoint {
    service: StoredEntry<Service>,
    /// Every address once, with what was known before of the tools that go there.
    addresses: BTreeMap<String, Vec<(RecordId, Option<Health>)>>,
}

/// What an address was found to be, and what is wrong with it.
type ProbeResult = (Health, Option<String>);

impl Engine {
    /// Asks a service whether it is there. What is found is kept when its owner asks, or an administrator for what
    /// belongs to the installation; what is found of tools, when they are the caller's.
    pub async fn check_service(&self, caller: &Caller, id: RecordId) -> Result<CheckResult, EngineError> {
        caller.require(Scope::Write)?;
        let viewer = caller.acting();
        let reached = self.parts().store.read(move |tx| reached(tx, &viewer, id)).await?;
        let begun = Instant::now();
        let found = join_all(reached.addresses.keys().map(|address| self.probe(address))).await;
        let latency_ms = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
        let service = &reached.service;
        let is_keeper =
            service.owner == caller.user || (service.owner == UserId::SYSTEM && caller.require_admin().is_ok());
        let healths: Vec<Health> = found.iter().map(|(health, _)| *health).collect();
        // What is built in has no address: it is here.
        let status = health::of_addresses(&healths).unwrap_or(Health::Healthy);
        let errors: Vec<String> = found.iter().filter_map(|(_, error)| error.clone()).collect();
        let error = Some(errors.join("; ")).filter(|error| !error.is_empty());
        let (kept, tools) = (error.clone(), tools_found(status, reached.addresses.values().zip(&found)));
        let keep = move |tx: &mut Tx<'_>| {
            if is_keeper {
                tx.set_health(&SYSTEM, id, status.as_str(), kept.as_deref(), Some(latency_ms))?;
            }
            for (tool, status, error) in &tools {
                tx.set_health(&SYSTEM, *tool, status.as_str(), error.as_deref(), None)?;
            }
            Ok(tx.now())
        };
        let checked_at = self.parts().store.write(keep).await?.value;
        let status = EntryHealth { enabled: service.entry.enabled, finding: Some(status) }.status();
        Ok(CheckResult { status, checked_at, latency_ms, error })
    }

    /// Whatever answers is there; one that complains about itself is degraded.
    async fn probe(&self, address: &str) -> ProbeResult {
        let call = match HttpCall::new(http::Method::GET, address) {
            Ok(call) => HttpCall { retry: Retry::NEVER, limits: PROBE, ..call },
            Err(fault) => return (Health::Down, Some(fault.to_string())),
        };
        match self.parts().gateway.http().send(&call).await {
            Ok(answer) if answer.status.is_server_error() => {
                (Health::Degraded, Some(format!("it answered {}", answer.status)))
            }
            Ok(_) => (Health::Healthy, None),
            Err(fault) => (Health::Down, Some(fault.to_string())),
        }
    }
}

/// What is news about tools. Where the service is down all of them are, and nothing has to be kept of each.
fn tools_found<'a>(
    service: Health,
    addresses: impl Iterator<Item = (&'a Vec<(RecordId, Option<Health>)>, &'a ProbeResult)>,
) -> Vec<(RecordId, Health, Option<String>)> {
    if service == Health::Down {
        return Vec::new();
    }
    let news = addresses.flat_map(|(tools, (address, error))| {
        tools.iter().filter_map(|(tool, before)| {
            let after = health::of_tool_reached(*before, *address)?;
            (Some(after) != *before).then(|| (*tool, after, error.clone()))
        })
    });
    news.collect()
}

/// Where a service is reached: where its schema says, and where the viewer's tools on it go.
fn reached(tx: &mut Tx<'_>, viewer: &Viewer, id: RecordId) -> Result<CheckedEndpoint, StoreError> {
    let service: StoredEntry<Service> = load(tx, viewer, id)?;
    let mut addresses: BTreeMap<String, Vec<(RecordId, Option<Health>)>> = BTreeMap::new();
    if service.entry.builtin.is_some() {
        return Ok(CheckedEndpoint { service, addresses });
    }
    let refuse = |problem: &str, remedy| RuleViolation::new("BR-SERVICE-003", problem, remedy);
    if !matches!(service.entry.protocol, Protocol::Http | Protocol::Https) {
        let problem = format!("services that speak {} cannot be checked yet", service.entry.protocol.as_str());
        return Err(refuse(&problem, "test one of its tools once that is possible").into());
    }
    if let Some(address) = service.entry.address() {
        addresses.insert(address.to_owned(), Vec::new());
    }
    let tools = tx.instances(viewer, id, ReferenceKind::Service, OwnershipFilter::Own, None, TOOLS_MAX)?;
    let tools = tools.rows.into_iter().map(StoredEntry::<Tool>::try_from).collect::<Result<Vec<_>, _>>()?;
    let ids: Vec<RecordId> = tools.iter().map(|tool| tool.id).collect();
    let last = tx.health_of(&SYSTEM, &ids)?;
    for tool in &tools {
        let Some(address) = tool.entry.address().or(service.entry.address()) else { continue };
        if addresses.contains_key(address) || addresses.len() < ADDRESSES_MAX {
            addresses.entry(address.to_owned()).or_default().push((tool.id, finding(last.get(&tool.id))));
        }
    }
    if addresses.is_empty() {
        let remedy = "make a tool on it, with its endpoint, first";
        return Err(refuse("nothing says where this service is", remedy).into());
    }
    Ok(CheckedEndpoint { service, addresses })
}
