//! Records over HTTP: as they are, as they were, what changed, and what to poll for changes.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skein_core::garden::cursor::{BadCursor, Cursor};
use skein_core::garden::record::Record;
use skein_core::{Digest, ItemId, Millis, RecordId, UserId};
use skein_engine::Engine;
use skein_engine::garden::{FieldChange, HistoryEntry, PastState};
use skein_store::StoreError;
use skein_store::timeline::records::RecordVersion;
use utoipa::{IntoParams, ToSchema};

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::path_id::PathId;
use crate::http::extract::query::Parameters;
use crate::http::mutation::{Answer, Mutated, Mutation};
use crate::http::respond::pagination::{Listing, PageParameters, page_limit, read_page};

/// A belief in one of its states.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordView {
    #[schema(value_type = String, example = "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    id: RecordId,
    #[serde(rename = "_type")]
    #[schema(example = "Setting")]
    record_type: String,
    #[schema(value_type = String)]
    owner_id: UserId,
    #[schema(example = 3)]
    version: i64,
    #[schema(value_type = String)]
    hash: Digest,
    #[schema(value_type = Option<String>)]
    previous_hash: Option<Digest>,
    #[schema(value_type = String)]
    created_at: Millis,
    #[schema(value_type = String)]
    updated_at: Millis,
    shared: bool,
    #[schema(value_type = Object)]
    data: Map<String, Value>,
}

impl From<Record> for RecordView {
    fn from(record: Record) -> Self {
        let Record { id, owner, version, hash, previous_hash, created_at, updated_at, content } = record;
        Self {
            id,
            record_type: content.record_type.as_str().to_owned(),
            owner_id: owner,
            version,
            hash,
            previous_hash,
            created_at,
            updated_at,
            shared: content.shared,
            data: content.data,
        }
    }
}

/// One version of a record; also what a client that polls is told.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeltaView {
    #[schema(value_type = String)]
    record_id: RecordId,
    #[serde(rename = "_type")]
    record_type: String,
    version: i64,
    /// The hash before; null for the first version.
    #[schema(value_type = Option<String>)]
    old_hash: Option<Digest>,
    #[schema(value_type = String)]
    new_hash: Digest,
    /// The `EntityDelta` that tells it.
    #[schema(value_type = String)]
    item_id: ItemId,
    #[schema(value_type = String)]
    at: Millis,
    #[schema(value_type = String, example = "0.42")]
    cursor: Cursor,
}

impl From<RecordVersion> for DeltaView {
    fn from(version: RecordVersion) -> Self {
        Self {
            record_id: version.record,
            record_type: version.record_type,
            version: version.version,
            old_hash: version.previous_hash,
            new_hash: version.hash,
            item_id: version.item,
            at: version.realized_at,
            cursor: version.cursor,
        }
    }
}

/// What changed in your records, and where to ask from next time.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeltasView {
    data: Vec<DeltaView>,
    /// Send it as `after` next time.
    #[schema(value_type = String, example = "0.42")]
    next: Cursor,
}

/// One version of a record, with who made it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HistoryView {
    #[serde(flatten)]
    delta: DeltaView,
    /// Who made it; null when that was destroyed.
    #[schema(value_type = Option<String>, example = "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    author: Option<UserId>,
    /// Why, if they said so.
    reason: Option<String>,
}

impl From<HistoryEntry> for HistoryView {
    fn from(entry: HistoryEntry) -> Self {
        let HistoryEntry { version, author, reason } = entry;
        Self { delta: version.into(), author, reason }
    }
}

/// What two versions disagree about.
#[derive(Serialize, ToSchema)]
pub(crate) struct RecordDiffView {
    from: i64,
    to: i64,
    changes: Vec<ChangeView>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ChangeView {
    #[schema(example = "value")]
    field: String,
    before: Value,
    after: Value,
}

impl From<FieldChange> for ChangeView {
    fn from(change: FieldChange) -> Self {
        let FieldChange { field, before, after } = change;
        Self { field, before, after }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecordParameters {
    /// The records' type, such as `Setting`.
    #[serde(rename = "type")]
    #[param(rename = "type", example = "TimeOverride")]
    record_type: String,
    /// Where the last page ended.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StateParameters {
    /// A version, from 1; without it and `at`, the current one.
    #[param(value_type = Option<i64>, minimum = 1)]
    version: Option<String>,
    /// A moment; the state the record had then.
    #[param(value_type = Option<String>, example = "2026-11-15T09:30:00.000Z", format = DateTime)]
    at: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DiffParameters {
    /// A version, from 1.
    #[param(value_type = i64, minimum = 1, example = 1)]
    from: String,
    /// Another one.
    #[param(value_type = i64, minimum = 1, example = 2)]
    to: String,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeltaParameters {
    /// The `next` of the last answer; without it, from the beginning.
    after: Option<String>,
    /// Entries, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

/// Your records of one type.
#[utoipa::path(get, path = "/records", tag = "records", params(RecordParameters),
    responses((status = 200, body = Listing<RecordView>)))]
pub(crate) async fn list_records(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<RecordParameters>,
) -> Result<Json<Listing<RecordView>>, ApiError> {
    let (after, limit) = read_page(parameters.cursor.as_deref(), parameters.limit.as_deref())?;
    let page = engine.records(&caller, &parameters.record_type, after, limit).await?;
    Ok(Json(Listing::of(page, limit, RecordView::from)))
}

/// A record as it is, or as it was in a version or at a moment.
#[utoipa::path(get, path = "/records/{id}", tag = "records", params(("id" = String, Path), StateParameters),
    responses((status = 200, body = RecordView)))]
pub(crate) async fn read_record(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    PathId(id): PathId<RecordId>,
    Parameters(parameters): Parameters<StateParameters>,
) -> Result<Response, ApiError> {
    let state = match (parameters.version.as_deref(), parameters.at.as_deref()) {
        (None, None) => PastState::Now,
        (Some(text), None) => PastState::Version(version("version", text)?),
        (None, Some(text)) => PastState::At(text.parse().map_err(|bad| invalid("at", &format!("{bad}")))?),
        (Some(_), Some(_)) => return Err(invalid("at", "send either a version or a moment")),
    };
    let record = engine.record(&caller, id, state).await?;
    let tag = HeaderValue::try_from(format!("\"{}\"", record.hash)).expect("hashes are visible ASCII");
    Ok(([(header::ETAG, tag)], Json(RecordView::from(record))).into_response())
}

/// The versions of a record, oldest first.
#[utoipa::path(get, path = "/records/{id}/history", tag = "records", params(("id" = String, Path), PageParameters),
    responses((status = 200, body = Listing<HistoryView>)))]
