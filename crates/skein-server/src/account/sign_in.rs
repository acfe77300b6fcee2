//! Signs a browser in: a link is exchanged for a cookie, once, and never unnoticed.
//!
//! A link in a text may lead here, so a browser that is signed in changes its account only by a button of our own page.
//! The cookie is for this site's own requests (`SameSite=Strict`) and out of reach of scripts (`HttpOnly`). Its token
//! and the link's are kept hashed, and the path that carries the link never reaches a log.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use skein_core::UserId;
use skein_engine::EngineError;
use skein_engine::account::{LinkText, PresentedCredential, SESSION_MS};

use crate::http::auth::authentication::{SESSION_COOKIE, has_session_cookie, session_cookies};
use crate::http::auth::host_guard::{FETCH_SITE, is_from_elsewhere};
use crate::http::context::Context;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;

/// Takes the cookie away.
pub(crate) const ENDED_COOKIE: &str = "skein_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0";

const QUESTION: &str = include_str!("sign_in.html");
const ENDED: &str = include_str!("sign_in_ended.html");
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'";

const OWN_LINK: &str =
    "This browser is signed in to this account already. If you go on, it gets a new session of the same account.";
const STALE_SESSION: &str =
    "This browser was signed in before. If you go on, what you write from now on belongs to the account of this link.";
const FROM_ELSEWHERE: &str =
    "Another site or a message led here. If you know whose link this is, go on. Otherwise close this page.";

/// Most session cookies of one request that are looked up.
const SESSIONS_LOOKED_AT_MAX: usize = 8;

pub(crate) fn link_url(public_url: &str, link: &LinkText) -> String {
    format!("{public_url}/sign-in/{}", link.reveal())
}

/// `GET /sign-in/{token}`. A browser without a session is signed in at once if its person typed the address or a page of
/// ours led here. Everybody else is asked first, by name: a browser that has any session cookie, one that another site led
/// here, and one that does not say where it came from.
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
    let Ok(PathId(link)) = link else { return Ok(ended(&headers)) };
    let has_session = has_session_cookie(&headers);
    if !has_session && is_meant(&headers) {
        return sign_in(&context, &headers, &link).await;
    }
    let current = current_user(&context, &headers).await;
    match context.engine.link_user(&link).await {
        Ok(user) => {
            let reason = match current {
                Some((id, _)) if id == user.id => OWN_LINK.to_owned(),
                Some((_, name)) => other_link(&name),
                None if has_session => STALE_SESSION.to_owned(),
                None => FROM_ELSEWHERE.to_owned(),
            };
            Ok(question(&user.name, &reason))
        }
        Err(EngineError::UnknownCredential) => Ok(ended(&headers)),
        Err(error) => Err(error.into()),
    }
}

/// `/sign-in` without a token: the link was cut off.
pub(crate) async fn open_cut_link(headers: HeaderMap) -> Response {
    ended(&headers)
}

/// The user whose session the browser has.
async fn current_user(context: &Context, headers: &HeaderMap) -> Option<(UserId, String)> {
    for session in session_cookies(headers).take(SESSIONS_LOOKED_AT_MAX).filter_map(|token| token.parse().ok()) {
        if let Ok(caller) = context.engine.authenticate(&PresentedCredential::Session(session), None).await {
            let user = context.engine.user(&caller, caller.user).await.ok()?;
            return Some((user.id, user.name));
        }
    }
    None
}

fn other_link(current: &str) -> String {
    let current = escaped(current);
    format!(
        "This browser is signed in as {current}. If you go on, what you write from now on belongs to the other account."
    )
}

fn question(name: &str, reason: &str) -> Response {
    let page = QUESTION.replace("{reason}", reason).replace("{name}", &escaped(name));
    page_of(StatusCode::OK, page)
}

fn page_of(status: StatusCode, page: String) -> Response {
    (status, [(header::CONTENT_SECURITY_POLICY, PAGE_POLICY)], Html(page)).into_response()
}

/// Whether the browser says that its person or a page of ours asked, or a program asks that shows no pages. Old browsers
/// say nothing, and neither do new ones without encryption, except on this machine.
fn is_meant(headers: &HeaderMap) -> bool {
    if headers.contains_key(FETCH_SITE) { !is_from_elsewhere(headers) } else { !shows_pages(headers) }
}

fn shows_pages(headers: &HeaderMap) -> bool {
    let is_page = |accept: &HeaderValue| accept.as_bytes().to_ascii_lowercase().windows(9).any(|at| at == b"text/html");
    headers.get_all(header::ACCEPT).iter().any(is_page)
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
    let Ok(PathId(link)) = link else { return Ok(ended(&headers)) };
    sign_in(&context, &headers, &link).await
}

async fn sign_in(context: &Context, headers: &HeaderMap, link: &LinkText) -> Result<Response, ApiError> {
    let signed_in = match context.engine.sign_in(link).await {
        Ok(signed_in) => signed_in,
        Err(EngineError::UnknownCredential) => return Ok(ended(headers)),
        Err(error) => return Err(error.into()),
    };
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

/// The link was used, has expired or never was one: a page for people, an error for programs.
fn ended(headers: &HeaderMap) -> Response {
    if shows_pages(headers) {
        return page_of(StatusCode::GONE, ENDED.to_owned());
    }
    let message = "the link was used, has expired or never was one; make a new one with \
         POST /api/v1/account/sign-in-links, or restart the server, which prints one";
    ApiError::unauthenticated(message).into_response()
}
