//! What commands about the catalogue ask of the API.
//!
//! Things may be given by name, and definitions stand in files, so a request is complete only once both were looked
//! at: until then it is an [`Inquiry`]. What is done with them is in [`crate::commands`]. Start at [`CatalogTask`].

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
use crate::plan::api_request::{Task, parse};
use crate::plan::catalog::unresolved_request::Document;
pub(crate) use crate::plan::catalog::unresolved_request::{Inquiry, difference};
use crate::secret_value::{SecretType, ValueSource};
use crate::session::Amount;
use crate::views::{List, Sheet};

/// One command about the catalogue.
#[derive(Debug, PartialEq)]
pub(crate) enum CatalogTask {
    Show {
        inquiry: Inquiry,
        sheet: &'static Sheet,
    },
    /// As a definition that can be edited and given back.
    ShowDefinition(Thing),
    List {
        inquiry: Inquiry,
        list: &'static List,
        portion: (Amount, Option<String>),
    },
    /// All rows come with one answer.
    Rows {
        inquiry: Inquiry,
        list: &'static List,
    },
    /// Changes what differs from what is there.
    Change(Change),
    /// Says what is wrong with a definition, and ends accordingly.
    Validate(Inquiry),
    /// Says how all that a process depends on is, and ends accordingly.
    ProcessHealth(Inquiry),
    /// Shows the default process after choosing one, if one is named.
    DefaultProcess(DefaultChoice),
    /// As a definition without ids.
    ExportProcess(Thing),
    /// Says how the service is, and ends accordingly.
    Health(Inquiry),
    /// Calls a tool and waits for what it answers.
    Test {
        inquiry: Inquiry,
        has_details: bool,
    },
    KeepSecret {
        fields: Map<String, Value>,
        secret_type: SecretType,
        value: ValueSource,
    },
    RotateSecret {
        secret: Thing,
        value: ValueSource,
    },
    RotateVault,
}

impl From<CatalogTask> for Task {
    fn from(task: CatalogTask) -> Self {
        Self::Catalog(task)
    }
}

/// A choice of the process that answers in new conversations.
#[derive(Debug, PartialEq)]
pub(crate) enum DefaultChoice {
    Unchanged,
    BuiltIn,
    Process(Thing),
}

/// What is to become different about a thing.
#[derive(Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) thing: Thing,
    /// What was edited; flags override what it says.
    pub(crate) definition: Option<Source>,
    pub(crate) fields: Map<String, Value>,
    pub(crate) references: Vec<(&'static str, Thing)>,
}

/// Things of one kind, as the API keeps them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shelf {
    Services,
    Tools,
    Processes,
    Secrets,
    ServiceTemplates,
    ToolTemplates,
    Endpoints,
}

impl Shelf {
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
pub(crate) struct Thing {
    pub(crate) shelf: Shelf,
    pub(crate) named: Named,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Named {
    Id(RecordId),
    Name(String),
}

impl Named {
    /// What begins like an id has to be one: a name would only be found by mistake.
    pub(crate) fn new(text: &str, hint: &'static str) -> Result<Self, Failure> {
        if text.starts_with("entity_") {
            return Ok(Self::Id(parse(text, hint)?));
        }
        Ok(Self::Name(text.to_owned()))
    }
}

impl Thing {
    pub(crate) fn new(shelf: Shelf, text: &str) -> Result<Self, Failure> {
        let named = Named::new(text, "give the id as the list shows it: entity_…, or the name")?;
        Ok(Self { shelf, named })
    }
}

#[cfg(test)]
mod tests;
