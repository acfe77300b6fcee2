//! Takes the body of a request as bytes: JSON by its label, of limited size, in limited time.
//!
//! Bytes and not a document, because depth, wide integers and doubled keys are judged on the text itself.

use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::http::{HeaderMap, StatusCode, header};
use futures::StreamExt as _;
use serde::de::DeserializeOwned;
use skein_core::UserId;
use skein_core::document::{self, DOCUMENT_BYTES_MAX};
use skein_engine::Engine;
use tokio::time::{Instant, timeout_at};

use crate::http::auth::authentication::SignedIn;
use crate::http::context::Context;
use crate::http::error::ApiError;
use crate::http::extract::query;
use crate::http::limits::{BODY_BYTES_MAX, BODY_PROMPT_TIME_MAX, BODY_TIME_MAX, PARSED_AT_ONCE_BYTES_MAX};
use crate::http::listen::Peer;
use crate::http::throttle::admission::{AdmissionLimit, AdmissionPermit};

/// The text of a JSON body, unread.
pub(crate) struct JsonText {
    pub(crate) text: Bytes,
    _place: Option<AdmissionPermit>,
}

/// How large a body may be, and whose places it takes.
#[derive(Clone, Copy)]
pub(crate) struct BodyLimit<'a> {
    user: UserId,
    arriving: &'a AdmissionLimit,
    /// Where the body may be larger than one document: it takes one of these places then.
    large: Option<&'a AdmissionLimit>,
}

impl<'a> BodyLimit<'a> {
    /// One document.
    pub(crate) fn document(context: &'a Context, user: UserId) -> Self {
        Self { user, arriving: &context.arriving_bodies, large: None }
    }

    /// Many documents.
    pub(crate) fn batch(context: &'a Context, user: UserId) -> Self {
        Self { large: Some(&context.large_bodies), ..Self::document(context, user) }
    }

    fn bytes_max(&self) -> usize {
        if self.large.is_some() { BODY_BYTES_MAX } else { DOCUMENT_BYTES_MAX }
    }

    fn large_place(&self) -> Result<Option<AdmissionPermit>, ApiError> {
        self.large.map(|limit| limit.admit(self.user)).transpose()
    }
}

impl JsonText {
    /// Receives the body of a request, within its room.
    pub(crate) async fn receive(request: Request, room: BodyLimit<'_>) -> Result<Self, ApiError> {
        query::refuse_unread(request.extensions(), request.uri())?;
        check_label(request.headers())?;
        check_announced_size(request.headers(), room.bytes_max() as u64)?;
        let time_max = request.extensions().get().map_or(BODY_TIME_MAX, Peer::body_time_max);
        let received = tokio::time::timeout(time_max, collect(request.into_body(), room));
        let (text, place) = received.await.map_err(|_| too_slow(time_max))??;
        Ok(Self { text, _place: place })
    }

    /// Understands the text; a large one on a thread that answers nobody.
    pub(crate) async fn parse<T: Send + 'static>(
        &self,
        engine: &Engine,
        user: UserId,
        parse: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        if self.text.len() <= PARSED_AT_ONCE_BYTES_MAX {
            return Ok(parse(&self.text));
        }
        let text = self.text.clone();
        Ok(engine.compute().run(user, move || parse(&text)).await?)
    }
}

/// Puts the pieces of a body together as they come. A client that sends many small ones costs their bytes and no more.
async fn collect(body: Body, room: BodyLimit<'_>) -> Result<(Bytes, Option<AdmissionPermit>), ApiError> {
    let (mut arrival, mut whole, mut place) = (ArrivingBody::new(body, room), Vec::new(), None);
    let mut first = Bytes::new();
    while let Some(piece) = arrival.next().await? {
        let size = first.len() + whole.len() + piece.len();
        if size > room.bytes_max() {
            return Err(ApiError::body_too_large(room.bytes_max() as u64));
        }
        if size > DOCUMENT_BYTES_MAX && place.is_none() {
            place = room.large_place()?;
        }
        if size > PARSED_AT_ONCE_BYTES_MAX {
            arrival.take_place()?;
        }
        if size == piece.len() {
            first = piece;
        } else {
            whole.extend_from_slice(&std::mem::take(&mut first));
            whole.extend_from_slice(&piece);
        }
    }
    Ok((if whole.is_empty() { first } else { whole.into() }, place))
}

/// A body that is arriving. It takes a place of its user once it is slow or large, and gives it back when all of it is there.
struct ArrivingBody<'a> {
    pieces: BodyDataStream,
    room: BodyLimit<'a>,
    prompt_until: Instant,
    place: Option<AdmissionPermit>,
}

