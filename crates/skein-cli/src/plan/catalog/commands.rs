//! `service`, `tool`, `template` and `endpoint` as inquiries.

use anyhow::anyhow;
use axum::http::Method;
use serde_json::{Map, Value, json};

use super::{CatalogTask, Change, Collection, Document, NamedEntry, UnresolvedCatalogRequest};
use crate::arguments::{
    EndpointCommand, FilterArguments, ServiceChange, ServiceCommand, ServiceCreation, SwitchArguments, TemplateCommand,
    TemplateId, TemplateKind, ToolChange, ToolCommand, ToolCreation, ToolParts, ToolTest,
};
use crate::definition::Source;
use crate::failure::Failure;
use crate::plan::api_request::{object, portion, word};
use crate::views::{Sheet, catalog as views};

impl CatalogTask {
    pub(crate) fn of_service(command: ServiceCommand) -> Result<Self, Failure> {
        let service = |text: &str| NamedEntry::new(Collection::Services, text);
        let sheet = &views::SERVICE;
        Ok(match command {
            ServiceCommand::List { filter, amount: most } => {
                let inquiry = filtered(UnresolvedCatalogRequest::new(Method::GET, Collection::Services), &filter);
                Self::List { inquiry, list: &views::SERVICES, portion: portion(most) }
            }
            ServiceCommand::Show { service: named, written } => show(service(&named)?, sheet, written.yaml),
            ServiceCommand::Create(creation) => Self::create_service(creation)?,
            ServiceCommand::Change(change) => Self::change_service(change)?,
            ServiceCommand::Delete(named) => delete(service(&named.service)?, sheet),
            ServiceCommand::Share(named) => share(service(&named.service)?, true, sheet),
            ServiceCommand::Unshare(named) => share(service(&named.service)?, false, sheet),
            ServiceCommand::Health(named) => {
                let inquiry =
                    UnresolvedCatalogRequest::about(Method::POST, service(&named.service)?).with_tail("/health");
                Self::Health(inquiry.with_fields(Map::new()))
            }
            ServiceCommand::Discover { service: named, document, url, params, secret } => {
                let fields = BodyFields::default().text("url", url).object("connectionParams", params.as_deref())?;
                let document = document.map(|file| Document::Field("document", Source::named(file)));
                let inquiry =
                    UnresolvedCatalogRequest::about(Method::POST, service(&named.service)?).with_tail("/discover");
                let inquiry = inquiry.with_fields(fields.0).with_document(document);
                let inquiry = inquiry.with_references(reference("secretId", Collection::Secrets, secret)?);
                Self::Rows { inquiry, list: &views::TOOLS }
            }
        })
    }

    fn create_service(creation: ServiceCreation) -> Result<Self, Failure> {
        let ServiceCreation { name, definition, template, service_type, protocol, connection_schema, .. } = creation;
        let fields = BodyFields::default()
            .text("name", name)
            .text("description", definition.description)
            .text("type", service_type.map(|one| word(&one)))
            .text("protocol", protocol.map(|one| word(&one)))
            .object("connectionSchema", connection_schema.as_deref())?
            .truth("requiresSecret", creation.requires_secret.then_some(true))
            .truth("enabled", creation.disabled.then_some(false));
        let references = reference("serviceTemplateId", Collection::ServiceTemplates, template)?;
        let inquiry = UnresolvedCatalogRequest::new(Method::POST, Collection::Services)
            .with_fields(fields.0)
            .with_references(references);
        let document = definition.file.map(|file| Document::Whole(Source::named(file)));
        Ok(Self::Show { inquiry: inquiry.with_document(document), sheet: &views::SERVICE })
    }

    fn change_service(change: ServiceChange) -> Result<Self, Failure> {
        let ServiceChange { service, name, definition, connection_schema, switch } = change;
        let fields = BodyFields::default()
            .text("name", name)
            .text("description", definition.description)
            .object("connectionSchema", connection_schema.as_deref())?
            .truth("enabled", switched(&switch));
        Ok(Self::Change(Change {
            thing: NamedEntry::new(Collection::Services, &service)?,
            definition: definition.file.map(Source::named),
            fields: fields.0,
            references: Vec::new(),
        }))
    }

