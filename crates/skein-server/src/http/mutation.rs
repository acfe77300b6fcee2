//! Takes a request that changes something, and answers it: the one way in for every mutation.
//!
//! Whoever asks is known and may write, the request carries its `Idempotency-Key`, and its body is JSON of limited
//! size. A handler that takes a [`Mutation`] has all that behind it; what is left is to parse, call the engine once
//! and say what came out.

use std::time::{Duration, Instant};

use axum::extract::{FromRequest, FromRequestParts as _, Request as HttpRequest};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use skein_core::account::idempotency::IdempotencyKey;
use skein_core::{Digest, ExecutionId, OperationId, RecordId, document};
use skein_engine::{Caller, CommittedChange, Engine, Request};
use utoipa::ToSchema;

use crate::http::auth::authentication::SignedIn;
use crate::http::context::Context;
use crate::http::error::ApiError;
use crate::http::extract::body::{BodyLimit, JsonText};
use crate::http::respond::json::Json;
use crate::router::API;

pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// After a body that took longer, the credential is looked up again: it may have ended while the body came.
const KNOWN_FOR: Duration = Duration::from_secs(1);
/// Where a body is more than one document: items in a batch.
const BATCHES: &str = "/items";
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const CURSOR: HeaderName = HeaderName::from_static("skein-cursor");

/// Somebody who may write, and under which key they ask; the body is still to come.
pub(crate) struct MutationRequest {
    pub(crate) caller: Caller,
    pub(crate) key: IdempotencyKey,
    method: String,
    target: String,
}

impl MutationRequest {
    pub(crate) async fn from_parts(parts: &mut Parts, context: &Context) -> Result<Self, ApiError> {
        let SignedIn(caller) = SignedIn::from_request_parts(parts, context).await?;
        let key = idempotency_key(&parts.headers)?;
        // Fingerprints of requests cover what stands below the version.
        let target = parts.uri.path_and_query().map_or("", PathAndQuery::as_str);
        let target = target.strip_prefix(API).unwrap_or(target).to_owned();
        Ok(Self { caller, key, method: parts.method.to_string(), target })
    }

    /// The record that is asked about: the first one in the path.
    fn record(&self) -> Option<RecordId> {
        let path = self.target.split('?').next().unwrap_or_default();
        path.split('/').find_map(|segment| segment.parse().ok())
    }

    /// What is asked for, now that the body is there.
    pub(crate) fn request(&self, body: &[u8]) -> Request {
        Request::new(&self.caller, &self.key, &self.method, &self.target, body)
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<IdempotencyKey, ApiError> {
    let mut given = headers.get_all(&IDEMPOTENCY_KEY).iter();
    let (first, second) = (given.next(), given.next());
    let Some(first) = first else {
        let message = "a request that changes something needs an Idempotency-Key; draw a UUID for each request";
        return Err(ApiError::bad_request("idempotency_key_required", message).breaking("BR-IDEMP-001"));
    };
    let parsed = first.to_str().ok().filter(|_| second.is_none()).and_then(|text| text.parse().ok());
    parsed.ok_or_else(|| {
        let message = skein_core::account::idempotency::BadIdempotencyKey.to_string();
        ApiError::bad_request("idempotency_key_invalid", message).breaking("BR-IDEMP-001")
    })
}

/// A change that is asked for, with its body.
pub(crate) struct Mutation {
    pub(crate) caller: Caller,
    pub(crate) request: Request,
    pub(crate) text: JsonText,
    based_on: Option<String>,
    engine: Engine,
}

impl FromRequest<Context> for Mutation {
    type Rejection = ApiError;

    async fn from_request(request: HttpRequest, context: &Context) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let asking = MutationRequest::from_parts(&mut parts, context).await?;
        let based_on = if_match(&parts.headers)?;
        let user = asking.caller.user;
        let is_batch = parts.uri.path().strip_prefix(API) == Some(BATCHES);
        let room = if is_batch { BodyLimit::batch(context, user) } else { BodyLimit::document(context, user) };
        let asked_at = Instant::now();
        let text = JsonText::receive(HttpRequest::from_parts(parts, body), room).await?;
        if asked_at.elapsed() > KNOWN_FOR {
            context.engine.confirm(&asking.caller).await?;
        }
        let caller = asking.caller.clone();
        let record = asking.record();
        let request = text.parse(&context.engine, user, move |text| asking.request(text)).await?;
        let mutation = Self { caller, request, text, based_on, engine: context.engine.clone() };
        let hash = mutation.based_on(None)?;
        Ok(match record.zip(hash) {
            Some((record, hash)) => Self { request: mutation.request.based_on(record, hash), ..mutation },
            None => mutation,
        })
    }
}

/// The hash that `If-Match` names; `*` asks for any version of what is there.
fn if_match(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let mut tags = headers.get_all(header::IF_MATCH).iter();
    let (Some(tag), None) = (tags.next(), tags.next()) else {
        return if headers.contains_key(header::IF_MATCH) { Err(bad_if_match()) } else { Ok(None) };
    };
    let tag = tag.to_str().map_err(|_| bad_if_match())?.trim();
    Ok((tag != "*").then(|| tag.trim_matches('"').to_owned()))
}

fn bad_if_match() -> ApiError {
    let message = "If-Match names one hash; send the hash that you looked at, in quotation marks";
    ApiError::bad_request("invalid_body", message)
}

impl Mutation {
    /// The body as what it should be; its derive has to deny unknown fields.
    pub(crate) async fn body<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        Self::read(self.document().await?)
    }

