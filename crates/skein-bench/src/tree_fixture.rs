//! Conversations to measure with: made by the store's own acts, many to a transaction.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::Result;
use serde_json::{Value, json};
use skein_core::garden::record::{RecordContent, RecordType};
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, NodeId, PathId, RecordId, TurnId, UserId, Viewer};
use skein_store::tree::append::{NodeBody, NodePlacement, NodePosition};
use skein_store::{Location, Store, StoreError, StoreOptions, Tx};

use crate::appends::rate;
use crate::notes::{OWNER, Random};

const NODES_PER_TRANSACTION: usize = 2_000;
const WORDS: &str = "a skein is a length of yarn, loosely coiled and knotted; also a flight of geese";

/// A conversation in a store of its own.
pub(crate) struct Tree {
    pub(crate) directory: PathBuf,
    pub(crate) store: Store,
    pub(crate) owner: UserId,
    pub(crate) id: ConversationId,
    /// In the order they were made.
    pub(crate) nodes: Vec<NodeId>,
}

/// Where a node goes, by the numbers of earlier ones: what it answers, and whose turn it joins.
#[derive(Clone, Copy, Default)]
struct NodeLocation {
    parent: Option<usize>,
    beside: Option<usize>,
}

/// A node that was made.
struct Made {
    node: NodeId,
    turn: TurnId,
    depth: i64,
}

impl Tree {
    pub(crate) fn plant(directory: PathBuf) -> Result<Self> {
        Self::plant_for(OWNER, directory)
    }

    fn plant_for(owner: UserId, directory: PathBuf) -> Result<Self> {
        let store = Store::open(StoreOptions::at(Location::Directory(directory.clone())))?;
        let id = store.write_blocking(move |tx| begin(tx, owner))?.value;
        Ok(Self { directory, store, owner, id, nodes: Vec::new() })
    }

    pub(crate) fn viewer(&self) -> Viewer {
        Viewer::User(self.owner)
    }

    pub(crate) fn path(&self) -> PathId {
        PathId::main_of(self.id)
    }

    /// Nodes that each follow some earlier one; the first thousand are the same in every such tree.
    pub(crate) fn random(owner: UserId, directory: PathBuf, count: usize) -> Result<Self> {
        let mut random = Random::seeded(5);
        Self::plant_for(owner, directory)?.grow(count, |number| NodeLocation {
            parent: (number > 0).then(|| usize::try_from(random.below(number as u64)).unwrap_or(0)),
            beside: None,
        })
    }

    /// Two lines through the same turns: everything of the second answers something of the second.
    pub(crate) fn two_lines(directory: PathBuf, turns: usize) -> Result<Self> {
        Self::plant(directory)?.grow(2 * turns, |number| match number.checked_sub(turns) {
            None => NodeLocation { parent: number.checked_sub(1), beside: None },
            Some(turn) => NodeLocation { parent: (turn > 0).then(|| number - 1), beside: Some(turn) },
        })
    }

    fn grow(mut self, count: usize, mut shape: impl FnMut(usize) -> NodeLocation) -> Result<Self> {
        let started = Instant::now();
        let made = Arc::new(Mutex::new(Vec::with_capacity(count)));
        for before in (0..count).step_by(NODES_PER_TRANSACTION) {
            let spots: Vec<NodeLocation> =
                (before..count.min(before + NODES_PER_TRANSACTION)).map(&mut shape).collect();
            let (owner, conversation, made) = (self.owner, self.id, Arc::clone(&made));
            self.store.write_blocking(move |tx| {
                let mut made = made.lock().expect("nobody panicked with it");
                made.truncate(before);
                spots.iter().try_for_each(|spot| put(tx, owner, conversation, *spot, &mut made))
            })?;
        }
        if count >= NODES_PER_TRANSACTION {
            println!("(grew a tree of {count} nodes at {:.0}/s)", rate(count, started.elapsed().as_secs_f64()));
        }
        self.nodes = made.lock().expect("nobody panicked with it").iter().map(|made| made.node).collect();
        Ok(self)
    }
}

/// Says something: after a person another is quoted, after that a person.
fn put(
    tx: &mut Tx<'_>,
    owner: UserId,
    conversation: ConversationId,
    spot: NodeLocation,
    made: &mut Vec<Made>,
) -> Result<(), StoreError> {
    let above = spot.parent.map(|parent| &made[parent]);
    let (parent, is_answer) = (above.map(|above| above.node), above.is_some_and(|above| above.depth % 2 == 1));
    let (speaker, author_type) =
        if is_answer { (Speaker::Agent, AuthorType::Imported) } else { (Speaker::User, AuthorType::Human) };
    let position = match spot.beside {
        Some(other) => NodePosition::Beside { turn: made[other].turn, parent },
        None => NodePosition::After { parent, speaker, turn_type: TurnType::Message },
    };
    let placing = NodePlacement { author_type, ..placing(owner, conversation, position, None) };
    let (row, _) = tx.append_node(&Viewer::User(owner), &placing, &said(WORDS))?;
    let place = row.place.expect("a place was asked for");
    made.push(Made { node: row.id, turn: place.turn, depth: place.label.depth });
    Ok(())
}

fn begin(tx: &mut Tx<'_>, owner: UserId) -> Result<ConversationId, StoreError> {
    let project = begin_project(tx, owner)?;
    begin_conversation(tx, owner, project)
}

pub(crate) fn begin_project(tx: &mut Tx<'_>, owner: UserId) -> Result<RecordId, StoreError> {
    let content = content("Project", json!({ "name": "benchmark", "isDefault": false }));
    Ok(tx.create_of_tree(&Viewer::User(owner), content)?.id)
}

pub(crate) fn begin_conversation(
    tx: &mut Tx<'_>,
    owner: UserId,
    project: RecordId,
) -> Result<ConversationId, StoreError> {
    let content = content("Conversation", json!({ "mode": "dialogue", "kind": "main", "status": "active" }));
    let record = tx.create_conversation(&Viewer::User(owner), content, project, ActorId::from(owner))?;
    Ok(ConversationId::from_bytes(*record.id.as_bytes()))
}

fn content(name: &str, data: Value) -> RecordContent {
    let Value::Object(data) = data else { unreachable!("json!({{}}) is an object") };
    RecordContent::new(RecordType::parse(name).expect("a type that is known"), data)
}

pub(crate) fn after(parent: Option<NodeId>) -> NodePosition {
    NodePosition::After { parent, speaker: Speaker::User, turn_type: TurnType::Message }
}

pub(crate) fn placing(
    owner: UserId,
    conversation: ConversationId,
    position: NodePosition,
    leads: Option<PathId>,
) -> NodePlacement {
    NodePlacement {
        conversation,
        position,
        author: ActorId::from(owner),
        author_type: AuthorType::Human,
        sources: Vec::new(),
        executed_by: None,
        leads,
    }
}

pub(crate) fn said(text: &str) -> NodeBody {
    NodeBody { content: json!({ "type": "text", "text": text }), created_at: None, raw: None }
}
