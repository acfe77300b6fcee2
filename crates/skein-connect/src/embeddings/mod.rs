//! Vectors of texts from an endpoint that speaks as OpenAI's `POST /embeddings` does.
//!
//! Vectors are given as they came: whether they are long enough and their numbers are any is checked by the caller.
//! Only what cannot be given to the right text is refused here. Start at [`Embeddings::embed`].

mod batch;
mod response;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use serde::Serialize;
use tokio::time::{Instant, sleep_until};

use crate::background;
use crate::credential::Credential;
use crate::guard::{Endpoint, Guard};
use crate::http::{CallFault, Http, HttpAnswer, HttpCall, HttpOptions, Limits, Phase, Retry, luck};
use crate::llm::{LlmFault, ProviderMessage, RawResponse, address, refusal};
use batch::{batches, beginning};
use response::VectorResponse;

pub use batch::{BATCH_BYTES_MAX, BATCH_TEXTS_MAX};

/// The beginning of a text that is sent, in bytes: usual models take in 8,192 tokens and refuse all texts of a request
/// for one that is longer.
pub const TEXT_BYTES_MAX: usize = 24 << 10;

const PATH: &str = "/embeddings";

/// The vectors of a whole batch, in digits, of the widest models there are.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// For each request; its repetitions and the pauses between them are in the total.
pub const LIMITS: Limits = Limits {
    first_byte: Duration::from_mins(1),
    idle: Duration::from_secs(30),
    total: Duration::from_mins(3),
    answer_bytes_max: ANSWER_BYTES_MAX,
};

/// Nothing happens where vectors are made, so the same request may be sent again.
pub const RETRY: Retry = Retry {
    tries_max: 5,
    pause: Duration::from_millis(500),
    pause_max: Duration::from_secs(20),
    wished_pause_max: Duration::from_mins(1),
};

/// A model that makes vectors, and how it is reached.
#[derive(Debug, Clone)]
pub struct Embeddings {
    pub http: Http,
    /// Where the API begins, mostly ending in `/v1`; a bare host is completed to that.
    pub base_url: String,
    pub model: String,
    pub credential: Option<Arc<Credential>>,
    /// How many numbers each vector shall have, for models that let one choose.
    pub dimensions: Option<usize>,
    /// Sent beside what the API needs.
    pub headers: HeaderMap,
    /// Whether redirects are followed.
    pub follows: bool,
    pub limits: Limits,
    pub retry: Retry,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embedded {
    /// One for each text, in order, as it came. Empty for a blank text, which is not sent, and for what was no vector;
    /// what was no number is `NaN`.
    pub vectors: Vec<Vec<f32>>,
    /// How many tokens were counted, where the endpoint says so.
    pub tokens: Option<u64>,
}

/// Why texts have no vectors.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EmbeddingsError {
    #[error(transparent)]
    Endpoint(#[from] LlmFault),
    #[error("{wanted} texts were sent and {found} vectors came back")]
    Count { wanted: usize, found: usize },
    #[error("the answer was not understood{0}")]
    NotUnderstood(ProviderMessage),
}

impl EmbeddingsError {
    /// Whether the same texts may fare better later without anybody changing anything.
    ///
    /// A refusal that does not pass concerns a whole request: sent singly, all texts but the one it is about may pass.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Endpoint(fault) => fault.is_retryable(),
            // The endpoint may answer correctly later, once it is mended.
            Self::Count { .. } | Self::NotUnderstood(_) => true,
        }
    }

    /// Whether it may be about some of the texts: others may pass where these do not.
    pub fn is_about_texts(&self) -> bool {
        match self {
            Self::Endpoint(LlmFault::ContextLength(_) | LlmFault::ContentFilter(_)) => true,
            Self::Endpoint(LlmFault::Refused { status, .. }) => matches!(status, 400 | 413 | 422),
            Self::Endpoint(_) | Self::Count { .. } | Self::NotUnderstood(_) => false,
        }
    }

    /// The same without a word that came from the endpoint: it may quote the texts it was sent.
    #[must_use]
    pub fn unquoted(self) -> Self {
        match self {
            Self::Endpoint(fault) => Self::Endpoint(fault.unquoted()),
            Self::NotUnderstood(_) => Self::NotUnderstood(ProviderMessage::default()),
            counted @ Self::Count { .. } => counted,
        }
    }

    /// How long the endpoint asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Endpoint(fault) => fault.retry_after(),
            Self::Count { .. } | Self::NotUnderstood(_) => None,
        }
    }

    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Endpoint(fault) => fault.code(),
            Self::Count { .. } => "embeddings_count",
            Self::NotUnderstood(_) => "embeddings_not_understood",
        }
    }
}

impl Embeddings {
    /// Under the usual limits, without a choice of dimensions.
    pub fn new(
        http: Http,
        base_url: impl Into<String>,
        model: impl Into<String>,
        credential: Option<Arc<Credential>>,
    ) -> Self {
        Self {
            http,
            base_url: base_url.into(),
            model: model.into(),
            credential,
            dimensions: None,
            headers: HeaderMap::new(),
            follows: true,
            limits: LIMITS,
            retry: RETRY,
        }
    }

    /// An endpoint that stands in the configuration, in a private network or on this machine as well. What is sent to it goes
    /// nowhere else: redirects are not followed.
    pub fn configured(
        base_url: &str,
        model: &str,
        credential: Option<Arc<Credential>>,
    ) -> Result<Self, EmbeddingsError> {
        let call = HttpCall::new(Method::POST, &address(base_url, PATH)).map_err(LlmFault::from)?;
        let (host, port) = (call.url.host_str().unwrap_or_default(), call.url.port_or_known_default());
        let guard = Guard::of_configured(Endpoint::new(host, port.unwrap_or_default()));
        let http = Http::new(guard, HttpOptions::default());
        Ok(Self { follows: false, ..Self::new(http, base_url, model, credential) })
    }

