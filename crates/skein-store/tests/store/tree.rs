//! Conversations: places, selections and what is refused, on both databases.

use serde_json::{Value, json};
use skein_core::catalog::sharing::SharingRefusal;
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::node::{ExecutedBy, NodeMarked, Source, SourceRole, TreeSummary};
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, NodeId, PathId, RecordId, Viewer};
use skein_store::StoreError;
use skein_store::tree::append::{NodeBody, NodePlacement, NodePosition, RawResponseSource, ReceivedResponse};
use skein_store::tree::{NodeRow, PathChange};

use crate::fixtures::{World, both, content, rule_of};

pub(crate) fn conversation(world: &World, mode: &str) -> ConversationId {
    let data = json!({ "title": "t", "mode": mode, "kind": "main", "status": "active" });
    conversation_of(world, &world.anna, data)
}

/// A conversation in a project of its own.
pub(crate) fn conversation_of(world: &World, viewer: &Viewer, data: Value) -> ConversationId {
    let viewer = viewer.clone();
    world.write(move |tx| {
        let project = tx.create_of_tree(&viewer, content("Project", json!({ "name": "p", "isDefault": false })))?;
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

pub(crate) fn placing(world: &World, conversation: ConversationId, position: NodePosition) -> NodePlacement {
    NodePlacement {
        conversation,
        position,
        author: ActorId::from_bytes(*world.anna.owner().as_bytes()),
        author_type: AuthorType::Human,
        sources: Vec::new(),
        executed_by: None,
        leads: Some(PathId::main_of(conversation)),
    }
}

pub(crate) fn said(text: &str) -> NodeBody {
    NodeBody { content: json!({ "type": "text", "text": text }), created_at: None, raw: None }
}

pub(crate) fn after(parent: Option<NodeId>, speaker: Speaker) -> NodePosition {
    NodePosition::After { parent, speaker, turn_type: TurnType::Message }
}

/// Says something and says what came of it.
pub(crate) fn try_say(
    world: &World,
    conversation: ConversationId,
    position: NodePosition,
    text: &str,
) -> Result<(NodeRow, PathChange), StoreError> {
    let (viewer, placing, said) = (world.anna.clone(), placing(world, conversation, position), said(text));
    world.clock.advance(1);
    world.try_write(move |tx| tx.append_node(&viewer, &placing, &said))
}

pub(crate) fn say(world: &World, conversation: ConversationId, position: NodePosition, text: &str) -> NodeRow {
    try_say(world, conversation, position, text).unwrap().0
}

/// What [`lived`] made.
pub(crate) struct Lived {
    pub(crate) dialogue: ConversationId,
    pub(crate) buffer: ConversationId,
    pub(crate) fork: ConversationId,
    pub(crate) root: NodeId,
    pub(crate) last: NodeId,
}

/// Conversations of Anna's in which everything happens that can, so that every table of the tree has rows.
pub(crate) fn lived(world: &World) -> Lived {
    let dialogue = conversation(world, "dialogue");
    let root = say(world, dialogue, after(None, Speaker::User), "what is a skein?");
    let answers = ["yarn", "geese"].map(|text| say(world, dialogue, after(Some(root.id), Speaker::Agent), text).id);
    let joined = Source { node_id: answers[1], role: SourceRole::Context };
    let other = ActorId::from_bytes([5; 16]);
    let placed = placing(world, dialogue, after(Some(answers[0]), Speaker::User));
    let (path, main) = (PathId::of(dialogue, other.as_bytes()), PathId::main_of(dialogue));
    let (viewer, both) = (world.anna.clone(), NodePlacement { sources: vec![joined], ..placed });
    let executed_by = Some(ExecutedBy { process_id: RecordId::from_bytes([6; 16]), version: 3 });
    let by_model = NodePlacement {
        author: other,
        author_type: AuthorType::Model,
        leads: Some(path),
        executed_by,
        ..placing(world, dialogue, after(Some(answers[1]), Speaker::Agent))
    };
    let raw = ReceivedResponse { headers: json!({ "model": "m" }), body: b"{\"text\":\"generated\"}".to_vec() };
    let generated = NodeBody { raw: Some(RawResponseSource::New(raw)), ..said("generated") };
    world.clock.advance(1);
    let last = world.write(move |tx| {
        let last = tx.append_node(&viewer, &both, &said("both?"))?.0.id;
        let reserved = [tx.reserve_node(&viewer, &by_model)?.0.id, tx.reserve_node(&viewer, &by_model)?.0.id];
        tx.reserve_node(&viewer, &by_model)?;
        tx.complete_node(&viewer, reserved[0], &generated)?;
        tx.fail_node(&viewer, reserved[1], "no answer")?;
        tx.move_path(&viewer, main, ActorId::from(viewer.owner()), answers[1])?;
        tx.move_path(&viewer, main, ActorId::from(viewer.owner()), last)?;
        let marks = NodeMarked {
            bookmarked: Some(true),
            label: Some("here".to_owned()),
            pruned: Some(true),
            excluded: Some(true),
            tagged: vec!["Ä".to_owned(), "b".to_owned()],
            ..marked(last)
        };
        tx.mark_node(&viewer, &marks)?;
        for node_id in [None, Some(last)] {
            let (text, model) = ("about yarn".to_owned(), "m".to_owned());
            tx.summarise(&viewer, &TreeSummary { conversation_id: dialogue, node_id, text, model, nodes: 4 })?;
        }
        Ok(last)
    });
    say(world, dialogue, NodePosition::EditOf(root.id), "what is a loom?");
    say(world, dialogue, NodePosition::About(vec![root.id, last]), "remember this");
    let buffer = conversation(world, "buffer");
    let first = say(world, buffer, after(None, Speaker::User), "Once upon a time").id;
    let second = say(world, buffer, after(Some(first), Speaker::Agent), "there was a loom").id;
    say(world, buffer, NodePosition::EditOf(first), "Long ago");
    say(world, buffer, after(Some(second), Speaker::User), "and a weaver");
    let origin = json!({ "conversationId": dialogue, "turnId": root.turn().unwrap(), "nodeId": root.id });
    let data = json!({ "mode": "dialogue", "kind": "fork", "status": "active", "forkedFrom": origin });
    let fork = conversation_of(world, &world.anna, data);
    say(world, fork, after(None, Speaker::User), "elsewhere");
    Lived { dialogue, buffer, fork, root: root.id, last }
}

/// What an attempt was refused with: a rule, or that there is no such thing.
pub(crate) fn refusal<T: std::fmt::Debug>(attempt: Result<T, StoreError>) -> String {
    match attempt {
        Err(StoreError::Rule(violation) | StoreError::Refused(SharingRefusal::Conflict(violation))) => {
            violation.rule().to_owned()
        }
        Err(StoreError::NotFound(_)) => "NotFound".to_owned(),
        other => panic!("expected a refusal, got {other:?}"),
    }
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
        let (edited, moved) = try_say(world, conversation, NodePosition::EditOf(root.id), "what is a loom?").unwrap();
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
