//! The vault over HTTP: which master key is in use, and wrapping everything under a new one.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use skein_engine::Engine;
use skein_engine::catalog::VaultState;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::mutation::{Accepted, Mutation};
use crate::query::{NoParameters, Parameters};
use crate::signed_in::SignedIn;

/// How the values of secrets are kept.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VaultView {
    /// Which master key seals new values: the beginning of its hash.
    #[schema(example = "9f86d081884c7d65")]
    key_id: String,
    /// How many values there are.
    #[schema(example = 3)]
    secrets: i64,
    /// How many of them an older master key seals; a rotation brings them under the current one.
    #[schema(example = 0)]
    under_other_keys: i64,
}

impl From<VaultState> for VaultView {
    fn from(state: VaultState) -> Self {
        let VaultState { key_id, secrets, under_other_keys } = state;
        Self { key_id, secrets, under_other_keys }
    }
}

/// How the values of secrets are kept.
#[utoipa::path(get, path = "/vault", tag = "administration", responses((status = 200, body = VaultView)))]
pub(crate) async fn read_vault(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
) -> Result<Json<VaultView>, ApiError> {
    Ok(Json(engine.vault_state(&caller).await?.into()))
}

/// Make a new master key and bring every value under it, while calls go on.
#[utoipa::path(post, path = "/vault/rotations", tag = "administration", responses((status = 202, body = Accepted)))]
pub(crate) async fn rotate_vault(State(engine): State<Engine>, mutation: Mutation) -> Result<Response, ApiError> {
    mutation.no_body()?;
    let queued = engine.rotate_vault(&mutation.caller, mutation.request).await?;
    Ok(Accepted::answer(&queued, "the values will be brought under a new master key"))
}
