//! Commands about runs, what they wait for, and talking with a process.

mod chat;
mod drawing;
mod follow;
mod review;

use std::str::FromStr;

use anyhow::anyhow;
use axum::http::Method;
use serde_json::{Value, json};
use skein_core::{ExecutionId, ReviewId};

use self::follow::FollowOutcome;
use crate::api_client::ApiCall;
use crate::commands::catalog::find;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{printable, text};
use crate::plan::{FlowTask, Verdict};
use crate::session::{OutputFormat, Session};
use crate::views::flow as views;

pub(crate) fn run(task: FlowTask, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    match task {
        FlowTask::Run { process, inputs, priority, follows } => {
            let inputs = inputs.read()?.unwrap_or_default();
            let path = format!("/processes/{}/execute", find(&process, desk)?);
            let body = json!({ "initialContext": inputs, "priority": priority.unwrap_or_default() });
            begin(&ApiCall::post(path, body), follows, desk)
        }
        FlowTask::Runs { ask, process, portion: (amount, after) } => {
            let process = process.map(|process| find(&process, desk)).transpose()?;
            desk.list(&ask.with("processId", process), views::RUNS.columns, amount, after)
        }
        FlowTask::ShowRun(run) => {
            let whole = desk.ask(&ApiCall::get(format!("/executions/{run}")))?;
            drawing::show(&whole, desk)
        }
        FlowTask::Pause(run) => {
            let whole = set_paused(run, true, desk)?;
            drawing::show(&whole, desk)
        }
        FlowTask::GoOn(run) => go_on(run, desk),
        FlowTask::Cancel(run) => {
            desk.ask(&ApiCall::new(Method::POST, format!("/executions/{run}/cancel")))?;
            let whole = desk.ask(&ApiCall::get(format!("/executions/{run}")))?;
            drawing::show(&whole, desk)
        }
        FlowTask::Resume { run, follows } => {
            begin(&ApiCall::new(Method::POST, format!("/executions/{run}/resume")), follows, desk)
        }
        FlowTask::Branch { run, step, outputs, inputs, follows } => {
            let mut body = json!({ "outputs": outputs });
            if let Some(step) = step {
                body["stepId"] = step.into();
            }
            if let Some(inputs) = inputs.read()? {
                body["initialContext"] = inputs.into();
            }
            begin(&ApiCall::post(format!("/executions/{run}/branch"), body), follows, desk)
        }
        FlowTask::Reviews { ask, portion: (amount, after) } => desk.list(&ask, views::REVIEWS.columns, amount, after),
        FlowTask::ShowReview(review) => {
            let shown = desk.ask(&ApiCall::get(format!("/reviews/{review}")))?;
            desk.show(&shown, views::REVIEW.fields, views::REVIEW.wanted)
        }
        FlowTask::Decide { review, verdict } => decide(review, &verdict, desk),
        FlowTask::Chat(task) => chat::run(task, desk),
    }
}

/// Begins a run, and follows it if that is wanted, or if nobody else would carry it out.
fn begin(ask: &ApiCall, follows: bool, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    desk.door()?.work();
    let begun = desk.ask(ask)?;
    if !follows && !desk.door()?.is_here() {
        desk.show(&begun, views::BEGUN.fields, views::BEGUN.wanted)?;
        desk.remark("It goes on by itself. How it stands: skein execution show RUN")?;
        return Ok(Exit::Ok);
    }
    let run = run_in(&begun)?;
    if matches!(desk.form, OutputFormat::People(_)) {
        eprintln!("{run}");
    }
    follow_to_the_end(run, desk)
}

/// Follows a run, tells what came of it, and ends accordingly.
fn follow_to_the_end(run: ExecutionId, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    match follow::follow(run, follow::FollowOutput::Steps, desk)? {
        FollowOutcome::Asking(review) => Err(waits(&review)),
        FollowOutcome::Paused(run) => Err(is_paused(&run)),
        FollowOutcome::Run { whole, is_told } => {
            match desk.form {
                OutputFormat::Json => writeln!(desk.out, "{whole:#}")?,
                OutputFormat::People(_) | OutputFormat::Quiet if is_told || whole["status"] != "completed" => {}
                OutputFormat::People(_) | OutputFormat::Quiet => writeln!(desk.out, "{}", words(&whole["output"]))?,
            }
            follow::outcome(&whole)?;
            Ok(Exit::Ok)
        }
    }
}

/// Decides; without a server the run is then carried on here, because nobody else does.
fn decide(review: ReviewId, verdict: &Verdict, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let decided = review::decide(&review.to_string(), verdict, desk)?;
    match decided["executionId"].as_str() {
        Some(run) if desk.door()?.is_here() => {
            desk.door()?.work();
            let run = outermost(run, desk)?;
            follow_to_the_end(run, desk)
        }
        // The run of another is theirs to follow.
        _ => desk.show(&decided, views::REVIEW.fields, views::REVIEW.wanted),
    }
}

fn set_paused(run: ExecutionId, paused: bool, desk: &mut Session<'_>) -> Result<Value, Failure> {
    desk.ask(&ApiCall::new(Method::PUT, format!("/executions/{run}/paused")).with_body(json!({ "paused": paused })))?;
    desk.ask(&ApiCall::get(format!("/executions/{run}")))
}

/// Lets a run go on; without a server it is then carried on here, because nobody else does.
fn go_on(run: ExecutionId, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    desk.door()?.work();
    let whole = set_paused(run, false, desk)?;
    if !desk.door()?.is_here() {
        return drawing::show(&whole, desk);
    }
    let run = outermost(&run.to_string(), desk)?;
    follow_to_the_end(run, desk)
}

/// The run that somebody began: what started the run that waits, and what started that.
fn outermost(run: &str, desk: &mut Session<'_>) -> Result<ExecutionId, Failure> {
    let mut run = run.to_owned();
    loop {
        let whole = desk.ask(&ApiCall::get(format!("/executions/{run}")))?;
        match whole["parentId"].as_str() {
            Some(parent) => parent.clone_into(&mut run),
            None => return id(&run),
        }
    }
}

fn run_in(begun: &Value) -> Result<ExecutionId, Failure> {
    id(&text(&begun["executionId"]))
}

fn id<T: FromStr>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| {
        let error = anyhow!("the server answered with something that is not an id: {}", printable(text));
        Failure::new(Exit::Failed, error, "install the version the server has")
    })
}

/// An output as people read it.
fn words(output: &Value) -> String {
    let words = match output {
        Value::String(words) => words.clone(),
        other => format!("{other:#}"),
    };
    printable(&words)
}

fn is_paused(run: &str) -> Failure {
    let error = anyhow!("the run waits, because {} is paused", printable(run));
    Failure::new(Exit::Problem, error, "let it go on with skein execution go-on")
}

fn waits(review: &Value) -> Failure {
    let (id, what) = (printable(&text(&review["id"])), printable(&views::asked(review)));
    let error = anyhow!("the run waits for a decision, {id}: {what}");
    let hint = "decide with skein review approve, deny, answer or ask, or ask somebody by skein review delegate; the run then goes on";
    Failure::new(Exit::Problem, error, hint)
}
