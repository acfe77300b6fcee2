//! `item`, `history` and `redact` as they are typed.

pub(crate) mod relation;

use clap::{Args, Subcommand, ValueEnum};

use crate::arguments::{AmountArguments, AskingArguments};

#[derive(Args)]
pub(crate) struct ItemArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: ItemCommand,
}

#[derive(Subcommand)]
pub(crate) enum ItemCommand {
    /// Add a fact
    Add {
        /// What happened, in words; - reads it from standard input
        #[arg(value_name = "TEXT", required_unless_present = "data")]
        text: Option<String>,
        /// What happened, as a JSON object in place of the words; - reads it from standard input
        #[arg(long, value_name = "JSON", conflicts_with = "text")]
        data: Option<String>,
        /// What kind of fact it is
        #[arg(long = "type", value_name = "TYPE", default_value = "Note")]
        item_type: String,
        /// When it happened, if that is not now, for example 2026-01-31T12:00:00Z
        #[arg(long, value_name = "TIME")]
        at: Option<String>,
    },
    /// List facts
    List {
        /// Only of this type
        #[arg(long = "type", value_name = "TYPE")]
        item_type: Option<String>,
        /// Oldest or newest first
        #[arg(long, default_value = "desc")]
        order: Order,
        /// Along when they were recorded, or when they happened
        #[arg(long, default_value = "realized")]
        clock: Clock,
        /// Also what only keeps the books: changes of records and relations, seals, events of the system
        #[arg(long)]
        system: bool,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Show a fact
    Show(ItemId),
    /// Write what a fact says to standard output, byte for byte; also what is no document
    Payload(ItemId),
    /// Take back a fact, within five minutes of stating it
    Undo(ItemId),
    /// Correct when a fact happened
    Time {
        #[command(flatten)]
        item: ItemId,
        /// For example 2026-01-31T12:00:00Z
        #[arg(value_name = "TIME", required_unless_present = "clear")]
        at: Option<String>,
        /// Go back to the time it was stated with
        #[arg(long, conflicts_with = "at")]
        clear: bool,
    },
}

#[derive(Args)]
pub(crate) struct ItemId {
    /// The item, as item_…
    #[arg(value_name = "ITEM")]
    pub(crate) id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    Asc,
    Desc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clock {
    Realized,
    Canonical,
}

#[derive(Args)]
pub(crate) struct HistoryArguments {
    /// The record, as entity_…
    #[arg(value_name = "RECORD", required_unless_present = "record_type")]
    pub(crate) record: Option<String>,
    /// In place of a record: list those of this type, for example Service
    #[arg(long = "type", value_name = "TYPE", conflicts_with_all = ["record", "diff", "at", "version"])]
    pub(crate) record_type: Option<String>,
    /// What changed between two versions, for example 1..3
    #[arg(long, value_name = "A..B", conflicts_with_all = ["at", "version"])]
    pub(crate) diff: Option<String>,
    /// What it was at a time, for example 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", conflicts_with = "version")]
    pub(crate) at: Option<String>,
    /// What it was in a version
    #[arg(long, value_name = "NUMBER")]
    pub(crate) version: Option<u64>,
    /// Make it say again what it said in a version, as a new one: a deletion undone, a change taken back
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["record_type", "diff", "at", "version"])]
    pub(crate) restore: Option<u64>,
    #[command(flatten)]
    pub(crate) amount: AmountArguments,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
}

#[derive(Args)]
pub(crate) struct RedactArguments {
    /// The item, as item_…
    #[arg(value_name = "ITEM")]
    pub(crate) item: String,
    /// Why; it is kept in place of the payload
    #[arg(long)]
    pub(crate) reason: String,
    /// Do not ask whether it is meant
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
}
