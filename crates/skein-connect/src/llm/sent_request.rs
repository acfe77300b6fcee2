//! Reads a finished request back: which messages a provider is sent, and how its model is asked.
//!
//! A preview is read from the request that [`super::build`] made and never from what it was made of, so it shows what a dialect
//! adds, merges or trims.

use serde_json::{Map, Value};
use skein_core::digest::Digest;

use super::chat::{ChatRequest, Dialect, ImagePart, ToolDefinition};
use super::dialect::{BuiltRequest, Wording, build};
use super::fault::LlmFault;

/// Fields that are shown under names of their own, or not at all.
const OWN_FIELDS: [&str; 15] = [
    "max_completion_tokens",
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

/// A request as a provider is sent it first.
#[derive(Debug, Clone, PartialEq)]
pub struct SentRequest {
    /// Behind the base address; nothing for the built-in model, which is sent nothing.
    pub path: Option<&'static str>,
    /// The body, the data of images replaced by their SHA-256.
    pub body: Value,
    /// The messages in the order they stand; instructions first where they stand apart.
    pub messages: Vec<SentMessage>,
    /// The prompt of a completions API, or the text of a buffer that is to be continued.
    pub text: Option<String>,
    pub tools: Vec<ToolDefinition>,
    pub parameters: SentParameters,
}

/// One message of a finished request.
#[derive(Debug, Clone, PartialEq)]
pub struct SentMessage {
    pub role: String,
    pub parts: Vec<SentPart>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SentPart {
    Text(String),
    Image(ImagePart),
}

/// How a model is asked, in the provider's terms.
#[derive(Debug, Clone, PartialEq)]
pub struct SentParameters {
    pub model: String,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u64>,
    pub stop: Vec<String>,
    pub response_format: Option<Value>,
    /// Every further field.
    pub custom: Map<String, Value>,
}

impl SentRequest {
    /// The request that a provider of this dialect is sent for `request`. The built-in model, which has no dialect, reads the
    /// same messages.
    pub fn of(dialect: Option<Dialect>, request: &ChatRequest) -> Result<Self, LlmFault> {
        let BuiltRequest { path, mut body, .. } = build(dialect.unwrap_or(Dialect::Chat), request, Wording::default())?;
        let mut images = request.messages.iter().flat_map(super::Message::images);
        let mut messages = messages(&mut body, &mut images);
        let prompt = body.get("prompt").and_then(Value::as_str).map(str::to_owned);
        let continued = if request.continues && prompt.is_none() { messages.pop() } else { None };
        let text = prompt.or(continued.map(|message| message.text()));
        let parameters = SentParameters::of(&body);
        let (path, tools) = (dialect.map(|_| path), request.tools.clone());
        Ok(Self { path, body, messages, text, tools, parameters })
    }
}

impl SentMessage {
    /// Its texts, a blank line between them, images as they are described.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().map(|part| match part {
            SentPart::Text(text) => text.as_str(),
            SentPart::Image(image) => image.description.as_str(),
        });
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }
}

impl SentParameters {
    fn of(body: &Value) -> Self {
        let field = |names: [&str; 2]| names.into_iter().find_map(|name| body.get(name));
        let stop = field(["stop", "stop_sequences"]).and_then(Value::as_array).into_iter().flatten();
        let custom = body.as_object().into_iter().flatten().filter(|(name, _)| !OWN_FIELDS.contains(&name.as_str()));
        Self {
            model: body["model"].as_str().unwrap_or_default().to_owned(),
            temperature: body["temperature"].as_f64(),
            max_tokens: field(["max_tokens", "max_completion_tokens"]).and_then(Value::as_u64),
            stop: stop.filter_map(Value::as_str).map(str::to_owned).collect(),
            response_format: field(["response_format", "output_config"]).cloned(),
            custom: custom.map(|(name, value)| (name.clone(), value.clone())).collect(),
        }
    }
}

/// The messages of a body. Images are taken out of it, in the order they were put in.
fn messages<'a>(body: &mut Value, images: &mut impl Iterator<Item = &'a ImagePart>) -> Vec<SentMessage> {
    let system = body
        .get("system")
        .and_then(Value::as_str)
        .map(|text| SentMessage { role: "system".to_owned(), parts: vec![SentPart::Text(text.to_owned())] });
    let turns = body.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten();
    let turns = turns.map(|turn| {
        let role = turn["role"].as_str().unwrap_or_default().to_owned();
        let parts = match &mut turn["content"] {
            Value::Array(blocks) => blocks.iter_mut().filter_map(|block| part(block, images)).collect(),
            content => content.as_str().map(|text| SentPart::Text(text.to_owned())).into_iter().collect(),
        };
        SentMessage { role, parts }
    });
    system.into_iter().chain(turns).collect()
}

