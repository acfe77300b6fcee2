//! One operation against one service, with everything needed to carry it out but the credential's value.
//!
//! A tool stands on a service and may have a secret bound to it; [`Tool::create`] and [`Tool::change`] are given both
//! and refuse what does not fit. [`Tool::check_fits`] asks again when the service has changed.

mod ineffective_members;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalog::entry::{self, Description, Entry, FixedField, Name, OwnedEntry, refuse_fixed};
use crate::catalog::operation::Operation;
use crate::catalog::operation::prompt::{LlmApi, model_accepts_images};
use crate::catalog::pricing::Pricing;
use crate::catalog::schema::{self, AtOnce, SchemaJudge, Unfit};
use crate::catalog::secret::{self, Secret, SecretType, SecretUse};
use crate::catalog::service::{self, Service};
use crate::catalog::sharing;
use crate::id::{RecordId, UserId};
use crate::rule::RuleViolation;

pub use ineffective_members::SAMPLING_PARAMS;

/// The name under which older clients send the secret among the connection's parameters (decision A10).
const SECRET_ID: &str = "secretId";

/// An operation ready to be carried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    pub service_id: RecordId,
    /// Satisfies the service's `connectionSchema`; never holds a credential.
    pub connection_params: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_id: Option<RecordId>,
    /// Where an API key goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_use: Option<SecretUse>,
    pub operation: Operation,
    pub input_schema: Value,
    pub output_schema: Value,
    pub enabled: bool,
    /// Grows by one when what the tool does changes: operation, schemas or parameters (decision A49).
    pub definition_version: u32,
    /// Which template it was made from: provenance, never a dependency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_template_id: Option<RecordId>,
    /// What becomes of a call whose end nobody saw; without it, what its kind allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<ToolRetry>,
    /// What its calls cost; without it, that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pricing: Option<Pricing>,
}

/// Whether a call may be made again when nobody saw its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolRetry {
    /// Making it twice does no harm.
    Safe,
    /// The service tells a repeat by its `Idempotency-Key`.
    Keyed,
    /// Never: a person is asked.
    Never,
}

impl Tool {
    /// Whether the model it asks accepts images: as its operation says, else as the name of the model lets expect.
    pub fn accepts_images(&self) -> bool {
        let Operation::LlmCall(call) = &self.operation else { return false };
        let model = self.connection_params.get("model").and_then(Value::as_str).unwrap_or_default();
        let is_able = self.llm_api() != Some(LlmApi::Completions);
        is_able && call.accepts_images.unwrap_or_else(|| model_accepts_images(model))
    }
}

impl Entry for Tool {
    const RECORD_TYPE: &'static str = "Tool";

    fn restored(&self, past: Self) -> Self {
        let definition_version = self.definition_version + u32::from(past.definition() != self.definition());
        Self { definition_version, ..past }
    }
}

/// What a client sends to make a tool. With a template, the structure may be left out.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolDraft {
    pub name: Name,
    pub description: Option<Description>,
    pub service_id: RecordId,
    #[serde(default)]
    pub connection_params: Map<String, Value>,
    pub secret_id: Option<RecordId>,
    pub secret_use: Option<SecretUse>,
    pub operation: Option<Value>,
    pub input_schema: Option<Value>,
    pub output_schema: Option<Value>,
    #[serde(default = "entry::is_enabled_by_default")]
    pub enabled: bool,
    #[serde(default)]
    pub shared: bool,
    pub tool_template_id: Option<RecordId>,
    pub retry: Option<ToolRetry>,
    pub pricing: Option<Pricing>,
}

/// What a client sends to alter a tool; what is absent stays, and `null` takes a secret away.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ToolChange {
    pub name: Option<Name>,
    #[serde(deserialize_with = "entry::named")]
    pub description: Option<Option<Description>>,
    pub connection_params: Option<Map<String, Value>>,
    #[serde(deserialize_with = "entry::named")]
    pub secret_id: Option<Option<RecordId>>,
    #[serde(deserialize_with = "entry::named")]
    pub secret_use: Option<Option<SecretUse>>,
    pub operation: Option<Value>,
    pub input_schema: Option<Value>,
    pub output_schema: Option<Value>,
    pub enabled: Option<bool>,
    #[serde(deserialize_with = "entry::named")]
    pub retry: Option<Option<ToolRetry>>,
    #[serde(deserialize_with = "entry::named")]
    pub pricing: Option<Option<Pricing>>,
    pub service_id: FixedField,
    pub tool_template_id: FixedField,
    pub status: FixedField,
    pub owner_id: FixedField,
}

