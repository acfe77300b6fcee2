//! Answers in conversations: a place is kept for each, a run fills it, and the conversation remembers which process was
//! wanted last (rules BR-CONV-001A, BR-TURN-013).

use serde_json::{Map, Value, json};
use skein_core::catalog::entry::Entry as _;
use skein_core::flow::default_process::ANSWER_VARIABLES;
use skein_core::flow::execution::input::Input;
use skein_core::flow::execution::item_payload::OutputTarget;
use skein_core::flow::process::Process;
use skein_core::tree::conversation::Conversation;
use skein_core::tree::node::{ExecutedBy, Source};
use skein_core::tree::rollback::{PriorHint, PriorState};
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, ExecutionId, Millis, NodeId, PathId, RecordId, ReferenceField, TurnId, Viewer};
use skein_store::tree::append::{NodePlacement, NodePosition};
use skein_store::tree::{NodeRow, PathChange};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::StoredEntry;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::SYSTEM;
use crate::flow::answer::authorship::expected_author;
use crate::flow::answer::rollback::{begun, prior_path, run_of_node};
use crate::flow::execution::begin::ExecutionStart;
use crate::flow::execution::transaction::ExecutionTransaction;
use crate::flow::process::default_process::answering_process;
use crate::request::{CommittedChange, Outcome, Request, referred};
use crate::tool_call::record::breach;
use crate::tree::{AppendResult, PARENT, PARENT_TURN, alternative_of, text_at};

/// Most sources of an answer that are looked at.
const SOURCES_MAX: usize = 1_000;
/// Most answers that are begun at once.
pub const ANSWERS_MAX: usize = 16;

/// Which process may be asked to answer.
const ANSWERED_BY: ReferenceField = ReferenceField::new("BR-TURN-013", "processId", "process");

/// Where answers are to stand.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerTarget {
    /// After a node.
    After {
        /// The turn that is answered.
        turn: Option<TurnId>,
        /// What is answered; what the turn shows, or where the owner stands, unless it is named.
        parent: Option<NodeId>,
        /// What else is to be considered.
        sources: Vec<Source>,
    },
    /// As further alternatives of a turn, answering a node of the turn before: the selected one unless it is named.
    Beside {
        /// The turn.
        turn: TurnId,
        /// What is answered.
        parent: Option<NodeId>,
    },
    /// As one further alternative of a turn, made of several answers.
    Fused {
        /// The turn.
        turn: TurnId,
        /// What they answer; the selected one unless it is named.
        parent: Option<NodeId>,
        /// The answers.
        of: Vec<NodeId>,
    },
    /// As an alternative to one that is there, by the process that made it (decision Z17).
    Again {
        /// The turn.
        turn: TurnId,
        /// The alternative.
        node: NodeId,
        /// What it answers; what the turn before shows unless it is named.
        parent: Option<NodeId>,
    },
}

/// Answers to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAnswers {
    /// Where.
    pub wanted: AnswerTarget,
    /// By which processes; none where an answer is made again, or where the default process answers.
    pub processes: Vec<RecordId>,
    /// How many by each.
    pub samples: usize,
    /// Whether the owner turns to the first of them.
    pub make_active: bool,
    /// Whether the conversation offers the process for the next answer, where a single one is asked for.
    pub remember_process: bool,
    /// What the processes are given besides the conversation.
    pub context: Map<String, Value>,
}

/// Answers that are being made.
#[derive(Debug, Clone, PartialEq)]
pub struct Answering {
    /// Each kept place with the run that fills it.
    pub begun: Vec<(AppendResult, ExecutionId)>,
    /// Why a built-in model answers in place of the default process.
    pub fallback: Option<String>,
}

impl Outcome for Answering {
    fn reference(&self) -> Value {
        let begun: Vec<Value> =
            self.begun.iter().map(|(grown, run)| json!({ "grown": grown.reference(), "run": run })).collect();
        json!({ "begun": begun, "fallback": self.fallback })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let begun: Vec<Value> = referred(reference, "begun")?;
        let recall = |begun: &Value| Ok((AppendResult::recall(tx, viewer, &begun["grown"])?, referred(begun, "run")?));
        let fallback = reference["fallback"].as_str().map(str::to_owned);
        Ok(Self { begun: begun.iter().map(recall).collect::<Result<_, StoreError>>()?, fallback })
    }
}

