//! One way to call somebody else's service over HTTP: judged, bounded, repeated where that is safe.
//!
//! Knows nothing of REST or models; `rest` and `llm` stand on it. Start at [`Http::send`].

mod fault;
mod peer;
mod redirect;
mod request;
mod response;
mod retry;
mod token_renewal;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use reqwest::Response;
use rustls::pki_types::CertificateDer;
use tokio::time::{Instant, timeout_at};

use crate::credential::Credential;
use crate::guard::Guard;
use peer::{Peer, Peers};
use redirect::RedirectHop;
use retry::TryOutcome;
use token_renewal::Renewals;

pub use fault::{CallFault, Phase};
pub use peer::{Names, SystemNames};
pub use request::{HttpCall, Limits, Retry};
pub(crate) use response::is_shown;
pub use response::{Body, HttpAnswer};

const REDIRECTS_MAX: usize = 5;

/// What holds for all calls.
#[derive(Clone)]
pub struct HttpOptions {
    pub connect_time_max: Duration,
    pub names: Arc<dyn Names>,
    /// Certificates trusted beside those of the system.
    pub extra_roots: Vec<CertificateDer<'static>>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self { connect_time_max: Duration::from_secs(10), names: Arc::new(SystemNames), extra_roots: Vec::new() }
    }
}

/// The client for everything that goes out. Clones share their connections.
#[derive(Clone)]
pub struct Http(Arc<Shared>);

struct Shared {
    guard: Guard,
    peers: Peers,
    connect_time_max: Duration,
    renewals: Renewals,
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Http").field(&self.0.guard).finish()
    }
}

impl Http {
    pub fn new(guard: Guard, options: HttpOptions) -> Self {
        let HttpOptions { connect_time_max, names, extra_roots } = options;
        let peers = Peers::new(guard.clone(), names, connect_time_max, extra_roots);
        Self(Arc::new(Shared { guard, peers, connect_time_max, renewals: Renewals::default() }))
    }

    pub fn guard(&self) -> &Guard {
        &self.0.guard
    }

    /// Carries a call out and returns its answer when the head is there, whatever the status says.
    pub async fn send(&self, call: &HttpCall) -> Result<HttpAnswer, CallFault> {
        let deadline = Instant::now() + call.limits.total;
        let mut tries = 0;
        loop {
            let answer = self.authorized(call, deadline).await;
            tries += 1;
            let outcome = match &answer {
                Ok(answer) => TryOutcome::Answer(answer.status, &answer.headers),
                Err(fault) => TryOutcome::Fault { is_retryable: fault.is_retryable() },
            };
            let pause = call.retry.pause_after(tries, &call.method, outcome, luck());
            match pause.map(|pause| Instant::now() + pause).filter(|next| *next < deadline) {
                Some(next) => tokio::time::sleep_until(next).await,
                None => return answer.map_err(|fault| call.scrubbed(fault)),
            }
        }
    }

    /// One try, and a second one with a new token when the service says that the old one has ended.
    async fn authorized(&self, call: &HttpCall, deadline: Instant) -> Result<HttpAnswer, CallFault> {
        let used = call.credential.as_ref().map_or(0, |credential| credential.renewals());
        let (answer, is_trusted) = self.follow(call, deadline).await?;
        let Some(credential) = call.credential.as_ref().filter(|_| is_trusted) else { return Ok(answer) };
        if answer.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        if credential.renewals() == used {
            let Some(renewal) = credential.renewal() else { return Ok(answer) };
            self.renew(credential, renewal).await?;
        }
        drop(answer);
        self.follow(call, deadline).await.map(|(answer, _)| answer)
    }

