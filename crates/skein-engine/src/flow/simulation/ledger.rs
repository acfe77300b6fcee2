//! Checks the invariants of the recorded items of a simulation.

use std::collections::BTreeMap;

use serde_json::Value;
use skein_core::flow::execution::item_payload::Failure;
use skein_core::flow::execution::state::{ExecutionStatus, Phase};
use skein_core::garden::item::ItemType;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::{ExecutionId, Millis, Viewer};
use skein_store::flow::{ExecutionRow, ReviewStatus};
use skein_store::jobs::{ExecutionJob, JobState};
use skein_store::timeline::items::ItemQuery;

use crate::flow::SYSTEM;
use crate::flow::execution::lookup::{ShownExecution, ShownStep};
use crate::flow::simulation::environment::Environment;
use crate::flow::simulation::oracle::{Expected, StepOutcome};
use crate::flow::simulation::schedule::{LOST_MAX, Schedule};

const ITEMS_MAX: usize = 500;

async fn shown(world: &Environment, run: ExecutionId) -> ShownExecution {
    world.engine.run(&world.caller, run).await.unwrap()
}

async fn row(world: &Environment, run: ExecutionId) -> ExecutionRow {
    world.store.read(move |tx| tx.execution(&SYSTEM, run)).await.unwrap()
}

pub(super) async fn have_ended(schedule: &Schedule<'_>) -> bool {
    for looked in &schedule.runs {
        if !row(schedule.world, looked.run).await.status.has_ended() {
            return false;
        }
    }
    true
}

pub(super) async fn standing(schedule: &Schedule<'_>) -> String {
    let mut told = Vec::new();
    for looked in &schedule.runs {
        let run = looked.run;
        let jobs = schedule.world.store.read(move |tx| tx.jobs_of(&SYSTEM, run)).await.unwrap();
        let shown = shown(schedule.world, run).await;
        let phases: Vec<_> = shown.steps.iter().map(|step| (step.id.as_str(), step.row.state.phase)).collect();
        told.push(format!("{:?} {phases:?} {jobs:?}", shown.row.status));
    }
    told.join("; ")
}

/// An answer is there whole, or not at all (rule BR-EXEC-001).
pub(super) async fn check_nodes(schedule: &Schedule<'_>) -> Result<(), String> {
    let world = &schedule.world;
    for looked in &schedule.runs {
        let Some(node) = looked.node else { continue };
        let row = row(world, looked.run).await;
        let node = world.engine.node(&world.caller, node).await.unwrap();
        let text = node.seen.content.as_ref().and_then(|content| content["text"].as_str());
        let is_whole = match row.status {
            ExecutionStatus::Completed => {
                node.seen.row.status == GenerationStatus::Complete
                    && text == row.output.as_ref().and_then(Value::as_str)
            }
            _ => node.seen.row.status != GenerationStatus::Complete && text.is_none_or(str::is_empty),
        };
        if !is_whole {
            return Err(format!("the run is {:?} and its node {:?}: {text:?}", row.status, node.seen.row.status));
        }
    }
    Ok(())
}

/// What is seen of runs that runs started, once all have ended.
pub(super) async fn note_ends(schedule: &mut Schedule<'_>) {
    for at in 0..schedule.runs.len() {
        let run = schedule.runs[at].run;
        let shown = shown(schedule.world, run).await;
        let path = schedule.noted.path(run);
        schedule.noted.ended_within(&shown, &path);
    }
}

pub(super) async fn audit(schedule: &Schedule<'_>) -> Result<(), String> {
    check_nodes(schedule).await?;
    let mut calls = BTreeMap::new();
    for looked in &schedule.runs {
        let mut expected = schedule.noted.expected(looked.run, &looked.context);
        let shown = shown(schedule.world, looked.run).await;
        let is_cancelled = schedule.noted.was_cancelled(looked.run);
        let comparison = Comparison { schedule, expected: &expected, shown: &shown, may_be_cut: is_cancelled };
        comparison.check().await?;
        if is_cancelled && shown.row.status != ExecutionStatus::Cancelled {
            return Err(format!("the run was cancelled and is {:?}", shown.row.status));
        }
        calls.append(&mut expected.calls);
    }
    for (at, number, inputs) in schedule.noted.begun_calls() {
        let expected = calls.get(&(at.to_owned(), number));
        if expected != Some(inputs) {
            return Err(format!("call {number} of {at} was made with {inputs:?} and not {expected:?}"));
        }
    }
    check_calls(schedule).await
}

/// A run as it is, and what it must have come to.
struct Comparison<'a, 's> {
    schedule: &'a Schedule<'s>,
    expected: &'a Expected,
    shown: &'a ShownExecution,
    /// Whether somebody may have ended it before its time.
    may_be_cut: bool,
}

impl Comparison<'_, '_> {
    async fn check(&self) -> Result<(), String> {
        self.check_end()?;
        self.check_left_open().await?;
        for (at, step) in self.shown.steps.iter().enumerate() {
            self.check_step(at, step)?;
        }
        for ((at, attempt), expected) in &self.expected.children {
            let is_of_step = |child: &&ShownExecution| child.row.parent.is_some_and(|(_, place)| place.step == *at);
            let may_be_cut = self.shown.steps[*at].row.state.phase == Phase::Cancelled;
            match self.shown.children.iter().filter(is_of_step).nth(*attempt) {
                Some(shown) => Box::pin(Comparison { expected, shown, may_be_cut, ..*self }.check()).await?,
                None if matches!(self.shown.steps[*at].row.state.phase, Phase::Waiting | Phase::Cancelled) => {}
                None => return Err(format!("step {} started no run", self.shown.steps[*at].id)),
            }
        }
        if self.shown.children.len() > self.expected.children.len() {
            return Err("more runs were started than there should be".to_owned());
        }
        Ok(())
    }

