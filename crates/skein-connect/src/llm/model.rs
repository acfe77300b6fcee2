//! Asks a model: a provider's over HTTP, or the built-in one. The only part of `llm` that does I/O.
//!
//! Start at [`LanguageModel::chat`]. Nothing is repeated here when a provider fails: a fault says whether that may help,
//! and the caller decides. One exception: a provider that only complains about a word is asked again in its own.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};

use super::answer_reader::{AnswerReader, RESPONSE_BYTES_MAX};
use super::chat::{ChatAnswer, ChatEvent, ChatFailure, ChatRequest, Dialect};
use super::dialect::{BuiltRequest, Wording, build};
use super::fault::LlmFault;
use crate::credential::Credential;
use crate::http::{Body, CallFault, Http, HttpAnswer, HttpCall, Limits, Retry};
use crate::{background, offline};

/// What a model is given: large ones think for minutes before they say a word.
pub const LIMITS: Limits = Limits {
    first_byte: Duration::from_mins(5),
    idle: Duration::from_mins(2),
    total: Duration::from_mins(15),
    answer_bytes_max: RESPONSE_BYTES_MAX,
};

/// A model that can be asked.
#[derive(Debug, Clone)]
pub enum LanguageModel {
    /// The built-in one.
    Offline,
    Provider(Provider),
}

/// How a provider is reached.
#[derive(Debug, Clone)]
pub struct Provider {
    pub http: Http,
    pub dialect: Dialect,
    /// Where its API begins, mostly ending in `/v1`; a bare host is completed to that.
    pub base_url: String,
    pub credential: Option<Arc<Credential>>,
    /// Sent beside what the dialect needs.
    pub headers: HeaderMap,
    pub limits: Limits,
}

impl LanguageModel {
    /// Asks, and gives the answer as it comes. Refusals come at once, breaks as the last of the stream.
    pub async fn chat(&self, request: &ChatRequest) -> Result<ChatStream, ChatFailure> {
        match self {
            Self::Offline => ask_offline(request.clone()).await.map_err(ChatFailure::without_answer),
            Self::Provider(provider) => provider.chat(request).await,
        }
    }

    /// Asks, and gives the answer when it is whole.
    pub async fn answer(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatFailure> {
        self.chat(request).await?.answer().await
    }
}

/// An answer as it comes. The last item is [`ChatEvent::End`] or a failure. Dropping it ends the call.
pub struct ChatStream(BoxStream<'static, Result<ChatEvent, ChatFailure>>);

impl ChatStream {
    /// Waits for the whole answer.
    pub async fn answer(mut self) -> Result<ChatAnswer, ChatFailure> {
        loop {
            match self.next().await {
                Some(Ok(ChatEvent::End(answer))) => return Ok(*answer),
                Some(Ok(_)) => {}
                Some(Err(failure)) => return Err(failure),
                None => unreachable!("a stream of events ends in an answer or a failure"),
            }
        }
    }
}

impl Stream for ChatStream {
    type Item = Result<ChatEvent, ChatFailure>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(cx)
    }
}

impl std::fmt::Debug for ChatStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChatStream")
    }
}

impl Provider {
    async fn chat(&self, request: &ChatRequest) -> Result<ChatStream, ChatFailure> {
        let mut wording = Wording::default();
        loop {
            let built = build(self.dialect, request, wording).map_err(ChatFailure::without_answer)?;
            let call = self.call(&built, request.stream).map_err(ChatFailure::without_answer)?;
            let answer = self.http.send(&call).await.map_err(|fault| ChatFailure::without_answer(fault.into()))?;
            let is_success = answer.status.is_success();
            let reading = ResponseReading::new(self, request, answer);
            if is_success {
                return Ok(reading.events());
            }
            let Err(failure) = reading.events().answer().await else {
                unreachable!("a refused request has no answer");
            };
            wording = wording.after(&failure.fault).ok_or(failure)?;
        }
    }

    fn call(&self, built: &BuiltRequest, is_streamed: bool) -> Result<HttpCall, LlmFault> {
        let mut call = HttpCall::new(Method::POST, &address(&self.base_url, built.path))?;
        let accepted = if is_streamed { "text/event-stream, application/json" } else { "application/json" };
        call.headers = self.headers.clone();
        call.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        call.headers.insert(ACCEPT, HeaderValue::from_static(accepted));
        for (name, value) in built.headers {
            call.headers.entry(*name).or_insert(HeaderValue::from_static(value));
        }
        call.body = built.body.to_string().into();
        call.credential.clone_from(&self.credential);
        (call.limits, call.retry) = (self.limits, Retry::NEVER);
        Ok(call)
    }
}

