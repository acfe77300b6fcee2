//! Blobs over HTTP: uploaded as a stream, downloaded whole or in part; knowing a hash opens nothing.

use std::ops::Range;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::{Stream, StreamExt as _, TryStreamExt as _, stream};
use serde::Serialize;
use skein_core::{Digest, ItemId};
use skein_engine::garden::Attachment;
use skein_engine::tree::THUMBNAIL_MEDIA_TYPE;
use skein_engine::{CommittedChange, Engine, ReservationOutcome};
use skein_store::StoreError;
use skein_store::blobs::{BlobPieces, BlobRef, IncomingBlob};
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::context::Context;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{self, NoParameters, Parameters};
use crate::http::extract::upload::{Upload, release};
use crate::http::limits::{BLOB_BYTES_MAX, UPLOAD_TIME_MAX};
use crate::http::mutation::{Answer, Mutated, MutationRequest};

const DEFAULT_MEDIA_TYPE: &str = "application/octet-stream";

/// Bytes that were uploaded and attached.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlobView {
    /// SHA-256 of the bytes.
    #[schema(value_type = String, example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    hash: Digest,
    #[schema(example = 4)]
    size: i64,
    #[schema(example = "image/png")]
    media_type: String,
    /// The fact that names them; redact it to destroy them.
    #[schema(value_type = String)]
    item_id: ItemId,
}

impl From<Attachment> for BlobView {
    fn from(attachment: Attachment) -> Self {
        let Attachment { item, blob } = attachment;
        Self { hash: blob.hash(), size: blob.size(), media_type: blob.media_type().to_owned(), item_id: item }
    }
}

/// Upload bytes and attach them; `Content-Type` names their media type, `application/octet-stream` where it is left out.
///
/// At most 100 MiB, within 10 minutes, with pauses of at most 30 seconds. One user may have 32 uploads under way (429 beyond), the
/// server 128 (503 beyond).
#[utoipa::path(post, path = "/blobs", tag = "blobs",
    request_body(content_type = "application/octet-stream", content = Option<String>, example = json!("any bytes")),
    responses((status = 201, body = Mutated<BlobView>)))]
pub(crate) async fn upload_blob(
    State(context): State<Context>,
    request: Request,
) -> Result<Answer<BlobView>, ApiError> {
    let (mut parts, body) = request.into_parts();
    let asking = MutationRequest::from_parts(&mut parts, &context).await?;
    query::refuse_unread(&parts.extensions, &parts.uri)?;
    let media_type = media_type(&parts.headers)?;
    let upload = Upload::of(Request::from_parts(parts, body), BLOB_BYTES_MAX as u64, UPLOAD_TIME_MAX)?;
    let _permit = context.uploads.admit(asking.caller.user)?;
    let engine = &context.engine;
    let incoming = engine.begin_blob(&media_type)?;
    let reserved = engine.reserve(&asking.caller, &asking.key, "blob.attach").await?;
    let received = upload.receive(&context, &asking, &reserved, incoming).await;
    let attached = attach(engine, &asking, &reserved, received, &media_type).await;
    if let (ReservationOutcome::Place(place), Err(_)) = (&reserved, &attached) {
        release(engine, &asking, place, "the bytes did not arrive or could not be kept").await;
    }
    Ok(answer(attached?))
}

async fn attach(
    engine: &Engine,
    asking: &MutationRequest,
    reserved: &ReservationOutcome,
    received: Result<IncomingBlob, ApiError>,
    media_type: &str,
) -> Result<CommittedChange<Attachment>, ApiError> {
    let staged = received?.finish()?;
    // The hash stands for the bytes in the fingerprint.
    let request = asking.request(&staged.hash().0);
    Ok(match reserved {
        ReservationOutcome::Place(place) => engine.attach(&asking.caller, request, place, staged, media_type).await?,
        ReservationOutcome::Earlier => engine.attached(&asking.caller, request).await?,
    })
}

