//! The API of a running server, over HTTP.

use std::net::IpAddr;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{Request, Response, Uri};
use reqwest::redirect::Policy;

use crate::api_client::{ApiFailure, Transfer};
use crate::exit::Exit;
use crate::failure::Failure;

const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
/// For an answer that is read whole; transfers take as long as they take.
const ANSWER_TIME_MAX: Duration = Duration::from_mins(2);

pub(super) struct Remote {
    client: reqwest::Client,
    address: String,
}

/// Whether requests may pass a proxy of the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proxy {
    Never,
    AsConfigured,
}

impl Remote {
    pub(super) fn to(address: String, proxy: Proxy) -> Result<Self, Failure> {
        if address.starts_with("http://") && !is_loopback(&address) {
            tracing::warn!(address, "the key is sent there without encryption");
        }
        // Chosen once per process; whoever was first chose the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A key is for the server it was given for, wherever that would send us.
        let client = reqwest::Client::builder().connect_timeout(CONNECT_TIME_MAX).redirect(Policy::none());
        let client = if proxy == Proxy::Never { client.no_proxy() } else { client };
        let client = client.build().map_err(|error| {
            Failure::new(Exit::Failed, error, "check the certificates this machine trusts, and the proxy variables")
        })?;
        Ok(Self { client, address })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Whether somebody listens there.
    pub(super) async fn is_there(&self) -> bool {
        let authority = self.address.parse::<Uri>().ok().and_then(|uri| uri.authority().map(ToString::to_string));
        let Some(authority) = authority else { return false };
        let connecting = tokio::time::timeout(CONNECT_TIME_MAX, tokio::net::TcpStream::connect(authority));
        matches!(connecting.await, Ok(Ok(_)))
    }

    pub(super) async fn send(
        &self,
        request: Request<Bytes>,
        transfer: Transfer<'_>,
    ) -> Result<Response<Body>, ApiFailure> {
        let (mut parts, bytes) = request.into_parts();
        let body = match transfer {
            Transfer::To(upload) => {
                reqwest::Body::wrap_stream(upload.open(&mut parts.headers).map_err(ApiFailure::Here)?)
            }
            Transfer::None | Transfer::From => reqwest::Body::from(bytes),
        };
        let url = format!("{}{}", self.address, parts.uri);
        let mut request = self.client.request(parts.method, url).headers(parts.headers).body(body);
        if matches!(transfer, Transfer::None) {
            request = request.timeout(ANSWER_TIME_MAX);
        }
        let response = request.send().await.map_err(broken)?;
        Ok(Response::<reqwest::Body>::from(response).map(Body::new))
    }
}

fn is_loopback(address: &str) -> bool {
    let uri = address.parse::<Uri>().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
}

/// Told in words, so that a broken connection is never mistaken for an output nobody reads.
fn broken(error: reqwest::Error) -> ApiFailure {
    let is_unreachable = error.is_connect() || error.is_builder();
    let cause = format!("{:#}", anyhow::Error::new(error.without_url()));
    if is_unreachable { ApiFailure::Unreachable(cause) } else { ApiFailure::CutOff(cause) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_reached_without_encryption_in_silence() {
        for address in ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1", "http://0.0.0.0:1"] {
            assert!(is_loopback(address), "{address}");
        }
        for address in ["http://skein.example", "http://192.168.1.2:1", "http://localhost.example:1"] {
            assert!(!is_loopback(address), "{address}");
        }
    }
}
