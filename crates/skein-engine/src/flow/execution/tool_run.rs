//! Where the tools a model asks for work while it answers in a conversation: a conversation of its own, forked at what
//! is answered (decisions Z14, A34).
//!
//! It holds what the model wished, what the tools gave and what the model made of it; the conversation it was forked from
//! gets nothing but the answer (rule BR-EPISODE-003). When the step has ended it is folded, with that answer as its end.

use serde_json::{Value, json};
use skein_core::catalog::entry::Entry as _;
use skein_core::flow::execution::item_payload::OutputTarget;
use skein_core::flow::execution::state::{Execution, Phase};
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::content::Content;
use skein_core::tree::conversation::{Citation, Conversation, FOLD_TEXT_CHARS_MAX, FoldSummary, ForkOrigin};
use skein_core::tree::node::ExecutedBy;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, ExecutionId, ItemId, NodeId, PathId, Viewer};
use skein_store::StoreError;
use skein_store::tree::append::{NodeBody, NodePlacement, NodePosition, RawResponseSource};

use crate::catalog::StoredEntry;
use crate::flow::answer::authorship::AuthoredText;
use crate::flow::execution::transaction::ExecutionTransaction;
use crate::tree::show_conversation;

/// The summary of a tool run that ended well.
const CAME_OF_IT: &str = "What came of it is its last message.";

impl ExecutionTransaction<'_, '_> {
    /// Writes down what was said between models and their tools in a move.
    pub(crate) fn tell_tool_runs(&mut self, run: ExecutionId, before: &Execution) -> Result<(), StoreError> {
        let loaded = self.load(run)?;
        let Some(target) = loaded.row.target else { return Ok(()) };
        let said_before = |step: usize| before.steps[step].dialogue.as_ref().map_or(0, |told| told.messages.len());
        let changed: Vec<(usize, usize, bool)> = loaded
            .state
            .steps
            .iter()
            .enumerate()
            .filter(|(_, state)| state.dialogue.is_some())
            .map(|(step, state)| {
                let has_ended = state.phase.has_ended() && !before.steps[step].phase.has_ended();
                (step, said_before(step), has_ended)
            })
            .collect();
        for (step, said, has_ended) in changed {
            let told = self.tell_tool_run(run, target, step, said);
            tolerated(told)?;
            if has_ended {
                let closed = self.close_tool_run(run, step);
                tolerated(closed)?;
            }
        }
        Ok(())
    }

    fn tell_tool_run(
        &mut self,
        run: ExecutionId,
        target: OutputTarget,
        step: usize,
        said: usize,
    ) -> Result<(), StoreError> {
        let loaded = self.load(run)?;
        let Some(dialogue) = &loaded.state.steps[step].dialogue else { return Ok(()) };
        let new: Vec<Value> = dialogue.messages.iter().skip(said).cloned().collect();
        let names: Vec<Value> = dialogue.messages.clone();
        if new.is_empty() {
            return Ok(());
        }
        let fork = match dialogue.fork {
            Some(fork) => fork,
            None => match self.open_tool_run(run, target, step)? {
                Some(fork) => fork,
                None => return Ok(()),
            },
        };
        for message in new {
            match message["role"].as_str() {
                Some("assistant") => self.say_wishes(run, step, fork, &message)?,
                _ => self.say_result(run, fork, &names, &message)?,
            }
        }
        Ok(())
    }

    /// Forks the conversation at what is answered; nobody is turned to it.
    fn open_tool_run(
        &mut self,
        run: ExecutionId,
        target: OutputTarget,
        step: usize,
    ) -> Result<Option<ConversationId>, StoreError> {
        let viewer = Viewer::User(self.load(run)?.row.owner);
        let Some(answered) = target.parent_id else { return Ok(None) };
        let Some(fork) = self.hidden_fork(&viewer, answered)? else { return Ok(None) };
        let loaded = self.load(run)?;
        if let Some(dialogue) = loaded.state.steps[step].dialogue.as_mut() {
            dialogue.fork = Some(fork);
        }
        let state = loaded.state.steps[step].clone();
        loaded.touch(step).state = state;
        Ok(Some(fork))
    }

    /// A conversation that no list shows, forked at a node; none at a remark.
    pub(crate) fn hidden_fork(
        &mut self,
        viewer: &Viewer,
        answered: NodeId,
    ) -> Result<Option<ConversationId>, StoreError> {
        let row = self.tx.node(viewer, answered)?;
        let Some(turn_id) = row.turn() else { return Ok(None) };
        let record = self.tx.record(viewer, row.conversation.into())?;
        let above = show_conversation(self.tx, viewer, record)?;
        let origin = ForkOrigin { conversation_id: row.conversation.into(), turn_id, node_id: answered.into() };
        let fork = above.shown.entry.tool_run(origin);
        let made = self.tx.create_of_tree(viewer, fork.to_content(false))?.id;
        if let Some(project) = above.row.project {
            self.tx.group_conversation(viewer, made, project)?;
        }
        Ok(Some(ConversationId::from_bytes(*made.as_bytes())))
    }

    fn say_wishes(
        &mut self,
        run: ExecutionId,
        step: usize,
        fork: ConversationId,
        message: &Value,
    ) -> Result<(), StoreError> {
        let said = message["content"].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
        let wishes = message["toolCalls"].as_array().into_iter().flatten();
        let wishes = wishes.map(|wish| format!("{}({})", wish["name"].as_str().unwrap_or_default(), wish["arguments"]));
        let text: Vec<String> = said.into_iter().chain(wishes).collect();
        self.say_as_model(run, step, fork, &text.join("\n"))
    }

