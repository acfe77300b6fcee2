//! The API of a running server, over HTTP.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{Request, Response, Uri};
use reqwest::redirect::Policy;

use crate::door::{Broken, Upload};
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
        upload: Option<&Upload>,
    ) -> Result<Response<Body>, Broken> {
        let (mut parts, bytes) = request.into_parts();
        let is_transfer = upload.is_some() || is_download(&parts.uri);
        let body = match upload {
            Some(upload) => reqwest::Body::wrap_stream(upload.open(&mut parts.headers).map_err(Broken::Here)?),
            None => reqwest::Body::from(bytes),
        };
        let url = format!("{}{}", self.address, parts.uri);
        let mut request = self.client.request(parts.method, url).headers(parts.headers).body(body);
        if !is_transfer {
            request = request.timeout(ANSWER_TIME_MAX);
        }
        let response = request.send().await.map_err(broken)?;
        Ok(Response::<reqwest::Body>::from(response).map(Body::new))
    }
}

fn is_download(uri: &Uri) -> bool {
    uri.path().contains("/exports/")
}

/// Told in words, so that a broken connection is never mistaken for an output nobody reads.
fn broken(error: reqwest::Error) -> Broken {
    let is_unreachable = error.is_connect() || error.is_builder();
    let cause = format!("{:#}", anyhow::Error::new(error.without_url()));
    if is_unreachable { Broken::Unreachable(cause) } else { Broken::CutOff(cause) }
}
