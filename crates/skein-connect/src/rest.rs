//! Carries out a rendered REST call and tells what was sent and what came back, with the secret taken out of both.
//!
//! The call is put together in `skein-core`; here it only gets a base address, a secret and a way out. Start at
//! [`call`].

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use reqwest::Url;
use serde::Serialize;
use serde_json::Value;
use skein_core::catalog::operation::rest::{Accept, RenderedRest};

use crate::background;
use crate::credential::{Credential, MARK, Scrubber, ShownSecret};
use crate::http::{CallFault, Http, HttpAnswer, HttpCall, Limits, Retry, is_shown};

/// How much of a body is shown; the output is not shortened.
const SHOWN_BYTES_MAX: usize = 16 << 10;
/// How much of a header a fault quotes.
const QUOTED_CHARS_MAX: usize = 100;

/// A call that is ready to go.
#[derive(Debug, Clone)]
pub struct RestRequest<'a> {
    /// The base address, to which the path is appended.
    pub endpoint: &'a str,
    pub rendered: &'a RenderedRest,
    pub accept: Accept,
    pub credential: Option<Arc<Credential>>,
    pub limits: Limits,
    pub retry: Retry,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallReport {
    /// The body as a value: JSON, or a text; `null` when there was none.
    pub output: Result<Value, CallFault>,
    /// Until the whole answer was there.
    pub latency: Duration,
    pub request: ShownRequest,
    pub response: Option<ShownResponse>,
    /// Whether the answer held the secret, which was taken out.
    pub was_scrubbed: bool,
}

/// A request as a person may see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

/// An answer as a person may see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// Whether the body is longer than what is shown of it.
    pub truncated: bool,
}

/// Sends the request and reads its answer. What goes wrong is part of the report.
pub async fn call(http: &Http, request: &RestRequest<'_>) -> Result<CallReport, CallFault> {
    let call = prepare(request)?;
    let started = Instant::now();
    let received = receive(http, &call).await;
    let latency = started.elapsed();
    let bytes = call.body.len() + received.as_ref().map_or(0, |received| received.body.len());
    let accept = request.accept;
    Ok(background::run(bytes, move || report(&call, received, accept, latency)).await)
}

/// Takes the secret out of what was sent and what came back.
fn report(call: &HttpCall, received: Result<ReceivedBody, CallFault>, accept: Accept, latency: Duration) -> CallReport {
    let scrubber = call.credential.as_deref().map(Credential::scrubber).unwrap_or_default();
    let shown = show_request(call, &scrubber);
    let host = call.url.host_str().unwrap_or_default();
    let (output, response, was_scrubbed) = match received {
        Ok(received) => {
            let (response, was_scrubbed) = received.show(&scrubber);
            let (output, had_secret) = received.output(host, accept, &scrubber);
            (output, Some(response), was_scrubbed || had_secret)
        }
        Err(fault) => (Err(fault.scrubbed(&scrubber)), None, false),
    };
    CallReport { output, latency, request: shown, response, was_scrubbed }
}

fn prepare(request: &RestRequest<'_>) -> Result<HttpCall, CallFault> {
    let RestRequest { endpoint, rendered, credential, limits, retry, .. } = request;
    let method = Method::from_bytes(rendered.method.as_str().as_bytes()).expect("a method of ours is one of HTTP's");
    let url = join(endpoint, &rendered.target())?;
    let mut headers = HeaderMap::new();
    for (name, value) in &rendered.headers {
        let bad = || CallFault::Request(format!("the header {name:?} cannot be sent"));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        headers.append(name, HeaderValue::from_str(value).map_err(|_| bad())?);
    }
    let body = rendered.body.as_ref().map(|body| Bytes::from(body.to_bytes())).unwrap_or_default();
    Ok(HttpCall { method, url, headers, body, credential: credential.clone(), limits: *limits, retry: *retry })
}

/// The base address with what follows it. The result is below the base, whatever the target looks like.
fn join(endpoint: &str, target: &str) -> Result<Url, CallFault> {
    let base = HttpCall::new(Method::GET, endpoint)?.url;
    let bad = |cause: &str| CallFault::Address(cause.to_owned());
    if base.query().is_some() || base.fragment().is_some() {
        return Err(bad("a base address has no query and no fragment; put parameters into the tool"));
    }
    if !target.is_empty() && !target.starts_with('/') {
        return Err(bad("a path begins with /"));
    }
    let folder = base.path().trim_end_matches('/');
    let joined = format!("{}{folder}{target}", base.origin().ascii_serialization());
    let url = HttpCall::new(Method::GET, &joined)?.url;
    let is_below = url.path() == folder || url.path().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    if url.origin() != base.origin() || !is_below || url.fragment().is_some() {
        return Err(bad("the path leads out of the base address"));
    }
    Ok(url)
}

struct ReceivedBody {
    status: u16,
    is_success: bool,
    headers: HeaderMap,
    content_type: Option<String>,
    body: Bytes,
}

async fn receive(http: &Http, call: &HttpCall) -> Result<ReceivedBody, CallFault> {
    let answer: HttpAnswer = http.send(call).await?;
    let (status, content_type) = (answer.status, answer.content_type());
    let body = answer.body.whole().await?;
    let is_success = status.is_success();
    Ok(ReceivedBody { status: status.as_u16(), is_success, headers: answer.headers, content_type, body })
}

