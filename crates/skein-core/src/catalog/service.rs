//! Defines a service: its kind, its protocol, and the parameters a tool must give to reach it.
//!
//! A service holds no address and no credential of its own; its [`Service::connection_schema`] says what a tool has to
//! bring. Start at [`Service::create`].

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalog::entry::{self, Description, Entry, FixedField, Name, refuse_fixed};
use crate::catalog::operation::OperationType;
use crate::catalog::schema::{AtOnce, BadSchema, SchemaJudge};
use crate::id::RecordId;
use crate::rule::RuleViolation;

/// What kind of thing answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceType {
    Neo4jGraph,
    RestApi,
    LlmProvider,
    McpServer,
}

impl ServiceType {
    pub const ALL: [Self; 4] = [Self::Neo4jGraph, Self::RestApi, Self::LlmProvider, Self::McpServer];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Neo4jGraph => "neo4j_graph",
            Self::RestApi => "rest_api",
            Self::LlmProvider => "llm_provider",
            Self::McpServer => "mcp_server",
        }
    }

    /// The protocols it can be spoken to in.
    pub fn protocols(self) -> [Protocol; 2] {
        match self {
            Self::Neo4jGraph => [Protocol::Bolt, Protocol::BoltS],
            Self::RestApi | Self::LlmProvider => [Protocol::Http, Protocol::Https],
            Self::McpServer => [Protocol::Stdio, Protocol::Sse],
        }
    }

    /// What its tools do (decision A53).
    pub fn operation(self) -> OperationType {
        match self {
            Self::Neo4jGraph => OperationType::GraphQuery,
            Self::RestApi => OperationType::RestCall,
            Self::LlmProvider => OperationType::LlmCall,
            Self::McpServer => OperationType::McpTool,
        }
    }
}

/// How a service is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    Bolt,
    #[serde(rename = "bolt+s")]
    BoltS,
    Http,
    Https,
    Stdio,
    Sse,
}

impl Protocol {
    pub const ALL: [Self; 6] = [Self::Bolt, Self::BoltS, Self::Http, Self::Https, Self::Stdio, Self::Sse];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bolt => "bolt",
            Self::BoltS => "bolt+s",
            Self::Http => "http",
            Self::Https => "https",
            Self::Stdio => "stdio",
            Self::Sse => "sse",
        }
    }

    /// The schemes its endpoints may have. An encrypted protocol is never reached unencrypted; the other way is fine.
    pub fn schemes(self) -> &'static [&'static str] {
        match self {
            Self::Bolt => &["bolt", "bolt+s"],
            Self::BoltS => &["bolt+s"],
            Self::Http | Self::Sse => &["http", "https"],
            Self::Https => &["https"],
            Self::Stdio => &[],
        }
    }

    /// The parameter without which nothing can be reached.
    pub fn address(self) -> &'static str {
        if self == Self::Stdio { "command" } else { "endpoint" }
    }
}

/// What Skein brings along itself, reached without leaving the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Builtin {
    /// The model that needs no key: it quotes and summarises what it is given.
    OfflineModel,
    /// What Skein itself can do for a process: read a conversation, search, run another process.
    Abilities,
}

/// An endpoint's description.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Service {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    #[serde(rename = "type")]
    pub service_type: ServiceType,
    pub protocol: Protocol,
    /// What a tool's `connectionParams` must satisfy.
    pub connection_schema: Value,
    /// Whether each of its tools must have a secret bound.
    pub requires_secret: bool,
    pub enabled: bool,
    /// Grows by one with each change of `connection_schema` (decision A52).
    pub schema_version: u32,
    /// Which template it was made from: provenance, never a dependency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_template_id: Option<RecordId>,
    /// Set on the installation's own services alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<Builtin>,
}

impl Entry for Service {
    const RECORD_TYPE: &'static str = "Service";

    fn restored(&self, past: Self) -> Self {
        let schema_version = self.schema_version + u32::from(past.connection_schema != self.connection_schema);
        Self { schema_version, ..past }
    }
}

/// What a client sends to make a service. With a template, the structure may be left out.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServiceDraft {
    pub name: Name,
    pub description: Option<Description>,
    #[serde(rename = "type")]
    pub service_type: Option<ServiceType>,
    pub protocol: Option<Protocol>,
    pub connection_schema: Option<Value>,
    pub requires_secret: Option<bool>,
    #[serde(default = "entry::is_enabled_by_default")]
    pub enabled: bool,
    #[serde(default)]
    pub shared: bool,
    pub service_template_id: Option<RecordId>,
}

