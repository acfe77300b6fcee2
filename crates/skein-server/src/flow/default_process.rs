//! Reads and changes the caller's default process over HTTP.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use skein_core::catalog::entry;
use skein_core::{Digest, RecordId};
use skein_engine::Engine;
use skein_engine::flow::{NamedProcess, ResolvedDefault};
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};

/// The process that answers in new conversations, and in agent turns that name none.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DefaultProcessView {
    /// Answers now. Null if none of your processes can answer.
    process: Option<NamedProcessView>,
    /// Your choice. Null for the built-in model.
    chosen: Option<NamedProcessView>,
    /// Why the chosen process does not answer, while a built-in model stands in for it.
    #[schema(example = "its tool \"llama\": it is disabled")]
    problem: Option<String>,
    /// Whether the next process that answers through a connected model becomes the default: until the first one
    /// exists, and after the chosen process was deleted.
    adopts_next: bool,
    /// The record of the choice; `/records/{id}/history` lists earlier ones. Null until something is chosen.
    #[schema(value_type = Option<String>)]
    record_id: Option<RecordId>,
    /// To base a change on. Null until something is chosen.
    #[schema(value_type = Option<String>)]
    hash: Option<Digest>,
    version: Option<i64>,
}

/// A process by its name.
#[derive(Serialize, ToSchema)]
pub(crate) struct NamedProcessView {
    #[schema(value_type = String, example = "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: RecordId,
    #[schema(example = "Chat")]
    name: String,
}

impl From<NamedProcess> for NamedProcessView {
    fn from((id, name): NamedProcess) -> Self {
        Self { id, name }
    }
}

impl From<ResolvedDefault> for DefaultProcessView {
    fn from(resolved: ResolvedDefault) -> Self {
        let ResolvedDefault { process, choice, chosen, problem, adopts_next } = resolved;
        Self {
            process: process.map(NamedProcessView::from),
            chosen: chosen.map(NamedProcessView::from),
            problem,
            adopts_next,
            record_id: choice.as_ref().map(|choice| choice.id),
            hash: choice.as_ref().map(|choice| choice.hash),
            version: choice.as_ref().map(|choice| choice.version),
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "processId": null }))]
pub(crate) struct DefaultProcessBody {
    /// An enabled process of yours that requires at most `conversationId`, `nodeId` and `message`, or null for the
    /// built-in model.
    #[serde(default, deserialize_with = "entry::named")]
    #[schema(value_type = Option<String>, required = true)]
    #[expect(clippy::option_option, reason = "null is a choice, and a field that is left out is an error")]
    process_id: Option<Option<RecordId>>,
    /// The hash of the choice you looked at. Default: whatever it is now.
    based_on_hash: Option<String>,
}

/// The process that answers in your new conversations.
#[utoipa::path(get, path = "/account/default-process", tag = "account",
    responses((status = 200, body = DefaultProcessView)))]
pub(crate) async fn read_default_process(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
) -> Result<Json<DefaultProcessView>, ApiError> {
    Ok(Json(engine.default_process(&caller).await?.into()))
}

/// Choose the process that answers in your new conversations. The first process that answers through a connected
/// model is chosen without this.
#[utoipa::path(put, path = "/account/default-process", tag = "account", request_body = DefaultProcessBody,
    responses((status = 200, body = Mutated<DefaultProcessView>)))]
pub(crate) async fn change_default_process(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<DefaultProcessView>, ApiError> {
    let DefaultProcessBody { process_id, based_on_hash } = mutation.body().await?;
    let Some(process) = process_id else {
        return Err(ApiError::bad_request("invalid_body", "processId: send a process, or null for the built-in model"));
    };
    let based_on = mutation.based_on(based_on_hash.as_deref())?;
    let changed = engine.change_default_process(&mutation.caller, mutation.request, process, based_on).await?;
    Ok(Answer::done(changed.map(DefaultProcessView::from)))
}
