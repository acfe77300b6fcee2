//! `project` as it is typed.

use clap::{Args, Subcommand};

use crate::arguments::{AmountArguments, AskingArguments};

#[derive(Args)]
pub(crate) struct ProjectArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: ProjectCommand,
}

#[derive(Subcommand)]
pub(crate) enum ProjectCommand {
    /// List one's projects
    List(AmountArguments),
    /// Make a project
    New {
        /// What it is called
        #[arg(value_name = "NAME")]
        name: String,
        /// What it is for
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Show a project
    Show(ProjectId),
    /// List the branches of a project, in the order they were made
    Stack {
        #[command(flatten)]
        project: ProjectId,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// List where each participant of a project is
    Frames(ProjectId),
}

#[derive(Args)]
pub(crate) struct ProjectId {
    /// The project, as entity_… or by its name
    #[arg(value_name = "PROJECT")]
    pub(crate) project: String,
}
