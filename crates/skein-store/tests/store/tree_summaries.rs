//! Summaries that are kept several at a time.

use skein_core::tree::node::TreeSummary;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, NodeId, Viewer};
use skein_store::tree::summaries::DraftSummary;

use crate::fixtures::{World, both};
use crate::tree::{after, conversation, say};

/// Statements of a batch on PostgreSQL: four reads, the conversation, the items, the rows, and the beginning and end.
const STATEMENTS_MAX: u64 = 10;

/// A conversation and so many nodes, each after the one before.
fn spoken(world: &World, nodes: usize) -> (ConversationId, Vec<NodeId>) {
    let id = conversation(world, "dialogue");
    let mut said: Vec<NodeId> = Vec::new();
    for number in 0..nodes {
        world.clock.advance(1);
        let node = say(world, id, after(said.last().copied(), Speaker::User), &format!("message {number}")).id;
        said.push(node);
    }
    (id, said)
}

fn draft(conversation_id: ConversationId, used: &[NodeId], text: &str) -> DraftSummary {
    let (text, model) = (text.to_owned(), "m".to_owned());
    let summary = TreeSummary { conversation_id, node_id: used.first().copied(), text, model, nodes: 1 };
    DraftSummary { summary, used: used.to_vec() }
}

fn keep(world: &World, id: ConversationId, drafts: Vec<DraftSummary>) {
    let viewer = world.anna.clone();
    world.write(move |tx| tx.keep_missing_summaries(&viewer, id, &drafts));
}

/// The text of the newest summary of each of these nodes; empty where there is none.
fn told(world: &World, viewer: &Viewer, nodes: &[NodeId]) -> Vec<String> {
    let (viewer, asked) = (viewer.clone(), nodes.to_vec());
    let mut summaries = world.read(move |tx| tx.summaries_of(&viewer, &asked));
    nodes.iter().map(|node| summaries.remove(node).map_or_else(String::new, |summary| summary.text)).collect()
}

both! {
    fn ag_sum_001_a_batch_gives_each_node_one_summary_holds(world: &World) {
        let (id, nodes) = spoken(world, 3);
        keep(world, id, vec![draft(id, &[nodes[0]], "first"), draft(id, &[nodes[1], nodes[0]], "second")]);
        keep(world, id, vec![draft(id, &[nodes[1]], "again"), draft(id, &[nodes[2]], "third")]);
        assert_eq!(told(world, &world.anna, &nodes), ["first", "second", "third"]);
        assert_eq!(told(world, &world.bert, &nodes), ["", "", ""], "they are the owner's to see");
        assert_eq!(world.verify(true).breaks, []);
    }

    fn ag_sum_001_a_draft_of_what_was_destroyed_meanwhile_refuses(world: &World) {
        let (id, nodes) = spoken(world, 3);
        let drafts = vec![draft(id, &[nodes[0]], "own"), draft(id, &[nodes[1], nodes[0]], "before it"), draft(id, &[nodes[2]], "other")];
        let viewer = world.anna.clone();
        let first = nodes[0];
        world.write(move |tx| {
            let content = tx.node(&viewer, first)?.content.unwrap();
            tx.redact_item(&viewer, content, "asked for")
        });
        keep(world, id, drafts);
        assert_eq!(told(world, &world.anna, &nodes), ["", "", "other"]);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn several_summaries_are_read_as_each_is_by_itself(world: &World) {
        let (id, nodes) = spoken(world, 1);
        keep(world, id, vec![draft(id, &nodes, "first")]);
        world.clock.advance(1);
        let (viewer, renewed) = (world.anna.clone(), draft(id, &nodes, "renewed").summary);
        let item = world.write(move |tx| tx.summarise(&viewer, &renewed)).item.header.id;
        assert_eq!(told(world, &world.anna, &nodes), ["renewed"]);
        let viewer = world.anna.clone();
        world.write(move |tx| tx.redact_item(&viewer, item, "asked for"));
        let viewer = world.anna.clone();
        let alone = world.read(move |tx| tx.summary(&viewer, id, Some(nodes[0])).map(|found| (nodes, found)));
        assert_eq!(told(world, &world.anna, &alone.0), [alone.1.map_or_else(String::new, |summary| summary.text)]);
    }
}

#[test]
fn a_batch_of_summaries_takes_a_few_statements_on_postgres() {
    let world = World::postgres();
    let (id, nodes) = spoken(&world, 40);
    let drafts: Vec<DraftSummary> = nodes.iter().map(|node| draft(id, &[*node], "in short")).collect();
    let before = world.store.statistics().statements;
    keep(&world, id, drafts);
    let statements = world.store.statistics().statements - before;
    assert!(statements <= STATEMENTS_MAX, "{statements} statements for {} summaries", nodes.len());
    assert!(told(&world, &world.anna, &nodes).iter().all(|text| text == "in short"));
    assert_eq!(world.verify(true).breaks, []);
}
