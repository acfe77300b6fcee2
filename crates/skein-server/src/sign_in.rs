//! Signing a browser in: a link is exchanged for a cookie, once.
//!
//! The cookie is for this site's own requests (`SameSite=Strict`) and out of reach of scripts (`HttpOnly`). Its token
//! and the link's are kept hashed, and the path that carries the link never reaches a log.

use axum::extract::State;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use skein_engine::account::{LinkText, SESSION_MS};

use crate::context::Context;
use crate::error::ApiError;
use crate::path_id::PathId;
use crate::signed_in::SESSION_COOKIE;

/// Takes the cookie away.
pub(crate) const ENDED_COOKIE: &str = "skein_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0";

pub(crate) fn link_url(public_url: &str, link: &LinkText) -> String {
    format!("{public_url}/sign-in/{}", link.reveal())
}

/// `GET /sign-in/{token}`.
pub(crate) async fn redeem_link(
    State(context): State<Context>,
    method: Method,
    link: Result<PathId<LinkText>, ApiError>,
) -> Result<Response, ApiError> {
    if method != Method::GET {
        // Whoever only asks what is there must not use the link up.
        return Ok((StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET")]).into_response());
    }
    let PathId(link) = link.map_err(|_| used_up())?;
    let signed_in = context.engine.sign_in(&link).await.map_err(|error| match error {
        skein_engine::EngineError::UnknownCredential => used_up(),
        other => other.into(),
    })?;
    let secure = if context.public_url.starts_with("https://") { "; Secure" } else { "" };
    let (session, seconds) = (signed_in.session.reveal(), SESSION_MS / 1_000);
    let cookie = format!("{SESSION_COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    let mut response = Redirect::to("/").into_response();
    let cookie = HeaderValue::try_from(cookie).expect("tokens are visible ASCII");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

fn used_up() -> ApiError {
    ApiError::unauthenticated(
        "this link was used, has run out or never was one; the server prints a new one at each start, \
         and POST /api/v1/account/sign-in-links makes one",
    )
}
