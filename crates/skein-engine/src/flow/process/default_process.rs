//! Reads and changes a user's default process, and makes the first process with a connected model the default.
//!
//! `skein_core::flow::default_process` decides; this file loads what the decision needs. The conversation's hint is
//! never read here: it is only offered (rule BR-CONV-001B).

use skein_core::catalog::entry::Entry as _;
use skein_core::catalog::operation::Operation;
use skein_core::catalog::service::{Builtin, Service};
use skein_core::catalog::tool::Tool;
use skein_core::flow::default_process::{
    DEFAULT_PROCESS_NAME, DefaultCandidate, DefaultChoice, DefaultProcess, ModelSource, answering, check_default,
    model_source, obstacle as why_not,
};
use skein_core::flow::health_report::HealthLevel;
use skein_core::flow::process::Process;
use skein_core::{Digest, RecordId, ReferenceField, RuleViolation, Viewer};
use skein_store::catalog::entries::{OwnershipFilter, VisibleQuery};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::{NewVersion, SYSTEM, StoredEntry, load, load_named, make, save, shown_page};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::process::health_report::{ProcessHealth, process_health};
use crate::request::{CommittedChange, Request};

/// Most processes that are considered as a stand-in for the chosen one.
const CANDIDATES_MAX: usize = 100;

const CHOSEN: ReferenceField = ReferenceField::new("Z34", "processId", "process");

/// A process by id and name.
pub type NamedProcess = (RecordId, String);

/// The process that answers where none is named, and the choice behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedDefault {
    /// None if no process of the user can answer.
    pub process: Option<NamedProcess>,
    /// The user's choice; None until one is made.
    pub choice: Option<StoredEntry<DefaultProcess>>,
    /// The process that was chosen; None for the built-in model.
    pub chosen: Option<NamedProcess>,
    /// Why the chosen process does not answer.
    pub problem: Option<String>,
    /// Whether the next process that answers through a connected model becomes the default.
    pub adopts_next: bool,
}

impl Engine {
    /// The process that answers in the caller's conversations where none is named.
    pub async fn default_process(&self, caller: &Caller) -> Result<ResolvedDefault, EngineError> {
        let (viewer, engine) = (caller.viewer(), self.clone());
        let look = move |tx: &mut Tx<'_>| resolve(tx, &engine, &viewer);
        Ok(self.parts().store.read_computing(look).await?)
    }

    /// Chooses the caller's default process; none is the built-in model.
    pub async fn change_default_process(
        &self,
        caller: &Caller,
        request: Request,
        process: Option<RecordId>,
        based_on: Option<Digest>,
    ) -> Result<CommittedChange<ResolvedDefault>, EngineError> {
        let change = move |tx: &mut Tx<'_>, viewer: &Viewer| {
            if let Some(id) = process {
                let chosen: StoredEntry<Process> = load_named(tx, viewer, CHOSEN, id)?;
                check_default(&chosen.entry)?;
            }
            store_choice(tx, viewer, process, based_on)
        };
        let changed = self.change(caller, request, "default_process.change", change).await?;
        let resolved = self.default_process(caller).await?;
        Ok(changed.map(|_| resolved))
    }
}

/// The default process of the viewer as things stand in this transaction.
pub(crate) fn resolve(tx: &mut Tx<'_>, engine: &Engine, viewer: &Viewer) -> Result<ResolvedDefault, StoreError> {
    let (stored, chosen) = stored(tx, viewer)?;
    let mut choice = choice_of(stored.as_ref(), chosen.as_ref());
    if let (DefaultChoice::Process { obstacle, .. }, Some(chosen)) = (&mut choice, &chosen) {
        *obstacle = match why_not(&chosen.entry) {
            None => problem_of(&process_health(tx, engine, viewer, chosen)?),
            found => found,
        };
    }
    let candidates = match &choice {
        DefaultChoice::Process { obstacle: None, .. } => Vec::new(),
        _ => candidates(tx, viewer)?,
    };
    let found = answering(&choice, &candidates);
    let chosen = chosen.map(|process| (process.id, process.entry.name.to_string()));
    let named = |id: RecordId| {
        let candidate = candidates.iter().find(|one| one.id == id).map(|one| one.name.clone());
        let name = candidate.or_else(|| chosen.as_ref().map(|(_, name)| name.clone())).unwrap_or_default();
        (id, name)
    };
    let process = found.process.map(named);
    Ok(ResolvedDefault { process, choice: stored, chosen, problem: found.problem, adopts_next: choice.adopts_next() })
}

/// What a new conversation offers first if its maker names nothing: the chosen process while it can answer.
pub(crate) fn default_hint(tx: &mut Tx<'_>, engine: &Engine, viewer: &Viewer) -> Result<Option<RecordId>, StoreError> {
    let (stored, _) = stored(tx, viewer)?;
    if stored.is_none_or(|stored| stored.entry.process_id.is_none()) {
        return Ok(None);
    }
    let resolved = resolve(tx, engine, viewer)?;
    Ok(resolved.process.filter(|_| resolved.problem.is_none()).map(|(id, _)| id))
}

/// The process that answers an agent turn that names none (rule BR-TURN-010).
pub(crate) fn answering_process(
    tx: &mut Tx<'_>,
    engine: &Engine,
    viewer: &Viewer,
) -> Result<(RecordId, Option<String>), StoreError> {
    let resolved = resolve(tx, engine, viewer)?;
    match (resolved.choice, resolved.process) {
        (Some(_), Some((id, _))) => Ok((id, resolved.problem)),
        (None, _) => {
            let problem = "an agent turn is generated by a process; none is named, and you have no default process";
            Err(RuleViolation::new("BR-TURN-010", problem, "name one as processId, or choose a default process").into())
        }
        (Some(_), None) => {
            let problem = resolved.problem.unwrap_or_else(|| "you have no process with the built-in model".to_owned());
            Err(RuleViolation::new("BR-TURN-010", problem, "name one as processId, or choose a default process").into())
        }
    }
}

