//! Where errors meet people over HTTP: status, stable code, and the one envelope (decision Z20).
//!
//! Every refusal of the engine, the store and the door itself is translated here, exhaustively, so that a new one
//! does not compile until somebody has decided what a client is told. What went wrong inside is logged, not sent.

use axum::Json;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};
use skein_connect::http::CallFault;
use skein_connect::passphrase::NotOpened;
use skein_core::RuleViolation;
use skein_core::catalog::sharing::SharingRefusal;
use skein_core::document::BadDocument;
use skein_core::garden::item::BadItem;
use skein_core::garden::record::RecordRefused;
use skein_core::tree::conversation::Conversation;
use skein_engine::{COMPUTATIONS_MAX, COMPUTATIONS_PER_USER, ComputeError, EngineError};
use skein_store::StoreError;
use skein_store::jobs::exclusive_act::ExclusiveAct;
use utoipa::ToSchema;

use crate::http::auth::tokens::BadToken;
use crate::http::limits::RETRY_AFTER_SECONDS;

/// What a client is told, and what only the log is.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    rule: Option<&'static str>,
    details: Value,
    retryable: bool,
    /// Detail for the log alone.
    cause: Option<String>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let (rule, details, cause) = (None, json!({}), None);
        Self { status, code, message: message.into(), rule, details, retryable: false, cause }
    }

    pub(crate) fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(crate) fn unauthenticated(message: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthenticated", message)
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    pub(crate) fn body_too_large(bytes_max: u64) -> Self {
        Self::too_large(format!("a body has at most {bytes_max} bytes here; send it in smaller parts"))
    }

    /// One user does more of a kind of work at once than one may.
    pub(crate) fn too_many_at_once(work: &str, limit: usize) -> Self {
        let message = format!("you have {limit} {work} under way, the most for one user; retry when one has ended");
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_at_once", message).retryable().with_detail("limit", limit)
    }

    /// All users together do as much of a kind of work as the server allows.
    pub(crate) fn server_full(work: &str, limit: usize) -> Self {
        let message = format!("{limit} {work} are under way, the most for this server; retry after Retry-After");
        Self::unavailable("busy", &message).retryable().with_detail("limit", limit)
    }

    /// One client asks too often.
    pub(crate) fn rate_limited() -> Self {
        let message = "too many requests from this address; wait as long as Retry-After says";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message).retryable()
    }

    /// All clients together ask for more than the server can do now.
    pub(crate) fn busy() -> Self {
        Self::unavailable("busy", "the server is busy with other requests; wait as long as Retry-After says")
            .retryable()
    }

    /// Our fault: the client learns only that, and where to look.
    pub(crate) fn internal(cause: impl Into<String>) -> Self {
        let message = "something went wrong inside; the server's log has it under this correlation id";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message).caused_by(cause)
    }

    fn unavailable(code: &'static str, message: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message)
    }

    pub(crate) fn caused_by(self, cause: impl Into<String>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    /// Names the rule that would be broken.
    pub(crate) fn breaking(self, rule: &'static str) -> Self {
        Self { rule: Some(rule), ..self }
    }

    pub(crate) fn retryable(self) -> Self {
        Self { retryable: true, ..self }
    }

    /// Says one more thing a program can read.
    pub(crate) fn with_detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details[name] = value.into();
        self
    }

    /// Says which entry of a batch this is about, and that it kept the others out.
    pub(crate) fn in_batch(self, index: usize) -> Self {
        let message = format!("item {index} of the batch, so none was kept: {}", self.message);
        Self { message, ..self }.with_detail("index", index)
    }

    pub(crate) fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// The body and headers a client gets.
    pub(crate) fn render(&self, correlation_id: &str) -> Response {
        let Self { code, message, rule, details, retryable, .. } = self;
        let (rule, retryable) = (*rule, *retryable);
        let error = PublicError { code, message, rule, details, correlation_id, retryable };
        let mut response = (self.status, Json(Envelope { error })).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        let waits = [StatusCode::SERVICE_UNAVAILABLE, StatusCode::TOO_MANY_REQUESTS].contains(&self.status);
        if self.retryable && waits {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS));
        }
        response
    }
}

/// The envelope as it is written.
#[derive(Serialize)]
struct Envelope<'a> {
    error: PublicError<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PublicError<'a> {
    code: &'a str,
    message: &'a str,
    rule: Option<&'a str>,
    details: &'a Value,
    correlation_id: &'a str,
    retryable: bool,
}

