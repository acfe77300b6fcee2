//! A question to a language model: a system prompt and a prompt, both with places to fill in.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::placeholder::{Inputs, PlaceholderText};
use crate::catalog::schema::SchemaJudge;
use crate::rule::RuleViolation;

/// Most texts that end an answer.
const STOPS_MAX: usize = 16;
/// Most tools offered to a model at once.
const OFFERS_MAX: usize = 128;
/// Longest name of an offered tool, in bytes; providers take no more.
const OFFER_NAME_BYTES_MAX: usize = 64;

/// A call of a language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LlmCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<PlaceholderText>,
    pub prompt_template: PlaceholderText,
    /// The input that holds what was said before, as a list of messages with a `role` and a `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages_from: Option<String>,
    /// Which of the provider's interfaces is used; without it, the one the endpoint is known for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<LlmApi>,
    /// Texts at which the answer ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Whether the model accepts images. Without it, the name of the model decides: [`model_accepts_images`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepts_images: Option<bool>,
    /// `{"type": "text"}`, `{"type": "json_object"}`, or `{"type": "json_schema", "json_schema": {"name", "schema"}}`; answers
    /// always follow the schema strictly, so `strict` may be true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_format: Option<Value>,
    /// What the model may ask to be called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolOffer>,
}

/// The interfaces of language models that are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LlmApi {
    /// OpenAI's chat completions, and all that copy them.
    Chat,
    /// OpenAI's older completions.
    Completions,
    /// Anthropic's messages.
    Messages,
}

/// A tool as it is described to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolOffer {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// A question ready to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedPrompt {
    pub system: Option<String>,
    pub prompt: String,
}

impl LlmCall {
    pub(super) fn check<J: SchemaJudge>(&self, judge: &J) -> Result<(), J::Error> {
        let refuse = |problem: String, remedy| Err(RuleViolation::new("BR-TOOL-002", problem, remedy).into());
        if self.stop.len() > STOPS_MAX || self.tools.len() > OFFERS_MAX {
            return refuse("too many stops or tools".to_owned(), "give at most 16 stops and 128 tools");
        }
        if let Some(format) = &self.response_format {
            check_response_format(format)?;
        }
        if self.api == Some(LlmApi::Completions) {
            self.check_completions()?;
        }
        for offer in &self.tools {
            if !offer.has_name() {
                return refuse(
                    format!("{:?} is no name of a tool", offer.name),
                    "use letters, digits, _ and -, up to 64",
                );
            }
            if let Err(bad) = judge.usable(&offer.parameters)? {
                return refuse(format!("the parameters of {}: {bad}", offer.name), "describe them by a JSON Schema");
            }
        }
        Ok(())
    }

    /// A completions API is sent one text.
    fn check_completions(&self) -> Result<(), RuleViolation> {
        let members = [
            ("tools", !self.tools.is_empty()),
            ("responseFormat", self.wants_format()),
            ("acceptsImages", self.accepts_images == Some(true)),
        ];
        let Some((member, _)) = members.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let problem = format!("{member} has no effect with api completions, which is sent one text");
        Err(RuleViolation::new("BR-TOOL-002", problem, "leave it out, or use api chat"))
    }

    fn wants_format(&self) -> bool {
        self.response_format.as_ref().is_some_and(|format| format["type"] != "text")
    }

    pub(super) fn variables(&self, into: &mut BTreeSet<String>) {
        self.prompt_template.variables(into);
        if let Some(system) = &self.system_prompt {
            system.variables(into);
        }
        into.extend(self.messages_from.clone());
    }

    /// Both prompts with every place filled.
    pub fn render(&self, inputs: &Inputs) -> Result<RenderedPrompt, RuleViolation> {
        let system = self.system_prompt.as_ref().map(|text| text.render_plain(inputs)).transpose()?;
        Ok(RenderedPrompt { system, prompt: self.prompt_template.render_plain(inputs)? })
    }
}

/// Refuses a format of answers that would be sent as plain text, and members of it that would not be sent.
fn check_response_format(format: &Value) -> Result<(), RuleViolation> {
    let has_only = |value: &Value, known: &[&str]| {
        value.as_object().is_some_and(|members| members.keys().all(|name| known.contains(&name.as_str())))
    };
    let is_known = match format["type"].as_str() {
        Some("text" | "json_object") => has_only(format, &["type"]),
        Some("json_schema") => {
            let schema = &format["json_schema"];
            let is_sent = has_only(format, &["type", "json_schema"]) && has_only(schema, &["name", "schema", "strict"]);
            let is_named = schema.get("name").is_none_or(Value::is_string);
            let is_strict = schema.get("strict").is_none_or(|strict| *strict == true);
            is_sent && is_named && is_strict && schema["schema"].is_object()
        }
        _ => false,
    };
    if is_known {
        return Ok(());
    }
    let remedy = "send type text, json_object, or json_schema with json_schema.schema and perhaps json_schema.name";
    Err(RuleViolation::new("BR-TOOL-002", "the responseFormat is not one that models are asked for", remedy))
}

