//! Blueprints of services and tools: fixed once made, copied whole when used.
//!
//! An instance keeps the template's id as provenance and nothing else of it: whatever happens to the template later
//! does not reach the instance. Start at [`ServiceTemplate::instantiate`] or [`ToolTemplate::instantiate`].

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::entry::{Description, Entry, FixedField, Name, OwnedEntry, refuse_fixed};
use crate::catalog::operation::Operation;
use crate::catalog::schema::{AtOnce, SchemaJudge};
use crate::catalog::service::{self, Protocol, ServiceDraft, ServiceType};
use crate::catalog::tool::{self, ToolDraft};
use crate::rule::RuleViolation;

/// A blueprint of services.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceTemplate {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    #[serde(rename = "type")]
    pub service_type: ServiceType,
    pub protocol: Protocol,
    pub connection_schema: Value,
    pub requires_secret: bool,
    pub archived: bool,
}

impl Entry for ServiceTemplate {
    const RECORD_TYPE: &'static str = "ServiceTemplate";
}

/// What a client sends to make a blueprint of services.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServiceTemplateDraft {
    pub name: Name,
    pub description: Option<Description>,
    #[serde(rename = "type")]
    pub service_type: ServiceType,
    pub protocol: Protocol,
    pub connection_schema: Value,
    #[serde(default)]
    pub requires_secret: bool,
    #[serde(default)]
    pub shared: bool,
}

/// A blueprint of tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolTemplate {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    pub operation: Operation,
    pub input_schema: Value,
    pub output_schema: Value,
    pub archived: bool,
}

impl Entry for ToolTemplate {
    const RECORD_TYPE: &'static str = "ToolTemplate";
}

/// What a client sends to make a blueprint of tools.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolTemplateDraft {
    pub name: Name,
    pub description: Option<Description>,
    pub operation: Value,
    pub input_schema: Value,
    pub output_schema: Value,
    #[serde(default)]
    pub shared: bool,
}

/// What a client sends to alter a template: whether it is shared or archived, and nothing else.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TemplateChange {
    /// Kept beside the entry; the caller applies it.
    pub shared: Option<bool>,
    pub archived: Option<bool>,
    pub name: FixedField,
    pub description: FixedField,
    #[serde(rename = "type")]
    pub service_type: FixedField,
    pub protocol: FixedField,
    pub connection_schema: FixedField,
    pub requires_secret: FixedField,
    pub operation: FixedField,
    pub input_schema: FixedField,
    pub output_schema: FixedField,
    pub owner_id: FixedField,
}

impl TemplateChange {
    /// BR-TEMPLATE-003: all fixed fields that were named are listed.
    fn refuse_fixed(&self) -> Result<(), RuleViolation> {
        let fields = [
            ("name", self.name),
            ("description", self.description),
            ("type", self.service_type),
            ("protocol", self.protocol),
            ("connectionSchema", self.connection_schema),
            ("requiresSecret", self.requires_secret),
            ("operation", self.operation),
            ("inputSchema", self.input_schema),
            ("outputSchema", self.output_schema),
            ("ownerId", self.owner_id),
        ];
        refuse_fixed("BR-TEMPLATE-003", &fields, "make a new template and archive this one")
    }
}

impl ServiceTemplate {
    pub fn create(draft: ServiceTemplateDraft) -> Result<Self, RuleViolation> {
        Self::create_by(draft, &AtOnce)
    }

    /// [`Self::create`] with a judge of schemas.
    pub fn create_by<J: SchemaJudge>(draft: ServiceTemplateDraft, judge: &J) -> Result<Self, J::Error> {
        service::check_protocol(draft.service_type, draft.protocol)?;
        service::check_connection_schema(&draft.connection_schema, judge)?;
        service::check_address(draft.protocol, &draft.connection_schema)?;
        Ok(Self {
            name: draft.name,
            description: draft.description,
            service_type: draft.service_type,
            protocol: draft.protocol,
            connection_schema: draft.connection_schema,
            requires_secret: draft.requires_secret,
            archived: false,
        })
    }

    pub fn change(&self, change: &TemplateChange) -> Result<Self, RuleViolation> {
        change.refuse_fixed()?;
        Ok(Self { archived: change.archived.unwrap_or(self.archived), ..self.clone() })
    }
}

impl OwnedEntry<ServiceTemplate> {
    /// The draft with the template's whole structure copied in.
    pub fn instantiate(&self, draft: ServiceDraft) -> Result<ServiceDraft, RuleViolation> {
        let template = &self.entry;
        refuse_archived(template.archived, &template.name)?;
        Ok(ServiceDraft {
            service_type: copied("type", draft.service_type, template.service_type)?,
            protocol: copied("protocol", draft.protocol, template.protocol)?,
            connection_schema: copied("connectionSchema", draft.connection_schema, template.connection_schema.clone())?,
            requires_secret: copied("requiresSecret", draft.requires_secret, template.requires_secret)?,
            service_template_id: Some(self.id),
            ..draft
        })
    }
}

impl ToolTemplate {
    pub fn create(draft: ToolTemplateDraft) -> Result<Self, RuleViolation> {
        Self::create_by(draft, &AtOnce)
    }

    /// [`Self::create`] with a judge of schemas.
    pub fn create_by<J: SchemaJudge>(draft: ToolTemplateDraft, judge: &J) -> Result<Self, J::Error> {
        let operation = Operation::parse_by(&draft.operation, judge)?;
        tool::check_definition_by(&operation, &draft.input_schema, &draft.output_schema, judge)?;
        Ok(Self {
            name: draft.name,
            description: draft.description,
            operation,
            input_schema: draft.input_schema,
            output_schema: draft.output_schema,
            archived: false,
        })
    }

    pub fn change(&self, change: &TemplateChange) -> Result<Self, RuleViolation> {
        change.refuse_fixed()?;
        Ok(Self { archived: change.archived.unwrap_or(self.archived), ..self.clone() })
    }
}

impl OwnedEntry<ToolTemplate> {
    /// The draft with the template's whole structure copied in. Service and secret are the user's own choice.
    pub fn instantiate(&self, draft: ToolDraft) -> Result<ToolDraft, RuleViolation> {
        let template = &self.entry;
        refuse_archived(template.archived, &template.name)?;
        let given = draft.operation.as_ref().map(Operation::parse).transpose()?;
        let operation = copied("operation", given, template.operation.clone())?;
        Ok(ToolDraft {
            operation: Some(serde_json::to_value(operation).expect("an operation is JSON")),
            input_schema: copied("inputSchema", draft.input_schema, template.input_schema.clone())?,
            output_schema: copied("outputSchema", draft.output_schema, template.output_schema.clone())?,
            tool_template_id: Some(self.id),
            ..draft
        })
    }
}

/// BR-TEMPLATE-006: what was archived stays readable, and makes nothing new.
fn refuse_archived(archived: bool, name: &Name) -> Result<(), RuleViolation> {
    if !archived {
        return Ok(());
    }
    let problem = format!("the template {:?} is archived", name.as_str());
    Err(RuleViolation::new("BR-TEMPLATE-006", problem, "use another template, or have its owner restore it"))
}

/// BR-TEMPLATE-002: the structure is the template's, all of it.
fn copied<T: PartialEq>(field: &str, given: Option<T>, prescribed: T) -> Result<Option<T>, RuleViolation> {
    if given.is_none_or(|given| given == prescribed) {
        return Ok(Some(prescribed));
    }
    let problem = format!("{field} differs from the template's");
    Err(RuleViolation::new("BR-TEMPLATE-002", problem, "leave it out, or make the thing without a template"))
}
