//! Plans the API requests of commands on executions, reviews, workers and chats.
//!
//! Start at [`FlowTask`]; what is done with it is in [`crate::commands`].

use anyhow::anyhow;
use axum::http::Method;
use serde_json::{Map, Value, json};
use skein_core::catalog::operation::OperationType;
use skein_core::{ExecutionId, RecordId, ReviewId, UserId, document};
use skein_engine::flow::PoolSizes;

use crate::api_client::ApiCall;
use crate::arguments::{
    AmountArguments, ApprovalScope, AskingArguments, CallType, ChatArguments, ExecutionArguments, ExecutionBranch,
    ExecutionCommand, InputArguments, ReviewArguments, ReviewCommand, RunArguments, WorkerArguments,
};
use crate::configuration::Configuration;
use crate::definition::Source;
use crate::failure::Failure;
use crate::plan::api_request::{ApiRequest, parse, portion, word};
use crate::plan::catalog::{Collection, EntryName, NamedEntry, parse_input};
use crate::session::ListLimit;
use crate::settings::Name;
use crate::storage_location::StorageLocation;
use crate::views::{List, flow as views};

const POOL_PLACES_MAX: usize = 1_024;

/// One command about runs and what they wait for.
#[derive(Debug, PartialEq)]
pub(crate) enum FlowTask {
    Run {
        process: NamedEntry,
        inputs: Inputs,
        priority: Option<i64>,
        follows: bool,
    },
    /// Runs, of one process if it is named.
    Runs {
        ask: ApiCall,
        process: Option<NamedEntry>,
        portion: (ListLimit, Option<String>),
    },
    ShowRun(ExecutionId),
    Pause(ExecutionId),
    GoOn(ExecutionId),
    Cancel(ExecutionId),
    Resume {
        run: ExecutionId,
        follows: bool,
    },
    Branch {
        run: ExecutionId,
        step: Option<String>,
        outputs: Map<String, Value>,
        inputs: Inputs,
        follows: bool,
    },
    Reviews {
        ask: ApiCall,
        portion: (ListLimit, Option<String>),
    },
    ShowReview(ReviewId),
    Decide {
        review: ReviewId,
        verdict: Verdict,
    },
    Chat(ChatTask),
}

impl From<FlowTask> for ApiRequest {
    fn from(task: FlowTask) -> Self {
        Self::Flow(task)
    }
}

/// Values by name: what a file says, and over it what was typed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Inputs {
    file: Option<Source>,
    typed: Map<String, Value>,
}

impl Inputs {
    fn of(arguments: InputArguments) -> Result<Self, Failure> {
        Ok(Self { file: arguments.input_file.map(Source::named), typed: values(&arguments.input)? })
    }

    /// All of them; nothing if none were given.
    pub(crate) fn read(self) -> Result<Option<Map<String, Value>>, Failure> {
        let mut all = self.file.as_ref().map(Source::read).transpose()?;
        if !self.typed.is_empty() {
            all.get_or_insert_default().extend(self.typed);
        }
        Ok(all)
    }
}

/// What somebody decided.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// With these in place of inputs that were asked about.
    Approve {
        changed: Map<String, Value>,
        scope: Option<ApprovalScope>,
    },
    Deny(Option<String>),
    Answer(Value),
    /// What the model is asked first.
    Ask(String),
}

/// Talking with a process.
#[derive(Debug, PartialEq)]
pub(crate) struct ChatTask {
    /// A new one without it.
    pub(crate) conversation: Option<EntryName>,
    /// The one the conversation offers, else the default process, without it.
    pub(crate) process: Option<NamedEntry>,
}

