//! Executes the operation of a tool of any kind, and reports the request and the response.
//!
//! What is told of either has no secret in it: requests are shown before the credential is put in, answers are scrubbed
//! of it.

use std::sync::Arc;

use futures::StreamExt as _;
use serde_json::{Map, Value, json};
use skein_connect::credential::Credential;
use skein_connect::http::{CallFault, Http, Limits, Retry};
use skein_connect::llm::{
    self, ChatAnswer, ChatEvent, ChatFailure, ChatRequest, Dialect, Finish, ImagePart, LanguageModel, LlmFault,
    Message, Part, Provider, RawResponse, ResponseFormat, SentRequest, ToolCall, ToolDefinition, Usage,
};
use skein_connect::rest::{self, RestRequest};
use skein_core::catalog::operation::Operation;
use skein_core::catalog::operation::prompt::{LlmApi, LlmCall};
use skein_core::catalog::operation::rest::RestCall;
use skein_core::catalog::secret::{SecretType, SecretUse};
use skein_core::catalog::service::{Builtin, Service};
use skein_core::catalog::tool::{SAMPLING_PARAMS, Tool, ToolRetry as Repeats};
use skein_core::fence::{TOOL_OUTPUT, fence};
use skein_core::flow::approval_policy::is_reading_ability;
use skein_core::flow::execution::tool_loop::BY_PERSON;
use skein_core::tree::configuration::Configuration;
use skein_core::tree::content::{Block, Content, Image};
use skein_core::tree::context::image::IMAGES_MAX;
use skein_core::{ItemId, RuleViolation};
use skein_store::tree::append::ReceivedResponse;

use crate::flow::AnsweringActor;
use crate::jobs::catalog::{told, told_breach};
use crate::tool_call::builtin_tools::AnswerContext;
use crate::tree::{SentImage, SentImages};

/// The header by which services tell repeats.
const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
/// Headers that say nothing about an account.
const HEADERS_FOR_ALL: [&str; 4] = ["content-type", "date", "retry-after", "x-request-id"];
/// Stands for the body of a response to somebody else's secret.
const BODY_WITHHELD: &str = r#"{"withheld":"the response body is shown to the owner of the secret only"}"#;
/// How much of a request or an answer is shown, in characters; the output itself is kept whole.
const SHOWN_CHARS_MAX: usize = 16_384;

/// What came of a call.
pub(crate) struct CallResponse {
    /// The output, or what went wrong.
    pub(crate) outcome: Result<Value, Value>,
    /// What went out, without the secret.
    pub(crate) request: Value,
    /// What came back, without the secret.
    pub(crate) response: Value,
    /// Tokens, where there were any.
    pub(crate) usage: Option<Value>,
    /// Whether a secret was taken out of what came back.
    pub(crate) scrubbed: bool,
    /// Whether it tells how well the tool works; what a caller did wrong does not.
    pub(crate) is_telling: bool,
    /// A model's answer as it was received.
    pub(crate) raw: Option<ReceivedResponse>,
    /// What the provider calls its answer.
    pub(crate) response_id: Option<String>,
}

/// What a call is given besides its inputs.
#[derive(Default, Clone)]
pub(crate) struct Extras<'a> {
    /// What the model and its tools said to each other so far.
    pub(crate) dialogue: &'a [Value],
    /// What the model may ask to be called, besides what its tool offers.
    pub(crate) offers: Vec<ToolDefinition>,
    /// The longest answer, in tokens.
    pub(crate) max_tokens: Option<u32>,
    /// By which a service can tell a repeat.
    pub(crate) key: Option<&'a str>,
    /// The images that its messages name.
    pub(crate) images: Arc<SentImages>,
    /// The answer that is worked on.
    pub(crate) answer: AnswerContext,
    /// The actor that answers, where a model is asked for an answer.
    pub(crate) actor: Option<AnsweringActor>,
    /// Hears the text of a model as it comes.
    pub(crate) listener: Option<&'a (dyn Fn(&str) + Send + Sync)>,
}

impl CallResponse {
    /// A call that brought nothing.
    pub(crate) fn fault(code: &str, message: &str, is_retryable: bool) -> Self {
        let mut error = told(code, message);
        error["retryable"] = json!(is_retryable);
        Self::of(Err(error), false)
    }

