//! The inspector shows exactly what a model is sent: whole requests, compared with those that a recording model got.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};
use skein_core::Digest;
use skein_engine::Worker;
use skein_testkit::hostile_server::{Behaviour, HostileServer, Request};

use crate::conversation_fixture::{CONVERSATIONS, ConversationFixture, id};
use crate::feed::Feed;
use crate::memory::remember;
use crate::server_fixture::{ServerFixture, both};

/// One pixel each, as two programs wrote them.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Api {
    OpenAi,
    Completions,
    Anthropic,
}

impl Api {
    fn dialect(self) -> &'static str {
        if self == Self::Anthropic { "anthropic" } else { "openai" }
    }
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ContextPiece {
    Text(String),
    Image { media_type: String, bytes: usize, hash: String },
}

type Messages = Vec<(String, Vec<ContextPiece>)>;

/// What the system says, in one text.
fn instructions(messages: &Messages) -> String {
    let system = messages.iter().filter(|(role, _)| role == "system").flat_map(|(_, pieces)| pieces);
    let texts = system.filter_map(|piece| if let ContextPiece::Text(text) = piece { Some(&**text) } else { None });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn text(text: &Value) -> ContextPiece {
    ContextPiece::Text(text.as_str().unwrap_or_else(|| panic!("{text} is no text")).to_owned())
}

fn image(media_type: &str, data: &str) -> ContextPiece {
    let bytes = BASE64.decode(data).unwrap();
    ContextPiece::Image { media_type: media_type.to_owned(), bytes: bytes.len(), hash: Digest::of(&bytes).to_string() }
}

/// What the inspector says would be sent.
fn shown(view: &Value) -> Messages {
    let piece = |part: &Value| match part["type"].as_str() {
        Some("text") => text(&part["text"]),
        _ => ContextPiece::Image {
            media_type: part["mediaType"].as_str().unwrap().to_owned(),
            bytes: usize::try_from(part["bytes"].as_u64().unwrap()).unwrap(),
            hash: part["hash"].as_str().unwrap().to_owned(),
        },
    };
    let message = |message: &Value| {
        let pieces = match message["parts"].as_array() {
            Some(parts) => parts.iter().map(piece).collect(),
            None => vec![text(&message["text"])],
        };
        (message["role"].as_str().unwrap().to_owned(), pieces)
    };
    let mut messages: Messages = view["messages"].as_array().unwrap().iter().map(message).collect();
    messages.extend(view["text"].as_str().map(|text| ("user".to_owned(), vec![ContextPiece::Text(text.to_owned())])));
    messages
}

/// What the model was sent.
fn sent(api: Api, request: &Request) -> Messages {
    let body = body_of(request);
    if api == Api::Completions {
        return vec![("user".to_owned(), vec![text(&body["prompt"])])];
    }
    let piece = |part: &Value| match (api, part["type"].as_str().unwrap()) {
        (_, "text") => text(&part["text"]),
        (Api::OpenAi, "image_url") => {
            let url = part["image_url"]["url"].as_str().unwrap().strip_prefix("data:").unwrap();
            let (media_type, data) = url.split_once(";base64,").unwrap();
            image(media_type, data)
        }
        (Api::Anthropic, "image") => {
            assert_eq!(part["source"]["type"], "base64");
            image(part["source"]["media_type"].as_str().unwrap(), part["source"]["data"].as_str().unwrap())
        }
        (_, other) => panic!("{other} in {body}"),
    };
    let message = |message: &Value| {
        let pieces = match &message["content"] {
            Value::Array(parts) => parts.iter().map(piece).collect(),
            content => vec![text(content)],
        };
        (message["role"].as_str().unwrap().to_owned(), pieces)
    };
    let system =
        body["system"].as_str().map(|system| ("system".to_owned(), vec![ContextPiece::Text(system.to_owned())]));
    system.into_iter().chain(body["messages"].as_array().unwrap().iter().map(message)).collect()
}

fn body_of(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

/// A body that was sent, the data of images replaced by their hashes.
fn without_images(body: &Value) -> Value {
    let hashed = |data: &str| format!("sha256:{}", Digest::of(&BASE64.decode(data).unwrap()));
    match body {
        Value::Array(all) => all.iter().map(without_images).collect(),
        Value::Object(all) => {
            let field = |(name, value): (&String, &Value)| {
                let value = match value.as_str() {
                    Some(url) if name == "url" => {
                        let (head, data) = url.split_once(";base64,").unwrap();
                        json!(format!("{head};base64,{}", hashed(data)))
                    }
                    Some(data) if name == "data" => json!(hashed(data)),
                    _ => without_images(value),
                };
                (name.clone(), value)
            };
            Value::Object(all.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

/// Answers every question, and keeps what it was asked.
fn model(api: Api) -> HostileServer {
    HostileServer::start(move |_| {
        let answer = match api {
            Api::OpenAi => {
                let message = json!({ "role": "assistant", "content": "Eleven." });
                json!({ "id": "r1", "model": "m", "choices": [{ "index": 0, "finish_reason": "stop", "message": message }] })
            }
            Api::Completions => {
                json!({ "id": "r1", "model": "m", "choices": [{ "index": 0, "finish_reason": "stop", "text": "Eleven." }] })
            }
            Api::Anthropic => json!({ "id": "r1", "type": "message", "role": "assistant", "model": "m",
                "content": [{ "type": "text", "text": "Eleven." }], "stop_reason": "end_turn",
                "usage": { "input_tokens": 1, "output_tokens": 1 } }),
        };
        Behaviour::json(&answer.to_string())
    })
}

/// A service for models that speak like this.
async fn service(world: &ServerFixture, api: Api, name: &str) -> Value {
    let properties = json!({ "endpoint": { "type": "string" }, "model": { "type": "string" }, "dialect": { "const": api.dialect() } });
    let schema = json!({ "type": "object", "required": ["endpoint"], "properties": properties });
    let service = json!({ "name": name, "type": "llm_provider", "protocol": "http", "requiresSecret": false, "connectionSchema": schema });
    world.made("/api/v1/services", &service).await
}

/// A world with a recording model behind processes.
pub(crate) struct Stage<'a> {
    world: &'a ServerFixture,
    api: Api,
    rogue: HostileServer,
    service: Value,
    tools: Value,
    _worker: Worker,
}

impl<'a> Stage<'a> {
    pub(crate) async fn new(world: &'a ServerFixture, api: Api) -> Self {
        world.engine.prepare().await.unwrap();
        let rogue = model(api);
        let address = rogue.address();
        let allowed = json!({ "host": address.ip().to_string(), "port": address.port() });
        world.made("/api/v1/allowed-endpoints", &allowed).await;
        let service = service(world, api, &format!("Models {api:?}")).await;
        let tools = world.get("/api/v1/tools?limit=100").await.json();
        let worker = Worker::start(world.engine.clone(), "test".to_owned());
        Self { world, api, rogue, service, tools, _worker: worker }
    }

    /// The tools that are made from now on are of another service.
    pub(crate) async fn serve_as(&mut self, name: &str) {
        self.service = service(self.world, self.api, name).await;
    }

    /// The service of the tools that are made.
    pub(crate) fn service(&self) -> &str {
        id(&self.service)
    }

    fn tool(&self, name: &str) -> &str {
        id(self.tools["data"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap())
    }

    /// A process that answers with a model of this name: with memory or without, and with tools.
    pub(crate) async fn process(&self, name: &str, model: &str, has_memory: bool, offers: Value) -> String {
        let tool = self.model_tool(name, model, &json!({})).await;
        self.process_with(name, &tool, has_memory, offers).await
    }

    /// A tool that asks a model of this name, with further fields of its operation.
    async fn model_tool(&self, name: &str, model: &str, fields: &Value) -> Value {
        let messages = json!({ "messages": { "type": "array" } });
        let mut tool = json!({ "name": format!("{name} {:?}", self.api), "serviceId": self.service["id"],
            "connectionParams": { "endpoint": self.rogue.endpoint(), "model": model, "dialect": self.api.dialect() },
            "operation": { "type": "llm_call", "systemPrompt": "You count birds.", "promptTemplate": "", "messagesFrom": "messages" },
            "inputSchema": { "type": "object", "properties": messages }, "outputSchema": { "type": "object" } });
        if self.api == Api::Completions {
            tool["operation"]["api"] = json!("completions");
        }
        tool["operation"].as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.world.made("/api/v1/tools", &tool).await
    }

    /// A process that answers with a tool: with memory or without, and with tools.
    async fn process_with(&self, name: &str, tool: &Value, has_memory: bool, offers: Value) -> String {
        let step = |id: &str, tool: &str, inputs: Value| json!({ "id": id, "toolId": tool, "inputs": inputs, "output": { "variable": id } });
        let search = step(
            "found",
            self.tool("Search memory"),
            json!({ "text": "{message}", "nodeId": "{nodeId}", "elsewhere": true }),
        );
        let context = json!({ "nodeId": "{nodeId}" });
        let remembering = json!({ "nodeId": "{nodeId}", "memory": "{step.found.found}" });
        let context = step("window", self.tool("Conversation context"), if has_memory { remembering } else { context });
        let mut answer = step("answer", id(tool), json!({ "messages": "{step.window.messages}" }));
        if offers != Value::Null {
            answer["tools"] = offers;
        }
        let steps: Vec<Value> = has_memory.then_some(search).into_iter().chain([context, answer]).collect();
        let process = json!({ "name": format!("{name} {:?}", self.api), "initialContext": ["nodeId", "message"],
            "steps": steps, "outputTemplate": "{{answer.text}}" });
        id(&self.world.made("/api/v1/processes", &process).await).to_owned()
    }

    pub(crate) async fn preview(&self, node: &str, process: &str, query: &str) -> Value {
        let path = format!("/api/v1/nodes/{node}/context?format=messages&processId={process}{query}");
        let view = self.world.get(&path).await;
        assert_eq!(view.status, 200, "{}", view.text);
        view.json()
    }

    /// Has a process answer, and waits for it; the answer, and what was sent for it.
    pub(crate) async fn answered(&self, talk: &ConversationFixture<'_>, end: &str, body: &Value) -> (Value, Request) {
        let answer = talk.ask("POST", end, body).await;
        assert_eq!(answer.status, 202, "{}", answer.text);
        let answer = answer.json()["answers"][0].clone();
        let run = answer["executionId"].as_str().unwrap();
        let path = format!("/api/v1/executions/{run}/stream");
        Feed::open(self.world, &path, None).await.until(|heard| heard.name == "end").await;
        let run = self.world.get(&format!("/api/v1/executions/{run}")).await;
        assert_eq!(run.json()["status"], "completed", "{}", run.text);
        (answer, self.rogue.requests().pop().unwrap())
    }

    /// Looks at the preview, has the process answer, and compares.
    async fn check(
        &self,
        talk: &ConversationFixture<'_>,
        asked: &Value,
        process: &str,
        sources: &Value,
    ) -> (Value, Value) {
        let node = id(&asked["node"]);
        let named = sources.as_array().into_iter().flatten();
        let named: Vec<String> =
            named.map(|one| format!("{}:{}", one["role"].as_str().unwrap(), one["nodeId"].as_str().unwrap())).collect();
        let query = if named.is_empty() { String::new() } else { format!("&sources={}", named.join(",")) };
        let view = self.preview(node, process, &query).await;
        assert_eq!(view["exact"], true, "{view}");
        let body =
            json!({ "parentAlternativeId": node, "speaker": "agent", "processIds": [process], "sources": sources });
        let (answer, request) = self.answered(talk, "/turns", &body).await;
        assert_eq!(sent(self.api, &request), shown(&view), "{:?}: {view}", self.api);
        let body = body_of(&request);
        assert_eq!(without_images(&body), view["request"]["body"], "{:?}: {view}", self.api);
        assert!(request.path.ends_with(view["request"]["path"].as_str().unwrap()), "{}", request.path);
        let name = |tool: &Value| {
            if self.api == Api::OpenAi { tool["function"]["name"].clone() } else { tool["name"].clone() }
        };
        let offered: Vec<Value> = body["tools"].as_array().into_iter().flatten().map(name).collect();
        let told: Vec<Value> = view["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!(offered, told);
        assert_eq!(asked_with(self.api, &body), view["parameters"], "{body}");
        (view, answer)
    }
}

/// How a model was asked, in the words of the inspector.
fn asked_with(api: Api, body: &Value) -> Value {
    let own = [
        "max_tokens",
        "messages",
        "model",
        "output_config",
        "prompt",
        "response_format",
        "stop",
        "stop_sequences",
        "stream",
        "stream_options",
        "system",
        "temperature",
        "tool_choice",
        "tools",
    ];
    let custom: Map<String, Value> =
        body.as_object().unwrap().iter().filter(|(name, _)| !own.contains(&name.as_str())).map(pair).collect();
    let (stops, format) =
        if api == Api::Anthropic { ("stop_sequences", "output_config") } else { ("stop", "response_format") };
    json!({ "model": body["model"], "temperature": body["temperature"], "maxTokens": body["max_tokens"],
        "stopSequences": body[stops].as_array().cloned().unwrap_or_default(), "responseFormat": body[format],
        "customParameters": custom })
}

fn pair((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

async fn begun(world: &ServerFixture, body: Value) -> ConversationFixture<'_> {
    ConversationFixture::of(world, &world.made(CONVERSATIONS, &body).await)
}

/// Shows an image, as an attachment of its own.
async fn show(
    talk: &ConversationFixture<'_>,
    parent: Option<&Value>,
    (media_type, data): (&str, &str),
    blocks: &[Value],
) -> Value {
    let attached = talk.world.upload("/api/v1/blobs", media_type, BASE64.decode(data).unwrap()).await.json();
    let image = json!({ "type": "image", "ref": attached["itemId"], "mimeType": media_type, "width": 1, "height": 1 });
    let blocks = [blocks, &[image]].concat();
    let content = json!({ "type": "mixed", "blocks": blocks });
    let body = json!({ "parentAlternativeId": parent.map(|said| said["node"]["id"].clone()), "content": content });
    talk.made("/turns", &body).await
}

fn has_image(messages: &Messages) -> usize {
    messages.iter().flat_map(|(_, pieces)| pieces).filter(|piece| matches!(piece, ContextPiece::Image { .. })).count()
}

both! {
    async fn the_inspector_shows_what_is_sent_in_dialogues_forks_and_buffers(world: &ServerFixture) {
        for api in [Api::OpenAi, Api::Completions, Api::Anthropic] {
            let stage = Stage::new(world, api).await;
            let process = stage.process("Plain", "m", false, Value::Null).await;
            let talk = begun(world, json!({ "title": "Herons", "systemContext": "Be brief." })).await;
            let first = talk.say(None, "There were eleven herons.").await;
            let second = talk.say(Some(&first), "How many herons were there?").await;
            let (_, answer) = stage.check(&talk, &second, &process, &json!([])).await;
            // The sources of an answer are sent with it, and again when it is made again.
            let third = talk.say(Some(&answer), "And by night?").await;
            let aside = talk.say(Some(&second), "At night I counted two.").await;
            let rule = talk.say(Some(&second), "Answer in verse.").await;
            let sources = json!([{ "nodeId": aside["node"]["id"], "role": "context" }, { "nodeId": rule["node"]["id"], "role": "instruction" }]);
            let (view, answer) = stage.check(&talk, &third, &process, &sources).await;
            let all = shown(&view);
            if api == Api::Completions {
                assert!(format!("{all:?}").contains("Be brief.\\n\\nAnswer in verse."), "{all:?}");
            } else {
                assert_eq!(instructions(&all), "You count birds.\n\nBe brief.\n\nAnswer in verse.");
            }
            assert!(format!("{all:?}").contains("At night I counted two."), "{all:?}");
            let end = format!("/turns/{}/alternatives/{}/regenerate", id(&answer["turn"]), id(&answer["node"]));
            let (_, request) = stage.answered(&talk, &end, &json!({})).await;
            assert_eq!(sent(api, &request), all, "an answer that is made again has the sources of the first");
            // A fork sees what is above it.
            let fork = ConversationFixture::of(world, &talk.made("/fork", &json!({ "nodeId": first["node"]["id"] })).await);
            let said = fork.say(None, "And cranes?").await;
            let (view, _) = stage.check(&fork, &said, &process, &json!([])).await;
            assert!(format!("{:?}", shown(&view)).contains("eleven herons"), "{view}");
            // A buffer is continued behind its system context, unless that is switched off.
            for (switch, has_system) in [(Value::Null, true), (json!(true), true), (json!(false), false)] {
                let mut body = json!({ "mode": "buffer", "systemContext": "In the style of a log book." });
                if !switch.is_null() {
                    body["bufferModeSystemContext"] = switch;
                }
                let buffer = begun(world, body).await;
                let text = buffer.say(None, "At dusk ").await;
                let text = buffer.say(Some(&text), "the herons ").await;
                let (view, _) = stage.check(&buffer, &text, &process, &json!([])).await;
                assert!(view["text"].as_str().unwrap().ends_with("At dusk the herons "), "{view}");
                assert_eq!(view["request"]["body"].to_string().contains("log book"), has_system, "{view}");
            }
        }
    }

    async fn the_inspector_shows_what_is_sent_where_a_window_begins_with_an_answer(world: &ServerFixture) {
        for api in [Api::OpenAi, Api::Completions, Api::Anthropic] {
            let stage = Stage::new(world, api).await;
            let process = stage.process("Plain", "m", false, Value::Null).await;
            let talk = ConversationFixture::new(world).await;
            let first = talk.say(None, "How many herons?").await;
            let (_, answer) = stage.check(&talk, &first, &process, &json!([])).await;
            let end = format!("/turns/{}/alternatives", id(&answer["turn"]));
            let edit = json!({ "editedFrom": answer["node"]["id"], "text": "Eleven.  \n\n", "makeActive": true });
            let edited = talk.made(&end, &edit).await;
            let second = talk.say(Some(&edited), "Sure?").await;
            let marks = format!("/api/v1/nodes/{}/marks", id(&first["node"]));
            world.changed("PUT", &marks, &json!({ "excluded": true })).await;
            let (view, _) = stage.check(&talk, &second, &process, &json!([])).await;
            let adds_a_turn = format!("{:?}", shown(&view)).contains("begins with your message");
            assert_eq!(adds_a_turn, api == Api::Anthropic, "{view}");
        }
    }

    async fn the_inspector_shows_the_form_that_an_answer_is_asked_for_in(world: &ServerFixture) {
        for api in [Api::OpenAi, Api::Anthropic] {
            let stage = Stage::new(world, api).await;
            let schema = json!({ "type": "object", "properties": { "herons": { "type": "integer" } } });
            let format = json!({ "type": "json_schema", "json_schema": { "name": "count", "schema": schema } });
            let tool = stage.model_tool("Formed", "m", &json!({ "responseFormat": format })).await;
            let process = stage.process_with("Formed", &tool, false, Value::Null).await;
            let talk = ConversationFixture::new(world).await;
            let asked = talk.say(None, "How many herons?").await;
            let (view, _) = stage.check(&talk, &asked, &process, &json!([])).await;
            assert!(view["parameters"]["responseFormat"].to_string().contains("herons"), "{view}");
        }
    }

    async fn a_preview_with_a_budget_or_a_strategy_that_runs_do_not_have_is_not_exact(world: &ServerFixture) {
        let stage = Stage::new(world, Api::OpenAi).await;
        let process = stage.process("Plain", "m", false, Value::Null).await;
        let said = ConversationFixture::new(world).await.say(None, "Hello").await;
        for (query, because) in [
            ("", Value::Null),
            ("&strategy=truncateMiddle", Value::Null),
            ("&strategy=rollingWindow", json!("windowOptions")),
            ("&budget=2048", json!("windowOptions")),
        ] {
            let view = stage.preview(id(&said["node"]), &process, query).await;
            assert_eq!((&view["exact"], &view["inexactBecause"]), (&json!(because.is_null()), &because), "{query}");
            assert_eq!(view["messages"][1]["text"], "Hello", "{view}");
        }
        let alone = world.get(&format!("/api/v1/nodes/{}/context", id(&said["node"]))).await.json();
        assert_eq!((&alone["exact"], &alone["inexactBecause"]), (&json!(false), &json!("noProcess")));
    }

    async fn a_preview_of_a_request_that_cannot_be_made_shows_the_error_of_the_run(world: &ServerFixture) {
        let stage = Stage::new(world, Api::OpenAi).await;
        let tool = stage.model_tool("Offering", "m", &json!({})).await;
        let process = stage.process_with("Offering", &tool, false, json!([{ "toolId": stage.tool("Echo") }])).await;
        let mut change = json!({ "operation": tool["operation"], "basedOnHash": tool["hash"] });
        change["operation"]["api"] = json!("completions");
        world.changed("PUT", &format!("/api/v1/tools/{}", id(&tool)), &change).await;
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "Hello").await;
        let view = stage.preview(id(&said["node"]), &process, "").await;
        assert_eq!((&view["exact"], &view["inexactBecause"]), (&json!(false), &json!("refused")), "{view}");
        assert_eq!((&view["refusal"]["code"], view.get("request")), (&json!("llm_unsupported"), None), "{view}");
        let body = json!({ "parentAlternativeId": said["node"]["id"], "speaker": "agent", "processId": process });
        let answer = talk.ask("POST", "/turns", &body).await.json();
        let run = answer["answers"][0]["executionId"].as_str().unwrap();
        Feed::open(world, &format!("/api/v1/executions/{run}/stream"), None).await.until(|heard| heard.name == "end").await;
        let run = world.get(&format!("/api/v1/executions/{run}")).await.json();
        let message = view["refusal"]["message"].as_str().unwrap();
        assert!(run["error"].to_string().contains(message), "{run}");
        assert!(stage.rogue.requests().is_empty());
    }

    async fn the_inspector_shows_what_is_sent_of_images_byte_by_byte(world: &ServerFixture) {
        for api in [Api::OpenAi, Api::Anthropic] {
            let stage = Stage::new(world, api).await;
            let seeing = stage.process("Seeing", "gpt-4o", false, Value::Null).await;
            let blind = stage.process("Blind", "m", false, Value::Null).await;
            let talk = ConversationFixture::new(world).await;
            let png = show(&talk, None, ("image/png", PNG), &[json!({ "type": "text", "text": "Which bird?" })]).await;
            let (view, answer) = stage.check(&talk, &png, &seeing, &json!([])).await;
            let ContextPiece::Image { hash, .. } = &shown(&view)[1].1[1] else { panic!("{view}") };
            assert_eq!(*hash, Digest::of(&BASE64.decode(PNG).unwrap()).to_string(), "as it was attached");
            assert_eq!(view["parts"][0]["images"][0]["sentAs"], "image", "{view}");
            // An image alone, without a description, is answered by any model.
            let gif = show(&talk, Some(&answer), ("image/gif", GIF), &[]).await;
            let (view, _) = stage.check(&talk, &gif, &seeing, &json!([])).await;
            assert_eq!(has_image(&shown(&view)), 2, "{view}");
            let (view, _) = stage.check(&talk, &gif, &blind, &json!([])).await;
            assert_eq!(has_image(&shown(&view)), 0);
            assert!(format!("{:?}", shown(&view)).contains("[image: image/gif, 1 × 1 pixels, no description]"), "{view}");
            let part = view["parts"].as_array().unwrap().last().unwrap();
            assert_eq!(part["images"][0]["because"], "modelWithoutImages", "{view}");
            // What is on record names the image, and holds no second copy of its bytes.
            let items = world.get("/api/v1/items?type=ToolCall&limit=100").await;
            assert!(items.text.contains("\"type\":\"image\"") && !items.text.contains(&PNG[..40]), "{}", items.text);
        }
    }

    async fn the_inspector_shows_what_is_sent_of_memory_tools_and_what_has_room(world: &ServerFixture) {
        for api in [Api::OpenAi, Api::Anthropic] {
            let stage = Stage::new(world, api).await;
            let elsewhere = ConversationFixture::new(world).await;
            elsewhere.say(None, &format!("The bittern of {api:?} booms at night in the reeds.")).await;
            let remembering = stage.process("Remembering", "m", true, json!([{ "toolId": stage.tool("Echo") }])).await;
            let talk = begun(world, json!({ "contextBudget": 2_048, "systemContext": "Be brief." })).await;
            let mut last = talk.say(None, "The very first words.").await;
            for _ in 0..5 {
                last = talk.say(Some(&last), &"heron ".repeat(200)).await;
            }
            let asked = talk.say(Some(&last), &format!("When does the bittern of {api:?} boom?")).await;
            remember(world).await;
            let (view, _) = stage.check(&talk, &asked, &remembering, &json!([])).await;
            let all = format!("{:?}", shown(&view));
            assert!(all.contains("booms at night") && all.contains("earlier messages left out"), "{all}");
            let dropped = |part: &&Value| part["droppedBecause"] == "overBudget";
            assert!(view["truncated"] == true && view["parts"].as_array().unwrap().iter().any(|part| dropped(&part)));
            assert_eq!(view["tools"][0]["name"], "echo");
        }
    }

    async fn ag_node_003_the_configuration_of_the_actor_that_answers_is_sent_and_shown_holds(world: &ServerFixture) {
        for api in [Api::OpenAi, Api::Anthropic] {
            let stage = Stage::new(world, api).await;
            let process = stage.process("Plain", "m", false, Value::Null).await;
            let reference = format!("models{}:m", format!("{api:?}").to_lowercase());
            let configuration = json!({ "systemPrompt": "You are Hugin.", "temperature": 0.25, "maxTokens": 300,
                "stopSequences": ["END"], "customParameters": { "top_p": 0.5, "metadata": { "user_id": "u" } } });
            let hugin = json!({ "name": "Hugin", "type": "model", "modelRef": reference, "configuration": configuration });
            let hugin = world.made("/api/v1/actors", &hugin).await;
            let talk = begun(world, json!({ "title": "Herons", "systemContext": "Be brief." })).await;
            let first = talk.say(None, "How many herons?").await;
            let (view, answer) = stage.check(&talk, &first, &process, &json!([])).await;
            assert_eq!(answer["node"]["authorId"], hugin["id"]);
            let expected = json!({ "model": "m", "temperature": 0.25, "maxTokens": 300, "stopSequences": ["END"], "responseFormat": null,
                "customParameters": { "top_p": 0.5, "metadata": { "user_id": "u" } } });
            assert_eq!(view["parameters"], expected);
            let system = "You count birds.\n\nYou are Hugin.\n\nBe brief.";
            assert_eq!(instructions(&shown(&view)), system);
            assert_eq!((&view["parts"][0]["kind"], &view["parts"][0]["included"]), (&json!("agentPrompt"), &json!(true)));
            // What the tool says is nearer to the call; limits add up to the least, and stop sequences to all.
            let tools = world.get("/api/v1/tools?limit=100").await.json();
            let name = format!("Plain {api:?}");
            let tool = tools["data"].as_array().unwrap().iter().find(|tool| tool["name"] == name.as_str()).unwrap();
            let mut change = json!({ "connectionParams": tool["connectionParams"], "operation": tool["operation"], "basedOnHash": tool["hash"] });
            change["connectionParams"]["temperature"] = json!(1.5);
            change["connectionParams"]["maxTokens"] = json!(200);
            change["connectionParams"]["top_p"] = json!(0.9);
            change["operation"]["stop"] = json!(["STOP", "END"]);
            world.changed("PUT", &format!("/api/v1/tools/{}", id(tool)), &change).await;
            let second = talk.say(Some(&answer), "And by night?").await;
            let (view, answer) = stage.check(&talk, &second, &process, &json!([])).await;
            let asked = &view["parameters"];
            assert_eq!((&asked["temperature"], &asked["maxTokens"]), (&json!(1.5), &json!(200)));
            assert_eq!(asked["stopSequences"], json!(["STOP", "END"]));
            assert_eq!(asked["customParameters"]["top_p"], 0.9, "the tool's goes before the actor's");
            // An archived actor is the author still, and answers as it is configured.
            let hugin = world.get(&format!("/api/v1/actors/{}", id(&hugin))).await.json();
            let archived = json!({ "archived": true, "configuration": { "systemPrompt": "You are Munin." }, "basedOnHash": hugin["hash"] });
            world.changed("PUT", &format!("/api/v1/actors/{}", id(&hugin)), &archived).await;
            let third = talk.say(Some(&answer), "And cranes?").await;
            let (view, _) = stage.check(&talk, &third, &process, &json!([])).await;
            assert!(instructions(&shown(&view)).contains("You are Munin.") && view["parameters"]["customParameters"] == json!({ "top_p": 0.9 }), "{view}");
        }
    }

    async fn ag_node_003_the_system_prompt_is_sent_where_no_context_is_made_and_not_where_nobody_answers_holds(world: &ServerFixture) {
        let stage = Stage::new(world, Api::OpenAi).await;
        let tool = json!({ "name": "Bare", "serviceId": stage.service["id"],
            "connectionParams": { "endpoint": stage.rogue.endpoint(), "model": "m", "dialect": "openai" },
            "operation": { "type": "llm_call", "promptTemplate": "{{message}}" },
            "inputSchema": { "type": "object", "properties": { "message": { "type": "string" } } }, "outputSchema": { "type": "object" } });
        let tool = world.made("/api/v1/tools", &tool).await;
        let process = async |name: &str, output: &str| {
            let step = json!({ "id": "answer", "toolId": tool["id"], "inputs": { "message": "{message}" }, "output": { "variable": "answer" } });
            let process = json!({ "name": name, "initialContext": ["message"], "steps": [step], "outputTemplate": output });
            id(&world.made("/api/v1/processes", &process).await).to_owned()
        };
        let hugin = json!({ "name": "Hugin", "type": "model", "modelRef": "modelsopenai:m",
            "configuration": { "systemPrompt": "You are Hugin.", "temperature": 0.25 } });
        world.made("/api/v1/actors", &hugin).await;
        let talk = ConversationFixture::new(world).await;
        let said = talk.say(None, "How many?").await;
        for (process, has_actor) in [(process("Own", "{{answer.text}}").await, true), (process("Framed", "It said: {{answer.text}}").await, false)] {
            let body = json!({ "parentAlternativeId": said["node"]["id"], "speaker": "agent", "processId": process });
            let (_, request) = stage.answered(&talk, "/turns", &body).await;
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            let expected = if has_actor { json!({ "role": "system", "content": "You are Hugin." }) } else { json!({ "role": "user", "content": "How many?" }) };
            assert_eq!((&body["messages"][0], body["temperature"] == 0.25), (&expected, has_actor), "{body}");
        }
    }

    async fn ag_node_003_an_actor_beside_a_process_in_the_inspector_refuses(world: &ServerFixture) {
        let stage = Stage::new(world, Api::OpenAi).await;
        let process = stage.process("Plain", "m", false, Value::Null).await;
        let said = ConversationFixture::new(world).await.say(None, "Hello").await;
        let actor = world.made("/api/v1/actors", &json!({ "name": "Ada", "type": "human" })).await;
        let path = format!("/api/v1/nodes/{}/context?processId={process}&actorId={}", id(&said["node"]), id(&actor));
        assert_eq!(world.get(&path).await.refused(), (400, "invalid_query".to_owned()));
    }

    async fn one_answer_made_of_several_is_sent_as_the_inspector_shows_its_question(world: &ServerFixture) {
        let stage = Stage::new(world, Api::OpenAi).await;
        let process = stage.process("Fusing", "m", false, Value::Null).await;
        let talk = ConversationFixture::new(world).await;
        let asked = talk.say(None, "How many herons?").await;
        let body = json!({ "parentAlternativeId": asked["node"]["id"], "speaker": "agent", "processIds": [process] });
        let (answer, _) = stage.answered(&talk, "/turns", &body).await;
        let end = format!("/turns/{}/alternatives", id(&answer["turn"]));
        let other = talk.made(&end, &json!({ "editedFrom": answer["node"]["id"], "text": "Nine, two were cranes." })).await;
        let fused = json!({ "fuses": [answer["node"]["id"], other["node"]["id"]], "processId": process });
        let (fused, request) = stage.answered(&talk, &end, &fused).await;
        let run = world.get(&format!("/api/v1/executions/{}", fused["executionId"].as_str().unwrap())).await.json();
        let question = run["calls"][0]["call"]["inputs"]["nodeId"].as_str().unwrap_or_else(|| panic!("{run}"));
        let view = stage.preview(question, &process, "").await;
        assert_eq!(sent(Api::OpenAi, &request), shown(&view));
        assert!(format!("{:?}", shown(&view)).contains("Nine, two were cranes."), "{view}");
    }
}

#[tokio::test]
async fn ag_tree_005_the_switch_of_a_buffer_refuses_in_a_dialogue() {
    let world = ServerFixture::new().await;
    let refused = world.post(CONVERSATIONS, json!({ "bufferModeSystemContext": false }).to_string()).await;
    assert_eq!(refused.breaks(), (422, "AG-TREE-005".to_owned()), "{}", refused.text);
    let talk = begun(&world, json!({ "mode": "buffer" })).await;
    let changed = talk
        .ask("PUT", "", &json!({ "bufferModeSystemContext": false, "basedOnHash": talk.shown().await["hash"] }))
        .await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!(talk.shown().await["bufferModeSystemContext"], false);
}

#[tokio::test]
async fn sources_of_a_preview_that_are_no_sources_are_refused() {
    let world = ServerFixture::new().await;
    let talk = ConversationFixture::new(&world).await;
    let said = talk.say(None, "Hello").await;
    let path = format!("/api/v1/nodes/{}/context?sources=", id(&said["node"]));
    for bad in ["primary:x", "context", "context:item_x", &vec!["context:x"; 65].join(",")] {
        assert_eq!(world.get(&format!("{path}{bad}")).await.refused(), (400, "invalid_query".to_owned()), "{bad}");
    }
}
