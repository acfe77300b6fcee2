//! `recall`, `episode` and `index` as they are typed.

use clap::{Args, Subcommand, ValueEnum};

use crate::arguments::{AmountArguments, AskingArguments};

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct RecallArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    /// What to look for, in plain words
    #[arg(value_name = "WORDS")]
    pub(crate) text: String,
    /// The node you stand at, as item_…: its path is searched, and the main paths of other conversations
    #[arg(long, value_name = "NODE")]
    pub(crate) node: Option<String>,
    /// The conversation you stand in, as entity_…
    #[arg(long, value_name = "CONVERSATION", conflicts_with = "node")]
    pub(crate) conversation: Option<String>,
    /// Leave out the path you stand on
    #[arg(long)]
    pub(crate) elsewhere: bool,
    /// Search branches that no path shows too
    #[arg(long)]
    pub(crate) all_branches: bool,
    /// Only what had been said by then, for example 2026-05-01T09:30:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Only what had become known here by then
    #[arg(long, value_name = "TIME")]
    pub(crate) known_at: Option<String>,
    /// Only what was said then or later
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Only what was said then or earlier
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Only what this person or model said, by name or id; may be repeated
    #[arg(long, value_name = "ACTOR")]
    pub(crate) person: Vec<String>,
    /// Only what was said in a conversation of this project, by name or id
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only what was said in this conversation, as entity_…; may be repeated
    #[arg(long, value_name = "CONVERSATION")]
    pub(crate) within: Vec<String>,
    /// Only what is of this kind; may be repeated
    #[arg(long, value_enum)]
    pub(crate) kind: Vec<EpisodeKind>,
    /// Leave out what merely stands beside something that was found
    #[arg(long)]
    pub(crate) strict: bool,
    /// Prefer what was said lately
    #[arg(long)]
    pub(crate) recent: bool,
    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) limit: u32,
    /// Say why each was found, and what was searched
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EpisodeKind {
    Message,
    Text,
    Json,
    Summary,
    Introspection,
}

impl EpisodeKind {
    /// As the API spells it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Text => "text",
            Self::Json => "json",
            Self::Summary => "summary",
            Self::Introspection => "introspection",
        }
    }
}

#[derive(Args)]
pub(crate) struct EpisodeArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: EpisodeCommand,
}

#[derive(Subcommand)]
pub(crate) enum EpisodeCommand {
    /// List what is remembered, the newest first
    List {
        /// Only of one conversation, as entity_…
        #[arg(long, value_name = "CONVERSATION")]
        conversation: Option<String>,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Show one thing that is remembered
    Show {
        #[arg(value_name = "EPISODE")]
        id: String,
    },
    /// Bring something from elsewhere, so that it is found like what was said here
    Add {
        /// What it says; - reads standard input; for --source json a document
        #[arg(value_name = "CONTENT")]
        content: String,
        /// What it is
        #[arg(long, value_enum, default_value = "text")]
        source: BroughtSource,
        /// Who said it
        #[arg(long, value_name = "NAME")]
        speaker: Option<String>,
        /// When it was said, if not now
        #[arg(long, value_name = "TIME")]
        at: Option<String>,
        /// From whose paths it is visible, as item_…; without it from every path
        #[arg(long, value_name = "NODE")]
        node: Option<String>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BroughtSource {
    Text,
    Message,
    Json,
}

#[derive(Args)]
pub(crate) struct IndexArguments {
    #[command(subcommand)]
    pub(crate) command: IndexCommand,
}

#[derive(Subcommand)]
pub(crate) enum IndexCommand {
    /// Show how far the index of the server has come, and what is not remembered yet
    Status {
        #[command(flatten)]
        asking: AskingArguments,
    },
    /// Build the index again from the timeline: of the server, or of the directory where none runs
    Rebuild {
        #[command(flatten)]
        asking: AskingArguments,
        /// Have every vector made anew by the configured embedder too: for when another model answers under the same name
        #[arg(long)]
        anew: bool,
    },
    /// List what was said or brought and can never be found, with the reason
    Unbound {
        #[command(flatten)]
        asking: AskingArguments,
        #[command(flatten)]
        amount: AmountArguments,
    },
}
