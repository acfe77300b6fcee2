//! Lineages, branches, versions and paths: what stands for what, and what leads where.

use bytes::Bytes;
use serde_json::json;
use skein_core::garden::item::ItemType;
use skein_core::tree::node::{Node, Source, SourceRole, TreePayload as _};
use skein_core::tree::turn::Speaker;
use skein_core::tree::verify::Verdict;
use skein_core::{ConversationId, ItemId, NodeId, PathId, RecordId};
use skein_store::timeline::items::ItemQuery;
use skein_store::tree::NodeRow;
use skein_store::tree::adjacent_nodes::{AdjacentKind, EdgeSource};
use skein_store::tree::append::{NodeBody, NodePlacement, NodePosition};

use crate::fixtures::{World, both, content};
use crate::tree::{after, conversation, conversation_of, placing, refusal, said, say, try_say};
use crate::tree_proof::{altered, verify_tree};
use crate::tree_refusals::{fold, me, refused, refused_say, talk};
use crate::tree_retention::items;
use crate::tree_rules::{conversation_row, generate, row, seen, turn_of, turn_to, way_to};

/// A growing text of two pieces, the first of them in two versions.
struct Text {
    id: ConversationId,
    main: PathId,
    first: NodeId,
    version: NodeId,
    second: NodeId,
}

fn text(world: &World) -> Text {
    let id = conversation(world, "buffer");
    let first = say(world, id, after(None, Speaker::User), "Once upon a time").id;
    let second = say(world, id, after(Some(first), Speaker::Agent), "there was a loom").id;
    let version = say(world, id, NodePosition::EditOf(first), "Long ago").id;
    Text { id, main: PathId::main_of(id), first, version, second }
}

fn around(world: &World, id: ConversationId, node: NodeId, which: AdjacentKind) -> Vec<NodeId> {
    let viewer = world.anna.clone();
    let found = world.read(move |tx| tx.nodes_around(&viewer, PathId::main_of(id), node, which, None, 100));
    found.rows.iter().map(|node| node.row.id).collect()
}

/// What leads into a node.
fn sources(world: &World, node: NodeId) -> Vec<EdgeSource> {
    let viewer = world.anna.clone();
    let edges = world.read(move |tx| tx.edges(&viewer, node, None, 100)).rows;
    edges.into_iter().find(|edge| edge.target == node).unwrap().sources
}

fn primary(node: NodeId, is_version: bool) -> EdgeSource {
    EdgeSource { node, role: SourceRole::Primary, is_version }
}

/// Says something after one node with another as its context.
fn join(world: &World, id: ConversationId, parent: NodeId, context: NodeId) -> NodeRow {
    let source = Source { node_id: context, role: SourceRole::Context };
    let placing = NodePlacement { sources: vec![source], ..placing(world, id, after(Some(parent), Speaker::Agent)) };
    let viewer = world.anna.clone();
    world.clock.advance(1);
    world.write(move |tx| tx.append_node(&viewer, &placing, &said("both"))).0
}

fn verdict(world: &World, id: ConversationId, node: NodeId) -> Option<Verdict> {
    verify_tree(world, id).into_iter().find(|(judged, _)| *judged == node).unwrap().1
}

