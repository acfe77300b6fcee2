//! Signing a browser in: a link is exchanged for a cookie, once, and not behind anybody's back.
//!
//! The cookie is for this site's own requests (`SameSite=Strict`) and out of reach of scripts (`HttpOnly`). Its token
//! and the link's are kept hashed, and the path that carries the link never reaches a log.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use skein_engine::EngineError;
use skein_engine::account::{LinkText, SESSION_MS};

use crate::context::Context;
use crate::error::ApiError;
use crate::host_guard::{FETCH_SITE, is_from_elsewhere};
use crate::path_id::PathId;
use crate::signed_in::SESSION_COOKIE;

/// Takes the cookie away.
pub(crate) const ENDED_COOKIE: &str = "skein_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0";

const QUESTION: &str = include_str!("sign_in.html");
const QUESTION_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'";

pub(crate) fn link_url(public_url: &str, link: &LinkText) -> String {
    format!("{public_url}/sign-in/{}", link.reveal())
}

/// `GET /sign-in/{token}`. Whoever typed the address, or came from a page of ours, is signed in at once. A page of
/// somebody else may lead here with a link of their own, so that people work in a stranger's account without knowing:
/// they are asked first, by name, and so is whoever's browser does not say where it came from.
pub(crate) async fn open_link(
    State(context): State<Context>,
    method: Method,
    headers: HeaderMap,
    link: Result<PathId<LinkText>, ApiError>,
) -> Result<Response, ApiError> {
    if method != Method::GET {
        // Whoever only asks what is there must not use the link up.
        return Ok((StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, POST")]).into_response());
    }
    let PathId(link) = link.map_err(|_| used_up())?;
    if is_meant(&headers) {
        return sign_in(&context, &link).await;
    }
    let user = context.engine.link_user(&link).await.map_err(unless_used_up)?;
    let page = QUESTION.replace("{name}", &escaped(&user.name));
    Ok(([(header::CONTENT_SECURITY_POLICY, QUESTION_POLICY)], Html(page)).into_response())
}

/// Whether the browser says that its person or a page of ours asked, or a program asks that shows no pages. Old browsers
/// say nothing, and neither do new ones without encryption, except on this machine.
fn is_meant(headers: &HeaderMap) -> bool {
    let shows_pages =
        |accept: &HeaderValue| accept.as_bytes().to_ascii_lowercase().windows(9).any(|at| at == b"text/html");
    if headers.contains_key(FETCH_SITE) {
        return !is_from_elsewhere(headers);
    }
    !headers.get_all(header::ACCEPT).iter().any(shows_pages)
}

/// `POST /sign-in/{token}`: the answer to the question, which only our own page may send.
pub(crate) async fn follow_link(
    State(context): State<Context>,
    headers: HeaderMap,
    link: Result<PathId<LinkText>, ApiError>,
) -> Result<Response, ApiError> {
    if is_from_elsewhere(&headers) {
        let message = "a page of another site sent this; open the link by itself";
        return Err(ApiError::new(StatusCode::FORBIDDEN, "origin_not_allowed", message));
    }
    let PathId(link) = link.map_err(|_| used_up())?;
    sign_in(&context, &link).await
}

async fn sign_in(context: &Context, link: &LinkText) -> Result<Response, ApiError> {
    let signed_in = context.engine.sign_in(link).await.map_err(unless_used_up)?;
    let secure = if context.public_url.starts_with("https://") { "; Secure" } else { "" };
    let (session, seconds) = (signed_in.session.reveal(), SESSION_MS / 1_000);
    let cookie = format!("{SESSION_COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    let mut response = Redirect::to("/").into_response();
    let cookie = HeaderValue::try_from(cookie).expect("tokens are visible ASCII");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// As text of a page, also inside quotes.
fn escaped(text: &str) -> String {
    let escape = |character: char| match character {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#39;".to_owned(),
        other => other.to_string(),
    };
    text.chars().map(escape).collect()
}

fn unless_used_up(error: EngineError) -> ApiError {
    match error {
        EngineError::UnknownCredential => used_up(),
        other => other.into(),
    }
}

fn used_up() -> ApiError {
    ApiError::unauthenticated(
        "this link was used, has run out or never was one; the server prints a new one at each start, \
         and POST /api/v1/account/sign-in-links makes one",
    )
}
