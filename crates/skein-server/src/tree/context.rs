//! The context of a model at a node, over HTTP.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skein_connect::llm::{SentMessage, SentParameters, SentPart, SentRequest, ToolDefinition};
use skein_core::tree::context::image::{ImageReport, SentAs, TextReason};
use skein_core::tree::context::report::{DropReason, PartReport};
use skein_core::tree::context::{Message, Prompt, Strategy};
use skein_core::tree::conversation::{CONTEXT_BUDGET_MAX, CONTEXT_BUDGET_MIN};
use skein_core::tree::node::{Source, SourceRole};
use skein_core::tree::node_place::SOURCES_MAX;
use skein_core::{Digest, ItemId, NodeId, RecordId};
use skein_engine::Engine;
use skein_engine::flow::Inexact;
use skein_engine::tree::{ContextQuery, ShownContext};
use utoipa::{IntoParams, ToSchema};

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::Parameters;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct WindowParameters {
    /// Tokens of the whole window, 1024 kept free for the answer; the conversation's own budget unless it is said. Runs use the
    /// latter, so with `processId` the preview is not exact.
    #[param(value_type = Option<u32>, example = 8192)]
    budget: Option<String>,
    /// truncateMiddle, rollingWindow or stopAtLimit; truncateMiddle unless it is said. Runs use truncateMiddle, so with
    /// `processId` the preview by another is not exact.
    strategy: Option<String>,
    /// report, or messages for what would be sent beside it; report unless it is said.
    format: Option<String>,
    /// Whose `systemPrompt` comes first. Left out with `processId`: there it is the actor that answers.
    #[param(value_type = Option<String>)]
    actor_id: Option<RecordId>,
    /// The process that would answer. With it, `request` and `messages` are what its model would be sent, images and prompts
    /// of its tool and its actor included. Without it, images are shown as text.
    #[param(value_type = Option<String>)]
    process_id: Option<RecordId>,
    /// Sources of the answer beside the node, as `role:node` with commas between; the role is context or instruction.
    #[param(example = "context:item_01JA2B3C4D5E6F7G8H9J0K1M2N")]
    sources: Option<String>,
}

/// A window accounted for.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the answer of its own")]
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
    /// Whether an answer of `processId` would be asked for by exactly this request.
    exact: bool,
    /// Why not: noProcess without `processId`; noModel, noContext, earlierSteps (other steps have to run before the answer) or
    /// notReached (a step cannot be called, or is left out by its condition) where the request is not known; windowOptions where
    /// `budget` or `strategy` differ from those of a run; refused where the call would end with `refusal` and nothing is sent.
    /// Null where `exact` is true.
    #[schema(value_type = Option<String>, example = "windowOptions")]
    inexact_because: Option<&'static str>,
    /// The error of the execution, where the call would be refused before it is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    refusal: Option<RefusalView>,
    /// What would be sent, where it was asked for. With a process whose request is known, each message as its provider is sent
    /// it: with Anthropic's API neighbours of one role are one message. Otherwise user and assistant in turns, the system part
    /// first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    messages: Option<Vec<MessageView>>,
    /// What would be sent as one text: a buffer, or the prompt of a completions API.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    text: Option<String>,
    /// The tools that the model would be offered, where the request is known and messages were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tools: Option<Vec<OfferedToolView>>,
    /// How the model would be asked, where the request is known and messages were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    parameters: Option<ParametersView>,
    /// The request itself, where it is known and messages were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    request: Option<RequestView>,
}

/// Why nothing would be sent.
#[derive(Serialize, ToSchema)]
pub(crate) struct RefusalView {
    #[schema(example = "llm_unsupported")]
    code: String,
    message: String,
}