    pub(crate) fn of_tool(command: ToolCommand) -> Result<Self, Failure> {
        let tool = |text: &str| NamedEntry::new(Collection::Tools, text);
        let sheet = &views::TOOL;
        Ok(match command {
            ToolCommand::List { filter, service, amount: most } => {
                let inquiry = filtered(UnresolvedCatalogRequest::new(Method::GET, Collection::Tools), &filter);
                let inquiry = inquiry.with_references(reference("serviceId", Collection::Services, service)?);
                Self::List { inquiry, list: &views::TOOLS, portion: portion(most) }
            }
            ToolCommand::Show { tool: named, written } => show(tool(&named)?, sheet, written.yaml),
            ToolCommand::Create(creation) => Self::create_tool(creation)?,
            ToolCommand::Change(change) => Self::change_tool(change)?,
            ToolCommand::Delete(named) => delete(tool(&named.tool)?, sheet),
            ToolCommand::Share(named) => share(tool(&named.tool)?, true, sheet),
            ToolCommand::Unshare(named) => share(tool(&named.tool)?, false, sheet),
            ToolCommand::Metrics(named) => {
                let inquiry = UnresolvedCatalogRequest::new(Method::GET, Collection::Tools).with_tail("/metrics");
                let inquiry = inquiry.with_references(reference("toolIds", Collection::Tools, Some(named.tool))?);
                Self::Rows { inquiry, list: &views::TOOL_METRICS }
            }
            ToolCommand::Test(test) => Self::test_tool(test)?,
            ToolCommand::Bind { tool: named, secret } => {
                let inquiry = UnresolvedCatalogRequest::about(Method::PUT, tool(&named.tool)?).with_tail("/secret");
                let secret = reference("secretId", Collection::Secrets, Some(secret))?;
                Self::Show { inquiry: inquiry.with_fields(Map::new()).with_references(secret), sheet: &views::BINDING }
            }
            ToolCommand::Unbind(named) => {
                let inquiry = UnresolvedCatalogRequest::about(Method::DELETE, tool(&named.tool)?).with_tail("/secret");
                Self::Show { inquiry, sheet: &views::BINDING }
            }
        })
    }

    fn create_tool(creation: ToolCreation) -> Result<Self, Failure> {
        let ToolCreation { name, service, template, definition, parts, disabled } = creation;
        let mut references = reference("serviceId", Collection::Services, service)?;
        references.append(&mut reference("toolTemplateId", Collection::ToolTemplates, template)?);
        references.append(&mut reference("secretId", Collection::Secrets, parts.secret.clone())?);
        let fields = BodyFields::default().text("name", name).text("description", definition.description);
        let fields = fields.tool_parts(&parts)?.truth("enabled", disabled.then_some(false));
        let inquiry = UnresolvedCatalogRequest::new(Method::POST, Collection::Tools)
            .with_fields(fields.0)
            .with_references(references);
        let document = definition.file.map(|file| Document::Whole(Source::named(file)));
        Ok(Self::Show { inquiry: inquiry.with_document(document), sheet: &views::TOOL })
    }

    fn change_tool(change: ToolChange) -> Result<Self, Failure> {
        let ToolChange { tool, name, definition, parts, no_secret, switch } = change;
        let mut fields = BodyFields::default()
            .text("name", name)
            .text("description", definition.description)
            .tool_parts(&parts)?
            .truth("enabled", switched(&switch));
        if no_secret {
            fields.0.insert("secretId".to_owned(), Value::Null);
        }
        Ok(Self::Change(Change {
            thing: NamedEntry::new(Collection::Tools, &tool)?,
            definition: definition.file.map(Source::named),
            fields: fields.0,
            references: reference("secretId", Collection::Secrets, parts.secret)?,
        }))
    }

    fn test_tool(test: ToolTest) -> Result<Self, Failure> {
        let ToolTest { tool, input, inputs, file, details } = test;
        let inputs = match inputs {
            Some(inputs) => object(&inputs)?,
            None => input.iter().map(|one| parse_input(one)).collect::<Result<_, _>>()?,
        };
        let tool = NamedEntry::new(Collection::Tools, &tool.tool)?;
        let document = file.map(|file| Document::Field("inputs", Source::named(file)));
        let inquiry = UnresolvedCatalogRequest::about(Method::POST, tool).with_tail("/test").with_document(document);
        let fields = Map::from_iter([("inputs".to_owned(), inputs.into())]);
        Ok(Self::Test { inquiry: inquiry.with_fields(fields), has_details: details })
    }

