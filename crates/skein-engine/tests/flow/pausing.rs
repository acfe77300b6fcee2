//! Runs that are paused begin nothing, lose nothing, and go on where they were (decision 0026).

use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use postgres::{Client, NoTls};
use serde_json::{Value, json};
use skein_core::flow::execution::review::Decision;
use skein_core::flow::execution::state::{ExecutionStatus, Phase};
use skein_core::garden::item::ItemType;
use skein_core::{ExecutionId, Viewer};
use skein_engine::EngineError;
use skein_engine::flow::ShownExecution;
use skein_store::StoreError;
use skein_store::jobs::{ExecutionJob, JobState, QueueCapacity};
use skein_testkit::hostile_server::{Behaviour, HostileServer};

use crate::engine_fixture::{EngineFixture, both, fresh, heard, process, step};
use crate::tool_runs;

const SYSTEM: Viewer = Viewer::System("test");
/// Later than any job that is not parked could be due.
const NEVER: i64 = 1 << 45;

/// A service that answers with what it is told to, when it is told; once nobody can tell it anything, it is closed for now.
fn waiting() -> (HostileServer, Sender<Behaviour>) {
    let (answer, told) = channel();
    let told = Mutex::new(told);
    let closed = || Behaviour::answer(503, &[], "closed");
    let rogue = HostileServer::start(move |_| told.lock().unwrap().recv().unwrap_or_else(|_| closed()));
    (rogue, answer)
}

