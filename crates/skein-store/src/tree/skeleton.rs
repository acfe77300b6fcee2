//! Reads a whole tree without its contents.
//!
//! There may be a hundred thousand nodes, and every join is another search for each of them. So what a path selected is
//! read as a list of its own, parents are found among the nodes at hand, and turns are looked at only where who speaks
//! decides: for words that are stale unless they stand in a person's turn.

use std::collections::HashMap;
use std::sync::LazyLock;

use skein_core::tree::actor::AuthorType;
use skein_core::tree::node_place::NodeLabel;
use skein_core::tree::node_status::{CacheStatus, GenerationStatus, ParentStatus};
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, Millis, NodeId, PathId, TurnId, Viewer};

use crate::db::sql::{Row, Value, params};
use crate::error::{SqlError, StoreError};
use crate::tree::path_visits::PathVisits;
use crate::tree::rows::spelled;
use crate::tx::Tx;

/// Most nodes of a skeleton.
pub const SKELETON_NODES_MAX: usize = 2_000_000;
/// Turns that are asked about in one statement; the last statement asks about one of them several times.
const TURNS_PER_STATEMENT: usize = 500;

/// One node of a skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an answer of its own")]
pub struct SkeletonNode {
    pub id: NodeId,
    /// What it answers, or for a remark what it is about.
    pub parent: Option<NodeId>,
    /// Where its parent stands in the skeleton.
    pub parent_place: Option<usize>,
    pub turn: Option<TurnId>,
    pub ordinal: i64,
    pub depth: i64,
    pub author_type: AuthorType,
    pub status: GenerationStatus,
    pub is_selected: bool,
    /// Whether the path went on with it last, from the node it answers.
    pub is_visited: bool,
    pub answers_selected: bool,
    pub is_stale: bool,
    /// In a buffer: the position of the version that the path shows in this node's place. `None` for a node that was never
    /// edited there.
    pub shown_version: Option<usize>,
    pub bookmarked: bool,
    pub pruned: bool,
    pub excluded: bool,
    pub created_at: Millis,
}

/// What a path was led to at each label: which node, and whether it is still selected.
type Choices = HashMap<NodeLabel, (NodeId, bool)>;

static SPOKEN_BY_PEOPLE: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (1..=TURNS_PER_STATEMENT).map(|place| format!("?{place}")).collect();
    format!("SELECT t.id FROM turns t WHERE t.speaker = 'user' AND t.id IN ({})", places.join(", "))
});

impl Tx<'_> {
    /// The whole tree without what it says, in the order it grew.
    pub fn skeleton(
        &mut self,
        viewer: &Viewer,
        path: PathId,
        conversation: ConversationId,
    ) -> Result<Vec<SkeletonNode>, StoreError> {
        let is_buffer = self.conversation(viewer, conversation)?.is_buffer();
        let choices = self.choices(path)?;
        let visits = self.visits(path)?;
        // The number stands in the text, so that PostgreSQL plans for all of them and not for a tenth. A remark has no parent: it
        // hangs on what it is about.
        let sql = format!(
            "SELECT n.id, CASE WHEN n.turn IS NOT NULL THEN n.parent ELSE
                 (SELECT a.source FROM node_sources a WHERE a.target = n.id AND a.kind = 'annotation' ORDER BY a.source LIMIT 1) END, n.turn, n.ordinal, n.branch, n.depth, n.late, n.author_type, n.status, n.created_at,
                 n.bookmarked, n.pruned, n.excluded
             FROM nodes n WHERE n.conversation = ?1 ORDER BY n.id LIMIT {SKELETON_NODES_MAX}"
        );
        let mut bones = self.all(&sql, params![&conversation], |row| read_bone(row, &choices, &visits))?;
        if is_buffer {
            self.find_shown_versions(conversation, &choices, &mut bones)?;
        }
        connect(&mut bones);
        self.spare_people(&mut bones)?;
        Ok(bones)
    }

    fn choices(&mut self, path: PathId) -> Result<Choices, StoreError> {
        let sql = "SELECT s.branch, s.depth, s.node, s.selected FROM selections s WHERE s.path = ?1";
        let found = self.all(sql, params![&path], |row| {
            let label = NodeLabel { branch: NodeId::from_bytes(row.array(0)?), depth: row.int(1)? };
            Ok((label, (NodeId::from_bytes(row.array(2)?), row.int(3)? == 1)))
        })?;
        Ok(found.into_iter().collect())
    }

    /// Finds for each node that was edited in a buffer which of its versions the path shows (rule AG-EDIT-003).
    fn find_shown_versions(
        &mut self,
        conversation: ConversationId,
        choices: &Choices,
        bones: &mut [SkeletonNode],
    ) -> Result<(), StoreError> {
        let sql = "SELECT v.id, v.branch, v.depth, o.id FROM nodes v
             LEFT JOIN nodes o ON o.branch = v.branch AND o.depth = v.depth AND o.is_version = 0
             WHERE v.conversation = ?1 AND v.is_version = 1";
        let versions = self.all(sql, params![&conversation], |row| {
            let label = NodeLabel { branch: NodeId::from_bytes(row.array(1)?), depth: row.int(2)? };
            Ok((NodeId::from_bytes(row.array(0)?), label, NodeId::from_bytes(row.array(3)?)))
        })?;
        let position = |node: NodeId| bones.binary_search_by_key(&node, |bone| bone.id).ok();
        let mut shown_versions = Vec::with_capacity(versions.len() * 2);
        for (version, label, original) in versions {
            let shown = choices.get(&label).map_or(original, |(chosen, _)| *chosen);
            let pairs = [version, original].map(|node| Some((position(node)?, position(shown)?)));
            shown_versions.extend(pairs.into_iter().flatten());
        }
        for (node, shown) in shown_versions {
            bones[node].shown_version = Some(shown);
        }
        Ok(())
    }

    /// What stands in a person's turn never goes stale, no matter who wrote it.
    fn spare_people(&mut self, bones: &mut [SkeletonNode]) -> Result<(), StoreError> {
        let mut turns: Vec<TurnId> = bones.iter().filter(|bone| bone.is_stale).filter_map(|bone| bone.turn).collect();
        turns.sort_unstable();
        turns.dedup();
        let mut spoken_by_people = Vec::new();
        for some in turns.chunks(TURNS_PER_STATEMENT) {
            let missing = std::iter::repeat_n(some.last(), TURNS_PER_STATEMENT - some.len()).flatten();
            let bound: Vec<Value<'_>> = some.iter().chain(missing).map(Value::from).collect();
            spoken_by_people.extend(self.all(&SPOKEN_BY_PEOPLE, &bound, |row| row.array(0).map(TurnId::from_bytes))?);
        }
        spoken_by_people.sort_unstable();
        for bone in bones.iter_mut().filter(|bone| bone.is_stale) {
            bone.is_stale = bone.turn.is_some_and(|turn| spoken_by_people.binary_search(&turn).is_err());
        }
        Ok(())
    }
}