impl FlowTask {
    pub(super) fn of_chat(arguments: ChatArguments) -> Result<(AskingArguments, ApiRequest), Failure> {
        let ChatArguments { conversation, process, asking } = arguments;
        let hint = "give the beginning of its title, or its id: entity_…";
        let conversation = conversation.map(|text| EntryName::new(&text, hint)).transpose()?;
        let process = process.map(|text| NamedEntry::new(Collection::Processes, &text)).transpose()?;
        Ok((asking, Self::Chat(ChatTask { conversation, process }).into()))
    }

    pub(super) fn of_run(arguments: RunArguments) -> Result<(AskingArguments, ApiRequest), Failure> {
        let RunArguments { process, inputs, priority, follow: follows, asking } = arguments;
        let process = NamedEntry::new(Collection::Processes, &process)?;
        Ok((asking, Self::Run { process, inputs: Inputs::of(inputs)?, priority, follows }.into()))
    }

    pub(super) fn of_execution(arguments: ExecutionArguments) -> Result<(AskingArguments, ApiRequest), Failure> {
        let task = match arguments.command {
            ExecutionCommand::List { status, process, amount } => {
                let ask = ApiCall::get("/executions").with("status", status.map(|status| word(&status)));
                let process = process.map(|name| NamedEntry::new(Collection::Processes, &name)).transpose()?;
                Self::Runs { ask, process, portion: portion(amount) }
            }
            ExecutionCommand::Show(named) => Self::ShowRun(run(&named.execution)?),
            ExecutionCommand::Pause(named) => Self::Pause(run(&named.execution)?),
            ExecutionCommand::GoOn(named) => Self::GoOn(run(&named.execution)?),
            ExecutionCommand::Cancel(named) => Self::Cancel(run(&named.execution)?),
            ExecutionCommand::Resume { execution, follow: follows } => {
                Self::Resume { run: run(&execution.execution)?, follows }
            }
            ExecutionCommand::Branch(branch) => {
                let ExecutionBranch { execution, step, output, inputs, follow: follows } = branch;
                let (run, outputs) = (run(&execution.execution)?, values(&output)?);
                Self::Branch { run, step, outputs, inputs: Inputs::of(inputs)?, follows }
            }
        };
        Ok((arguments.asking, task.into()))
    }

    pub(super) fn of_review(arguments: ReviewArguments) -> Result<(AskingArguments, ApiRequest), Failure> {
        let decide = |named: &str, verdict| Ok::<_, Failure>(Self::Decide { review: review(named)?, verdict });
        let task = match arguments.command {
            ReviewCommand::List { ended, amount } => {
                let ask = ApiCall::get("/reviews").with("status", Some(if ended { "all" } else { "open" }));
                Self::Reviews { ask, portion: portion(amount) }
            }
            ReviewCommand::Show(named) => Self::ShowReview(review(&named.review)?),
            ReviewCommand::Approve { review: named, input, scope } => {
                decide(&named.review, Verdict::Approve { changed: values(&input)?, scope })?
            }
            ReviewCommand::Ask { review: named, question } => decide(&named.review, Verdict::Ask(question))?,
            ReviewCommand::Deny { review: named, reason } => decide(&named.review, Verdict::Deny(reason))?,
            ReviewCommand::Answer { review: named, text, json_value } => {
                let value = match json_value {
                    Some(json) => json_of(&json)?,
                    None => text.unwrap_or_default().into(),
                };
                decide(&named.review, Verdict::Answer(value))?
            }
            ReviewCommand::Delegate { review: named, to, back: _ } => {
                let ask = ApiCall::new(Method::PUT, format!("/reviews/{}/delegate", review(&named.review)?));
                let task = ApiRequest::Show { ask: ask.with_body(delegate(to)), sheet: &views::REVIEW };
                return Ok((arguments.asking, task));
            }
            ReviewCommand::Approvals { amount } => {
                return Ok((arguments.asking, ApiRequest::list(ApiCall::get("/approvals"), &views::APPROVALS, amount)));
            }
            ReviewCommand::Revoke { approval } => {
                let id: RecordId = parse(&approval, "give the id as skein review approvals shows it: entity_…")?;
                let ask = ApiCall::new(Method::DELETE, format!("/approvals/{id}"));
                return Ok((arguments.asking, ApiRequest::Show { ask, sheet: &views::APPROVAL }));
            }
        };
        Ok((arguments.asking, task.into()))
    }
}

