//! Describes one HTTP call to a service: method, address, headers, body, and limits on time and bytes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use reqwest::Url;

use super::fault::CallFault;
use crate::credential::Credential;
use crate::guard::{Endpoint, Refusal};

/// One request, complete but for what the credential adds.
#[derive(Debug, Clone)]
pub struct HttpCall {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Bytes,
    pub credential: Option<Arc<Credential>>,
    pub limits: Limits,
    pub retry: Retry,
}

impl HttpCall {
    /// A request without headers or body, under the usual limits.
    pub fn new(method: Method, url: &str) -> Result<Self, CallFault> {
        let url = Url::parse(url).map_err(|error| CallFault::Address(error.to_string()))?;
        check(&url)?;
        let (limits, retry) = (Limits::default(), Retry::default());
        Ok(Self { method, url, headers: HeaderMap::new(), body: Bytes::new(), credential: None, limits, retry })
    }

    /// A fault of this call without its secret.
    pub(super) fn scrubbed(&self, fault: CallFault) -> CallFault {
        match &self.credential {
            Some(credential) => fault.scrubbed(&credential.scrubber()),
            None => fault,
        }
    }
}

/// What a URL must be before anything is done with it, first or redirected to.
pub(super) fn check(url: &Url) -> Result<(), CallFault> {
    if !["http", "https"].contains(&url.scheme()) {
        return Err(Refusal::Scheme(url.scheme().to_owned()).into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(CallFault::Address("it carries a user name; keep a secret of type password instead".to_owned()));
    }
    Ok(())
}

/// Where a checked URL leads.
pub(super) fn endpoint(url: &Url) -> Result<Endpoint, CallFault> {
    match (url.host_str(), url.port_or_known_default()) {
        (Some(host), Some(port)) => Ok(Endpoint::new(host, port)),
        _ => Err(CallFault::Address("it names no host".to_owned())),
    }
}

/// Bounds of one call; the time to connect is set for all calls by [`super::HttpOptions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From sending to the head of the answer, connecting included.
    pub first_byte: Duration,
    /// Between two pieces of the answer's body.
    pub idle: Duration,
    /// For everything: redirects, repetitions, pauses and the whole body.
    pub total: Duration,
    pub answer_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(30),
            idle: Duration::from_secs(30),
            total: Duration::from_mins(2),
            answer_bytes_max: 16 << 20,
        }
    }
}

/// How often a call that is safe to repeat is tried, and how long the pauses between are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The first try included.
    pub tries_max: u32,
    /// The first pause is at most this; each further one may be twice as long.
    pub pause: Duration,
    pub pause_max: Duration,
    /// A service may ask for a longer pause with `Retry-After`, up to this; beyond it, its answer is taken as it is.
    pub wished_pause_max: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            tries_max: 3,
            pause: Duration::from_millis(200),
            pause_max: Duration::from_secs(5),
            wished_pause_max: Duration::from_secs(20),
        }
    }
}

impl Retry {
    pub const NEVER: Self =
        Self { tries_max: 1, pause: Duration::ZERO, pause_max: Duration::ZERO, wished_pause_max: Duration::ZERO };
}
