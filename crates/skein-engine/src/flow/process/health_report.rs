//! Reports whether an execution of a process would fail now, for every tool, service, secret and process it depends on,
//! with reasons.

use std::collections::BTreeMap;

use skein_core::catalog::secret::Secret;
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_core::flow::health_report::{HealthFinding, HealthLevel};
use skein_core::flow::process::{Process, RECURSION_DEPTH_MAX};
use skein_core::flow::step::Reference;
use skein_core::{Millis, RecordId, Viewer};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{HealthBasis, SYSTEM, StoredEntry, bound, conditions, load};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::process::targets::{TargetEntry, Targets};

/// Breaches that are told of the tool or process they are about.
const TOLD_OF_TARGETS: [&str; 3] = ["BR-PROCESS-009", "BR-PROCESS-010", "BR-PROCESS-011"];

/// How a process is, with all that it depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessHealth {
    /// As well as the worst of it.
    pub fitness: HealthLevel,
    /// What is wrong with the process itself.
    pub reasons: Vec<String>,
    /// In the order of the steps.
    pub dependencies: Vec<Dependency>,
    /// When this was looked at.
    pub checked_at: Millis,
}

/// One thing that steps depend on.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependency {
    /// What it is.
    pub kind: DependencyKind,
    /// Which one, as far as whoever asks may know.
    pub id: Option<RecordId>,
    /// What it is called, as far as whoever asks may know.
    pub name: Option<String>,
    /// The steps that depend on it, by their ids.
    pub steps: Vec<String>,
    /// How it is.
    pub finding: HealthFinding,
}

/// What a step can depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DependencyKind {
    /// It is called, or offered to a model.
    Tool,
    /// A tool stands on it.
    Service,
    /// A tool is called with it.
    Secret,
    /// It is called as a step.
    Process,
}

impl DependencyKind {
    /// In one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Service => "service",
            Self::Secret => "secret",
            Self::Process => "process",
        }
    }
}

impl Engine {
    /// How a process of the caller's would fare now. Nothing is called: what checks and calls found is told.
    pub async fn process_health(&self, caller: &Caller, id: RecordId) -> Result<ProcessHealth, EngineError> {
        let (viewer, engine) = (caller.viewer(), self.clone());
        let look = move |tx: &mut Tx<'_>| {
            let process: StoredEntry<Process> = load(tx, &viewer, id)?;
            process_health(tx, &engine, &viewer, &process)
        };
        Ok(self.parts().store.read_computing(look).await?)
    }
}

/// How a process would fare now, for the viewer.
pub(crate) fn process_health(
    tx: &mut Tx<'_>,
    engine: &Engine,
    viewer: &Viewer,
    process: &StoredEntry<Process>,
) -> Result<ProcessHealth, StoreError> {
    Survey { engine, viewer, known: BTreeMap::new() }.look_at(tx, process, 0)
}

/// One look at a process and what it calls, each process once.
struct Survey<'a> {
    engine: &'a Engine,
    viewer: &'a Viewer,
    known: BTreeMap<RecordId, HealthFinding>,
}

