//! Conversations in which people and a model talk.

use serde_json::{Value, json};
use skein_core::catalog::entry::Entry as _;
use skein_core::garden::project::Project;
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::conversation::Conversation;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, Digest, NodeId, PathId, RecordId};
use skein_store::Tx;
use skein_store::tree::append::{NodeBody, NodePlacement, NodePosition, RawResponseSource, ReceivedResponse};

use crate::engine_fixture::{EngineFixture, fresh};

/// A model that talks, and the hash it is changed on.
pub(crate) struct Model {
    pub(crate) id: RecordId,
    hash: Digest,
}

impl EngineFixture {
    pub(crate) async fn conversation(&self, title: &str) -> ConversationId {
        let viewer = self.caller.viewer();
        let project = Project::create(serde_json::from_value(json!({ "name": title })).unwrap()).to_content(false);
        let draft: Value = json!({ "title": title });
        let make = move |tx: &mut Tx<'_>| {
            let project = tx.create_of_tree(&viewer, project.clone())?.id;
            let draft = serde_json::from_value(draft.clone()).unwrap();
            let content = Conversation::create(draft, None).to_content(false);
            let record = tx.create_conversation(&viewer, content, project, ActorId::from(viewer.owner()))?;
            Ok(ConversationId::from_bytes(*record.id.as_bytes()))
        };
        self.store.write(make).await.unwrap().value
    }

    pub(crate) async fn model(&self, name: &str) -> Model {
        let draft = json!({ "name": name, "type": "model", "modelRef": "openai:gpt" });
        let draft = serde_json::from_value(draft).unwrap();
        let made = self.engine.create_actor(&self.caller, fresh(&self.caller), draft).await.unwrap().value;
        Model { id: made.id, hash: made.hash }
    }

    pub(crate) async fn rename(&self, model: &mut Model, name: &str) {
        let change = serde_json::from_value(json!({ "name": name })).unwrap();
        let request = fresh(&self.caller);
        let changed = self.engine.change_actor(&self.caller, request, model.id, change, model.hash).await.unwrap();
        model.hash = changed.value.hash;
    }

    /// Says something after a node, or first of all; by a model, or by whoever asks.
    pub(crate) async fn say(
        &self,
        conversation: ConversationId,
        parent: Option<NodeId>,
        text: &str,
        by: Option<&Model>,
    ) -> NodeId {
        let speaker = if by.is_some() { Speaker::Agent } else { Speaker::User };
        let position = NodePosition::After { parent, speaker, turn_type: TurnType::Message };
        self.say_at(conversation, position, text, by).await
    }

    pub(crate) async fn say_at(
        &self,
        conversation: ConversationId,
        position: NodePosition,
        text: &str,
        by: Option<&Model>,
    ) -> NodeId {
        let viewer = self.caller.viewer();
        let (author, author_type, raw) = match by {
            None => (ActorId::from(viewer.owner()), AuthorType::Human, None),
            Some(model) => {
                let raw = ReceivedResponse { headers: json!({}), body: b"{}".to_vec() };
                (ActorId::from(model.id), AuthorType::Model, Some(RawResponseSource::New(raw)))
            }
        };
        let leads = Some(PathId::main_of(conversation));
        let placing = NodePlacement {
            conversation,
            position,
            author,
            author_type,
            sources: Vec::new(),
            executed_by: None,
            leads,
        };
        let said = NodeBody { content: json!({ "type": "text", "text": text }), created_at: None, raw };
        self.store.write(move |tx| tx.append_node(&viewer, &placing, &said)).await.unwrap().value.0.id
    }
}