impl ToolDraft {
    /// The secret it asks for, wherever the client wrote it; afterwards it stands in `secret_id` alone.
    pub fn take_secret(&mut self) -> Result<Option<RecordId>, RuleViolation> {
        if let Some(found) = take_secret(&mut self.connection_params, self.secret_id)? {
            self.secret_id = Some(found);
        }
        Ok(self.secret_id)
    }
}

impl ToolChange {
    /// The secret the tool will have, wherever the client wrote it; afterwards it stands in `secret_id` alone.
    pub fn take_secret(&mut self, current: Option<RecordId>) -> Result<Option<RecordId>, RuleViolation> {
        if let Some(params) = &mut self.connection_params
            && let Some(found) = take_secret(params, self.secret_id.flatten())?
        {
            self.secret_id = Some(Some(found));
        }
        Ok(self.secret_id.unwrap_or(current))
    }

    fn refuse_fixed(&self) -> Result<(), RuleViolation> {
        refuse_fixed("BR-TOOL-001", &[("serviceId", self.service_id)], "make another tool")?;
        refuse_fixed("BR-TEMPLATE-002", &[("toolTemplateId", self.tool_template_id)], "make another tool")?;
        refuse_fixed("BR-TOOL-009", &[("status", self.status)], "ask for a health check")?;
        refuse_fixed("BR-SHARE-003", &[("ownerId", self.owner_id)], "share it with others")
    }
}

fn take_secret(params: &mut Map<String, Value>, beside: Option<RecordId>) -> Result<Option<RecordId>, RuleViolation> {
    let Some(inside) = params.remove(SECRET_ID).filter(|id| !id.is_null()) else { return Ok(beside) };
    let refuse = |problem: &str| Err(RuleViolation::new("BR-TOOL-001", problem, "name one secret by its id"));
    match (inside.as_str().and_then(|id| id.parse().ok()), beside) {
        (None, _) => refuse("the secretId among the parameters is not an id"),
        (Some(inside), Some(beside)) if inside != beside => refuse("two different secrets are named"),
        (inside, _) => Ok(inside),
    }
}

impl Tool {
    /// The tool a draft describes, made by `owner` on a service, perhaps with a secret; both must be the ones it names.
    pub fn create(
        draft: ToolDraft,
        owner: UserId,
        service: &OwnedEntry<Service>,
        secret: Option<&OwnedEntry<Secret>>,
    ) -> Result<Self, RuleViolation> {
        Self::create_by(draft, owner, service, secret, &AtOnce)
    }

    /// [`Self::create`] with a judge of schemas.
    pub fn create_by<J: SchemaJudge>(
        mut draft: ToolDraft,
        owner: UserId,
        service: &OwnedEntry<Service>,
        secret: Option<&OwnedEntry<Secret>>,
        judge: &J,
    ) -> Result<Self, J::Error> {
        draft.take_secret()?;
        let Some(operation) = draft.operation else {
            let problem = "a tool has an operation";
            return Err(RuleViolation::new("BR-TOOL-002", problem, "give one, or a toolTemplateId").into());
        };
        let tool = Self {
            name: draft.name,
            description: draft.description,
            service_id: draft.service_id,
            connection_params: service.entry.with_defaults(draft.connection_params),
            secret_id: draft.secret_id,
            secret_use: draft.secret_use,
            operation: Operation::parse_by(&operation, judge)?,
            input_schema: draft.input_schema.unwrap_or_else(no_inputs),
            output_schema: draft.output_schema.unwrap_or(Value::Bool(true)),
            enabled: draft.enabled,
            definition_version: 1,
            tool_template_id: draft.tool_template_id,
            retry: draft.retry,
            pricing: draft.pricing,
        };
        check_definition_by(&tool.operation, &tool.input_schema, &tool.output_schema, judge)?;
        tool.check_retry()?;
        tool.check_request()?;
        tool.check_pricing()?;
        tool.check_stands_by(owner, service, secret, judge)?;
        Ok(tool)
    }

    /// The tool after a change. What it stands on is judged again only if that matters to the change: a tool whose
    /// service was taken back can still be renamed and switched off.
    pub fn change(
        &self,
        change: ToolChange,
        owner: UserId,
        service: &OwnedEntry<Service>,
        secret: Option<&OwnedEntry<Secret>>,
    ) -> Result<Self, RuleViolation> {
        self.change_by(change, owner, service, secret, &AtOnce)
    }

