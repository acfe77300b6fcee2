//! Describes a called tool in a span: as a model call or as the execution of a tool.

use serde_json::{Map, Value, json};

use super::conventions as say;
use super::{Attribute, Span, SpanKind, cut};
use crate::catalog::operation::prompt::LlmApi;
use crate::catalog::operation::{Operation, OperationType};
use crate::catalog::service::Builtin;
use crate::catalog::tool::Tool;
use crate::id::ItemId;

/// A tool as far as a trace tells it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolTrace {
    name: String,
    operation: Option<OperationType>,
    /// The model that is asked, where one is.
    asked: Option<ModelQuestion>,
}

#[derive(Debug, Clone, PartialEq)]
struct ModelQuestion {
    operation: &'static str,
    model: String,
    provider: &'static str,
    temperature: Option<f64>,
    max_tokens: Option<i64>,
    server: Option<(String, Option<i64>)>,
}

impl ToolTrace {
    pub fn of(tool: &Tool, builtin: Option<Builtin>) -> Self {
        let name = tool.name.as_str().to_owned();
        let asked = match &tool.operation {
            Operation::LlmCall(call) => Some(ModelQuestion::of(tool, call.api, builtin)),
            _ => None,
        };
        Self { name, operation: Some(tool.operation.kind()), asked }
    }

    /// A tool of which nothing is known any more but what it was called by.
    pub fn unknown(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    pub(super) fn is_model(&self) -> bool {
        self.asked.is_some()
    }

    /// What is done, and with what.
    pub(super) fn span_name(&self) -> String {
        match &self.asked {
            Some(asked) if asked.model.is_empty() => asked.operation.to_owned(),
            Some(asked) => format!("{} {}", asked.operation, asked.model),
            None => format!("{} {}", say::EXECUTE_TOOL, self.name),
        }
    }

    pub(super) fn describe(&self, span: &mut Span, call: ItemId) {
        let Some(asked) = &self.asked else {
            span.text(say::OPERATION_NAME, say::EXECUTE_TOOL);
            span.text(say::TOOL_NAME, &self.name);
            span.text(say::TOOL_TYPE, say::tool_type(self.operation));
            span.text(say::TOOL_CALL_ID, call.to_string());
            return;
        };
        if asked.provider != say::OURSELVES {
            span.kind = SpanKind::Client;
        }
        span.text(say::OPERATION_NAME, asked.operation);
        span.text(say::PROVIDER_NAME, asked.provider);
        span.text(say::REQUEST_MODEL, &asked.model);
        let temperature = asked.temperature.map(|number| (say::REQUEST_TEMPERATURE, Attribute::Real(number)));
        let max_tokens = asked.max_tokens.map(|number| (say::REQUEST_MAX_TOKENS, Attribute::Whole(number)));
        span.attributes.extend(temperature.into_iter().chain(max_tokens));
        if let Some((host, port)) = &asked.server {
            span.text(say::SERVER_ADDRESS, host);
            span.attributes.extend(port.map(|port| (say::SERVER_PORT, Attribute::Whole(port))));
        }
    }

    /// What went in and what came out.
    pub(super) fn tell_content(&self, span: &mut Span, call: &Map<String, Value>, result: &Map<String, Value>) {
        let output = result.get("output").unwrap_or(&Value::Null);
        let (given, gave) = match &self.asked {
            Some(_) => {
                let part = json!({ "type": "text", "content": output["text"] });
                let said = json!([{ "role": "assistant", "parts": [part], "finish_reason": output["finish"] }]);
                (say::CALL_INPUTS, (say::OUTPUT_MESSAGES, said))
            }
            None => (say::TOOL_CALL_ARGUMENTS, (say::TOOL_CALL_RESULT, output.clone())),
        };
        if let Some(inputs) = call.get("inputs") {
            span.text(given, cut(&inputs.to_string()));
        }
        if !output.is_null() {
            span.text(gave.0, cut(&gave.1.to_string()));
        }
    }
}

impl ModelQuestion {
    fn of(tool: &Tool, api: Option<LlmApi>, builtin: Option<Builtin>) -> Self {
        let params = &tool.connection_params;
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        let server = text("endpoint").and_then(server).filter(|_| builtin.is_none());
        let host = server.as_ref().map(|(host, _)| host.as_str());
        let provider = match builtin {
            Some(_) => say::OURSELVES,
            None if api == Some(LlmApi::Messages) => say::provider(host, Some("anthropic")),
            None => say::provider(host, text("dialect")),
        };
        Self {
            operation: if api == Some(LlmApi::Completions) { say::TEXT_COMPLETION } else { say::CHAT },
            model: text("model").unwrap_or_default().to_owned(),
            provider,
            temperature: params.get("temperature").and_then(Value::as_f64),
            max_tokens: params.get("maxTokens").and_then(Value::as_i64),
            server,
        }
    }
}

/// Host and port of an address; the rest of it may hold anything.
fn server(endpoint: &str) -> Option<(String, Option<i64>)> {
    let (scheme, rest) = endpoint.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            (host, port.parse().ok())
        }
        _ => (authority, None),
    };
    let usual = match scheme {
        "https" => Some(443),
        "http" => Some(80),
        _ => None,
    };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    (!host.is_empty()).then(|| (host, port.or(usual)))
}

#[cfg(test)]
mod tests {
    use super::server;

    #[test]
    fn of_an_address_only_host_and_port_are_told() {
        let told = |address: &str| server(address).map(|(host, port)| (host, port.unwrap_or(-1)));
        assert_eq!(told("https://API.example/v1?key=s3cret"), Some(("api.example".to_owned(), 443)));
        assert_eq!(told("http://[::1]:8080/v1"), Some(("::1".to_owned(), 8080)));
        assert_eq!(told("http://[::1]/v1"), Some(("::1".to_owned(), 80)));
        assert_eq!(told("http://anna:pass@10.0.0.1:99"), Some(("10.0.0.1".to_owned(), 99)));
        assert_eq!(told("builtin:"), None);
    }
}