    fn check_end(&self) -> Result<(), String> {
        let (row, expected) = (&self.shown.row, self.expected);
        let may_fail_so = |failure: &Failure| {
            let of_step = expected.faults.iter().filter(|(step, _)| failure.step == Some(step + 1));
            of_step.flat_map(|(_, faults)| faults).any(|fault| fault.is(&failure.fault))
        };
        let is_right = match row.status {
            ExecutionStatus::Completed => {
                expected.output.is_some() && row.output.as_ref().and_then(Value::as_str) == expected.output.as_deref()
            }
            ExecutionStatus::Failed => row.failure.as_ref().is_some_and(may_fail_so),
            ExecutionStatus::Cancelled => self.may_be_cut,
            ExecutionStatus::Running => false,
        };
        if is_right {
            return Ok(());
        }
        let is = (row.status, &row.output, &row.failure);
        Err(format!("the run is {is:?} and not {:?} {:?}", expected.output, expected.faults))
    }

    /// What was begun came to what it must, unless the run ended before.
    fn check_step(&self, at: usize, shown: &ShownStep) -> Result<(), String> {
        let (state, expected) = (&shown.row.state, &self.expected.steps[at]);
        let wrong = |what: &str| Err(format!("step {} {what}: {state:?} and not {expected:?}", shown.id));
        let ended = |dep: &usize| {
            let dep = &self.shown.steps[*dep].row.state;
            matches!(dep.phase, Phase::Done | Phase::Skipped | Phase::Failed) && dep.ended_at <= state.began_at
        };
        if shown.row.is_open || (state.began_at.is_some() && !expected.deps.iter().all(ended)) {
            return wrong("began too early, or is open");
        }
        let is_cut = self.shown.row.status != ExecutionStatus::Completed;
        let is_right = match (&expected.came, state.phase) {
            (None, phase) => phase == Phase::Waiting,
            (Some(_), Phase::Waiting | Phase::Cancelled) => is_cut,
            (Some(StepOutcome::Done(output)), Phase::Done) => state.output == *output,
            (Some(StepOutcome::Skipped), Phase::Skipped) => state.output.is_null(),
            (Some(StepOutcome::Failed(faults)), Phase::Failed) => {
                state.output.is_null()
                    && state.fault.as_ref().is_some_and(|fault| faults.iter().any(|one| one.is(fault)))
            }
            _ => false,
        };
        if !is_right {
            return wrong("came to something else");
        }
        let is_settled = !matches!(state.phase, Phase::Waiting | Phase::Cancelled);
        if is_settled && (state.inputs != expected.inputs || state.attempt != expected.attempts) {
            return wrong("was called otherwise");
        }
        Ok(())
    }

    async fn check_left_open(&self) -> Result<(), String> {
        let run = self.shown.row.id;
        let jobs = self.schedule.world.store.read(move |tx| tx.jobs_of(&SYSTEM, run)).await.unwrap();
        // What was put aside is there to be read.
        let is_left = |job: &ExecutionJob| job.state != JobState::Dead || job.lost < LOST_MAX;
        let reviews = &self.shown.reviews;
        if jobs.iter().any(is_left) || reviews.iter().any(|review| review.status == ReviewStatus::Open) {
            return Err(format!("a run that has ended leaves something open: {jobs:?} {reviews:?}"));
        }
        Ok(())
    }
}

/// Every call has one end, and that is what was seen of it; what nobody saw was not made.
async fn check_calls(schedule: &Schedule<'_>) -> Result<(), String> {
    let mut ends: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (call, _) in items(schedule.world, ItemType::TOOL_CALL, schedule.since).await {
        ends.insert(call, Vec::new());
    }
    for (_, result) in items(schedule.world, ItemType::TOOL_RESULT, schedule.since).await {
        let call = result["callId"].as_str().unwrap_or_default().to_owned();
        ends.entry(call).or_default().push(result);
    }
    for (call, ends) in &ends {
        let [end] = ends.as_slice() else { return Err(format!("{call} has {} ends: {ends:?}", ends.len())) };
        let is_right = match schedule.noted.seen(call) {
            Some((_, statuses)) => statuses.iter().any(|status| end["status"] == *status),
            // The move that wrote it down ended its run.
            None => end["status"] == "cancelled" && end["error"]["code"] == "not_made",
        };
        if !is_right {
            return Err(format!("{call} is {:?}, and on record is {end}", schedule.noted.seen(call)));
        }
    }
    Ok(())
}

async fn items(world: &Environment, item_type: ItemType, since: Millis) -> Vec<(String, Value)> {
    let viewer = Viewer::User(world.caller.user);
    let query = ItemQuery { item_type: Some(item_type), from: Some(since), limit: ITEMS_MAX, ..ItemQuery::default() };
    let page = world.store.read(move |tx| tx.items(&viewer, &query)).await.unwrap();
    assert!(page.next.is_none(), "a schedule has few calls");
    let read = |stored: skein_store::timeline::items::StoredItem| {
        (stored.item.header.id.to_string(), Value::Object(stored.item.document().unwrap_or_default()))
    };
    page.rows.into_iter().map(read).collect()
}