    /// The same, where nobody knows whether it was carried out.
    pub(crate) fn uncertain(mut self, is_uncertain: bool) -> Self {
        if let (Err(error), true) = (&mut self.outcome, is_uncertain) {
            error["uncertain"] = json!(true);
        }
        self
    }

    /// As a user may see it whose call was made with somebody else's secret: the output, and nothing of the response as it was
    /// received. Its body may hold the secret in a form that cannot be found, its headers the name of an account, and the
    /// words in which a model's provider refuses, a part of the key.
    #[must_use]
    pub(crate) fn without_raw_response(mut self, is_model: bool) -> Self {
        if let Some(response) = self.response.as_object_mut() {
            response.insert("body".to_owned(), Value::Null);
            response.insert("bodyWithheld".to_owned(), Value::Bool(true));
        }
        if let Some(headers) = self.response.get_mut("headers") {
            keep_headers_for_all(headers);
        }
        if let Some(raw) = &mut self.raw {
            keep_headers_for_all(&mut raw.headers);
            raw.body = BODY_WITHHELD.into();
        }
        if let (Err(error), true) = (&mut self.outcome, is_model && !self.response.is_null()) {
            let code = error["code"].as_str().unwrap_or("call_failed");
            error["message"] = Value::from(format!("the provider did not answer ({code}); ask the owner of the tool"));
        }
        self
    }

    /// What one of Skein's own abilities gave.
    pub(crate) fn own(given: Result<Value, Value>) -> Self {
        Self::of(given, false)
    }

    /// A call that was not made, because a rule would be broken.
    fn broken(violation: &RuleViolation) -> Self {
        Self::of(Err(told_breach(violation)), false)
    }

    fn of(outcome: Result<Value, Value>, is_telling: bool) -> Self {
        let (request, response, usage) = (Value::Null, Value::Null, None);
        Self { outcome, request, response, usage, scrubbed: false, is_telling, raw: None, response_id: None }
    }

    fn call_fault(fault: &CallFault) -> Self {
        let is_telling = !matches!(fault, CallFault::Status { status: 400..=499, .. } if !is_about_access(fault));
        let told = Self::fault(fault.code(), &fault.to_string(), fault.is_retryable());
        Self { is_telling, ..told.uncertain(fault.is_uncertain()) }
    }
}

/// A key that is refused is the tool's affair, whatever was asked.
fn is_about_access(fault: &CallFault) -> bool {
    matches!(fault, CallFault::Status { status: 401 | 403, .. })
}

/// Whether a call whose end nobody saw may be made again, without changing or costing anything.
pub(crate) fn is_repeatable(tool: &Tool, service: &Service) -> bool {
    match &tool.operation {
        Operation::RestCall(call) => call.method.is_safe(),
        Operation::LlmCall(_) => service.builtin.is_some(),
        Operation::McpTool(call) => service.builtin == Some(Builtin::Abilities) && is_reading_ability(&call.tool),
        Operation::GraphQuery(_) => false,
    }
}

/// Where an API key goes: where the tool says, else where its kind of service expects it.
pub(crate) fn secret_use(tool: &Tool, secret_type: SecretType) -> Option<SecretUse> {
    if secret_type != SecretType::ApiKey {
        return None;
    }
    let by_kind = tool.llm_api().map(|_| dialect(tool).key_use());
    tool.secret_use.clone().or(by_kind)
}

/// Carries the operation of `tool` out.
pub(crate) async fn call(
    http: &Http,
    tool: &Tool,
    service: &Service,
    inputs: &Map<String, Value>,
    credential: Option<&Arc<Credential>>,
    extras: Extras<'_>,
) -> CallResponse {
    match &tool.operation {
        Operation::RestCall(call) => rest_call(http, tool, call, inputs, credential, extras.key).await,
        Operation::LlmCall(call) => match chat_request(tool, call, inputs, &extras) {
            Ok(request) => llm_call(&model(http, tool, service, credential), request, extras.listener).await,
            Err(violation) => CallResponse::broken(&violation),
        },
        Operation::GraphQuery(_) | Operation::McpTool(_) => {
            let message = "connections to graph databases and MCP servers are not there yet";
            CallResponse::fault("not_supported", message, false)
        }
    }
}