/// Who is at work, as one answer tells.
pub(super) fn list_workers() -> ApiRequest {
    let list: &'static List = &views::WORKERS;
    ApiRequest::Rows { ask: ApiCall::get("/workers"), field: "data", list }
}

pub(super) fn list_dead_jobs(amount: AmountArguments) -> ApiRequest {
    let (amount, after) = portion(amount);
    ApiRequest::List { ask: ApiCall::get("/queue/dead"), list: &views::DEAD_JOBS, amount, after }
}

/// The kinds of calls a worker of its own makes.
pub(super) fn pools_of(arguments: &WorkerArguments) -> PoolSizes {
    let kind = |kind: &CallType| match kind {
        CallType::LlmCall => OperationType::LlmCall,
        CallType::RestCall => OperationType::RestCall,
        CallType::McpTool => OperationType::McpTool,
        CallType::GraphQuery => OperationType::GraphQuery,
    };
    let mut pools: Vec<(OperationType, usize)> = Vec::new();
    for kind in arguments.types.iter().map(kind) {
        if !pools.iter().any(|(named, _)| *named == kind) {
            pools.push((kind, usize::from(arguments.concurrency)));
        }
    }
    PoolSizes(pools)
}

/// The calls a server makes itself; a kind of which it makes none is left to others.
pub(super) fn pools_of_server(configuration: &Configuration) -> Result<PoolSizes, Failure> {
    let hint = "give the number of calls at once, 0 to 1024";
    let mut pools = Vec::new();
    for (name, kind) in [
        (Name::WorkersGraphQuery, OperationType::GraphQuery),
        (Name::WorkersLlmCall, OperationType::LlmCall),
        (Name::WorkersRestCall, OperationType::RestCall),
        (Name::WorkersMcpTool, OperationType::McpTool),
    ] {
        let places: usize = configuration.parsed(name, hint)?.expect("a default is compiled in");
        if places > POOL_PLACES_MAX {
            let error = anyhow!("{} cannot be {places}", name.setting().key);
            return Err(Failure::usage(error, hint));
        }
        if places > 0 {
            pools.push((kind, places));
        }
    }
    Ok(PoolSizes(pools))
}

/// Only a database that others reach has room for workers of their own.
pub(super) fn shared(place: StorageLocation) -> Result<StorageLocation, Failure> {
    if place.names_database() {
        return Ok(place);
    }
    let error =
        anyhow!("{} belongs to one process alone, and its server runs the workers inside", place.database_shown());
    Err(Failure::usage(error, "use skein serve; workers of their own need --database postgres://user@host/name"))
}

fn values(typed: &[String]) -> Result<Map<String, Value>, Failure> {
    typed.iter().map(|one| parse_input(one)).collect()
}

/// Any JSON, by the same rules as at the server.
pub(crate) fn json_of(text: &str) -> Result<Value, Failure> {
    let hint = "give JSON in single quotes, for example '[1, 2]'";
    document::parse(text.as_bytes()).map_err(|bad| Failure::usage(bad, hint))
}

/// Who is to decide, by id or by name; nobody else without one.
fn delegate(to: Option<String>) -> Value {
    match to {
        Some(name) if name.parse::<UserId>().is_err() => json!({ "userName": name }),
        id => json!({ "userId": id }),
    }
}

fn run(text: &str) -> Result<ExecutionId, Failure> {
    parse(text, "give the id as skein execution list shows it: run_…")
}

fn review(text: &str) -> Result<ReviewId, Failure> {
    parse(text, "give the id as skein review list shows it: review_…")
}

#[cfg(test)]
mod tests;
