//! Builders that hide what does not matter.

use std::path::Path;

use skein_core::garden::cursor::Cursor;
use skein_core::tree::node_place::NodeLabel;
use skein_core::{ConversationId, EpisodeId, Millis, NodeId, UserId};
use skein_recall::{Change, Episode, EpisodePlace, Hits, Index, Options, Query, StaticTable, embedded_text};

pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

pub(crate) fn user(number: u8) -> UserId {
    UserId::from_bytes([number; 16])
}

pub(crate) fn id(number: u16) -> EpisodeId {
    let [high, low] = number.to_be_bytes();
    EpisodeId::from_bytes(std::array::from_fn(|place| if place.is_multiple_of(2) { high } else { low }))
}

pub(crate) fn conversation(number: u8) -> ConversationId {
    ConversationId::from_bytes([number; 16])
}

pub(crate) fn branch(number: u8) -> NodeId {
    NodeId::from_bytes([number; 16])
}

/// An episode of user 1 without a place, said on day 1.
pub(crate) fn episode(number: u16, text: &str) -> Episode {
    Episode {
        id: id(number),
        owner: user(1),
        place: None,
        previous: None,
        actor: None,
        speaker: String::new(),
        kind: "message".to_owned(),
        valid_at: Millis(DAY_MS),
        created_at: Millis(DAY_MS),
        text: text.to_owned(),
        vector: StaticTable.vector(&embedded_text("", text)),
    }
}

pub(crate) fn placed(number: u16, text: &str, conversation_number: u8, branch_number: u8, depth: i64) -> Episode {
    let label = NodeLabel { branch: branch(branch_number), depth };
    let place = Some(EpisodePlace { conversation: conversation(conversation_number), label });
    Episode { place, ..episode(number, text) }
}

pub(crate) fn upsert(episode: Episode) -> Change {
    Change::Upsert(Box::new(episode))
}

pub(crate) fn at(position: i64) -> Cursor {
    Cursor { tx: 0, position }
}

pub(crate) fn open(folder: &Path) -> Index {
    Index::open(folder, &Options::of(&StaticTable)).unwrap()
}

/// An index of the given episodes, and the folder that goes with it.
pub(crate) fn index_of(episodes: Vec<Episode>) -> (Index, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let index = open(folder.path());
    index.apply(&episodes.into_iter().map(upsert).collect::<Vec<_>>(), at(1)).unwrap();
    (index, folder)
}

pub(crate) fn question(text: &str) -> Query {
    Query { vector: StaticTable.vector(text), limit: 100, ..Query::new(user(1), text) }
}

pub(crate) fn ids(hits: &Hits) -> Vec<EpisodeId> {
    hits.hits.iter().map(|hit| hit.id).collect()
}
