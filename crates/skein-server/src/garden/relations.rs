//! Relations over HTTP: made, looked for, followed, changed, removed.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skein_core::garden::relation::{Endpoint, Relation, RelationAttributes, RelationKind};
use skein_core::{Millis, RelationId, RuleViolation};
use skein_engine::Engine;
use skein_engine::garden::RelationQuery;
use skein_store::timeline::relations::{RelationPathStep, RelationSide};
use utoipa::{IntoParams, ToSchema};

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::pagination::{Listing, entry_limit, read_page};

const CHAIN_STEPS_DEFAULT: usize = 1_000;
const CHAIN_STEPS_MAX: usize = 10_000;

/// A typed edge between two things.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RelationView {
    #[schema(value_type = String, example = "rel_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: RelationId,
    #[schema(example = "derived_from")]
    kind: &'static str,
    #[schema(example = "item")]
    source_type: &'static str,
    #[schema(example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    source: String,
    #[schema(example = "item")]
    target_type: &'static str,
    #[schema(example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y60")]
    target: String,
    /// How sure an inference is, from 0 to 1; null when the edge was stated.
    confidence: Option<f64>,
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
    #[schema(value_type = String)]
    created_at: Millis,
}

impl From<Relation> for RelationView {
    fn from(relation: Relation) -> Self {
        let Relation { id, kind, source, target, qualities, realized_at } = relation;
        Self {
            id,
            kind: kind.as_str(),
            source_type: source.kind().as_str(),
            source: source.id_text(),
            target_type: target.kind().as_str(),
            target: target.id_text(),
            confidence: qualities.confidence,
            metadata: qualities.metadata,
            created_at: realized_at,
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(example = json!({ "kind": "derived_from", "source": "item_01K9ZQ4T3V6M8N2P5R7W1X3Y60",
    "target": "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z" }))]
pub(crate) struct NewRelationBody {
    /// `triggers`, `replies_to`, `supercedes`, `derived_from`, `mentions`, `linked_with` and others; `continues` is made by
    /// reopening a conversation alone (422). A second one where the kind allows one is 409.
    kind: String,
    /// `item_…` or `entity_…`: it exists, is yours to see and of its type, else 422. Of `groups_with` a conversation.
    source: String,
    /// item, entity or log (a conversation). Default: by the id, item or entity. Fragments and artifacts do not exist yet (422).
    source_type: Option<String>,
    /// As `source`. Of `groups_with` a project.
    target: String,
    /// As `sourceType`.
    target_type: Option<String>,
    confidence: Option<f64>,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "confidence": 0.8, "metadata": { "note": "looked at again" } }))]
pub(crate) struct QualitiesBody {
    confidence: Option<f64>,
    #[schema(value_type = Object)]
    metadata: Map<String, Value>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RelationParameters {
    /// The thing the relations meet at: `item_…`, `item_…#3` or `entity_…`, which is found as `entity` and as `log`.
    #[param(example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    of: String,
    /// Whether the thing is their source or their target.
    #[param(inline)]
    side: Option<SideName>,
    /// Only of this kind.
    #[param(example = "derived_from")]
    kind: Option<String>,
    /// Where the last page ended.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChainParameters {
    /// Where the chain begins.
    #[param(example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    from: String,
    /// Whether to go from sources to targets (forward) or back.
    #[param(inline)]
    direction: Option<DirectionName>,
    #[param(example = "triggers")]
    kind: String,
    /// Most steps, 1 to 10000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 10000, example = 1000)]
    limit: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RemovalParameters {
    /// Why it goes.
    #[param(example = "made by mistake")]
    reason: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum SideName {
    Source,
    Target,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum DirectionName {
    Forward,
    Backward,
}

/// One thing on a chain.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChainStepView {
    #[serde(rename = "type")]
    #[schema(example = "item")]
    kind: &'static str,
    #[schema(example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: String,
    /// How many relations away.
    #[schema(example = 1)]
    distance: i64,
}

impl From<RelationPathStep> for ChainStepView {
    fn from(step: RelationPathStep) -> Self {
        Self { kind: step.endpoint.kind().as_str(), id: step.endpoint.id_text(), distance: step.distance }
    }
}

/// A chain, nearest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChainView {
    data: Vec<ChainStepView>,
}

/// Relate two things.
#[utoipa::path(post, path = "/relations", tag = "relations", request_body = NewRelationBody,
    responses((status = 201, body = Mutated<RelationView>)))]
