//! Takes the body of a request as bytes: JSON by its label, of limited size, in limited time.
//!
//! Bytes and not a document, because depth, wide integers and doubled keys are judged on the text itself.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::http::{HeaderMap, StatusCode, header};
use futures::StreamExt as _;
use serde::de::DeserializeOwned;
use skein_core::UserId;
use skein_core::document::{self, DOCUMENT_BYTES_MAX};
use skein_engine::Engine;

use crate::admission::{AdmissionLimit, AdmissionPermit};
use crate::context::Context;
use crate::error::ApiError;
use crate::limits::{BODY_BYTES_MAX, BODY_TIME_MAX, PARSED_AT_ONCE_BYTES_MAX};
use crate::listen::Visitor;
use crate::query;
use crate::signed_in::SignedIn;

/// The text of a JSON body, unread.
pub(crate) struct JsonText {
    pub(crate) text: Bytes,
    _place: Option<AdmissionPermit>,
}

/// How large a body may be.
pub(crate) enum BodyRoom<'a> {
    /// One document.
    Document,
    /// Many documents: beyond the size of one it takes a place of its user.
    Batch(&'a AdmissionLimit, UserId),
}

impl BodyRoom<'_> {
    fn bytes_max(&self) -> usize {
        match self {
            Self::Document => DOCUMENT_BYTES_MAX,
            Self::Batch(..) => BODY_BYTES_MAX,
        }
    }

    fn place(&self) -> Result<Option<AdmissionPermit>, ApiError> {
        match self {
            Self::Document => Ok(None),
            Self::Batch(limit, user) => limit.admit(*user).map(Some),
        }
    }
}

impl JsonText {
    /// Receives the body of a request, within its room.
    pub(crate) async fn receive(request: Request, room: BodyRoom<'_>) -> Result<Self, ApiError> {
        query::refuse_unread(request.extensions(), request.uri())?;
        check_label(request.headers())?;
        check_announced_size(request.headers(), room.bytes_max() as u64)?;
        let time_max = request.extensions().get().map_or(BODY_TIME_MAX, Visitor::body_time_max);
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
async fn collect(body: Body, room: BodyRoom<'_>) -> Result<(Bytes, Option<AdmissionPermit>), ApiError> {
    let (mut pieces, mut whole, mut place) = (body.into_data_stream(), Vec::new(), None);
    let mut first = Bytes::new();
    while let Some(piece) = pieces.next().await {
        let broke_off = |_| ApiError::bad_request("invalid_body", "the body broke off; send it again");
        let piece = piece.map_err(broke_off)?;
        let size = first.len() + whole.len() + piece.len();
        if size > room.bytes_max() {
            return Err(ApiError::body_too_large(room.bytes_max() as u64));
        }
        if size > DOCUMENT_BYTES_MAX && place.is_none() {
            place = room.place()?;
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

/// A body that asks, and changes nothing; its derive has to deny unknown fields.
pub(crate) struct Question<T>(pub(crate) T);

impl<T: DeserializeOwned + Send + 'static> FromRequest<Context> for Question<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, context: &Context) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let SignedIn(caller) = SignedIn::from_request_parts(&mut parts, context).await?;
        let text = JsonText::receive(Request::from_parts(parts, body), BodyRoom::Document).await?;
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
