//! Takes the caller from the request: `Authorization: Bearer sk_…`.

use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use skein_engine::{Caller, Engine, KeyText};

use crate::error::ApiError;

const BEARER: &str = "bearer ";

/// Whoever asks, known by their key. A handler that takes one cannot be reached without.
pub(crate) struct SignedIn(pub(crate) Caller);

impl FromRequestParts<Engine> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, engine: &Engine) -> Result<Self, ApiError> {
        let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let key = header.and_then(bearer).and_then(|text| text.parse::<KeyText>().ok());
        let key = key.ok_or_else(|| {
            ApiError::unauthenticated(
                "send a key as \"Authorization: Bearer sk_…\"; the server prints one at each start",
            )
        })?;
        Ok(Self(engine.authenticate(&key).await?))
    }
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, key) = header.split_at_checked(BEARER.len())?;
    scheme.eq_ignore_ascii_case(BEARER).then(|| key.trim())
}