impl ReceivedBody {
    /// The body as a value without the secret, and whether the secret was in it.
    fn output(&self, host: &str, accept: Accept, scrubber: &Scrubber) -> (Result<Value, CallFault>, bool) {
        let mut value = match self.value(host, accept, scrubber) {
            Ok(value) => value,
            Err(fault) => return (Err(fault.scrubbed(scrubber)), false),
        };
        let had_secret = scrubber.json(&mut value);
        (Ok(value), had_secret)
    }

    fn value(&self, host: &str, accept: Accept, scrubber: &Scrubber) -> Result<Value, CallFault> {
        let host = host.to_owned();
        if !self.is_success {
            return Err(CallFault::Status { host, status: self.status });
        }
        if self.body.is_empty() {
            return Ok(Value::Null);
        }
        let bad = |cause: String| Err(CallFault::Content { host: host.clone(), cause });
        // Scrubbed before they are quoted: an escaped or shortened secret is not recognized.
        let quoted = |name: HeaderName| {
            let value = self.headers.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
            let clean = scrubber.text(&String::from_utf8_lossy(value)).into_owned();
            clean.chars().take(QUOTED_CHARS_MAX).collect::<String>()
        };
        if self.headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
            let coding = quoted(header::CONTENT_ENCODING);
            return bad(format!("it is compressed ({coding:?}), which was not asked for"));
        }
        match accept {
            Accept::Json if !self.content_type.as_deref().is_none_or(is_json) => {
                bad(format!("it is {:?} where JSON was expected", quoted(header::CONTENT_TYPE)))
            }
            Accept::Json => match serde_json::from_slice(&self.body) {
                Ok(value) => Ok(value),
                Err(error) => bad(format!("its JSON is broken at line {}, column {}", error.line(), error.column())),
            },
            Accept::Text => match std::str::from_utf8(&self.body) {
                Ok(text) => Ok(Value::from(text)),
                Err(_) => bad("it is not text in UTF-8".to_owned()),
            },
        }
    }

    fn show(&self, scrubber: &Scrubber) -> (ShownResponse, bool) {
        let clean = scrubber.bytes(&self.body);
        let was_scrubbed = matches!(clean, Cow::Owned(_));
        let truncated = clean.len() > SHOWN_BYTES_MAX;
        let body = shown_text(&clean);
        let mut headers = shown_headers(&self.headers, scrubber);
        headers.retain(|(name, _)| is_shown(name));
        (ShownResponse { status: self.status, headers, body, truncated }, was_scrubbed)
    }
}

fn is_json(content_type: &str) -> bool {
    content_type == "application/json" || content_type == "text/json" || content_type.ends_with("+json")
}

/// A secret may also have come in as an input, so all of it is scrubbed.
fn show_request(call: &HttpCall, scrubber: &Scrubber) -> ShownRequest {
    let mut url = scrubber.text(call.url.as_str()).into_owned();
    let mut headers = shown_headers(&call.headers, scrubber);
    match call.credential.as_deref().map(Credential::shown) {
        Some(ShownSecret::Header(name, value)) => {
            headers.retain(|(found, _)| *found != name);
            headers.push((name, value));
        }
        Some(ShownSecret::Query(name)) => {
            let before = if url.contains('?') { '&' } else { '?' };
            url = format!("{url}{before}{name}={MARK}");
        }
        Some(ShownSecret::Nowhere) | None => {}
    }
    let body = (!call.body.is_empty()).then(|| shown_text(&scrubber.bytes(&call.body)));
    ShownRequest { method: call.method.to_string(), url, headers, body }
}

fn shown_headers(headers: &HeaderMap, scrubber: &Scrubber) -> Vec<(String, String)> {
    let shown = headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.to_string(), scrubber.text(&value).into_owned())
    });
    shown.collect()
}

/// What is shown is kept in documents, and those refuse U+0000.
fn shown_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_BYTES_MAX)]).replace('\0', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_appended_to_the_base() {
        let check = |base, target, expected| assert_eq!(join(base, target).unwrap().as_str(), expected);
        check("https://api.example", "/a", "https://api.example/a");
        check("https://api.example/", "/a?b=c", "https://api.example/a?b=c");
        check("https://api.example/v1", "/a/b%2Fc", "https://api.example/v1/a/b%2Fc");
        check("https://api.example/v1/", "/", "https://api.example/v1/");
        check("https://api.example:8443/v1", "", "https://api.example:8443/v1");
        check("http://[::1]:80/v1", "/x", "http://[::1]/v1/x");
    }

    #[test]
    fn nothing_leads_out_of_the_base() {
        for target in
            ["/../x", "/a/../../x", "/%2e%2e/x", "/..", "//../../x", "a", "@evil/", ".evil/", "/a#b", "/\\..\\..\\x"]
        {
            assert!(matches!(join("https://api.example/v1", target), Err(CallFault::Address(_))), "{target}");
        }
        for base in ["https://api.example/?a", "https://api.example/#a", "https://u:p@api.example/", "api.example"] {
            assert!(matches!(join(base, "/x"), Err(CallFault::Address(_))), "{base}");
        }
    }
}
