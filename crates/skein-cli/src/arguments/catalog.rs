//! `service`, `tool`, `template` and `endpoint` as they are typed.

pub(crate) mod secret;

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use crate::arguments::{AmountArguments, AskingArguments};

const OPERATION_HELP: &str =
    r#"What it does, for example '{"type": "rest_call", "method": "GET", "path": "/forecast/{{city}}"}'"#;

#[derive(Args)]
pub(crate) struct ServiceArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: ServiceCommand,
}

#[derive(Subcommand)]
pub(crate) enum ServiceCommand {
    /// List one's own services and those others share
    List {
        #[command(flatten)]
        filter: FilterArguments,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Show a service
    Show {
        /// The service, as entity_… or by its name
        #[arg(value_name = "SERVICE")]
        service: String,
        #[command(flatten)]
        written: WrittenArguments,
    },
    /// Describe an endpoint: with flags, with a file, or from a template
    Create(ServiceCreation),
    /// Change what was named; everything else stays
    Change(ServiceChange),
    /// Delete a service that no tool uses
    Delete(ServiceId),
    /// Let every user see and use a service
    Share(ServiceId),
    /// Keep a service to oneself again; says whose tools are affected
    Unshare(ServiceId),
    /// Ask now whether a service can be reached; ends with 1 when it is not healthy
    Health(ServiceId),
    #[command(about = "Make one tool for each operation of an OpenAPI document")]
    #[command(group = ArgGroup::new("where").args(["document", "url"]).required(true))]
    Discover {
        #[command(flatten)]
        service: ServiceId,
        /// The document, in JSON or YAML; - reads it from standard input
        #[arg(long, value_name = "FILE")]
        document: Option<PathBuf>,
        /// Where the server finds the document
        #[arg(long, value_name = "URL")]
        url: Option<String>,
        /// How the tools connect, as a JSON object
        #[arg(long, value_name = "JSON")]
        params: Option<String>,
        /// The secret the tools use, as entity_… or by its name
        #[arg(long, value_name = "SECRET")]
        secret: Option<String>,
    },
}

#[derive(Args)]
pub(crate) struct ServiceId {
    /// The service, as entity_… or by its name
    #[arg(value_name = "SERVICE")]
    pub(crate) service: String,
}

#[derive(Args)]
pub(crate) struct ServiceCreation {
    /// What it is called
    #[arg(value_name = "NAME", required_unless_present_any = ["file", "template"])]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) definition: DefinitionArguments,
    /// The template it is made from, as entity_… or by its name
    #[arg(long, value_name = "TEMPLATE", conflicts_with_all = ["service_type", "protocol", "connection_schema"])]
    pub(crate) template: Option<String>,
    /// What kind of endpoint it is
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) service_type: Option<ServiceTypeName>,
    /// How it is spoken to
    #[arg(long)]
    pub(crate) protocol: Option<ProtocolName>,
    /// JSON Schema of what a tool has to say to connect, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) connection_schema: Option<String>,
    /// Tools need a secret to use it
    #[arg(long)]
    pub(crate) requires_secret: bool,
    /// Make it disabled
    #[arg(long)]
    pub(crate) disabled: bool,
}

#[derive(Args)]
#[command(group = ArgGroup::new("change").multiple(true).required(true)
    .args(["file", "name", "description", "connection_schema", "enable", "disable"]))]
pub(crate) struct ServiceChange {
    /// The service, as entity_… or by its name
    #[arg(value_name = "SERVICE")]
    pub(crate) service: String,
    /// The new name
    #[arg(long)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) definition: DefinitionArguments,
    /// JSON Schema of what a tool has to say to connect, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) connection_schema: Option<String>,
    #[command(flatten)]
    pub(crate) switch: SwitchArguments,
}

#[derive(Args)]
pub(crate) struct ToolArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: ToolCommand,
}