    /// The vectors of `texts`, asked for in as many requests as it takes, one after the other.
    ///
    /// What an earlier request brought is lost when a later one fails: give at most [`BATCH_TEXTS_MAX`] texts where that
    /// matters.
    pub async fn embed(&self, texts: &[String]) -> Result<Embedded, EmbeddingsError> {
        let sent = texts.iter().enumerate().filter(|(_, text)| !text.trim().is_empty());
        let sent: Vec<(usize, &str)> = sent.map(|(place, text)| (place, beginning(text, TEXT_BYTES_MAX))).collect();
        let mut embedded = Embedded { vectors: vec![Vec::new(); texts.len()], tokens: None };
        for batch in batches(&sent) {
            let answer = self.ask(batch).await?;
            for ((place, _), vector) in batch.iter().zip(answer.vectors) {
                embedded.vectors[*place] = vector;
            }
            embedded.tokens = embedded.tokens.into_iter().chain(answer.tokens).reduce(u64::saturating_add);
        }
        Ok(embedded)
    }

    /// One request, repeated while that may help.
    async fn ask(&self, batch: &[(usize, &str)]) -> Result<VectorResponse, EmbeddingsError> {
        let mut call = self.call(batch)?;
        let deadline = Instant::now() + self.limits.total;
        for tries in 1.. {
            call.limits.total = deadline.saturating_duration_since(Instant::now());
            let fault = match self.ask_once(&call, batch.len()).await {
                Err(EmbeddingsError::Endpoint(fault)) => self.told(fault),
                answered => return answered,
            };
            let wished = fault.retry_after();
            let pause = self.retry.pause(tries, wished, luck()).filter(|_| fault.is_retryable());
            match pause.map(|pause| Instant::now() + pause).filter(|next| *next < deadline) {
                Some(next) => sleep_until(next).await,
                None => return Err(fault.into()),
            }
        }
        unreachable!("tries are counted and bounded")
    }

    fn call(&self, batch: &[(usize, &str)]) -> Result<HttpCall, LlmFault> {
        let mut call = HttpCall::new(Method::POST, &address(&self.base_url, PATH))?;
        call.headers = self.headers.clone();
        call.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        call.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let input = batch.iter().map(|(_, text)| *text).collect();
        let body = Request { model: &self.model, input, dimensions: self.dimensions };
        call.body = serde_json::to_vec(&body).expect("texts and numbers have a JSON form").into();
        call.credential.clone_from(&self.credential);
        (call.limits, call.retry) = (self.limits, Retry::NEVER);
        Ok(call)
    }

    async fn ask_once(&self, call: &HttpCall, wanted: usize) -> Result<VectorResponse, EmbeddingsError> {
        let answer = if self.follows { self.http.send(call).await } else { self.http.send_once(call).await };
        let HttpAnswer { status, headers, body } = answer.map_err(LlmFault::from)?;
        let body = body.whole().await.map_err(LlmFault::from)?;
        if status.is_success() {
            return match VectorResponse::read(&body, wanted) {
                Ok(answer) => Ok(answer),
                Err(fault) => Err(self.unread(fault, status.as_u16(), &headers, body).await),
            };
        }
        let raw = self.raw(status.as_u16(), &headers, body).await;
        Err(refusal::from_response(&raw, &self.model).into())
    }

    async fn unread(
        &self,
        fault: response::ResponseError,
        status: u16,
        headers: &HeaderMap,
        body: Bytes,
    ) -> EmbeddingsError {
        match fault {
            response::ResponseError::Count { wanted, found } => EmbeddingsError::Count { wanted, found },
            response::ResponseError::Garbled(problem) => {
                EmbeddingsError::NotUnderstood(ProviderMessage::new(&self.scrubbed(&problem)))
            }
            response::ResponseError::Reported => {
                let raw = self.raw(status, headers, body).await;
                let error = serde_json::from_slice(&raw.body).unwrap_or_default();
                refusal::from_event(&error, &raw, &self.model).into()
            }
        }
    }

    /// A refusal without the secret, which the endpoint may repeat.
    async fn raw(&self, status: u16, headers: &HeaderMap, body: Bytes) -> RawResponse {
        let pairs = headers
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
        let scrub = self.credential.as_deref().map(Credential::scrubber).unwrap_or_default();
        let headers = pairs.collect();
        let received = body.clone();
        let clean = background::run(body.len(), move || match scrub.bytes(&received) {
            Cow::Borrowed(_) => None,
            Cow::Owned(clean) => Some(Bytes::from(clean)),
        });
        let clean = clean.await;
        let scrubbed = clean.is_some();
        let body = clean.unwrap_or(body);
        RawResponse { status, headers, body, scrubbed }
    }

    fn scrubbed(&self, text: &str) -> String {
        let scrub = self.credential.as_deref().map(Credential::scrubber).unwrap_or_default();
        scrub.text(text).into_owned()
    }

    /// The limit that was set, where a try was given only what the tries before it had left.
    fn told(&self, fault: LlmFault) -> LlmFault {
        match fault {
            LlmFault::Call(CallFault::Timeout { host, phase: Phase::Total, .. }) => {
                CallFault::Timeout { host, phase: Phase::Total, limit: self.limits.total }.into()
            }
            other => other,
        }
    }
}

/// `encoding_format` is left out: numbers are the default, and not every server knows the word.
#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}
