//! `run`, `execution`, `review`, `worker` and `chat` as they are typed.

pub(crate) mod process;

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use crate::arguments::{AmountArguments, AskingArguments};

#[derive(Args)]
pub(crate) struct RunArguments {
    /// The process, as entity_… or by its name
    #[arg(value_name = "PROCESS")]
    pub(crate) process: String,
    #[command(flatten)]
    pub(crate) inputs: InputArguments,
    /// Among your own runs, higher comes first
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) priority: Option<i64>,
    /// Tell each step as it goes, ask what is to be decided, and end as the run does; always so without a server
    #[arg(long, short)]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
}

/// What a run is given.
#[derive(Args)]
pub(crate) struct InputArguments {
    /// One input: NAME=TEXT, or NAME:=JSON for numbers, lists and objects; can be given several times
    #[arg(long, short, value_name = "NAME=TEXT")]
    pub(crate) input: Vec<String>,
    /// Inputs from a file in JSON or YAML, which --input adds to; - reads them from standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) input_file: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ExecutionArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: ExecutionCommand,
}

#[derive(Subcommand)]
pub(crate) enum ExecutionCommand {
    /// List one's runs, newest first
    List {
        /// Only those that stand like this
        #[arg(long, value_name = "STATUS")]
        status: Option<RunStatusName>,
        /// Only those of a process, as entity_… or by its name
        #[arg(long, value_name = "PROCESS")]
        process: Option<String>,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Show a run as a tree: its steps, the runs they started, and what came of them
    Show(ExecutionArgument),
    /// Pause a run and those it started: nothing more is called, what is under way ends
    Pause(ExecutionArgument),
    /// Let a paused run go on
    GoOn(ExecutionArgument),
    /// Cancel a run: nothing more is begun, and what is under way is broken off
    Cancel(ExecutionArgument),
    /// Begin again where a run failed or was cancelled, with what its earlier steps gave
    Resume {
        #[command(flatten)]
        execution: ExecutionArgument,
        /// Tell each step as it goes, and end as the run does
        #[arg(long, short)]
        follow: bool,
    },
    /// Begin again at any step of a run, with other values
    Branch(ExecutionBranch),
}

#[derive(Args)]
pub(crate) struct ExecutionArgument {
    /// The run, as run_…
    #[arg(value_name = "RUN")]
    pub(crate) execution: String,
}

#[derive(Args)]
pub(crate) struct ExecutionBranch {
    #[command(flatten)]
    pub(crate) execution: ExecutionArgument,
    /// The step to begin at, by its id; the one that did not come out, unless it is named
    #[arg(long, value_name = "STEP")]
    pub(crate) step: Option<String>,
    /// In place of what an earlier step gave: VARIABLE=TEXT, or VARIABLE:=JSON; can be given several times
    #[arg(long, value_name = "VARIABLE=TEXT")]
    pub(crate) output: Vec<String>,
    #[command(flatten)]
    pub(crate) inputs: InputArguments,
    /// Tell each step as it goes, and end as the run does
    #[arg(long, short)]
    pub(crate) follow: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunStatusName {
    Running,
    Completed,
    Failed,
    Cancelled,
}

#[derive(Args)]
pub(crate) struct ReviewArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: ReviewCommand,
}

#[derive(Subcommand)]
pub(crate) enum ReviewCommand {
    /// List what waits for a decision of yours, also in another's place, oldest first
    List {
        /// Also what was decided, has expired or was withdrawn
        #[arg(long)]
        ended: bool,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Show what is asked, whole
    Show(ReviewId),
    /// Let the call be made, perhaps with other inputs
    Approve {
        #[command(flatten)]
        review: ReviewId,
        /// In place of one input: NAME=TEXT, or NAME:=JSON; can be given several times
        #[arg(long, short, value_name = "NAME=TEXT")]
        input: Vec<String>,
        /// How far this reaches: this call, every later call of the tool in this run, those with the same arguments, or
        /// every later call of it in any of your runs
        #[arg(long, value_name = "SCOPE")]
        scope: Option<ApprovalScope>,
    },
    /// Do not let it
    Deny {
        #[command(flatten)]
        review: ReviewId,
        /// Why not
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Answer the question
    #[command(group = ArgGroup::new("value").required(true).args(["text", "json_value"]))]
    Answer {
        #[command(flatten)]
        review: ReviewId,
        /// In words
        #[arg(value_name = "TEXT")]
        text: Option<String>,
        /// As JSON: a number, a list, an object
        #[arg(long = "value", value_name = "JSON")]
        json_value: Option<String>,
    },
    /// Ask the model that wants a call before you decide: it is not made, and the model answers or asks for it again
    Ask {
        #[command(flatten)]
        review: ReviewId,
        /// What you want to know
        #[arg(value_name = "TEXT")]
        question: String,
    },
    /// Ask another user to decide in your place, or take that back
    #[command(group = ArgGroup::new("whom").required(true).args(["to", "back"]))]
    Delegate {
        #[command(flatten)]
        review: ReviewId,
        /// Who is to decide, by the whole name or as user_…
        #[arg(long, value_name = "NAME")]
        to: Option<String>,
        /// Take it back
        #[arg(long)]
        back: bool,
    },
    /// List what you are not asked about, because you approved it for good
    Approvals {
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Be asked again about what you approved for good
    Revoke {
        /// The approval, as skein review approvals shows it: entity_…
        #[arg(value_name = "APPROVAL")]
        approval: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ApprovalScope {
    Once,
    Run,
    SameArguments,
    Always,
}

impl ApprovalScope {
    /// As requests spell it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Run => "run",
            Self::SameArguments => "sameArguments",
            Self::Always => "always",
        }
    }
}

#[derive(Args)]
pub(crate) struct ReviewId {
    /// The review, as review_…
    #[arg(value_name = "REVIEW")]
    pub(crate) review: String,
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct WorkerArguments {
    /// Kinds of calls to make, with commas
    #[arg(long, value_name = "TYPES", value_delimiter = ',', default_values = ["llm_call", "rest_call", "mcp_tool", "graph_query"])]
    pub(crate) types: Vec<CallType>,
    /// How many calls of each kind at once
    #[arg(long, value_name = "NUMBER", default_value = "8", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) concurrency: u16,
    #[command(subcommand)]
    pub(crate) command: Option<WorkerCommand>,
}

#[derive(Subcommand)]
pub(crate) enum WorkerCommand {
    /// List who is at work; for administrators
    List {
        #[command(flatten)]
        asking: AskingArguments,
    },
    /// List work that nobody could do, with the reason: yours, and everybody's for administrators
    Dead {
        #[command(flatten)]
        asking: AskingArguments,
        #[command(flatten)]
        amount: AmountArguments,
    },
}

/// A kind of call, as the API spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum CallType {
    LlmCall,
    RestCall,
    McpTool,
    GraphQuery,
}

#[derive(Args)]
pub(crate) struct ChatArguments {
    /// The conversation to go on with, by the beginning of its title or as entity_…; a new one without it
    #[arg(value_name = "CONVERSATION")]
    pub(crate) conversation: Option<String>,
    /// The process that answers, as entity_… or by its name [default: the one the conversation offers, else skein process default]
    #[arg(long, value_name = "PROCESS")]
    pub(crate) process: Option<String>,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
}