/// Asks the model behind a tool something other than what its prompt says; only tools that ask models have one.
pub(crate) async fn ask(
    http: &Http,
    tool: &Tool,
    service: &Service,
    credential: Option<&Arc<Credential>>,
    (prompt, max_tokens): (String, u32),
) -> CallResponse {
    if tool.llm_api().is_none() {
        return CallResponse::fault("not_supported", "the tool asks no language model", false);
    }
    let params = &tool.connection_params;
    let name = params.get("model").and_then(Value::as_str).unwrap_or_default();
    let request = ChatRequest {
        temperature: params.get("temperature").and_then(Value::as_f64),
        max_tokens: Some(max_tokens),
        custom: sampling(tool),
        ..ChatRequest::new(name, vec![Message::user(prompt)])
    };
    llm_call(&model(http, tool, service, credential), request, None).await
}

async fn rest_call(
    http: &Http,
    tool: &Tool,
    call: &RestCall,
    inputs: &Map<String, Value>,
    credential: Option<&Arc<Credential>>,
    key: Option<&str>,
) -> CallResponse {
    let mut rendered = match call.render(inputs) {
        Ok(rendered) => rendered,
        Err(violation) => return CallResponse::broken(&violation),
    };
    rendered.headers.extend(key.map(|key| (IDEMPOTENCY_KEY.to_owned(), key.to_owned())));
    let request = RestRequest {
        endpoint: endpoint(tool),
        rendered: &rendered,
        accept: call.accept,
        credential: credential.cloned(),
        limits: Limits::default(),
        retry: if tool.retry == Some(Repeats::Never) { Retry::NEVER } else { Retry::default() },
    };
    let report = match rest::call(http, &request).await {
        Ok(report) => report,
        Err(fault) => return CallResponse::call_fault(&fault),
    };
    let outcome = match report.output {
        Ok(answer) => CallResponse::of(Ok(call.output(answer)), true),
        Err(fault) => CallResponse::call_fault(&fault),
    };
    let request = json!({ "method": report.request.method, "url": report.request.url,
        "headers": shown_headers(&report.request.headers), "body": report.request.body });
    let response = report.response.map_or(Value::Null, |response| {
        json!({ "status": response.status, "headers": shown_headers(&response.headers), "body": response.body,
            "truncated": response.truncated, "scrubbed": report.was_scrubbed })
    });
    let CallResponse { outcome, is_telling, .. } = outcome;
    CallResponse { request, response, scrubbed: report.was_scrubbed, ..CallResponse::of(outcome, is_telling) }
}

/// How the provider wants to be spoken to.
fn dialect(tool: &Tool) -> Dialect {
    match tool.llm_api() {
        Some(LlmApi::Completions) => Dialect::Completions,
        Some(LlmApi::Messages) => Dialect::Messages,
        Some(LlmApi::Chat) | None => Dialect::Chat,
    }
}

/// Whether a call may send images; the built-in model reads text alone.
pub(crate) fn accepts_images(tool: &Tool, service: &Service) -> bool {
    service.builtin.is_none() && tool.accepts_images()
}

/// The images that a call is to send, by the items that attached them: the latest, as many as a request may have.
pub(crate) fn images_named(tool: &Tool, inputs: &Map<String, Value>) -> Vec<ItemId> {
    let Operation::LlmCall(LlmCall { messages_from: Some(name), .. }) = &tool.operation else { return Vec::new() };
    let messages = inputs.get(name).and_then(Value::as_array).into_iter().flatten();
    let of_user = messages.filter(|message| message["role"] == "user");
    let blocks = of_user.filter_map(|message| message["content"].as_array()).flatten();
    let image = |document: &Value| match Content::parse(document) {
        Ok(Content::One(Block::Image(image))) => Some(image.blob),
        _ => None,
    };
    let mut named: Vec<ItemId> = blocks.filter_map(image).collect();
    named.drain(..named.len().saturating_sub(IMAGES_MAX));
    named
}

