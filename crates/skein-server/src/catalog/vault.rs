//! The vault over HTTP: which master key is in use, and wrapping everything under a new one.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use skein_core::OperationId;
use skein_engine::Engine;
use skein_engine::catalog::{KeyState, RotationState, VaultState};
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Accepted, Mutation};

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
    /// How many of them are under a master key that this server does not have. Add that key to its key file.
    #[schema(example = 0)]
    unreadable: i64,
    /// The master keys in use, and the current one.
    keys: Vec<VaultKeyView>,
    /// The last rotation; null when there was none, or its operation is no longer kept.
    rotation: Option<VaultRotationView>,
}

/// A master key in use.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VaultKeyView {
    /// The beginning of its hash.
    #[schema(example = "9f86d081884c7d65")]
    key_id: String,
    /// Values it seals.
    #[schema(example = 3)]
    values: i64,
    /// Whether this server has the key.
    held: bool,
}

/// A rotation of the vault.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VaultRotationView {
    /// Its operation, with the progress and the result.
    #[schema(value_type = String, example = "op_01HF7Y1ZR0F9Q8W2X3Y4Z5A6B7")]
    operation_id: OperationId,
    /// `queued` or `processing` until it has ended. After a crash the next server to notice finishes it.
    #[schema(example = "completed")]
    status: &'static str,
}

impl From<VaultState> for VaultView {
    fn from(state: VaultState) -> Self {
        let VaultState { key_id, secrets, under_other_keys, unreadable, keys, rotation } = state;
        let key = |KeyState { key_id, values, is_held }| VaultKeyView { key_id, values, held: is_held };
        let rotation = rotation.map(|RotationState { operation, state }| VaultRotationView {
            operation_id: operation,
            status: state.status(),
        });
        Self { key_id, secrets, under_other_keys, unreadable, keys: keys.into_iter().map(key).collect(), rotation }
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
///
/// One rotation at a time on a database: while one has not ended, the answer is 409 `rotation_running` with its
/// `operationId`. Every key before is kept. The operation fails with `vault_values_unreadable` when values do not open, and
/// says how to restore them.
#[utoipa::path(post, path = "/vault/rotations", tag = "administration", responses((status = 202, body = Accepted)))]
pub(crate) async fn rotate_vault(State(engine): State<Engine>, mutation: Mutation) -> Result<Response, ApiError> {
    mutation.no_body().await?;
    let queued = engine.rotate_vault(&mutation.caller, mutation.request).await?;
    Ok(Accepted::answer(&queued, "the values will be brought under a new master key"))
}
