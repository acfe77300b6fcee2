//! Stores the text of an answer that broke off, as an alternative written by the process.
//!
//! The answer itself stays failed, for it is whole or nothing (rule BR-EXEC-001). What it had said by then is only heard,
//! not kept, unless a person asks for it; then the conversation can go on from there.

use serde_json::json;
use skein_core::flow::process::Process;
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::content::Content;
use skein_core::tree::node::ExecutedBy;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::{ConversationId, ExecutionId, NodeId, PathId, ReferenceField, TurnId, Viewer};
use skein_store::tree::append::{NodeBody, NodePlacement, NodePosition};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::StoredEntry;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::flow::SYSTEM;
use crate::flow::answer::authorship::{Author, process_author};
use crate::flow::answer::request::sources_of;
use crate::request::{CommittedChange, Request};
use crate::tool_call::record::breach;
use crate::tree::{AppendResult, follow_answer, named_alternative};

/// Whose words may be kept.
const KEPT_FROM: ReferenceField = ReferenceField::new("BR-ALT-002", "keptFrom", "alternative of this turn");

impl Engine {
    /// Keeps what a broken answer had said as an alternative of its turn.
    pub async fn keep_words(
        &self,
        caller: &Caller,
        request: Request,
        conversation: ConversationId,
        (turn, broken): (TurnId, NodeId),
        make_active: bool,
    ) -> Result<CommittedChange<AppendResult>, EngineError> {
        self.change(caller, request, "alternative.create", move |tx, viewer| {
            let row = named_alternative(tx, viewer, (conversation, turn), KEPT_FROM, broken)?;
            if row.status != GenerationStatus::Failed {
                let problem = format!("{broken} did not break off");
                return Err(breach("BR-EXEC-001", problem, "name an answer that failed as keptFrom"));
            }
            let run = tx.execution_of_node(broken)?.map(|row| row.id);
            let words = run.map_or(Ok(String::new()), |run| heard(tx, run))?;
            let content = Content::parse(&json!({ "type": "text", "text": words }))?;
            if content.is_empty() {
                let problem = format!("of what {broken} said nothing is left");
                return Err(breach("BR-EXEC-001", problem, "let it be answered again"));
            }
            let (author, author_type) = author_of_words(tx, viewer, row.executed_by)?;
            let placing = NodePlacement {
                conversation,
                position: NodePosition::Beside { turn, parent: row.parent },
                author,
                author_type,
                sources: sources_of(tx, viewer, broken)?,
                executed_by: row.executed_by,
                leads: make_active.then(|| PathId::main_of(conversation)),
            };
            let said = NodeBody { content: content.to_document(), created_at: None, raw: None };
            let (node, moved) = tx.append_node(viewer, &placing, &said)?;
            follow_answer(tx, viewer, &node)?;
            AppendResult::now(tx, viewer, &node, moved)
        })
        .await
    }
}

fn author_of_words(tx: &mut Tx<'_>, viewer: &Viewer, by: Option<ExecutedBy>) -> Result<Author, StoreError> {
    let Some(ExecutedBy { process_id, version }) = by else { return Ok((ActorId::SYSTEM, AuthorType::System)) };
    let process = tx.record_version(&SYSTEM, process_id, version).and_then(StoredEntry::<Process>::try_from)?;
    process_author(tx, viewer, process_id, &process.entry)
}

/// What was said for a run and written down, from where it was said anew last.
fn heard(tx: &mut Tx<'_>, run: ExecutionId) -> Result<String, StoreError> {
    let (mut words, mut after) = (String::new(), 0);
    loop {
        let chunks = tx.chunks_after(run, after)?;
        let Some(last) = chunks.last() else { return Ok(words) };
        after = last.number;
        for chunk in chunks {
            if chunk.is_reset {
                words.clear();
            }
            words.push_str(&chunk.text);
        }
    }
}
