//! Compresses long texts for clients that accept it.
//!
//! What is compressed already gains nothing; a stream of events would be held back until enough of it is there; and
//! bytes that can be asked for by range are the bytes that were stored.

use std::convert::Infallible;
use std::future::ready;

use axum::body::Body;
use axum::http::{Extensions, HeaderMap, HeaderValue, Request, StatusCode, Version, header};
use axum::response::Response;
use tower::{Layer as _, ServiceExt as _, service_fn};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate as _, SizeAbove};

use crate::http::limits::COMPRESSED_BYTES_MIN;

/// The answer, compressed where that is worth it for a client that accepts it. Most answers are short and pass as they
/// are.
pub(crate) async fn compressed(response: Response, accepted: Option<HeaderValue>) -> Response {
    let worth_it = SizeAbove::new(COMPRESSED_BYTES_MIN).and(is_compressible);
    if !worth_it.should_compress(&response) {
        return response;
    }
    let mut request = Request::new(());
    request.headers_mut().extend(accepted.map(|accepted| (header::ACCEPT_ENCODING, accepted)));
    let mut response = Some(response);
    let answer = service_fn(move |_: Request<()>| ready(Ok::<_, Infallible>(response.take().unwrap_or_default())));
    let compress = CompressionLayer::new().gzip(true).quality(CompressionLevel::Fastest).compress_when(worth_it);
    let Ok(response) = compress.layer(answer).oneshot(request).await;
    response.map(Body::new)
}

fn is_compressible(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value: &HeaderValue| value.to_str().ok());
    !headers.contains_key(header::ACCEPT_RANGES) && media_type.is_some_and(is_text)
}

fn is_text(media_type: &str) -> bool {
    let media_type = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match media_type.as_str() {
        "text/event-stream" => false,
        "application/json" | "application/javascript" | "application/x-ndjson" => true,
        other => other.starts_with("text/") || other.ends_with("+json"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use axum::body::{Bytes, to_bytes};
    use flate2::read::GzDecoder;

    use super::*;

    const LONG: usize = COMPRESSED_BYTES_MIN as usize;

    /// What a client gets that accepts this encoding, of an answer with these headers.
    async fn answer(accepted: &str, headers: &[(&'static str, &'static str)], length: usize) -> (bool, Bytes) {
        let response =
            headers.iter().fold(Response::builder(), |response, (name, value)| response.header(*name, *value));
        let response = response.body(Body::from("x".repeat(length))).unwrap();
        let accepted = HeaderValue::from_str(accepted).unwrap();
        let response = compressed(response, Some(accepted)).await;
        let is_compressed = response.headers().get("content-encoding").is_some_and(|encoding| encoding == "gzip");
        (is_compressed, to_bytes(response.into_body(), usize::MAX).await.unwrap())
    }

    #[tokio::test]
    async fn long_text_is_compressed_for_who_asks_and_comes_back_whole() {
        for media_type in ["application/json", "text/html; charset=utf-8", "application/problem+json", "TEXT/PLAIN"] {
            let (is_compressed, bytes) = answer("gzip, br", &[("content-type", media_type)], LONG).await;
            assert!(is_compressed && bytes.len() < LONG, "{media_type}");
            let mut text = String::new();
            GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
            assert_eq!(text, "x".repeat(LONG));
        }
    }

    #[tokio::test]
    async fn short_text_and_clients_that_do_not_ask_get_it_as_it_is() {
        let json = [("content-type", "application/json")];
        assert_eq!(answer("gzip", &json, LONG - 1).await, (false, "x".repeat(LONG - 1).into()));
        for accepted in ["", "identity", "br", "gzip;q=0"] {
            assert!(!answer(accepted, &json, LONG).await.0, "{accepted}");
        }
    }

    #[tokio::test]
    async fn events_ranges_and_what_is_compressed_already_stay_as_they_are() {
        for media_type in ["text/event-stream", "application/zip", "image/png", "application/octet-stream", "video/mp4"]
        {
            assert!(!answer("gzip", &[("content-type", media_type)], LONG).await.0, "{media_type}");
        }
        assert!(!answer("gzip", &[], LONG).await.0);
        let text = ("content-type", "text/plain");
        assert!(!answer("gzip", &[text, ("content-range", "bytes 0-1023/4096")], LONG).await.0);
        assert!(!answer("gzip", &[text, ("accept-ranges", "bytes")], LONG).await.0);
        assert!(!answer("gzip", &[text, ("content-encoding", "br")], LONG).await.0);
    }
}
