//! Redaction: the content leaves the rows of executions, and executions that use it end.

use serde_json::json;
use skein_core::flow::execution::review::Decision;
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::garden::item::ItemType;
use skein_core::{ExecutionId, ItemId, NodeId, OperationId};
use skein_engine::flow::{ExecutionRequest, StreamEvent};

use crate::engine_fixture::{EngineFixture, both, fresh, process, step};

/// Said nowhere else.
const WORD: &str = "xyzzyheron";

impl EngineFixture {
    /// Everything that the rows of a run tell, its facts left out.
    async fn rows_of(&self, run: ExecutionId) -> String {
        let shown = self.engine.run(&self.caller, run).await.unwrap();
        let rows = std::iter::once(&shown).chain(&shown.children);
        let rows: Vec<String> = rows.map(|run| format!("{:?} {:?} {:?}", run.row, run.steps, run.reviews)).collect();
        let mut told = rows.concat();
        if let Some(operation) = shown.row.operation {
            told += &self.operation_of(operation).await;
        }
        let mut listening = self.engine.listen(&self.caller, run, 0).await.unwrap();
        while let StreamEvent::Piece(piece) = listening.next().await.unwrap() {
            told += &piece.text;
        }
        told
    }

    async fn operation_of(&self, operation: OperationId) -> String {
        format!("{:?}", self.engine.operation(&self.caller, operation).await.unwrap())
    }

    async fn redact(&self, item: ItemId) {
        let reason = "said by mistake".to_owned();
        self.engine.redact_item(&self.caller, fresh(&self.caller), item, reason).await.unwrap();
    }

    /// A run of a process that is asked about, and gives the word as its output.
    async fn asked_run(&self, x: &str) -> ExecutionId {
        static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut manual = step("told", self.tool("Echo").await, json!({ "value": "{x}" }));
        manual["execution"] = json!({ "interactionMode": "manual" });
        let id = self.process(process(&format!("asks {number}"), vec![manual], "{{told.value}}")).await;
        let run = self.run(id, json!({ "x": x })).await;
        self.decide(&self.review().await, Decision::Approve { inputs: None, scope: None }).await;
        assert_eq!(self.ended(run).await.row.status, ExecutionStatus::Completed);
        run
    }
}

fn item(node: NodeId) -> ItemId {
    ItemId::from_bytes(*node.as_bytes())
}

both! {
    async fn what_a_run_was_given_and_gave_is_gone_with_any_fact_of_it(world: &EngineFixture) {
        let kept = world.asked_run("a stork").await;
        let of_begin = world.asked_run(WORD).await;
        let of_result = world.asked_run(WORD).await;
        let call = world.engine.run(&world.caller, of_result).await.unwrap().calls.remove(0);
        for run in [of_begin, of_result] {
            assert!(world.rows_of(run).await.contains(WORD));
        }
        world.redact(ItemId::from_bytes(*of_begin.as_bytes())).await;
        assert!(world.rows_of(of_result).await.contains(WORD), "it is another run");
        world.redact(call.result.unwrap().id).await;
        for run in [of_begin, of_result] {
            let rows = world.rows_of(run).await;
            assert!(!rows.contains(WORD), "{rows}");
            let shown = world.engine.run(&world.caller, run).await.unwrap();
            assert_eq!((shown.row.status, shown.row.output), (ExecutionStatus::Completed, None), "how it went stays");
        }
        assert!(world.rows_of(kept).await.contains("a stork"));
    }

    async fn what_was_said_in_a_conversation_is_gone_from_every_run_that_was_told_it(world: &EngineFixture) {
        let (conversation, said) = world.talk(&format!("The {WORD} stands in the reeds. Where does it stand?")).await;
        let chat = world.process_named("Chat").await;
        let (_, answered) = world.answer(conversation, chat).await;
        world.ended(answered).await;
        let (elsewhere, _) = world.talk("Who stands in the reeds?").await;
        let memory = world.process_named("Chat with memory").await;
        let (_, reminded) = world.answer(elsewhere, memory).await;
        world.ended(reminded).await;
        let (apart, _) = world.talk("How many storks are there?").await;
        let (_, unconcerned) = world.answer(apart, chat).await;
        world.ended(unconcerned).await;
        let before = world.rows_of(unconcerned).await;
        for run in [answered, reminded] {
            assert!(world.rows_of(run).await.contains(WORD), "it was told");
        }
        world.redact(item(said)).await;
        for run in [answered, reminded] {
            let rows = world.rows_of(run).await;
            assert!(!rows.contains(WORD), "{rows}");
        }
        assert_eq!(world.rows_of(unconcerned).await, before);
        let told = format!("The {WORD} stands in the reeds. Where does it stand?");
        let facts = [ItemType::EXECUTION_BEGUN, ItemType::TOOL_CALL, ItemType::TOOL_RESULT, ItemType::EXECUTION_ENDED];
        for item_type in facts {
            let kept = world.facts(&world.caller, item_type.clone()).await;
            let kept: Vec<String> = kept.iter().map(ToString::to_string).collect();
            assert!(!kept.iter().any(|fact| fact.contains(&told)), "{item_type}: {kept:?}");
            assert!(kept.iter().any(|fact| fact.contains("storks")) || item_type != ItemType::TOOL_CALL, "others stay");
        }
    }

    async fn short_words_go_from_the_facts_of_their_own_conversation_only(world: &EngineFixture) {
        let chat = world.process_named("Chat").await;
        let (conversation, said) = world.talk("q7z").await;
        let (_, answered) = world.answer(conversation, chat).await;
        world.ended(answered).await;
        let (apart, _) = world.talk("q7z").await;
        let (_, elsewhere) = world.answer(apart, chat).await;
        world.ended(elsewhere).await;
        let quoting = async || {
            let calls = world.facts(&world.caller, ItemType::TOOL_CALL).await;
            calls.iter().filter(|call| call.to_string().contains("q7z")).count()
        };
        let before = quoting().await;
        assert!(before >= 2, "both models were told");
        world.redact(item(said)).await;
        let after = quoting().await;
        assert!(after >= 1 && after < before, "{before} {after}");
    }

    async fn a_run_that_is_under_way_with_what_is_destroyed_is_cancelled(world: &EngineFixture) {
        let ask = json!({ "id": "a", "ask": { "prompt": "Is it {x}?" }, "output": { "variable": "a" } });
        let id = world.process(process("asks", vec![ask], "{{a}}")).await;
        let new = ExecutionRequest { context: json!({ "x": WORD }).as_object().unwrap().clone(), priority: 0 };
        let begun = world.engine.execute(&world.caller, fresh(&world.caller), id, new).await.unwrap();
        let review = world.review().await;
        world.redact(ItemId::from_bytes(*review.row.id.as_bytes())).await;
        let shown = world.ended(begun.value).await;
        assert_eq!(shown.row.status, ExecutionStatus::Cancelled);
        let rows = world.rows_of(begun.value).await;
        assert!(!rows.contains(WORD), "{rows}");
        assert!(world.engine.reviews(&world.caller, true, None, 10).await.unwrap().rows.is_empty());
    }
}