    pub(crate) fn of_template(command: TemplateCommand) -> Result<Self, Failure> {
        Ok(match command {
            TemplateCommand::List { kind, archived, amount: most } => {
                let (shelf, _) = templates(kind.kind);
                let inquiry =
                    UnresolvedCatalogRequest::new(Method::GET, shelf).with("includeArchived", archived.then_some(true));
                Self::List { inquiry, list: &views::TEMPLATES, portion: portion(most) }
            }
            TemplateCommand::Show { template: named, written } => {
                let (thing, sheet) = template(&named)?;
                show(thing, sheet, written.yaml)
            }
            TemplateCommand::Create { kind, name, description, file } => {
                let (shelf, sheet) = templates(kind.kind);
                let fields = BodyFields::default().text("name", name).text("description", description);
                let inquiry = UnresolvedCatalogRequest::new(Method::POST, shelf).with_fields(fields.0);
                Self::Show { inquiry: inquiry.with_document(Some(Document::Whole(Source::named(file)))), sheet }
            }
            TemplateCommand::Archive(named) => {
                let (thing, sheet) = template(&named)?;
                delete(thing, sheet)
            }
            TemplateCommand::Restore(named) => Self::set(&named, "archived", false)?,
            TemplateCommand::Share(named) => Self::set(&named, "shared", true)?,
            TemplateCommand::Unshare(named) => Self::set(&named, "shared", false)?,
            TemplateCommand::Instances { template: named, amount: most } => {
                let (thing, _) = template(&named)?;
                let inquiry = UnresolvedCatalogRequest::about(Method::GET, thing).with_tail("/instances");
                Self::List { inquiry, list: &views::INSTANCES, portion: portion(most) }
            }
        })
    }

    /// All that can change about a template.
    fn set(named: &TemplateId, field: &str, value: bool) -> Result<Self, Failure> {
        let (thing, sheet) = template(named)?;
        let fields = Map::from_iter([(field.to_owned(), value.into())]);
        Ok(Self::Show { inquiry: UnresolvedCatalogRequest::about(Method::PUT, thing).with_fields(fields), sheet })
    }

    pub(crate) fn of_endpoint(command: EndpointCommand) -> Result<Self, Failure> {
        let sheet = &views::ENDPOINT;
        Ok(match command {
            EndpointCommand::List(most) => {
                let inquiry = UnresolvedCatalogRequest::new(Method::GET, Collection::Endpoints);
                Self::List { inquiry, list: &views::ENDPOINTS, portion: portion(most) }
            }
            EndpointCommand::Allow { address } => {
                let (host, port) = parse_address(&address)?;
                let fields = BodyFields::default().text("host", Some(host));
                let mut inquiry =
                    UnresolvedCatalogRequest::new(Method::POST, Collection::Endpoints).with_fields(fields.0);
                inquiry.fields.get_or_insert_default().insert("port".to_owned(), port.into());
                Self::Show { inquiry, sheet }
            }
            EndpointCommand::Forbid { endpoint } => delete(NamedEntry::new(Collection::Endpoints, &endpoint)?, sheet),
        })
    }
}

pub(super) fn show(thing: NamedEntry, sheet: &'static Sheet, is_yaml: bool) -> CatalogTask {
    if is_yaml {
        return CatalogTask::ShowDefinition(thing);
    }
    CatalogTask::Show { inquiry: UnresolvedCatalogRequest::about(Method::GET, thing), sheet }
}

pub(super) fn delete(thing: NamedEntry, sheet: &'static Sheet) -> CatalogTask {
    CatalogTask::Show { inquiry: UnresolvedCatalogRequest::about(Method::DELETE, thing), sheet }
}

fn share(thing: NamedEntry, is_shared: bool, sheet: &'static Sheet) -> CatalogTask {
    let fields = Map::from_iter([("shared".to_owned(), json!(is_shared))]);
    CatalogTask::Show {
        inquiry: UnresolvedCatalogRequest::about(Method::PUT, thing).with_tail("/share").with_fields(fields),
        sheet,
    }
}

