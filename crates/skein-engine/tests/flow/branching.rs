//! Beginning again where a run stopped: what is kept of it, what is not, and where its answer goes.

use serde_json::{Map, Value, json};
use skein_core::flow::execution::review::{ApprovalScope, Decision};
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::tree::node::{Source, SourceRole};
use skein_core::tree::node_status::GenerationStatus;
use skein_core::{ExecutionId, NodeId, Viewer};
use skein_engine::flow::Branching;
use skein_engine::{EngineError, flow};
use skein_store::flow::ExecutionFilter;

use crate::engine_fixture::{EngineFixture, both, broken_rule, fresh, process, step};

impl EngineFixture {
    async fn branch(&self, run: ExecutionId, branching: Branching) -> Result<ExecutionId, EngineError> {
        Ok(self.engine.branch_run(&self.caller, fresh(&self.caller), run, branching).await?.value)
    }
}

impl EngineFixture {
    /// What fed a node beside its parent.
    async fn sources(&self, node: NodeId) -> Vec<(NodeId, SourceRole)> {
        let viewer = Viewer::User(self.caller.user);
        let fed = self.store.read(move |tx| tx.path_feeds(&viewer, node, 1, 10)).await.unwrap();
        fed.into_iter().map(|(_, source, role)| (source, role)).collect()
    }
}

/// A run of two steps whose second is asked about.
async fn denied(world: &EngineFixture) -> ExecutionId {
    let echo = world.tool("Echo").await;
    let ask = json!({ "id": "ask", "ask": { "prompt": "{step.first.value}?" }, "output": { "variable": "ask" } });
    let steps = vec![step("first", echo, json!({ "value": "{x}" })), ask];
    let id = world.process(process("asks", steps, "{{first.value}} {{ask}}")).await;
    let run = world.run(id, json!({ "x": "one" })).await;
    world.decide(&world.review().await, Decision::Deny { reason: None }).await;
    assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Failed);
    run
}

fn with(outputs: &[(&str, Value)], step: Option<&str>) -> Branching {
    let outputs = outputs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Map<_, _>>();
    Branching { step: step.map(str::to_owned), outputs, context: None }
}

fn refusal(outcome: Result<ExecutionId, EngineError>) -> String {
    outcome.unwrap_err().to_string()
}

