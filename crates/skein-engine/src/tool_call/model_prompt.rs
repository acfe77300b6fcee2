//! Prompts the model of a configured tool for Skein itself, such as for a summary.
//!
//! It is a call of that tool in somebody's name like any other: judged right before it is made, written down before and
//! after, told to whoever's things it used. What was asked and answered is named and not copied, so that destroying what
//! somebody said leaves no second copy of it behind.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use skein_core::flow::authorization::CallAuthorization;
use skein_core::flow::tool_call::{CallRequester, CallStatus, ToolCall, ToolResult};
use skein_core::{ItemId, RecordId, UserId, Viewer};
use skein_store::{StoreError, Tx};

use crate::engine::Engine;
use crate::jobs::catalog::told;
use crate::tool_call::authorize::{AuthorizedCall, CallPurpose, nothing, tell_owners};
use crate::tool_call::execute::{self, CallResponse};
use crate::tool_call::test::write_result;

/// How long an answer is waited for.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// What a model is asked, and what is written down of it.
#[derive(Debug, Clone)]
pub(crate) struct ModelPrompt {
    pub(crate) prompt: String,
    /// Most tokens of the answer.
    pub(crate) max_tokens: u32,
    /// What it is about, by name.
    pub(crate) about: Map<String, Value>,
    /// Why it is asked, in words.
    pub(crate) why: &'static str,
    /// Where it belongs.
    pub(crate) session: String,
}

/// What a model answered. Whoever keeps what came of it says so in the same transaction.
#[derive(Debug, Clone)]
pub(crate) struct ModelReply {
    pub(crate) text: String,
    pub(crate) model: String,
    tool: RecordId,
    authorization: CallAuthorization,
    result: ToolResult,
}

impl ModelReply {
    /// Writes down what came of the call: the item that was made of the answer, if it was of use.
    pub(crate) fn conclude(&self, tx: &mut Tx<'_>, kept_in: Option<ItemId>) -> Result<(), StoreError> {
        let result = ToolResult { output_in: kept_in, ..self.result.clone() };
        conclude(tx, self.tool, &self.authorization, &result)
    }
}

fn conclude(
    tx: &mut Tx<'_>,
    tool: RecordId,
    authorization: &CallAuthorization,
    result: &ToolResult,
) -> Result<(), StoreError> {
    write_result(tx, authorization.executor, result, None)?;
    if authorization.is_across_users() { tell_owners(tx, authorization, tool, result.call) } else { Ok(()) }
}

impl Engine {
    /// Asks the model behind `tool` in the name of `executor`. Nothing where they may not call it, where it is down, and
    /// where it did not answer; what was tried is on record.
    pub(crate) async fn ask_model(
        &self,
        executor: UserId,
        tool: RecordId,
        question: ModelPrompt,
    ) -> Option<ModelReply> {
        let ready = match self.ready_to_call(executor, tool, CallPurpose::Use).await {
            // The built-in model is asked without a call.
            Ok(ready) if ready.service.entry.builtin.is_some() => return None,
            Ok(ready) => ready,
            Err(error) => {
                tracing::debug!(%error, %tool, "the tool that is set for this cannot be called");
                return None;
            }
        };
        let asked = written(&ready, &question);
        let draft = asked.to_draft().ok()?;
        let call = self.parts().store.write(move |tx| tx.append_item(&Viewer::User(executor), &draft));
        let call = call.await.ok()?.value.item.header.id;
        let begun = Instant::now();
        let answered = self.ask(&ready, (question.prompt, question.max_tokens)).await;
        let latency_ms = i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
        let cost = ready.cost(&answered);
        let CallResponse { outcome, usage, scrubbed, response_id, .. } = answered;
        let result = ToolResult { latency_ms, usage, cost, response_id, scrubbed, ..nothing(call) };
        let (tool, authorization) = (ready.tool.id, ready.authorization);
        match outcome {
            Ok(output) => {
                let word = |name: &str| output[name].as_str().unwrap_or_default().to_owned();
                let result = ToolResult { status: CallStatus::Success, ..result };
                Some(ModelReply { text: word("text"), model: word("model"), tool, authorization, result })
            }
            Err(error) => {
                tracing::debug!(%error, %tool, "the model that is set for this did not answer");
                // In its own words a provider may quote what it was asked.
                let error = told(error["code"].as_str().unwrap_or("call_failed"), "the model did not answer");
                let result = ToolResult { status: CallStatus::Error, error: Some(error), ..result };
                let written = self.parts().store.write(move |tx| conclude(tx, tool, &authorization, &result)).await;
                if let Err(error) = written {
                    tracing::debug!(%error, %call, "the end of a call could not be written down");
                }
                None
            }
        }
    }

    async fn ask(&self, ready: &AuthorizedCall, question: (String, u32)) -> CallResponse {
        let credential = match self.credential(ready) {
            Ok(credential) => credential,
            Err(problem) => return CallResponse::fault("secret_unavailable", &problem, false),
        };
        let (http, tool, service) = (self.parts().gateway.http(), &ready.tool.entry, &ready.service.entry);
        let asking = execute::ask(http, tool, service, credential.as_ref(), question);
        let late = || CallResponse::fault("timeout", "no answer came in time", true);
        tokio::time::timeout(ANSWER_WITHIN, asking).await.unwrap_or_else(|_| late())
    }
}

fn written(ready: &AuthorizedCall, question: &ModelPrompt) -> ToolCall {
    ToolCall {
        tool: ready.tool.id,
        tool_version: ready.tool.version,
        operation: ready.tool.entry.operation.kind().as_str().to_owned(),
        inputs: question.about.clone(),
        asker: CallRequester::Process,
        context: question.why.to_owned(),
        session: question.session.clone(),
        sequence: 1,
        predecessor: None,
        tags: vec!["summary".to_owned()],
        authorization: ready.authorization,
    }
}
