//! What people are asked while runs wait, and what they decide.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skein_core::flow::execution::review::{Asked, Decision};
use skein_core::{Millis, ReviewId, RunId};
use skein_engine::Engine;
use skein_engine::flow::ShownReview;
use utoipa::{IntoParams, ToSchema};

use crate::error::ApiError;
use crate::json::Json;
use crate::mutation::{Answer, Mutated, Mutation};
use crate::pagination::{Listing, read_page};
use crate::path_id::PathId;
use crate::query::{NoParameters, Parameters};
use crate::signed_in::SignedIn;

/// Which questions to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReviewParameters {
    /// open, or all.
    #[param(value_type = Option<String>, example = "open")]
    status: Option<Which>,
    /// Where the last page ended: its `pagination.next`.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Which {
    Open,
    All,
}

/// A question to a person.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReviewView {
    #[schema(value_type = String, example = "review_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: ReviewId,
    #[schema(value_type = String)]
    execution_id: RunId,
    process_name: String,
    step_id: String,
    /// open, decided, expired or withdrawn.
    #[schema(example = "open")]
    status: &'static str,
    /// A call to approve with its whole inputs, a question to answer, or a call whose end nobody saw.
    #[schema(value_type = Object)]
    asked: Asked,
    #[schema(value_type = Option<Object>)]
    decision: Option<Decision>,
    #[schema(value_type = String)]
    created_at: Millis,
    #[schema(value_type = Option<String>)]
    expires_at: Option<Millis>,
    #[schema(value_type = Option<String>)]
    ended_at: Option<Millis>,
}

impl From<ShownReview> for ReviewView {
    fn from(shown: ShownReview) -> Self {
        let row = shown.row;
        Self {
            id: row.id,
            execution_id: row.run,
            process_name: shown.process_name,
            step_id: shown.step_id,
            status: row.status.as_str(),
            asked: row.asked,
            decision: row.decision,
            created_at: row.created_at,
            expires_at: row.expires_at,
            ended_at: row.ended_at,
        }
    }
}

/// `{"decision": "approve", "inputs": …, "scope": …}`, `{"decision": "deny", "reason": …}` or `{"decision": "answer", "value": …}`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "it describes what a client sends; the core reads it")]
#[schema(example = json!({ "decision": "approve" }))]
pub(crate) struct DecisionBody {
    /// approve, deny or answer.
    decision: String,
    /// In place of the inputs that are shown, when approving.
    inputs: Option<Value>,
    /// How far an approval reaches: once, run (every later call of the tool in this run), sameArguments (those with the
    /// same arguments) or always (every later call of it in any of your runs, until you revoke that or the tool changes).
    /// Without it, as far as the step says.
    scope: Option<String>,
    /// Why not, when denying.
    reason: Option<String>,
    /// The answer.
    value: Option<Value>,
}

/// What you are asked, oldest first.
#[utoipa::path(get, path = "/reviews", tag = "processes", params(ReviewParameters),
    responses((status = 200, body = Listing<ReviewView>)))]
pub(crate) async fn list_reviews(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<ReviewParameters>,
) -> Result<Json<Listing<ReviewView>>, ApiError> {
    let (after, limit) = read_page(parameters.cursor.as_deref(), parameters.limit.as_deref())?;
    let only_open = parameters.status != Some(Which::All);
    let page = engine.reviews(&caller, only_open, after, limit).await?;
    Ok(Json(Listing::of(page, limit, ReviewView::from)))
}

/// One question.
#[utoipa::path(get, path = "/reviews/{id}", tag = "processes", params(("id" = String, Path)),
    responses((status = 200, body = ReviewView)))]
pub(crate) async fn read_review(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(NoParameters {}): Parameters<NoParameters>,
    PathId(id): PathId<ReviewId>,
) -> Result<Json<ReviewView>, ApiError> {
    Ok(Json(engine.review(&caller, id).await?.into()))
}

/// Decide; the first decision counts, and the run goes on at once.
#[utoipa::path(post, path = "/reviews/{id}/decide", tag = "processes", params(("id" = String, Path)),
    request_body = DecisionBody, responses((status = 200, body = Mutated<ReviewView>)))]
pub(crate) async fn decide_review(
    State(engine): State<Engine>,
    PathId(id): PathId<ReviewId>,
    mutation: Mutation,
) -> Result<Answer<ReviewView>, ApiError> {
    let decision: Decision = mutation.body()?;
    let decided = engine.decide(&mutation.caller, mutation.request, id, decision).await?;
    Ok(Answer::done(decided.map(ReviewView::from)))
}
