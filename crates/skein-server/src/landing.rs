//! The page at `/`: says what is running and how to talk to it; loads nothing from elsewhere.

use axum::http::HeaderMap;
use axum::http::header::{CONTENT_SECURITY_POLICY, HOST, HeaderName};
use axum::response::{Html, IntoResponse};

const PAGE: &str = include_str!("landing.html");
const NOTHING_FROM_ELSEWHERE: (HeaderName, &str) =
    (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'");

/// `GET /`. The address is the one it was reached by, which the host guard has judged.
pub(crate) async fn show(headers: HeaderMap) -> impl IntoResponse {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1:7420");
    let page = PAGE.replace("{version}", env!("CARGO_PKG_VERSION")).replace("{address}", &format!("http://{host}"));
    ([NOTHING_FROM_ELSEWHERE], Html(page))
}