pub(crate) async fn create_relation(
    State(engine): State<Engine>,
    mutation: Mutation,
) -> Result<Answer<RelationView>, ApiError> {
    let body: NewRelationBody = mutation.body().await?;
    let ends = (
        RelationKind::parse(&body.kind)?,
        endpoint(body.source_type.as_deref(), &body.source)?,
        endpoint(body.target_type.as_deref(), &body.target)?,
    );
    let qualities = RelationAttributes { confidence: body.confidence, metadata: body.metadata.unwrap_or_default() };
    let made = engine.relate(&mutation.caller, mutation.request, ends, qualities).await?;
    let location = format!("/api/v1/relations/{}", made.value.id);
    Ok(Answer::made(made.map(RelationView::from), location))
}

fn endpoint(kind: Option<&str>, id: &str) -> Result<Endpoint, RuleViolation> {
    kind.map_or_else(|| Endpoint::of_id(id), |kind| Endpoint::parse(kind, id))
}

/// The relations that meet at a thing, of one kind or all.
#[utoipa::path(get, path = "/relations", tag = "relations", params(RelationParameters),
    responses((status = 200, body = Listing<RelationView>)))]
pub(crate) async fn list_relations(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<RelationParameters>,
) -> Result<Json<Listing<RelationView>>, ApiError> {
    let side = match parameters.side {
        None | Some(SideName::Source) => RelationSide::Outgoing,
        Some(SideName::Target) => RelationSide::Incoming,
    };
    let kind = parameters.kind.as_deref().map(RelationKind::parse).transpose()?;
    let of = Endpoint::of_id(&parameters.of)?;
    let (after, limit) = read_page(parameters.cursor.as_deref(), parameters.limit.as_deref())?;
    let page = engine.relations(&caller, RelationQuery { of, side, kind, after, limit }).await?;
    Ok(Json(Listing::of(page, limit, RelationView::from)))
}

/// Everything reached along one kind of relation.
#[utoipa::path(get, path = "/relations/chain", tag = "relations", params(ChainParameters),
    responses((status = 200, body = ChainView)))]
pub(crate) async fn follow_chain(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<ChainParameters>,
) -> Result<Json<ChainView>, ApiError> {
    let side = match parameters.direction {
        None | Some(DirectionName::Forward) => RelationSide::Outgoing,
        Some(DirectionName::Backward) => RelationSide::Incoming,
    };
    let (from, kind) = (Endpoint::of_id(&parameters.from)?, RelationKind::parse(&parameters.kind)?);
    let limit = entry_limit(parameters.limit.as_deref(), CHAIN_STEPS_DEFAULT, CHAIN_STEPS_MAX)?;
    let steps = engine.chain(&caller, from, side, kind, limit).await?;
    Ok(Json(ChainView { data: steps.into_iter().map(ChainStepView::from).collect() }))
}

/// One relation.
#[utoipa::path(get, path = "/relations/{id}", tag = "relations", params(("id" = String, Path)),
    responses((status = 200, body = RelationView)))]
pub(crate) async fn read_relation(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<RelationId>,
) -> Result<Json<RelationView>, ApiError> {
    Ok(Json(engine.relation(&caller, id).await?.into()))
}

/// Change confidence and metadata, where the kind allows it.
#[utoipa::path(put, path = "/relations/{id}", tag = "relations", params(("id" = String, Path)),
    request_body = QualitiesBody, responses((status = 200, body = Mutated<RelationView>)))]
pub(crate) async fn edit_relation(
    State(engine): State<Engine>,
    PathId(id): PathId<RelationId>,
    mutation: Mutation,
) -> Result<Answer<RelationView>, ApiError> {
    let QualitiesBody { confidence, metadata } = mutation.body().await?;
    let qualities = RelationAttributes { confidence, metadata };
    let edited = engine.edit_relation(&mutation.caller, mutation.request, id, qualities).await?;
    Ok(Answer::done(edited.map(RelationView::from)))
}

/// Remove a relation, where the kind allows it; that it was there stays on the timeline.
#[utoipa::path(delete, path = "/relations/{id}", tag = "relations", params(("id" = String, Path), RemovalParameters),
    responses((status = 200, body = Mutated<RelationView>)))]
pub(crate) async fn remove_relation(
    State(engine): State<Engine>,
    PathId(id): PathId<RelationId>,
    Parameters(parameters): Parameters<RemovalParameters>,
    mutation: Mutation,
) -> Result<Answer<RelationView>, ApiError> {
    mutation.no_body().await?;
    let reason = parameters.reason.unwrap_or_default();
    let removed = engine.remove_relation(&mutation.caller, mutation.request, id, reason).await?;
    Ok(Answer::done(removed.map(RelationView::from)))
}