    /// The body as an object whose parts go different ways.
    pub(crate) async fn document(&self) -> Result<Map<String, Value>, ApiError> {
        Ok(self.parse(document::parse_object).await??)
    }

    /// The body, understood by whoever knows its form.
    pub(crate) async fn parse<T: Send + 'static>(
        &self,
        parse: impl FnOnce(&[u8]) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.text.parse(&self.engine, self.caller.user, parse).await
    }

    /// What is left of a [`Self::document`], as what it should be.
    pub(crate) fn read<T: DeserializeOwned>(document: Map<String, Value>) -> Result<T, ApiError> {
        serde_json::from_value(document.into())
            .map_err(|problem| ApiError::bad_request("invalid_body", problem.to_string()))
    }

    /// Takes what a change is based on out of a [`Self::document`].
    pub(crate) fn taken_based_on(&self, document: &mut Map<String, Value>) -> Result<Option<Digest>, ApiError> {
        match document.remove("basedOnHash") {
            Some(Value::String(text)) => self.based_on(Some(&text)),
            None | Some(Value::Null) => self.based_on(None),
            // Not a hash, whatever it is.
            Some(other) => self.based_on(Some(&other.to_string())),
        }
    }

    /// A change of a record and the state it is based on, which it cannot do without.
    pub(crate) async fn based_change<T: DeserializeOwned>(&self) -> Result<(T, Digest), ApiError> {
        let mut document = self.document().await?;
        let based_on = self.taken_based_on(&mut document)?.ok_or_else(nothing_based_on)?;
        Ok((Self::read(document)?, based_on))
    }

    /// [`Self::body`] where everything has a default: nothing said is nothing asked for.
    pub(crate) async fn body_if_any<T: DeserializeOwned + Default>(&self) -> Result<T, ApiError> {
        if self.text.text.is_empty() { Ok(T::default()) } else { self.body().await }
    }

    /// For changes that need nothing said: an empty body, or an empty object.
    pub(crate) async fn no_body(&self) -> Result<(), ApiError> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Nothing {}
        if self.text.text.is_empty() {
            return Ok(());
        }
        self.body::<Nothing>().await.map(drop)
    }

    /// The state a change is based on: named in the body, or by `If-Match` (decision Z20).
    pub(crate) fn based_on(&self, in_body: Option<&str>) -> Result<Option<Digest>, ApiError> {
        let Some(text) = in_body.or(self.based_on.as_deref()) else { return Ok(None) };
        let parsed = text.parse().map(Some);
        parsed.map_err(|_| {
            let message = "basedOnHash or If-Match: send the hash of the state you looked at, 64 hexadecimal digits";
            ApiError::bad_request("invalid_body", message).with_detail("field", "basedOnHash")
        })
    }

    /// [`Self::based_on`] where a change cannot do without.
    pub(crate) fn must_be_based_on(&self, in_body: Option<&str>) -> Result<Digest, ApiError> {
        self.based_on(in_body)?.ok_or_else(nothing_based_on)
    }
}

fn nothing_based_on() -> ApiError {
    let message = "basedOnHash: name the hash of the state you looked at, here or in If-Match";
    ApiError::bad_request("invalid_body", message).breaking("MG-CORE-002").with_detail("field", "basedOnHash")
}

