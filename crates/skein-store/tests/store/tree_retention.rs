//! Tests what stays of conversations through redaction, bundles, backups and hostile bundles.

use serde_json::{Value, json};
use skein_core::garden::item::{Item, ItemDraft, ItemType};
use skein_core::tree::actor::ActorId;
use skein_core::tree::node::{FrameMoved, NodeMarked, PathMoved, TreePayload, TreeSummary};
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, ItemId, NodeId, PathId, RecordId, UserId, Viewer};
use skein_store::backup::{backup, restore};
use skein_store::blobs::Blobs;
use skein_store::bundle::{Authority, BadBundle, ConversationSelection, ExportScope, export_only};
use skein_store::timeline::items::ItemQuery;
use skein_store::tree::append::NodePosition;
use skein_store::tree::read::SeenNode;
use skein_store::tree::skeleton::SkeletonNode;
use skein_store::verify::{VerifyOptions, verify};
use skein_store::{Location, Store, StoreError, StoreOptions};
use skein_testkit::postgres::{Cluster, Database};

use crate::bundle::{count, cut, export_all, go_on, kept, try_import};
use crate::bundle_refusals::{Forged, made_up, refusal as refused_bundle};
use crate::fixtures::{World, both, content, object, user};
use crate::tree::{Lived, after, conversation, lived, marked, refusal, say};

/// Everything that is shown of some conversations.
type Shown = Vec<(Vec<SkeletonNode>, Vec<SeenNode>)>;

fn shown(store: &Store, owner: UserId, trees: [ConversationId; 3]) -> Shown {
    let read = |id: ConversationId| {
        let (viewer, path) = (Viewer::User(owner), PathId::main_of(id));
        store.read_blocking(move |tx| {
            let bones = tx.skeleton(&viewer, path, id)?;
            let seen: Result<Vec<_>, _> = bones.iter().map(|bone| tx.seen_node(&viewer, path, bone.id)).collect();
            Ok((bones, seen?))
        })
    };
    trees.into_iter().map(|id| read(id).unwrap()).collect()
}

fn trees(lived: &Lived) -> [ConversationId; 3] {
    [lived.dialogue, lived.buffer, lived.fork]
}

/// Items of a type, oldest first, as they are.
pub(crate) fn items(world: &World, item_type: ItemType) -> Vec<Item> {
    let query = ItemQuery { item_type: Some(item_type), limit: 1_000, ..ItemQuery::default() };
    let viewer = world.anna.clone();
    world.read(move |tx| tx.items(&viewer, &query)).rows.into_iter().map(|stored| stored.item).collect()
}

/// An item like another, with its document altered.
fn forged(like: &Item, id: ItemId, edit: impl FnOnce(&mut Value)) -> Item {
    let mut document = Value::Object(like.document().unwrap());
    edit(&mut document);
    let draft = ItemDraft::recorded(like.header.item_type.clone(), &object(document));
    draft.realize(id, like.header.owner, like.header.realized_at)
}

/// A bundle of Anna's with one item more is refused as a whole, whoever brings it and whoever lives there.
fn refuses(world: &World, bundle: &[u8], item: &Item, what: &str) {
    let forged = Forged::of(bundle).and(item).zip();
    for authority in [Authority::Installation, Authority::Owner(world.anna.clone())] {
        let found = refused_bundle(world, &forged, &authority);
        let is_named =
            matches!(&found, StoreError::Bundle(BadBundle::Item { item: named, .. }) if *named == item.header.id);
        assert!(is_named, "{what}: {found:?}");
    }
    let elsewhere = World::sqlite();
    elsewhere.clock.advance(60_000);
    refused_bundle(&elsewhere, &forged, &Authority::Installation);
}

/// A conversation of Anna's as Skein itself makes them.
fn whole(world: &World, kind: &str, origin: Value) -> ConversationId {
    let viewer = world.anna.clone();
    world.clock.advance(1);
    let (kind, origin) = (kind.to_owned(), origin);
    world.write(move |tx| {
        let project = tx.create_of_tree(&viewer, content("Project", json!({ "name": "p", "isDefault": false })))?;
        let mut data =
            json!({ "mode": "dialogue", "kind": kind, "status": "active", "projectId": project.id, "tags": [] });
        if !origin.is_null() {
            data["forkedFrom"] = origin.clone();
        }
        let actor = ActorId::from(viewer.owner());
        let record = tx.create_conversation(&viewer, content("Conversation", data), project.id, actor)?;
        Ok(ConversationId::from_bytes(*record.id.as_bytes()))
    })
}