#[derive(Subcommand)]
pub(crate) enum ToolCommand {
    /// List one's own tools and those others share
    List {
        #[command(flatten)]
        filter: FilterArguments,
        /// Only those of this service, as entity_… or by its name
        #[arg(long, value_name = "SERVICE")]
        service: Option<String>,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Show a tool
    Show {
        /// The tool, as entity_… or by its name
        #[arg(value_name = "TOOL")]
        tool: String,
        #[command(flatten)]
        written: WrittenArguments,
    },
    /// Define an operation on a service: with flags, with a file, or from a template
    Create(ToolCreation),
    /// Change what was named; everything else stays
    Change(ToolChange),
    /// Delete a tool
    Delete(ToolId),
    /// Let every user see and use a tool; its secret is used for them and never shown
    Share(ToolId),
    /// Keep a tool to oneself again; says who is affected
    Unshare(ToolId),
    /// How a tool did in one's own runs lately: calls, success, how long they took, what went wrong last
    Metrics(ToolId),
    /// Call a tool for real and print what it answers; ends with 1 when the call fails
    Test(ToolTest),
    /// Use one's own secret with a tool that somebody shares
    Bind {
        #[command(flatten)]
        tool: ToolId,
        /// The secret, as entity_… or by its name
        #[arg(value_name = "SECRET")]
        secret: String,
    },
    /// Go back to the secret the owner of the tool provides
    Unbind(ToolId),
}

#[derive(Args)]
pub(crate) struct ToolId {
    /// The tool, as entity_… or by its name
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
}

#[derive(Args)]
pub(crate) struct ToolCreation {
    /// What it is called
    #[arg(value_name = "NAME", required_unless_present_any = ["file", "template"])]
    pub(crate) name: Option<String>,
    /// The service it calls, as entity_… or by its name
    #[arg(long, value_name = "SERVICE")]
    pub(crate) service: Option<String>,
    /// The template it is made from, as entity_… or by its name
    #[arg(long, value_name = "TEMPLATE", conflicts_with_all = ["operation", "input_schema", "output_schema"])]
    pub(crate) template: Option<String>,
    #[command(flatten)]
    pub(crate) definition: DefinitionArguments,
    #[command(flatten)]
    pub(crate) parts: ToolParts,
    /// Make it disabled
    #[arg(long)]
    pub(crate) disabled: bool,
}

#[derive(Args)]
#[command(group = ArgGroup::new("change").multiple(true).required(true).args([
    "file", "name", "description", "params", "secret", "no_secret", "secret_use", "operation", "input_schema",
    "output_schema", "enable", "disable",
]))]
pub(crate) struct ToolChange {
    /// The tool, as entity_… or by its name
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
    /// The new name
    #[arg(long)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) definition: DefinitionArguments,
    #[command(flatten)]
    pub(crate) parts: ToolParts,
    /// Use no secret any more
    #[arg(long, conflicts_with = "secret")]
    pub(crate) no_secret: bool,
    #[command(flatten)]
    pub(crate) switch: SwitchArguments,
}

/// What makes a tool.
#[derive(Args)]
pub(crate) struct ToolParts {
    /// How it connects, as a JSON object by the connection schema of its service
    #[arg(long, value_name = "JSON")]
    pub(crate) params: Option<String>,
    /// The secret it uses, as entity_… or by its name
    #[arg(long, value_name = "SECRET")]
    pub(crate) secret: Option<String>,
    /// Where an API key goes, for example '{"in": "header", "name": "X-Api-Key"}'
    #[arg(long, value_name = "JSON")]
    pub(crate) secret_use: Option<String>,
    #[arg(long, value_name = "JSON", help = OPERATION_HELP)]
    pub(crate) operation: Option<String>,
    /// JSON Schema of what it takes
    #[arg(long, value_name = "JSON")]
    pub(crate) input_schema: Option<String>,
    /// JSON Schema of what it gives
    #[arg(long, value_name = "JSON")]
    pub(crate) output_schema: Option<String>,
}

#[derive(Args)]
pub(crate) struct ToolTest {
    #[command(flatten)]
    pub(crate) tool: ToolId,
    /// One input: NAME=TEXT, or NAME:=JSON for numbers, lists and objects; can be given several times
    #[arg(long, value_name = "NAME=TEXT", conflicts_with_all = ["inputs", "file"])]
    pub(crate) input: Vec<String>,
    /// All inputs, as a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    pub(crate) inputs: Option<String>,
    /// All inputs, from a file in JSON or YAML; - reads them from standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Also show the request, the answer and how long it took, without secrets
    #[arg(long)]
    pub(crate) details: bool,
}

