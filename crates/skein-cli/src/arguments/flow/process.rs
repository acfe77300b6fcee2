//! `process` as it is typed.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use crate::arguments::{AmountArguments, AskingArguments, SwitchArguments, WrittenArguments};

#[derive(Args)]
pub(crate) struct ProcessArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: ProcessCommand,
}

#[derive(Subcommand)]
pub(crate) enum ProcessCommand {
    /// List one's processes
    List {
        /// Only enabled or only disabled ones
        #[arg(long, value_name = "BOOL")]
        enabled: Option<bool>,
        /// Also those that were deleted
        #[arg(long)]
        archived: bool,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Show a process
    Show {
        #[command(flatten)]
        process: ProcessId,
        /// As it was in this version
        #[arg(long, value_name = "NUMBER", conflicts_with = "yaml")]
        version: Option<u32>,
        #[command(flatten)]
        written: WrittenArguments,
    },
    /// Define how work is done; toolId and processId in the file may be names
    #[command(visible_alias = "create")]
    New {
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
    /// Change what was named; everything else stays
    #[command(visible_alias = "change")]
    Edit(ProcessEdit),
    /// Delete a process that no conversation offers, no process calls and no run is of; it can still be read
    Delete(ProcessId),
    /// Say what keeps a definition from being kept, and keep nothing; ends with 1 when something does
    Validate {
        /// The definition in JSON or YAML; - reads it from standard input
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
    },
    /// Say how all that a process depends on is; ends with 1 when a run would fail
    Health(ProcessId),
    /// Show which process answers in new conversations, or choose it
    Default {
        /// The process that answers from now on, as entity_… or by its name
        #[arg(value_name = "PROCESS", conflicts_with = "built_in")]
        process: Option<String>,
        /// Let the built-in model answer
        #[arg(long)]
        built_in: bool,
    },
    /// Write a process as a definition for another installation: names in place of ids
    Export(ProcessId),
    /// Make a process from such a definition
    Import {
        /// The definition in JSON or YAML; - reads it from standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Args)]
pub(crate) struct ProcessId {
    /// The process, as entity_… or by its name
    #[arg(value_name = "PROCESS")]
    pub(crate) process: String,
}

#[derive(Args)]
#[command(group = ArgGroup::new("change").multiple(true).required(true)
    .args(["file", "name", "description", "enable", "disable"]))]
pub(crate) struct ProcessEdit {
    #[command(flatten)]
    pub(crate) process: ProcessId,
    /// The new name
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// An edited definition in JSON or YAML, which flags add to; - reads it from standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) switch: SwitchArguments,
}
