//! Authors of generated nodes: the model that gave exactly this text, else the process; whatever anybody is named.

use serde_json::{Value, json};
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::garden::relation::{Endpoint, RelationKind};
use skein_core::tree::actor::{Actor, ActorId, AuthorType};
use skein_core::tree::verify::Verdict;
use skein_core::{ConversationId, ItemId, NodeId, RecordId, Viewer};
use skein_engine::tree::{FrameMove, VerificationScope};
use skein_store::timeline::relations::RelationSide;
use skein_store::tree::NodeRow;
use skein_testkit::hostile_server::HostileServer;

use crate::engine_fixture::{EngineFixture, both, fresh, process, step};
use crate::tool_runs::{model, model_tool};

impl EngineFixture {
    /// The answer of a process whose one step asks a model, and its conversation.
    async fn answered_as(&self, rogue: &HostileServer, template: &str) -> (ConversationId, NodeRow) {
        let asks =
            step("answer", model_tool(self, rogue).await, json!({ "messages": [{ "role": "user", "content": "?" }] }));
        self.answered_by(process("Zoo", vec![asks], template)).await
    }

    async fn answered_by(&self, mut definition: Value) -> (ConversationId, NodeRow) {
        definition["initialContext"] = json!([]);
        let process = self.process(definition).await;
        let (conversation, _) = self.talk("What is it?").await;
        let (node, run) = self.answer(conversation, process).await;
        let shown = self.ended(run).await;
        assert_eq!(shown.row.status, ExecutionStatus::Completed, "{:?}", shown.row.failure);
        (conversation, self.engine.node(&self.caller, node).await.unwrap().seen.row)
    }

    async fn verified(&self, conversation: ConversationId) -> Verdict {
        self.engine.verify_tree(&self.caller, VerificationScope::Tree(conversation)).await.unwrap().verdict
    }

    async fn actor_of(&self, author: ActorId) -> Actor {
        let id = RecordId::from_bytes(*author.as_bytes());
        self.engine.actor(&self.caller, id).await.unwrap().entry
    }

    async fn create(&self, actor: Value) -> ActorId {
        let draft = serde_json::from_value(actor).unwrap();
        self.engine.create_actor(&self.caller, fresh(&self.caller), draft).await.unwrap().value.id.into()
    }

    /// The items a node is derived from.
    async fn derived_from(&self, node: NodeId) -> Vec<ItemId> {
        let viewer = Viewer::User(self.caller.user);
        let (of, kind) = (Endpoint::Item(node.into()), Some(RelationKind::DerivedFrom));
        let cited =
            self.store.read(move |tx| tx.relations(&viewer, of, RelationSide::Outgoing, kind, None, 10)).await.unwrap();
        let item = |end| if let Endpoint::Item(item) = end { Some(item) } else { None };
        cited.rows.into_iter().filter_map(|relation| item(relation.target)).collect()
    }
}