pub(crate) async fn list_history(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    PathId(id): PathId<RecordId>,
    Parameters(parameters): Parameters<PageParameters>,
) -> Result<Json<Listing<HistoryView>>, ApiError> {
    let (after, limit) = parameters.read()?;
    let page = engine.history(&caller, id, after.unwrap_or(0), limit).await?;
    Ok(Json(Listing::of(page, limit, HistoryView::from)))
}

/// What two versions of a record disagree about.
#[utoipa::path(get, path = "/records/{id}/diff", tag = "records", params(("id" = String, Path), DiffParameters),
    responses((status = 200, body = RecordDiffView)))]
pub(crate) async fn diff_record(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    PathId(id): PathId<RecordId>,
    Parameters(parameters): Parameters<DiffParameters>,
) -> Result<Json<RecordDiffView>, ApiError> {
    let (from, to) = (version("from", &parameters.from)?, version("to", &parameters.to)?);
    let changes = engine.record_diff(&caller, id, (from, to)).await?;
    Ok(Json(RecordDiffView { from, to, changes: changes.into_iter().map(ChangeView::from).collect() }))
}

/// Which state of a record to take up again.
#[derive(Deserialize, Default, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
#[schema(example = json!({ "version": 2 }))]
pub(crate) struct RestoreBody {
    /// A version, from 1; without it, the one before the last change.
    #[schema(minimum = 1)]
    version: Option<i64>,
    /// The hash of the state you looked at; with another one now, nothing is done.
    based_on_hash: Option<String>,
}

/// Take an earlier state of an entry of the catalogue up again, as a new version: a deletion undone, a change taken back. It is
/// judged as a change that says the same; the values of secrets do not come back.
#[utoipa::path(post, path = "/records/{id}/restore", tag = "records", params(("id" = String, Path)),
    request_body = RestoreBody, responses((status = 200, body = Mutated<RecordView>)))]
pub(crate) async fn restore_record(
    State(engine): State<Engine>,
    PathId(id): PathId<RecordId>,
    mutation: Mutation,
) -> Result<Answer<RecordView>, ApiError> {
    let RestoreBody { version, based_on_hash } = mutation.body_if_any().await?;
    let based_on = mutation.based_on(based_on_hash.as_deref())?;
    let restored = engine.restore_record(&mutation.caller, mutation.request, id, version, based_on).await?;
    Ok(Answer::done(restored.map(RecordView::from)))
}

/// What changed in your records since you last asked.
#[utoipa::path(get, path = "/deltas", tag = "events", params(DeltaParameters),
    responses((status = 200, body = DeltasView)))]
pub(crate) async fn list_deltas(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<DeltaParameters>,
) -> Result<Json<DeltasView>, ApiError> {
    let after = parameters.after.as_deref().map(str::parse).transpose();
    let after = after.map_err(|bad: BadCursor| StoreError::Cursor(bad))?.unwrap_or(Cursor::START);
    let changes = engine.record_changes(&caller, after, page_limit(parameters.limit.as_deref())?).await?;
    let next = changes.last().map_or(after, |last| last.cursor);
    Ok(Json(DeltasView { data: changes.into_iter().map(DeltaView::from).collect(), next }))
}

pub(crate) fn version(name: &str, text: &str) -> Result<i64, ApiError> {
    let parsed = text.parse().ok().filter(|version| *version >= 1);
    parsed.ok_or_else(|| invalid(name, "send the number of a version, from 1"))
}

fn invalid(name: &str, problem: &str) -> ApiError {
    ApiError::bad_request("invalid_query", format!("{name}: {problem}")).with_detail("field", name)
}
