//! Reads a response: the head at once, the body in pieces under its limits.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::stream::{BoxStream, Stream, StreamExt as _};
use http::{HeaderMap, Method, StatusCode, header};
use tokio::time::{Instant, Sleep, sleep_until};

use super::fault::{CallFault, Phase};
use super::request::Limits;
use super::retry;

/// An answer whose head has arrived, whatever its status.
#[derive(Debug)]
pub struct HttpAnswer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Body,
}

impl HttpAnswer {
    /// How long the service asks us to wait before the next call.
    pub fn retry_after(&self) -> Option<Duration> {
        retry::retry_after(&self.headers)
    }

    /// The media type without its parameters, in lower case.
    pub fn content_type(&self) -> Option<String> {
        let value = self.headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        Some(value.split(';').next()?.trim().to_ascii_lowercase())
    }
}

/// Whether a header of an answer may be shown; a cookie is a secret that the service has just made.
pub(crate) fn is_shown(name: &str) -> bool {
    !["set-cookie", "set-cookie2"].iter().any(|cookie| name.eq_ignore_ascii_case(cookie))
}

/// The bytes of an answer as they arrive, transfer framing removed. Ends with an error when a limit is reached.
pub struct Body {
    pieces: BoxStream<'static, reqwest::Result<Bytes>>,
    host: String,
    received: usize,
    limits: Limits,
    deadline: Instant,
    idle: Pin<Box<Sleep>>,
    is_over: bool,
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Body").field("host", &self.host).field("received", &self.received).finish_non_exhaustive()
    }
}

impl Body {
    /// Refuses a body that announces more than it may have.
    pub(super) fn new(
        response: reqwest::Response,
        host: String,
        method: &Method,
        limits: Limits,
        deadline: Instant,
    ) -> Result<Self, CallFault> {
        let limit = limits.answer_bytes_max;
        let announced = response.content_length().filter(|_| method != Method::HEAD);
        if announced.is_some_and(|length| length > limit as u64) {
            return Err(CallFault::TooLarge { host, limit });
        }
        let idle = Box::pin(sleep_until(deadline.min(Instant::now() + limits.idle)));
        let pieces = response.bytes_stream().boxed();
        Ok(Self { pieces, host, received: 0, limits, deadline, idle, is_over: false })
    }

    /// All of it at once.
    pub async fn whole(mut self) -> Result<Bytes, CallFault> {
        let mut whole = BytesMut::new();
        while let Some(piece) = self.next().await {
            whole.extend_from_slice(&piece?);
        }
        Ok(whole.freeze())
    }

    fn out_of_time(&self) -> CallFault {
        let is_all_used = Instant::now() >= self.deadline;
        let (phase, limit) =
            if is_all_used { (Phase::Total, self.limits.total) } else { (Phase::Idle, self.limits.idle) };
        CallFault::Timeout { host: self.host.clone(), phase, limit }
    }

    fn accept(&mut self, piece: reqwest::Result<Bytes>) -> Result<Bytes, CallFault> {
        let piece = piece.map_err(|error| CallFault::of(&error, &self.host, Duration::ZERO))?;
        self.received = self.received.saturating_add(piece.len());
        if self.received > self.limits.answer_bytes_max {
            return Err(CallFault::TooLarge { host: self.host.clone(), limit: self.limits.answer_bytes_max });
        }
        if Instant::now() >= self.deadline {
            return Err(self.out_of_time());
        }
        let until = self.deadline.min(Instant::now() + self.limits.idle);
        self.idle.as_mut().reset(until);
        Ok(piece)
    }
}

impl Stream for Body {
    type Item = Result<Bytes, CallFault>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let piece = match self.pieces.poll_next_unpin(cx) {
            Poll::Ready(Some(piece)) => self.accept(piece),
            Poll::Ready(None) => {
                self.is_over = true;
                return Poll::Ready(None);
            }
            Poll::Pending => {
                ready!(self.idle.as_mut().poll(cx));
                Err(self.out_of_time())
            }
        };
        self.is_over = piece.is_err();
        Poll::Ready(Some(piece))
    }
}