    /// [`Self::change`] with a judge of schemas.
    pub fn change_by<J: SchemaJudge>(
        &self,
        mut change: ToolChange,
        owner: UserId,
        service: &OwnedEntry<Service>,
        secret: Option<&OwnedEntry<Secret>>,
        judge: &J,
    ) -> Result<Self, J::Error> {
        change.refuse_fixed()?;
        change.take_secret(self.secret_id)?;
        let mut next = self.clone();
        next.name = change.name.unwrap_or(next.name);
        next.description = change.description.unwrap_or(next.description);
        next.secret_id = change.secret_id.unwrap_or(next.secret_id);
        next.secret_use = change.secret_use.unwrap_or(next.secret_use);
        next.input_schema = change.input_schema.unwrap_or(next.input_schema);
        next.output_schema = change.output_schema.unwrap_or(next.output_schema);
        next.enabled = change.enabled.unwrap_or(next.enabled);
        next.retry = change.retry.unwrap_or(next.retry);
        next.pricing = change.pricing.unwrap_or(next.pricing);
        if let Some(params) = change.connection_params {
            next.connection_params = service.entry.with_defaults(params);
        }
        if let Some(operation) = change.operation {
            next.operation = Operation::parse_by(&operation, judge)?;
        }
        if next.definition() != self.definition() {
            next.definition_version += 1;
            check_definition_by(&next.operation, &next.input_schema, &next.output_schema, judge)?;
            next.check_request()?;
        }
        if next.pricing != self.pricing {
            next.check_pricing()?;
        }
        if next.retry != self.retry || next.operation != self.operation {
            next.check_retry()?;
        }
        let is_bound_anew = next.secret_id != self.secret_id;
        let is_switched_on = next.enabled && !self.enabled;
        if next.definition_version > self.definition_version || is_bound_anew || is_switched_on {
            next.check_stands_by(owner, service, secret, judge)?;
        }
        Ok(next)
    }

    /// Only requests over HTTP carry a key by which a service tells a repeat.
    fn check_retry(&self) -> Result<(), RuleViolation> {
        if self.retry != Some(ToolRetry::Keyed) || matches!(self.operation, Operation::RestCall(_)) {
            return Ok(());
        }
        let problem =
            format!("retry keyed has no effect on a {}: it carries no Idempotency-Key", self.operation.kind().as_str());
        Err(RuleViolation::new("BR-TOOL-002", problem, "use safe or never, or leave retry out"))
    }

    /// Whether its parameters and its operation fit the service as it is now (decision A52).
    pub fn check_fits(&self, service: &Service) -> Result<(), RuleViolation> {
        self.check_fits_by(service, &AtOnce)
    }

    /// [`Self::check_fits`] with a judge of schemas.
    pub fn check_fits_by<J: SchemaJudge>(&self, service: &Service, judge: &J) -> Result<(), J::Error> {
        let (found, expected) = (self.operation.kind(), service.service_type.operation());
        if found != expected {
            let problem = format!("a tool of {} does {}", service.service_type.as_str(), expected.as_str());
            return Err(RuleViolation::new("BR-TOOL-001", problem, "choose the operation by the service's type").into());
        }
        self.check_params(service, judge)
    }

    /// Where it goes; built-in ones go nowhere.
    pub fn address(&self) -> Option<&str> {
        let endpoint = self.connection_params.get("endpoint").and_then(Value::as_str);
        endpoint.map(|address| address.trim_end_matches('/'))
    }

    /// The inputs with the schema's defaults filled in where nothing was given.
    pub fn with_defaults(&self, mut inputs: Map<String, Value>) -> Map<String, Value> {
        for (name, property) in self.input_schema["properties"].as_object().into_iter().flatten() {
            if let Some(default) = property.get("default").filter(|_| !inputs.contains_key(name)) {
                inputs.insert(name.clone(), default.clone());
            }
        }
        inputs
    }

    fn definition(&self) -> (&Operation, &Value, &Value, &Map<String, Value>, Option<&SecretUse>) {
        let Self { operation, input_schema, output_schema, connection_params, secret_use, .. } = self;
        (operation, input_schema, output_schema, connection_params, secret_use.as_ref())
    }

    /// What an earlier version of the tool said, as far as it speaks of calls. Whether it may be called, what it is called and with what
    /// secret is said now; no secret goes where it was never bound.
    pub fn defined_as(self, past: Self) -> Result<Self, RuleViolation> {
        let way = |tool: &Self| ["endpoint", "command", "args"].map(|name| tool.connection_params.get(name).cloned());
        if self.secret_id.is_some() && self.secret_id != past.secret_id && way(&self) != way(&past) {
            let problem = "that version went elsewhere, before the secret was bound";
            return Err(RuleViolation::new("BR-STEP-007", problem, "name a later version, or leave toolVersion out"));
        }
        Ok(Self { name: self.name, secret_id: self.secret_id, enabled: self.enabled, ..past })
    }

