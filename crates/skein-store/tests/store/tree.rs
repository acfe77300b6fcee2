//! Conversations: places, selections and what is refused, on both databases.

use serde_json::{Value, json};
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::node::NodeMarked;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, NodeId, PathId, Viewer};
use skein_store::StoreError;
use skein_store::tree::append::{Placing, Position, Said};
use skein_store::tree::{Moved, NodeRow};

use crate::world::{World, both, content, rule_of};

pub(crate) fn conversation(world: &World, mode: &str) -> ConversationId {
    let data = json!({ "title": "t", "mode": mode, "kind": "main", "status": "active" });
    conversation_of(world, &world.anna, data)
}

/// A conversation in a project of its own.
pub(crate) fn conversation_of(world: &World, viewer: &Viewer, data: Value) -> ConversationId {
    let viewer = viewer.clone();
    world.write(move |tx| {
        let project = tx.create_record(&viewer, content("Workspace", json!({ "name": "p" })), None)?;
        let actor = ActorId::from(viewer.owner());
        let record = tx.create_conversation(&viewer, content("Conversation", data.clone()), project.id, actor)?;
        Ok(ConversationId::from_bytes(*record.id.as_bytes()))
    })
}

/// Nothing noted beside a node yet.
pub(crate) fn marked(node_id: NodeId) -> NodeMarked {
    let (tagged, untagged) = (Vec::new(), Vec::new());
    NodeMarked { node_id, bookmarked: None, label: None, pruned: None, excluded: None, tagged, untagged }
}

pub(crate) fn placing(world: &World, conversation: ConversationId, position: Position) -> Placing {
    Placing {
        conversation,
        position,
        author: ActorId::from_bytes(*world.anna.owner().as_bytes()),
        author_type: AuthorType::Human,
        sources: Vec::new(),
        executed_by: None,
        leads: Some(PathId::main_of(conversation)),
    }
}

pub(crate) fn said(text: &str) -> Said {
    Said { content: json!({ "type": "text", "text": text }), created_at: None, raw: None }
}

pub(crate) fn after(parent: Option<NodeId>, speaker: Speaker) -> Position {
    Position::After { parent, speaker, turn_type: TurnType::Message }
}

/// Says something and says what came of it.
pub(crate) fn try_say(
    world: &World,
    conversation: ConversationId,
    position: Position,
    text: &str,
) -> Result<(NodeRow, Moved), StoreError> {
    let (viewer, placing, said) = (world.anna.clone(), placing(world, conversation, position), said(text));
    world.clock.advance(1);
    world.try_write(move |tx| tx.append_node(&viewer, &placing, &said))
}

pub(crate) fn say(world: &World, conversation: ConversationId, position: Position, text: &str) -> NodeRow {
    try_say(world, conversation, position, text).unwrap().0
}

fn text_of(content: Option<&Value>) -> &str {
    content.and_then(|content| content.get("text")).and_then(Value::as_str).unwrap_or("")
}

both! {
    fn br_alt_002_an_edit_above_leaves_what_was_below_and_comes_back_to_it_holds(world: &World) {
        let conversation = conversation(world, "dialogue");
        let path = PathId::main_of(conversation);
        let root = say(world, conversation, after(None, Speaker::User), "what is a skein?");
        let answer = say(world, conversation, after(Some(root.id), Speaker::Agent), "a length of yarn");
        let more = say(world, conversation, after(Some(answer.id), Speaker::User), "and geese?");
        let (edited, moved) = try_say(world, conversation, Position::EditOf(root.id), "what is a loom?").unwrap();
        assert_eq!(moved.turns, [root.turn().unwrap()]);
        let viewer = world.anna.clone();
        let (stale, window) = world.read(move |tx| {
            let stale = tx.seen_node(&viewer, path, answer.id)?;
            Ok((stale, tx.path_to(&viewer, path, edited.id, 10)?))
        });
        assert!(stale.is_selected && !stale.answers_selected);
        assert_eq!(window.len(), 1);
        assert_eq!(text_of(window[0].content.as_ref()), "what is a loom?");
        let (viewer, actor) = (world.anna.clone(), ActorId::from_bytes(*world.anna.owner().as_bytes()));
        let (_, moved) = world.write(move |tx| tx.move_path(&viewer, path, actor, more.id));
        assert_eq!(moved.turns, [root.turn().unwrap()]);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn br_turn_003_a_second_first_turn_and_a_parent_elsewhere_refuses(world: &World) {
        let [one, other] = [conversation(world, "dialogue"), conversation(world, "dialogue")];
        let root = say(world, one, after(None, Speaker::User), "hello");
        assert_eq!(rule_of(try_say(world, one, after(None, Speaker::User), "again")), "BR-TURN-003");
        assert_eq!(rule_of(try_say(world, other, after(Some(root.id), Speaker::User), "lost")), "AG-EDGE-003");
    }
}
