//! How the alternatives of a turn stand on a path, without what they say: what an activation answers with for each turn
//! it affects, and there may be thousands.

use std::sync::LazyLock;

use skein_core::tree::actor::AuthorType;
use skein_core::tree::status::GenerationStatus;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, Millis, NodeId, PathId, TurnId, Viewer};

use crate::error::StoreError;
use crate::sql::params;
use crate::tree::read::{ANSWERS_SELECTED, IS_SELECTED, SEEN_ON};
use crate::tree::rows::spelled;
use crate::tx::Tx;

/// An alternative as a path sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub id: NodeId,
    pub ordinal: i64,
    pub speaker: Speaker,
    pub author_type: AuthorType,
    pub status: GenerationStatus,
    pub has_parent: bool,
    pub is_selected: bool,
    pub answers_selected: bool,
    pub created_at: Millis,
}

static STANDING: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT n.id, n.ordinal, t.speaker, n.author_type, n.status, n.parent, n.created_at, {IS_SELECTED}, {ANSWERS_SELECTED}
         FROM nodes n {SEEN_ON} WHERE n.turn = ?2 AND n.conversation = ?3 ORDER BY n.ordinal"
    )
});

impl Tx<'_> {
    /// Of each of these turns of a conversation and each that follows one of them, how its alternatives stand.
    pub fn standings(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        path: PathId,
        turns: &[TurnId],
    ) -> Result<Vec<(TurnId, Vec<Standing>)>, StoreError> {
        self.conversation(viewer, conversation)?;
        let mut known = std::collections::HashSet::new();
        let mut all = Vec::new();
        for turn in turns {
            let sql = "SELECT id FROM turns WHERE parent = ?1 ORDER BY id";
            let following = self.all(sql, params![turn], |row| row.array(0).map(TurnId::from_bytes))?;
            for affected in std::iter::once(*turn).chain(following) {
                if known.insert(affected) {
                    all.push((affected, self.standing(conversation, path, affected)?));
                }
            }
        }
        Ok(all)
    }

    fn standing(
        &mut self,
        conversation: ConversationId,
        path: PathId,
        turn: TurnId,
    ) -> Result<Vec<Standing>, StoreError> {
        self.all(&STANDING, params![&path, &turn, &conversation], |row| {
            Ok(Standing {
                id: NodeId::from_bytes(row.array(0)?),
                ordinal: row.int(1)?,
                speaker: spelled(row, 2)?,
                author_type: spelled(row, 3)?,
                status: spelled(row, 4)?,
                has_parent: row.optional_array::<16>(5)?.is_some(),
                created_at: Millis(row.int(6)?),
                is_selected: row.int(7)? == 1,
                answers_selected: row.int(8)? == 1,
            })
        })
    }
}
