//! Answers in conversations: what made them, what is remembered of it, and that nothing is answered by halves or unasked.

use serde_json::{Value, json};
use skein_core::flow::execution::review::Decision;
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::tree::node_status::{CacheStatus, GenerationStatus};
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, ExecutionId, NodeId, RecordId, TurnId};
use skein_engine::EngineError;
use skein_engine::flow::{AnswerTarget, Answering, NewAnswers};
use skein_engine::tree::{NewAlternative, NewTurn};
use skein_store::flow::ExecutionFilter;
use skein_store::tree::NodeRow;

use crate::engine_fixture::{EngineFixture, both, fresh, process, step};

impl EngineFixture {
    async fn row(&self, node: NodeId) -> NodeRow {
        self.engine.node(&self.caller, node).await.unwrap().seen.row
    }

    async fn turn_of(&self, node: NodeId) -> TurnId {
        self.row(node).await.turn().unwrap()
    }

    async fn hint(&self, conversation: ConversationId) -> Option<RecordId> {
        self.engine.conversation(&self.caller, conversation).await.unwrap().shown.entry.process_id
    }

    async fn answers(
        &self,
        conversation: ConversationId,
        wanted: AnswerTarget,
        processes: &[RecordId],
    ) -> Result<Answering, EngineError> {
        let context = serde_json::Map::new();
        let new = NewAnswers {
            wanted,
            processes: processes.to_vec(),
            samples: 1,
            make_active: true,
            remember_process: true,
            context,
        };
        self.engine.answer(&self.caller, fresh(&self.caller), conversation, new).await.map(|begun| begun.value)
    }

    /// One answer, once it is there.
    async fn one(&self, conversation: ConversationId, wanted: AnswerTarget, processes: &[RecordId]) -> NodeRow {
        let begun = self.answers(conversation, wanted, processes).await.unwrap();
        let [(grown, run)] = &begun.begun[..] else { panic!("one answer: {begun:?}") };
        let shown = self.ended(*run).await;
        assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
        self.row(grown.node.seen.row.id).await
    }

    /// Another wording of what was said, turned to at once.
    async fn reword(&self, conversation: ConversationId, said: NodeId, text: &str) -> NodeId {
        let turn = self.turn_of(said).await;
        let content = Some(json!({ "type": "text", "text": text }));
        let new = NewAlternative { content, edited_from: None, parent: None, make_active: true, process: None };
        let added = self.engine.add_alternative(&self.caller, fresh(&self.caller), conversation, turn, new);
        added.await.unwrap().value.node.seen.row.id
    }

    async fn switch(&self, process: RecordId, enabled: bool) {
        let hash = self.engine.process(&self.caller, process, None).await.unwrap().hash;
        let change = serde_json::from_value(json!({ "enabled": enabled })).unwrap();
        self.engine.change_process(&self.caller, fresh(&self.caller), process, change, hash).await.unwrap();
    }

    async fn runs_begun(&self) -> usize {
        self.engine.runs(&self.caller, ExecutionFilter::default(), None, 100).await.unwrap().rows.len()
    }

    /// A process that says the same whatever it is asked.
    async fn parrot(&self, word: &str) -> RecordId {
        let echo = self.tool("Echo").await;
        let mut definition = process(word, vec![step("said", echo, json!({ "value": word }))], "{{said.value}}");
        definition["initialContext"] = json!([]);
        self.process(definition).await
    }
}

fn after() -> AnswerTarget {
    AnswerTarget::After { turn: None, parent: None, sources: Vec::new() }
}

