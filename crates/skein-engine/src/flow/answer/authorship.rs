//! Determines the author of a generated node (decision Z30).
//!
//! A text that is exactly one model's output is written by the actor of that model, found by the service and the model that
//! were asked and never by name; its raw response is part of the node's hash. Any other answer is written by the `system` actor of its
//! process, is hashed without a raw response, and is `derived_from` the responses it rests on.

use serde_json::Value;
use skein_core::catalog::entry::{Entry as _, Name};
use skein_core::catalog::operation::Operation;
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_core::flow::execution::state::Phase;
use skein_core::flow::process::Process;
use skein_core::flow::step;
use skein_core::tree::actor::{Actor, ActorId, AuthorType, ModelRef, ServiceModel};
use skein_core::{ExecutionId, ItemId, RecordId, Viewer};
use skein_store::{StoreError, Tx};

use crate::catalog::{PastTools, StoredEntry, load};
use crate::flow::SYSTEM;
use crate::flow::execution::transaction::ExecutionTransaction;
use crate::flow::process::plan_cache::ReadyProcess;
use crate::flow::trace::generations::said;

/// How many actors are read at once.
const ACTORS_PER_READ: usize = 100;

/// An author, and the formula its nodes are hashed by.
pub(crate) type Author = (ActorId, AuthorType);

/// A generated text with its author.
pub(crate) struct AuthoredText {
    pub(crate) author: Author,
    pub(crate) text: String,
    /// The model's response that the text is, where it is exactly one.
    pub(crate) raw: Option<ItemId>,
}

/// The author a place is kept for: the model whose answer is to be passed on, else the process.
pub(crate) fn expected_author(tx: &mut Tx<'_>, viewer: &Viewer, ready: &ReadyProcess) -> Result<Author, StoreError> {
    let streamed = ready.plan.streamed_step().map(|step| &ready.plan.steps()[step].definition);
    if let Some(definition) = streamed
        && let step::StepTarget::Tool(tool) = definition.target
        && let Some(tool) = known(PastTools::default().load(tx, &SYSTEM, viewer.owner(), definition.naming(tool)))?
        && let Some(author) = model_author(tx, viewer, &tool.entry)?
    {
        return Ok(author);
    }
    process_author(tx, viewer, ready.edition.id, &ready.process)
}

/// The `system` actor of a process; it is made when the process writes for the first time.
pub(crate) fn process_author(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    id: RecordId,
    process: &Process,
) -> Result<Author, StoreError> {
    let of_process = |actor: &Actor| actor.process_id == Some(id);
    let found = match find(tx, viewer, of_process)? {
        Some(actor) => actor,
        None => make(tx, viewer, &Actor::of_process(process.name.clone(), id))?,
    };
    Ok(author_of(&found))
}

/// The actor of the model behind a tool; nothing where the tool asks no model.
fn model_author(tx: &mut Tx<'_>, viewer: &Viewer, tool: &Tool) -> Result<Option<Author>, StoreError> {
    if !matches!(tool.operation, Operation::LlmCall(_)) {
        return Ok(None);
    }
    let Some(service) = known(load::<Service>(tx, &SYSTEM, tool.service_id))? else { return Ok(None) };
    let (asked, reference) = asked_model(tool, &service.entry);
    let found = match find(tx, viewer, |actor| actor.speaks_for(&asked, &reference))? {
        Some(actor) if actor.entry.service_model.is_some() => actor,
        // It was described by its reference alone; from now on it is this model's.
        Some(actor) => {
            let next = actor.entry.answering_as(asked);
            tx.update_of_tree(viewer, actor.id, actor.hash, next.to_content(false))?.try_into()?
        }
        None => {
            let name = asked.model.clone().and_then(|model| Name::try_from(model).ok());
            let name = name.unwrap_or_else(|| tool.name.clone());
            make(tx, viewer, &Actor::of_model(name, reference, asked))?
        }
    };
    Ok(Some(author_of(&found)))
}

/// Which model a tool asks, and the reference it is described by.
fn asked_model(tool: &Tool, service: &Service) -> (ServiceModel, ModelRef) {
    let model = tool.connection_params.get("model").and_then(Value::as_str);
    let asked = ServiceModel { service_id: tool.service_id, model: model.map(str::to_owned) };
    (asked, ModelRef::of(service.name.as_str(), model))
}

/// The viewer's actor of the model behind a tool, if there is one.
pub(crate) fn actor_of_model(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    tool: &Tool,
    service: &Service,
) -> Result<Option<StoredEntry<Actor>>, StoreError> {
    let (asked, reference) = asked_model(tool, service);
    find(tx, viewer, |actor| actor.speaks_for(&asked, &reference))
}

fn make(tx: &mut Tx<'_>, viewer: &Viewer, actor: &Actor) -> Result<StoredEntry<Actor>, StoreError> {
    tx.create_of_tree(viewer, actor.to_content(false))?.try_into()
}

fn author_of(actor: &StoredEntry<Actor>) -> Author {
    (ActorId::from(actor.id), actor.entry.actor_type.into())
}