fn part<'a>(block: &mut Value, images: &mut impl Iterator<Item = &'a ImagePart>) -> Option<SentPart> {
    match block["type"].as_str()? {
        "text" => Some(SentPart::Text(block["text"].as_str()?.to_owned())),
        "tool_result" => Some(SentPart::Text(block["content"].as_str()?.to_owned())),
        "image_url" => {
            let image = images.next()?;
            block["image_url"]["url"] = format!("data:{};base64,{}", image.media_type, placeholder(image)).into();
            Some(SentPart::Image(image.clone()))
        }
        "image" => {
            let image = images.next()?;
            block["source"]["data"] = placeholder(image).into();
            Some(SentPart::Image(image.clone()))
        }
        _ => None,
    }
}

/// Stands where the data of an image is sent.
fn placeholder(image: &ImagePart) -> String {
    format!("sha256:{}", Digest::of(&image.data))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;

    use super::*;
    use crate::llm::chat::{Message, Part, ResponseFormat};

    fn image(data: &'static [u8]) -> ImagePart {
        let data = Bytes::from_static(data);
        ImagePart { media_type: "image/png".into(), data, tokens: 1, description: "[a heron]".into() }
    }

    fn text(text: &str) -> SentPart {
        SentPart::Text(text.to_owned())
    }

    #[test]
    fn a_preview_shows_what_anthropics_api_is_sent_besides() {
        let messages = vec![Message::system("Be brief."), Message::assistant("Eleven. \n"), Message::user("Sure?")];
        let sent = SentRequest::of(Some(Dialect::Messages), &ChatRequest::new("m", messages)).unwrap();
        let roles: Vec<&str> = sent.messages.iter().map(|message| message.role.as_str()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"]);
        assert_eq!(sent.messages[2].parts, [text("Eleven.")]);
        assert_eq!(sent.parameters.max_tokens, Some(4_096));
    }

    #[test]
    fn a_preview_shows_the_prompt_and_the_stop_of_a_completions_api() {
        let messages = vec![Message::system("Be brief."), Message::user("Hi")];
        let sent = SentRequest::of(Some(Dialect::Completions), &ChatRequest::new("m", messages)).unwrap();
        assert_eq!(sent.text.as_deref(), Some("Be brief.\n\nUser: Hi\n\nAssistant:"));
        assert_eq!((sent.messages.len(), sent.parameters.stop.as_slice()), (0, &["\nUser:".to_owned()][..]));
    }

    #[test]
    fn a_preview_holds_images_once_and_their_hashes_in_the_body() {
        for dialect in [Dialect::Chat, Dialect::Messages] {
            let parts = vec![Part::Image(image(b"one")), Part::Text("and".into()), Part::Image(image(b"two"))];
            let sent = SentRequest::of(Some(dialect), &ChatRequest::new("m", vec![Message::User(parts)])).unwrap();
            let expected = [SentPart::Image(image(b"one")), text("and"), SentPart::Image(image(b"two"))];
            assert_eq!(sent.messages[0].parts, expected);
            assert_eq!(sent.messages[0].text(), "[a heron]\n\nand\n\n[a heron]");
            for data in [&b"one"[..], b"two"] {
                assert!(sent.body.to_string().contains(&format!("sha256:{}", Digest::of(data))), "{}", sent.body);
            }
        }
    }

    #[test]
    fn a_preview_shows_the_format_of_the_answer_and_fields_of_the_providers_own() {
        let mut request = ChatRequest::new("m", vec![Message::user("Hi")]);
        request.response_format = ResponseFormat::Json;
        request.custom.insert("top_p".into(), json!(0.5));
        let sent = SentRequest::of(Some(Dialect::Chat), &request).unwrap().parameters;
        assert_eq!(sent.response_format, Some(json!({ "type": "json_object" })));
        assert_eq!(Value::Object(sent.custom), json!({ "top_p": 0.5 }));
        assert!(SentRequest::of(Some(Dialect::Messages), &request).is_err());
    }
}