impl Engine {
    /// Keeps a place for each answer and begins the runs that fill them, all in one transaction.
    pub async fn answer(
        &self,
        caller: &Caller,
        request: Request,
        conversation: ConversationId,
        new: NewAnswers,
    ) -> Result<CommittedChange<Answering>, EngineError> {
        self.change_moving(caller, request, "answer.begin", move |engine, tx, viewer, slot| {
            let (processes, fallback) = wanted_processes(engine, tx, viewer, conversation, &new)?;
            let archived_until = tx.conversation(viewer, conversation)?.archived.then(|| tx.now());
            let hint = remember_hint(tx, viewer, conversation, chosen(&new, &processes))?;
            let mut execution_tx = ExecutionTransaction::new(engine, tx, slot);
            let mut begun = Vec::new();
            let mut first = None;
            for process in &processes {
                for _ in 0..new.samples {
                    let asked = AnswerRequest { process: *process, first, hint, archived_until };
                    let (node, run) = execution_tx.begin_answer(viewer, conversation, &new, &asked)?;
                    first = first.or(node.0.turn().map(|turn| (turn, node.0.parent)));
                    begun.push((node, run));
                }
            }
            let after = execution_tx.finish()?;
            let grown = begun.into_iter().map(|((node, moved), run)| {
                // It may be done already.
                let node = tx.node(viewer, node.id)?;
                Ok((AppendResult::now(tx, viewer, &node, moved)?, run))
            });
            Ok((Answering { begun: grown.collect::<Result<_, StoreError>>()?, fallback }, after))
        })
        .await
    }
}

/// One of the answers that are requested together.
struct AnswerRequest {
    process: RecordId,
    /// The first of them: its turn and what it answers.
    first: Option<(TurnId, Option<NodeId>)>,
    /// The hint before, if the request changed it.
    hint: Option<PriorHint>,
    /// When the request made the conversation active, if it did.
    archived_until: Option<Millis>,
}

/// A kept place, and what the path shows otherwise now.
type ReservedAnswer = (NodeRow, PathChange);

impl ExecutionTransaction<'_, '_> {
    fn begin_answer(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        new: &NewAnswers,
        asked: &AnswerRequest,
    ) -> Result<(ReservedAnswer, ExecutionId), StoreError> {
        let AnswerRequest { process, first, hint, archived_until } = *asked;
        let ready = self.runnable(viewer.owner(), process).map_err(|error| match new.wanted {
            AnswerTarget::Again { .. } => error,
            _ => error.of_reference(ANSWERED_BY, process),
        })?;
        let (author, author_type) = expected_author(self.tx, viewer, &ready)?;
        let (position, sources) = position(self.tx, viewer, conversation, new, first)?;
        let main = PathId::main_of(conversation);
        let leads = (new.make_active && first.is_none()).then_some(main);
        let cursor = self.tx.path_cursor(viewer, conversation, main)?;
        let executed_by = Some(ExecutedBy { process_id: process, version: ready.edition.version });
        let placing = NodePlacement { conversation, position, author, author_type, sources, executed_by, leads };
        let (node, moved) = self.tx.reserve_node(viewer, &placing)?;
        let path = leads.map(|_| prior_path(self.tx, viewer, cursor, &node, &moved)).transpose()?;
        let target = OutputTarget { conversation_id: conversation, node_id: node.id, parent_id: node.parent };
        let mut given = self.given(new)?;
        let mut cause = node.parent;
        if let AnswerTarget::Fused { of, .. } = &new.wanted {
            let (asked, told) = self.ask_to_fuse(viewer, node.parent, of)?;
            given.extend(asked_for(&ready.process, told));
            cause = Some(asked);
        }
        let beginning = ExecutionStart {
            owner: viewer.owner(),
            process,
            context: context(self.tx, viewer, &ready.process, &target, &given)?,
            session: Some(ExecutionId::from_bytes(*conversation.as_bytes())),
            cause: cause.map(Into::into),
            target: Some(target),
            prior: PriorState { path, hint, archived_until },
            ..ExecutionStart::default()
        };
        let run = self.begin(beginning)?;
        self.push_input(run, Input::Begin);
        Ok(((node, moved), run))
    }
}