fn export_conversation(world: &World, id: ConversationId) -> Vec<u8> {
    let scope = ExportScope { viewer: world.anna.clone(), owner: user(&world.anna), cut: cut(world) };
    let only = ConversationSelection::of(&world.store, &world.anna, id).unwrap();
    let mut bundle = Vec::new();
    export_only(&world.store, &world.blobs, &scope, only, &mut bundle, &mut go_on).unwrap();
    bundle
}

both! {
    fn br_turn_episode_001_destroying_what_was_said_leaves_the_tree_holds(world: &World) {
        let lived = lived(world);
        let before = shown(&world.store, user(&world.anna), trees(&lived));
        let (viewer, id) = (world.anna.clone(), lived.root);
        world.write(move |tx| {
            let said = tx.node(&viewer, id)?.content.unwrap();
            tx.redact_item(&viewer, said, "asked for").map(drop)
        });
        let after = shown(&world.store, user(&world.anna), trees(&lived));
        for ((old_bones, old), (bones, new)) in before.into_iter().zip(after) {
            assert_eq!(old_bones, bones);
            for (old, new) in old.into_iter().zip(new) {
                let is_gone = new.row.id == lived.root;
                assert_eq!((new.is_redacted, new.content.is_none()), (is_gone, is_gone || old.content.is_none()));
                assert_eq!(SeenNode { content: old.content.clone(), is_redacted: false, ..new }, old);
            }
        }
        world.seal();
        assert_eq!(world.verify(true).breaks, []);
        let seen = say(world, lived.dialogue, after_last(&lived), "and it goes on");
        assert!(seen.content_hash.is_some());
        let (viewer, id) = (world.anna.clone(), lived.root);
        assert_eq!(refusal(world.try_write(move |tx| tx.redact_item(&viewer, id.into(), "the place too"))), "MG-SOIL-010");
    }

    fn words_are_destroyed_as_far_as_summaries_told_them_on(world: &World) {
        let id = conversation(world, "dialogue");
        let mut nodes: Vec<NodeId> = Vec::new();
        for number in 0..9 {
            let speaker = if number % 2 == 0 { Speaker::User } else { Speaker::Agent };
            nodes.push(say(world, id, after(nodes.last().copied(), speaker), "more").id);
        }
        // All but two neighbours far down have a summary: nothing was told on past those.
        let (viewer, summarised) = (world.anna.clone(), nodes.clone());
        world.write(move |tx| {
            for (number, node) in summarised.iter().enumerate().filter(|(number, _)| ![6, 7].contains(number)) {
                let (node_id, text, model) = (Some(*node), format!("the {number}th"), "test".to_owned());
                tx.summarise(&viewer, &TreeSummary { conversation_id: id, node_id, text, model, nodes: 9 })?;
            }
            Ok(())
        });
        let (viewer, root) = (world.anna.clone(), nodes[0]);
        world.write(move |tx| tx.redact_item(&viewer, root.into(), "asked for"));
        let kept = nodes.iter().map(|node| {
            let (viewer, node) = (world.anna.clone(), *node);
            world.read(move |tx| tx.summary(&viewer, id, Some(node))).is_some()
        });
        assert_eq!(kept.collect::<Vec<_>>(), [false, false, false, false, false, false, false, false, true]);
    }

    fn what_was_made_of_a_nodes_words_goes_with_them(world: &World) {
        let lived = lived(world);
        let viewer = world.anna.clone();
        let root = world.write(move |tx| {
            let row = tx.conversation(&viewer, lived.dialogue)?;
            let (root, nodes) = (row.root_node.unwrap(), row.nodes);
            let summary = |node_id, text: &str| TreeSummary {
                conversation_id: lived.dialogue, node_id, text: text.to_owned(), model: "test".to_owned(), nodes,
            };
            for text in ["an older one", "a newer one"] {
                tx.summarise(&viewer, &summary(Some(root), text))?;
                tx.summarise(&viewer, &summary(None, text))?;
            }
            Ok(root)
        });
        let viewer = world.anna.clone();
        world.write(move |tx| tx.redact_item(&viewer, root.into(), "asked for"));
        let viewer = world.anna.clone();
        let (seen, summary) = world.read(move |tx| {
            let seen = tx.seen_node(&viewer, PathId::main_of(lived.dialogue), root)?;
            Ok((seen, tx.summary(&viewer, lived.dialogue, Some(root))?))
        });
        assert!(seen.is_redacted && summary.is_none());
        let quoted = items(world, ItemType::TREE_SUMMARY).into_iter().filter_map(|item| item.document());
        let of_tree = |document: &serde_json::Map<String, Value>| document["conversationId"] == json!(lived.dialogue);
        assert_eq!(quoted.filter(of_tree).filter(|document| {
            document.get("nodeId").is_none_or(|node| *node == json!(root))
        }).count(), 0);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn br_sec_002_a_node_that_names_anothers_words_shows_none_refuses(world: &World) {
        let lived = lived(world);
        let foreign = world.note_by(&world.bert, "nobody else's business").item.header.id;
        let viewer = world.anna.clone();
        let root = world.read(move |tx| tx.conversation(&viewer, lived.dialogue)).root_node.unwrap();
        let (content, node) = (world.hex(foreign.as_bytes()), world.hex(root.as_bytes()));
        world.tamper_unguarded(&format!("UPDATE nodes SET content = {content} WHERE id = {node}")).unwrap();
        let viewer = world.anna.clone();
        let seen = world.read(move |tx| tx.seen_node(&viewer, PathId::main_of(lived.dialogue), root));
        assert_eq!(seen.content, None);
    }

    fn a_destroyed_call_of_a_tool_leaves_nothing_broken(world: &World) {
        let call = ItemDraft::recorded(ItemType::TOOL_CALL, &object(json!({ "toolId": "x", "input": { "city": "Oslo" } })));
        let viewer = world.anna.clone();
        world.write(move |tx| {
            let call = tx.append_item(&viewer, &call)?.item.header.id;
            tx.redact_item(&viewer, call, "asked for").map(drop)
        });
        world.seal();
        assert_eq!(world.verify(true).breaks, []);
    }

    fn mg_conv_001_a_round_trip_over_both_databases_keeps_every_tree_holds(world: &World) {
        let lived = lived(world);
        world.seal();
        let owner = user(&world.anna);
        let (original, before) = (export_all(world, owner), shown(&world.store, owner, trees(&lived)));
        let mut previous = original.clone();
        for other in [World::postgres(), World::sqlite()] {
            other.clock.advance(60_000);
            try_import(&other, &previous, &Authority::Installation).unwrap();
            assert_eq!(shown(&other.store, owner, trees(&lived)), before);
            assert_eq!(other.verify(true).breaks, []);
            let next = export_all(&other, owner);
            assert!(kept(&next) == kept(&original), "something came back in another way");
            previous = next;
        }
        let again = try_import(world, &previous, &Authority::Owner(world.anna.clone())).unwrap();
        assert_eq!(again.added, 0);
    }

    fn mg_conv_001_one_conversation_travels_with_what_it_was_forked_from_holds(world: &World) {
        let owner = user(&world.anna);
        let other = World::sqlite();
        other.clock.advance(60_000);
        try_import(&other, &export_all(world, owner), &Authority::Installation).unwrap();
        let talk = whole(world, "main", Value::Null);
        let root = say(world, talk, after(None, Speaker::User), "How many herons?");
        let answer = say(world, talk, after(Some(root.id), Speaker::Agent), "Eleven.");
        say(world, talk, NodePosition::EditOf(answer.id), "Twelve.");
        say(world, talk, NodePosition::About(vec![root.id]), "Who counted?");
        let origin = json!({ "conversationId": talk, "turnId": root.turn(), "nodeId": root.id });
        let fork = whole(world, "fork", origin);
        let last = say(world, fork, after(None, Speaker::User), "And storks?");
        let (viewer, content) = (world.anna.clone(), answer.content.unwrap());
        world.write(move |tx| tx.redact_item(&viewer, content, "asked to").map(drop));
        let apart = whole(world, "main", Value::Null);
        say(world, apart, after(None, Speaker::User), "Something else.");
        world.seal();
        let bundle = export_conversation(world, fork);
        let before = shown(&world.store, owner, [talk, fork, fork]);
        other.clock.advance(60_000);
        assert!(try_import(&other, &bundle, &Authority::Installation).unwrap().added > 10);
        assert_eq!(shown(&other.store, owner, [talk, fork, fork]), before);
        let viewer = world.anna.clone();
        let way = other.read(move |tx| tx.path_to(&viewer, PathId::main_of(fork), last.id, 9));
        assert_eq!(way.iter().map(|node| node.row.id).collect::<Vec<_>>(), [root.id, last.id]);
        assert_eq!(other.verify(true).breaks, []);
        let (again, viewer) = (try_import(&other, &bundle, &Authority::Installation).unwrap(), world.anna.clone());
        assert_eq!(again.added, 0);
        assert!(other.try_read(move |tx| tx.conversation(&viewer, apart)).is_err(), "nothing else came along");
        // The rest may follow, and what went on there meanwhile stays.
        try_import(&other, &export_all(world, owner), &Authority::Installation).unwrap();
        assert_eq!(other.verify(true).breaks, []);
    }

    fn mg_conv_001_a_history_brought_by_a_person_refuses(world: &World) {
        let owner = user(&world.anna);
        let (other, own) = (World::sqlite(), Authority::Owner(world.anna.clone()));
        other.clock.advance(60_000);
        let talk = whole(world, "main", Value::Null);
        let root = say(world, talk, after(None, Speaker::User), "How many herons?");
        try_import(&other, &export_all(world, owner), &Authority::Installation).unwrap();
        // What is there already may come again; a conversation, or what was said in one, is Skein's to testify to.
        assert_eq!(try_import(&other, &export_all(world, owner), &own).unwrap().added, 0);
        say(world, talk, after(Some(root.id), Speaker::User), "And storks?");
        other.clock.advance(60_000);
        let refused = refused_bundle(&other, &export_conversation(world, talk), &own);
        assert!(matches!(&refused, StoreError::Rule(violation) if violation.rule() == "MG-SOIL-003"), "{refused:?}");
        let apart = whole(world, "main", Value::Null);
        let refused = refused_bundle(&other, &export_conversation(world, apart), &own);
        assert!(matches!(&refused, StoreError::Rule(violation) if violation.rule() == "MG-CORE-007"), "{refused:?}");
        assert_eq!(other.verify(true).breaks, []);
    }

    fn mg_conv_001_bundles_that_reach_into_other_trees_are_refused_whole_refuses(world: &World) {
        let lived = lived(world);
        let owner = user(&world.anna);
        let anothers = hers(world);
        world.clock.advance(60_000);
        let bundle = export_all(world, owner);
        let node = items(world, ItemType::NODE).into_iter().find(|item| item.header.id == lived.last.into()).unwrap();
        let fresh = |number: u8| ItemId::from_bytes([number; 16]);
        let hostile = [
            ("a node in another's conversation", forged(&node, fresh(1), |node| node["conversationId"] = json!(anothers.conversation))),
            ("a node after another's", forged(&node, fresh(2), |node| node["edge"]["sources"][0]["nodeId"] = json!(anothers.node))),
            ("a node in another conversation of hers", forged(&node, fresh(3), |node| node["conversationId"] = json!(lived.buffer))),
            ("a name that is taken", forged(&node, fresh(4), |_| {})),
            ("an edit of a node in another turn", forged(&node, fresh(5), |node| { node["localId"] = json!("ZZZZZZ"); node["editedFrom"] = json!(lived.root); })),
            ("a second root", forged(&node, fresh(6), |node| { node["localId"] = json!("ZZZZZZ"); node["edge"]["sources"] = json!([]); node["turn"]["id"] = json!("turn_01HQ3K4N7Y8M2P5R6T9W0X1Z2A"); })),
            ("a turn that speaks otherwise", forged(&node, fresh(7), |node| { node["localId"] = json!("ZZZZZZ"); node["turn"]["speaker"] = json!("agent"); })),
            ("a path of another", forged(&node, fresh(8), |node| { node["localId"] = json!("ZZZZZZ"); node["pathId"] = json!(PathId::main_of(anothers.conversation)); })),
        ];
        for (what, item) in &hostile {
            refuses(world, &bundle, item, what);
        }
        for (what, draft) in foreign_facts(&lived, &anothers, owner) {
            refuses(world, &bundle, &made_up(owner, draft), what);
        }
        assert_eq!(world.verify(true).breaks, []);
    }

    fn a_backup_of_conversations_is_restored_to_both_databases(world: &World) {
        let lived = lived(world);
        world.seal();
        let (owner, folder) = (user(&world.anna), tempfile::tempdir().unwrap());
        let before = shown(&world.store, owner, trees(&lived));
        let taken = folder.path().join("taken");
        backup(&world.store, &world.blobs, &taken, &mut |_| {}).unwrap();
        let database = Database::fresh(Cluster::shared());
        let directory = folder.path().join("restored");
        for location in [Location::Directory(directory), Location::Postgres(database.url().to_owned())] {
            let blobs = Blobs::directory(&folder.path().join("blobs")).unwrap();
            restore(&taken, &location, &blobs, &mut |_| {}).unwrap();
            let store = Store::open(StoreOptions { connections: 2, ..StoreOptions::at(location) }).unwrap();
            assert_eq!(shown(&store, owner, trees(&lived)), before);
            let report = verify(&store, &blobs, &VerifyOptions { deep: true, expect: None }, &mut |_| {}).unwrap();
            assert_eq!(report.breaks, []);
        }
    }
}

fn after_last(lived: &Lived) -> NodePosition {
    after(Some(lived.last), Speaker::Agent)
}

/// Something of Bert's that Anna knows the ids of.
struct Anothers {
    conversation: ConversationId,
    node: NodeId,
    project: RecordId,
}

fn hers(world: &World) -> Anothers {
    let data = json!({ "mode": "dialogue", "kind": "main", "status": "active" });
    let conversation = crate::tree::conversation_of(world, &world.bert, data);
    let viewer = world.bert.clone();
    let position = after(None, Speaker::User);
    let placing = skein_store::tree::append::NodePlacement {
        author: ActorId::from(viewer.owner()),
        ..crate::tree::placing(world, conversation, position)
    };
    let (node, project) = world.write(move |tx| {
        let node = tx.append_node(&viewer, &placing, &crate::tree::said("mine"))?.0.id;
        Ok((node, tx.create_of_tree(&viewer, content("Project", json!({ "name": "his", "isDefault": false })))?.id))
    });
    assert!(count(world) > 0);
    Anothers { conversation, node, project }
}

/// Facts about what is not the owner's.
fn foreign_facts(lived: &Lived, anothers: &Anothers, owner: UserId) -> Vec<(&'static str, ItemDraft)> {
    let (id, actor) = (lived.dialogue, ActorId::from(owner));
    let moved = PathMoved {
        path_id: PathId::main_of(id),
        conversation_id: id,
        actor_id: actor,
        node_id: lived.last,
        shown: Vec::new(),
    };
    let frame = FrameMoved { project_id: anothers.project, actor_id: actor, conversation_id: id };
    let (text, model) = ("t".to_owned(), "m".to_owned());
    let summary = TreeSummary { conversation_id: id, node_id: Some(anothers.node), text, model, nodes: 1 };
    let foreign_path = PathMoved { path_id: PathId::main_of(anothers.conversation), ..moved.clone() };
    let unowned_path = PathMoved { path_id: PathId::from_bytes([7; 16]), ..moved.clone() };
    let tagged = NodeMarked { tagged: vec!["t".to_owned()], ..marked(anothers.node) };
    vec![
        ("a move on another's path", foreign_path.to_draft()),
        ("a move on nobody's path", unowned_path.to_draft()),
        (
            "a move in another's conversation",
            PathMoved { conversation_id: anothers.conversation, ..moved.clone() }.to_draft(),
        ),
        ("a move to another's node", PathMoved { node_id: anothers.node, ..moved.clone() }.to_draft()),
        ("a move that shows another's node", PathMoved { shown: vec![anothers.node], ..moved }.to_draft()),
        ("a mark beside another's node", tagged.to_draft()),
        ("a frame of another's project", frame.to_draft()),
        ("a summary of another's node", summary.to_draft()),
    ]
}
