//! Reads in one statement what appending a turn rests on: its conversation, the node it answers, where path and participant
//! are, and which names are taken.
//!
//! What is not found here is asked for one by one, as ever. So a node that cannot be appended is refused with the same words.

use std::sync::LazyLock;

use skein_core::tree::actor::ActorId;
use skein_core::{ConversationId, NodeId, PathId, UserId, Viewer};

use crate::error::{SqlError, StoreError};
use crate::sql::{Row, Shifted, params};
use crate::tree::append::likely_names;
use crate::tree::row_cache::{KnownFrame, NextNode, Surroundings};
use crate::tree::rows::{CONVERSATION_COLUMNS, NODE_COLUMNS, NODE_WIDTH, read_conversation, read_node};
use crate::tx::Tx;

const CONVERSATION_WIDTH: usize = 14;

/// Conversation ?1, node ?2 of it, path ?3, participant ?4, and names from ?5 on.
static AROUND: LazyLock<String> = LazyLock::new(|| {
    let is_taken = |place: usize| {
        format!(
            "CAST(CASE WHEN EXISTS (SELECT 1 FROM nodes k WHERE k.conversation = ?1 AND k.local_id = ?{place}) THEN 1 ELSE 0 END
                 AS BIGINT)"
        )
    };
    let names: Vec<String> = (5..9).map(is_taken).collect();
    format!(
        "SELECT {CONVERSATION_COLUMNS}, {NODE_COLUMNS}, a.cursor_node,
             CAST(CASE WHEN s.selected IS NULL THEN 1 - n.late ELSE s.selected END AS BIGINT),
             CAST(CASE WHEN EXISTS (SELECT 1 FROM nodes k WHERE k.branch = n.branch AND k.depth = n.depth + 1
                 AND k.is_version = 0) THEN 1 ELSE 0 END AS BIGINT), r.id, f.conversation, {}
         FROM conversations c
         LEFT JOIN nodes n ON n.id = ?2 AND n.conversation = c.id
         LEFT JOIN paths a ON a.id = ?3
         LEFT JOIN selections s ON s.path = ?3 AND s.branch = n.branch AND s.depth = n.depth
         LEFT JOIN records r ON r.id = c.project AND r.owner = c.owner AND r.deleted = 0
         LEFT JOIN frames f ON f.project = c.project AND f.actor = ?4
         WHERE c.id = ?1",
        names.join(", ")
    )
});

impl Tx<'_> {
    /// Reads ahead what saying something after `parent` rests on, and lets what it writes wait until the end of the
    /// transaction. To be asked first, by a function that holds the trees of the conversation's owner.
    pub fn prefetch_append(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        parent: NodeId,
    ) -> Result<(), StoreError> {
        let (path, participant) = (PathId::main_of(conversation), ActorId::from(viewer.owner()));
        let id = NodeId::new(self.now(), self.entropy());
        let bare = id.bare();
        let names = likely_names(&bare);
        let bound =
            params![&conversation, &parent, &path, participant.as_bytes(), names[0], names[1], names[2], names[3]];
        let read = |row: &dyn Row| {
            let taken = |at: usize| Ok((row.int(CONVERSATION_WIDTH + NODE_WIDTH + 5 + at)? == 1).then_some(names[at]));
            let taken: Vec<Option<&str>> = (0..names.len()).map(taken).collect::<Result<_, SqlError>>()?;
            let taken = taken.into_iter().flatten().map(str::to_owned).collect();
            read_surroundings(row, path, participant, NextNode { id, conversation, taken, is_given: false })
        };
        // Whatever waits to be written in a conversation comes with a change of its row; where others of the participant are
        // is known.
        let found = if self.row_cache.is_filled() {
            self.first_about(("conversations", conversation.as_bytes()), &AROUND, bound, read)?
        } else {
            self.first(&AROUND, bound, read)?
        };
        if let Some(found) = found.filter(|found| viewer.may_write(found.conversation.owner)) {
            self.row_cache.fill(found);
        }
        Ok(())
    }
}

fn read_surroundings(
    row: &dyn Row,
    path: PathId,
    participant: ActorId,
    next: NextNode,
) -> Result<Surroundings, SqlError> {
    let conversation = read_conversation(row)?;
    let (of_node, beside) = (Shifted(row, CONVERSATION_WIDTH), Shifted(row, CONVERSATION_WIDTH + NODE_WIDTH));
    let (of_node, beside): (&dyn Row, &dyn Row) = (&of_node, &beside);
    let parent = of_node.optional_array::<16>(0)?.map(|_| read_node(of_node)).transpose()?;
    let owner: UserId = conversation.owner;
    let known = KnownFrame { owner, conversation: beside.optional_array(4)?.map(ConversationId::from_bytes) };
    let project = conversation.project.filter(|_| beside.optional_array::<16>(3).is_ok_and(|found| found.is_some()));
    Ok(Surroundings {
        cursor: beside.optional_array(0)?.map(NodeId::from_bytes),
        parent_is_selected: beside.optional_int(1)? == Some(1),
        parent_is_continued: beside.int(2)? == 1,
        frame: project.map(|project| ((project, participant), known)),
        conversation,
        parent,
        path,
        next,
    })
}