impl ExecutionTransaction<'_, '_> {
    /// What is given besides the conversation: an answer that is made again gets what the first one got.
    fn given(&mut self, new: &NewAnswers) -> Result<Map<String, Value>, StoreError> {
        let AnswerTarget::Again { node, .. } = new.wanted else { return Ok(new.context.clone()) };
        let earlier = match self.tx.execution_of_node(node)? {
            Some(row) => row.context,
            None => self.begun_with(node)?,
        };
        let mut given: Map<String, Value> =
            earlier.into_iter().filter(|(name, _)| !ANSWER_VARIABLES.contains(&name.as_str())).collect();
        given.extend(new.context.clone());
        Ok(given)
    }

    /// What a run was given whose rows are forgotten; the fact that it began stays.
    fn begun_with(&mut self, node: NodeId) -> Result<Map<String, Value>, StoreError> {
        let viewer = Viewer::User(self.tx.node(&SYSTEM, node)?.owner);
        let Some(run) = run_of_node(self.tx, &viewer, node)? else { return Ok(Map::new()) };
        Ok(begun(self.tx, &viewer, run)?.map(|begun| begun.context).unwrap_or_default())
    }
}

/// The processes that answer, and why a built-in model stands in: those that are named, the one that made what is made
/// again (rule BR-CONV-001B), or the default process.
fn wanted_processes(
    engine: &Engine,
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    new: &NewAnswers,
) -> Result<(Vec<RecordId>, Option<String>), StoreError> {
    let mut fallback = None;
    let processes = match new.wanted {
        AnswerTarget::Again { turn, node, .. } => {
            let row = alternative_of(tx, viewer, conversation, turn, node)?;
            let Some(executed_by) = row.executed_by else {
                let problem = "no process made this alternative";
                return Err(breach("BR-TURN-013", problem, "name the process that is to answer"));
            };
            vec![executed_by.process_id]
        }
        AnswerTarget::After { .. } | AnswerTarget::Beside { .. } | AnswerTarget::Fused { .. }
            if new.processes.is_empty() =>
        {
            let (process, problem) = answering_process(tx, engine, viewer)?;
            fallback = problem;
            vec![process]
        }
        AnswerTarget::After { .. } | AnswerTarget::Beside { .. } | AnswerTarget::Fused { .. } => new.processes.clone(),
    };
    if new.samples == 0 {
        return Err(breach("BR-TURN-013", "no answer is asked for", "ask for 1 to 16, or leave samples out"));
    }
    if processes.len().saturating_mul(new.samples) > ANSWERS_MAX {
        let problem = format!("at most {ANSWERS_MAX} answers are begun at once");
        return Err(breach("BR-TURN-013", problem, "ask for fewer"));
    }
    Ok((processes, fallback))
}

/// What is answered. An agent never speaks first (rule BR-TURN-003).
fn answered(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    turn: Option<TurnId>,
    parent: Option<NodeId>,
) -> Result<Option<NodeId>, StoreError> {
    let path = PathId::main_of(conversation);
    let found = match (parent, turn) {
        (Some(parent), Some(turn)) => {
            let found = alternative_of(tx, viewer, conversation, turn, parent);
            Some(found.map_err(|error| error.of_reference(PARENT, parent))?.id)
        }
        (Some(parent), None) => Some(parent),
        (None, Some(turn)) => {
            let found = tx.selected_node(viewer, path, turn);
            Some(found.map_err(|error| error.of_reference(PARENT_TURN, turn))?)
        }
        (None, None) => tx.path_cursor(viewer, conversation, path)?,
    };
    if found.is_none() {
        return Err(breach("BR-TURN-003", "there is nothing to answer", "say something first"));
    }
    Ok(found)
}

