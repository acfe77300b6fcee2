//! The viewer of the API document at `/api/docs`: Swagger UI as its makers ship it, from this binary alone.

use std::sync::{Arc, LazyLock};

use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use utoipa_swagger_ui::Config;

use crate::http::error::ApiError;

static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| {
    let config = Config::new(["/api/v1/openapi.json"]).try_it_out_enabled(false).validator_url("none");
    Arc::new(config)
});

/// Nothing is loaded from, or sent to, anywhere else; the viewer styles itself inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                      connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// `GET /api/docs`: to the page itself, so that its files are found beside it.
pub(crate) async fn page() -> Redirect {
    Redirect::permanent("/api/docs/index.html")
}

/// `GET /api/docs/{file}`.
pub(crate) async fn file(Path(file): Path<String>) -> Result<Response, ApiError> {
    let served = utoipa_swagger_ui::serve(&file, Arc::clone(&CONFIG));
    let served = served.map_err(|error| ApiError::internal(error.to_string()))?;
    let Some(found) = served else {
        return Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", "the viewer has no such file; open /api/docs"));
    };
    let media_type = HeaderValue::try_from(found.content_type).unwrap_or(HeaderValue::from_static("text/plain"));
    let headers =
        [(header::CONTENT_TYPE, media_type), (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))];
    Ok((headers, found.bytes.into_owned()).into_response())
}
