//! Receives large bodies piece by piece into a writer, within limits of size and time.
//!
//! Memory holds one piece of each body. A few threads write the pieces of all of them. While a body arrives, its reserved
//! operation is renewed, so that a repeat of the request is told that the first one is under way.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use futures::StreamExt as _;
use skein_engine::{Engine, Reservation, ReservationOutcome};
use skein_store::StoreError;
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use crate::http::context::Context;
use crate::http::error::ApiError;
use crate::http::extract::body::check_announced_size;
use crate::http::limits::{BODY_TIME_MAX, UPLOAD_WRITERS};
use crate::http::listen::Peer;
use crate::http::mutation::MutationRequest;

/// How often the operation of a body that arrives is renewed.
const RENEW_EVERY: Duration = Duration::from_secs(5);

/// Limits how many pieces are written at once, of all bodies. A thread that may block is expensive: with one for each body, a
/// hundred uploads at full speed take more memory for threads than for bytes.
#[derive(Debug)]
pub(crate) struct UploadWriters(Arc<Semaphore>);

impl UploadWriters {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(UPLOAD_WRITERS)))
    }

    /// Writes a piece when a thread is free for it; bodies take turns.
    async fn write<W: Write + Send + 'static>(&self, mut out: W, piece: Bytes) -> Result<io::Result<W>, JoinError> {
        let turn = Arc::clone(&self.0).acquire_owned().await.expect("it is never closed");
        let write = move || {
            // Until the thread is free, even when the client left.
            let _turn = turn;
            out.write_all(&piece).map(|()| out)
        };
        tokio::task::spawn_blocking(write).await
    }
}

/// A body that is about to be received, and the limits it has to keep.
pub(crate) struct Upload {
    body: BodyDataStream,
    bytes_max: u64,
    /// Longest time without a piece.
    pause_max: Duration,
    time_max: Duration,
}

impl Upload {
    /// The body of a request; a size it announces beyond the limit is refused at once.
    pub(crate) fn of(request: Request, bytes_max: u64, time_max: Duration) -> Result<Self, ApiError> {
        check_announced_size(request.headers(), bytes_max)?;
        let pause_max = request.extensions().get().map_or(BODY_TIME_MAX, Peer::body_time_max);
        let body = Body::into_data_stream(request.into_body());
        Ok(Self { body, bytes_max, pause_max, time_max })
    }

    /// Writes the whole body; `reserved` is the place of its request.
    pub(crate) async fn receive<W: Write + Send + 'static>(
        mut self,
        context: &Context,
        asking: &MutationRequest,
        reserved: &ReservationOutcome,
        mut out: W,
    ) -> Result<W, ApiError> {
        let engine = &context.engine;
        let (mut size, begun, mut renewed) = (0, Instant::now(), Instant::now());
        loop {
            let piece = tokio::time::timeout(self.pause_max, self.body.next()).await.map_err(|_| self.too_slow())?;
            let Some(piece) = piece else { return Ok(out) };
            let piece =
                piece.map_err(|_| ApiError::bad_request("invalid_body", "the body broke off; send it again"))?;
            size += piece.len() as u64;
            if size > self.bytes_max {
                return Err(ApiError::body_too_large(self.bytes_max));
            }
            if begun.elapsed() > self.time_max {
                return Err(self.too_slow());
            }
            if let (ReservationOutcome::Place(place), true) = (reserved, renewed.elapsed() > RENEW_EVERY) {
                engine.still_working(&asking.caller, place).await?;
                renewed = Instant::now();
            }
            out = context
                .upload_writers
                .write(out, piece)
                .await
                .map_err(|error| ApiError::internal(error.to_string()))?
                .map_err(|error| unwritable(engine, &error))?;
        }
    }

    fn too_slow(&self) -> ApiError {
        let (pause, whole) = (self.pause_max.as_secs(), self.time_max.as_secs());
        let message = format!("the body came too slowly: it may pause for {pause} seconds and take {whole} in all");
        ApiError::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", message)
    }
}

/// The temporary file of a body could not be written.
pub(crate) fn unwritable(engine: &Engine, error: &io::Error) -> ApiError {
    let error = StoreError::of_file("the body of a request cannot be put aside", error);
    engine.report_storage(&error);
    error.into()
}

/// Gives a reserved place back. The first error is worth more than a failure here: the place runs out by itself.
pub(crate) async fn release(engine: &Engine, asking: &MutationRequest, place: &Reservation, problem: &str) {
    if let Err(error) = engine.release(&asking.caller, place, problem).await {
        tracing::debug!(%error, "a reserved place was not given back");
    }
}
