//! Signed-in browsers over HTTP: which there are, and ending one from elsewhere.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use skein_core::{Millis, SessionId};
use skein_engine::Engine;
use skein_engine::account::SessionView as EngineSession;
use utoipa::ToSchema;

use crate::account::EndedView;
use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::Parameters;
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::pagination::{Listing, PageParameters};

/// A browser that is signed in as you.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionView {
    #[schema(value_type = String, example = "session_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: SessionId,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    started_at: Millis,
    #[schema(value_type = String, example = "2026-12-15T09:30:00.000Z")]
    expires_at: Millis,
    /// Whether it is the one that asks.
    current: bool,
}

impl From<EngineSession> for SessionView {
    fn from(session: EngineSession) -> Self {
        let EngineSession { id, started_at, expires_at, is_current } = session;
        Self { id, started_at, expires_at, current: is_current }
    }
}

/// The browsers that are signed in as you.
#[utoipa::path(get, path = "/account/sessions", tag = "account", params(PageParameters),
    responses((status = 200, body = Listing<SessionView>)))]
pub(crate) async fn list_sessions(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<SessionView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.sessions(&caller, after, limit).await?;
    Ok(Json(Listing::of(page, limit, SessionView::from)))
}

/// Sign one of your browsers out, wherever it is.
#[utoipa::path(delete, path = "/account/sessions/{id}", tag = "account", params(("id" = String, Path)),
    responses((status = 200, body = Mutated<EndedView>)))]
pub(crate) async fn end_session_elsewhere(
    State(engine): State<Engine>,
    PathId(id): PathId<SessionId>,
    mutation: Mutation,
) -> Result<Answer<EndedView>, ApiError> {
    mutation.no_body().await?;
    let ended = engine.end_session(&mutation.caller, mutation.request, id).await?;
    Ok(Answer::done(ended.map(EndedView::from)))
}