impl<'a> ArrivingBody<'a> {
    fn new(body: Body, room: BodyLimit<'a>) -> Self {
        let prompt_until = Instant::now() + BODY_PROMPT_TIME_MAX;
        Self { pieces: body.into_data_stream(), room, prompt_until, place: None }
    }

    fn take_place(&mut self) -> Result<(), ApiError> {
        if self.place.is_none() {
            self.place = Some(self.room.arriving.admit(self.room.user)?);
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        let piece = if self.place.is_some() {
            self.pieces.next().await
        } else if let Ok(piece) = timeout_at(self.prompt_until, self.pieces.next()).await {
            piece
        } else {
            self.take_place()?;
            self.pieces.next().await
        };
        piece.transpose().map_err(|_| ApiError::bad_request("invalid_body", "the body broke off; send it again"))
    }
}

/// A body that asks, and changes nothing; its derive has to deny unknown fields.
pub(crate) struct QueryBody<T>(pub(crate) T);

impl<T: DeserializeOwned + Send + 'static> FromRequest<Context> for QueryBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, context: &Context) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let SignedIn(caller) = SignedIn::from_request_parts(&mut parts, context).await?;
        let room = BodyLimit::document(context, caller.user);
        let text = JsonText::receive(Request::from_parts(parts, body), room).await?;
        let read = |text: &[u8]| {
            let read = serde_json::from_value(document::parse_object(text)?.into());
            read.map_err(|problem| ApiError::bad_request("invalid_body", problem.to_string()))
        };
        text.parse(&context.engine, caller.user, read).await?.map(Self)
    }
}

/// A missing label is taken for JSON; a wrong one is a mistake worth naming.
fn check_label(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(label) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let label = label.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if label.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let message = "the body has to be JSON; send Content-Type: application/json";
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message))
}

/// Refuses at once what would be refused after it was sent.
pub(crate) fn check_announced_size(headers: &HeaderMap, bytes_max: u64) -> Result<(), ApiError> {
    let size = headers.get(header::CONTENT_LENGTH).and_then(|size| size.to_str().ok());
    let size = size.and_then(|size| size.parse::<u64>().ok());
    if size.is_some_and(|size| size > bytes_max) { Err(ApiError::body_too_large(bytes_max)) } else { Ok(()) }
}

fn too_slow(time_max: Duration) -> ApiError {
    let message = format!("the body did not arrive within {} seconds", time_max.as_secs());
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", message)
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use axum::response::IntoResponse as _;
    use futures::future::select;
    use futures::{poll, stream};

    use super::*;

    fn user(number: u8) -> UserId {
        UserId::from_bytes([number; 16])
    }

    /// A body of which so many bytes are there, and no more come.
    fn unfinished(bytes: usize) -> Body {
        let there = stream::iter([Ok::<_, Error>(Bytes::from(vec![b' '; bytes]))]);
        Body::from_stream(there.chain(stream::pending()))
    }

    fn status(outcome: Result<(Bytes, Option<AdmissionPermit>), ApiError>) -> u16 {
        outcome.expect_err("it should be refused").into_response().status().as_u16()
    }

    #[tokio::test]
    async fn a_user_whose_large_bodies_are_arriving_has_a_limit_of_their_own() {
        let arriving = AdmissionLimit::new("bodies", 3, 2);
        let room = |number| BodyLimit { user: user(number), arriving: &arriving, large: None };
        let large = || unfinished(PARSED_AT_ONCE_BYTES_MAX + 1);
        let mut held = Vec::new();
        for number in [1, 1, 2] {
            let mut body = Box::pin(collect(large(), room(number)));
            assert!(poll!(body.as_mut()).is_pending());
            held.push(body);
        }
        assert_eq!(status(collect(large(), room(1)).await), 429);
        assert_eq!(status(collect(large(), room(2)).await), 503);
        let small = collect(Body::from("{}"), room(1)).await;
        assert_eq!(small.ok().map(|(text, _)| text), Some(Bytes::from("{}")));
        drop(held);
        let whole = vec![b' '; PARSED_AT_ONCE_BYTES_MAX + 1];
        for _ in 0..4 {
            assert!(collect(Body::from(whole.clone()), room(1)).await.is_ok());
        }
    }

    #[tokio::test]
    async fn a_small_body_takes_a_place_once_it_is_slow() {
        let arriving = AdmissionLimit::new("bodies", 2, 1);
        let room = BodyLimit { user: user(1), arriving: &arriving, large: None };
        let slow = || Box::pin(collect(unfinished(1), room));
        // Both wait until they are slow; there is a place for one of them.
        assert_eq!(status(select(slow(), slow()).await.factor_first().0), 429);
    }
}
