//! Destroying what was said takes it out of the rows of runs as well: they hold copies of what went into a run and came out
//! of it, until they are swept.
//!
//! Words go from call to call, from run to run and from turn to turn. So everything of a session goes together, and of every
//! session that a conversation, a branch or a quotation leads to.

use std::collections::BTreeSet;

use serde_json::json;
use skein_core::flow::execution::content_references::NodeQuotation;
use skein_core::flow::execution::input::Fault;
use skein_core::flow::execution::item_payload::Failure;
use skein_core::flow::execution::review::Decision;
use skein_core::garden::item::{Item, ItemType};
use skein_core::{ExecutionId, ItemId, ReviewId, UserId, Viewer};

use crate::db::sql::params;
use crate::error::StoreError;
use crate::flow::executions::to_text;
use crate::timeline::items::ItemQuery;
use crate::tree::NodeRow;
use crate::tx::Tx;

const FORGETTING: Viewer = Viewer::System("redaction");
const DESTROYED: &str = "what was said here was destroyed";

/// A run as far as its place among others is concerned.
struct RelatedExecution {
    id: ExecutionId,
    session: ExecutionId,
    branched_from: Option<ExecutionId>,
    is_open: bool,
}

/// Facts of runs that hold what was said.
const FACTS_OF_RUNS: [ItemType; 7] = [
    ItemType::EXECUTION_BEGUN,
    ItemType::TOOL_CALL,
    ItemType::TOOL_RESULT,
    ItemType::TOOL_OUTPUT,
    ItemType::REVIEW_ASKED,
    ItemType::REVIEW_DECIDED,
    ItemType::EXECUTION_ENDED,
];
const FACTS_AT_ONCE: usize = 500;

/// Runs that were told of a conversation, and their calls.
#[derive(Default)]
struct TreeExecutions {
    runs: BTreeSet<ExecutionId>,
    calls: BTreeSet<ItemId>,
}

impl TreeExecutions {
    fn have(&self, item: &Item, fact: &serde_json::Map<String, serde_json::Value>) -> bool {
        let id = item.header.id;
        let named = |name: &str| fact.get(name).and_then(serde_json::Value::as_str);
        self.calls.contains(&id)
            || self.runs.contains(&ExecutionId::from_bytes(*id.as_bytes()))
            || named("callId").and_then(|call| call.parse().ok()).is_some_and(|call| self.calls.contains(&call))
            || named("runId").and_then(|run| run.parse().ok()).is_some_and(|run| self.runs.contains(&run))
    }
}