/// A request as a provider is sent it first. Where the provider refuses the name of a field, Skein asks again by another.
#[derive(Serialize, ToSchema)]
pub(crate) struct RequestView {
    /// Behind the address of the service; null for the built-in model, which nothing is sent to.
    #[schema(example = "/chat/completions")]
    path: Option<String>,
    /// The body; the data of images replaced by `sha256:` and their hash.
    #[schema(value_type = Object)]
    body: Value,
}

/// Parameters of a request, from the tool, the step and the actor that answers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ParametersView {
    model: String,
    /// Null: the provider's default.
    temperature: Option<f64>,
    /// Null: the provider's default. Anthropic's API wants a limit and is sent 4096 unless there is another.
    max_tokens: Option<u64>,
    stop_sequences: Vec<String>,
    /// The form of the answer, in the provider's words. Null: text.
    #[schema(value_type = Option<Object>)]
    response_format: Option<Value>,
    /// Further fields of the request, in the provider's words.
    #[schema(value_type = Object)]
    custom_parameters: Map<String, Value>,
}

impl From<SentParameters> for ParametersView {
    fn from(sent: SentParameters) -> Self {
        let SentParameters { model, temperature, max_tokens, stop, response_format, custom } = sent;
        Self { model, temperature, max_tokens, stop_sequences: stop, response_format, custom_parameters: custom }
    }
}

/// A tool as a model is offered it.
#[derive(Serialize, ToSchema)]
pub(crate) struct OfferedToolView {
    name: String,
    description: String,
    /// JSON Schema of its arguments.
    parameters: Value,
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
    /// Its images, and how each would be sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<ImageView>,
}

/// One image of a part.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImageView {
    /// The item that attached it.
    #[serde(rename = "ref")]
    #[schema(value_type = String)]
    item: ItemId,
    /// image; or text, then its alternative text is sent in its place.
    #[schema(value_type = String, example = "image")]
    sent_as: SentAs,
    /// Why it is sent as text: modelWithoutImages, notAUserMessage, bufferMode, tooLarge, tooMany or unreadable.
    #[schema(value_type = Option<String>)]
    because: Option<TextReason>,
    /// Tokens it takes as an image, estimated from its size.
    tokens: usize,
}

impl From<ImageReport> for ImageView {
    fn from(image: ImageReport) -> Self {
        let ImageReport { item, sent_as, because, tokens } = image;
        Self { item, sent_as, because, tokens }
    }
}

/// One message of a chat.
#[derive(Serialize, ToSchema)]
pub(crate) struct MessageView {
    /// system, user or assistant.
    #[schema(example = "user")]
    role: String,
    /// Its texts, a blank line between them; images as notes in brackets.
    text: String,
    /// Texts and images in their order, where it has images or several texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    parts: Option<Vec<MessagePartView>>,
}

/// A text, or an image as it would be sent.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(crate) enum MessagePartView {
    Text {
        text: String,
    },
    #[serde(rename_all = "camelCase")]
    Image {
        #[schema(example = "image/jpeg")]
        media_type: String,
        /// Its size as it is sent, before base64.
        bytes: usize,
        /// SHA-256 of the bytes that are sent.
        #[schema(value_type = String)]
        hash: Digest,
        /// Stands for it where images are not accepted.
        description: String,
    },
}

impl MessageView {
    fn of_text(role: &str, text: String) -> Self {
        Self { role: role.to_owned(), text, parts: None }
    }

    /// A message exactly as it would be sent.
    fn sent(message: &SentMessage) -> Self {
        let is_one_text = matches!(message.parts[..], [SentPart::Text(_)]);
        let parts = (!is_one_text).then(|| message.parts.iter().map(MessagePartView::of).collect());
        Self { parts, ..Self::of_text(&message.role, message.text()) }
    }
}

impl MessagePartView {
    fn of(part: &SentPart) -> Self {
        match part {
            SentPart::Image(image) => Self::Image {
                media_type: image.media_type.clone(),
                bytes: image.data.len(),
                hash: Digest::of(&image.data),
                description: image.description.clone(),
            },
            SentPart::Text(text) => Self::Text { text: text.clone() },
        }
    }
}