/// What a client sends to alter a service; what is absent stays.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ServiceChange {
    pub name: Option<Name>,
    #[serde(deserialize_with = "entry::named")]
    pub description: Option<Option<Description>>,
    pub connection_schema: Option<Value>,
    pub enabled: Option<bool>,
    #[serde(rename = "type")]
    pub service_type: FixedField,
    pub protocol: FixedField,
    pub requires_secret: FixedField,
    pub service_template_id: FixedField,
    pub status: FixedField,
    pub owner_id: FixedField,
}

impl Service {
    /// The service a draft describes, its structure filled in by a template or given in full.
    pub fn create(draft: ServiceDraft) -> Result<Self, RuleViolation> {
        Self::create_by(draft, &AtOnce)
    }

    /// [`Self::create`] with a judge of schemas.
    pub fn create_by<J: SchemaJudge>(draft: ServiceDraft, judge: &J) -> Result<Self, J::Error> {
        let service = Self::from_draft(draft, judge)?;
        check_address(service.protocol, &service.connection_schema)?;
        Ok(service)
    }

    /// A service that Skein itself provides; it has no address to ask for.
    pub fn create_builtin(draft: ServiceDraft, builtin: Builtin) -> Result<Self, RuleViolation> {
        Ok(Self { builtin: Some(builtin), ..Self::from_draft(draft, &AtOnce)? })
    }

    fn from_draft<J: SchemaJudge>(draft: ServiceDraft, judge: &J) -> Result<Self, J::Error> {
        let (Some(service_type), Some(protocol)) = (draft.service_type, draft.protocol) else {
            let problem = "a service has a type and a protocol";
            return Err(RuleViolation::new("BR-SERVICE-001", problem, "give both, or a serviceTemplateId").into());
        };
        check_protocol(service_type, protocol)?;
        let Some(connection_schema) = draft.connection_schema else {
            let problem = "a service has a connectionSchema";
            return Err(RuleViolation::new("BR-SERVICE-005", problem, "give one, or a serviceTemplateId").into());
        };
        check_connection_schema(&connection_schema, judge)?;
        Ok(Self {
            name: draft.name,
            description: draft.description,
            service_type,
            protocol,
            connection_schema,
            requires_secret: draft.requires_secret.unwrap_or(false),
            enabled: draft.enabled,
            schema_version: 1,
            service_template_id: draft.service_template_id,
            builtin: None,
        })
    }

    /// The service after a change. A new schema is a new version of it; the tools then need [`Tool::check_fits`] again.
    ///
    /// [`Tool::check_fits`]: crate::catalog::tool::Tool::check_fits
    pub fn change(&self, change: ServiceChange) -> Result<Self, RuleViolation> {
        self.change_by(change, &AtOnce)
    }

    /// [`Self::change`] with a judge of schemas.
    pub fn change_by<J: SchemaJudge>(&self, change: ServiceChange, judge: &J) -> Result<Self, J::Error> {
        change.refuse_fixed()?;
        let mut next = self.clone();
        next.name = change.name.unwrap_or(next.name);
        next.description = change.description.unwrap_or(next.description);
        next.enabled = change.enabled.unwrap_or(next.enabled);
        if let Some(schema) = change.connection_schema.filter(|schema| *schema != self.connection_schema) {
            check_connection_schema(&schema, judge)?;
            if self.builtin.is_none() {
                check_address(self.protocol, &schema)?;
            }
            next.connection_schema = schema;
            next.schema_version += 1;
        }
        Ok(next)
    }

    /// The parameters with the schema's defaults filled in where nothing was given.
    pub fn with_defaults(&self, mut params: Map<String, Value>) -> Map<String, Value> {
        for (name, property) in properties(&self.connection_schema) {
            if let Some(default) = property.get("default").filter(|_| !params.contains_key(name)) {
                params.insert(name.clone(), default.clone());
            }
        }
        params
    }

    /// Where it says itself that it is: its schema leaves no choice, or proposes one. Its tools may go elsewhere.
    pub fn address(&self) -> Option<&str> {
        let endpoint = &self.connection_schema["properties"]["endpoint"];
        let said = ["const", "default"].iter().find_map(|keyword| endpoint[keyword].as_str());
        said.map(|address| address.trim_end_matches('/'))
    }

    /// Whether its schema mentions a parameter.
    pub(crate) fn asks_for(&self, name: &str) -> bool {
        let schema = &self.connection_schema;
        required(schema).any(|required| required == name) || properties(schema).any(|(declared, _)| declared == name)
    }
}

impl ServiceChange {
    fn refuse_fixed(&self) -> Result<(), RuleViolation> {
        let another = "make another service";
        refuse_fixed("BR-SERVICE-001", &[("type", self.service_type), ("protocol", self.protocol)], another)?;
        refuse_fixed("BR-SERVICE-002", &[("requiresSecret", self.requires_secret)], another)?;
        refuse_fixed("BR-TEMPLATE-002", &[("serviceTemplateId", self.service_template_id)], another)?;
        refuse_fixed("BR-SERVICE-003", &[("status", self.status)], "ask for a health check")?;
        refuse_fixed("BR-SHARE-003", &[("ownerId", self.owner_id)], "share it with others")
    }
}

