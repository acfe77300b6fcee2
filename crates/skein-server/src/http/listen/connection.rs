//! One connection, from its first byte to its last: HTTP/1.1 with limits.

use std::future::ready;
use std::net::SocketAddr;

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::future::Either;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tower::Service as _;

use super::ServeOptions;
use crate::http::limits::{CONNECTION_BUFFER_BYTES, HEAD_BYTES_MAX, HEADERS_MAX};
use crate::http::listen::peer::Peer;
use crate::http::listen::write_timeout::WriteTimeout;

/// Tells that the server is about to stop.
#[derive(Debug, Clone)]
pub struct Stopping(watch::Receiver<bool>);

impl Stopping {
    pub(super) fn new(stopped: watch::Receiver<bool>) -> Self {
        Self(stopped)
    }

    /// Resolves once the server was told to stop, or is gone.
    pub async fn begun(&mut self) {
        let _ = self.0.wait_for(|stopping| *stopping).await;
    }
}

/// What every connection meets.
#[derive(Clone)]
pub(super) struct ConnectionContext {
    router: Router,
    options: ServeOptions,
    stopping: Stopping,
}

impl ConnectionContext {
    pub(super) fn new(router: Router, options: ServeOptions, stopping: Stopping) -> Self {
        Self { router, options, stopping }
    }

    pub(super) fn options(&self) -> &ServeOptions {
        &self.options
    }

    /// Serves the connection until either side ends it.
    pub(super) async fn receive(self, stream: TcpStream, peer: SocketAddr) {
        // Answers are small and written whole: waiting to fill a packet would only delay them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "could not set TCP_NODELAY");
        }
        let mut stopping = self.stopping.clone();
        let io = TokioIo::new(WriteTimeout::new(stream, self.options.write_stall_max));
        let head_time_max = self.options.head_time_max;
        let visitor = Peer::made(peer, self.options.body_time_max, Some(self.stopping));
        let router = self.router;
        let service = service_fn(move |mut request: Request<_>| {
            if request.headers().len() > HEADERS_MAX {
                return Either::Left(ready(Ok(too_many_headers())));
            }
            request.extensions_mut().insert(visitor.clone());
            Either::Right(router.clone().call(request))
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(head_time_max)
            .max_header_size(HEAD_BYTES_MAX)
            .max_buf_size(CONNECTION_BUFFER_BYTES);
        let mut serving = Box::pin(http.serve_connection(io, service));
        let ended = tokio::select! {
            ended = &mut serving => ended,
            () = stopping.begun() => {
                serving.as_mut().graceful_shutdown();
                serving.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, %peer, "a connection broke");
        }
    }
}

/// Counted here, because hyper would allocate memory for the headers of every request if it were told a number of its
/// own; without one it refuses more than a hundred, in the same way.
fn too_many_headers() -> Response {
    (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, [(header::CONNECTION, "close")]).into_response()
}
