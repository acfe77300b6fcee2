//! The page at `/`: says what is running and how to talk to it; loads nothing from elsewhere.

use axum::http::header::{CONTENT_SECURITY_POLICY, HeaderName};
use axum::response::{Html, IntoResponse};

const PAGE: &str = include_str!("landing.html");
const NOTHING_FROM_ELSEWHERE: (HeaderName, &str) =
    (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'");

/// `GET /`.
pub(crate) async fn show() -> impl IntoResponse {
    ([NOTHING_FROM_ELSEWHERE], Html(PAGE.replace("{version}", env!("CARGO_PKG_VERSION"))))
}