both! {
    fn ag_edge_002_versions_stand_for_each_other_and_lineages_are_all_needed_holds(world: &World) {
        let text = text(world);
        // What follows one version follows the other, joins the same turn and is stale under neither.
        assert_eq!(around(world, text.id, text.version, AdjacentKind::Children), [text.second]);
        let beside = say(world, text.id, after(Some(text.version), Speaker::Agent), "there was a weaver");
        assert_eq!(beside.turn(), row(world, text.second).turn());
        for shown in [text.first, text.version] {
            turn_to(world, text.id, shown);
            assert!([text.second, beside.id].iter().all(|node| seen(world, text.main, *node).answers_selected));
        }
        let talk = talk(world);
        let joined = join(world, talk.id, talk.answers[0], talk.answers[1]).id;
        let context = EdgeSource { node: talk.answers[1], role: SourceRole::Context, is_version: false };
        assert_eq!(sources(world, joined), [primary(talk.answers[0], false), context]);
        assert_eq!(verdict(world, talk.id, joined), Some(Verdict::Valid));
    }

    fn br_alt_006a_what_is_said_under_a_hidden_version_shows_that_version_holds(world: &World) {
        let text = text(world);
        turn_to(world, text.id, text.second);
        assert!(seen(world, text.main, text.version).is_selected);
        // Under the first version, beside what follows it already, and after what nobody answered yet.
        let (more, moved) = try_say(world, text.id, after(Some(text.first), Speaker::Agent), "there was a weaver").unwrap();
        assert_eq!(moved.turns, [row(world, text.first).turn().unwrap(), more.turn().unwrap()]);
        assert!(seen(world, text.main, text.first).is_selected && !seen(world, text.main, text.version).is_selected);
        assert_eq!(way_to(world, text.main, more.id), [text.first, more.id]);
        let turn = row(world, text.second).turn().unwrap();
        let beside = NodePosition::Beside { turn, parent: Some(text.version) };
        let third = say(world, text.id, beside, "there was a sheep").id;
        assert_eq!(way_to(world, text.main, third), [text.version, third]);
        // An edit is said beside what it edits: what is shown above stays.
        turn_to(world, text.id, text.first);
        turn_to(world, text.id, text.second);
        let edited = say(world, text.id, NodePosition::EditOf(third), "there were sheep").id;
        assert_eq!(way_to(world, text.main, edited), [text.first, edited]);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn br_alt_006a_a_window_above_a_fork_shows_no_other_version_refuses(world: &World) {
        let text = text(world);
        turn_to(world, text.id, text.second);
        let origin = json!({ "conversationId": text.id, "turnId": row(world, text.second).turn().unwrap(), "nodeId": text.second });
        let viewer = world.anna.clone();
        let above = world.read(move |tx| tx.path_versions(&viewer, text.second, 100, 100));
        assert_eq!(above, [text.version]);
        let above: Vec<ItemId> = above.into_iter().map(ItemId::from).collect();
        let data = json!({ "mode": "buffer", "kind": "fork", "status": "active", "forkedFrom": origin, "shownAbove": above });
        let fork = conversation_of(world, &world.anna, data);
        let said = say(world, fork, after(None, Speaker::User), "elsewhere").id;
        let main = PathId::main_of(fork);
        assert_eq!(way_to(world, main, said), [text.version, text.second, said]);
        // Page by page the same is shown as at once.
        assert_eq!(way_to(world, main, text.second), [text.version, text.second]);
        turn_to(world, text.id, text.first);
        assert_eq!(way_to(world, text.main, text.second), [text.first, text.second]);
        assert_eq!(way_to(world, main, text.second), [text.version, text.second]);
        // What is written in the place of the origin, or above it, comes too late for the fork.
        say(world, text.id, NodePosition::EditOf(text.version), "Longer ago");
        let later = say(world, text.id, NodePosition::EditOf(text.second), "there were looms").id;
        assert_eq!(way_to(world, text.main, later).last(), Some(&later));
        assert_eq!(way_to(world, main, said), [text.version, text.second, said]);
        let viewer = world.anna.clone();
        let ids = world.read(move |tx| tx.path_ids(&viewer, said, 100));
        assert_eq!(ids, [text.version, text.second, said]);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn br_alt_006a_a_fork_made_before_there_were_versions_refuses_later_ones(world: &World) {
        let id = conversation(world, "buffer");
        let first = say(world, id, after(None, Speaker::User), "Once upon a time").id;
        let second = say(world, id, after(Some(first), Speaker::Agent), "there was a loom");
        let origin = json!({ "conversationId": id, "turnId": second.turn().unwrap(), "nodeId": second.id });
        let data = json!({ "mode": "buffer", "kind": "fork", "status": "active", "forkedFrom": origin });
        let fork = conversation_of(world, &world.anna, data);
        let said = say(world, fork, after(None, Speaker::User), "elsewhere").id;
        let version = say(world, id, NodePosition::EditOf(first), "Long ago").id;
        turn_to(world, id, second.id);
        assert_eq!(way_to(world, PathId::main_of(id), second.id), [version, second.id]);
        assert_eq!(way_to(world, PathId::main_of(fork), said), [first, second.id, said]);
    }

    fn mg_conv_003_only_forks_that_people_go_on_in_keep_a_branch_open_holds(world: &World) {
        let talk = talk(world);
        let open = |world: &World| {
            let viewer = world.anna.clone();
            world.read(move |tx| tx.active_forks(&viewer, talk.id))
        };
        let origin = json!({ "conversationId": talk.id, "turnId": turn_of(world, talk.root), "nodeId": talk.root });
        for (kind, status, count) in [("tool_run", "active", 0), ("fork", "archived", 0), ("fork", "active", 1)] {
            let data = json!({ "mode": "dialogue", "kind": kind, "status": status, "forkedFrom": origin });
            conversation_of(world, &world.anna, data);
            assert_eq!(open(world), count, "{kind} {status}");
        }
    }

    fn ag_edge_002_one_lineage_in_the_place_of_another_refuses(world: &World) {
        let talk = talk(world);
        let joined = join(world, talk.id, talk.answers[0], talk.answers[1]).id;
        // Alternatives of a dialogue are lineages of their own.
        turn_to(world, talk.id, talk.answers[1]);
        assert!(!seen(world, PathId::main_of(talk.id), talk.last).answers_selected);
        assert!(around(world, talk.id, talk.answers[1], AdjacentKind::Children).is_empty());
        for source in talk.answers {
            let sql = format!("UPDATE nodes SET content_hash = {} WHERE id = {}", altered(world, "content_hash"), world.hex(source.as_bytes()));
            world.tamper_unguarded(&sql).unwrap();
            assert_eq!(verdict(world, talk.id, joined), Some(Verdict::Invalid));
            world.tamper_unguarded(&sql).unwrap();
        }
        assert_eq!(verdict(world, talk.id, joined), Some(Verdict::Valid));
    }

    fn ag_content_004_an_image_is_said_by_the_name_of_what_attached_it_holds(world: &World) {
        let bytes: Vec<u8> = (0..600_u32).map(|number| u8::try_from(number * 7 % 251).unwrap()).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let blob = runtime.block_on(world.blobs.put(Bytes::from(bytes.clone()), "image/png")).unwrap();
        let (viewer, id) = (world.anna.clone(), conversation(world, "dialogue"));
        let placing = placing(world, id, after(None, Speaker::User));
        let node = world.write(move |tx| {
            let attached = tx.attach_blob(&viewer, &blob)?;
            let content = json!({ "type": "image", "ref": attached, "mimeType": "image/png", "width": 4, "height": 3 });
            tx.append_node(&viewer, &placing, &NodeBody { content, ..said("") })
        });
        assert_eq!(seen(world, PathId::main_of(id), node.0.id).content.unwrap()["type"], "image");
        let (viewer, query) = (world.anna.clone(), ItemQuery { limit: 1_000, include_hidden: true, ..ItemQuery::default() });
        let stored = world.read(move |tx| tx.items(&viewer, &query)).rows;
        assert!(stored.iter().any(|stored| stored.item.header.item_type == ItemType::BLOB_ATTACHED));
        let part = &bytes[100..116];
        for stored in stored {
            let payload = format!("{:?}", stored.item.payload).into_bytes();
            let raw = stored.item.payload.map(|payload| payload.bytes().to_vec()).unwrap_or_default();
            assert!([&payload, &raw].iter().all(|kept| !kept.windows(part.len()).any(|window| window == part)));
        }
        let folder = world.folder.path().join("blobs");
        assert!(std::fs::read_dir(folder).unwrap().next().is_some());
    }

    fn ag_path_001_a_path_follows_continuations_from_the_root_holds(world: &World) {
        let talk = talk(world);
        let main = PathId::main_of(talk.id);
        assert_eq!(way_to(world, main, talk.last), [talk.root, talk.answers[0], talk.last]);
        assert_eq!(way_to(world, main, talk.answers[1]), [talk.root, talk.answers[1]]);
        // It is computed: a path nobody ever walked is there too.
        let nobody = PathId::of(talk.id, &[9; 16]);
        assert_eq!(way_to(world, nobody, talk.last), [talk.root, talk.answers[0], talk.last]);
    }

    fn ag_path_001_context_and_remarks_on_a_path_refuses(world: &World) {
        let talk = talk(world);
        let main = PathId::main_of(talk.id);
        let joined = join(world, talk.id, talk.answers[0], talk.answers[1]).id;
        assert_eq!(way_to(world, main, joined), [talk.root, talk.answers[0], joined]);
        let note = say(world, talk.id, NodePosition::About(vec![talk.last]), "hm").id;
        assert_eq!(way_to(world, main, note), [note]);
        let viewer = world.anna.clone();
        assert!(!world.read(move |tx| tx.is_on_path(&viewer, main, note)));
    }

    fn ag_path_003_each_lineage_after_a_node_is_a_branch_holds(world: &World) {
        let talk = talk(world);
        let [one, two] = talk.answers.map(|node| row(world, node).label().unwrap());
        let root = row(world, talk.root).label().unwrap();
        assert_eq!((one.branch, two.branch), (root.branch, talk.answers[1]));
        assert_eq!((one.depth, two.depth), (2, 2));
        // What follows the first stays on its branch.
        assert_eq!(row(world, talk.last).label().unwrap().branch, one.branch);
    }

    fn ag_path_003_a_version_as_a_branch_refuses(world: &World) {
        let text = text(world);
        let [first, version] = [text.first, text.version].map(|node| row(world, node).label());
        assert_eq!(first, version);
        assert!(around(world, text.id, text.version, AdjacentKind::Siblings).is_empty());
        // Nor do two lineages share a place.
        let talk = talk(world);
        let [one, two] = talk.answers.map(|node| world.hex(node.as_bytes()));
        let sql = format!("UPDATE nodes SET branch = (SELECT branch FROM nodes WHERE id = {one}) WHERE id = {two}");
        let error = world.tamper(&sql).unwrap_err().to_lowercase();
        assert!(error.contains("unique"), "{error}");
    }

    fn ag_path_004_what_answers_another_node_or_is_a_version_refuses_to_be_a_sibling(world: &World) {
        let talk = talk(world);
        let position = NodePosition::Beside { turn: turn_of(world, talk.last), parent: Some(talk.answers[1]) };
        let elsewhere = say(world, talk.id, position, "elsewhere").id;
        assert_eq!(turn_of(world, elsewhere), turn_of(world, talk.last));
        say(world, talk.id, NodePosition::About(vec![talk.answers[0]]), "hm");
        for node in [talk.last, elsewhere] {
            assert!(around(world, talk.id, node, AdjacentKind::Siblings).is_empty());
        }
        assert_eq!(around(world, talk.id, talk.answers[0], AdjacentKind::Siblings), [talk.answers[1]]);
        let text = text(world);
        say(world, text.id, NodePosition::EditOf(text.second), "there stood a loom");
        let other = generate(world, text.id, text.version, "there was a weaver").id;
        say(world, text.id, NodePosition::EditOf(other), "there was a spinner");
        assert_eq!(around(world, text.id, text.second, AdjacentKind::Siblings), [other]);
    }

    fn ag_path_005_a_leaf_has_nothing_after_it_but_remarks_holds(world: &World) {
        let talk = talk(world);
        let is_leaf = |node| !seen(world, PathId::main_of(talk.id), node).has_children;
        assert!(is_leaf(talk.last) && is_leaf(talk.answers[1]) && !is_leaf(talk.answers[0]));
        let note = say(world, talk.id, NodePosition::About(vec![talk.last]), "hm").id;
        assert!(is_leaf(talk.last) && is_leaf(note));
    }

    fn ag_path_005_a_node_that_is_continued_refuses_to_be_a_leaf(world: &World) {
        let text = text(world);
        // Even when only another version of it was.
        let version = say(world, text.id, NodePosition::EditOf(text.second), "there stood a loom").id;
        say(world, text.id, after(Some(version), Speaker::User), "in a mill");
        for node in [text.first, text.version, text.second, version] {
            assert!(seen(world, text.main, node).has_children);
        }
        let note = say(world, text.id, NodePosition::About(vec![text.first]), "hm").id;
        assert_eq!(refused_say(world, text.id, after(Some(note), Speaker::User)), "AG-EDGE-004");
    }

    fn ag_hash_004_a_source_that_came_later_leaves_the_hash_holds(world: &World) {
        let id = conversation(world, "buffer");
        let first = say(world, id, after(None, Speaker::User), "Once upon a time").id;
        let second = say(world, id, after(Some(first), Speaker::Agent), "there was a loom");
        let version = say(world, id, NodePosition::EditOf(first), "Long ago").id;
        assert_eq!(sources(world, second.id), [primary(first, false), primary(version, true)]);
        assert_eq!(row(world, second.id), second);
        assert_eq!(verdict(world, id, second.id), Some(Verdict::Valid));
        let recorded = items(world, ItemType::NODE).into_iter().find(|item| item.header.id == second.id.into()).unwrap();
        let recorded = Node::from_document(&recorded.document().unwrap()).unwrap();
        assert_eq!(recorded.slot.edge.sources, [Source { node_id: first, role: SourceRole::Primary }]);
    }

    fn ag_hash_004_a_later_source_taken_for_a_parent_refuses(world: &World) {
        let text = text(world);
        let [target, source] = [text.second, text.version].map(|node| world.hex(node.as_bytes()));
        let sql = format!("UPDATE node_sources SET kind = 'continuation' WHERE target = {target} AND source = {source}");
        assert_eq!(world.tamper(&sql), Ok(1));
        assert_eq!(verdict(world, text.id, text.second), Some(Verdict::Invalid));
        let breaks = world.verify(true).breaks;
        assert!(breaks.iter().any(|broken| broken.table == "node_sources"), "{breaks:?}");
    }

    fn ag_edit_002_an_edit_has_a_course_of_its_own_and_the_old_goes_stale_holds(world: &World) {
        let talk = talk(world);
        let main = PathId::main_of(talk.id);
        let edit = say(world, talk.id, NodePosition::EditOf(talk.answers[0]), "one, better");
        assert_eq!((edit.turn(), edit.parent), (row(world, talk.answers[0]).turn(), Some(talk.root)));
        assert!(!seen(world, main, talk.last).answers_selected);
        let next = say(world, talk.id, after(Some(edit.id), Speaker::User), "and now?");
        assert_ne!(next.turn(), row(world, talk.last).turn());
        assert_eq!(way_to(world, main, next.id), [talk.root, edit.id, next.id]);
        turn_to(world, talk.id, talk.answers[0]);
        assert!(seen(world, main, talk.last).answers_selected);
    }

    fn ag_edit_002_an_edit_refuses_what_followed_the_old(world: &World) {
        let talk = talk(world);
        let edit = say(world, talk.id, NodePosition::EditOf(talk.answers[0]), "one, better").id;
        assert!(around(world, talk.id, edit, AdjacentKind::Children).is_empty());
        assert!(!seen(world, PathId::main_of(talk.id), edit).has_children);
        assert_eq!(sources(world, talk.last), [primary(talk.answers[0], false)]);
        assert_ne!(row(world, edit).label(), row(world, talk.answers[0]).label());
    }

    fn ag_edit_003_what_follows_a_version_is_shared_holds(world: &World) {
        let text = text(world);
        let third = say(world, text.id, after(Some(text.second), Speaker::User), "and a weaver").id;
        let later = say(world, text.id, after(Some(text.version), Speaker::Agent), "there was a mill").id;
        for node in [text.first, text.version] {
            assert_eq!(around(world, text.id, node, AdjacentKind::Children), [text.second, later]);
            turn_to(world, text.id, node);
            assert_eq!(way_to(world, text.main, third), [node, text.second, third]);
        }
    }

    fn ag_edit_003_copies_and_stale_words_after_a_version_refuses(world: &World) {
        let text = text(world);
        let third = generate(world, text.id, text.second, "and a weaver").id;
        let before = conversation_row(world, text.id).nodes;
        let again = say(world, text.id, NodePosition::EditOf(text.version), "In old times").id;
        assert_eq!(conversation_row(world, text.id).nodes, before + 1);
        for shown in [text.first, text.version, again] {
            turn_to(world, text.id, shown);
            assert!([text.second, third].iter().all(|node| seen(world, text.main, *node).answers_selected));
        }
    }

    fn ag_buffer_001_a_version_leads_to_every_continuation_holds(world: &World) {
        let text = text(world);
        let other = say(world, text.id, after(Some(text.first), Speaker::Agent), "there was a mill").id;
        let joined = join(world, text.id, text.second, text.first).id;
        let again = say(world, text.id, NodePosition::EditOf(text.version), "In old times").id;
        let last = say(world, text.id, NodePosition::EditOf(text.first), "Once").id;
        assert_eq!(sources(world, text.second), [primary(text.first, false), primary(text.version, true), primary(again, true), primary(last, true)]);
        assert_eq!(sources(world, other), [primary(text.first, false), primary(last, true)]);
        // Also where it is the context of something, and then as its context.
        let context = |node, is_version| EdgeSource { node, role: SourceRole::Context, is_version };
        assert_eq!(sources(world, joined), [primary(text.second, false), context(text.first, false), context(last, true)]);
        assert!(!around(world, text.id, last, AdjacentKind::Children).contains(&joined));
        assert_eq!(world.verify(true).breaks, []);
        assert!(verify_tree(world, text.id).iter().all(|(_, verdict)| *verdict == Some(Verdict::Valid)));
    }

    fn ag_buffer_001_an_edit_of_a_dialogue_or_a_remark_refuses_the_version(world: &World) {
        let text = text(world);
        let note = say(world, text.id, NodePosition::About(vec![text.first]), "hm").id;
        let again = say(world, text.id, NodePosition::EditOf(text.first), "In old times").id;
        assert_eq!(sources(world, note), [primary(text.first, false)]);
        assert!(around(world, text.id, again, AdjacentKind::Annotations).is_empty());
        let third = say(world, text.id, after(Some(text.second), Speaker::User), "and a weaver").id;
        assert_eq!(sources(world, third), [primary(text.second, false)]);
        let talk = talk(world);
        say(world, talk.id, NodePosition::EditOf(talk.answers[0]), "one, better");
        assert_eq!(sources(world, talk.last), [primary(talk.answers[0], false)]);
    }

    fn ag_buffer_002_each_path_shows_its_own_version_holds(world: &World) {
        let text = text(world);
        let other = skein_core::tree::actor::ActorId::from_bytes([3; 16]);
        let (viewer, path) = (world.anna.clone(), PathId::of(text.id, other.as_bytes()));
        turn_to(world, text.id, text.version);
        world.write(move |tx| tx.move_path(&viewer, path, other, text.first).map(drop));
        assert_eq!(way_to(world, text.main, text.second), [text.version, text.second]);
        assert_eq!(way_to(world, path, text.second), [text.first, text.second]);
    }

    fn ag_buffer_002_two_versions_at_one_position_refuses(world: &World) {
        let text = text(world);
        let again = say(world, text.id, NodePosition::EditOf(text.first), "In old times").id;
        for shown in [text.version, again, text.first, text.version] {
            turn_to(world, text.id, shown);
            assert_eq!(way_to(world, text.main, text.second), [shown, text.second]);
            let selected = [text.first, text.version, again].map(|node| seen(world, text.main, node).is_selected);
            assert_eq!(selected, [text.first, text.version, again].map(|node| node == shown));
        }
        let second = "INSERT INTO selections (path, branch, depth, turn, node, selected)
             SELECT path, branch, 99, turn, node, 1 FROM selections WHERE selected = 1";
        assert!(world.tamper(second).unwrap_err().to_lowercase().contains("unique"));
    }

    fn ag_buffer_003_what_is_generated_beside_opens_a_branch_holds(world: &World) {
        let id = conversation(world, "buffer");
        let first = say(world, id, after(None, Speaker::User), "Once upon a time").id;
        let made = ["there was a loom", "there was a mill"].map(|text| generate(world, id, first, text));
        assert_eq!(made[0].turn(), made[1].turn());
        assert_ne!(made[0].label(), made[1].label());
        let next = [&made[0], &made[1]].map(|node| say(world, id, after(Some(node.id), Speaker::User), "and").id);
        for (node, next) in made.iter().zip(next) {
            assert_eq!(around(world, id, node.id, AdjacentKind::Children), [next]);
            assert_eq!(way_to(world, PathId::main_of(id), next), [first, node.id, next]);
        }
    }

    fn ag_buffer_003_sharing_what_follows_another_branch_refuses(world: &World) {
        let id = conversation(world, "buffer");
        let first = say(world, id, after(None, Speaker::User), "Once upon a time").id;
        let made = ["there was a loom", "there was a mill"].map(|text| generate(world, id, first, text).id);
        let next = say(world, id, after(Some(made[0]), Speaker::Agent), "and a weaver").id;
        assert!(around(world, id, made[1], AdjacentKind::Children).is_empty());
        assert_eq!(sources(world, next), [primary(made[0], false)]);
        turn_to(world, id, made[1]);
        assert!(!seen(world, PathId::main_of(id), next).answers_selected);
    }

    fn mg_proj_002_parents_make_the_tree_of_branches_and_reopening_adds_to_the_stack_holds(world: &World) {
        let shelf = Shelf::new(world);
        let origin = json!({ "conversationId": shelf.first, "turnId": turn_of(world, shelf.said), "nodeId": shelf.said });
        let fork = shelf.make(world, json!({ "forkedFrom": origin.clone(), "kind": "fork" }));
        let inside = say(world, fork, after(None, Speaker::User), "elsewhere");
        let deeper = json!({ "conversationId": fork, "turnId": inside.turn().unwrap(), "nodeId": inside.id });
        let [beside, nested] = [origin, deeper].map(|origin| shelf.make(world, json!({ "forkedFrom": origin, "kind": "fork" })));
        let mains = [(shelf.first, None), (shelf.second, None)];
        let forks = [(fork, Some(shelf.first)), (beside, Some(shelf.first)), (nested, Some(fork))];
        let branches = [&mains[..], &forks[..]].concat();
        assert_eq!(shelf.stack(world), branches);
        fold(world, shelf.second);
        let reopened = shelf.make(world, json!({ "continues": shelf.second }));
        assert_eq!(shelf.stack(world), [&branches[..], &[(reopened, None)]].concat());
    }

    fn mg_proj_002_a_folded_entry_that_goes_on_or_an_order_that_makes_parents_refuses(world: &World) {
        let shelf = Shelf::new(world);
        fold(world, shelf.first);
        shelf.make(world, json!({ "continues": shelf.first }));
        let before = shelf.stack(world);
        let attempt = try_say(world, shelf.first, after(Some(shelf.said), Speaker::Agent), "on");
        assert_eq!(refusal(attempt), "MG-CONV-005");
        assert_eq!(before.iter().map(|(_, parent)| *parent).collect::<Vec<_>>(), [None; 3]);
        // Out of the project and in again, each stands where it was made and grew from.
        let (viewer, project, moved) = (world.anna.clone(), shelf.project, shelf.second);
        world.write(move |tx| {
            let other = tx.create_of_tree(&viewer, content("Project", json!({ "name": "other", "isDefault": false })))?.id;
            tx.group_conversation(&viewer, moved.into(), other)?;
            tx.group_conversation(&viewer, moved.into(), project)
        });
        assert_eq!(shelf.stack(world), before);
        let viewer = world.bert.clone();
        assert_eq!(refused(world, move |tx| tx.group_conversation(&viewer, moved.into(), project)), "MG-REL-005");
    }
}

/// A project of two conversations, something said in the first.
struct Shelf {
    project: RecordId,
    first: ConversationId,
    second: ConversationId,
    said: NodeId,
}

impl Shelf {
    fn new(world: &World) -> Self {
        let viewer = world.anna.clone();
        let project = world.write(move |tx| {
            tx.create_of_tree(&viewer, content("Project", json!({ "name": "p", "isDefault": false })))
        });
        let nowhere = NodeId::from_bytes([0; 16]);
        let none = ConversationId::from_bytes([0; 16]);
        let mut shelf = Self { project: project.id, first: none, second: none, said: nowhere };
        shelf.first = shelf.make(world, json!({}));
        shelf.second = shelf.make(world, json!({}));
        shelf.said = say(world, shelf.first, after(None, Speaker::User), "hello").id;
        shelf
    }

    fn make(&self, world: &World, with: serde_json::Value) -> ConversationId {
        let mut data = json!({ "mode": "dialogue", "kind": "main", "status": "active" });
        data.as_object_mut().unwrap().extend(crate::fixtures::object(with));
        let (viewer, project) = (world.anna.clone(), self.project);
        world.clock.advance(1);
        let record = world.write(move |tx| {
            tx.create_conversation(&viewer, content("Conversation", data.clone()), project, me(&viewer))
        });
        ConversationId::from_bytes(*record.id.as_bytes())
    }

    fn stack(&self, world: &World) -> Vec<(ConversationId, Option<ConversationId>)> {
        let (viewer, project) = (world.anna.clone(), self.project);
        let stack = world.read(move |tx| tx.stack(&viewer, project, None, 100));
        stack.rows.iter().map(|row| (row.id, row.parent)).collect()
    }
}
