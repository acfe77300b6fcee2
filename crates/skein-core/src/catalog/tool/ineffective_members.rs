//! Refuses members of a tool that would have no effect, and says which interface of a provider a tool is for.
//!
//! These checks run when a tool is made or what they are about changes (decision Z31). A tool that was stored earlier is still
//! read.

use serde_json::Value;

use super::Tool;
use crate::catalog::operation::Operation;
use crate::catalog::operation::prompt::LlmApi;
use crate::catalog::pricing::Pricing;
use crate::rule::RuleViolation;

/// Members of `connectionParams` that are sent to a model as they are.
pub const SAMPLING_PARAMS: [&str; 2] = ["top_p", "seed"];

/// Whether a parameter is of its type.
type Fits = fn(&Value) -> bool;

impl Tool {
    /// The interface of a model's provider: as the operation says, else as the connection says. Nothing for other tools.
    pub fn llm_api(&self) -> Option<LlmApi> {
        let Operation::LlmCall(call) = &self.operation else { return None };
        let is_anthropic = self.connection_params.get("dialect").and_then(Value::as_str) == Some("anthropic");
        Some(call.api.unwrap_or(if is_anthropic { LlmApi::Messages } else { LlmApi::Chat }))
    }

    /// Whether it asks a model that can be offered tools.
    pub fn takes_tools(&self) -> bool {
        self.llm_api().is_some_and(|api| api != LlmApi::Completions)
    }

    /// Refuses what a model would not be sent.
    pub(super) fn check_request(&self) -> Result<(), RuleViolation> {
        let (Operation::LlmCall(call), Some(api)) = (&self.operation, self.llm_api()) else { return Ok(()) };
        let refuse = |problem: String, remedy| Err(RuleViolation::new("BR-TOOL-002", problem, remedy));
        let kind = call.response_format.as_ref().and_then(|format| format["type"].as_str());
        if api == LlmApi::Messages && kind == Some("json_object") {
            let problem = "responseFormat json_object cannot be asked of Anthropic's API".to_owned();
            return refuse(problem, "use json_schema, or leave responseFormat out");
        }
        if api == LlmApi::Messages && self.is_given("seed") {
            let problem = "connectionParams.seed has no effect: Anthropic's API takes none".to_owned();
            return refuse(problem, "leave it out");
        }
        let is_count = |value: &Value| value.as_u64().is_some_and(|count| (1..=u64::from(u32::MAX)).contains(&count));
        let expected: [(&str, Fits); 5] = [
            ("model", Value::is_string),
            ("temperature", Value::is_number),
            ("maxTokens", is_count),
            ("top_p", Value::is_number),
            ("seed", Value::is_i64),
        ];
        let wrong = expected.into_iter().find(|(name, fits)| {
            let given = self.connection_params.get(*name);
            given.is_some_and(|value| !value.is_null() && !fits(value))
        });
        let Some((name, _)) = wrong else { return Ok(()) };
        refuse(
            format!("connectionParams.{name} is not of its type, so no model would be sent it"),
            "correct it, or leave it out",
        )
    }

    /// Only calls of models use tokens.
    pub(super) fn check_pricing(&self) -> Result<(), RuleViolation> {
        let has_price = self.pricing.as_ref().is_some_and(Pricing::is_of_tokens);
        if !has_price || matches!(self.operation, Operation::LlmCall(_)) {
            return Ok(());
        }
        let kind = self.operation.kind().as_str();
        let problem = format!("prices of tokens have no effect on a {kind}: it uses none");
        Err(RuleViolation::new("BR-TOOL-002", problem, "give a price perCall, or leave pricing out"))
    }

    fn is_given(&self, name: &str) -> bool {
        self.connection_params.get(name).is_some_and(|value| !value.is_null())
    }
}