both! {
    async fn what_a_kept_step_gave_may_be_changed_and_is_what_follows_builds_upon(world: &EngineFixture) {
        let run = denied(world).await;
        let again = world.branch(run, with(&[("first", json!({ "value": "two" }))], None)).await.unwrap();
        let asked = world.review().await;
        world.decide(&asked, Decision::Answer { value: json!("three") }).await;
        assert_eq!(world.ended(again).await.row.output, Some(json!("two three")));
    }

    async fn values_for_what_no_step_gives_or_gives_anew_or_that_do_not_fit_are_refused(world: &EngineFixture) {
        let run = denied(world).await;
        let value = || json!({ "value": "two" });
        let unknown = refusal(world.branch(run, with(&[("frist", value())], None)).await);
        assert!(unknown.contains("no step gives \"frist\""), "{unknown}");
        let anew = refusal(world.branch(run, with(&[("first", value())], Some("first"))).await);
        assert!(anew.contains("\"first\" is given anew"), "{anew}");
        let unfit = refusal(world.branch(run, with(&[("first", json!("two"))], None)).await);
        assert!(unfit.contains("outputSchema"), "{unfit}");
        let runs = world.engine.runs(&world.caller, ExecutionFilter::default(), None, 10).await.unwrap().rows;
        assert_eq!(runs.len(), 1, "nothing was begun");
    }

    async fn br_step_004_an_answer_put_in_place_of_a_persons_fits_what_was_asked_refuses(world: &EngineFixture) {
        let echo = world.tool("Echo").await;
        let ask = json!({ "id": "ask", "ask": { "prompt": "who?", "schema": { "type": "string" } },
            "output": { "variable": "ask" } });
        let steps = vec![ask, step("last", echo, json!({ "value": "{step.ask}" }))];
        let id = world.process(process("names", steps, "{{last.value}}")).await;
        let run = world.run(id, json!({ "x": 1 })).await;
        world.decide(&world.review().await, Decision::Answer { value: json!("Hugin") }).await;
        world.ended(run).await;
        for (output, reason) in [(json!(null), "BR-STEP-004"), (json!(""), "BR-STEP-004"), (json!(17), "BR-STEP-006")] {
            let refused = world.branch(run, with(&[("ask", output.clone())], Some("last"))).await.unwrap_err();
            assert_eq!(broken_rule(&refused), Some(reason), "{output}: {refused}");
        }
        let again = world.branch(run, with(&[("ask", json!("Munin"))], Some("last"))).await.unwrap();
        assert_eq!(world.ended(again).await.row.output, Some(json!("Munin")));
    }

    async fn what_was_approved_for_a_run_counts_for_that_run_alone(world: &EngineFixture) {
        let echo = world.tool("Echo").await;
        let manual = |id: &str| {
            let mut step = step(id, echo, json!({ "value": id }));
            step["execution"] = json!({ "interactionMode": "manual" });
            step
        };
        let ask = json!({ "id": "ask", "ask": { "prompt": "on?" }, "output": { "variable": "ask" } });
        let id = world.process(process("approved", vec![manual("first"), ask, manual("last")], "{{ask}}")).await;
        let run = world.run(id, json!({ "x": 1 })).await;
        let all = Decision::Approve { inputs: None, scope: Some(ApprovalScope::Run) };
        world.decide(&world.review().await, all).await;
        world.decide(&world.review().await, Decision::Deny { reason: None }).await;
        world.ended(run).await;
        let again = world.branch(run, Branching::default()).await.unwrap();
        world.decide(&world.review().await, Decision::Answer { value: json!("on") }).await;
        assert_eq!(world.review().await.step_id, "last", "the call is asked about again");
        let shown = world.engine.run(&world.caller, again).await.unwrap();
        assert!(shown.calls.is_empty(), "{:?}", shown.calls);
    }

    async fn an_answer_that_is_gone_on_with_stands_beside_the_one_that_failed(world: &EngineFixture) {
        let echo = world.tool("Echo").await;
        let ask = json!({ "id": "ask", "ask": { "prompt": "how?" }, "output": { "variable": "ask" } });
        let steps = vec![step("first", echo, json!({ "value": "Herons" })), ask];
        let mut definition = process("halves", steps, "{{first.value}} {{ask}}");
        definition["initialContext"] = json!([]);
        let id = world.process(definition).await;
        let (conversation, _) = world.talk("What stands there?").await;
        let (failed, run) = world.answer(conversation, id).await;
        world.decide(&world.review().await, Decision::Deny { reason: None }).await;
        world.ended(run).await;

        let again = world.branch(run, Branching::default()).await.unwrap();
        world.decide(&world.review().await, Decision::Answer { value: json!("stand still.") }).await;
        let shown = world.ended(again).await;
        assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
        let made = shown.row.target.unwrap().node_id;
        assert_eq!(world.said(made).await, "Herons stand still.");
        let row = |node| async move { world.engine.node(&world.caller, node).await.unwrap().seen.row };
        let (made, failed) = (row(made).await, row(failed).await);
        assert_eq!((failed.status, failed.turn(), failed.parent), (GenerationStatus::Failed, made.turn(), made.parent));
        assert_eq!(made.executed_by, failed.executed_by);
        let shown = world.engine.conversation(&world.caller, conversation).await.unwrap();
        assert_eq!(shown.cursor, Some(made.id), "its owner stands there");
    }

    async fn an_answer_that_is_begun_again_keeps_its_sources(world: &EngineFixture) {
        let ask = json!({ "id": "ask", "ask": { "prompt": "how?" }, "output": { "variable": "ask" } });
        let mut definition = process("asks", vec![ask], "{{ask}}");
        definition["initialContext"] = json!([]);
        let id = world.process(definition).await;
        let (conversation, first) = world.talk("What stands there?").await;
        let second = world.say(conversation, Some(first), "And there?").await;
        let sources = vec![Source { node_id: first, role: SourceRole::Context }];
        let new = flow::NewAnswers {
            wanted: flow::AnswerTarget::After { turn: None, parent: Some(second), sources },
            processes: vec![id],
            samples: 1,
            make_active: true,
            remember_process: true,
            context: Map::new(),
        };
        let begun = world.engine.answer(&world.caller, fresh(&world.caller), conversation, new).await.unwrap().value;
        let (failed, run) = (begun.begun[0].0.node.seen.row.id, begun.begun[0].1);
        world.decide(&world.review().await, Decision::Deny { reason: None }).await;
        world.ended(run).await;
        let again = world.branch(run, Branching::default()).await.unwrap();
        world.decide(&world.review().await, Decision::Answer { value: json!("Still.") }).await;
        let made = world.ended(again).await.row.target.unwrap().node_id;
        for node in [failed, made] {
            assert_eq!(world.sources(node).await, [(first, SourceRole::Context)]);
        }
    }

    async fn an_answer_is_made_again_with_what_it_was_given_after_its_rows_were_forgotten(world: &EngineFixture) {
        let said = step("said", world.tool("Echo").await, json!({ "value": "{tone}" }));
        let mut definition = process("toned", vec![said], "{{said.value}}");
        definition["initialContext"] = json!(["tone"]);
        let id = world.process(definition).await;
        let (conversation, _) = world.talk("Say something.").await;
        let mut new = flow::NewAnswers {
            wanted: flow::AnswerTarget::After { turn: None, parent: None, sources: Vec::new() },
            processes: vec![id],
            samples: 1,
            make_active: true, remember_process: true,
            context: Map::from_iter([("tone".to_owned(), json!("softly"))]),
        };
        let answer = |new: flow::NewAnswers| async {
            let begun = world.engine.answer(&world.caller, fresh(&world.caller), conversation, new).await.unwrap().value;
            world.ended(begun.begun[0].1).await;
            begun.begun[0].0.node.seen.row.clone()
        };
        let first = answer(new.clone()).await;
        world.store.write(|tx| tx.sweep_executions(&Viewer::System("test"), 0)).await.unwrap();
        new.wanted = flow::AnswerTarget::Again { turn: first.turn().unwrap(), node: first.id, parent: None };
        (new.processes, new.context) = (Vec::new(), Map::new());
        let again = answer(new).await;
        assert_eq!(world.said(again.id).await, "softly");
    }
}
