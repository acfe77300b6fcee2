//! Sends requests to a server, or to the same router in this process.
//!
//! Either way it is the same requests and the same answers, so no command has a second implementation. Which way it is
//! says [`ServerAddress`]: the server that was named; else the one that holds the directory, by its lock file; else nobody
//! does, and the command holds it itself while it works. Start at [`ApiClient::open`].

mod listen;
mod local;
mod remote;
mod transfer;

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, IF_MATCH, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode};
use serde_json::Value;
use skein_core::{ItemId, OperationId};
use tokio::runtime::Runtime;

pub(crate) use self::listen::{EventStream, StreamEvent};
use self::local::LocalApi;
use self::remote::Remote;
pub(crate) use self::transfer::Upload;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::passphrase::Passphrase;
use crate::secret_value::SecretBody;
use crate::storage_location::StorageLocation;

const API: &str = "/api/v1";
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const GRANT: HeaderName = HeaderName::from_static("skein-grant");
const PASSPHRASE: HeaderName = HeaderName::from_static("skein-passphrase");
/// Far above any page; what is larger is downloaded, not answered.
const ANSWER_BYTES_MAX: usize = 256 << 20;
const TRIES_MAX: u32 = 3;
/// Before a connection that broke is tried again.
const PAUSE: Duration = Duration::from_millis(200);
/// The longest a busy server is waited for; beyond it, whoever typed the command decides.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Where a command finds the API.
#[derive(Debug)]
pub(crate) enum ServerAddress {
    Server {
        address: String,
        key: String,
    },
    /// Without a key, as the first administrator.
    Place {
        place: Box<StorageLocation>,
        key: Option<String>,
    },
}

/// One request, complete except for who asks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ApiCall {
    pub(crate) method: Method,
    /// Below `/api/v1`.
    pub(crate) path: String,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) body: Option<Value>,
    /// A body that must not be shown, in place of the other.
    pub(crate) secret: Option<SecretBody>,
    /// The hash of the state a change is based on.
    pub(crate) based_on: Option<String>,
    /// What secrets in a bundle are sealed with.
    pub(crate) passphrase: Option<Passphrase>,
}

impl ApiCall {
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Self {
        let (query, body, secret, based_on, passphrase) = Default::default();
        Self { method, path: path.into(), query, body, secret, based_on, passphrase }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn post(path: impl Into<String>, body: Value) -> Self {
        Self::new(Method::POST, path).with_body(body)
    }

    pub(crate) fn with_body(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }

    pub(crate) fn with_secret(self, body: SecretBody) -> Self {
        Self { secret: Some(body), ..self }
    }

    pub(crate) fn with_passphrase(self, passphrase: Option<Passphrase>) -> Self {
        Self { passphrase, ..self }
    }

    pub(crate) fn based_on(self, hash: Option<String>) -> Self {
        Self { based_on: hash, ..self }
    }

    /// One more parameter, unless it is nothing.
    pub(crate) fn with(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        self.query.extend(value.map(|value| (name, value.to_string())));
        self
    }

    fn target(&self) -> String {
        let encode = |text: &str| percent_encode(text);
        let query: Vec<String> = self.query.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{API}{}{mark}{}", self.path, query.join("&"))
    }
}

/// Why nothing came back.
pub(crate) enum ApiFailure {
    /// Nobody is there; nothing was sent.
    Unreachable(String),
    /// It ended before the answer was complete.
    CutOff(String),
    /// Something on this side, such as a file that cannot be read.
    Here(Failure),
}

/// What is streamed with a request.
#[derive(Clone, Copy)]
enum Transfer<'a> {
    None,
    To(&'a Upload),
    From,
}

enum Transport {
    Remote(Remote),
    Local(LocalApi),
}

pub(crate) struct ApiClient {
    way: Transport,
    key: String,
    grant: Option<ItemId>,
    runtime: Runtime,
}

impl ApiClient {
    pub(crate) fn open(reach: ServerAddress, grant: Option<ItemId>) -> Result<Self, Failure> {
        let runtime = crate::commands::runtime()?;
        let (way, key) = match reach {
            ServerAddress::Server { address, key } => {
                (Transport::Remote(Remote::to(address, remote::Proxy::AsConfigured)?), key)
            }
            ServerAddress::Place { place, key } => {
                let (way, own_key) = runtime.block_on(find(&place))?;
                (way, key.unwrap_or(own_key))
            }
        };
        Ok(Self { way, key, grant, runtime })
    }

