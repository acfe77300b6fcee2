//! Actors over HTTP: who writes besides people themselves.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skein_core::RecordId;
use skein_core::tree::actor::{Actor, ActorChange, ActorDraft};
use skein_engine::Engine;
use skein_engine::catalog::StoredEntry;
use utoipa::ToSchema;

use crate::catalog::EntryHead;
use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::pagination::{Listing, PageParameters};

/// Somebody who can write.
#[derive(Serialize, ToSchema)]
pub(crate) struct ActorView {
    #[serde(flatten)]
    head: EntryHead,
    #[serde(flatten)]
    #[schema(value_type = ActorFields)]
    actor: Actor,
}

impl From<StoredEntry<Actor>> for ActorView {
    fn from(shown: StoredEntry<Actor>) -> Self {
        Self { head: EntryHead::of(&shown), actor: shown.entry }
    }
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes skein_core::tree::actor::Actor")]
pub(crate) struct ActorFields {
    #[schema(example = "Hugin")]
    name: String,
    /// human, model or system.
    #[schema(example = "model")]
    r#type: String,
    /// Which model it speaks for: `provider:identifier`, or `local:` and an id.
    #[schema(nullable = false, example = "local:01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    model_ref: Option<String>,
    /// Which model it answers as: Skein records it when the actor answers for the first time. From then on a new name of the
    /// service changes no author, and `modelRef` stays.
    #[schema(nullable = false)]
    service_model: Option<ServiceModelFields>,
    /// The process a `system` actor writes for: Skein makes it when an answer of that process is not exactly one model's
    /// output.
    #[schema(nullable = false, example = "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    process_id: Option<String>,
    configuration: ConfigurationFields,
    permissions: PermissionFields,
    archived: bool,
}

/// The service and the model that an actor answers as.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes skein_core::tree::actor::ServiceModel")]
pub(crate) struct ServiceModelFields {
    #[schema(example = "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    service_id: String,
    /// Left out where the provider's default is asked.
    #[schema(nullable = false, example = "gpt-4o")]
    model: Option<String>,
}

/// How a model is asked when this actor answers: when a process answers in a conversation with the text of its model. Of other
/// actors refused (422).
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes skein_core::tree::configuration::Configuration")]
pub(crate) struct ConfigurationFields {
    /// Stands at the head of the context, before the `systemContext` of the conversation.
    system_prompt: Option<String>,
    /// From 0 to 2. Applies where the tool, or the default of its service, sets none.
    temperature: Option<f64>,
    /// Longest answer in tokens, 1 to 1000000; the least of this, the tool's `maxTokens` and the step's `tokenBudget` applies.
    max_tokens: Option<u32>,
    /// At most 16, beside those of the tool.
    stop_sequences: Option<Vec<String>>,
    /// Fields added to the request in the provider's words, such as `top_p`. Those that Skein writes itself are refused (422). Sent
    /// when you pay for the call, not with the secret of a tool's owner.
    custom_parameters: Option<Map<String, Value>>,
}

/// What an actor may do to trees and documents. None of it has an effect yet, so only the default is accepted: all true for
/// people, all false for others.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(dead_code, reason = "describes skein_core::tree::configuration::Permissions")]
pub(crate) struct PermissionFields {
    loom_aware: Option<bool>,
    loom_write: Option<bool>,
    loom_generate: Option<bool>,
    doc_read: Option<bool>,
    doc_write: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "name": "Hugin", "type": "model", "modelRef": "local:01K9ZQ4T3V6M8N2P5R7W1X3Y5Z",
    "configuration": { "systemPrompt": "Be brief.", "temperature": 0.7 } }))]
#[expect(dead_code, reason = "describes ActorDraft")]
pub(crate) struct ActorBody {
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// human, model or system; never changes.
    r#type: String,
    /// Needed for a model, and for nobody else.
    model_ref: Option<String>,
    configuration: Option<ConfigurationFields>,
    /// Only the default, all true for people and all false for others; anything else is refused (422).
    permissions: Option<PermissionFields>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "archived": true,
    "basedOnHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }))]
#[expect(dead_code, reason = "describes ActorChange")]
pub(crate) struct ActorChangeBody {
    /// The hash of the state you looked at; `If-Match` will do as well.
    based_on_hash: Option<String>,
    name: Option<String>,
    model_ref: Option<String>,
    /// Replaces the configuration as a whole.
    configuration: Option<ConfigurationFields>,
    /// Only what the actor has, or the default; anything else is refused (422).
    permissions: Option<PermissionFields>,
    archived: Option<bool>,
}

/// Your actors, oldest first, archived ones too.
#[utoipa::path(get, path = "/actors", tag = "projects", params(PageParameters),
    responses((status = 200, body = Listing<ActorView>)))]
pub(crate) async fn list_actors(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<ActorView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.actors(&caller, after, limit).await?;
    Ok(Json(Listing::of(page, limit, ActorView::from)))
}

/// Describe somebody who can write.
#[utoipa::path(post, path = "/actors", tag = "projects", request_body = ActorBody,
    responses((status = 201, body = Mutated<ActorView>)))]
pub(crate) async fn create_actor(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<ActorView>, ApiError> {
    let draft: ActorDraft = mutation.body().await?;
    let made = engine.create_actor(&mutation.caller, mutation.request, draft).await?;
    let location = format!("/api/v1/actors/{}", made.value.id);
    Ok(Answer::made(made.map(ActorView::from), location))
}

/// One actor.
#[utoipa::path(get, path = "/actors/{id}", tag = "projects", params(("id" = String, Path)),
    responses((status = 200, body = ActorView)))]
pub(crate) async fn read_actor(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<RecordId>,
) -> Result<Json<ActorView>, ApiError> {
    Ok(Json(engine.actor(&caller, id).await?.into()))
}

/// Change an actor; what it wrote keeps the author it had.
#[utoipa::path(put, path = "/actors/{id}", tag = "projects", params(("id" = String, Path)),
    request_body = ActorChangeBody, responses((status = 200, body = Mutated<ActorView>)))]
pub(crate) async fn change_actor(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<ActorView>, ApiError> {
    let (change, based_on) = mutation.based_change::<ActorChange>().await?;
    let changed = engine.change_actor(&mutation.caller, mutation.request, id, change, based_on).await?;
    Ok(Answer::done(changed.map(ActorView::from)))
}