impl Tx<'_> {
    /// The runs that are under way with words that are to be destroyed: to be ended before that is done.
    pub fn open_executions_with(&mut self, item: &Item) -> Result<Vec<ExecutionId>, StoreError> {
        let kin = self.kin_with(item)?;
        Ok(kin.into_iter().filter(|kin| kin.is_open).map(|kin| kin.id).collect())
    }

    /// Takes what was said out of the rows of every run that has ended and may hold something of an item.
    pub(crate) fn forget_words_of(&mut self, item: &Item) -> Result<(), StoreError> {
        for kin in self.kin_with(item)?.into_iter().filter(|kin| !kin.is_open) {
            self.forget_words_in(kin.id)?;
        }
        Ok(())
    }

    /// Empties the rows of the ended executions that these facts are about. Returns their raw responses that hold the words of a
    /// node, except those of answers: an answer is its author's, and keeps its proof.
    pub(crate) fn forget_words_of_facts(
        &mut self,
        node: &NodeRow,
        content: ItemId,
        facts: &[ItemId],
    ) -> Result<BTreeSet<ItemId>, StoreError> {
        let Some(told) = self.find_item(content)? else { return Ok(BTreeSet::new()) };
        let quoted = NodeQuotation::of(node.id, &told.item.document().unwrap_or_default());
        let mut runs = BTreeSet::new();
        for fact in facts {
            if let Some(stored) = self.find_item(*fact)? {
                runs.extend(self.runs_of_item(&stored.item)?);
            }
        }
        let mut raw = BTreeSet::new();
        for run in runs {
            let sql = "SELECT e.status, CASE WHEN e.node IS NULL THEN s.raw END FROM executions e
                 LEFT JOIN execution_steps s ON s.run = e.id WHERE e.id = ?1";
            let steps = self.all(sql, params![&run], |row| {
                Ok((row.text(0)? == "running", row.optional_array(1)?.map(ItemId::from_bytes)))
            })?;
            if steps.iter().all(|(is_open, _)| !is_open) && !steps.is_empty() {
                self.forget_words_in(run)?;
            }
            for part in steps.into_iter().filter_map(|(_, part)| part) {
                let payload = self.find_item(part)?.and_then(|stored| stored.item.payload);
                if payload.is_some_and(|payload| quoted.is_in_bytes(payload.bytes())) {
                    raw.insert(part);
                }
            }
        }
        Ok(raw)
    }

    fn kin_with(&mut self, item: &Item) -> Result<Vec<RelatedExecution>, StoreError> {
        let owner = item.header.owner;
        let node = self.node_told_by(item)?;
        let touched = match &node {
            Some(node) => self.runs_quoting(owner, node)?,
            None => self.runs_of_item(item)?,
        };
        let mut sessions: BTreeSet<ExecutionId> = BTreeSet::new();
        if let Some(node) = &node {
            let grown = self.grown_of(node.conversation)?;
            sessions.extend(grown.into_iter().map(|conversation| ExecutionId::from_bytes(*conversation.as_bytes())));
        }
        if touched.is_empty() && sessions.is_empty() {
            return Ok(Vec::new());
        }
        let sql = "SELECT id, session, branched_from, status FROM executions WHERE owner = ?1 ORDER BY id";
        let mut all = self.all(sql, params![&owner], |row| {
            Ok(RelatedExecution {
                id: ExecutionId::from_bytes(row.array(0)?),
                session: ExecutionId::from_bytes(row.array(1)?),
                branched_from: row.optional_array(2)?.map(ExecutionId::from_bytes),
                is_open: row.text(3)? == "running",
            })
        })?;
        let mut found: BTreeSet<ExecutionId> = BTreeSet::new();
        // A branch is younger than what it branched from; a session may lead back, so it is gone through until nothing is new.
        loop {
            let before = found.len();
            for kin in &all {
                let is_kin = touched.contains(&kin.id)
                    || sessions.contains(&kin.session)
                    || kin.branched_from.is_some_and(|from| found.contains(&from));
                if is_kin && found.insert(kin.id) {
                    sessions.insert(kin.session);
                }
            }
            if found.len() == before {
                break;
            }
        }
        all.retain(|kin| found.contains(&kin.id));
        Ok(all)
    }

    /// The runs that an item is a part of.
    fn runs_of_item(&mut self, item: &Item) -> Result<BTreeSet<ExecutionId>, StoreError> {
        let (id, owner) = (item.header.id, item.header.owner);
        let document = item.document();
        let named = |name: &str| document.as_ref()?.get(name)?.as_str().map(str::to_owned);
        let mut runs = BTreeSet::new();
        match &item.header.item_type {
            t if *t == ItemType::EXECUTION_BEGUN => _ = runs.insert(ExecutionId::from_bytes(*id.as_bytes())),
            t if *t == ItemType::EXECUTION_ENDED => {
                runs.extend(named("runId").and_then(|run| run.parse::<ExecutionId>().ok()));
            }
            t if *t == ItemType::TOOL_CALL => runs.extend(self.run_of_call(id)?),
            t if *t == ItemType::TOOL_RESULT => {
                let call: Option<ItemId> = named("callId").and_then(|call| call.parse().ok());
                runs.extend(call.map(|call| self.run_of_call(call)).transpose()?.flatten());
            }
            t if *t == ItemType::REVIEW_ASKED => {
                runs.extend(self.run_of_review(ReviewId::from_bytes(*id.as_bytes()))?);
            }
            t if *t == ItemType::REVIEW_DECIDED => {
                let review: Option<ReviewId> = named("reviewId").and_then(|review| review.parse().ok());
                runs.extend(review.map(|review| self.run_of_review(review)).transpose()?.flatten());
            }
            t if *t == ItemType::RAW_RESPONSE || *t == ItemType::TOOL_OUTPUT => {
                runs.extend(self.runs_with_part(owner, id)?);
            }
            _ => {}
        }
        Ok(runs)
    }

    fn run_of_call(&mut self, call: ItemId) -> Result<Option<ExecutionId>, StoreError> {
        self.first("SELECT run FROM tool_calls WHERE id = ?1", params![&call], |row| {
            row.array(0).map(ExecutionId::from_bytes)
        })
    }

    fn run_of_review(&mut self, review: ReviewId) -> Result<Option<ExecutionId>, StoreError> {
        self.first("SELECT run FROM reviews WHERE id = ?1", params![&review], |row| {
            row.array(0).map(ExecutionId::from_bytes)
        })
    }

    /// The runs of which an item holds what a call gave: as it was received, or because it was large.
    fn runs_with_part(&mut self, owner: UserId, part: ItemId) -> Result<Vec<ExecutionId>, StoreError> {
        // The item is written right before the result that names it: after a call of a step that had not ended by then. A
        // model may have been asked again since.
        let sql = "SELECT DISTINCT s.run FROM executions e JOIN execution_steps s ON s.run = e.id
             WHERE e.owner = ?1 AND (s.raw = ?2 OR s.began_at <= ?3 AND (s.ended_at IS NULL OR s.ended_at >= ?3)
                 AND EXISTS (SELECT 1 FROM tool_calls c WHERE c.run = s.run AND c.step = s.step AND c.id < ?2))";
        let made_at = part.made_at();
        self.all(sql, params![&owner, &part, made_at], |row| row.array(0).map(ExecutionId::from_bytes))
    }

    /// The runs that fill a node, answer it, or were given its content: every quote names its node.
    fn runs_quoting(&mut self, owner: UserId, node: &NodeRow) -> Result<BTreeSet<ExecutionId>, StoreError> {
        let quoted = format!("%{}%", node.id);
        let sql = "SELECT DISTINCT s.run FROM executions e JOIN execution_steps s ON s.run = e.id
             WHERE e.owner = ?1 AND (e.context LIKE ?2 OR s.inputs LIKE ?2 OR s.output LIKE ?2
                 OR s.dialogue LIKE ?2)
             UNION SELECT id FROM executions WHERE owner = ?1 AND (node = ?3 OR answers = ?3)";
        let found =
            self.all(sql, params![&owner, &quoted, &node.id], |row| row.array(0).map(ExecutionId::from_bytes))?;
        Ok(found.into_iter().collect())
    }

    /// The facts of runs that hold what a node says: told to somebody, given by somebody, decided about.
    pub(crate) fn facts_with_words_of(&mut self, node: &NodeRow, content: ItemId) -> Result<Vec<ItemId>, StoreError> {
        let Some(told) = self.find_item(content)? else { return Ok(Vec::new()) };
        let quoted = NodeQuotation::of(node.id, &told.item.document().unwrap_or_default());
        let kin = self.kin_of_trees(node)?;
        let mut found = Vec::new();
        for item_type in FACTS_OF_RUNS {
            let mut after = None;
            loop {
                let query = ItemQuery {
                    item_type: Some(item_type.clone()),
                    from: Some(told.item.header.realized_at),
                    after,
                    limit: FACTS_AT_ONCE,
                    include_hidden: true,
                    ..ItemQuery::default()
                };
                let page = self.items_of(&FORGETTING, node.owner, &query)?;
                found.extend(page.rows.iter().map(|stored| &stored.item).filter_map(|item| {
                    let fact = item.document()?;
                    let holds = quoted.is_in(&fact) || quoted.may_be_in(&fact) && kin.have(item, &fact);
                    holds.then_some(item.header.id)
                }));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// The runs and calls of a node's conversation and of all that grew out of it.
    fn kin_of_trees(&mut self, node: &NodeRow) -> Result<TreeExecutions, StoreError> {
        let mut kin = TreeExecutions::default();
        for conversation in self.grown_of(node.conversation)? {
            let session = ExecutionId::from_bytes(*conversation.as_bytes());
            let sql = "SELECT id, run FROM tool_calls WHERE owner = ?1 AND session = ?2";
            for (call, run) in
                self.all(sql, params![&node.owner, &session], |row| Ok((row.array(0)?, row.array(1)?)))?
            {
                kin.calls.insert(ItemId::from_bytes(call));
                kin.runs.insert(ExecutionId::from_bytes(run));
            }
            let sql = "SELECT id FROM executions WHERE owner = ?1 AND conversation = ?2";
            kin.runs.extend(
                self.all(sql, params![&node.owner, &conversation], |row| row.array(0).map(ExecutionId::from_bytes))?,
            );
        }
        Ok(kin)
    }

    /// What a run was about is gone; how it went stays.
    fn forget_words_in(&mut self, run: ExecutionId) -> Result<(), StoreError> {
        // The run before its questions and its operation, as everywhere.
        let row = self.locked_execution(&FORGETTING, run)?;
        // What was known of its steps holds those words.
        self.ahead = None;
        let blank = to_text(&Fault::new("redacted", DESTROYED));
        self.execute(
            "UPDATE execution_steps SET inputs = '{}', output = 'null', dialogue = NULL,
                 fault = CASE WHEN fault IS NULL THEN NULL ELSE ?2 END WHERE run = ?1",
            params![&run, &blank],
        )?;
        for review in self.reviews_of(run)? {
            let (asked, decision) = (review.asked.without_words(), review.decision.map(Decision::without_words));
            let (asked, decision) = (to_text(&asked), decision.as_ref().map(to_text));
            let sql = "UPDATE reviews SET asked = ?2, decision = ?3 WHERE id = ?1";
            self.execute(sql, params![&review.id, &asked, decision.as_ref()])?;
        }
        self.execute("DELETE FROM stream_chunks WHERE run = ?1", params![&run])?;
        let failure = row.failure.map(|failure| {
            let fault = Fault { code: failure.fault.code, rule: failure.fault.rule, ..Fault::new("", DESTROYED) };
            to_text(&Failure { fault, ..failure })
        });
        let sql = "UPDATE executions SET context = '{}', output = NULL, failure = ?2 WHERE id = ?1";
        self.execute(sql, params![&run, failure.as_ref()])?;
        let told = json!({ "runId": run }).to_string();
        let sql = "UPDATE operations SET result = CASE WHEN result IS NULL THEN NULL ELSE ?2 END,
             error = CASE WHEN error IS NULL THEN NULL ELSE ?2 END WHERE id = ?1";
        self.execute(sql, params![row.operation.as_ref(), &told])?;
        Ok(())
    }
}
