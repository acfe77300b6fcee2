//! The gate: who asks is known by `Authorization: Bearer …`, or by the cookie of a signed-in browser.
//!
//! A cookie is sent by the browser whoever's page asks, so `host_guard` has refused requests of other pages before.
//! `Skein-Grant` names the grant under which an administrator looks at somebody else's things.

use axum::extract::{FromRequestParts, Request};
use axum::http::header::{AUTHORIZATION, COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse as _, Response};
use skein_core::ItemId;
use skein_core::account::Scope;
use skein_engine::Caller;
use skein_engine::account::{KeyText, PresentedCredential, SessionText};
use skein_store::clock::{Clock as _, SystemClock};

use crate::http::auth::tokens::{Claims, Tokens};
use crate::http::context::Context;
use crate::http::correlation::RequestUser;
use crate::http::error::ApiError;
use crate::http::layer::{Intercept, Next};
use crate::router::API;

const BEARER: &str = "bearer ";
pub(crate) const SESSION_COOKIE: &str = "skein_session";
/// What is asked in a body and changes nothing.
const QUESTIONS: [&str; 3] = ["/compare", "/processes/validate", "/search"];
const GRANT: HeaderName = HeaderName::from_static("skein-grant");

/// Lets nobody through who is not known, nor to change anything with a credential for reading: before anything else
/// about a request is looked at, and for every route it is laid around.
pub(crate) struct Gate(pub(crate) Context);

impl Intercept for Gate {
    async fn pass(&self, mut request: Request, next: Next) -> Response {
        match self.caller(request.headers()).await.and_then(|caller| admit(caller, &request)) {
            Ok(caller) => request.extensions_mut().insert(caller),
            Err(error) => return error.into_response(),
        };
        next.run(request).await
    }
}

impl Gate {
    async fn caller(&self, headers: &HeaderMap) -> Result<Caller, ApiError> {
        let grant = grant(headers)?;
        let presented = presented(headers, self.0.tokens.as_ref()).await?;
        Ok(self.0.engine.authenticate(&presented, grant).await?)
    }
}

fn admit(caller: Caller, request: &Request) -> Result<Caller, ApiError> {
    if let Some(asker) = request.extensions().get::<RequestUser>() {
        asker.is(caller.user);
    }
    if !request.method().is_safe() && !is_question(request.uri().path()) {
        caller.require(Scope::Write)?;
    }
    Ok(caller)
}

/// Whether what is asked for at a path changes nothing, though it is asked for in a body.
pub(crate) fn is_question(path: &str) -> bool {
    QUESTIONS.iter().any(|question| path.strip_prefix(API) == Some(question))
}

/// Whoever asks.
pub(crate) struct SignedIn(pub(crate) Caller);

impl<S: Send + Sync> FromRequestParts<S> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Caller>().cloned();
        caller.map(Self).ok_or_else(|| ApiError::internal("a route that needs a caller stands outside the gate"))
    }
}

/// A key is known by its form; any other bearer is a token, where tokens are accepted.
async fn presented(headers: &HeaderMap, tokens: Option<&Tokens>) -> Result<PresentedCredential, ApiError> {
    let Some(header) = headers.get(AUTHORIZATION) else {
        return session(headers).map(PresentedCredential::Session).ok_or_else(unauthenticated);
    };
    let bearer = header.to_str().ok().and_then(bearer).ok_or_else(unauthenticated)?;
    match (bearer.parse::<KeyText>(), tokens) {
        (Ok(key), _) => Ok(PresentedCredential::Key(key)),
        (Err(_), None) => Err(unauthenticated()),
        (Err(_), Some(tokens)) => {
            let Claims { subject, scope, until } = tokens.check(bearer, SystemClock.now()).await?;
            Ok(PresentedCredential::Token { subject, scope, until })
        }
    }
}

fn unauthenticated() -> ApiError {
    let message =
        "send a key as \"Authorization: Bearer sk_…\", or sign in by the link the server printed at its start";
    ApiError::unauthenticated(message)
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, key) = header.split_at_checked(BEARER.len())?;
    scheme.eq_ignore_ascii_case(BEARER).then(|| key.trim())
}

/// The token of the session cookie.
fn session(headers: &HeaderMap) -> Option<SessionText> {
    session_cookies(headers).next().and_then(|token| token.parse().ok())
}

/// Whether any session cookie comes along, also in a header that is no text.
pub(crate) fn has_session_cookie(headers: &HeaderMap) -> bool {
    let name = SESSION_COOKIE.as_bytes();
    headers.get_all(COOKIE).iter().any(|cookies| cookies.as_bytes().windows(name.len()).any(|part| part == name))
}

/// The values of all session cookies: a page of a neighbouring host can plant one before the browser's own.
pub(crate) fn session_cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == SESSION_COOKIE).map(|(_, token)| token)
}

fn grant(headers: &HeaderMap) -> Result<Option<ItemId>, ApiError> {
    let Some(header) = headers.get(&GRANT) else { return Ok(None) };
    let id = header.to_str().ok().and_then(|text| text.parse().ok());
    id.map(Some).ok_or_else(|| ApiError::bad_request("invalid_grant", "Skein-Grant: send the id of a grant, item_…"))
}
