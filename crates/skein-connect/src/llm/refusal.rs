//! Sorts what providers say when they refuse into [`LlmFault`]s.
//!
//! The machine-readable `type` and `code` of an error body decide first, then words of its message that providers
//! have kept for years, then the status. Start at [`from_response`] and [`from_event`].

use std::time::Duration;

use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use super::chat::RawResponse;
use super::fault::{LlmFault, ProviderMessage};

/// What an error body says, whichever provider wrote it.
#[derive(Debug, Default)]
struct ErrorBody {
    /// `type`, `code` and `status` of the error, joined.
    kind: String,
    message: String,
}

/// The fault behind a response whose status is not one of success.
pub(crate) fn from_response(raw: &RawResponse, model: &str) -> LlmFault {
    let complaint = ErrorBody::read(&raw.body);
    sort(raw.status, &complaint, model, retry_after(raw))
}

/// The fault behind an error object that came inside a response with status 200.
pub(crate) fn from_event(error: &Value, raw: &RawResponse, model: &str) -> LlmFault {
    let complaint = ErrorBody::from_value(error);
    let code = error.get("error").unwrap_or(error).get("code").map(spelled);
    let status = code.and_then(|code| code.parse::<u16>().ok());
    sort(status.unwrap_or(0), &complaint, model, retry_after(raw))
}

impl ErrorBody {
    fn read(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::from_value(&value),
            Err(_) => Self { kind: String::new(), message: readable(&String::from_utf8_lossy(body)) },
        }
    }

    fn from_value(value: &Value) -> Self {
        // Some gateways wrap the error in an array, and most in `error`.
        let value = value.as_array().and_then(|values| values.first()).unwrap_or(value);
        let error = match value.get("error") {
            Some(error) if !error.is_null() => error,
            _ => value,
        };
        let word = |name: &str| error.get(name).map(spelled).unwrap_or_default();
        let inner = error.get("innererror").and_then(|inner| inner.get("code")).map(spelled).unwrap_or_default();
        let message = match error {
            Value::String(message) => message.clone(),
            _ => ["message", "detail", "msg"]
                .iter()
                .map(|name| word(name))
                .find(|text| !text.is_empty())
                .unwrap_or_default(),
        };
        let message = [message, upstream_words(error)].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
        Self {
            kind: [word("type"), word("code"), word("status"), inner].join(" ").to_lowercase(),
            message: message.join(": "),
        }
    }

    fn is_of(&self, kinds: &[&str]) -> bool {
        kinds.iter().any(|kind| self.kind.contains(kind))
    }

    fn mentions(&self, phrases: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        phrases.iter().any(|phrase| message.contains(phrase))
    }
}

/// What the provider behind a gateway said, where the gateway repeats it.
fn upstream_words(error: &Value) -> String {
    error.get("metadata").and_then(|metadata| metadata.get("raw")).map(spelled).unwrap_or_default()
}

fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// The words of a body that is not JSON; of a web page only that it is one.
fn readable(body: &str) -> String {
    if body.trim_start().starts_with('<') { "it answered with a web page".to_owned() } else { body.to_owned() }
}

fn sort(status: u16, complaint: &ErrorBody, model: &str, retry_after: Option<Duration>) -> LlmFault {
    let said = ProviderMessage::new(&complaint.message);
    if complaint.is_of(&["insufficient_quota", "billing", "quota_exceeded"])
        || complaint.mentions(&["exceeded your current quota", "credit balance is too low", "insufficient credits"])
        || status == 402
    {
        return LlmFault::Quota(said);
    }
    if is_about_length(complaint) {
        return LlmFault::ContextLength(said);
    }
    if complaint.is_of(&["content_filter", "content_policy", "responsibleaipolicy", "moderation"])
        || complaint.mentions(&["content management policy", "content filtering policy", "flagged by moderation"])
    {
        return LlmFault::ContentFilter(said);
    }
    if is_about_model(status, complaint) {
        return LlmFault::ModelNotFound { model: model.to_owned(), said };
    }
    if complaint.is_of(&["overloaded"]) || complaint.mentions(&["overloaded"]) || matches!(status, 503 | 529) {
        return LlmFault::Overloaded { retry_after, said };
    }
    if complaint.is_of(&["rate_limit", "resource_exhausted", "too_many_requests"]) || status == 429 {
        return LlmFault::RateLimited { retry_after, said };
    }
    if complaint.is_of(&["authentication_error", "invalid_api_key", "unauthenticated", "auth_error"]) || status == 401 {
        return LlmFault::Authentication(said);
    }
    if complaint.is_of(&["permission", "unsupported_country"]) || status == 403 {
        return LlmFault::Permission(said);
    }
    match status {
        408 | 409 | 425 | 500.. => LlmFault::ProviderFailed { status, said },
        0 if !complaint.is_of(&["invalid_request"]) => LlmFault::ProviderFailed { status: 200, said },
        0 => LlmFault::Refused { status: 200, said },
        _ => LlmFault::Refused { status, said },
    }
}

fn is_about_length(complaint: &ErrorBody) -> bool {
    complaint.is_of(&["context_length_exceeded", "exceed_context_size", "request_too_large", "string_above_max_length"])
        || complaint.mentions(&[
            "maximum context length",
            "prompt is too long",
            "context window",
            "exceed context limit",
            "exceeds the available context size",
            "input is too long",
            "too many tokens",
        ])
}

fn is_about_model(status: u16, complaint: &ErrorBody) -> bool {
    let names_model = complaint.mentions(&["model"]);
    complaint.is_of(&["model_not_found"])
        || (status == 404 && names_model)
        || (complaint.is_of(&["not_found"]) && complaint.message.to_lowercase().starts_with("model:"))
        || (matches!(status, 0 | 400)
            && complaint.mentions(&["not a valid model", "invalid model name", "model not found"]))
}

/// How long the provider asks to wait: in milliseconds, in seconds, or until a moment reckoned from its own clock.
fn retry_after(raw: &RawResponse) -> Option<Duration> {
    if let Some(milliseconds) = raw.header("retry-after-ms").and_then(|value| value.trim().parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(milliseconds / 1_000.0).ok();
    }
    let value = raw.header("retry-after")?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let moment = |text: &str| OffsetDateTime::parse(&text.replace("GMT", "+0000"), &Rfc2822).ok();
    let wait = moment(value)? - moment(raw.header("date")?)?;
    Some(wait.try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests;