fn answer(attached: CommittedChange<Attachment>) -> Answer<BlobView> {
    let location = format!("/api/v1/blobs/{}", attached.value.blob.hash());
    Answer::made(attached.map(BlobView::from), location)
}

fn media_type(headers: &HeaderMap) -> Result<String, ApiError> {
    let mut all = headers.get_all(header::CONTENT_TYPE).iter();
    let given = all.next().map_or(Ok(DEFAULT_MEDIA_TYPE), HeaderValue::to_str);
    if all.next().is_some() {
        return Err(ApiError::bad_request("invalid_body", "Content-Type names one media type, and there are several"));
    }
    given.map(str::to_owned).map_err(|_| ApiError::bad_request("invalid_body", "Content-Type has to be visible ASCII"))
}

/// Download bytes you attached, whole or in part, as the media type they were uploaded with.
#[utoipa::path(get, path = "/blobs/{hash}", tag = "blobs",
    params(("hash" = String, Path), ("Range" = Option<String>, Header, description = "bytes=first-last"),
           ("If-None-Match" = Option<String>, Header, description = "The `ETag` of what you have")),
    responses((status = 200, content_type = "*/*", body = String), (status = 206, content_type = "*/*", body = String),
              (status = 304, description = "You have it: nothing changed since that `ETag`.")))]
pub(crate) async fn download_blob(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(hash): PathId<Digest>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let blob = engine.blob(&caller, hash).await?;
    if is_known(&headers, &blob) {
        return Ok((StatusCode::NOT_MODIFIED, described(&blob)).into_response());
    }
    let size = blob.size().unsigned_abs();
    let part = match asked_range(&headers, &blob, size) {
        ByteRange::All => None,
        ByteRange::Part(part) => Some(part),
        ByteRange::Beyond => return Ok(beyond(size)),
    };
    let pieces = whole_from_the_start(engine.read_blob(&blob, part.clone()).await?, hash).await?;
    let status = if part.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
    let mut response = (status, described(&blob), Body::from_stream(pieces)).into_response();
    let sent = part.as_ref().map_or(size, |part| part.end - part.start);
    response.headers_mut().insert(header::CONTENT_LENGTH, sent.into());
    if let Some(Range { start, end }) = part {
        let range = format!("bytes {start}-{}/{size}", end - 1);
        response.headers_mut().insert(header::CONTENT_RANGE, visible(range));
    }
    Ok(response)
}

/// A small picture of an image you attached: at most 200 pixels a side.
#[utoipa::path(get, path = "/blobs/{hash}/thumbnail", tag = "blobs",
    params(("hash" = String, Path),
           ("If-None-Match" = Option<String>, Header, description = "The `ETag` of what you have")),
    responses((status = 200, content_type = "image/png", body = String),
              (status = 304, description = "You have it: nothing changed since that `ETag`.")))]
pub(crate) async fn draw_thumbnail(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(hash): PathId<Digest>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let tag = format!("\"{hash}-thumbnail\"");
    let told = [
        (header::CONTENT_TYPE, HeaderValue::from_static(THUMBNAIL_MEDIA_TYPE)),
        (header::ETAG, visible(tag.clone())),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'")),
    ];
    if has_tag(&headers, &tag) {
        // Whoever has the picture still has to be allowed to see it.
        engine.blob(&caller, hash).await?;
        return Ok((StatusCode::NOT_MODIFIED, told).into_response());
    }
    Ok((told, engine.thumbnail(&caller, hash).await?).into_response())
}

/// Looks at the first piece before anything is answered: a blob that is missing or short and altered is refused, and
/// not cut off. Whatever breaks later can only be told to the log.
async fn whole_from_the_start(
    mut pieces: BlobPieces,
    hash: Digest,
) -> Result<impl Stream<Item = Result<Bytes, StoreError>> + use<>, ApiError> {
    let first = pieces.try_next().await?;
    let rest = pieces.inspect_err(move |error| tracing::error!(%hash, %error, "a blob broke off while it was sent"));
    Ok(stream::iter(first.map(Ok)).chain(rest))
}