/// Makes a process that was just made or changed the default, if it is the first with a connected model.
pub(crate) fn adopt(tx: &mut Tx<'_>, viewer: &Viewer, process: &StoredEntry<Process>) -> Result<(), StoreError> {
    let (stored, chosen) = stored(tx, viewer)?;
    let choice = choice_of(stored.as_ref(), chosen.as_ref());
    // The tools are loaded only while nothing else is the default.
    if choice.adopts_next() && choice.adopts(&process.entry, source_of(tx, &process.entry)?) {
        store_choice(tx, viewer, Some(process.id), None)?;
    }
    Ok(())
}

/// The stored choice, with the process it names if that is still there.
type StoredDefault = (Option<StoredEntry<DefaultProcess>>, Option<StoredEntry<Process>>);

fn stored(tx: &mut Tx<'_>, viewer: &Viewer) -> Result<StoredDefault, StoreError> {
    let record = tx.record_named(viewer, &DefaultProcess::record_type(), DEFAULT_PROCESS_NAME)?;
    let stored: Option<StoredEntry<DefaultProcess>> = record.map(StoredEntry::try_from).transpose()?;
    let Some(id) = stored.as_ref().and_then(|stored| stored.entry.process_id) else { return Ok((stored, None)) };
    match load::<Process>(tx, viewer, id) {
        Ok(process) => Ok((stored, Some(process))),
        Err(StoreError::NotFound(_)) => Ok((stored, None)),
        Err(error) => Err(error),
    }
}

/// The choice before health is looked at: only a deleted process has an obstacle.
fn choice_of(stored: Option<&StoredEntry<DefaultProcess>>, chosen: Option<&StoredEntry<Process>>) -> DefaultChoice {
    let Some(stored) = stored else { return DefaultChoice::Open };
    let Some(id) = stored.entry.process_id else { return DefaultChoice::BuiltIn };
    let is_gone = chosen.is_none_or(|process| process.entry.archived);
    let obstacle = is_gone.then(|| "it was deleted".to_owned());
    DefaultChoice::Process { id, is_gone, obstacle }
}

fn store_choice(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    process: Option<RecordId>,
    based_on: Option<Digest>,
) -> Result<StoredEntry<DefaultProcess>, StoreError> {
    let next = DefaultProcess::new(process);
    let record = tx.record_named(viewer, &DefaultProcess::record_type(), DEFAULT_PROCESS_NAME)?;
    match record.map(StoredEntry::<DefaultProcess>::try_from).transpose()? {
        Some(current) => save(tx, viewer, &current, &next, NewVersion::based_on(&current, based_on)),
        None if based_on.is_some() => {
            let problem = "the default process was never chosen: it has no hash";
            Err(RuleViolation::new("MG-CORE-002", problem, "leave basedOnHash out, or read it again").into())
        }
        None => make(tx, viewer, &next, false),
    }
}

fn candidates(tx: &mut Tx<'_>, viewer: &Viewer) -> Result<Vec<DefaultCandidate>, StoreError> {
    let own = VisibleQuery::of(Process::record_type(), CANDIDATES_MAX);
    let query = VisibleQuery { whose: OwnershipFilter::Own, enabled: Some(true), ..own };
    let page = shown_page::<Process>(tx.records_visible(viewer, &query)?)?;
    let fit = page.rows.into_iter().filter(|process| why_not(&process.entry).is_none());
    let candidate = |process: StoredEntry<Process>| {
        let model = source_of(tx, &process.entry)?;
        let StoredEntry { id, created_at, entry, .. } = process;
        Ok(DefaultCandidate { id, name: entry.name.to_string(), created_at, model })
    };
    fit.map(candidate).collect()
}

/// Where the model of a process is, by the tools that its steps call.
fn source_of(tx: &mut Tx<'_>, process: &Process) -> Result<Option<ModelSource>, StoreError> {
    let mut tools: Vec<(Operation, Option<Builtin>)> = Vec::new();
    for named in process.references() {
        let record = match tx.record(&SYSTEM, named.id) {
            Err(StoreError::NotFound(_)) => continue,
            other => other?,
        };
        if record.content.record_type.as_str() != Tool::RECORD_TYPE {
            continue;
        }
        let tool: StoredEntry<Tool> = record.try_into()?;
        match load::<Service>(tx, &SYSTEM, tool.entry.service_id) {
            Ok(service) => tools.push((tool.entry.operation, service.entry.builtin)),
            Err(StoreError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(model_source(tools.iter().map(|(operation, builtin)| (operation, *builtin))))
}

/// Why a run of the process would fail now, in words.
fn problem_of(found: &ProcessHealth) -> Option<String> {
    if found.fitness < HealthLevel::Error {
        return None;
    }
    let broken = found.dependencies.iter().filter(|one| one.finding.fitness == HealthLevel::Error);
    let broken = broken.map(|one| {
        let name = one.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
        format!("its {}{name}: {}", one.kind.as_str(), one.finding.reasons.join("; "))
    });
    let all: Vec<String> = found.reasons.iter().cloned().chain(broken).collect();
    Some(all.join("; "))
}
