//! Error bodies as providers document them, and what each is taken for.

use std::time::Duration;

use serde_json::{Value, json};

use super::from_response;
use crate::llm::chat::RawResponse;
use crate::llm::fault::LlmFault;

fn fault(status: u16, body: &str, headers: &[(&str, &str)]) -> LlmFault {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    from_response(&RawResponse { status, headers, body: body.to_owned().into(), scrubbed: false }, "gpt-x")
}

fn check(status: u16, body: &Value, code: &str, is_retryable: bool) {
    let fault = fault(status, &body.to_string(), &[]);
    assert_eq!((fault.code(), fault.is_retryable()), (code, is_retryable), "{status} {body}");
    assert!(fault.advice().ends_with('.'), "{fault}");
}

fn openai(kind: &str, code: Option<&str>, message: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

fn anthropic(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_011"})
}

#[test]
fn openai_errors_have_their_causes() {
    let request = "invalid_request_error";
    check(
        401,
        &openai(request, Some("invalid_api_key"), "Incorrect API key provided: sk-abc."),
        "llm_authentication",
        false,
    );
    check(
        403,
        &openai("request_forbidden", Some("unsupported_country_region_territory"), "Country not supported"),
        "llm_permission",
        false,
    );
    let quota = "You exceeded your current quota, please check your plan and billing details.";
    check(429, &openai("insufficient_quota", Some("insufficient_quota"), quota), "llm_quota", false);
    check(
        429,
        &openai("requests", Some("rate_limit_exceeded"), "Rate limit reached for gpt-4o"),
        "llm_rate_limited",
        true,
    );
    let long = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
    check(400, &openai(request, Some("context_length_exceeded"), long), "llm_context_length", false);
    check(400, &openai(request, None, long), "llm_context_length", false);
    check(
        404,
        &openai(request, Some("model_not_found"), "The model `x` does not exist or you do not have access to it."),
        "llm_model_not_found",
        false,
    );
    check(
        503,
        &openai("server_error", None, "The engine is currently overloaded, please try again later"),
        "llm_overloaded",
        true,
    );
    check(500, &openai("server_error", None, "The server had an error"), "llm_provider_failed", true);
    check(
        400,
        &openai(request, Some("unsupported_value"), "'temperature' does not support 0.2 with this model."),
        "llm_refused",
        false,
    );
}

#[test]
fn anthropic_errors_have_their_causes() {
    check(401, &anthropic("authentication_error", "invalid x-api-key"), "llm_authentication", false);
    check(403, &anthropic("permission_error", "Your API key does not have permission."), "llm_permission", false);
    check(404, &anthropic("not_found_error", "model: claude-9"), "llm_model_not_found", false);
    check(413, &anthropic("request_too_large", "Request exceeds the maximum size"), "llm_context_length", false);
    check(429, &anthropic("rate_limit_error", "This request would exceed your rate limit."), "llm_rate_limited", true);
    check(500, &anthropic("api_error", "Internal server error"), "llm_provider_failed", true);
    check(529, &anthropic("overloaded_error", "Overloaded"), "llm_overloaded", true);
    check(
        400,
        &anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        "llm_context_length",
        false,
    );
    let credit = "Your credit balance is too low to access the Anthropic API.";
    check(400, &anthropic("invalid_request_error", credit), "llm_quota", false);
    check(400, &anthropic("invalid_request_error", "messages: at least one message is required"), "llm_refused", false);
}

#[test]
fn errors_of_gateways_and_local_servers_have_their_causes() {
    let azure = json!({"error": {"message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        "type": null, "code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation"}}});
    check(400, &azure, "llm_content_filter", false);
    let openrouter = |code: u16, message: &str| json!({"error": {"code": code, "message": message}});
    check(402, &openrouter(402, "Insufficient credits"), "llm_quota", false);
    check(400, &openrouter(400, "foo/bar is not a valid model ID"), "llm_model_not_found", false);
    check(502, &openrouter(502, "Provider returned error"), "llm_provider_failed", true);
    check(404, &json!({"error": "model 'llama9' not found, try pulling it first"}), "llm_model_not_found", false);
    let llama_cpp = json!({"error": {"code": 400, "type": "exceed_context_size_error",
        "message": "the request exceeds the available context size", "n_prompt_tokens": 9000, "n_ctx": 4096}});
    check(400, &llama_cpp, "llm_context_length", false);
    check(422, &json!({"detail": [{"msg": "field required"}]}), "llm_refused", false);
    check(404, &json!({"detail": "Not Found"}), "llm_refused", false);
}

#[test]
fn bodies_that_are_no_json_are_quoted_within_reason() {
    assert_eq!(
        fault(502, "<html>Bad gateway</html>", &[]).to_string(),
        "the provider failed with status 502: it answered with a web page"
    );
    let long = fault(400, &"\u{7}word ".repeat(5_000), &[]).to_string();
    assert!(long.len() < 600 && !long.contains('\u{7}'), "{long}");
    assert_eq!(fault(418, "", &[]).to_string(), "the provider refused the request with status 418");
}

#[test]
fn the_time_to_wait_is_read_in_every_spelling() {
    let wait = |headers: &[(&str, &str)]| fault(429, "{}", headers).retry_after();
    assert_eq!(wait(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
    assert_eq!(wait(&[("retry-after-ms", "250"), ("retry-after", "1")]), Some(Duration::from_millis(250)));
    let dates = [("date", "Wed, 21 Oct 2026 07:28:00 GMT"), ("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT")];
    assert_eq!(wait(&dates), Some(Duration::from_secs(30)));
    assert_eq!(wait(&[("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT")]), None);
    assert_eq!(wait(&[("retry-after", "-3")]), None);
    assert_eq!(wait(&[("retry-after", "soon")]), None);
    assert_eq!(wait(&[]), None);
}