fn beyond(size: u64) -> Response {
    let message = "there are fewer bytes";
    let refused = ApiError::new(StatusCode::RANGE_NOT_SATISFIABLE, "range_not_satisfiable", message);
    let mut response = refused.into_response();
    response.headers_mut().insert(header::CONTENT_RANGE, visible(format!("bytes */{size}")));
    response
}

/// Nothing that was uploaded is run by a browser as part of this site.
fn described(blob: &BlobRef) -> [(header::HeaderName, HeaderValue); 5] {
    let kept = HeaderValue::from_str(blob.media_type()).unwrap_or(HeaderValue::from_static(DEFAULT_MEDIA_TYPE));
    [
        (header::CONTENT_TYPE, kept),
        (header::ETAG, visible(format!("\"{}\"", blob.hash()))),
        (header::ACCEPT_RANGES, HeaderValue::from_static("bytes")),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'")),
    ]
}

fn visible(text: String) -> HeaderValue {
    HeaderValue::try_from(text).expect("numbers and hashes are visible ASCII")
}

fn is_known(headers: &HeaderMap, blob: &BlobRef) -> bool {
    has_tag(headers, &format!("\"{}\"", blob.hash()))
}

fn has_tag(headers: &HeaderMap, tag: &str) -> bool {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    known.is_some_and(|tags| tags.split(',').any(|known| known.trim() == tag || known.trim() == "*"))
}

/// Which bytes are wanted.
#[derive(Debug, PartialEq, Eq)]
enum ByteRange {
    All,
    Part(Range<u64>),
    Beyond,
}

/// One range is served; several, malformed ones, or those of another version mean everything (RFC 9110).
fn asked_range(headers: &HeaderMap, blob: &BlobRef, size: u64) -> ByteRange {
    let tag = format!("\"{}\"", blob.hash());
    let is_current = headers.get(header::IF_RANGE).is_none_or(|known| known.as_bytes() == tag.as_bytes());
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok()).filter(|_| is_current);
    range.map_or(ByteRange::All, |range| parse_range(range, size))
}

fn parse_range(text: &str, size: u64) -> ByteRange {
    let Some((first, last)) = text.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return ByteRange::All;
    };
    let number = |text: &str| text.parse::<u64>().ok();
    let (start, end) = match (first.is_empty(), last.is_empty()) {
        (false, true) => (number(first), Some(size)),
        (false, false) => (number(first), number(last).map(|last| last.saturating_add(1).min(size))),
        (true, false) => (number(last).map(|count| size.saturating_sub(count)), Some(size)),
        (true, true) => return ByteRange::All,
    };
    let (Some(start), Some(end)) = (start, end) else { return ByteRange::All };
    match (start < size && start < end, last.is_empty() || first.is_empty() || number(first) <= number(last)) {
        (true, _) => ByteRange::Part(start..end),
        (false, true) => ByteRange::Beyond,
        (false, false) => ByteRange::All,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        let cases = [
            ("bytes=0-0", ByteRange::Part(0..1)),
            ("bytes=2-", ByteRange::Part(2..10)),
            ("bytes=-3", ByteRange::Part(7..10)),
            ("bytes=-30", ByteRange::Part(0..10)),
            ("bytes=5-99", ByteRange::Part(5..10)),
            ("bytes=10-", ByteRange::Beyond),
            ("bytes=-0", ByteRange::Beyond),
            ("bytes=10-12", ByteRange::Beyond),
            ("bytes=5-2", ByteRange::All),
            ("bytes=0-1,3-4", ByteRange::All),
            ("bytes=-", ByteRange::All),
            ("lines=1-2", ByteRange::All),
            ("bytes=x-1", ByteRange::All),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_range(text, 10), expected, "{text}");
        }
    }
}
