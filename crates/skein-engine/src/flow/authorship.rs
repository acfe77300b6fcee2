//! Determines the author of a generated node (decision Z30).
//!
//! A text that is exactly one model's output is written by the actor of that model, found by provider and model reference
//! and never by name; its raw response is part of the node's hash. Any other answer is written by the `system` actor of its
//! process, is hashed without a raw response, and is `derived_from` the responses it rests on.

use serde_json::Value;
use skein_core::catalog::entry::{Entry as _, Name};
use skein_core::catalog::operation::Operation;
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_core::flow::execution::state::Phase;
use skein_core::flow::process::Process;
use skein_core::flow::step;
use skein_core::tree::actor::{Actor, ActorId, AuthorType, ModelRef};
use skein_core::{ItemId, RecordId, RunId, Viewer};
use skein_store::{StoreError, Tx};

use crate::catalog::{PastTools, Shown, load};
use crate::flow::SYSTEM;
use crate::flow::makings::said;
use crate::flow::mover::Mover;
use crate::flow::plans::ReadyProcess;

/// How many actors are read at once.
const ACTORS_PER_READ: usize = 100;

/// An author, and the formula its nodes are hashed by.
pub(super) type Author = (ActorId, AuthorType);

/// A generated text with its author.
pub(super) struct AuthoredText {
    pub(super) author: Author,
    pub(super) text: String,
    /// The model's response that the text is, where it is exactly one.
    pub(super) raw: Option<ItemId>,
}

/// The author a place is kept for: the model whose answer is to be passed on, else the process.
pub(super) fn expected_author(tx: &mut Tx<'_>, viewer: &Viewer, ready: &ReadyProcess) -> Result<Author, StoreError> {
    let streamed = ready.plan.streamed_step().map(|step| &ready.plan.steps()[step].definition);
    if let Some(definition) = streamed
        && let step::Target::Tool(tool) = definition.target
        && let Some(tool) = known(PastTools::default().load(tx, &SYSTEM, viewer.owner(), definition.naming(tool)))?
        && let Some(author) = model_author(tx, viewer, &tool.entry)?
    {
        return Ok(author);
    }
    process_author(tx, viewer, ready.edition.id, &ready.process)
}

/// The `system` actor of a process; it is made when the process writes for the first time.
pub(super) fn process_author(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    id: RecordId,
    process: &Process,
) -> Result<Author, StoreError> {
    let of_process = |actor: &Actor| actor.process_id == Some(id);
    find_or_make(tx, viewer, of_process, || Actor::of_process(process.name.clone(), id))
}

/// The actor of the model behind a tool; nothing where the tool asks no model.
fn model_author(tx: &mut Tx<'_>, viewer: &Viewer, tool: &Tool) -> Result<Option<Author>, StoreError> {
    if !matches!(tool.operation, Operation::LlmCall(_)) {
        return Ok(None);
    }
    let Some(service) = known(load::<Service>(tx, &SYSTEM, tool.service_id))? else { return Ok(None) };
    let model_ref = model_reference(tool, &service.entry);
    let name = model_name(tool).and_then(|model| Name::try_from(model.to_owned()).ok());
    let name = name.unwrap_or_else(|| tool.name.clone());
    find_or_make(tx, viewer, is_of_model(&model_ref), || Actor::of_model(name, model_ref.clone())).map(Some)
}

/// Which model a tool asks.
pub(super) fn model_reference(tool: &Tool, service: &Service) -> ModelRef {
    ModelRef::of(service.name.as_str(), model_name(tool))
}

fn model_name(tool: &Tool) -> Option<&str> {
    tool.connection_params.get("model").and_then(Value::as_str)
}

fn is_of_model(model_ref: &ModelRef) -> impl Fn(&Actor) -> bool {
    move |actor: &Actor| actor.model_ref.as_ref() == Some(model_ref)
}

/// The viewer's actor of a model, if there is one.
pub(super) fn actor_of_model(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    model_ref: &ModelRef,
) -> Result<Option<Shown<Actor>>, StoreError> {
    find(tx, viewer, is_of_model(model_ref))
}

fn find_or_make(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    fits: impl Fn(&Actor) -> bool,
    make: impl FnOnce() -> Actor,
) -> Result<Author, StoreError> {
    if let Some(actor) = find(tx, viewer, fits)? {
        return Ok((ActorId::from(actor.id), AuthorType::from(actor.entry.actor_type)));
    }
    let actor = make();
    let record = tx.create_of_tree(viewer, actor.to_content(false))?;
    Ok((ActorId::from(record.id), actor.actor_type.into()))
}

/// The oldest actor of the viewer's that fits, one that is not archived before others.
fn find(tx: &mut Tx<'_>, viewer: &Viewer, fits: impl Fn(&Actor) -> bool) -> Result<Option<Shown<Actor>>, StoreError> {
    let (mut archived, mut after) = (None, None);
    loop {
        let page = tx.records(viewer, &Actor::record_type(), after, ACTORS_PER_READ)?;
        for record in page.rows {
            let Some(actor) = known(Shown::<Actor>::try_from(record))?.filter(|actor| fits(&actor.entry)) else {
                continue;
            };
            if !actor.entry.archived {
                return Ok(Some(actor));
            }
            archived = archived.or(Some(actor));
        }
        after = page.next;
        if after.is_none() {
            return Ok(archived);
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

impl Mover<'_, '_> {
    /// The author of a run's output.
    pub(super) fn authored_output(&mut self, run: RunId, text: String) -> Result<AuthoredText, StoreError> {
        match self.load(run)?.ready.plan.streamed_step() {
            Some(step) => self.authored_by_step(run, step, text),
            None => self.authored_by_process(run, text),
        }
    }

    /// The author of a text that a step gave: its model, if the text is exactly what that answered.
    pub(super) fn authored_by_step(
        &mut self,
        run: RunId,
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

    fn authored_by_process(&mut self, run: RunId, text: String) -> Result<AuthoredText, StoreError> {
        let loaded = self.load(run)?;
        let (viewer, ready, id) = (Viewer::User(loaded.row.owner), loaded.ready.clone(), loaded.row.process);
        let author = process_author(self.tx, &viewer, id, &ready.process)?;
        Ok(AuthoredText { author, text, raw: None })
    }

    /// The model that gave a step its output, its response as it was received, and its text. Nothing where another kind of
    /// tool, a process, a person or a default gave it.
    pub(super) fn model_answer(
        &mut self,
        run: RunId,
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
        let called = known(self.tx.record_version(&SYSTEM, tool, version).and_then(Shown::<Tool>::try_from))?;
        called.map_or(Ok(None), |called| model_author(self.tx, viewer, &called.entry))
    }

    /// The responses of models that a run and the runs it started rest on.
    pub(super) fn responses_of(&mut self, run: RunId) -> Result<Vec<ItemId>, StoreError> {
        let mut found: Vec<ItemId> = self.load(run)?.steps.values().filter_map(|row| row.raw).collect();
        let started: Vec<RunId> = self.tx.with_started(&[run])?.into_keys().filter(|other| *other != run).collect();
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
fn giving_step(loaded: &crate::flow::mover::Loaded, step: usize) -> usize {
    let fallback = &loaded.ready.plan.steps()[step].fallback;
    match fallback.clone().last().filter(|last| loaded.state.steps[*last].phase != Phase::Waiting) {
        Some(last) => last,
        None => step,
    }
}