fn chat_request(
    tool: &Tool,
    call: &LlmCall,
    inputs: &Map<String, Value>,
    extras: &Extras<'_>,
) -> Result<ChatRequest, RuleViolation> {
    let rendered = call.render(inputs)?;
    let is_said = |text: &String| !text.trim().is_empty();
    let mut messages: Vec<Message> = rendered.system.filter(is_said).map(Message::system).into_iter().collect();
    let given: &[Value] = call
        .messages_from
        .as_ref()
        .and_then(|name| inputs.get(name))
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice);
    let continues = given.last().is_some_and(|last| last["continue"] == true);
    messages.extend(extras.actor.as_ref().and_then(|actor| actor.prompt_beside(given)).map(Message::system));
    let message = |spelled: &Value| message(spelled, &extras.images);
    messages.extend(given.iter().filter_map(message));
    let asked = Some(rendered.prompt).filter(is_said);
    let continues = continues && asked.is_none();
    messages.extend(asked.map(Message::user));
    messages.extend(extras.dialogue.iter().filter_map(message));
    let params = &tool.connection_params;
    let model = params.get("model").and_then(Value::as_str).unwrap_or_default();
    let offered = |offer: &skein_core::catalog::operation::prompt::ToolOffer| ToolDefinition {
        name: offer.name.clone(),
        description: offer.description.clone().unwrap_or_default(),
        parameters: offer.parameters.clone(),
    };
    let actor = extras.actor.as_ref().map(|actor| (*actor.configuration).clone()).unwrap_or_default();
    let of_tool = params.get("maxTokens").and_then(Value::as_u64).and_then(|tokens| u32::try_from(tokens).ok());
    Ok(ChatRequest {
        temperature: params.get("temperature").and_then(Value::as_f64).or(actor.temperature),
        max_tokens: [of_tool, extras.max_tokens, actor.max_tokens].into_iter().flatten().min(),
        stop: stops(&call.stop, actor.stop_sequences),
        custom: custom(actor.custom_parameters, tool),
        response_format: response_format(call.response_format.as_ref()),
        tools: call.tools.iter().map(offered).chain(extras.offers.iter().cloned()).collect(),
        continues,
        ..ChatRequest::new(model, messages)
    })
}

/// The request of a call as its provider is sent it; or the error that the call ends with, and nothing is sent.
pub(crate) fn sent_request(
    tool: &Tool,
    service: &Service,
    call: &LlmCall,
    inputs: &Map<String, Value>,
    extras: &Extras<'_>,
    is_streamed: bool,
) -> Result<SentRequest, Value> {
    let request = chat_request(tool, call, inputs, extras).map_err(|violation| told_breach(&violation))?;
    let request = if is_streamed { request.streamed() } else { request };
    let dialect = if is_offline(service) { None } else { Some(dialect(tool)) };
    SentRequest::of(dialect, &request).map_err(|fault| told(fault.code(), &fault_message(&fault)))
}

/// Where an answer ends: at the tool's sequences, and at those of its actor.
fn stops(of_tool: &[String], of_actor: Vec<String>) -> Vec<String> {
    let mut stops = of_tool.to_vec();
    stops.extend(of_actor.into_iter().filter(|stop| !of_tool.contains(stop)));
    stops
}

/// The actor's, and the tool's before them. Parameters stored before their names were refused are left out.
fn custom(mut parameters: Map<String, Value>, tool: &Tool) -> Map<String, Value> {
    parameters.retain(|name, _| Configuration::is_custom(name));
    parameters.extend(sampling(tool));
    parameters
}

/// How a tool has its model choose words, besides the temperature. Anthropic's API takes no seed; a tool that was stored with
/// one has none.
fn sampling(tool: &Tool) -> Map<String, Value> {
    let is_taken = |name: &str| name != "seed" || dialect(tool) != Dialect::Messages;
    let names = SAMPLING_PARAMS.into_iter().filter(|name| is_taken(name));
    let given = names.filter_map(|name| Some((name.to_owned(), tool.connection_params.get(name)?.clone())));
    given.filter(|(_, value)| value.is_number()).collect()
}