    /// To where the redirects end, and whether that is still the origin the caller named.
    async fn follow(&self, call: &HttpCall, deadline: Instant) -> Result<(HttpAnswer, bool), CallFault> {
        let mut stop = RedirectHop::first(call);
        for _ in 0..=REDIRECTS_MAX {
            let response = self.ask(&stop, call, deadline).await?;
            let Some(next) = stop.next(response.status(), response.headers())? else {
                return Ok((answered(response, &stop, call.limits, deadline)?, stop.is_trusted));
            };
            stop = next;
        }
        Err(stop.bad_redirect(&format!("more than {REDIRECTS_MAX} times")))
    }

    /// One try, without following anywhere.
    pub(crate) async fn send_once(&self, call: &HttpCall) -> Result<HttpAnswer, CallFault> {
        let sent = self.ask_once(call, Instant::now() + call.limits.total).await;
        sent.map_err(|fault| call.scrubbed(fault))
    }

    /// Without following anywhere: what the call holds is for its receiver alone.
    async fn ask_once(&self, call: &HttpCall, deadline: Instant) -> Result<HttpAnswer, CallFault> {
        let stop = RedirectHop::first(call);
        let response = self.ask(&stop, call, deadline).await?;
        if response.status().is_redirection() {
            return Err(stop.bad_redirect("what was sent is secret and goes nowhere else"));
        }
        answered(response, &stop, call.limits, deadline)
    }

    /// One request and the head of its answer.
    async fn ask(&self, stop: &RedirectHop, call: &HttpCall, deadline: Instant) -> Result<Response, CallFault> {
        request::check(&stop.url)?;
        let endpoint = request::endpoint(&stop.url)?;
        if let Ok(literal) = endpoint.host().parse() {
            self.0.guard.judge(&endpoint, literal)?;
        }
        let credential = call.credential.as_deref().filter(|_| stop.is_trusted);
        let identity = credential.and_then(Credential::identity);
        let peer = Peer { endpoint, is_encrypted: stop.url.scheme() == "https", identity };
        let client = self.0.peers.client(&peer)?;
        let mut request = reqwest::Request::new(stop.method.clone(), stop.url.clone());
        *request.headers_mut() = stop.headers.clone();
        if !stop.body.is_empty() {
            *request.body_mut() = Some(stop.body.clone().into());
        }
        if let Some(credential) = credential {
            credential.apply(&mut request)?;
        }
        let host = || peer.endpoint.to_string();
        let soonest = deadline.min(Instant::now() + call.limits.first_byte);
        let response = match timeout_at(soonest, client.execute(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(CallFault::of(&error, &host(), self.0.connect_time_max)),
            Err(_) if soonest == deadline => {
                return Err(CallFault::Timeout { host: host(), phase: Phase::Total, limit: call.limits.total });
            }
            Err(_) => {
                let limit = call.limits.first_byte;
                return Err(CallFault::Timeout { host: host(), phase: Phase::FirstByte, limit });
            }
        };
        self.judge_again(&peer, response.remote_addr().map(|address| address.ip()))?;
        Ok(response)
    }

    /// What was connected to is what was judged; should that ever fail to hold, nobody sees the answer.
    fn judge_again(&self, peer: &Peer, address: Option<IpAddr>) -> Result<(), CallFault> {
        let unknown = || CallFault::Address("nobody knows where the connection went".to_owned());
        Ok(self.0.guard.judge(&peer.endpoint, address.ok_or_else(unknown)?)?)
    }
}

fn answered(
    response: Response,
    stop: &RedirectHop,
    limits: Limits,
    deadline: Instant,
) -> Result<HttpAnswer, CallFault> {
    let (status, headers) = (response.status(), response.headers().clone());
    let host = request::endpoint(&stop.url)?.to_string();
    let body = Body::new(response, host, &stop.method, limits, deadline)?;
    Ok(HttpAnswer { status, headers, body })
}

/// A random part from nothing up to one, so that many callers do not come back at the same moment.
pub(crate) fn luck() -> f64 {
    let bits = getrandom::u32().unwrap_or(u32::MAX / 2);
    f64::from(bits) / f64::from(u32::MAX)
}
