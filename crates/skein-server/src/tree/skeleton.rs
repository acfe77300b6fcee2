//! The skeleton of a tree in compact columns. Written by hand: a tree may have a hundred thousand nodes, and a reader
//! waits for all of them.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::Write as _;

use skein_core::tree::actor::AuthorType;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::{ConversationId, NodeId, TurnId};
use skein_store::tree::skeleton::SkeletonNode;
use utoipa::ToSchema;

/// Room for one node in all its columns.
const NODE_BYTES_USUAL: usize = 128;
const I64_DIGITS_MAX: usize = 19;

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
    /// 1 for what the path went on with last, from the node it answers: the way down to where its reader was.
    visited: Vec<u8>,
    /// 1 for what does not answer what is selected above it.
    stale: Vec<u8>,
    /// Buffers: the position in `id` of the version that is shown in this node's place; -1 for a node without versions. Empty if
    /// no node has versions.
    shown_version: Vec<i64>,
    /// 1 bookmarked, 2 pruned, 4 excluded, added up.
    marks: Vec<u8>,
    /// Milliseconds since 1970.
    created_at: Vec<i64>,
}

/// The text of a [`SkeletonView`]; `bones` come in the order of their ids.
pub(crate) fn write(conversation: ConversationId, cursor: Option<NodeId>, bones: &[SkeletonNode]) -> Vec<u8> {
    let (turns, turn_of) = number_turns(bones);
    let mut text = Text(Vec::with_capacity(bones.len() * NODE_BYTES_USUAL));
    text.put(b"{\"conversationId\":");
    text.name(&conversation);
    text.put(b",\"cursorNodeId\":");
    match cursor {
        Some(cursor) => text.name(&cursor),
        None => text.put(b"null"),
    }
    text.column(b",\"turns\":[", &turns, |text, turn| text.name(turn));
    text.column(b",\"nodes\":{\"id\":[", bones, |text, bone| text.name(&bone.id));
    text.column(b",\"parent\":[", bones, |text, bone| text.place(bone.parent_place));
    text.column(b",\"turn\":[", &turn_of, |text, turn| text.place(*turn));
    text.column(b",\"ordinal\":[", bones, |text, bone| text.number(bone.ordinal));
    text.column(b",\"depth\":[", bones, |text, bone| text.number(bone.depth));
    text.column(b",\"author\":[", bones, |text, bone| text.put(author_letter(bone.author_type)));
    text.column(b",\"status\":[", bones, |text, bone| text.put(status_letter(bone.status)));
    text.column(b",\"selected\":[", bones, |text, bone| text.digit(u8::from(bone.is_selected)));
    text.column(b",\"visited\":[", bones, |text, bone| text.digit(u8::from(bone.is_visited)));
    text.column(b",\"stale\":[", bones, |text, bone| text.digit(u8::from(bone.is_stale)));
    let versioned = if bones.iter().any(|bone| bone.shown_version.is_some()) { bones } else { &[] };
    text.column(b",\"shownVersion\":[", versioned, |text, bone| text.place(bone.shown_version));
    text.column(b",\"marks\":[", bones, |text, bone| text.digit(marks(bone)));
    text.column(b",\"createdAt\":[", bones, |text, bone| text.number(bone.created_at.0));
    text.put(b"}}");
    text.0
}

/// The turns in the order they came up, and for each node which of them is its own.
fn number_turns(bones: &[SkeletonNode]) -> (Vec<TurnId>, Vec<Option<usize>>) {
    let (mut turns, mut known) = (Vec::new(), HashMap::with_capacity(bones.len()));
    let mut number = |turn: TurnId| {
        *known.entry(turn).or_insert_with(|| {
            turns.push(turn);
            turns.len() - 1
        })
    };
    let numbers = bones.iter().map(|bone| bone.turn.map(&mut number)).collect();
    (turns, numbers)
}

struct Text(Vec<u8>);

