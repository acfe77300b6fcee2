//! Conversations for tests that are about something else than how these are written.

use serde_json::{Value, json};
use skein_core::catalog::entry::Entry as _;
use skein_core::garden::project::Project;
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::conversation::Conversation;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, NodeId, PathId, RecordId, Viewer};
use skein_store::Tx;
use skein_store::tree::append::{NodeBody, NodePlacement, NodePosition, RawResponseSource, ReceivedResponse};

use crate::server_fixture::ServerFixture;

/// A conversation of `viewer` in a project of theirs, made for it.
pub(crate) async fn conversation(world: &ServerFixture, viewer: &Viewer, title: &str) -> ConversationId {
    let name = format!("project of {title}");
    let project = make_project(world, viewer, &name).await;
    conversation_in(world, viewer, project, title).await
}

pub(crate) async fn make_project(world: &ServerFixture, viewer: &Viewer, name: &str) -> RecordId {
    let (viewer, draft) = (viewer.clone(), serde_json::from_value(json!({ "name": name })).unwrap());
    let content = Project::create(draft).to_content(false);
    world.store.write(move |tx| tx.create_of_tree(&viewer, content.clone())).await.unwrap().value.id
}

pub(crate) async fn conversation_in(
    world: &ServerFixture,
    viewer: &Viewer,
    project: RecordId,
    title: &str,
) -> ConversationId {
    world.clock.advance(1);
    let (viewer, draft) = (viewer.clone(), serde_json::from_value(json!({ "title": title })).unwrap());
    let content = Conversation::create(draft, None).to_content(false);
    let make = move |tx: &mut Tx<'_>| {
        let record = tx.create_conversation(&viewer, content.clone(), project, ActorId::from(viewer.owner()))?;
        Ok(ConversationId::from_bytes(*record.id.as_bytes()))
    };
    world.store.write(make).await.unwrap().value
}

/// Who says something: the viewer, or a model whose raw answer is kept with it.
pub(crate) enum By {
    Viewer,
    Model(ActorId),
}

/// Says something at a place.
pub(crate) async fn say_at(
    world: &ServerFixture,
    viewer: &Viewer,
    (conversation, position): (ConversationId, NodePosition),
    content: Value,
    by: By,
) -> NodeId {
    world.clock.advance(1);
    let viewer = viewer.clone();
    let (author, author_type, raw) = match by {
        By::Viewer => (ActorId::from(viewer.owner()), AuthorType::Human, None),
        By::Model(actor) => {
            let raw = ReceivedResponse { headers: json!({ "x-request-id": "r1" }), body: b"{\"id\":1}".to_vec() };
            (actor, AuthorType::Model, Some(RawResponseSource::New(raw)))
        }
    };
    let leads = Some(PathId::main_of(conversation));
    let placing =
        NodePlacement { conversation, position, author, author_type, sources: Vec::new(), executed_by: None, leads };
    let said = NodeBody { content, created_at: None, raw };
    world.store.write(move |tx| tx.append_node(&viewer, &placing, &said)).await.unwrap().value.0.id
}

/// Says something after a node, or first of all.
pub(crate) async fn say(
    world: &ServerFixture,
    viewer: &Viewer,
    conversation: ConversationId,
    parent: Option<NodeId>,
    text: &str,
) -> NodeId {
    let position = NodePosition::After { parent, speaker: Speaker::User, turn_type: TurnType::Message };
    let content = json!({ "type": "text", "text": text });
    say_at(world, viewer, (conversation, position), content, By::Viewer).await
}
