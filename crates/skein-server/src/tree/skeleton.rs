//! The skeleton of a tree in compact columns. Written by hand: a tree may have a hundred thousand nodes, and a reader
//! waits for all of them.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::Write as _;

use skein_core::tree::actor::AuthorType;
use skein_core::tree::status::{CacheStatus, GenerationStatus, Parent};
use skein_core::{ConversationId, NodeId, TurnId};
use skein_store::tree::read::Bone;
use utoipa::ToSchema;

/// Room for one node in all its columns.
const NODE_BYTES_USUAL: usize = 128;

/// A tree without what it says.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written below")]
pub(crate) struct SkeletonView {
    conversation_id: String,
    /// Where its owner stands.
    cursor_node_id: Option<String>,
    /// The turns, in the order they came up.
    turns: Vec<String>,
    nodes: ColumnsView,
}

/// One entry per node in each column.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written below")]
pub(crate) struct ColumnsView {
    id: Vec<String>,
    /// The place of what it answers in `id`; -1 for none.
    parent: Vec<i64>,
    /// The place of its turn in `turns`; -1 for a remark.
    turn: Vec<i64>,
    /// The how many-th alternative of its turn; 0 for a remark.
    ordinal: Vec<i64>,
    /// The root has 1, a remark 0.
    depth: Vec<i64>,
    /// h human, m model, s system, i imported.
    author: Vec<String>,
    /// c complete, p pending, f failed.
    status: Vec<String>,
    /// 1 for what its turn shows.
    selected: Vec<u8>,
    /// 1 for what does not answer what is selected above it.
    stale: Vec<u8>,
    /// 1 bookmarked, 2 pruned, 4 excluded, added up.
    marks: Vec<u8>,
    /// Milliseconds since 1970.
    created_at: Vec<i64>,
}

/// The text of a [`SkeletonView`]; `bones` come in the order of their ids.
pub(crate) fn write(conversation: ConversationId, cursor: Option<NodeId>, bones: &[Bone]) -> Vec<u8> {
    let (turns, turn_of) = number_turns(bones);
    let parent_of = |bone: &Bone| {
        let found = bone.parent.and_then(|parent| bones.binary_search_by_key(&parent, |bone| bone.id).ok());
        found.map_or(-1, |place| i64::try_from(place).unwrap_or(-1))
    };
    let mut text = Text(Vec::with_capacity(bones.len() * NODE_BYTES_USUAL));
    text.put(format_args!("{{\"conversationId\":\"{conversation}\",\"cursorNodeId\":"));
    match cursor {
        Some(cursor) => text.put(format_args!("\"{cursor}\"")),
        None => text.put(format_args!("null")),
    }
    text.column(",\"turns\":[", &turns, |turn| format!("\"{turn}\""));
    text.column(",\"nodes\":{\"id\":[", bones, |bone| format!("\"{}\"", bone.id));
    text.column(",\"parent\":[", bones, parent_of);
    text.column(",\"turn\":[", &turn_of, |turn| *turn);
    text.column(",\"ordinal\":[", bones, |bone| bone.ordinal);
    text.column(",\"depth\":[", bones, |bone| bone.depth);
    text.column(",\"author\":[", bones, |bone| author_letter(bone.author_type));
    text.column(",\"status\":[", bones, |bone| status_letter(bone.status));
    text.column(",\"selected\":[", bones, |bone| u8::from(bone.is_selected));
    text.column(",\"stale\":[", bones, |bone| u8::from(is_stale(bone)));
    text.column(",\"marks\":[", bones, marks);
    text.column(",\"createdAt\":[", bones, |bone| bone.created_at.0);
    text.put(format_args!("}}}}"));
    text.0
}

/// The turns in the order they came up, and for each node which of them is its own.
fn number_turns(bones: &[Bone]) -> (Vec<TurnId>, Vec<i64>) {
    let (mut turns, mut known) = (Vec::new(), HashMap::with_capacity(bones.len()));
    let number = |bone: &Bone| {
        let Some(turn) = bone.turn else { return -1 };
        *known.entry(turn).or_insert_with(|| {
            turns.push(turn);
            i64::try_from(turns.len() - 1).unwrap_or(-1)
        })
    };
    let numbers = bones.iter().map(number).collect();
    (turns, numbers)
}