impl Survey<'_> {
    fn look_at(
        &mut self,
        tx: &mut Tx<'_>,
        process: &StoredEntry<Process>,
        depth: u8,
    ) -> Result<ProcessHealth, StoreError> {
        // One that is met again inside itself has been looked at.
        self.known.insert(process.id, HealthFinding::default());
        let targets = Targets::load(tx, &process.entry, process.owner, Some(&process.entry))?;
        let mut found = Dependencies::default();
        for (step, named) in named(&process.entry) {
            let id = named.id;
            match targets.find(named) {
                None => found.add(DependencyKind::Tool, id, step, (Some(id), None), HealthFinding::missing),
                // That there is no such version is told of the process.
                Some(TargetEntry::NoVersion(tool, _)) => {
                    self.look_at_tool(tx, process, (tool, false), step, &mut found)?;
                }
                Some(TargetEntry::Tool { tool, is_past }) => {
                    if named.version.is_some() && tool.owner != process.owner {
                        let foreign = || HealthFinding::error("a version of it is named, and it is somebody else's");
                        found.add(DependencyKind::Tool, id, step, (Some(id), None), foreign);
                    }
                    self.look_at_tool(tx, process, (tool, *is_past), step, &mut found)?;
                }
                Some(TargetEntry::Process(inner)) => {
                    let finding = self.of_process(tx, process, inner, depth)?;
                    let name = Some(inner.entry.name.to_string());
                    found.add(DependencyKind::Process, id, step, (Some(id), name), || finding);
                }
            }
        }
        let own = own_finding(self.engine, self.viewer, process, &targets)?;
        let fitness = found.all.iter().map(|one| one.finding.fitness).fold(own.fitness, HealthLevel::max);
        Ok(ProcessHealth { fitness, reasons: own.reasons, dependencies: found.all, checked_at: tx.now() })
    }

    fn look_at_tool(
        &mut self,
        tx: &mut Tx<'_>,
        process: &StoredEntry<Process>,
        (tool, is_past): (&StoredEntry<Tool>, bool),
        step: &str,
        found: &mut Dependencies,
    ) -> Result<(), StoreError> {
        let HealthBasis { tool: mut of_tool, service } = conditions(tx, self.engine, self.viewer, tool)?;
        if is_past {
            // What was found is about what it does now.
            (of_tool.checked, of_tool.error) = (None, None);
        }
        // Whoever uses a tool was shown its name, and is told it when it is taken back (BR-SHARE-009).
        let shown = (Some(tool.id), Some(tool.entry.name.to_string()));
        found.add(DependencyKind::Tool, tool.id, step, shown, || of_tool.finding(process.owner));
        let Some((service, of_service)) = service else {
            let id = tool.entry.service_id;
            found.add(DependencyKind::Service, id, step, (None, None), HealthFinding::missing);
            return Ok(());
        };
        let is_seen = service.owner == process.owner || service.shared;
        let shown = if is_seen { (Some(service.id), Some(service.entry.name.to_string())) } else { (None, None) };
        found.add(DependencyKind::Service, service.id, step, shown, || of_service.finding(tool.owner));
        if let Some((key, shown, finding)) = self.of_secret(tx, tool, &service)? {
            found.add(DependencyKind::Secret, key, step, shown, || finding);
        }
        Ok(())
    }

    /// The secret a call would be made with: one's own, else that of the tool's owner (decision Z16).
    fn of_secret(
        &self,
        tx: &mut Tx<'_>,
        tool: &StoredEntry<Tool>,
        service: &StoredEntry<Service>,
    ) -> Result<Option<(RecordId, Identity, HealthFinding)>, StoreError> {
        let own = bound(tx, self.viewer, tool.id)?;
        let outdated = own.as_ref().and_then(|binding| binding.entry.check(&tool.entry).err());
        let used = own.map(|binding| binding.entry.secret_id).or(tool.entry.secret_id);
        let Some(id) = used else {
            let none = "the service requires a secret and the tool has none";
            return Ok(service.entry.requires_secret.then(|| (tool.id, (None, None), HealthFinding::error(none))));
        };
        let secret: StoredEntry<Secret> = match load(tx, &SYSTEM, id) {
            Err(StoreError::NotFound(_)) => return Ok(Some((id, (None, None), HealthFinding::missing()))),
            other => other?,
        };
        let is_seen = secret.owner == self.viewer.subject();
        let shown = if is_seen { (Some(id), Some(secret.entry.name.to_string())) } else { (None, None) };
        let mut finding = HealthFinding::default();
        if let Some(outdated) = outdated {
            finding = finding.and(HealthLevel::Error, outdated.problem());
        }
        if tx.sealed(&SYSTEM, id)?.is_none() {
            finding = finding.and(HealthLevel::Error, "the vault holds no value for it");
        }
        Ok(Some((id, shown, finding)))
    }

    fn of_process(
        &mut self,
        tx: &mut Tx<'_>,
        caller: &StoredEntry<Process>,
        inner: &StoredEntry<Process>,
        depth: u8,
    ) -> Result<HealthFinding, StoreError> {
        if inner.owner != caller.owner {
            return Ok(HealthFinding::error("it belongs to another user"));
        }
        if let Some(known) = self.known.get(&inner.id) {
            return Ok(known.clone());
        }
        if depth >= RECURSION_DEPTH_MAX {
            return Ok(HealthFinding::error(format!("processes call processes at most {RECURSION_DEPTH_MAX} deep")));
        }
        let within = self.look_at(tx, inner, depth + 1)?;
        let unfit = within.dependencies.iter().filter(|one| one.finding.fitness > HealthLevel::Healthy);
        let unfit = unfit.map(|one| {
            let name = one.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
            format!("its {}{name}: {}", one.kind.as_str(), one.finding.reasons.join("; "))
        });
        let finding =
            HealthFinding { fitness: within.fitness, reasons: within.reasons.into_iter().chain(unfit).collect() };
        self.known.insert(inner.id, finding.clone());
        Ok(finding)
    }
}

/// What is wrong with a process by itself, and with what it gives to its targets.
fn own_finding(
    engine: &Engine,
    viewer: &Viewer,
    process: &StoredEntry<Process>,
    targets: &Targets,
) -> Result<HealthFinding, StoreError> {
    let mut found = HealthFinding::default();
    if process.entry.archived {
        found = found.and(HealthLevel::Error, "it is archived");
    } else if !process.entry.enabled {
        found = found.and(HealthLevel::Error, "it is disabled");
    }
    let breaches = engine.judge(viewer.subject()).breaches(&process.entry, targets)?;
    let breaches = breaches.list().iter().map(|breach| &breach.violation);
    let untold = breaches.filter(|broken| !TOLD_OF_TARGETS.contains(&broken.rule()));
    Ok(untold.fold(found, |found, broken| found.and(HealthLevel::Error, broken.problem())))
}

/// Every step with each thing it names.
fn named(process: &Process) -> impl Iterator<Item = (&str, Reference)> {
    process.all_steps().flat_map(|step| step.references().map(|named| (step.id.as_str(), named)))
}

/// Which one something is and what it is called, as far as that may be known.
type Identity = (Option<RecordId>, Option<String>);

/// What was found so far, each thing once.
#[derive(Default)]
struct Dependencies {
    all: Vec<Dependency>,
    places: BTreeMap<(DependencyKind, RecordId), usize>,
}

impl Dependencies {
    fn add(
        &mut self,
        kind: DependencyKind,
        key: RecordId,
        step: &str,
        (id, name): Identity,
        finding: impl FnOnce() -> HealthFinding,
    ) {
        let place = *self.places.entry((kind, key)).or_insert(self.all.len());
        if place == self.all.len() {
            self.all.push(Dependency { kind, id, name, steps: Vec::new(), finding: finding() });
        }
        let steps = &mut self.all[place].steps;
        if steps.last().is_none_or(|last| last != step) {
            steps.push(step.to_owned());
        }
    }
}