fn seven() -> Behaviour {
    Behaviour::json(r#"{"celsius":7}"#)
}

async fn asked(rogue: &HostileServer, times: usize) {
    while rogue.requests().len() < times {
        skein_testkit::wait::moment().await;
    }
}

impl EngineFixture {
    async fn set_paused(&self, run: ExecutionId, paused: bool) -> ShownExecution {
        self.engine.pause_run(&self.caller, fresh(&self.caller), run, paused).await.unwrap().value
    }

    /// Waits until a run stands as is asked.
    async fn until(&self, run: ExecutionId, stands: impl Fn(&ShownExecution) -> bool) -> ShownExecution {
        let mut rung = self.store.wake().subscribe();
        loop {
            let shown = self.engine.run(&self.caller, run).await.unwrap();
            if stands(&shown) {
                return shown;
            }
            heard(&mut rung).await;
        }
    }

    async fn jobs(&self, run: ExecutionId) -> Vec<ExecutionJob> {
        self.store.read(move |tx| tx.jobs_of(&SYSTEM, run)).await.unwrap()
    }

    /// All that a run would call waits where nobody looks for work, though there are workers and one more looks.
    async fn begins_nothing(&self, run: ExecutionId) {
        let echo = self.tool("Echo").await;
        let other =
            self.process(process("other", vec![step("a", echo, json!({ "value": "{x}" }))], "{{a.value}}")).await;
        assert_eq!(self.ended(self.run(other, json!({ "x": 1 })).await).await.row.status, ExecutionStatus::Completed);
        let wanted =
            ["mcp_tool", "rest_call", "llm_call"].map(|queue| QueueCapacity { queue: queue.to_owned(), places: 8 });
        let holder = self.store.holder("somebody with time", 60_000);
        assert_eq!(self.store.claim_jobs(&holder, &wanted).await.unwrap().jobs, []);
        let jobs = self.jobs(run).await;
        assert!(
            !jobs.is_empty() && jobs.iter().all(|job| job.state == JobState::Delayed && job.run_at.0 > NEVER),
            "{jobs:?}"
        );
    }

    async fn told(&self, run: ExecutionId) -> Vec<String> {
        let told = self.facts(&self.caller, ItemType::SYSTEM_EVENT).await.into_iter();
        let told = told.filter(|fact| fact["subject"] == json!(run));
        told.map(|fact| fact["event"].as_str().unwrap().to_owned()).collect()
    }

    /// Whoever holds jobs is gone, as far as the queue can tell.
    async fn workers_vanish(&self) {
        if self.store.is_alone() {
            self.store.begin_epoch().await.unwrap();
        } else {
            let mut client = tokio::task::block_in_place(|| Client::connect(self.url(), NoTls).unwrap());
            let expire = "UPDATE jobs SET lease_until = 1 WHERE state = 'leased'";
            tokio::task::block_in_place(|| client.execute(expire, &[]).unwrap());
            tokio::task::block_in_place(|| drop(client));
        }
    }
}

fn calling(id: &str, below: impl serde::Serialize) -> Value {
    json!({ "id": id, "processId": below, "inputs": { "x": "{x}" }, "output": { "variable": id } })
}

both! {
    async fn what_is_under_way_ends_and_what_comes_next_waits_until_it_goes_on(world: &EngineFixture) {
        let (rogue, answer) = waiting();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let now = step("now", tool, json!({ "value": "Oslo" }));
        let after = step("after", world.tool("Echo").await, json!({ "value": "{step.now.celsius} degrees" }));
        let id = world.process(process("forecast", vec![now, after], "{{after.value}}")).await;
        let run = world.run(id, json!({ "x": 1 })).await;
        asked(&rogue, 1).await;

        let paused = world.set_paused(run, true).await.row;
        assert_eq!((paused.status, paused.paused_at.is_some()), (ExecutionStatus::Running, true));
        assert_eq!(world.set_paused(run, true).await.row, paused, "twice is once");
        answer.send(seven()).unwrap();
        let shown = world.until(run, |shown| shown.steps[0].row.state.phase == Phase::Done).await;
        assert_eq!((shown.steps[1].row.state.phase, shown.calls.len()), (Phase::Calling, 1), "its result is kept, and decides");
        world.begins_nothing(run).await;
        assert_eq!(world.engine.run(&world.caller, run).await.unwrap().calls.len(), 1);

        assert_eq!(world.set_paused(run, false).await.row.paused_at, None);
        let shown = world.ended(run).await;
        assert_eq!((shown.row.output, rogue.requests().len()), (Some(json!("7 degrees")), 1), "{:?}", shown.row.failure);
        let mut told = world.told(run).await;
        told.sort();
        assert_eq!(told, ["execution.continued", "execution.paused"]);
    }

    async fn what_it_started_is_paused_and_goes_on_with_it_and_what_it_starts_meanwhile_begins_paused(world: &EngineFixture) {
        let ((rogue, answer), echo) = (waiting(), world.tool("Echo").await);
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let inner = vec![step("now", tool, json!({ "value": "Oslo" })), step("said", echo, json!({ "value": "{x}" }))];
        let inner = world.process(process("inner", inner, "{{said.value}}")).await;
        let quiet = world.process(process("quiet", vec![step("said", echo, json!({ "value": "{x}" }))], "{{said.value}}")).await;
        let middle = world.process(process("middle", vec![calling("deep", inner), calling("next", quiet)], "{{deep}} {{next}}")).await;
        let outer = world.process(process("outer", vec![calling("sub", middle)], "{{sub}}")).await;
        let run = world.run(outer, json!({ "x": "hi" })).await;
        asked(&rogue, 1).await;

        let paused = world.set_paused(run, true).await;
        let deep = paused.children[0].children[0].row.clone();
        assert!(paused.children[0].row.paused_at.is_some() && deep.paused_at.is_some(), "at any depth");
        answer.send(seven()).unwrap();
        let said = |shown: &ShownExecution| shown.children[0].children[0].steps[1].row.state.phase == Phase::Calling;
        world.until(run, said).await;
        world.begins_nothing(deep.id).await;

        // The innermost alone goes on and ends: the run above it, still paused, starts the next one.
        world.set_paused(deep.id, false).await;
        let shown = world.until(run, |shown| shown.children[0].children.len() == 2).await;
        let [ended, begun] = &shown.children[0].children[..] else { panic!("two: {shown:?}") };
        assert_eq!((ended.row.status, ended.row.paused_at), (ExecutionStatus::Completed, None));
        assert!(begun.row.paused_at.is_some() && begun.calls.is_empty(), "{:?}", begun.row);
        world.begins_nothing(begun.row.id).await;
        world.set_paused(run, false).await;
        let shown = world.ended(run).await;
        assert_eq!((shown.row.output, rogue.requests().len()), (Some(json!("hi hi")), 1), "{:?}", shown.row.failure);
    }

    async fn a_repeat_that_is_due_later_is_still_due_then(world: &EngineFixture) {
        let (rogue, answer) = waiting();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let mut now = step("now", tool, json!({ "value": "Oslo" }));
        now["retry"] = json!({ "maxRetries": 1, "backoff": "fixed", "backoffMs": 60_000 });
        let id = world.process(process("patient", vec![now], "{{now.celsius}}")).await;
        let run = world.run(id, json!({ "x": 1 })).await;
        asked(&rogue, 1).await;
        // It fails while it is paused.
        world.set_paused(run, true).await;
        drop(answer);
        world.until(run, |shown| shown.steps[0].row.state.attempt == 2).await;
        world.begins_nothing(run).await;
        world.set_paused(run, false).await;
        let due = &world.jobs(run).await[0];
        let ended = world.engine.run(&world.caller, run).await.unwrap().calls[0].result.as_ref().unwrap().at;
        assert_eq!((due.state, due.run_at), (JobState::Delayed, ended.plus(60_000)), "a minute after it failed");
        // One that is put off already keeps its moment, too.
        world.set_paused(run, true).await;
        assert!(world.jobs(run).await[0].run_at.0 > NEVER);
        world.set_paused(run, false).await;
        assert_eq!(world.jobs(run).await[0], *due);
        world.engine.cancel_run(&world.caller, fresh(&world.caller), run).await.unwrap();
    }

    async fn a_call_whose_worker_vanished_is_made_again_only_when_it_goes_on(world: &EngineFixture) {
        let (rogue, answer) = waiting();
        let tool = world.rest_tool(&world.caller, &rogue).await;
        let id = world.process(process("lost", vec![step("now", tool, json!({ "value": "Oslo" }))], "{{now.celsius}}")).await;
        let run = world.run(id, json!({ "x": 1 })).await;
        asked(&rogue, 1).await;
        world.set_paused(run, true).await;
        let under_way = world.jobs(run).await.remove(0);
        assert_eq!(under_way.state, JobState::Leased, "a pause takes nothing from whoever is at it");
        world.workers_vanish().await;
        let parked = loop {
            let job = world.jobs(run).await.remove(0);
            if job.state == JobState::Delayed {
                break job;
            }
            skein_testkit::wait::moment().await;
        };
        assert_eq!((parked.attempts, parked.lost), (under_way.attempts, 1), "looking at it is no attempt");
        world.begins_nothing(run).await;
        assert_eq!(rogue.requests().len(), 1);
        world.set_paused(run, false).await;
        asked(&rogue, 2).await;
        for _ in 0..2 {
            answer.send(seven()).unwrap();
        }
        let shown = world.ended(run).await;
        assert_eq!((shown.row.output, shown.calls.len()), (Some(json!("7")), 1), "{:?}", shown.row.failure);
    }

    async fn people_decide_while_it_is_paused_and_what_they_let_through_waits(world: &EngineFixture) {
        let mut manual = step("told", world.tool("Echo").await, json!({ "value": "{x}" }));
        manual["execution"] = json!({ "interactionMode": "manual" });
        let id = world.process(process("asks", vec![manual], "{{told.value}}")).await;
        let run = world.run(id, json!({ "x": "hello" })).await;
        let review = world.review().await;
        world.set_paused(run, true).await;
        world.decide(&review, Decision::Approve { inputs: None, scope: None }).await;
        world.begins_nothing(run).await;
        world.set_paused(run, false).await;
        assert_eq!(world.ended(run).await.row.output, Some(json!("hello")));
    }

    async fn z14_the_time_it_is_paused_is_not_the_models_holds(world: &EngineFixture) {
        let waited = |shown: &ShownExecution| shown.steps[1].row.state.dialogue.as_ref().unwrap().waited_ms;
        let rogue = tool_runs::model(false);
        let process = tool_runs::process(world, &rogue, "always", 4).await;
        let (conversation, _) = world.talk("What shall we eat?").await;
        let (_, run) = world.answer(conversation, process).await;
        let review = world.review().await;
        world.set_paused(run, true).await;
        world.decide(&review, Decision::Approve { inputs: None, scope: None }).await;
        let by_people = waited(&world.engine.run(&world.caller, run).await.unwrap());
        skein_testkit::wait::moment().await;
        let went_on = world.set_paused(run, false).await;
        assert!(waited(&went_on) > by_people, "{} after {by_people}", waited(&went_on));
        assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
    }

    async fn a_paused_run_is_cancelled_with_all_that_waits(world: &EngineFixture) {
        let mut manual = step("told", world.tool("Echo").await, json!({ "value": "{x}" }));
        manual["execution"] = json!({ "interactionMode": "manual" });
        let inner = world.process(process("asks", vec![manual], "{{told.value}}")).await;
        let outer = world.process(process("outer", vec![calling("sub", inner)], "{{sub}}")).await;
        let run = world.run(outer, json!({ "x": "hello" })).await;
        let review = world.review().await;
        world.set_paused(run, true).await;
        world.decide(&review, Decision::Approve { inputs: None, scope: None }).await;
        world.begins_nothing(review.row.run).await;
        let cancelled = world.engine.cancel_run(&world.caller, fresh(&world.caller), run).await.unwrap().value;
        let rows = [&cancelled.row, &cancelled.children[0].row];
        assert_eq!(rows.map(|row| (row.status, row.paused_at)), [(ExecutionStatus::Cancelled, None); 2]);
        assert_eq!(world.jobs(review.row.run).await, []);
    }

    async fn an_answer_in_a_conversation_is_paused_and_comes_out_whole(world: &EngineFixture) {
        let (conversation, _) = world.talk("How many herons?").await;
        let mut manual = step("told", world.tool("Echo").await, json!({ "value": "eleven" }));
        manual["execution"] = json!({ "interactionMode": "manual" });
        let mut definition = process("answers", vec![manual], "{{told.value}}");
        definition.as_object_mut().unwrap().remove("initialContext");
        let id = world.process(definition).await;
        let (node, run) = world.answer(conversation, id).await;
        let review = world.review().await;
        world.set_paused(run, true).await;
        world.decide(&review, Decision::Approve { inputs: None, scope: None }).await;
        world.begins_nothing(run).await;
        world.set_paused(run, false).await;
        world.ended(run).await;
        assert_eq!(world.said(node).await, "eleven");
    }

    async fn runs_that_are_paused_again_and_again_while_they_go_come_to_the_same(world: &EngineFixture) {
        let echo = world.tool("Echo").await;
        let said = |at: usize| step(&format!("s{at}"), echo, json!({ "value": format!("{{x}}{at}") }));
        let plain = world.process(process("plain", (0..6).map(said).collect(), "{{s5.value}}")).await;
        let nested = world.process(process("nested", vec![calling("a", plain), calling("b", plain)], "{{b}}")).await;
        let toggled = async |id| {
            let run = world.run(id, json!({ "x": "heron" })).await;
            for is_paused in [true, false].repeat(8) {
                // It refuses once it has ended.
                let _ = world.engine.pause_run(&world.caller, fresh(&world.caller), run, is_paused).await;
                skein_testkit::wait::moment().await;
            }
            world.ended(run).await
        };
        for shown in futures::future::join_all([plain, plain, plain, plain, nested, nested].map(toggled)).await {
            assert_eq!(shown.row.output, Some(json!("heron5")), "{:?}", shown.row.failure);
            for run in std::iter::once(&shown).chain(&shown.children) {
                let calls = if run.children.is_empty() { 6 } else { 0 };
                assert_eq!((run.calls.len(), run.row.paused_at), (calls, None), "each is made once");
                assert_eq!(world.jobs(run.row.id).await, []);
            }
        }
    }

    async fn br_exec_001_pausing_what_has_ended_refuses(world: &EngineFixture) {
        let echo = world.tool("Echo").await;
        let id = world.process(process("short", vec![step("a", echo, json!({ "value": "{x}" }))], "{{a.value}}")).await;
        let run = world.run(id, json!({ "x": 1 })).await;
        world.ended(run).await;
        for paused in [true, false] {
            let refused = world.engine.pause_run(&world.caller, fresh(&world.caller), run, paused).await.unwrap_err();
            assert!(refused.to_string().contains("BR-EXEC-001"), "{refused}");
            assert!(refused.to_string().contains("resume or branch it"), "{refused}");
        }
        let bert = world.other("bert").await;
        let unseen = world.engine.pause_run(&bert, fresh(&bert), run, true).await.unwrap_err();
        assert!(matches!(unseen, EngineError::Store(StoreError::NotFound(_))), "{unseen:?}");
        assert_eq!(world.told(run).await, [""; 0]);
    }
}