/// The oldest actor of the viewer's that fits: one that is not archived before others, then one that answered for its service
/// before one that was described only.
fn find(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    fits: impl Fn(&Actor) -> bool,
) -> Result<Option<StoredEntry<Actor>>, StoreError> {
    let rank = |actor: &Actor| (actor.archived, actor.model_ref.is_some() && actor.service_model.is_none());
    let (mut best, mut after): (Option<StoredEntry<Actor>>, _) = (None, None);
    loop {
        let page = tx.records(viewer, &Actor::record_type(), after, ACTORS_PER_READ)?;
        for record in page.rows {
            let Some(actor) = known(StoredEntry::<Actor>::try_from(record))?.filter(|actor| fits(&actor.entry)) else {
                continue;
            };
            if rank(&actor.entry) == (false, false) {
                return Ok(Some(actor));
            }
            if best.as_ref().is_none_or(|best| rank(&actor.entry) < rank(&best.entry)) {
                best = Some(actor);
            }
        }
        after = page.next;
        if after.is_none() {
            return Ok(best);
        }
    }
}

/// What is there to be read; a tool or service that is gone or refused is nothing.
fn known<T>(found: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(StoreError::NotFound(_) | StoreError::Refused(_) | StoreError::Rule(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

impl ExecutionTransaction<'_, '_> {
    /// The author of a run's output.
    pub(crate) fn authored_output(&mut self, run: ExecutionId, text: String) -> Result<AuthoredText, StoreError> {
        match self.load(run)?.ready.plan.streamed_step() {
            Some(step) => self.authored_by_step(run, step, text),
            None => self.authored_by_process(run, text),
        }
    }

    /// The author of a text that a step gave: its model, if the text is exactly what that answered.
    pub(crate) fn authored_by_step(
        &mut self,
        run: ExecutionId,
        step: usize,
        text: String,
    ) -> Result<AuthoredText, StoreError> {
        if let Some((author, raw, answered)) = self.model_answer(run, step)?
            && answered.trim() == text.trim()
        {
            // White space around a template's only variable is not part of the answer.
            return Ok(AuthoredText { author, text: answered, raw: Some(raw) });
        }
        self.authored_by_process(run, text)
    }

    fn authored_by_process(&mut self, run: ExecutionId, text: String) -> Result<AuthoredText, StoreError> {
        let loaded = self.load(run)?;
        let (viewer, ready, id) = (Viewer::User(loaded.row.owner), loaded.ready.clone(), loaded.row.process);
        let author = process_author(self.tx, &viewer, id, &ready.process)?;
        Ok(AuthoredText { author, text, raw: None })
    }

    /// The model that gave a step its output, its response as it was received, and its text. Nothing where another kind of
    /// tool, a process, a person or a default gave it.
    pub(crate) fn model_answer(
        &mut self,
        run: ExecutionId,
        step: usize,
    ) -> Result<Option<(Author, ItemId, String)>, StoreError> {
        let loaded = self.load(run)?;
        let viewer = Viewer::User(loaded.row.owner);
        let step = giving_step(loaded, step);
        let output = &loaded.state.steps[step].output;
        let text = output["text"].as_str().or(output.as_str()).unwrap_or_default().to_owned();
        let row = loaded.steps.get(&step);
        let Some((call, raw)) = row.and_then(|row| row.call.zip(row.raw)) else { return Ok(None) };
        let author = self.caller_of(&viewer, call)?;
        Ok(author.map(|author| (author, raw, text)))
    }

    /// The model behind a call that was made, by the version of the tool that was called.
    fn caller_of(&mut self, viewer: &Viewer, call: ItemId) -> Result<Option<Author>, StoreError> {
        let Some(stored) = known(self.tx.item(viewer, call))? else { return Ok(None) };
        let told = said(&stored);
        let tool = told.get("toolId").and_then(Value::as_str).and_then(|id| id.parse::<RecordId>().ok());
        let version = told.get("toolVersion").and_then(Value::as_i64);
        let Some((tool, version)) = tool.zip(version) else { return Ok(None) };
        let called = known(self.tx.record_version(&SYSTEM, tool, version).and_then(StoredEntry::<Tool>::try_from))?;
        called.map_or(Ok(None), |called| model_author(self.tx, viewer, &called.entry))
    }

    /// The responses of models that a run and the runs it started rest on.
    pub(crate) fn responses_of(&mut self, run: ExecutionId) -> Result<Vec<ItemId>, StoreError> {
        let mut found: Vec<ItemId> = self.load(run)?.steps.values().filter_map(|row| row.raw).collect();
        let started: Vec<ExecutionId> =
            self.tx.with_started(&[run])?.into_keys().filter(|other| *other != run).collect();
        for other in started {
            // The rows of an execution that ends in this transaction are not written yet.
            match self.runs.get(&other) {
                Some(loaded) => found.extend(loaded.steps.values().filter_map(|row| row.raw)),
                None => found.extend(self.tx.execution_steps(other)?.into_iter().filter_map(|row| row.raw)),
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

/// The step whose output a step has: itself, or the last of those that stood in for it.
fn giving_step(loaded: &crate::flow::execution::transaction::LoadedExecution, step: usize) -> usize {
    let fallback = &loaded.ready.plan.steps()[step].fallback;
    match fallback.clone().last().filter(|last| loaded.state.steps[*last].phase != Phase::Waiting) {
        Some(last) => last,
        None => step,
    }
}
