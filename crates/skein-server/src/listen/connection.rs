//! One connection, from its first byte to its last: HTTP/1.1 with limits.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tower::Service as _;

use super::ServeOptions;
use super::patient::Patient;
use crate::limits::{CONNECTION_BUFFER_BYTES, HEAD_BYTES_MAX, HEADERS_MAX};

/// Tells that the server is about to stop. Every request carries one, for answers that would not end by themselves.
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

/// How long the body of a request may take, where the server was told so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyTimeMax(pub(crate) Duration);

/// What every connection meets.
#[derive(Clone)]
pub(super) struct Visit {
    router: Router,
    options: ServeOptions,
    stopping: Stopping,
}

impl Visit {
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
        let io = TokioIo::new(Patient::new(stream, self.options.write_stall_max));
        let head_time_max = self.options.head_time_max;
        let service = service_fn(move |request| self.router.clone().call(self.introduced(request, peer)));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(head_time_max)
            .max_headers(HEADERS_MAX)
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

    /// The request with what the connection knows of it.
    fn introduced<B>(&self, mut request: Request<B>, peer: SocketAddr) -> Request<B> {
        let extensions = request.extensions_mut();
        extensions.insert(ConnectInfo(peer));
        extensions.insert(BodyTimeMax(self.options.body_time_max));
        extensions.insert(self.stopping.clone());
        request
    }
}
