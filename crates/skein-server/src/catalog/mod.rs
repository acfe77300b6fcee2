//! The catalog over HTTP: services, secrets, tools, templates and calls.
//!
//! Bodies are the core's own drafts and changes, so what a client may send is said once; the types here whose names end
//! in `Body` and `Fields` only describe them for the API document.

pub(crate) mod endpoints;
pub(crate) mod secrets;
pub(crate) mod services;
pub(crate) mod templates;
pub(crate) mod tools;
pub(crate) mod vault;

use serde::{Deserialize, Serialize};
use skein_core::catalog::sharing::ImpactWarning;
use skein_core::{Digest, Millis, RecordId, UserId};
use skein_engine::catalog::{EntryQuery, HealthStatus, StoredEntry};
use skein_store::catalog::entries::OwnershipFilter;
use utoipa::{IntoParams, ToSchema};

use crate::http::error::ApiError;
use crate::http::respond::pagination::read_page;

/// What every entry of the catalogue says about itself.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EntryHead {
    #[schema(value_type = String, example = "entity_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    pub(crate) id: RecordId,
    /// Whose it is; `user_00000000000000000000000000` is the installation itself.
    #[schema(value_type = String, example = "user_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    owner_id: UserId,
    /// Whether others may see and use it.
    shared: bool,
    #[schema(example = 1)]
    version: i64,
    /// To base a change on.
    #[schema(value_type = String)]
    hash: Digest,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    created_at: Millis,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    updated_at: Millis,
}

impl EntryHead {
    pub(crate) fn of<T>(shown: &StoredEntry<T>) -> Self {
        let StoredEntry { id, owner, shared, version, hash, created_at, updated_at, .. } = *shown;
        Self { id, owner_id: owner, shared, version, hash, created_at, updated_at }
    }
}

/// How something works, by its last check; nobody sets it by hand.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VitalView {
    /// healthy, degraded or down; what was never checked is degraded, what is disabled is down.
    #[schema(example = "degraded")]
    status: &'static str,
    #[schema(value_type = Option<String>)]
    last_health_check: Option<Millis>,
    error_message: Option<String>,
}

impl From<HealthStatus> for VitalView {
    fn from(vital: HealthStatus) -> Self {
        let HealthStatus { status, checked_at, error } = vital;
        Self { status: status.as_str(), last_health_check: checked_at, error_message: error }
    }
}

/// Whether others may see it from now on.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "shared": true }))]
pub(crate) struct ShareBody {
    shared: bool,
}

/// Who loses by a thing that is not shared, or not enabled, any more.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WarningView {
    /// How many processes depend on it, directly or by a tool.
    #[schema(example = 2)]
    affected_process_count: u64,
    /// How many tools of others stand on it.
    #[schema(example = 0)]
    affected_tool_count: u64,
    /// How many secrets others bound to it.
    #[schema(example = 1)]
    affected_binding_count: u64,
    /// How many users these belong to.
    #[schema(example = 1)]
    affected_user_count: u64,
    message: String,
}

impl From<ImpactWarning> for WarningView {
    fn from(warning: ImpactWarning) -> Self {
        let ImpactWarning {
            affected_process_count,
            affected_tool_count,
            affected_binding_count,
            affected_user_count,
            message,
        } = warning;
        Self { affected_process_count, affected_tool_count, affected_binding_count, affected_user_count, message }
    }
}

/// Which entries of a kind that can be switched off and checked.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CatalogueParameters {
    /// Only of this type.
    #[serde(rename = "type")]
    #[param(rename = "type")]
    kind: Option<String>,
    /// Only enabled ones (true), or only disabled ones (false).
    #[param(value_type = Option<bool>)]
    enabled: Option<String>,
    /// Only those that are healthy, degraded or down; a page may then be short and still go on.
    status: Option<String>,
    /// Only your own (true).
    #[param(value_type = Option<bool>)]
    owned: Option<String>,
    /// Only what others share (true).
    #[param(value_type = Option<bool>)]
    shared: Option<String>,
    /// Where the last page ended.
    cursor: Option<String>,
    /// Entries per page, 1 to 1000.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000, example = 100)]
    limit: Option<String>,
}

impl CatalogueParameters {
    fn page(&self) -> Result<(Option<RecordId>, usize), ApiError> {
        read_page(self.cursor.as_deref(), self.limit.as_deref())
    }

    fn query(&self) -> Result<EntryQuery, ApiError> {
        Ok(EntryQuery {
            whose: whose(flag("owned", self.owned.as_deref())?, flag("shared", self.shared.as_deref())?),
            kind: self.kind.clone(),
            enabled: flag("enabled", self.enabled.as_deref())?,
            service: None,
            status: status(self.status.as_deref())?,
            include_archived: false,
        })
    }
}

fn whose(owned: Option<bool>, shared: Option<bool>) -> OwnershipFilter {
    match (owned, shared) {
        (Some(true), Some(true) | None) | (None, Some(false)) => OwnershipFilter::Own,
        (Some(false) | None, Some(true)) | (Some(false), _) => OwnershipFilter::SharedByOthers,
        (None, None) | (Some(true), Some(false)) => OwnershipFilter::Both,
    }
}

pub(crate) fn flag(name: &str, text: Option<&str>) -> Result<Option<bool>, ApiError> {
    let invalid =
        |_| ApiError::bad_request("invalid_query", format!("{name}: send true or false")).with_detail("field", name);
    text.map(str::parse).transpose().map_err(invalid)
}

fn status(text: Option<&str>) -> Result<Option<skein_core::catalog::health::Health>, ApiError> {
    let known =
        |text: &str| skein_core::catalog::health::Health::ALL.into_iter().find(|health| health.as_str() == text);
    let invalid = || {
        ApiError::bad_request("invalid_query", "status: send healthy, degraded or down").with_detail("field", "status")
    };
    text.map(|text| known(text).ok_or_else(invalid)).transpose()
}