both! {
    async fn ag_hash_002_the_output_of_one_model_is_its_own_and_verifies_holds(world: &EngineFixture) {
        let (conversation, row) = world.answered_as(&model(false), " {{answer.text}}\n").await;
        let actor = world.actor_of(row.author).await;
        assert_eq!((row.author_type, actor.model_ref.unwrap().as_str()), (AuthorType::Model, "modelserver:m"));
        assert!(row.raw_response.is_some());
        assert_eq!(world.said(row.id).await, "No tools.", "white space of the template is not part of it");
        assert_eq!(world.verified(conversation).await, Verdict::Valid);
    }

    async fn ag_hash_005_a_template_is_its_process_s_own_and_verifies_holds(world: &EngineFixture) {
        for template in ["It says: {{answer.text}}", "{{answer.text}} {{answer.text}}"] {
            let (conversation, row) = world.answered_as(&model(false), template).await;
            let actor = world.actor_of(row.author).await;
            assert_eq!((row.author_type, actor.process_id), (AuthorType::System, row.executed_by.map(|by| by.process_id)));
            assert_eq!(row.raw_response, None, "{template}");
            assert_eq!(world.derived_from(row.id).await.len(), 1, "the response it rests on is reachable");
            assert_eq!(world.verified(conversation).await, Verdict::Valid, "{template}");
        }
    }

    async fn ag_hash_005_an_answer_rests_on_the_responses_of_nested_executions_holds(world: &EngineFixture) {
        let rogue = model(false);
        let asks = step("asked", model_tool(world, &rogue).await, json!({ "messages": [{ "role": "user", "content": "?" }] }));
        let mut inner = process("Inner", vec![asks], "{{asked.text}}");
        inner["initialContext"] = json!([]);
        let inner = world.process(inner).await;
        let nested = json!({ "id": "nested", "processId": inner, "inputs": {}, "output": { "variable": "nested" } });
        let (_, row) = world.answered_by(process("Outer", vec![nested], "{{nested}}")).await;
        assert_eq!((row.author_type, row.raw_response), (AuthorType::System, None));
        assert_eq!(world.derived_from(row.id).await.len(), 1, "the inner execution ended in the same transaction");
    }

    async fn ag_node_003_a_person_named_like_the_model_is_not_its_author_refuses(world: &EngineFixture) {
        let person = world.create(json!({ "name": "m", "type": "human" })).await;
        let (_, row) = world.answered_as(&model(false), "{{answer.text}}").await;
        assert_ne!(row.author, person);
        assert_eq!(row.author_type, AuthorType::from(world.actor_of(row.author).await.actor_type));
        assert_eq!(row.author_type, AuthorType::Model);
    }

    async fn ag_node_003_an_actor_is_found_by_provider_and_model_holds(world: &EngineFixture) {
        let mine = world.create(json!({ "name": "Hugin", "type": "model", "modelRef": "modelserver:m" })).await;
        let (_, row) = world.answered_as(&model(false), "{{answer.text}}").await;
        assert_eq!(row.author, mine);
        let other = world.create(json!({ "name": "m", "type": "model", "modelRef": "elsewhere:m" })).await;
        assert_ne!(row.author, other);
    }

    async fn mg_frame_002_the_frame_of_a_model_follows_its_answers_holds(world: &EngineFixture) {
        let rogue = model(false);
        let asks =
            step("answer", model_tool(world, &rogue).await, json!({ "messages": [{ "role": "user", "content": "?" }] }));
        let mut definition = process("Zoo", vec![asks], "{{answer.text}}");
        definition["initialContext"] = json!([]);
        let process = world.process(definition).await;
        let mut led = None;
        for is_led in [false, false, true] {
            let (conversation, asked) = world.talk("What is it?").await;
            let project = world.engine.conversation(&world.caller, conversation).await.unwrap().row.project.unwrap();
            if let (true, Some(participant)) = (is_led, led) {
                let turning = FrameMove { participant, conversation, node: Some(asked) };
                world.engine.turn_frame(&world.caller, fresh(&world.caller), project, turning).await.unwrap();
            }
            let (node, run) = world.answer(conversation, process).await;
            assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
            let author = world.engine.node(&world.caller, node).await.unwrap().seen.row.author;
            let frames = world.engine.frames(&world.caller, project).await.unwrap();
            let frame = frames.iter().find(|frame| frame.participant == author).unwrap();
            assert_eq!((frame.conversation, frame.head), (conversation, Some(node)), "{is_led}");
            led = Some(author);
        }
    }

    async fn ag_node_003_a_tool_that_asks_no_model_is_no_author_refuses(world: &EngineFixture) {
        let echo = step("said", world.tool("Echo").await, json!({ "value": "quack" }));
        let (conversation, row) = world.answered_by(process("Parrot", vec![echo], "{{said.value}}")).await;
        assert_eq!((row.author_type, row.raw_response), (AuthorType::System, None));
        assert_eq!(world.verified(conversation).await, Verdict::Valid);
    }
}
