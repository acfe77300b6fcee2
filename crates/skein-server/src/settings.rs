//! Settings over HTTP: everybody may read them, administrators change them.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skein_core::Digest;
use skein_engine::{Engine, SettingState};
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};

/// A setting of the installation.
#[derive(Serialize, ToSchema)]
pub(crate) struct SettingView {
    #[schema(example = "operations.keptDays")]
    name: &'static str,
    /// A whole number, or the id of a tool, or null for none.
    #[schema(example = 7)]
    value: Value,
    #[schema(example = 7)]
    default: Value,
    /// Of a number.
    min: Option<i64>,
    /// Of a number.
    max: Option<i64>,
    description: &'static str,
    /// To base a change on; null while nobody changed it.
    #[schema(value_type = Option<String>)]
    hash: Option<Digest>,
    version: Option<i64>,
}

impl From<SettingState> for SettingView {
    fn from(state: SettingState) -> Self {
        let SettingState { setting, value, record } = state;
        Self {
            name: setting.name,
            value,
            default: setting.default(),
            min: setting.limits().map(|(min, _)| min),
            max: setting.limits().map(|(_, max)| max),
            description: setting.description,
            hash: record.as_ref().map(|record| record.hash),
            version: record.as_ref().map(|record| record.version),
        }
    }
}

/// Every setting there is.
#[derive(Serialize, ToSchema)]
pub(crate) struct SettingsView {
    data: Vec<SettingView>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "value": 14 }))]
pub(crate) struct SettingBody {
    value: Value,
    /// The hash of the state you looked at; without one the change is made whatever it is now.
    based_on_hash: Option<String>,
}

/// Every setting, with its limits.
#[utoipa::path(get, path = "/settings", tag = "administration", responses((status = 200, body = SettingsView)))]
pub(crate) async fn list_settings(
    State(engine): State<Engine>,
    _caller: SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
) -> Result<Json<SettingsView>, ApiError> {
    let data = engine.settings().await?.into_iter().map(SettingView::from).collect();
    Ok(Json(SettingsView { data }))
}

/// One setting.
#[utoipa::path(get, path = "/settings/{name}", tag = "administration",
    params(("name" = String, Path, example = "operations.keptDays")), responses((status = 200, body = SettingView)))]
pub(crate) async fn read_setting(
    State(engine): State<Engine>,
    _caller: SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(name): PathId<String>,
) -> Result<Json<SettingView>, ApiError> {
    Ok(Json(engine.setting(&name).await?.into()))
}

/// Change a setting.
#[utoipa::path(put, path = "/settings/{name}", tag = "administration",
    params(("name" = String, Path, example = "operations.keptDays")), request_body = SettingBody,
    responses((status = 200, body = Mutated<SettingView>)))]
pub(crate) async fn change_setting(
    State(engine): State<Engine>,
    PathId(name): PathId<String>,
    mutation: Mutation,
) -> Result<Answer<SettingView>, ApiError> {
    let SettingBody { value, based_on_hash } = mutation.body().await?;
    let based_on = mutation.based_on(based_on_hash.as_deref())?;
    let changed = engine.change_setting(&mutation.caller, mutation.request, &name, &value, based_on).await?;
    Ok(Answer::done(changed.map(SettingView::from)))
}