/// Families of models that accept images, as their names begin behind the maker's name and a slash.
const IMAGE_FAMILIES: [&str; 36] = [
    "gpt-4o",
    "gpt-4.1",
    "gpt-4.5",
    "gpt-4-turbo",
    "gpt-4-vision",
    "gpt-5",
    "chatgpt-4o",
    "o1",
    "o3",
    "o4",
    "claude-3",
    "claude-4",
    "claude-opus",
    "claude-sonnet",
    "claude-haiku",
    "gemini",
    "gemma3",
    "gemma-3",
    "llava",
    "bakllava",
    "pixtral",
    "llama4",
    "llama-4",
    "llama3.2-vision",
    "mistral-small3.1",
    "mistral-small3.2",
    "mistral-small-3.1",
    "mistral-small-3.2",
    "mistral-medium-3",
    "minicpm-v",
    "moondream",
    "internvl",
    "grok-4",
    "phi-4-multimodal",
    "qwen2.5vl",
    "granite3.2-vision",
];
/// Members of these families that do not.
const WITHOUT_IMAGES: [&str; 7] =
    ["o1-mini", "o1-preview", "o3-mini", "gpt-4o-audio", "gpt-4o-mini-audio", "gemma3:1b", "gemma3:270m"];

/// Whether a model of this name is known to accept images.
pub fn model_accepts_images(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let begins = |families: &[&str]| families.iter().any(|family| name.starts_with(family));
    let says_so = ["-vision", "-vl"].iter().any(|word| name.contains(word));
    (begins(&IMAGE_FAMILIES) && !begins(&WITHOUT_IMAGES)) || says_so
}

impl ToolOffer {
    fn has_name(&self) -> bool {
        let is_legal = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        (1..=OFFER_NAME_BYTES_MAX).contains(&self.name.len()) && self.name.bytes().all(is_legal)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalog::schema::AtOnce;

    #[test]
    fn br_tool_002_a_response_format_that_would_have_no_effect_refuses() {
        let call = |format: Value| LlmCall {
            response_format: Some(format),
            ..serde_json::from_value(json!({ "promptTemplate": "" })).unwrap()
        };
        let schema = json!({ "type": "json_schema", "json_schema": { "name": "n", "schema": { "type": "object" } } });
        for format in [json!({ "type": "text" }), json!({ "type": "json_object" }), schema] {
            assert!(call(format.clone()).check(&AtOnce).is_ok(), "{format}");
        }
        let schema = |more: Value| {
            let mut schema = json!({ "name": "n", "schema": {} });
            schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({ "type": "json_schema", "json_schema": schema })
        };
        assert!(call(schema(json!({ "strict": true }))).check(&AtOnce).is_ok());
        for format in [
            json!({}),
            json!("json"),
            json!({ "type": "xml" }),
            json!({ "type": "json_schema" }),
            json!({ "type": "text", "more": 1 }),
            schema(json!({ "description": "A count." })),
            schema(json!({ "strict": false })),
            schema(json!({ "name": 3 })),
        ] {
            assert_eq!(call(format.clone()).check(&AtOnce).unwrap_err().rule(), "BR-TOOL-002", "{format}");
        }
    }

    #[test]
    fn br_tool_002_what_a_completions_api_cannot_be_sent_refuses() {
        let call = |more: Value| {
            let mut call = json!({ "promptTemplate": "", "api": "completions" });
            call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_value::<LlmCall>(call).unwrap()
        };
        for more in [json!({}), json!({ "acceptsImages": false }), json!({ "responseFormat": { "type": "text" } })] {
            assert!(call(more.clone()).check(&AtOnce).is_ok(), "{more}");
        }
        for more in [
            json!({ "acceptsImages": true }),
            json!({ "responseFormat": { "type": "json_object" } }),
            json!({ "tools": [{ "name": "weather", "parameters": { "type": "object" } }] }),
        ] {
            assert_eq!(call(more.clone()).check(&AtOnce).unwrap_err().rule(), "BR-TOOL-002", "{more}");
        }
    }

    #[test]
    fn known_families_accept_images_and_others_do_not() {
        for model in [
            "gpt-4o",
            "openai/gpt-4.1-mini",
            "GPT-5",
            "o3",
            "claude-sonnet-4-5",
            "anthropic/claude-3-haiku",
            "llava:13b",
            "qwen/qwen2.5-vl-72b",
            "llama3.2-vision",
            "gemini-2.5-flash",
            "meta-llama/llama-3.2-11b-vision-instruct",
        ] {
            assert!(model_accepts_images(model), "{model}");
        }
        for model in
            ["", "llama3.2", "qwen3", "o3-mini", "gpt-3.5-turbo", "skein-offline", "default", "claude-2.1", "gpt-4"]
        {
            assert!(!model_accepts_images(model), "{model}");
        }
    }
}