struct Text(Vec<u8>);

impl Text {
    fn put(&mut self, written: std::fmt::Arguments<'_>) {
        self.0.write_fmt(written).expect("memory takes everything");
    }

    /// Begins with `head` and ends with the bracket that closes it.
    fn column<T, W: Display>(&mut self, head: &str, entries: &[T], entry: impl Fn(&T) -> W) {
        self.0.extend_from_slice(head.as_bytes());
        for (place, one) in entries.iter().enumerate() {
            if place > 0 {
                self.0.push(b',');
            }
            self.put(format_args!("{}", entry(one)));
        }
        self.0.push(b']');
    }
}

fn author_letter(author: AuthorType) -> &'static str {
    match author {
        AuthorType::Human => "\"h\"",
        AuthorType::Model => "\"m\"",
        AuthorType::System => "\"s\"",
        AuthorType::Imported => "\"i\"",
    }
}

fn status_letter(status: GenerationStatus) -> &'static str {
    match status {
        GenerationStatus::Complete => "\"c\"",
        GenerationStatus::Pending => "\"p\"",
        GenerationStatus::Failed => "\"f\"",
    }
}

fn is_stale(bone: &Bone) -> bool {
    let above = match (bone.parent, bone.answers_selected) {
        (None, _) => Parent::None,
        (Some(_), true) => Parent::Selected,
        (Some(_), false) => Parent::NotSelected,
    };
    let derive = |speaker| CacheStatus::derive(speaker, bone.author_type, bone.status, above);
    bone.speaker.map(derive) == Some(CacheStatus::Stale)
}

fn marks(bone: &Bone) -> u8 {
    u8::from(bone.bookmarked) | u8::from(bone.pruned) << 1 | u8::from(bone.excluded) << 2
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use skein_core::Millis;
    use skein_core::tree::turn::Speaker;

    use super::*;

    fn bone(id: u8, parent: Option<u8>, turn: Option<u8>) -> Bone {
        Bone {
            id: NodeId::from_bytes([id; 16]),
            parent: parent.map(|parent| NodeId::from_bytes([parent; 16])),
            turn: turn.map(|turn| TurnId::from_bytes([turn; 16])),
            speaker: turn.map(|_| Speaker::Agent),
            ordinal: 1,
            depth: 1,
            author_type: AuthorType::Model,
            status: GenerationStatus::Complete,
            is_selected: true,
            answers_selected: true,
            bookmarked: false,
            pruned: false,
            excluded: false,
            created_at: Millis(5),
        }
    }

    #[test]
    fn columns_name_parents_and_turns_by_their_places() {
        let stale = Bone { answers_selected: false, bookmarked: true, excluded: true, ..bone(3, Some(1), Some(7)) };
        let bones = [bone(1, None, Some(9)), bone(2, Some(1), Some(7)), stale, bone(4, None, None)];
        let text = write(ConversationId::from_bytes([0; 16]), None, &bones);
        let read: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(read["cursorNodeId"], Value::Null);
        assert_eq!(read["turns"], json!([TurnId::from_bytes([9; 16]), TurnId::from_bytes([7; 16])]));
        let nodes = &read["nodes"];
        assert_eq!(nodes["id"][3], json!(NodeId::from_bytes([4; 16])));
        assert_eq!((&nodes["parent"], &nodes["turn"]), (&json!([-1, 0, 0, -1]), &json!([0, 1, 1, -1])));
        assert_eq!((&nodes["stale"], &nodes["marks"]), (&json!([0, 0, 1, 0]), &json!([0, 0, 5, 0])));
        assert_eq!((&nodes["author"][0], &nodes["status"][0]), (&json!("m"), &json!("c")));
    }

    #[test]
    fn a_tree_without_nodes_is_whole() {
        let cursor = NodeId::from_bytes([1; 16]);
        let read: Value =
            serde_json::from_slice(&write(ConversationId::from_bytes([0; 16]), Some(cursor), &[])).unwrap();
        assert_eq!((&read["nodes"]["createdAt"], &read["cursorNodeId"]), (&json!([]), &json!(cursor)));
    }
}
