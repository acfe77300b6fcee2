//! What a model would be shown at a node, over HTTP.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::tree::context::report::{DropReason, PartReport};
use skein_core::tree::context::{Message, Prompt, Strategy};
use skein_core::tree::conversation::{CONTEXT_BUDGET_MAX, CONTEXT_BUDGET_MIN};
use skein_core::{ItemId, NodeId, RecordId};
use skein_engine::Engine;
use skein_engine::tree::{ContextQuery, ShownContext};
use utoipa::{IntoParams, ToSchema};

use crate::error::ApiError;
use crate::path_id::PathId;
use crate::query::Parameters;
use crate::signed_in::SignedIn;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct WindowParameters {
    /// Tokens of the whole window, 1024 kept free for the answer; the conversation's own budget unless it is said.
    #[param(value_type = Option<u32>, example = 8192)]
    budget: Option<String>,
    /// truncateMiddle, rollingWindow or stopAtLimit; truncateMiddle unless it is said.
    strategy: Option<String>,
    /// report, or messages for what would be sent beside it; report unless it is said.
    format: Option<String>,
    /// Whose prompt comes first.
    #[param(value_type = Option<String>)]
    actor_id: Option<RecordId>,
}

/// A window accounted for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WindowView {
    #[schema(example = 8192)]
    budget: usize,
    /// What is kept free for the answer.
    #[schema(example = 1024)]
    reserve: usize,
    #[schema(value_type = String, example = "truncateMiddle")]
    strategy: Strategy,
    /// Tokens of all that is shown.
    total_tokens: usize,
    /// Tokens of all that is not.
    dropped_tokens: usize,
    /// Whether the counts are guesses, four characters a token.
    is_estimate: bool,
    /// Whether something was left out for want of room.
    truncated: bool,
    /// Whether even the least that is always shown is more than the budget.
    over_budget: bool,
    /// Where a very long path was looked at from; null when all of it was.
    #[schema(value_type = Option<String>)]
    looked_from_node_id: Option<NodeId>,
    /// In the order they stand in the window.
    parts: Vec<PartView>,
    /// What would be sent, where it was asked for: user and assistant in turns, the system part first.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<MessageView>>,
    /// What would be sent of a buffer: one text to be continued.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// One part of a window.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PartView {
    /// agentPrompt, systemContext, instruction, context, node, folded or marker.
    #[schema(example = "node")]
    kind: String,
    #[schema(value_type = Option<String>)]
    node_id: Option<ItemId>,
    tokens: usize,
    included: bool,
    /// excluded, pruned, annotation, empty, onPath, originNotShown, bufferMode or overBudget.
    #[schema(value_type = Option<String>)]
    dropped_because: Option<DropReason>,
    /// Why something remembered was offered; `pinned` for a node that is.
    reason: Option<String>,
}

/// One message of a chat.
#[derive(Serialize, ToSchema)]
pub(crate) struct MessageView {
    /// system, user or assistant.
    #[schema(example = "user")]
    role: String,
    text: String,
}

impl WindowView {
    fn of(shown: ShownContext, with_messages: bool) -> Self {
        let ShownContext { window, looked_from } = shown;
        let report = window.report;
        let message = |message: Message| MessageView { role: message.role.to_string(), text: message.text };
        let (messages, text) = match window.prompt {
            _ if !with_messages => (None, None),
            Prompt::Chat(messages) => (Some(messages.into_iter().map(message).collect()), None),
            Prompt::Text { system, text } => {
                let system = system.map(|text| MessageView { role: "system".to_owned(), text });
                (Some(system.into_iter().collect()), Some(text))
            }
        };
        Self {
            budget: report.budget,
            reserve: report.reserve,
            strategy: report.strategy,
            total_tokens: report.total_tokens,
            dropped_tokens: report.dropped_tokens,
            is_estimate: report.is_estimate,
            truncated: report.truncated,
            over_budget: report.over_budget,
            looked_from_node_id: looked_from,
            parts: report.parts.into_iter().map(PartView::from).collect(),
            messages,
            text,
        }
    }
}

impl From<PartReport> for PartView {
    fn from(part: PartReport) -> Self {
        let PartReport { kind, node_id, tokens, included, dropped_because, reason } = part;
        Self { kind, node_id, tokens, included, dropped_because, reason }
    }
}

impl WindowParameters {
    fn query(&self) -> Result<ContextQuery, ApiError> {
        let (min, max) = (CONTEXT_BUDGET_MIN, CONTEXT_BUDGET_MAX);
        let budget = |text: &str| text.parse::<u32>().ok().filter(|tokens| (min..=max).contains(tokens));
        let budget = match self.budget.as_deref() {
            Some(text) => {
                let problem = || invalid("budget", format!("budget: send a number of tokens from {min} to {max}"));
                Some(budget(text).ok_or_else(problem)? as usize)
            }
            None => None,
        };
        let strategy = match self.strategy.as_deref() {
            Some(text) => {
                let words = "strategy: send truncateMiddle, rollingWindow or stopAtLimit";
                Some(Strategy::parse(text).ok_or_else(|| invalid("strategy", words.to_owned()))?)
            }
            None => None,
        };
        Ok(ContextQuery { budget, strategy, actor: self.actor_id })
    }

    fn with_messages(&self) -> Result<bool, ApiError> {
        match self.format.as_deref() {
            None | Some("report") => Ok(false),
            Some("messages") => Ok(true),
            Some(_) => Err(invalid("format", "format: send report or messages".to_owned())),
        }
    }
}

fn invalid(field: &'static str, message: String) -> ApiError {
    ApiError::bad_request("invalid_query", message).with_detail("field", field)
}

/// What a model would be shown at a node: every part with its tokens, and why it is left out if it is.
#[utoipa::path(get, path = "/nodes/{id}/context", tag = "conversations", params(("id" = String, Path), WindowParameters),
    responses((status = 200, body = WindowView)))]
pub(crate) async fn show_context(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    PathId(id): PathId<NodeId>,
    Parameters(parameters): Parameters<WindowParameters>,
) -> Result<Json<WindowView>, ApiError> {
    let with_messages = parameters.with_messages()?;
    let shown = engine.context_at(&caller, id, parameters.query()?).await?;
    Ok(Json(WindowView::of(shown, with_messages)))
}
