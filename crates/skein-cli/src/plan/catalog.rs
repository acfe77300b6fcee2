//! Plans the API requests of commands on the catalog.
//!
//! Things may be given by name, and definitions stand in files, so a request is complete only once both were looked
//! at: until then it is an [`UnresolvedCatalogRequest`]. What is done with them is in [`crate::commands`]. Start at [`CatalogTask`].

mod commands;
mod process;
mod secrets;
mod unresolved_request;

use serde_json::{Map, Value};
use skein_core::RecordId;

pub(crate) use self::commands::parse_input;
pub(crate) use self::process::{each_target, resolve_targets};
use crate::definition::Source;
use crate::failure::Failure;
use crate::plan::api_request::{ApiRequest, parse};
use crate::plan::catalog::unresolved_request::Document;
pub(crate) use crate::plan::catalog::unresolved_request::{UnresolvedCatalogRequest, difference};
use crate::secret_value::{SecretType, ValueSource};
use crate::session::ListLimit;
use crate::views::{List, Sheet};

/// One command about the catalogue.
#[derive(Debug, PartialEq)]
pub(crate) enum CatalogTask {
    Show {
        inquiry: UnresolvedCatalogRequest,
        sheet: &'static Sheet,
    },
    /// As a definition that can be edited and given back.
    ShowDefinition(NamedEntry),
    List {
        inquiry: UnresolvedCatalogRequest,
        list: &'static List,
        portion: (ListLimit, Option<String>),
    },
    /// All rows come with one answer.
    Rows {
        inquiry: UnresolvedCatalogRequest,
        list: &'static List,
    },
    /// Changes what differs from what is there.
    Change(Change),
    /// Says what is wrong with a definition, and ends accordingly.
    Validate(UnresolvedCatalogRequest),
    /// Says how all that a process depends on is, and ends accordingly.
    ProcessHealth(UnresolvedCatalogRequest),
    /// Shows the default process after choosing one, if one is named.
    DefaultProcess(DefaultChoice),
    /// As a definition without ids.
    ExportProcess(NamedEntry),
    /// Says how the service is, and ends accordingly.
    Health(UnresolvedCatalogRequest),
    /// Calls a tool and waits for what it answers.
    Test {
        inquiry: UnresolvedCatalogRequest,
        has_details: bool,
    },
    KeepSecret {
        fields: Map<String, Value>,
        secret_type: SecretType,
        value: ValueSource,
    },
    RotateSecret {
        secret: NamedEntry,
        value: ValueSource,
    },
    RotateVault,
}

impl From<CatalogTask> for ApiRequest {
    fn from(task: CatalogTask) -> Self {
        Self::Catalog(task)
    }
}

/// A choice of the process that answers in new conversations.
#[derive(Debug, PartialEq)]
pub(crate) enum DefaultChoice {
    Unchanged,
    BuiltIn,
    Process(NamedEntry),
}

/// What is to become different about a thing.
#[derive(Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) thing: NamedEntry,
    /// What was edited; flags override what it says.
    pub(crate) definition: Option<Source>,
    pub(crate) fields: Map<String, Value>,
    pub(crate) references: Vec<(&'static str, NamedEntry)>,
}

/// Things of one kind, as the API keeps them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Collection {
    Services,
    Tools,
    Processes,
    Secrets,
    ServiceTemplates,
    ToolTemplates,
    Endpoints,
}

impl Collection {
    /// Below `/api/v1`.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Services => "/services",
            Self::Tools => "/tools",
            Self::Processes => "/processes",
            Self::Secrets => "/secrets",
            Self::ServiceTemplates => "/service-templates",
            Self::ToolTemplates => "/tool-templates",
            Self::Endpoints => "/allowed-endpoints",
        }
    }

    /// One of them, in words.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Services => "service",
            Self::Tools => "tool",
            Self::Processes => "process",
            Self::Secrets => "secret",
            Self::ServiceTemplates => "service template",
            Self::ToolTemplates => "tool template",
            Self::Endpoints => "endpoint",
        }
    }

    /// What makes one of them, in the order people read it.
    pub(crate) fn definition(self) -> &'static [&'static str] {
        match self {
            Self::Services => {
                &["name", "description", "type", "protocol", "connectionSchema", "requiresSecret", "enabled"]
            }
            Self::Tools => &[
                "name",
                "description",
                "serviceId",
                "connectionParams",
                "secretId",
                "secretUse",
                "operation",
                "inputSchema",
                "outputSchema",
                "enabled",
                "retry",
                "pricing",
            ],
            Self::Processes => &[
                "name",
                "description",
                "initialContext",
                "steps",
                "outputTemplate",
                "tokenBudget",
                "maxRecursionDepth",
                "enabled",
            ],
            Self::ServiceTemplates => {
                &["name", "description", "type", "protocol", "connectionSchema", "requiresSecret"]
            }
            Self::ToolTemplates => &["name", "description", "operation", "inputSchema", "outputSchema"],
            Self::Secrets => &["name", "description", "type"],
            Self::Endpoints => &["host", "port"],
        }
    }
}

/// One thing, as it was given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedEntry {
    pub(crate) shelf: Collection,
    pub(crate) named: EntryName,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum EntryName {
    Id(RecordId),
    Name(String),
}

impl EntryName {
    /// What begins like an id has to be one: a name would only be found by mistake.
    pub(crate) fn new(text: &str, hint: &'static str) -> Result<Self, Failure> {
        if text.starts_with("entity_") {
            return Ok(Self::Id(parse(text, hint)?));
        }
        Ok(Self::Name(text.to_owned()))
    }
}

impl NamedEntry {
    pub(crate) fn new(shelf: Collection, text: &str) -> Result<Self, Failure> {
        let named = EntryName::new(text, "give the id as the list shows it: entity_…, or the name")?;
        Ok(Self { shelf, named })
    }
}

#[cfg(test)]
mod tests;