/// BR-SERVICE-001, for services and their templates.
pub(crate) fn check_protocol(service_type: ServiceType, protocol: Protocol) -> Result<(), RuleViolation> {
    let allowed = service_type.protocols();
    if allowed.contains(&protocol) {
        return Ok(());
    }
    let [first, second] = allowed.map(Protocol::as_str);
    let problem = format!("{} speaks {first} or {second}, not {}", service_type.as_str(), protocol.as_str());
    Err(RuleViolation::new("BR-SERVICE-001", problem, "choose a protocol of the service's type"))
}

/// A service whose schema was accepted once and cannot be used.
pub(crate) fn unusable(bad: &BadSchema) -> RuleViolation {
    let problem = format!("the service's connectionSchema is not usable: {bad}");
    RuleViolation::new("BR-SERVICE-005", problem, "have its owner mend it")
}

/// BR-SERVICE-005: an object schema that a validator understands.
pub(crate) fn check_connection_schema<J: SchemaJudge>(connection_schema: &Value, judge: &J) -> Result<(), J::Error> {
    let refuse = |problem: String| {
        let remedy = "send a JSON Schema of an object, draft-07 to 2020-12, that refers to nothing outside itself";
        let problem = format!("the connectionSchema is not usable: {problem}");
        Err(RuleViolation::new("BR-SERVICE-005", problem, remedy).into())
    };
    if !connection_schema.is_object() {
        return refuse("it is not an object".to_owned());
    }
    if let Err(bad) = judge.usable(connection_schema)? {
        return refuse(bad.to_string());
    }
    Ok(())
}

/// BR-SERVICE-006: the schema requires, as plain text, what the protocol connects to.
pub(crate) fn check_address(protocol: Protocol, connection_schema: &Value) -> Result<(), RuleViolation> {
    let refuse = |problem: String, remedy| Err(RuleViolation::new("BR-SERVICE-006", problem, remedy));
    let address = protocol.address();
    let is_required = required(connection_schema).any(|name| name == address);
    if !is_required || !has_type(connection_schema, address, "string") {
        let problem = format!("a connectionSchema for {} requires {address}, a string", protocol.as_str());
        return refuse(problem, "declare it under properties and list it under required");
    }
    if protocol == Protocol::Stdio && properties(connection_schema).any(|(name, _)| name == "args") {
        let is_array = has_type(connection_schema, "args", "array");
        return if is_array { Ok(()) } else { refuse("args is an array".to_owned(), "declare it with type array") };
    }
    let property = &connection_schema["properties"][address];
    let prescribed = ["const", "default"].iter().filter_map(|keyword| property.get(keyword));
    prescribed.filter_map(Value::as_str).try_for_each(|endpoint| check_endpoint(protocol, endpoint))
}

/// BR-SERVICE-006 for one address: the right scheme, a host, and no credential in it.
pub(crate) fn check_endpoint(protocol: Protocol, endpoint: &str) -> Result<(), RuleViolation> {
    let schemes = protocol.schemes();
    if schemes.is_empty() {
        return Ok(());
    }
    let refuse = |rule, problem: String, remedy| Err(RuleViolation::new(rule, problem, remedy));
    let (scheme, rest) = endpoint.split_once("://").unwrap_or_default();
    if !schemes.iter().any(|allowed| scheme.eq_ignore_ascii_case(allowed)) {
        let problem = format!("an endpoint for {} begins with {}://", protocol.as_str(), schemes.join(":// or "));
        return refuse("BR-SERVICE-006", problem, "give the whole address with its scheme");
    }
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        let problem = "the endpoint carries a user name or password".to_owned();
        return refuse("BR-SECRET-001", problem, "keep the credential as a secret and bind it to the tool");
    }
    let is_address = !authority.is_empty() && !authority.starts_with(':');
    let is_plain = endpoint.chars().all(|c| c.is_ascii_graphic() && !"\\#\"<>^`{|}".contains(c));
    if !is_address || !is_plain {
        let problem = "the endpoint is not an address".to_owned();
        return refuse("BR-SERVICE-006", problem, "give scheme, host and perhaps port and path, percent-encoded");
    }
    Ok(())
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Whether a property is declared, and with this type if with any.
fn has_type(schema: &Value, name: &str, expected: &str) -> bool {
    let declared = properties(schema).find(|(declared, _)| *declared == name).map(|(_, property)| property);
    declared.is_some_and(|property| property.get("type").is_none_or(|found| found == expected))
}