fn templates(kind: TemplateKind) -> (Collection, &'static Sheet) {
    match kind {
        TemplateKind::Service => (Collection::ServiceTemplates, &views::TEMPLATE),
        TemplateKind::Tool => (Collection::ToolTemplates, &views::TEMPLATE),
    }
}

fn template(named: &TemplateId) -> Result<(NamedEntry, &'static Sheet), Failure> {
    let (shelf, sheet) = templates(named.kind.kind);
    Ok((NamedEntry::new(shelf, &named.template)?, sheet))
}

fn filtered(inquiry: UnresolvedCatalogRequest, filter: &FilterArguments) -> UnresolvedCatalogRequest {
    inquiry
        .with("type", filter.service_type.map(|one| word(&one)))
        .with("enabled", filter.enabled)
        .with("status", filter.status.map(|one| word(&one)))
        .with("owned", filter.owned.then_some(true))
        .with("shared", filter.shared.then_some(true))
}

fn reference(
    field: &'static str,
    shelf: Collection,
    named: Option<String>,
) -> Result<Vec<(&'static str, NamedEntry)>, Failure> {
    let thing = named.map(|named| NamedEntry::new(shelf, &named)).transpose()?;
    Ok(thing.map(|thing| (field, thing)).into_iter().collect())
}

pub(super) fn switched(switch: &SwitchArguments) -> Option<bool> {
    match (switch.enable, switch.disable) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    }
}

/// What flags say about the body.
#[derive(Default)]
pub(super) struct BodyFields(pub(super) Map<String, Value>);

impl BodyFields {
    pub(super) fn text(self, name: &str, text: Option<String>) -> Self {
        self.value(name, text.map(Value::from))
    }

    pub(super) fn truth(self, name: &str, truth: Option<bool>) -> Self {
        self.value(name, truth.map(Value::from))
    }

    fn object(self, name: &str, text: Option<&str>) -> Result<Self, Failure> {
        Ok(self.value(name, text.map(object).transpose()?.map(Value::from)))
    }

    fn tool_parts(self, parts: &ToolParts) -> Result<Self, Failure> {
        self.object("connectionParams", parts.params.as_deref())?
            .object("secretUse", parts.secret_use.as_deref())?
            .object("operation", parts.operation.as_deref())?
            .object("inputSchema", parts.input_schema.as_deref())?
            .object("outputSchema", parts.output_schema.as_deref())
    }

    fn value(mut self, name: &str, value: Option<Value>) -> Self {
        self.0.extend(value.map(|value| (name.to_owned(), value)));
        self
    }
}

/// `name=text`, or `name:=json`.
pub(crate) fn parse_input(text: &str) -> Result<(String, Value), Failure> {
    let hint = "write --input city=Berlin for text, --input days:=3 for anything else in JSON";
    let bad = |problem: String| Failure::usage(anyhow!(problem), hint);
    let (name, value) = text.split_once('=').ok_or_else(|| bad(format!("{text:?} has no = in it")))?;
    let (name, value) = match name.strip_suffix(':') {
        Some(name) => {
            let parsed = skein_core::document::parse(value.as_bytes());
            (name, parsed.map_err(|problem| bad(format!("the input {name}: {problem}")))?)
        }
        None => (name, Value::from(value)),
    };
    if name.is_empty() {
        return Err(bad(format!("{text:?} names no input")));
    }
    Ok((name.to_owned(), value))
}

/// `host:port`, an IPv6 address in brackets.
fn parse_address(text: &str) -> Result<(String, u16), Failure> {
    let parsed = text.rsplit_once(':').and_then(|(host, port)| {
        let port = port.parse().ok().filter(|port| *port > 0)?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_whole = bare.is_some() || !host.contains([':', '/']);
        let host = bare.unwrap_or(host);
        (is_whole && !host.is_empty()).then(|| (host.to_owned(), port))
    });
    let hint = "give host and port, for example localhost:11434 or [::1]:11434";
    parsed.ok_or_else(|| Failure::usage(anyhow!("{text:?} is not a host with a port"), hint))
}
