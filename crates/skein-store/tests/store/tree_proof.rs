//! Nodes, paths and trees verified from what is stored, and whatever was altered found, on both databases.

use serde_json::json;
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::turn::Speaker;
use skein_core::tree::verify::Verdict;
use skein_core::{ConversationId, NodeId};
use skein_store::tree::NodeRow;
use skein_store::tree::append::{NodeBody, NodePlacement, RawResponseSource, ReceivedResponse};
use skein_store::tree::proof::NodeVerdict;

use crate::fixtures::{Place, World, both};
use crate::tree::{after, conversation, placing, say};

pub(crate) fn verify_tree(world: &World, id: ConversationId) -> Vec<NodeVerdict> {
    let viewer = world.anna.clone();
    world.read(move |tx| {
        // In pieces, as whoever asks for more than one gets it.
        let (mut all, mut last) = (Vec::new(), None);
        loop {
            let piece = tx.verify_tree(&viewer, id, last, 2)?;
            last = piece.last().map(|(last, _)| *last);
            if piece.is_empty() {
                return Ok(all);
            }
            all.extend(piece);
        }
    })
}

fn verify_path(world: &World, node: NodeId) -> Vec<NodeVerdict> {
    let viewer = world.anna.clone();
    world.read(move |tx| tx.verify_path(&viewer, node, 100))
}

fn all(verdict: Verdict, nodes: &[&NodeRow]) -> Vec<NodeVerdict> {
    nodes.iter().map(|node| (node.id, Some(verdict))).collect()
}

/// What a model answers, with its raw response.
fn answer(world: &World, id: ConversationId, parent: NodeId) -> NodeRow {
    let viewer = world.anna.clone();
    let placing = NodePlacement {
        author: ActorId::from_bytes([9; 16]),
        author_type: AuthorType::Model,
        ..placing(world, id, after(Some(parent), Speaker::Agent))
    };
    let raw = ReceivedResponse { headers: json!({ "x-request-id": "r" }), body: b"{\"id\":1}".to_vec() };
    let said = NodeBody {
        content: json!({ "type": "text", "text": "Hi" }),
        created_at: None,
        raw: Some(RawResponseSource::New(raw)),
    };
    world.clock.advance(1);
    world.write(move |tx| tx.append_node(&viewer, &placing, &said)).0
}

/// Alters the last byte of a column, or a number by one.
pub(crate) fn altered(world: &World, column: &str) -> String {
    match (&world.place, column) {
        (_, "created_at") => "created_at + 1".to_owned(),
        (Place::Sqlite(_), _) => format!("flip({column})"),
        (Place::Postgres(_), _) => {
            format!("set_byte({column}, length({column}) - 1, get_byte({column}, length({column}) - 1) # 1)")
        }
    }
}