/// Finds what each bone answers, and whether it goes stale with that.
fn connect(bones: &mut [SkeletonNode]) {
    let places: HashMap<NodeId, usize> = bones.iter().enumerate().map(|(place, bone)| (bone.id, place)).collect();
    let shown: Vec<bool> = bones.iter().map(|bone| bone.answers_selected).collect();
    for bone in bones {
        bone.parent_place = bone.parent.and_then(|parent| places.get(&parent).copied());
        // A remark answers nothing.
        let answered = bone.parent.filter(|_| bone.turn.is_some());
        let above = match (answered, bone.parent_place) {
            (None, _) => ParentStatus::None,
            (Some(_), Some(place)) if shown[place] => ParentStatus::Selected,
            (Some(_), _) => ParentStatus::NotSelected,
        };
        bone.answers_selected = above != ParentStatus::NotSelected;
        let standing = CacheStatus::derive(Speaker::Agent, bone.author_type, bone.status, above);
        bone.is_stale = bone.turn.is_some() && standing == CacheStatus::Stale;
    }
}

/// A bone that does not know yet about the node it answers: it says of itself whether its turn shows its lineage.
fn read_bone(row: &dyn Row, choices: &Choices, visits: &PathVisits) -> Result<SkeletonNode, SqlError> {
    let id = NodeId::from_bytes(row.array(0)?);
    let (ordinal, depth) = (row.optional_int(3)?.unwrap_or(0), row.optional_int(5)?.unwrap_or(0));
    let branch = row.optional_array(4)?.map(NodeId::from_bytes);
    let choice = branch.and_then(|branch| choices.get(&NodeLabel { branch, depth }));
    let (is_selected, is_lineage_shown) = match choice {
        Some((chosen, is_selected)) => (*is_selected && *chosen == id, *is_selected),
        None => (ordinal == 1, row.int(6)? == 0),
    };
    Ok(SkeletonNode {
        id,
        parent: row.optional_array(1)?.map(NodeId::from_bytes),
        parent_place: None,
        turn: row.optional_array(2)?.map(TurnId::from_bytes),
        ordinal,
        depth,
        author_type: spelled(row, 7)?,
        status: spelled(row, 8)?,
        is_selected,
        is_visited: branch.is_some_and(|branch| visits.lead_to(id, NodeLabel { branch, depth })),
        answers_selected: is_lineage_shown,
        is_stale: false,
        shown_version: None,
        created_at: Millis(row.int(9)?),
        bookmarked: row.int(10)? == 1,
        pruned: row.int(11)? == 1,
        excluded: row.int(12)? == 1,
    })
}