fn position(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    new: &NewAnswers,
    first: Option<(TurnId, Option<NodeId>)>,
) -> Result<(NodePosition, Vec<Source>), StoreError> {
    Ok(match (&new.wanted, first) {
        // Further answers stand beside the first.
        (AnswerTarget::After { sources, .. }, Some((turn, parent))) => {
            (NodePosition::Beside { turn, parent }, sources.clone())
        }
        (AnswerTarget::After { turn: above, parent, sources }, None) => {
            let parent = answered(tx, viewer, conversation, *above, *parent)?;
            (NodePosition::After { parent, speaker: Speaker::Agent, turn_type: TurnType::Message }, sources.clone())
        }
        (AnswerTarget::Beside { turn, parent } | AnswerTarget::Fused { turn, parent, .. }, _) => {
            let row = tx.turn(viewer, *turn)?;
            if row.speaker != Speaker::Agent {
                return Err(breach("BR-TURN-010", "this turn is not an agent's", "answer it with a turn of its own"));
            }
            (NodePosition::Beside { turn: *turn, parent: *parent }, Vec::new())
        }
        (AnswerTarget::Again { turn, parent: Some(parent), .. }, _) => {
            (NodePosition::Beside { turn: *turn, parent: Some(*parent) }, Vec::new())
        }
        (AnswerTarget::Again { turn, node, parent: None }, _) => {
            // It answers what is selected now, unless that is not of the turn before (decision A30).
            let parent = tx.node(viewer, *node)?.parent;
            let selected = match parent.map(|parent| tx.node(viewer, parent)).transpose()? {
                Some(parent) => match parent.turn() {
                    Some(above) => Some(tx.selected_node(viewer, PathId::main_of(parent.conversation), above)?),
                    None => Some(parent.id),
                },
                None => None,
            };
            // What fed the first answer feeds this one.
            let fed = sources_of(tx, viewer, *node)?;
            (NodePosition::Beside { turn: *turn, parent: selected }, fed)
        }
    })
}

/// The process that a new agent turn was asked of. Further alternatives, and several answers to choose from, settle nothing
/// about who answers next.
fn chosen(new: &NewAnswers, processes: &[RecordId]) -> Option<RecordId> {
    match (&new.wanted, processes) {
        (AnswerTarget::After { .. }, [only]) if new.samples <= 1 && new.remember_process => Some(*only),
        _ => None,
    }
}

/// What feeds an answer beside the node it answers.
pub(crate) fn sources_of(tx: &mut Tx<'_>, viewer: &Viewer, answer: NodeId) -> Result<Vec<Source>, StoreError> {
    let found = tx.path_feeds(viewer, answer, 1, SOURCES_MAX)?;
    Ok(found.into_iter().map(|(_, node_id, role)| Source { node_id, role }).collect())
}

/// BR-CONV-001A: the conversation offers first what was wanted last. Gives the hint before, if that was another.
fn remember_hint(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    process: Option<RecordId>,
) -> Result<Option<PriorHint>, StoreError> {
    let current: StoredEntry<Conversation> = tx.record(viewer, conversation.into())?.try_into()?;
    if process.is_none() || current.entry.process_id == process {
        return Ok(None);
    }
    let before = PriorHint { process_id: current.entry.process_id };
    let next = Conversation { process_id: process, ..current.entry };
    tx.update_of_tree(viewer, current.id, current.hash, next.to_content(false))?;
    Ok(Some(before))
}

/// Those values that a process asks for.
fn asked_for(process: &Process, mut values: Map<String, Value>) -> Map<String, Value> {
    let names = process.initial_context.names();
    values.retain(|name, _| names.contains(&name.as_str()));
    values
}

/// What a process is given about the conversation, as far as it asks for it.
fn context(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    process: &Process,
    target: &OutputTarget,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, StoreError> {
    let mut context = known_values(tx, viewer, process, target.conversation_id, target.parent_id)?;
    context.extend(given.clone());
    Ok(context)
}

/// What a process asks for about a conversation and the node that is answered there.
pub(crate) fn known_values(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    process: &Process,
    conversation: ConversationId,
    answered: Option<NodeId>,
) -> Result<Map<String, Value>, StoreError> {
    let message = match answered {
        Some(answered) => text_at(tx, viewer, answered)?,
        None => String::new(),
    };
    let known = ANSWER_VARIABLES.into_iter().zip([json!(conversation), json!(answered), json!(message)]);
    let names = process.initial_context.names();
    let asked = known.filter(|(name, value)| names.contains(name) && !value.is_null());
    Ok(asked.map(|(name, value)| (name.to_owned(), value)).collect())
}