/// The envelope, for readers of the API document.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what Envelope writes")]
pub(crate) struct ErrorEnvelope {
    error: ErrorBody,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what Told writes")]
struct ErrorBody {
    /// Stable; for programs.
    code: String,
    /// What is wrong and what to do; for people.
    message: String,
    /// The rule that would be broken, if it is one.
    rule: Option<String>,
    /// More for programs: the field, the index in a batch, both hashes of a conflict.
    #[schema(value_type = Object)]
    details: Value,
    /// Under which the server's log has this request.
    #[schema(rename = "correlationId")]
    correlation_id: String,
    /// Whether the same request may succeed later.
    retryable: bool,
}

/// The correlation id is not known here: `correlation::follow` writes the body.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Store(error) => error.into(),
            EngineError::UnknownCredential => Self::unauthenticated(
                "this credential is not known here or was ended; the server prints a link for a new one at each start",
            ),
            EngineError::ExpiredKey(ended) => {
                Self::unauthenticated(&error.to_string()).with_detail("expiredAt", ended.to_string())
            }
            EngineError::Call(fault) => fault.into(),
            EngineError::Compute(error) => error.into(),
            EngineError::Vault(fault) => {
                let message =
                    "the vault cannot seal or open this now; an administrator finds the reason by skein doctor";
                Self::unavailable("vault_unavailable", message).caused_by(fault.to_string())
            }
            EngineError::PassphraseNeeded => Self::bad_request("passphrase_required", error.to_string()),
            EngineError::PassphraseIdle => Self::bad_request("passphrase_unused", error.to_string()),
            EngineError::NotOpened(NotOpened::WrongPassphrase) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "wrong_passphrase", error.to_string())
            }
            EngineError::NotOpened(NotOpened::Unreadable(_)) => Self::bad_request("invalid_bundle", error.to_string()),
            EngineError::NotOpened(NotOpened::Vault(fault)) => EngineError::Vault(fault).into(),
            EngineError::NoSuchGrant(_) => Self::new(StatusCode::FORBIDDEN, "invalid_grant", error.to_string()),
            EngineError::Cancelled => Self::new(StatusCode::CONFLICT, "cancelled", error.to_string()),
            EngineError::NotABrowser => Self::new(StatusCode::CONFLICT, "not_a_browser", error.to_string()),
            EngineError::NoSuchSetting(_) => Self::new(StatusCode::NOT_FOUND, "not_found", error.to_string()),
            EngineError::BadSetting(_) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_setting", error.to_string())
            }
            EngineError::AdminsOnly
            | EngineError::GrantIsForLooking
            | EngineError::KeyOutlivesMaker(_)
            | EngineError::OnlyHere
            | EngineError::SessionOutlivesMaker(_)
            | EngineError::ScopeTooNarrow { .. } => {
                Self::new(StatusCode::FORBIDDEN, "permission_denied", error.to_string())
            }
            EngineError::BatchItem { index, source } => Self::from(source).in_batch(index),
            EngineError::BatchSize => Self::bad_request("invalid_body", error.to_string()),
        }
    }
}

impl From<ComputeError> for ApiError {
    fn from(error: ComputeError) -> Self {
        match error {
            ComputeError::OfUser => Self::too_many_at_once("computations", COMPUTATIONS_PER_USER),
            ComputeError::OfServer => Self::server_full("computations", COMPUTATIONS_MAX),
            ComputeError::Panicked(_) => Self::internal(error.to_string()),
        }
    }
}

/// Somebody outside was asked within the request, and did not answer as they should.
impl From<CallFault> for ApiError {
    fn from(fault: CallFault) -> Self {
        let (status, retryable) = match &fault {
            CallFault::Address(_) | CallFault::Request(_) | CallFault::Refused(_) => {
                (StatusCode::UNPROCESSABLE_ENTITY, false)
            }
            CallFault::Timeout { .. } => (StatusCode::GATEWAY_TIMEOUT, true),
            other => (StatusCode::BAD_GATEWAY, other.is_retryable()),
        };
        Self { retryable, ..Self::new(status, fault.code(), fault.to_string()) }
    }
}