impl Text {
    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// An id in quotes; ids have nothing in them that JSON would escape.
    fn name(&mut self, id: &dyn Display) {
        write!(self.0, "\"{id}\"").expect("memory takes everything");
    }

    /// A place in another column.
    fn place(&mut self, place: Option<usize>) {
        self.number(place.and_then(|place| i64::try_from(place).ok()).unwrap_or(-1));
    }

    fn digit(&mut self, value: u8) {
        self.0.push(b'0' + value);
    }

    /// A whole number. The formatter of the standard library takes as long as all the rest.
    fn number(&mut self, value: i64) {
        let mut digits = [0; I64_DIGITS_MAX];
        let (mut left, mut first) = (value.unsigned_abs(), digits.len());
        loop {
            first -= 1;
            digits[first] = b'0' + u8::try_from(left % 10).expect("below ten");
            left /= 10;
            if left == 0 {
                break;
            }
        }
        if value < 0 {
            self.0.push(b'-');
        }
        self.put(&digits[first..]);
    }

    /// Begins with `head` and ends with the bracket that closes it.
    fn column<T>(&mut self, head: &[u8], entries: &[T], mut entry: impl FnMut(&mut Self, &T)) {
        self.put(head);
        for (place, one) in entries.iter().enumerate() {
            if place > 0 {
                self.0.push(b',');
            }
            entry(self, one);
        }
        self.0.push(b']');
    }
}

fn author_letter(author: AuthorType) -> &'static [u8] {
    match author {
        AuthorType::Human => b"\"h\"",
        AuthorType::Model => b"\"m\"",
        AuthorType::System => b"\"s\"",
        AuthorType::Imported => b"\"i\"",
    }
}

fn status_letter(status: GenerationStatus) -> &'static [u8] {
    match status {
        GenerationStatus::Complete => b"\"c\"",
        GenerationStatus::Pending => b"\"p\"",
        GenerationStatus::Failed => b"\"f\"",
    }
}

fn marks(bone: &SkeletonNode) -> u8 {
    u8::from(bone.bookmarked) | u8::from(bone.pruned) << 1 | u8::from(bone.excluded) << 2
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use skein_core::Millis;

    use super::*;

    fn bone(id: u8, parent: Option<u8>, turn: Option<u8>) -> SkeletonNode {
        SkeletonNode {
            id: NodeId::from_bytes([id; 16]),
            parent: parent.map(|parent| NodeId::from_bytes([parent; 16])),
            parent_place: parent.map(|parent| usize::from(parent) - 1),
            turn: turn.map(|turn| TurnId::from_bytes([turn; 16])),
            ordinal: 1,
            depth: 1,
            author_type: AuthorType::Model,
            status: GenerationStatus::Complete,
            is_selected: true,
            is_visited: true,
            answers_selected: true,
            is_stale: false,
            shown_version: None,
            bookmarked: false,
            pruned: false,
            excluded: false,
            created_at: Millis(5),
        }
    }

    #[test]
    fn columns_name_parents_and_turns_by_their_places() {
        let stale = SkeletonNode { is_stale: true, bookmarked: true, excluded: true, ..bone(3, Some(1), Some(7)) };
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
    fn numbers_are_written_as_they_are_read() {
        for number in [0, 7, 10, -1, 1_763_222_400_123, i64::MAX, i64::MIN] {
            let mut text = Text(Vec::new());
            text.number(number);
            assert_eq!(String::from_utf8(text.0).unwrap(), number.to_string());
        }
    }

    #[test]
    fn a_tree_without_nodes_is_whole() {
        let cursor = NodeId::from_bytes([1; 16]);
        let read: Value =
            serde_json::from_slice(&write(ConversationId::from_bytes([0; 16]), Some(cursor), &[])).unwrap();
        assert_eq!((&read["nodes"]["createdAt"], &read["cursorNodeId"]), (&json!([]), &json!(cursor)));
    }
}
