//! Headers that every answer carries, so that a browser neither guesses, keeps, frames nor runs what it gets.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

const ALWAYS: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (CROSS_ORIGIN_RESOURCE_POLICY, "same-origin"),
    (header::X_FRAME_OPTIONS, "DENY"),
];
/// What people keep here is theirs; only the files of the page say otherwise of themselves.
const UNKEPT: &str = "no-store";
/// For answers that are no pages of ours: whatever a browser makes of them runs and loads nothing.
const INERT: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";
/// Beside the policy of a page of ours.
const UNFRAMED: &str = "frame-ancestors 'none'";

pub(crate) fn put(headers: &mut HeaderMap) {
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static(UNKEPT));
    let policy = if headers.contains_key(header::CONTENT_SECURITY_POLICY) { UNFRAMED } else { INERT };
    headers.append(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
}