impl From<BadToken> for ApiError {
    fn from(bad: BadToken) -> Self {
        match bad {
            BadToken::KeysUnavailable => Self::unavailable("unavailable", &bad.to_string()).retryable(),
            _ => Self::unauthenticated(&bad.to_string()),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let told = error.to_string();
        match error {
            StoreError::Rule(violation) => violation.into(),
            StoreError::Item(bad) => bad.into(),
            StoreError::Document(bad) => bad.into(),
            StoreError::Record(refused) => refused.into(),
            StoreError::Cursor(_) => Self::bad_request("invalid_cursor", told),
            StoreError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "not_found", told),
            StoreError::NotSealed(_) => Self::new(StatusCode::CONFLICT, "not_sealed", told).retryable(),
            StoreError::Refused(refused) => refused.into(),
            StoreError::Forbidden => Self::new(StatusCode::FORBIDDEN, "permission_denied", told),
            StoreError::Exists(_) => Self::new(StatusCode::CONFLICT, "already_exists", told),
            StoreError::RequestMismatch => {
                Self::new(StatusCode::CONFLICT, "idempotency_payload_mismatch", told).breaking("BR-IDEMP-004")
            }
            StoreError::RequestInFlight => {
                Self::new(StatusCode::CONFLICT, "idempotency_in_flight", told).breaking("BR-IDEMP-005").retryable()
            }
            StoreError::Ended(_) => Self::new(StatusCode::CONFLICT, "cannot_cancel", told),
            StoreError::Bundle(bad) => crate::garden::bundles::refused(&bad, told),
            StoreError::ActRunning { act, operation } => {
                let code = match act {
                    ExclusiveAct::VaultRotation => "rotation_running",
                    ExclusiveAct::Import(_) => "import_running",
                };
                Self::new(StatusCode::CONFLICT, code, told)
                    .with_detail("operationId", operation.to_string())
                    .retryable()
            }
            StoreError::CredentialEnded => Self::unauthenticated(&told),
            StoreError::VaultKeyChanged(_) => Self::new(StatusCode::CONFLICT, "vault_key_changed", told).retryable(),
            StoreError::LeaseLost(_) => Self::new(StatusCode::CONFLICT, "lease_lost", told),
            StoreError::NeedsComputation(_) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "too_much_computation", told)
            }
            StoreError::TooManyComputations(_) => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_at_once", told).retryable()
            }
            StoreError::BlobRemoved(_) | StoreError::Busy => Self::unavailable("busy", &told).retryable(),
            StoreError::TooSlow(_) => Self::unavailable("read_too_slow", &told),
            StoreError::DiskFull => Self::new(StatusCode::INSUFFICIENT_STORAGE, "storage_full", told).retryable(),
            StoreError::OutcomeUnknown => Self::unavailable("outcome_unknown", &told).retryable(),
            StoreError::Unavailable(_) | StoreError::Blob(_) | StoreError::Locked(_) => {
                let message = "the storage cannot be reached now; try again";
                Self::unavailable("unavailable", message).retryable().caused_by(told)
            }
            StoreError::ReadOnly(_) => {
                let message = "the storage cannot be written to; an administrator has to look";
                Self::unavailable("storage_read_only", message).caused_by(told)
            }
            StoreError::Damaged(_) | StoreError::History(_) => {
                let message = "what was asked for is damaged where it is stored; an administrator has to run skein verify, \
                               which lists what is damaged, and restore it from a backup";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "storage_damaged", message).caused_by(told)
            }
            StoreError::Corrupt(_) => {
                let message = "the database is corrupt; an administrator has to stop the server, run skein verify, and restore a \
                               backup into another directory";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "storage_corrupt", message).caused_by(told)
            }
            StoreError::NewerSchema { .. } | StoreError::Panicked(_) | StoreError::Sql(_) => Self::internal(told),
        }
    }
}

impl From<SharingRefusal> for ApiError {
    fn from(refused: SharingRefusal) -> Self {
        let told = |status, code, violation: &RuleViolation| {
            let message = format!("{}; {}", violation.problem(), violation.remedy());
            Self::new(status, code, message).breaking(violation.rule())
        };
        match refused {
            SharingRefusal::NotFound => Self::new(StatusCode::NOT_FOUND, "not_found", refused.to_string()),
            SharingRefusal::Forbidden(violation) => told(StatusCode::FORBIDDEN, "permission_denied", &violation),
            SharingRefusal::Conflict(violation) => told(StatusCode::CONFLICT, conflict_code(&violation), &violation),
            SharingRefusal::Rule(violation) => violation.into(),
        }
    }
}

/// What stands in the way.
fn conflict_code(violation: &RuleViolation) -> &'static str {
    match violation.rule() {
        "MG-CONV-005" => "conversation_folded",
        "Z5" => "node_not_complete",
        "MG-REL-001" | "MG-REL-002" => "relation_exists",
        // A question or an execution that has ended, and an approval that something else stands for.
        "BR-STEP-006" | "BR-EXEC-001" => "state_conflict",
        _ => "deletion_dependency",
    }
}

impl From<RuleViolation> for ApiError {
    fn from(violation: RuleViolation) -> Self {
        let message = format!("{}; {}", violation.problem(), violation.remedy());
        let error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "rule_violation", message);
        Self { rule: Some(violation.rule()), ..error }
    }
}

