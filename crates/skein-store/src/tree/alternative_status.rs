//! Reads the status of a turn's alternatives on a path, without their content, for each of possibly thousands of turns.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use skein_core::tree::actor::AuthorType;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, NodeId, PathId, TurnId, Viewer};

use crate::db::sql::{Row, Value, params};
use crate::error::{SqlError, StoreError};
use crate::tree::read::{ANSWERS_SELECTED, IS_SELECTED, SEEN_ON};
use crate::tree::rows::spelled;
use crate::tx::Tx;

/// An alternative as a path sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlternativeStatus {
    pub id: NodeId,
    pub ordinal: i64,
    pub speaker: Speaker,
    pub author_type: AuthorType,
    pub status: GenerationStatus,
    pub has_parent: bool,
    pub is_selected: bool,
    pub answers_selected: bool,
}

/// Turns that are asked about in one statement; the last statement asks about one of them several times.
const TURNS_PER_STATEMENT: usize = 64;

/// Places for turns from `first` on.
fn places(first: usize) -> String {
    let places: Vec<String> = (first..first + TURNS_PER_STATEMENT).map(|place| format!("?{place}")).collect();
    places.join(", ")
}

static FOLLOWING: LazyLock<String> =
    LazyLock::new(|| format!("SELECT parent, id FROM turns WHERE parent IN ({}) ORDER BY id", places(1)));
static STANDING: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT n.turn, n.id, n.ordinal, t.speaker, n.author_type, n.status, n.parent, {IS_SELECTED},
             {ANSWERS_SELECTED}
         FROM nodes n {SEEN_ON} WHERE n.turn IN ({}) AND n.conversation = ?2 ORDER BY n.turn, n.ordinal",
        places(3)
    )
});

impl Tx<'_> {
    /// Of each of these turns of a conversation and each that follows one of them, how its alternatives stand.
    pub fn alternative_statuses(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        path: PathId,
        turns: &[TurnId],
    ) -> Result<Vec<(TurnId, Vec<AlternativeStatus>)>, StoreError> {
        self.conversation(viewer, conversation)?;
        let affected = self.with_following(turns)?;
        let mut found: HashMap<TurnId, Vec<AlternativeStatus>> = HashMap::with_capacity(affected.len());
        for some in affected.chunks(TURNS_PER_STATEMENT) {
            let mut bound = params![&path, &conversation].to_vec();
            bound.extend(filled(some));
            for (turn, standing) in self.all(&STANDING, &bound, read_standing)? {
                found.entry(turn).or_default().push(standing);
            }
        }
        Ok(affected.into_iter().map(|turn| (turn, found.remove(&turn).unwrap_or_default())).collect())
    }

    /// Each turn with those that follow it behind it, none twice.
    fn with_following(&mut self, turns: &[TurnId]) -> Result<Vec<TurnId>, StoreError> {
        let mut following: HashMap<TurnId, Vec<TurnId>> = HashMap::new();
        for some in turns.chunks(TURNS_PER_STATEMENT) {
            let bound: Vec<Value<'_>> = filled(some).collect();
            let read = |row: &dyn Row| Ok((TurnId::from_bytes(row.array(0)?), TurnId::from_bytes(row.array(1)?)));
            for (turn, follower) in self.all(&FOLLOWING, &bound, read)? {
                following.entry(turn).or_default().push(follower);
            }
        }
        let mut known = HashSet::new();
        let groups = turns.iter().flat_map(|turn| {
            let followers = following.remove(turn).unwrap_or_default();
            std::iter::once(*turn).chain(followers)
        });
        Ok(groups.filter(|turn| known.insert(*turn)).collect())
    }
}

/// As many values as a statement has places; turns are never none.
fn filled(turns: &[TurnId]) -> impl Iterator<Item = Value<'_>> {
    let last = turns.last();
    turns.iter().chain(std::iter::repeat_n(last, TURNS_PER_STATEMENT - turns.len()).flatten()).map(Value::from)
}

fn read_standing(row: &dyn Row) -> Result<(TurnId, AlternativeStatus), SqlError> {
    let standing = AlternativeStatus {
        id: NodeId::from_bytes(row.array(1)?),
        ordinal: row.int(2)?,
        speaker: spelled(row, 3)?,
        author_type: spelled(row, 4)?,
        status: spelled(row, 5)?,
        has_parent: row.optional_array::<16>(6)?.is_some(),
        is_selected: row.int(7)? == 1,
        answers_selected: row.int(8)? == 1,
    };
    Ok((TurnId::from_bytes(row.array(0)?), standing))
}