both! {
    fn ag_hash_003_what_nobody_touched_verifies_holds(world: &World) {
        let id = conversation(world, "dialogue");
        let first = say(world, id, after(None, Speaker::User), "Hello “you” \u{1F426}\n");
        let second = answer(world, id, first.id);
        let third = say(world, id, after(Some(second.id), Speaker::User), "…");
        assert_eq!(verify_tree(world, id), all(Verdict::Valid, &[&first, &second, &third]));
        assert_eq!(verify_path(world, third.id), all(Verdict::Valid, &[&first, &second, &third]));
        assert_eq!(verify_path(world, first.id), all(Verdict::Valid, &[&first]));
    }

    fn ag_hash_003_one_altered_byte_anywhere_refuses(world: &World) {
        let id = conversation(world, "dialogue");
        let first = say(world, id, after(None, Speaker::User), "Hello");
        let second = answer(world, id, first.id);
        let third = say(world, id, after(Some(second.id), Speaker::User), "Bye");
        let content = world.hex(second.content.unwrap().as_bytes());
        let raw = world.hex(second.raw_response.unwrap().item_id.as_bytes());
        let node = world.hex(second.id.as_bytes());
        for (table, column, row) in
            [("items", "payload", content), ("items", "payload", raw), ("nodes", "author", node.clone()), ("nodes", "created_at", node.clone())]
        {
            let sql = format!("UPDATE {table} SET {column} = {} WHERE id = {row}", altered(world, column));
            assert_eq!(world.tamper_unguarded(&sql), Ok(1), "{sql}");
            let found = verify_path(world, third.id);
            assert_eq!(found[1], (second.id, Some(Verdict::Invalid)), "{table}.{column}");
            assert_eq!([found[0].1, found[2].1], [Some(Verdict::Valid); 2], "{table}.{column}");
            let undo = if column == "created_at" { sql.replace("+ 1", "- 1") } else { sql };
            world.tamper_unguarded(&undo).unwrap();
        }
        // A hash that was altered breaks what it is of, and whatever was built on it.
        let sql = format!("UPDATE nodes SET content_hash = {} WHERE id = {node}", altered(world, "content_hash"));
        world.tamper_unguarded(&sql).unwrap();
        let found: Vec<Option<Verdict>> = verify_tree(world, id).into_iter().map(|(_, verdict)| verdict).collect();
        assert_eq!(found, [Verdict::Valid, Verdict::Invalid, Verdict::Invalid].map(Some));
    }

    fn ag_hash_005_a_recorded_correction_verifies_an_answer_that_was_hashed_with_its_response_holds(world: &World) {
        let id = conversation(world, "dialogue");
        let first = say(world, id, after(None, Speaker::User), "Hello");
        let second = answer(world, id, first.id);
        let third = say(world, id, after(Some(second.id), Speaker::User), "Bye");
        // As earlier versions left answers of output templates.
        let sql = format!("UPDATE nodes SET author_type = 'system' WHERE id = {}", world.hex(second.id.as_bytes()));
        assert_eq!(world.tamper_unguarded(&sql), Ok(1));
        assert_eq!(verify_path(world, third.id)[1].1, Some(Verdict::Invalid));
        assert!(world.verify(true).breaks.iter().any(|broken| broken.problem.contains("records a correction")));
        assert_eq!(world.write(|tx| tx.correct_nodes(None)), None);
        assert_eq!(verify_path(world, third.id), all(Verdict::Valid, &[&first, &second, &third]));
        assert!(world.verify(true).breaks.iter().all(|broken| !broken.problem.contains("its hash")));
        assert!(!world.write(move |tx| tx.correct_node(second.id)), "one correction is enough");
        let row = second.content.unwrap();
        let sql = format!("UPDATE items SET payload = {} WHERE id = {}", altered(world, "payload"), world.hex(row.as_bytes()));
        world.tamper_unguarded(&sql).unwrap();
        assert_eq!(verify_path(world, third.id)[1].1, Some(Verdict::Invalid), "a correction covers nothing up");
    }

    fn ag_hash_005_an_answer_that_proves_nothing_is_not_corrected_refuses(world: &World) {
        let id = conversation(world, "dialogue");
        let first = say(world, id, after(None, Speaker::User), "Hello");
        let second = answer(world, id, first.id);
        let node = world.hex(second.id.as_bytes());
        let sql = format!("UPDATE nodes SET author_type = 'system', created_at = created_at + 1 WHERE id = {node}");
        assert_eq!(world.tamper_unguarded(&sql), Ok(1));
        world.write(|tx| tx.correct_nodes(None));
        assert_eq!(verify_path(world, second.id)[1].1, Some(Verdict::Invalid));
        assert!(world.verify(true).breaks.iter().any(|broken| broken.problem == "its hash is not that of what is stored"));
    }

    fn ag_hash_005_an_answer_without_its_text_proves_nothing_and_is_not_corrected_refuses(world: &World) {
        let id = conversation(world, "dialogue");
        let first = say(world, id, after(None, Speaker::User), "Hello");
        for (is_response, is_corrected) in [(false, false), (true, true)] {
            let answered = answer(world, id, first.id);
            let node = world.hex(answered.id.as_bytes());
            assert_eq!(world.tamper_unguarded(&format!("UPDATE nodes SET author_type = 'system' WHERE id = {node}")), Ok(1));
            let gone = if is_response { answered.raw_response.unwrap().item_id } else { answered.content.unwrap() };
            let viewer = world.anna.clone();
            world.write(move |tx| tx.redact_item(&viewer, gone, "asked to"));
            assert_eq!(world.write(move |tx| tx.correct_node(answered.id)), is_corrected, "response: {is_response}");
        }
    }

    fn ag_hash_005_what_was_destroyed_is_said_and_the_rest_verifies_holds(world: &World) {
        let id = conversation(world, "dialogue");
        let first = say(world, id, after(None, Speaker::User), "Hello");
        let second = say(world, id, after(Some(first.id), Speaker::User), "Bye");
        let (viewer, content) = (world.anna.clone(), first.content.unwrap());
        world.write(move |tx| tx.redact_item(&viewer, content, "asked to"));
        let found: Vec<Option<Verdict>> = verify_tree(world, id).into_iter().map(|(_, verdict)| verdict).collect();
        assert_eq!(found, [Verdict::Redacted, Verdict::Valid].map(Some));
        assert_eq!(verify_path(world, second.id)[1].1, Some(Verdict::Valid));
    }
}