    /// Asks, and asks again with the same idempotency key when the connection broke or the server is busy.
    pub(crate) fn call(&self, ask: &ApiCall) -> Result<Value, Failure> {
        self.runtime.block_on(async {
            let response = self.persist(ask, Transfer::None).await?;
            self.read(response).await
        })
    }

    /// Sees to it that queued work is carried out: here, unless there is a server that does.
    pub(crate) fn work(&self) {
        if let Transport::Local(local) = &self.way {
            local.work(&self.runtime);
        }
    }

    /// Whether queued work waits for this process, because there is no server.
    pub(crate) fn is_here(&self) -> bool {
        matches!(self.way, Transport::Local(_))
    }

    /// Lets a moment pass in which others get on.
    pub(crate) fn pause(&self, moment: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(moment).await });
    }

    async fn read(&self, response: Response<Body>) -> Result<Value, Failure> {
        let status = response.status();
        let bytes = to_bytes(response.into_body(), ANSWER_BYTES_MAX).await;
        let bytes = bytes.map_err(|error| self.broken(ApiFailure::CutOff(error.to_string())))?;
        let body = serde_json::from_slice(&bytes).map_err(|_| self.not_skein(status))?;
        Ok(body)
    }

    /// Seals what was written here and leaves; through a server there is nothing to do.
    pub(crate) fn close(self) -> Result<(), Failure> {
        match self.way {
            Transport::Remote(_) => Ok(()),
            Transport::Local(local) => local.close(self.runtime),
        }
    }

    /// One answer that is no refusal.
    async fn persist(&self, ask: &ApiCall, transfer: Transfer<'_>) -> Result<Response<Body>, Failure> {
        let idempotency_key = draw_idempotency_key();
        let mut tried = 1;
        loop {
            let pause = match self.send(ask, transfer, &idempotency_key).await {
                Ok(response) if response.status().is_success() => return Ok(response),
                Ok(response) => match pause_asked(&response).filter(|_| tried < TRIES_MAX) {
                    Some(pause) => pause,
                    None => return Err(self.refused(response).await),
                },
                Err(ApiFailure::CutOff(_)) if tried < TRIES_MAX => PAUSE,
                Err(broken) => return Err(self.broken(broken)),
            };
            tried += 1;
            tokio::time::sleep(pause).await;
        }
    }

    async fn send(
        &self,
        ask: &ApiCall,
        transfer: Transfer<'_>,
        idempotency_key: &str,
    ) -> Result<Response<Body>, ApiFailure> {
        let mut request = Request::builder().method(&ask.method).uri(ask.target());
        request = request.header(AUTHORIZATION, format!("Bearer {}", self.key));
        if ask.method != Method::GET {
            request = request.header(IDEMPOTENCY_KEY, idempotency_key);
        }
        if let Some(grant) = &self.grant {
            request = request.header(GRANT, grant.to_string());
        }
        if ask.body.is_some() || ask.secret.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        if let Some(hash) = &ask.based_on {
            request = request.header(IF_MATCH, format!("\"{hash}\""));
        }
        if let Some(passphrase) = &ask.passphrase {
            request = request.header(PASSPHRASE, passphrase.header());
        }
        let open = || Bytes::from(ask.body.as_ref().map(Value::to_string).unwrap_or_default());
        let body = ask.secret.as_ref().map_or_else(open, SecretBody::bytes);
        let request = request.body(body).map_err(|bad| ApiFailure::Here(unsendable(&bad)))?;
        match &self.way {
            Transport::Remote(remote) => remote.send(request, transfer).await,
            Transport::Local(local) => local.send(request, transfer).await,
        }
    }

    fn broken(&self, broken: ApiFailure) -> Failure {
        let shown = self.shown();
        match broken {
            ApiFailure::Here(failure) => failure,
            ApiFailure::Unreachable(cause) => Failure::new(
                Exit::Unavailable,
                anyhow::anyhow!("{shown} cannot be reached: {cause}"),
                "start it, or correct --server; without --server a command works on the directory itself",
            ),
            ApiFailure::CutOff(cause) => Failure::new(
                Exit::Unavailable,
                anyhow::anyhow!("the connection to {shown} broke: {cause}"),
                "look at what is there before trying again",
            ),
        }
    }

    async fn refused(&self, response: Response<Body>) -> Failure {
        let status = response.status();
        let body = to_bytes(response.into_body(), ANSWER_BYTES_MAX).await.unwrap_or_default();
        match serde_json::from_slice::<Value>(&body) {
            Ok(body) if body["error"]["message"].is_string() => Failure::refused(status, &body["error"]),
            _ => self.not_skein(status),
        }
    }

    fn not_skein(&self, status: StatusCode) -> Failure {
        let is_absent = matches!(status.as_u16(), 502..=504);
        let exit = if is_absent { Exit::Unavailable } else { Exit::Failed };
        let error = anyhow::anyhow!("{} answered {} in a way Skein does not", self.shown(), status.as_u16());
        Failure::new(
            exit,
            error,
            "check that --server names a Skein server, and that whatever stands before it reaches it",
        )
    }

    fn shown(&self) -> &str {
        match &self.way {
            Transport::Remote(remote) => remote.address(),
            Transport::Local(_) => "this process",
        }
    }
}

