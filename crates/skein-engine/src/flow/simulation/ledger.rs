//! Whether what is written down makes sense.

use std::collections::BTreeMap;

use serde_json::Value;
use skein_core::flow::execution::state::RunStatus;
use skein_core::garden::item::ItemType;
use skein_core::tree::status::GenerationStatus;
use skein_core::{Millis, RunId, Viewer};
use skein_store::items::ItemQuery;
use skein_store::jobs::{JobStanding, JobState};

use crate::flow::runs::ShownRun;
use crate::flow::simulation::schedule::{LOST_MAX, Looked, Schedule};
use crate::flow::{SYSTEM, simulation::world::World};

const ITEMS_MAX: usize = 500;

async fn shown(world: &World, run: RunId) -> ShownRun {
    world.engine.run(&world.caller, run).await.unwrap()
}

pub(super) async fn have_ended(schedule: &Schedule<'_>) -> bool {
    for looked in &schedule.runs {
        if !shown(schedule.world, looked.run).await.row.status.has_ended() {
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
        let row = shown(world, looked.run).await.row;
        let node = world.engine.node(&world.caller, node).await.unwrap();
        let text = node.seen.content.as_ref().and_then(|content| content["text"].as_str());
        let is_whole = match row.status {
            RunStatus::Completed => {
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

pub(super) async fn audit(schedule: &Schedule<'_>) -> Result<(), String> {
    check_nodes(schedule).await?;
    for looked in &schedule.runs {
        let shown = shown(schedule.world, looked.run).await;
        check_run(schedule.world, &shown).await?;
        check_output(schedule, looked, &shown)?;
    }
    check_calls(schedule.world, schedule.since).await
}

/// Nothing began before what it waits for, and nothing is left open.
async fn check_run(world: &World, shown: &ShownRun) -> Result<(), String> {
    let (row, engine) = (shown.row.clone(), world.engine.clone());
    let read = world.store.read(move |tx| {
        Ok((engine.parts().plans.of(tx, row.process, row.process_version)?, tx.jobs_of(&SYSTEM, row.id)?))
    });
    let (ready, jobs) = read.await.unwrap();
    // What was put aside is there to be read.
    let is_left = |job: &JobStanding| job.state != JobState::Dead || job.lost < LOST_MAX;
    if jobs.iter().any(is_left) || shown.reviews.iter().any(|review| review.status.as_str() == "open") {
        return Err(format!("a run that has ended leaves something open: {jobs:?} {:?}", shown.reviews));
    }
    for (step, planned) in shown.steps.iter().zip(ready.plan.steps()) {
        let Some(began) = step.row.state.began_at else { continue };
        let ended = |dep: &usize| shown.steps[*dep].row.state.ended_at.is_some_and(|ended| ended <= began);
        if !planned.deps.iter().all(ended) || step.row.is_open {
            return Err(format!("step {} began too early, or is open: {:?}", step.id, step.row));
        }
    }
    for child in &shown.children {
        Box::pin(check_run(world, child)).await?;
    }
    Ok(())
}

/// What the reference says a run comes to, by what its steps gave.
fn check_output(schedule: &Schedule<'_>, looked: &Looked, shown: &ShownRun) -> Result<(), String> {
    let gave = |step: usize| schedule.given.contains(&(looked.run, step));
    let expected = match looked.shape {
        0 => "chain: v0 v1 v2".to_owned(),
        1 => "diamond: v0 v1 v2 v3".to_owned(),
        2 => format!("trouble: {} {} v2", if gave(0) { "v0" } else { "" }, if gave(1) { "v1" } else { "v3" }),
        _ => "nested: chain: v0 v1 v2 v1".to_owned(),
    };
    let output = shown.row.output.as_ref().and_then(Value::as_str);
    match shown.row.status {
        RunStatus::Completed if output == Some(&expected) => Ok(()),
        RunStatus::Failed | RunStatus::Cancelled if schedule.may_fail => Ok(()),
        status => Err(format!("the run is {status:?} with {output:?} and not {expected:?}: {:?}", shown.row.failure)),
    }
}

/// Every call has one end, and every step came out once at most.
async fn check_calls(world: &World, since: Millis) -> Result<(), String> {
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    let mut successes: BTreeMap<String, usize> = BTreeMap::new();
    let mut of_step = BTreeMap::new();
    for call in items(world, ItemType::TOOL_CALL, since).await {
        let step = format!("{} {}", call.1["sessionId"], call.1["context"]);
        of_step.insert(call.0.clone(), step);
        ends.insert(call.0, 0);
    }
    for (_, result) in items(world, ItemType::TOOL_RESULT, since).await {
        let call = result["callId"].as_str().unwrap_or_default().to_owned();
        if result["status"] == "success" {
            *successes.entry(of_step[&call].clone()).or_default() += 1;
        }
        *ends.entry(call).or_default() += 1;
    }
    if let Some((call, ends)) = ends.iter().find(|(_, ends)| **ends != 1) {
        return Err(format!("the call {call} has {ends} ends: {}", of_step[call]));
    }
    match successes.iter().find(|(_, times)| **times > 1) {
        Some((step, times)) => Err(format!("{step} came out {times} times")),
        None => Ok(()),
    }
}

async fn items(world: &World, item_type: ItemType, since: Millis) -> Vec<(String, Value)> {
    let viewer = Viewer::User(world.caller.user);
    let query = ItemQuery { item_type: Some(item_type), from: Some(since), limit: ITEMS_MAX, ..ItemQuery::default() };
    let page = world.store.read(move |tx| tx.items(&viewer, &query)).await.unwrap();
    assert!(page.next.is_none(), "a schedule has few calls");
    let read = |stored: skein_store::items::StoredItem| {
        (stored.item.header.id.to_string(), Value::Object(stored.item.document().unwrap_or_default()))
    };
    page.rows.into_iter().map(read).collect()
}