impl From<ToolDefinition> for OfferedToolView {
    fn from(tool: ToolDefinition) -> Self {
        let ToolDefinition { name, description, parameters } = tool;
        Self { name, description, parameters }
    }
}

impl WindowView {
    fn of(shown: ShownContext, with_messages: bool) -> Self {
        let ShownContext { window, looked_from, .. } = shown;
        let report = window.report;
        let message = |message: Message| MessageView::of_text(message.role.as_str(), message.text());
        let (messages, text) = match window.prompt {
            _ if !with_messages => (None, None),
            Prompt::Chat(messages) => (Some(messages.into_iter().map(message).collect()), None),
            Prompt::Text { system, text } => {
                let system = system.map(|text| MessageView::of_text("system", text));
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
            exact: false,
            inexact_because: Some("noProcess"),
            refusal: None,
            messages,
            text,
            tools: None,
            parameters: None,
            request: None,
        }
    }

    /// The same, with the request in place of the window's messages.
    fn with_request(self, request: SentRequest) -> Self {
        let SentRequest { path, body, messages, text, tools, parameters } = request;
        Self {
            messages: Some(messages.iter().map(MessageView::sent).collect()),
            text,
            tools: Some(tools.into_iter().map(OfferedToolView::from).collect()),
            parameters: Some(parameters.into()),
            request: Some(RequestView { path: path.map(str::to_owned), body }),
            ..self
        }
    }

    /// The same, with what is known of how it would be sent.
    fn previewed(self, inexact: Option<&Inexact>) -> Self {
        let refusal = match inexact {
            Some(Inexact::Refused(error)) => {
                let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
                Some(RefusalView { code: text("code"), message: text("message") })
            }
            _ => None,
        };
        Self { exact: inexact.is_none(), inexact_because: inexact.map(Inexact::code), refusal, ..self }
    }
}

impl From<PartReport> for PartView {
    fn from(part: PartReport) -> Self {
        let PartReport { kind, node_id, tokens, included, dropped_because, reason, images } = part;
        let images = images.into_iter().map(ImageView::from).collect();
        Self { kind, node_id, tokens, included, dropped_because, reason, images }
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
        let sources = self.sources()?;
        Ok(ContextQuery { budget, strategy, actor: self.actor_id, sources, accepts_images: false })
    }

    fn sources(&self) -> Result<Vec<Source>, ApiError> {
        let Some(text) = self.sources.as_deref().filter(|text| !text.is_empty()) else { return Ok(Vec::new()) };
        let source = |text: &str| {
            let (role, node) = text.split_once(':')?;
            let role = match role {
                "context" => SourceRole::Context,
                "instruction" => SourceRole::Instruction,
                _ => return None,
            };
            Some(Source { node_id: node.parse().ok()?, role })
        };
        let sources: Option<Vec<Source>> = text.split(',').take(SOURCES_MAX + 1).map(source).collect();
        sources.filter(|sources| sources.len() <= SOURCES_MAX).ok_or_else(|| {
            let form = "context:NODE and instruction:NODE with commas between";
            invalid("sources", format!("sources: send up to {SOURCES_MAX} of {form}"))
        })
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
    let query = parameters.query()?;
    let Some(process) = parameters.process_id else {
        return Ok(Json(WindowView::of(engine.context_at(&caller, id, query).await?, with_messages)));
    };
    if parameters.actor_id.is_some() {
        let words = "actorId: leave it out with processId; the actor is that of the model that answers";
        return Err(invalid("actorId", words.to_owned()));
    }
    let preview = engine.preview_answer(&caller, id, process, query).await?;
    let view = WindowView::of(preview.context, with_messages).previewed(preview.inexact.as_ref());
    Ok(Json(match preview.request.filter(|_| with_messages) {
        Some(request) => view.with_request(request),
        None => view,
    }))
}