/// The server on the directory, or this process in its place; waits for a command that holds it just now.
async fn find(place: &StorageLocation) -> Result<(Transport, String), Failure> {
    let deadline = tokio::time::Instant::now() + local::WAIT_MAX;
    loop {
        let held = match LocalApi::open(place).await {
            Ok((local, key)) => {
                tracing::debug!(dir = %place.dir.display(), "nobody holds the directory; working on it here");
                return Ok((Transport::Local(local), key));
            }
            Err(local::OpenError::Held(held)) => held,
            Err(local::OpenError::Failed(failure)) => return Err(failure),
        };
        if let Some(holder) = held.holder() {
            refuse_other_database(place, &holder.database)?;
            let remote = Remote::to(holder.address.clone(), remote::Proxy::Never)?;
            if remote.is_there().await {
                tracing::debug!(address = holder.address, "going through the server that holds the directory");
                return Ok((Transport::Remote(remote), holder.key.clone()));
            }
        }
        if tokio::time::Instant::now() >= deadline {
            return Err(held.into());
        }
        tokio::time::sleep(local::LOOK_EVERY).await;
    }
}

/// A server that holds the directory answers from its own database, whatever other one was named.
fn refuse_other_database(place: &StorageLocation, held: &str) -> Result<(), Failure> {
    let named = place.database_shown();
    if !place.names_database() || named == held {
        return Ok(());
    }
    let error = anyhow::anyhow!("the server on {} works on {held}, not on {named}", place.dir.display());
    Err(Failure::usage(error, "give the --database the server was started with, or another --dir"))
}

/// How long the server asks to wait, if it is only busy and that is not long.
fn pause_asked(response: &Response<Body>) -> Option<Duration> {
    let is_busy = [StatusCode::SERVICE_UNAVAILABLE, StatusCode::TOO_MANY_REQUESTS].contains(&response.status());
    seconds(response.headers()).filter(|asked| is_busy && *asked <= PAUSE_MAX)
}

fn seconds(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok().map(Duration::from_secs)
}

fn draw_idempotency_key() -> String {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).expect("the operating system provides randomness");
    OperationId::from_bytes(bits).bare()
}

fn unsendable(bad: &axum::http::Error) -> Failure {
    let error = anyhow::anyhow!("this cannot be sent: {bad}");
    Failure::usage(error, "look for line breaks and other control characters in the key")
}

/// As RFC 3986 says, leaving only what needs no escape anywhere.
fn percent_encode(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_escaped_and_nothing_is_left_out() {
        let ask =
            ApiCall::get("/items").with("type", Some("a&b=é ")).with("limit", None::<u32>).with("order", Some("asc"));
        assert_eq!(ask.target(), "/api/v1/items?type=a%26b%3D%C3%A9%20&order=asc");
        assert_eq!(ApiCall::get("/items").target(), "/api/v1/items");
    }

    #[test]
    fn idempotency_keys_are_ulids_and_differ() {
        let (one, other) = (draw_idempotency_key(), draw_idempotency_key());
        assert!(one != other && OperationId::from_bare(&one).is_ok(), "{one} {other}");
    }

    #[test]
    fn only_a_busy_server_is_asked_again_and_only_soon() {
        let busy = |status: u16, after: &str| {
            let response = Response::builder().status(status).header(RETRY_AFTER, after).body(Body::empty());
            pause_asked(&response.unwrap())
        };
        assert_eq!(busy(503, "1"), Some(Duration::from_secs(1)));
        assert_eq!(busy(429, "5"), Some(Duration::from_secs(5)));
        assert_eq!(busy(503, "60"), None);
        assert_eq!(busy(503, "tomorrow"), None);
        assert_eq!(busy(500, "1"), None);
    }
}