fn rule(refused: Result<impl std::fmt::Debug, EngineError>) -> String {
    let refused = format!("{:?}", refused.unwrap_err());
    let at = refused.find("BR-").unwrap_or_else(|| panic!("no rule in {refused}"));
    refused[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
}

/// Two steps, of which the second is asked about.
async fn asking(world: &EngineFixture) -> RecordId {
    let echo = world.tool("Echo").await;
    let first = step("first", echo, json!({ "value": "half an answer" }));
    let mut second = step("second", echo, json!({ "value": "{step.first.value}, and the other half" }));
    second["execution"] = json!({ "interactionMode": "manual" });
    let mut definition = process("halves", vec![first, second], "{{second.value}}");
    definition["initialContext"] = json!([]);
    world.process(definition).await
}

/// The texts of a conversation's path, those that are there.
async fn said(world: &EngineFixture, conversation: ConversationId) -> Vec<Value> {
    let path = world.engine.path(&world.caller, conversation, None, 100).await.unwrap().rows;
    path.into_iter().filter_map(|node| node.seen.content).map(|content| content["text"].clone()).collect()
}

async fn begun(world: &EngineFixture, conversation: ConversationId, process: RecordId) -> (NodeId, ExecutionId) {
    let answering = world.answers(conversation, after(), &[process]).await.unwrap();
    (answering.begun[0].0.node.seen.row.id, answering.begun[0].1)
}

both! {
    async fn br_exec_001_the_whole_result_is_committed_at_once_holds(world: &EngineFixture) {
        let (conversation, _) = world.talk("Tell me both.").await;
        let (node, run) = begun(world, conversation, asking(world).await).await;
        let review = world.review().await;
        assert_eq!(world.row(node).await.status, GenerationStatus::Pending, "its first step has come out");
        assert_eq!(said(world, conversation).await, ["Tell me both."]);
        world.decide(&review, Decision::Approve { inputs: None, scope: None }).await;
        assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
        assert_eq!(said(world, conversation).await, ["Tell me both.", "half an answer, and the other half"]);
        let row = world.row(node).await;
        assert_eq!((row.status, row.content.is_some()), (GenerationStatus::Complete, true));
    }

    async fn br_exec_001_a_run_that_fails_or_is_cancelled_refuses_to_leave_a_part(world: &EngineFixture) {
        let (conversation, asked) = world.talk("Tell me both.").await;
        let process = asking(world).await;
        let (denied, first) = begun(world, conversation, process).await;
        world.decide(&world.review().await, Decision::Deny { reason: None }).await;
        let failed = world.ended(first).await;
        let turn = world.turn_of(denied).await;
        let second = world.answers(conversation, AnswerTarget::Again { turn, node: denied, parent: None }, &[]).await.unwrap();
        let (cancelled, second) = (second.begun[0].0.node.seen.row.id, second.begun[0].1);
        world.review().await;
        world.engine.cancel_run(&world.caller, fresh(&world.caller), second).await.unwrap();
        let taken_back = world.ended(second).await;
        for (node, run) in [(denied, &failed), (cancelled, &taken_back)] {
            let node = world.engine.node(&world.caller, node).await.unwrap();
            assert_eq!((node.seen.row.status, node.seen.content), (GenerationStatus::Failed, None));
            assert_eq!(run.calls.len(), 1, "what was done stays on record: {run:?}");
            assert_eq!(run.calls[0].result.as_ref().unwrap().said["output"]["value"], "half an answer");
        }
        assert_eq!((failed.row.status, taken_back.row.status), (ExecutionStatus::Failed, ExecutionStatus::Cancelled));
        assert_eq!(said(world, conversation).await, ["Tell me both."]);
        let reply = NewTurn {
            parent: Some(denied),
            parent_turn: None,
            speaker: Speaker::User,
            turn_type: None,
            content: json!({ "type": "text", "text": "Go on." }),
            sources: Vec::new(),
            make_active: true, process: None,
        };
        let refused = world.engine.append_turn(&world.caller, fresh(&world.caller), conversation, reply).await;
        assert!(refused.is_err(), "nobody answers half an answer");
        assert_eq!(world.row(asked).await.status, GenerationStatus::Complete);
    }

    async fn br_exec_001_an_output_that_says_nothing_refuses(world: &EngineFixture) {
        let (conversation, _) = world.talk("Say nothing.").await;
        let echo = world.tool("Echo").await;
        let mut definition = process("mute", vec![step("said", echo, json!({ "value": "word" }))], "{{#if said.other}}x{{/if}}");
        definition["initialContext"] = json!([]);
        let (node, run) = begun(world, conversation, world.process(definition).await).await;
        let shown = world.ended(run).await;
        assert_eq!((shown.row.status, shown.row.output), (ExecutionStatus::Failed, None));
        assert_eq!(world.row(node).await.status, GenerationStatus::Failed);
    }

    async fn br_conv_001a_an_agent_turn_is_remembered_as_what_was_wanted_last_holds(world: &EngineFixture) {
        let (conversation, _) = world.talk("Say something.").await;
        let (heron, stork) = (world.parrot("heron").await, world.parrot("stork").await);
        assert_eq!(world.hint(conversation).await, None);
        let first = world.one(conversation, after(), &[heron]).await;
        assert_eq!(world.hint(conversation).await, Some(heron));
        let turn = first.turn().unwrap();
        let second = world.one(conversation, AnswerTarget::Beside { turn, parent: None }, &[stork]).await;
        let made_by = |row: NodeRow| row.executed_by.unwrap().process_id;
        assert_eq!((made_by(world.row(first.id).await), made_by(second)), (heron, stork), "each keeps its own");
        world.one(conversation, after(), &[stork]).await;
        assert_eq!(world.hint(conversation).await, Some(stork), "a further turn was asked of another");
    }

    async fn br_conv_001a_alternatives_and_several_answers_at_once_refuse_to_change_the_hint(world: &EngineFixture) {
        let (conversation, _) = world.talk("Say something.").await;
        let (heron, stork) = (world.parrot("heron").await, world.parrot("stork").await);
        let turn = world.one(conversation, after(), &[heron]).await.turn().unwrap();
        world.one(conversation, AnswerTarget::Beside { turn, parent: None }, &[stork]).await;
        assert_eq!(world.hint(conversation).await, Some(heron), "a further alternative");
        world.answers(conversation, after(), &[heron, stork]).await.unwrap();
        assert_eq!(world.hint(conversation).await, Some(heron), "two to choose from");
    }

    async fn br_conv_001a_an_answer_that_is_not_begun_or_made_again_refuses_to_change_the_hint(world: &EngineFixture) {
        let (conversation, _) = world.talk("Say something.").await;
        let (heron, stork) = (world.parrot("heron").await, world.parrot("stork").await);
        let first = world.one(conversation, after(), &[heron]).await;
        world.switch(stork, false).await;
        let turn = first.turn().unwrap();
        let refused = world.answers(conversation, AnswerTarget::Beside { turn, parent: None }, &[heron, stork]).await;
        assert_eq!(rule(refused), "BR-CROSS-001");
        assert_eq!(world.hint(conversation).await, Some(heron));
        world.switch(stork, true).await;
        world.one(conversation, AnswerTarget::Beside { turn, parent: None }, &[stork]).await;
        world.one(conversation, AnswerTarget::Again { turn, node: first.id, parent: None }, &[]).await;
        assert_eq!(world.hint(conversation).await, Some(heron), "nobody chose a process");
    }

    async fn br_conv_001b_what_is_made_again_is_made_by_what_made_it_holds(world: &EngineFixture) {
        let (conversation, _) = world.talk("Say something.").await;
        let (heron, stork) = (world.parrot("heron").await, world.parrot("stork").await);
        let first = world.one(conversation, after(), &[heron]).await;
        let turn = first.turn().unwrap();
        world.one(conversation, after(), &[stork]).await;
        assert_eq!(world.hint(conversation).await, Some(stork));
        let shown = world.engine.process(&world.caller, heron, None).await.unwrap();
        let change = serde_json::from_value(json!({ "outputTemplate": "a {{said.value}}" })).unwrap();
        let changed = world.engine.change_process(&world.caller, fresh(&world.caller), heron, change, shown.hash);
        let changed = changed.await.unwrap().value;
        let again = world.one(conversation, AnswerTarget::Again { turn, node: first.id, parent: None }, &[]).await;
        assert_eq!(world.said(again.id).await, "a heron", "by its latest version");
        assert_eq!(again.executed_by.map(|by| (by.process_id, by.version)), Some((heron, changed.version)));
        assert_eq!(world.row(first.id).await.executed_by, first.executed_by);
    }

    async fn br_conv_001b_a_process_that_is_disabled_or_put_away_refuses_though_another_is_hinted(world: &EngineFixture) {
        let (conversation, _) = world.talk("Say something.").await;
        let (heron, stork) = (world.parrot("heron").await, world.parrot("stork").await);
        let first = world.one(conversation, after(), &[heron]).await;
        let turn = first.turn().unwrap();
        world.one(conversation, after(), &[stork]).await;
        let begun = world.runs_begun().await;
        world.switch(heron, false).await;
        let again = || AnswerTarget::Again { turn, node: first.id, parent: None };
        assert_eq!(rule(world.answers(conversation, again(), &[]).await), "BR-CROSS-001");
        world.engine.delete_process(&world.caller, fresh(&world.caller), heron).await.unwrap();
        assert_eq!(rule(world.answers(conversation, again(), &[]).await), "BR-CROSS-001");
        // Nothing is answered by the hint: an agent's turn names its process.
        assert_eq!(rule(world.answers(conversation, after(), &[]).await), "BR-TURN-010");
        assert_eq!(world.runs_begun().await, begun);
    }

    async fn br_turn_007_each_alternative_records_for_good_what_made_it_holds(world: &EngineFixture) {
        let (conversation, asked) = world.talk("Say something.").await;
        let heron = world.parrot("heron").await;
        let version = world.engine.process(&world.caller, heron, None).await.unwrap().version;
        let answer = world.one(conversation, after(), &[heron]).await;
        assert_eq!(world.row(asked).await.executed_by, None, "people are nobody's process");
        let made_by = answer.executed_by.unwrap();
        assert_eq!((made_by.process_id, made_by.version), (heron, version));
        world.switch(heron, false).await;
        world.engine.delete_process(&world.caller, fresh(&world.caller), heron).await.unwrap_err();
        let other = world.parrot("stork").await;
        world.one(conversation, after(), &[other]).await;
        world.engine.delete_process(&world.caller, fresh(&world.caller), heron).await.unwrap();
        assert_eq!(world.row(answer.id).await.executed_by, Some(made_by), "also when it was put away");
        let then = world.engine.process(&world.caller, heron, Some(version)).await.unwrap();
        assert!(then.entry.enabled, "what made it can still be read as it was");
    }

    async fn br_turn_007_what_people_say_in_the_name_of_a_process_refuses(world: &EngineFixture) {
        let (conversation, asked) = world.talk("Say something.").await;
        let heron = world.parrot("heron").await;
        let content = json!({ "type": "text", "text": "heron" });
        for speaker in [Speaker::User, Speaker::Agent] {
            let posed = NewTurn {
                parent: Some(asked),
                parent_turn: None,
                speaker,
                turn_type: None,
                content: content.clone(),
                sources: Vec::new(),
                make_active: true, process: Some(heron),
            };
            let refused = world.engine.append_turn(&world.caller, fresh(&world.caller), conversation, posed).await;
            assert_eq!(rule(refused), "BR-TURN-010");
        }
        // An edit of what an agent said is a person's, and says so.
        let answer = world.one(conversation, after(), &[heron]).await;
        let edit = NewAlternative { content: Some(content), edited_from: Some(answer.id), parent: None, make_active: true, process: None };
        let turn = answer.turn().unwrap();
        let edited = world.engine.add_alternative(&world.caller, fresh(&world.caller), conversation, turn, edit);
        let edited = edited.await.unwrap().value.node.seen.row;
        assert_eq!((edited.executed_by, edited.edited_from), (None, Some(answer.id)));
    }

    async fn br_turn_013_another_process_a_regeneration_and_another_parent_each_make_an_alternative_holds(world: &EngineFixture) {
        let (conversation, asked) = world.talk("Say something.").await;
        let (heron, stork) = (world.parrot("heron").await, world.parrot("stork").await);
        let first = world.one(conversation, after(), &[heron]).await;
        let turn = first.turn().unwrap();
        let other = world.one(conversation, AnswerTarget::Beside { turn, parent: None }, &[stork]).await;
        let again = world.one(conversation, AnswerTarget::Again { turn, node: first.id, parent: None }, &[]).await;
        let reworded = world.reword(conversation, asked, "Say something else.").await;
        let elsewhere = world.one(conversation, AnswerTarget::Again { turn, node: first.id, parent: None }, &[]).await;
        let alternatives = [&first, &other, &again, &elsewhere];
        assert!(alternatives.iter().all(|made| made.turn() == Some(turn)), "{alternatives:?}");
        assert_eq!(alternatives.map(|made| made.parent), [Some(asked), Some(asked), Some(asked), Some(reworded)]);
        let made_by = alternatives.map(|made| made.executed_by.unwrap().process_id);
        assert_eq!(made_by, [heron, stork, heron, heron]);
        let times = alternatives.map(|made| made.created_at);
        assert!(times.is_sorted(), "{times:?}");
    }

    async fn br_turn_013_what_no_process_made_or_could_refuses(world: &EngineFixture) {
        let (conversation, asked) = world.talk("Say something.").await;
        let (elsewhere, foreign) = world.talk("Say something else.").await;
        let heron = world.parrot("heron").await;
        let answer = world.one(conversation, after(), &[heron]).await;
        let (user_turn, turn) = (world.turn_of(asked).await, answer.turn().unwrap());
        let begun = world.runs_begun().await;
        let again = world.answers(conversation, AnswerTarget::Again { turn: user_turn, node: asked, parent: None }, &[]).await;
        assert_eq!(rule(again), "BR-TURN-013");
        let beside = world.answers(conversation, AnswerTarget::Beside { turn: user_turn, parent: None }, &[heron]).await;
        assert_eq!(rule(beside), "BR-TURN-010");
        let unrelated = AnswerTarget::Beside { turn, parent: Some(foreign) };
        assert!(world.answers(conversation, unrelated, &[heron]).await.is_err(), "what it answers is of the turn before");
        assert!(world.answers(elsewhere, AnswerTarget::Again { turn, node: answer.id, parent: None }, &[]).await.is_err());
        let many = NewAnswers { wanted: after(), processes: vec![heron], samples: 17, make_active: true, remember_process: true, context: serde_json::Map::new() };
        assert_eq!(rule(world.engine.answer(&world.caller, fresh(&world.caller), conversation, many).await), "BR-TURN-013");
        assert_eq!(world.runs_begun().await, begun, "nothing was begun");
    }

    async fn br_alt_004_a_stale_answer_is_made_again_when_somebody_asks_holds(world: &EngineFixture) {
        let (conversation, asked) = world.talk("Say something.").await;
        let heron = world.parrot("heron").await;
        let stale = world.one(conversation, after(), &[heron]).await;
        let reworded = world.reword(conversation, asked, "Say something else.").await;
        let again = world.one(conversation, AnswerTarget::Again { turn: stale.turn().unwrap(), node: stale.id, parent: None }, &[]).await;
        assert_eq!(again.parent, Some(reworded));
        let cache = async |node| world.engine.node(&world.caller, node).await.unwrap().cache;
        assert_eq!((cache(stale.id).await, cache(again.id).await), (CacheStatus::Stale, CacheStatus::Valid));
    }

    async fn br_alt_004_turning_to_something_else_refuses_to_answer_by_itself(world: &EngineFixture) {
        let (conversation, asked) = world.talk("Say something.").await;
        let heron = world.parrot("heron").await;
        let answer = world.one(conversation, after(), &[heron]).await;
        let begun = world.runs_begun().await;
        let cache = async || world.engine.node(&world.caller, answer.id).await.unwrap().cache;
        let reworded = world.reword(conversation, asked, "Say something else.").await;
        assert_eq!(cache().await, CacheStatus::Stale);
        let turn = world.turn_of(asked).await;
        for (node, expected) in [(asked, CacheStatus::Valid), (reworded, CacheStatus::Stale)] {
            world.engine.activate(&world.caller, fresh(&world.caller), conversation, turn, node).await.unwrap();
            assert_eq!(cache().await, expected);
        }
        assert_eq!(world.runs_begun().await, begun, "nothing was begun");
        let shown = world.engine.turn(&world.caller, conversation, answer.turn().unwrap(), None, 10).await.unwrap();
        assert_eq!(shown.alternatives.rows.len(), 1);
    }
}
