//! A question to a language model: a system prompt and a prompt, both with places to fill in.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::placeholder::{Inputs, Text};
use crate::catalog::schema::Schema;
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
    pub system_prompt: Option<Text>,
    pub prompt_template: Text,
    /// The input that holds what was said before, as a list of messages with a `role` and a `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages_from: Option<String>,
    /// Which of the provider's interfaces is used; without it, the one the endpoint is known for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<LlmApi>,
    /// Texts at which the answer ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// Handed to the provider as it is.
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
    pub(super) fn check(&self) -> Result<(), RuleViolation> {
        let refuse = |problem: String, remedy| Err(RuleViolation::new("BR-TOOL-002", problem, remedy));
        if self.stop.len() > STOPS_MAX || self.tools.len() > OFFERS_MAX {
            return refuse("too many stops or tools".to_owned(), "give at most 16 stops and 128 tools");
        }
        for offer in &self.tools {
            if !offer.has_name() {
                return refuse(
                    format!("{:?} is no name of a tool", offer.name),
                    "use letters, digits, _ and -, up to 64",
                );
            }
            if let Err(bad) = Schema::compile(&offer.parameters) {
                return refuse(format!("the parameters of {}: {bad}", offer.name), "describe them by a JSON Schema");
            }
        }
        Ok(())
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

impl ToolOffer {
    fn has_name(&self) -> bool {
        let is_legal = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        (1..=OFFER_NAME_BYTES_MAX).contains(&self.name.len()) && self.name.bytes().all(is_legal)
    }
}