    fn say_as_model(
        &mut self,
        run: ExecutionId,
        step: usize,
        fork: ConversationId,
        text: &str,
    ) -> Result<(), StoreError> {
        let (author, raw) = match self.model_answer(run, step)? {
            Some((author, raw, _)) => (author, Some(raw)),
            None => ((ActorId::SYSTEM, AuthorType::System), None),
        };
        self.say_in(run, fork, author, TurnType::Message, text, raw)
    }

    fn say_result(
        &mut self,
        run: ExecutionId,
        fork: ConversationId,
        messages: &[Value],
        message: &Value,
    ) -> Result<(), StoreError> {
        let id = &message["toolCallId"];
        let wishes = messages.iter().flat_map(|message| message["toolCalls"].as_array().into_iter().flatten());
        let name = wishes.filter(|wish| wish["id"] == *id).filter_map(|wish| wish["name"].as_str()).next_back();
        let text = format!("{}: {}", name.unwrap_or("tool"), message["content"].as_str().unwrap_or_default());
        let author = (ActorId::SYSTEM, AuthorType::System);
        self.say_in(run, fork, author, TurnType::ToolResult, &text, None)
    }

    fn say_in(
        &mut self,
        run: ExecutionId,
        fork: ConversationId,
        (author, author_type): (ActorId, AuthorType),
        turn_type: TurnType,
        text: &str,
        raw: Option<ItemId>,
    ) -> Result<(), StoreError> {
        let row = &self.load(run)?.row;
        let viewer = Viewer::User(row.owner);
        let executed_by = ExecutedBy { process_id: row.process, version: row.process_version };
        let content = json!({ "type": "text", "text": if text.trim().is_empty() { "(nothing)" } else { text } });
        let path = PathId::main_of(fork);
        let parent = self.tx.path_cursor(&viewer, fork, path)?;
        let placing = NodePlacement {
            conversation: fork,
            position: NodePosition::After { parent, speaker: Speaker::Agent, turn_type },
            author,
            author_type,
            sources: Vec::new(),
            executed_by: Some(executed_by),
            leads: Some(path),
        };
        let content = Content::parse(&content)?.to_document();
        let said = NodeBody { content, created_at: None, raw: raw.map(RawResponseSource::Kept) };
        self.tx.append_node(&viewer, &placing, &said)?;
        Ok(())
    }

    /// Says what came of it, and folds it. The summary cites the last message: a redaction could not reach a copy of it.
    fn close_tool_run(&mut self, run: ExecutionId, step: usize) -> Result<(), StoreError> {
        let loaded = self.load(run)?;
        let viewer = Viewer::User(loaded.row.owner);
        let state = &loaded.state.steps[step];
        let Some(fork) = state.dialogue.as_ref().and_then(|dialogue| dialogue.fork) else { return Ok(()) };
        let ((author_id, author_type), text) = if state.phase == Phase::Done {
            let output = &state.output;
            let text = output["text"].as_str().or(output.as_str()).map_or_else(|| output.to_string(), str::to_owned);
            let AuthoredText { author, text, raw } = self.authored_by_step(run, step, text)?;
            self.say_in(run, fork, author, TurnType::Message, &text, raw)?;
            (author, CAME_OF_IT.to_owned())
        } else {
            let why = state.fault.as_ref().map_or_else(|| "it was cancelled".to_owned(), |fault| fault.message.clone());
            ((ActorId::SYSTEM, AuthorType::System), format!("Nothing came of it: {why}"))
        };
        let text: String = text.chars().filter(|c| *c != '\0').take(FOLD_TEXT_CHARS_MAX).collect();
        let text = if text.trim().is_empty() { "(nothing)".to_owned() } else { text };
        let end = self.tx.path_cursor(&viewer, fork, PathId::main_of(fork))?;
        let cites = end.map(|node| Citation { node: node.into(), position: None }).into_iter().collect();
        let summary =
            FoldSummary { at: self.tx.now(), author_id, author_type, text, text_item: None, cites, end: None };
        self.fold_hidden(&viewer, fork, summary)
    }

    pub(crate) fn fold_hidden(
        &mut self,
        viewer: &Viewer,
        fork: ConversationId,
        summary: FoldSummary,
    ) -> Result<(), StoreError> {
        let current: StoredEntry<Conversation> = self.tx.record(viewer, fork.into())?.try_into()?;
        let active = usize::try_from(self.tx.active_forks(viewer, fork)?).unwrap_or(usize::MAX);
        match current.entry.fold(active, summary) {
            Ok(folded) => {
                self.tx.update_of_tree(viewer, current.id, current.hash, folded.to_content(false))?;
            }
            // Somebody folded it, or forked from it: it is theirs now, and nothing is lost.
            Err(violation) => tracing::debug!(%violation, %fork, "a tool run is left open"),
        }
        Ok(())
    }
}

/// Somebody may have folded or destroyed what is written to: a run does not fail for that, its calls are facts of their own.
fn tolerated(told: Result<(), StoreError>) -> Result<(), StoreError> {
    match told {
        Err(
            error @ (StoreError::Rule(_) | StoreError::Refused(_) | StoreError::NotFound(_) | StoreError::Forbidden),
        ) => {
            tracing::debug!(%error, "a tool run is not told in full");
            Ok(())
        }
        told => told,
    }
}
