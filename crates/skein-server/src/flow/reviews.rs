//! Reviews and decisions over HTTP.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skein_core::flow::execution::review::{Decision, ReviewRequest};
use skein_core::{ExecutionId, Millis, ReviewId, RuleViolation, UserId};
use skein_engine::Engine;
use skein_engine::flow::{Delegate, NamedUser, ShownReview};
use utoipa::{IntoParams, ToSchema};

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::{NoParameters, Parameters};
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::json::Json;
use crate::http::respond::pagination::{Listing, read_page};

/// Which questions to list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReviewParameters {
    /// open, or all.
    #[param(value_type = Option<String>, example = "open")]
    status: Option<ReviewFilter>,
    /// Where the last page ended: its `pagination.next`.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum ReviewFilter {
    Open,
    All,
}

/// A question to a person.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReviewView {
    #[schema(value_type = String, example = "review_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: ReviewId,
    /// The run that waits; nothing for whoever decides in its owner's place.
    #[schema(value_type = Option<String>)]
    execution_id: Option<ExecutionId>,
    process_name: String,
    step_id: String,
    /// open, decided, expired or withdrawn.
    #[schema(example = "open")]
    status: &'static str,
    /// By `kind`: `call` or `wish` (approve a tool call), `process` (approve a nested execution), `answer` (answer a question),
    /// `unknown` or `unknownProcess` (decide about a call or a nested execution whose end nobody saw). `inputs` are complete.
    /// `toolVersion` is there where the step names one.
    #[schema(value_type = Object)]
    asked: ReviewRequest,
    #[schema(value_type = Option<Object>)]
    decision: Option<Decision>,
    #[schema(value_type = String)]
    created_at: Millis,
    #[schema(value_type = Option<String>)]
    expires_at: Option<Millis>,
    #[schema(value_type = Option<String>)]
    ended_at: Option<Millis>,
    /// Whose question it is, where you decide in their place.
    asked_by: Option<PersonView>,
    /// What the tool is called, where you decide in its owner's place and may not see it.
    tool_name: Option<String>,
    /// Name of the process that the step would run, where `asked.kind` is `process` or `unknownProcess`.
    called_process_name: Option<String>,
    /// Whom its owner asked to decide.
    delegate: Option<PersonView>,
    /// Who decided.
    decided_by: Option<PersonView>,
}

/// A user as others know them.
#[derive(Serialize, ToSchema)]
pub(crate) struct PersonView {
    #[schema(value_type = String, example = "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: UserId,
    #[schema(example = "Ben")]
    name: String,
}

impl From<NamedUser> for PersonView {
    fn from(NamedUser { id, name }: NamedUser) -> Self {
        Self { id, name }
    }
}

impl From<ShownReview> for ReviewView {
    fn from(shown: ShownReview) -> Self {
        let row = shown.row;
        let execution_id = shown.in_place_of.is_none().then_some(row.run);
        let (asked_by, tool_name) = shown.in_place_of.map(|whose| (whose.owner, whose.tool_name)).unzip();
        Self {
            id: row.id,
            execution_id,
            process_name: shown.process_name,
            step_id: shown.step_id,
            status: row.status.as_str(),
            asked: row.asked,
            decision: row.decision,
            created_at: row.created_at,
            expires_at: row.expires_at,
            ended_at: row.ended_at,
            asked_by: asked_by.map(PersonView::from),
            tool_name: tool_name.flatten(),
            called_process_name: shown.called_process_name,
            delegate: shown.delegate.map(PersonView::from),
            decided_by: shown.decided_by.map(PersonView::from),
        }
    }
}

/// `{"decision": "approve", "inputs": …, "scope": …}`, `{"decision": "deny", "reason": …}`, `{"decision": "answer", "value": …}`
/// or, to a model that wants a call, `{"decision": "ask", "question": …}`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "it describes what a client sends; the core reads it")]
#[schema(example = json!({ "decision": "approve" }))]
pub(crate) struct DecisionBody {
    /// approve, deny, answer or ask.
    decision: String,
    /// In place of the inputs that are shown, when approving.
    inputs: Option<Value>,
    /// How far an approval reaches: once, run (every later call of the tool in this run), sameArguments (those with the
    /// same arguments) or always (every later call of it in any of your runs, until you revoke that or the tool changes).
    /// A nested process is approved once, run or sameArguments. Without it, as far as the step says.
    scope: Option<String>,
    /// Why not, when denying.
    reason: Option<String>,
    /// The answer.
    value: Option<Value>,
    /// What the model is asked before the call it wants is decided, 1 to 4000 characters: the call is not made, and the model
    /// answers in words or asks for it again.
    question: Option<String>,
}

/// Who is to decide: `{"userId": "user_…"}`, `{"userName": "Ben"}`, or `{"userId": null}` to take it back.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "userId": "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z" }))]
pub(crate) struct DelegateBody {
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    user_id: NamedId,
    /// In place of the id: the whole name, where only one user is called so.
    user_name: Option<String>,
}

/// That it is null is something that is said.
#[derive(Default)]
enum NamedId {
    #[default]
    LeftOut,
    Said(Option<UserId>),
}

impl<'de> Deserialize<'de> for NamedId {
    fn deserialize<D: serde::Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        Option::deserialize(value).map(Self::Said)
    }
}

impl DelegateBody {
    fn delegate(self) -> Result<Delegate, RuleViolation> {
        match (self.user_id, self.user_name) {
            (NamedId::Said(Some(user)), None) => Ok(Delegate::User(user)),
            (NamedId::Said(None), None) => Ok(Delegate::Nobody),
            (NamedId::LeftOut, Some(name)) => Ok(Delegate::Named(name)),
            (NamedId::LeftOut, None) | (NamedId::Said(_), Some(_)) => {
                let problem = "who is to decide is said once, by userId or by userName";
                let remedy = "give one of them; userId null takes the question back";
                Err(RuleViolation::new("BR-STEP-006", problem, remedy))
            }
        }
    }
}

/// What you are asked, and what others ask you to decide in their place, oldest first.
#[utoipa::path(get, path = "/reviews", tag = "processes", params(ReviewParameters),
    responses((status = 200, body = Listing<ReviewView>)))]
pub(crate) async fn list_reviews(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<ReviewParameters>,
) -> Result<Json<Listing<ReviewView>>, ApiError> {
    let (after, limit) = read_page(parameters.cursor.as_deref(), parameters.limit.as_deref())?;
    let only_open = parameters.status != Some(ReviewFilter::All);
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
    let decision: Decision = mutation.body().await?;
    let decided = engine.decide(&mutation.caller, mutation.request, id, decision).await?;
    Ok(Answer::done(decided.map(ReviewView::from)))
}

/// Ask another user to decide in your place, or take that back. They see this question and nothing else of the run, may approve
/// it once, for the run or for the same arguments, answer or deny it; you may decide all the same, and the first decision counts.
#[utoipa::path(put, path = "/reviews/{id}/delegate", tag = "processes", params(("id" = String, Path)),
    request_body = DelegateBody, responses((status = 200, body = Mutated<ReviewView>)))]
pub(crate) async fn delegate_review(
    State(engine): State<Engine>,
    PathId(id): PathId<ReviewId>,
    mutation: Mutation,
) -> Result<Answer<ReviewView>, ApiError> {
    let to = mutation.body::<DelegateBody>().await?.delegate()?;
    let delegated = engine.delegate_review(&mutation.caller, mutation.request, id, to).await?;
    Ok(Answer::done(delegated.map(ReviewView::from)))
}