/// A message as a process spells it: who speaks, and what, as a text or as a list of content blocks. Tool output is fenced
/// as data.
fn message(spelled: &Value, images: &SentImages) -> Option<Message> {
    let text = || spelled["content"].as_str().unwrap_or_default().to_owned();
    let parts = || match &spelled["content"] {
        Value::Array(blocks) => blocks.iter().filter_map(|block| part(block, images)).collect(),
        _ => vec![Part::Text(text())],
    };
    Some(match spelled["role"].as_str()? {
        "system" => Message::System(parts()),
        "user" => Message::User(parts()),
        "assistant" => Message::Assistant {
            parts: parts().into_iter().filter(|part| !matches!(part, Part::Text(text) if text.is_empty())).collect(),
            tool_calls: spelled["toolCalls"].as_array().into_iter().flatten().filter_map(wish).collect(),
        },
        "tool" => Message::Tool {
            call_id: spelled["toolCallId"].as_str()?.to_owned(),
            content: if spelled[BY_PERSON] == true { text() } else { fence(TOOL_OUTPUT, &text()) },
            is_error: spelled["content"].as_str().is_some_and(|content| content.starts_with("{\"error\":")),
        },
        _ => return None,
    })
}

/// A content block: an image that is not sent as one is described.
fn part(block: &Value, images: &SentImages) -> Option<Part> {
    let Ok(Content::One(block)) = Content::parse(block) else { return None };
    match &block {
        Block::Image(image) => match images.get(&image.blob) {
            Some(sent) => Some(Part::Image(image_part(image, sent))),
            None => Some(Part::Text(block.described().into_owned())),
        },
        _ => Some(Part::Text(block.described().into_owned())),
    }
}

fn image_part(image: &Image, sent: &SentImage) -> ImagePart {
    ImagePart {
        media_type: sent.media_type.as_str().to_owned(),
        data: sent.data.clone(),
        tokens: sent.tokens() as u64,
        description: image.described(),
    }
}

fn wish(spelled: &Value) -> Option<ToolCall> {
    Some(ToolCall {
        id: spelled["id"].as_str()?.to_owned(),
        name: spelled["name"].as_str()?.to_owned(),
        arguments: spelled["arguments"].as_str().map_or_else(|| spelled["arguments"].to_string(), str::to_owned),
    })
}

fn response_format(asked: Option<&Value>) -> ResponseFormat {
    let kind = asked.and_then(|asked| asked.get("type")).and_then(Value::as_str);
    match (asked, kind) {
        (Some(asked), Some("json_schema")) => ResponseFormat::Schema {
            name: asked["json_schema"]["name"].as_str().unwrap_or("answer").to_owned(),
            schema: asked["json_schema"]["schema"].clone(),
        },
        (Some(_), Some("json_object")) => ResponseFormat::Json,
        _ => ResponseFormat::Text,
    }
}

fn model(http: &Http, tool: &Tool, service: &Service, credential: Option<&Arc<Credential>>) -> LanguageModel {
    if is_offline(service) {
        return LanguageModel::Offline;
    }
    LanguageModel::Provider(Provider {
        http: http.clone(),
        dialect: dialect(tool),
        base_url: endpoint(tool).to_owned(),
        credential: credential.cloned(),
        headers: http::HeaderMap::new(),
        limits: llm::LIMITS,
    })
}

fn is_offline(service: &Service) -> bool {
    service.builtin == Some(Builtin::OfflineModel)
}

async fn llm_call(
    model: &LanguageModel,
    request: ChatRequest,
    listener: Option<&(dyn Fn(&str) + Send + Sync)>,
) -> CallResponse {
    let request = if listener.is_some() { request.streamed() } else { request };
    match heard(model, &request, listener).await {
        Ok(answer) => answered(&request, &answer),
        Err(failure) => failed_to_answer(&request, &failure),
    }
}

/// The whole answer; whoever listens hears its text as it comes.
async fn heard(
    model: &LanguageModel,
    request: &ChatRequest,
    listener: Option<&(dyn Fn(&str) + Send + Sync)>,
) -> Result<ChatAnswer, ChatFailure> {
    let Some(listener) = listener else { return model.answer(request).await };
    let mut events = model.chat(request).await?;
    loop {
        match events.next().await {
            Some(Ok(ChatEvent::Text(text))) => listener(&text),
            Some(Ok(ChatEvent::End(answer))) => return Ok(*answer),
            Some(Ok(_)) => {}
            Some(Err(failure)) => return Err(failure),
            None => unreachable!("a stream of events ends in an answer or a failure"),
        }
    }
}

