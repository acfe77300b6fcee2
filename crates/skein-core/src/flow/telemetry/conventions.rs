//! OpenTelemetry's semantic conventions for generative AI, as we speak them: every name of theirs that is used, once.
//!
//! All of them are still in development and change between versions. They are pinned to [`VERSION`], which what is sent
//! names too; to follow a newer one, read what changed and alter this file and its test.

use crate::catalog::operation::OperationType;

/// The version of the conventions.
pub const VERSION: &str = "1.41.0";
/// What says so in what is sent; ends in [`VERSION`].
pub const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.41.0";

pub const OPERATION_NAME: &str = "gen_ai.operation.name";
pub const PROVIDER_NAME: &str = "gen_ai.provider.name";
pub const CONVERSATION_ID: &str = "gen_ai.conversation.id";
pub const AGENT_ID: &str = "gen_ai.agent.id";
pub const AGENT_NAME: &str = "gen_ai.agent.name";
pub const AGENT_VERSION: &str = "gen_ai.agent.version";
pub const REQUEST_MODEL: &str = "gen_ai.request.model";
pub const REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
pub const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";
pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub const RESPONSE_ID: &str = "gen_ai.response.id";
pub const RESPONSE_FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub const USAGE_INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub const USAGE_OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub const TOOL_NAME: &str = "gen_ai.tool.name";
pub const TOOL_TYPE: &str = "gen_ai.tool.type";
pub const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
pub const ERROR_TYPE: &str = "error.type";
pub const SERVER_ADDRESS: &str = "server.address";
pub const SERVER_PORT: &str = "server.port";

/// What was said: only where that is asked for.
pub const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
pub const TOOL_CALL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub const TOOL_CALL_RESULT: &str = "gen_ai.tool.call.result";

/// What the conventions have no word for.
pub const RUN_ID: &str = "skein.run.id";
pub const RUN_STATUS: &str = "skein.run.status";
pub const RUN_TOKENS: &str = "skein.run.tokens";
pub const STEP_ID: &str = "skein.step.id";
pub const STEP_PHASE: &str = "skein.step.phase";
pub const STEP_ATTEMPTS: &str = "skein.step.attempts";
pub const CALL_ID: &str = "skein.call.id";
pub const CALL_STATUS: &str = "skein.call.status";
pub const CALL_ASKED_BY: &str = "skein.call.asked_by";
pub const CALL_INPUTS: &str = "skein.call.inputs";
pub const USAGE_IS_ESTIMATE: &str = "skein.usage.is_estimate";
pub const COST_AMOUNT: &str = "skein.cost.amount";
pub const COST_CURRENCY: &str = "skein.cost.currency";

pub const CHAT: &str = "chat";
pub const TEXT_COMPLETION: &str = "text_completion";
pub const EXECUTE_TOOL: &str = "execute_tool";
pub const INVOKE_AGENT: &str = "invoke_agent";

/// How Skein calls itself where a provider is wanted.
pub const OURSELVES: &str = "skein";

/// Providers that the conventions know, by the end of the host they are found at.
const PROVIDERS: [(&str, &str); 13] = [
    ("api.openai.com", "openai"),
    ("openai.azure.com", "azure.ai.openai"),
    ("services.ai.azure.com", "azure.ai.inference"),
    ("api.anthropic.com", "anthropic"),
    ("api.cohere.com", "cohere"),
    ("api.deepseek.com", "deepseek"),
    ("generativelanguage.googleapis.com", "gcp.gemini"),
    ("aiplatform.googleapis.com", "gcp.vertex_ai"),
    ("api.groq.com", "groq"),
    ("api.mistral.ai", "mistral_ai"),
    ("api.perplexity.ai", "perplexity"),
    ("api.x.ai", "x_ai"),
    ("ml.cloud.ibm.com", "ibm.watsonx.ai"),
];

/// Who is asked: by the host, else by the language it speaks, as the conventions want it.
pub fn provider(host: Option<&str>, dialect: Option<&str>) -> &'static str {
    let is_at = |host: &str, end: &str| host == end || host.strip_suffix(end).is_some_and(|rest| rest.ends_with('.'));
    let known = host.and_then(|host| PROVIDERS.iter().find(|(end, _)| is_at(host, end)));
    match (known, dialect) {
        (Some((_, name)), _) => name,
        (None, Some("anthropic")) => "anthropic",
        _ => "openai",
    }
}

/// Whose side a tool works on.
pub fn tool_type(operation: Option<OperationType>) -> &'static str {
    match operation {
        Some(OperationType::GraphQuery) => "datastore",
        _ => "extension",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_names_the_version_that_is_pinned() {
        assert!(SCHEMA_URL.ends_with(&format!("/{VERSION}")));
    }

    #[test]
    fn a_provider_is_known_by_its_host_and_else_by_its_language() {
        assert_eq!(provider(Some("api.mistral.ai"), Some("openai")), "mistral_ai");
        assert_eq!(provider(Some("east.openai.azure.com"), None), "azure.ai.openai");
        assert_eq!(provider(Some("notapi.x.ai"), None), "openai", "only whole names count");
        assert_eq!(provider(Some("127.0.0.1"), Some("anthropic")), "anthropic");
        assert_eq!(provider(None, None), "openai");
    }
}