/// Where a request goes: behind the base, in front of its query.
pub(crate) fn address(base: &str, path: &str) -> String {
    let (base, query) = base.split_once('?').map_or((base, String::new()), |(base, query)| (base, format!("?{query}")));
    let base = base.trim_end_matches('/');
    if base.ends_with(path) {
        return format!("{base}{query}");
    }
    let is_bare = base.split_once("://").is_some_and(|(_, rest)| !rest.contains('/'));
    let version = if is_bare { "/v1" } else { "" };
    format!("{base}{version}{path}{query}")
}

/// A response on its way in.
struct ResponseReading {
    body: Body,
    reader: AnswerReader,
    ready: VecDeque<ChatEvent>,
}

enum State {
    Reading(Box<ResponseReading>),
    /// All that is left to say.
    Ending(VecDeque<Result<ChatEvent, ChatFailure>>),
}

impl ResponseReading {
    fn new(provider: &Provider, request: &ChatRequest, answer: HttpAnswer) -> Self {
        let headers = answer
            .headers
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
        // Asked after the call: a token may have been renewed on the way.
        let scrubber = provider.credential.as_deref().map(Credential::scrubber).unwrap_or_default();
        let status = answer.status.as_u16();
        let reader = AnswerReader::new(provider.dialect, request, status, headers.collect(), &scrubber);
        Self { body: answer.body, reader, ready: VecDeque::new() }
    }

    fn events(self) -> ChatStream {
        let state = State::Reading(Box::new(self));
        ChatStream(stream::unfold(state, State::next).boxed())
    }

    /// Reads until there is an event to give; then, or at the end, what comes next.
    async fn read(mut self: Box<Self>) -> State {
        match self.body.next().await {
            Some(Ok(piece)) => background::run(piece.len(), move || self.push(&piece)).await,
            Some(Err(fault)) => State::Ending(VecDeque::from([Err(self.reader.fail(broken(fault)))])),
            None => background::run(self.reader.kept_bytes(), move || self.finish()).await,
        }
    }

    fn push(mut self: Box<Self>, piece: &[u8]) -> State {
        let mut given = Vec::new();
        let Err(fault) = self.reader.push(piece, &mut given) else {
            self.ready.extend(given);
            return State::Reading(self);
        };
        let mut ending: VecDeque<_> = given.into_iter().map(Ok).collect();
        ending.push_back(Err(self.reader.fail(fault)));
        State::Ending(ending)
    }

    fn finish(self: Box<Self>) -> State {
        State::Ending(match self.reader.finish() {
            Ok((last, answer)) => ending(last, answer),
            Err(failure) => VecDeque::from([Err(failure)]),
        })
    }
}

impl State {
    async fn next(mut self) -> Option<(Result<ChatEvent, ChatFailure>, Self)> {
        loop {
            match self {
                Self::Ending(mut ending) => return Some((ending.pop_front()?, Self::Ending(ending))),
                Self::Reading(mut reading) => match reading.ready.pop_front() {
                    Some(event) => return Some((Ok(event), Self::Reading(reading))),
                    None => self = reading.read().await,
                },
            }
        }
    }
}

fn ending(last: Vec<ChatEvent>, answer: ChatAnswer) -> VecDeque<Result<ChatEvent, ChatFailure>> {
    let usage = ChatEvent::Usage(answer.usage);
    last.into_iter().chain([usage, ChatEvent::End(Box::new(answer))]).map(Ok).collect()
}

/// A fault of the connection after the answer began.
fn broken(fault: CallFault) -> LlmFault {
    use super::fault::StreamBreak;
    match fault {
        CallFault::TooLarge { limit, .. } => LlmFault::TooLarge { limit },
        other => LlmFault::BrokenStream(StreamBreak::Lost(other.to_string())),
    }
}

async fn ask_offline(request: ChatRequest) -> Result<ChatStream, LlmFault> {
    let is_streamed = request.stream;
    // Reading a long conversation takes a while, and others wait for this thread.
    let answer = tokio::task::spawn_blocking(move || offline::answer(&request)).await.expect("it does not panic")?;
    let pieces = if is_streamed { offline::pieces(&answer.text) } else { vec![answer.text.as_str()] };
    let text = pieces.into_iter().map(|piece| ChatEvent::Text(piece.to_owned())).collect();
    Ok(ChatStream(stream::iter(ending(text, answer)).boxed()))
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn addresses_are_completed_and_never_doubled() {
        let path = "/chat/completions";
        assert_eq!(address("https://api.openai.com/v1", path), "https://api.openai.com/v1/chat/completions");
        assert_eq!(address("https://api.openai.com/v1/", path), "https://api.openai.com/v1/chat/completions");
        assert_eq!(address("http://localhost:11434", path), "http://localhost:11434/v1/chat/completions");
        assert_eq!(address("https://a.example/x/v1/chat/completions", path), "https://a.example/x/v1/chat/completions");
        let azure = "https://a.example/openai/deployments/d?api-version=1";
        assert_eq!(address(azure, path), "https://a.example/openai/deployments/d/chat/completions?api-version=1");
    }
}