    /// Whether it may stand on the service and the secret it names, as both are now.
    pub fn check_stands_by<J: SchemaJudge>(
        &self,
        owner: UserId,
        service: &OwnedEntry<Service>,
        secret: Option<&OwnedEntry<Secret>>,
        judge: &J,
    ) -> Result<(), J::Error> {
        assert_eq!(self.service_id, service.id, "a tool is judged with the service it names");
        assert_eq!(self.secret_id, secret.map(|secret| secret.id), "a tool is judged with the secret it names");
        sharing::check_reference(owner, service)?;
        self.check_fits_by(&service.entry, judge)?;
        Ok(self.check_secret(owner, &service.entry, secret)?)
    }

    /// BR-SERVICE-002: a service that requires a secret has no tools without one. Where there is none, `secretUse` says
    /// where those who bind their own want it.
    fn check_secret(
        &self,
        owner: UserId,
        service: &Service,
        secret: Option<&OwnedEntry<Secret>>,
    ) -> Result<(), RuleViolation> {
        let Some(secret) = secret else {
            if service.requires_secret {
                let problem = "tools of this service need a secret";
                return Err(RuleViolation::new("BR-SERVICE-002", problem, "give the secretId of a secret of yours"));
            }
            let Some(secret_use) = &self.secret_use else { return Ok(()) };
            return secret::check_use(SecretType::ApiKey, Some(secret_use), service.protocol);
        };
        sharing::check_binding(owner, secret)?;
        secret::check_use(secret.entry.secret_type, self.secret_use.as_ref(), service.protocol)
    }

    /// BR-TOOL-001: the parameters satisfy the service's schema, and the address its protocol.
    fn check_params<J: SchemaJudge>(&self, service: &Service, judge: &J) -> Result<(), J::Error> {
        let params = Value::Object(self.judged_params(service));
        match judge.prompt_verdict(&service.connection_schema, &params)? {
            Ok(()) => {}
            Err(Unfit::Schema(bad)) => return Err(service::unusable(&bad).into()),
            Err(Unfit::Value(breaches)) => {
                let problem = format!("the connectionParams do not fit: {}", schema::describe(&breaches));
                let remedy = "give the connectionParams that the service's connectionSchema asks for";
                return Err(RuleViolation::new("BR-TOOL-001", problem, remedy).into());
            }
        }
        match self.connection_params.get("endpoint").and_then(Value::as_str) {
            Some(endpoint) if service.builtin.is_none() => Ok(service::check_endpoint(service.protocol, endpoint)?),
            _ => Ok(()),
        }
    }

    /// The parameters as the schema sees them: with the secret's id, if it asks for one among them.
    fn judged_params(&self, service: &Service) -> Map<String, Value> {
        let mut params = self.connection_params.clone();
        if let Some(secret) = self.secret_id.filter(|_| service.asks_for(SECRET_ID)) {
            params.insert(SECRET_ID.to_owned(), Value::String(secret.to_string()));
        }
        params
    }
}

/// BR-TOOL-002 and BR-TOOL-003, for tools and their templates.
pub(crate) fn check_definition(operation: &Operation, inputs: &Value, outputs: &Value) -> Result<(), RuleViolation> {
    check_definition_by(operation, inputs, outputs, &AtOnce)
}

/// [`check_definition`] with a judge of schemas.
pub(crate) fn check_definition_by<J: SchemaJudge>(
    operation: &Operation,
    inputs: &Value,
    outputs: &Value,
    judge: &J,
) -> Result<(), J::Error> {
    if let Err(bad) = judge.usable(outputs)? {
        let problem = format!("the outputSchema is not usable: {bad}");
        return Err(RuleViolation::new("BR-TOOL-003", problem, "describe the result by a JSON Schema").into());
    }
    let refuse = |problem: String, remedy| Err(RuleViolation::new("BR-TOOL-002", problem, remedy).into());
    if let Err(bad) = judge.usable(inputs)? {
        return refuse(format!("the inputSchema is not usable: {bad}"), "describe the inputs by a JSON Schema");
    }
    let is_declared = |name: &String| inputs["properties"].get(name).is_some();
    let undeclared: Vec<String> = operation.variables().into_iter().filter(|name| !is_declared(name)).collect();
    if undeclared.is_empty() {
        return Ok(());
    }
    let problem = format!("the inputSchema does not declare {}", undeclared.join(", "));
    refuse(problem, "declare every variable of the operation under properties")
}

/// The schema of a tool that takes nothing.
fn no_inputs() -> Value {
    serde_json::json!({ "type": "object", "properties": {} })
}