#[derive(Args)]
pub(crate) struct TemplateArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: TemplateCommand,
}

#[derive(Subcommand)]
pub(crate) enum TemplateCommand {
    /// List one's own templates and those others share
    List {
        #[command(flatten)]
        kind: KindArgument,
        /// Also those that were archived
        #[arg(long)]
        archived: bool,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Show a template
    Show {
        #[command(flatten)]
        template: TemplateId,
        #[command(flatten)]
        written: WrittenArguments,
    },
    /// Make a template from a file; it never changes afterwards
    Create {
        #[command(flatten)]
        kind: KindArgument,
        /// What it is called, in place of what the file says
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// What it is for, in place of what the file says
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// The definition in JSON or YAML; - reads it from standard input
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
    },
    /// Take a template out of use; what was made from it stays
    Archive(TemplateId),
    /// Take an archived template back into use
    Restore(TemplateId),
    /// Let every user see and use a template
    Share(TemplateId),
    /// Keep a template to oneself again
    Unshare(TemplateId),
    /// List what was made from a template
    Instances {
        #[command(flatten)]
        template: TemplateId,
        #[command(flatten)]
        amount: AmountArguments,
    },
}

#[derive(Args)]
pub(crate) struct TemplateId {
    #[command(flatten)]
    pub(crate) kind: KindArgument,
    /// The template, as entity_… or by its name
    #[arg(value_name = "TEMPLATE")]
    pub(crate) template: String,
}

#[derive(Args)]
pub(crate) struct KindArgument {
    /// What the template is for
    #[arg(long)]
    pub(crate) kind: TemplateKind,
}

#[derive(Args)]
pub(crate) struct EndpointArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: EndpointCommand,
}

#[derive(Subcommand)]
pub(crate) enum EndpointCommand {
    /// List the addresses on the server's own machine that services may use
    List(AmountArguments),
    /// Let services use an address on the server's own machine; for administrators
    Allow {
        /// Host and port, for example localhost:11434
        #[arg(value_name = "HOST:PORT")]
        address: String,
    },
    /// Withdraw that again
    Forbid {
        /// The endpoint, as entity_… or as host:port
        #[arg(value_name = "ENDPOINT")]
        endpoint: String,
    },
}

/// Which of many.
#[derive(Args)]
pub(crate) struct FilterArguments {
    /// Only of this type of service
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) service_type: Option<ServiceTypeName>,
    /// Only enabled or only disabled ones
    #[arg(long, value_name = "BOOL")]
    pub(crate) enabled: Option<bool>,
    /// Only those last found to be so
    #[arg(long)]
    pub(crate) status: Option<StatusName>,
    /// Only one's own
    #[arg(long)]
    pub(crate) owned: bool,
    /// Only what others share
    #[arg(long, conflicts_with = "owned")]
    pub(crate) shared: bool,
}

/// How one thing is written.
#[derive(Args)]
pub(crate) struct WrittenArguments {
    /// Answer as YAML that can be edited and given back with --file
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    pub(crate) yaml: bool,
}

#[derive(Args)]
pub(crate) struct DefinitionArguments {
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// A definition in JSON or YAML, which flags add to; - reads it from standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct SwitchArguments {
    /// Let it be used again
    #[arg(long)]
    pub(crate) enable: bool,
    /// Keep it from being used
    #[arg(long, conflicts_with = "enable")]
    pub(crate) disable: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum ServiceTypeName {
    RestApi,
    LlmProvider,
    McpServer,
    #[value(name = "neo4j_graph")]
    Neo4jGraph,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProtocolName {
    Http,
    Https,
    Bolt,
    #[value(name = "bolt+s")]
    BoltSecured,
    Stdio,
    Sse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusName {
    Healthy,
    Degraded,
    Down,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TemplateKind {
    Service,
    Tool,
}