impl From<BadItem> for ApiError {
    fn from(bad: BadItem) -> Self {
        match bad {
            BadItem::Rule(violation) => violation.into(),
            BadItem::Document(bad) => bad.into(),
            BadItem::RawTooLarge { .. } => Self::too_large(bad.to_string()),
        }
    }
}

impl From<BadDocument> for ApiError {
    fn from(bad: BadDocument) -> Self {
        match bad {
            BadDocument::TooLarge { .. } => Self::too_large(bad.to_string()),
            BadDocument::TooDeep
            | BadDocument::TextTooLong { .. }
            | BadDocument::IntegerOutOfRange(_)
            | BadDocument::NulCharacter
            | BadDocument::RepeatedKey(_)
            | BadDocument::NotJson(_)
            | BadDocument::NotAnObject => Self::bad_request("invalid_document", bad.to_string()),
        }
    }
}

impl From<RecordRefused> for ApiError {
    fn from(refused: RecordRefused) -> Self {
        let told = refused.to_string();
        match refused {
            RecordRefused::Conflict { current, current_version, based_on } => {
                let conflict = Self::new(StatusCode::CONFLICT, "record_changed", told);
                Self { rule: Some("MG-CORE-002"), ..conflict }
                    .with_detail("currentHash", current.to_string())
                    .with_detail("currentVersion", current_version)
                    .with_detail("basedOnHash", based_on.to_string())
            }
            RecordRefused::Rule(violation) => violation.into(),
            RecordRefused::Document(bad) => bad.into(),
        }
    }
}

pub(crate) async fn no_such_path(uri: Uri) -> ApiError {
    let path: String = uri.path().chars().take(200).collect();
    let message = format!("there is nothing at {path}; / lists what there is");
    ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
}

pub(crate) async fn no_such_method(method: Method, path: Uri) -> ApiError {
    let conversation = path.path().strip_prefix("/api/v1/conversations/").filter(|id| !id.contains('/'));
    if method == Method::DELETE && conversation.is_some() {
        let violation = Conversation::refuse_deletion();
        let message = format!("{}; {}", violation.problem(), violation.remedy());
        let refused = ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message);
        return refused.breaking(violation.rule());
    }
    let message = "this path does not take that method; the Allow header says which it takes";
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
}

#[cfg(test)]
mod tests {
    use skein_core::Digest;
    use skein_store::SqlError;

    use super::*;

    fn check(error: StoreError, status: u16, code: &str, retryable: bool) -> ApiError {
        let told = ApiError::from(error);
        assert_eq!((told.status.as_u16(), told.code, told.retryable), (status, code, retryable));
        told
    }

    #[test]
    fn each_failure_says_whether_trying_again_can_help() {
        check(StoreError::Busy, 503, "busy", true);
        check(StoreError::Unavailable("x".into()), 503, "unavailable", true);
        check(StoreError::DiskFull, 507, "storage_full", true);
        check(StoreError::OutcomeUnknown, 503, "outcome_unknown", true);
        check(StoreError::ReadOnly("x".into()), 503, "storage_read_only", false);
        check(StoreError::TooSlow(5), 503, "read_too_slow", false);
        check(StoreError::NotFound("x".into()), 404, "not_found", false);
        check(StoreError::Forbidden, 403, "permission_denied", false);
        check(StoreError::Exists("x".into()), 409, "already_exists", false);
    }

    #[test]
    fn a_busy_server_says_when_to_come_back() {
        let response = ApiError::from(StoreError::Busy).render("id");
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
    }

    #[test]
    fn what_went_wrong_inside_is_logged_and_not_sent() {
        for (error, code) in [
            (StoreError::Panicked("hunter2".into()), "internal"),
            (StoreError::Damaged("hunter2".into()), "storage_damaged"),
            (StoreError::Corrupt("hunter2".into()), "storage_corrupt"),
            (StoreError::Sql(SqlError::Other("hunter2".into())), "internal"),
        ] {
            let told = check(error, 500, code, false);
            assert!(!told.message.contains("hunter2"));
            assert!(told.cause().is_some_and(|cause| cause.contains("hunter2")));
        }
        let told = check(StoreError::Unavailable("hunter2".into()), 503, "unavailable", true);
        assert!(!told.message.contains("hunter2"));
    }

    #[test]
    fn mg_core_002_refuses_a_conflict_with_both_hashes() {
        let (current, based_on) = (Digest([1; 32]), Digest([2; 32]));
        let refused = RecordRefused::Conflict { current, current_version: 3, based_on };
        let told = check(StoreError::Record(refused), 409, "record_changed", false);
        assert_eq!(told.details["currentHash"], current.to_string());
        assert_eq!(told.details["basedOnHash"], based_on.to_string());
    }
}