/// What every change answers with: the thing it made or changed, and as what it is on record.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Mutated<V> {
    #[serde(flatten)]
    pub(crate) value: V,
    /// The operation this change is on record as.
    #[schema(value_type = String, example = "op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    pub(crate) operation_id: OperationId,
}

/// The answer to a change that is done.
pub(crate) struct Answer<V> {
    changed: CommittedChange<V>,
    location: Option<String>,
    goes_on: bool,
}

impl<V> Answer<V> {
    /// Something was begun that goes on.
    pub(crate) fn begun(changed: CommittedChange<V>) -> Self {
        Self { changed, location: None, goes_on: true }
    }

    /// Something was made, and can be found at `location`.
    pub(crate) fn made(changed: CommittedChange<V>, location: String) -> Self {
        Self { changed, location: Some(location), goes_on: false }
    }

    /// Something was changed.
    pub(crate) fn done(changed: CommittedChange<V>) -> Self {
        Self { changed, location: None, goes_on: false }
    }
}

impl<V: Serialize> IntoResponse for Answer<V> {
    fn into_response(self) -> Response {
        let Self { changed: CommittedChange { value, operation, cursor, is_replay }, location, goes_on } = self;
        let status = match (&location, goes_on) {
            _ if is_replay => StatusCode::OK,
            (Some(_), _) => StatusCode::CREATED,
            (None, true) => StatusCode::ACCEPTED,
            (None, false) => StatusCode::OK,
        };
        let mut response = (status, Json(Mutated { value, operation_id: operation })).into_response();
        let headers = response.headers_mut();
        let mut put = |name: HeaderName, value: String| {
            headers.insert(name, HeaderValue::try_from(value).expect("ids and cursors are visible ASCII"));
        };
        if let Some(location) = location {
            put(header::LOCATION, location);
        }
        if let Some(cursor) = cursor {
            put(CURSOR, cursor.to_string());
        }
        if is_replay {
            put(REPLAYED, "true".to_owned());
        }
        response
    }
}

/// The answer to a run that was begun.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartedExecution {
    /// The run; its answer can be heard at `/executions/{id}/stream`.
    #[schema(value_type = String, example = "run_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    execution_id: ExecutionId,
    #[schema(value_type = String, example = "op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    operation_id: OperationId,
    #[schema(example = "/api/v1/operations/op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    status_url: String,
    #[serde(skip)]
    is_replay: bool,
    #[serde(skip)]
    cursor: Option<String>,
}

impl StartedExecution {
    pub(crate) fn of(begun: &CommittedChange<ExecutionId>) -> Self {
        Self {
            execution_id: begun.value,
            operation_id: begun.operation,
            status_url: format!("/api/v1/operations/{}", begun.operation),
            is_replay: begun.is_replay,
            cursor: begun.cursor.map(|cursor| cursor.to_string()),
        }
    }
}

impl IntoResponse for StartedExecution {
    fn into_response(self) -> Response {
        let status = if self.is_replay { StatusCode::OK } else { StatusCode::ACCEPTED };
        let mut response = (status, Json(&self)).into_response();
        if let Some(cursor) = &self.cursor {
            let cursor = HeaderValue::try_from(cursor).expect("cursors are visible ASCII");
            response.headers_mut().insert(CURSOR, cursor);
        }
        if self.is_replay {
            response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        }
        response
    }
}

/// The answer to work that is on disk and will be done.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Accepted {
    /// What to poll.
    #[schema(value_type = String, example = "op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    operation_id: OperationId,
    /// Where to poll it.
    #[schema(example = "/api/v1/operations/op_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    status_url: String,
    /// In words.
    message: &'static str,
}

impl Accepted {
    /// 202 the first time, 200 when the same work is asked for again (BR-IDEMP-005).
    pub(crate) fn answer(queued: &CommittedChange<()>, message: &'static str) -> Response {
        let operation_id = queued.operation;
        let status_url = format!("/api/v1/operations/{operation_id}");
        let status = if queued.is_replay { StatusCode::OK } else { StatusCode::ACCEPTED };
        let mut response = (status, Json(Self { operation_id, status_url, message })).into_response();
        if let Some(cursor) = queued.cursor {
            let cursor = HeaderValue::try_from(cursor.to_string()).expect("cursors are visible ASCII");
            response.headers_mut().insert(CURSOR, cursor);
        }
        if queued.is_replay {
            response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        }
        response
    }
}