/// What failed, and what to do; a fault of the connection says both itself.
fn fault_message(fault: &LlmFault) -> String {
    match fault {
        LlmFault::Call(call) => call.to_string(),
        other => format!("{other}. {}", other.advice()),
    }
}

fn failed_to_answer(request: &ChatRequest, failure: &ChatFailure) -> CallResponse {
    let fault = &failure.fault;
    let message = fault_message(fault);
    let response = failure.so_far.as_ref().map_or(Value::Null, |so_far| shown_raw(&so_far.raw));
    let request = json!({ "model": request.model, "messages": shown_messages(request) });
    let is_telling =
        !matches!(fault, LlmFault::ContextLength(_) | LlmFault::ContentFilter(_) | LlmFault::Unsupported(_));
    let scrubbed = failure.so_far.as_ref().is_some_and(|so_far| so_far.raw.scrubbed);
    let is_uncertain = matches!(fault, LlmFault::Call(call) if call.is_uncertain());
    let fault = CallResponse::fault(fault.code(), &message, fault.is_retryable()).uncertain(is_uncertain);
    CallResponse { request, response, scrubbed, is_telling, ..fault }
}

/// What a model answered, as the output of a tool.
fn answered(request: &ChatRequest, answer: &ChatAnswer) -> CallResponse {
    let calls: Vec<Value> = answer
        .tool_calls
        .iter()
        .map(|call| json!({ "id": call.id, "name": call.name, "arguments": call.arguments }))
        .collect();
    let mut output = json!({ "text": answer.text, "finish": finish(&answer.finish), "model": answer.model });
    if !calls.is_empty() {
        output["toolCalls"] = json!(calls);
    }
    CallResponse {
        outcome: Ok(output),
        request: json!({ "model": request.model, "messages": shown_messages(request) }),
        response: shown_raw(&answer.raw),
        usage: Some(shown_usage(answer.usage)),
        scrubbed: answer.raw.scrubbed,
        is_telling: true,
        raw: Some(ReceivedResponse { headers: kept_headers(&answer.raw), body: answer.raw.body.to_vec() }),
        response_id: answer.id.clone(),
    }
}

fn finish(finish: &Finish) -> &str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::ToolCalls => "tool_calls",
        Finish::ContentFilter => "content_filter",
        Finish::Other(reason) => reason,
        Finish::Unfinished => "unfinished",
    }
}

fn shown_messages(request: &ChatRequest) -> Vec<Value> {
    let role = |message: &Message| match message {
        Message::System(_) => "system",
        Message::User(_) => "user",
        Message::Assistant { .. } => "assistant",
        Message::Tool { .. } => "tool",
    };
    request.messages.iter().map(|message| json!({ "role": role(message), "content": cut(&message.text()) })).collect()
}

fn shown_raw(raw: &RawResponse) -> Value {
    let body = String::from_utf8_lossy(&raw.body);
    json!({ "status": raw.status, "headers": shown_headers(&raw.shown_headers()), "body": cut(&body), "scrubbed": raw.scrubbed })
}

fn keep_headers_for_all(headers: &mut Value) {
    if let Some(headers) = headers.as_object_mut() {
        headers.retain(|name, _| HEADERS_FOR_ALL.contains(&name.as_str()));
    }
}

fn kept_headers(raw: &RawResponse) -> Value {
    serde_json::from_str(&raw.headers_json()).unwrap_or_default()
}

fn shown_headers(headers: &[(String, String)]) -> Value {
    headers.iter().map(|(name, value)| (name.clone(), Value::from(cut(value)))).collect::<Map<_, _>>().into()
}

fn endpoint(tool: &Tool) -> &str {
    tool.connection_params.get("endpoint").and_then(Value::as_str).unwrap_or_default()
}

fn shown_usage(usage: Usage) -> Value {
    json!({ "inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens,
        "cachedInputTokens": usage.cached_input_tokens, "reasoningTokens": usage.reasoning_tokens,
        "reasoningIsEstimate": usage.reasoning_is_estimate, "isEstimate": usage.is_estimate })
}

/// As much of a text as an operation keeps.
fn cut(text: &str) -> String {
    text.chars().filter(|character| *character != '\0').take(SHOWN_CHARS_MAX).collect()
}
