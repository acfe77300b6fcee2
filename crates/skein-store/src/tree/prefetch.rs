//! Reads in one statement what appending a turn rests on: its conversation, the node it answers, where path and participant
//! are, and which names are taken. On PostgreSQL one statement does so for all turns that share a transaction.
//!
//! Rows that are not found here are read one by one later. So a node that cannot be appended is refused with the same words.

use std::collections::HashMap;
use std::sync::LazyLock;

use skein_core::tree::actor::ActorId;
use skein_core::{ConversationId, Millis, NodeId, PathId, UserId, Viewer};

use crate::db::postgres::PostgresTransaction;
use crate::db::queued_write::{LockTarget, QueuedWrite};
use crate::db::sql::{OffsetRow, OwnedValue, Row, Value, params};
use crate::error::{SqlError, StoreError};
use crate::tree::append::likely_names;
use crate::tree::row_cache::{KnownFrame, NextNode, ParentSurroundings};
use crate::tree::rows::{CONVERSATION_COLUMNS, NODE_COLUMNS, NODE_WIDTH, read_conversation, read_node};
use crate::tx::{Tx, entropy_of};

const CONVERSATION_WIDTH: usize = 14;
/// Parameters of [`AROUND`], and where the likely names begin among them.
const PARAMETERS: usize = 8;
const NAMES_FROM: usize = 5;
/// Columns that [`read_surroundings`] expects.
const WIDTH: usize = CONVERSATION_WIDTH + NODE_WIDTH + 5 + (PARAMETERS - NAMES_FROM + 1);
/// The number of the draw that gives a node its id where its turn is read ahead; a function never draws so often.
const DRAW_AHEAD: u64 = u64::MAX;

/// Conversation ?1, node ?2, path ?3, participant ?4, and names from ?5 on.
static AROUND: LazyLock<String> = LazyLock::new(|| {
    let beside = |table: &str, alias: &str, key: &str| format!("LEFT JOIN {table} {alias} ON {key}");
    let around = around(|number| format!("?{number}"), beside);
    format!("SELECT {} FROM conversations c {} WHERE c.id = ?1", around.columns, around.beside)
});

/// [`AROUND`] for each row of its parameters, and the number of the row. The limits keep PostgreSQL to keys: of a
/// table that is small it would read everything for every row, and go on so when it has grown.
static AROUND_EACH: LazyLock<String> = LazyLock::new(|| {
    let of = |number: usize| if number < NAMES_FROM { "bytea" } else { "text" };
    let arrays: Vec<String> = (1..=PARAMETERS).map(|number| format!("?{number}::{}[]", of(number))).collect();
    let columns: Vec<String> = (1..=PARAMETERS).map(|number| format!("p{number}")).collect();
    let beside = |table: &str, alias: &str, key: &str| {
        format!("LEFT JOIN LATERAL (SELECT * FROM {table} {alias} WHERE {key} LIMIT 1) AS {alias} ON true")
    };
    let around = around(|number| format!("q.p{number}"), beside);
    format!(
        "SELECT {}, q.number FROM unnest({}) WITH ORDINALITY AS q({}, number)
         CROSS JOIN LATERAL (SELECT * FROM conversations c WHERE c.id = q.p1 LIMIT 1) AS c {}",
        around.columns,
        arrays.join(", "),
        columns.join(", "),
        around.beside
    )
});

/// The columns of [`AROUND`], and what is read beside the conversation.
struct Around {
    columns: String,
    beside: String,
}

/// Parameters are spelled by `parameter`; `beside` adds the one row of a table that has a key, if there is one.
fn around(parameter: impl Fn(usize) -> String, beside: impl Fn(&str, &str, &str) -> String) -> Around {
    let [conversation, node, path, participant] = [1, 2, 3, 4].map(&parameter);
    // By the order, and not by the name alone, only the index of names can tell.
    let is_taken = |number: usize| {
        let name = parameter(number);
        format!(
            "CAST(CASE WHEN (SELECT k.local_id FROM nodes k WHERE k.conversation = {conversation} AND k.local_id >= {name}
                 ORDER BY k.local_id LIMIT 1) = {name} THEN 1 ELSE 0 END AS BIGINT)"
        )
    };
    let names: Vec<String> = (NAMES_FROM..=PARAMETERS).map(is_taken).collect();
    let columns = format!(
        "{CONVERSATION_COLUMNS}, {NODE_COLUMNS}, a.cursor_node,
             CAST(CASE WHEN s.selected IS NULL THEN 1 - n.late ELSE s.selected END AS BIGINT),
             CAST(CASE WHEN (SELECT k.id FROM nodes k WHERE k.branch = n.branch AND k.depth = n.depth + 1
                 AND k.is_version = 0 LIMIT 1) IS NULL THEN 0 ELSE 1 END AS BIGINT),
             CASE WHEN r.owner = c.owner AND r.deleted = 0 THEN r.id END, f.conversation, {}",
        names.join(", ")
    );
    let tables = [
        beside("nodes", "n", &format!("n.id = {node}")),
        beside("paths", "a", &format!("a.id = {path}")),
        beside("selections", "s", &format!("s.path = {path} AND s.branch = n.branch AND s.depth = n.depth")),
        beside("records", "r", "r.id = c.project"),
        beside("frames", "f", &format!("f.project = c.project AND f.actor = {participant}")),
    ];
    Around { columns, beside: tables.join("\n") }
}

/// Where a turn is to be appended, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NewTurnAt {
    conversation: ConversationId,
    parent: NodeId,
    participant: ActorId,
}

impl NewTurnAt {
    fn path(&self) -> PathId {
        PathId::main_of(self.conversation)
    }

    /// The parameters of [`AROUND`], for a node that gets this id.
    fn ask<T>(&self, id: NodeId, ask: impl FnOnce(&[Value<'_>]) -> T) -> T {
        let (path, bare) = (self.path(), id.bare());
        let [first, second, third, fourth] = likely_names(&bare);
        let participant = self.participant.as_bytes();
        ask(params![&self.conversation, &self.parent, &path, participant, first, second, third, fourth])
    }
}

/// What was read for a turn before its function runs.
#[derive(Debug)]
pub(crate) struct TurnPrefetch {
    at: NewTurnAt,
    around: ParentSurroundings,
}

impl TurnPrefetch {
    /// Reads for the functions that append a turn, by their seeds. It holds until a function changes trees unnoticed by the
    /// row cache.
    pub(crate) fn of<'w>(
        sql: &mut PostgresTransaction<'_>,
        now: Millis,
        works: impl IntoIterator<Item = &'w dyn QueuedWrite>,
    ) -> Result<HashMap<[u8; 16], Self>, SqlError> {
        let asked: Vec<([u8; 16], NewTurnAt, NodeId)> =
            works.into_iter().filter_map(|work| asked_by(work, now)).collect();
        if asked.is_empty() {
            return Ok(HashMap::new());
        }
        let mut columns: [Vec<OwnedValue>; PARAMETERS] = Default::default();
        for (_, at, id) in &asked {
            at.ask(*id, |row| {
                columns.iter_mut().zip(row).for_each(|(column, value)| column.push(OwnedValue::of(*value)));
            });
        }
        let mut ahead = HashMap::new();
        for row in sql.each_of(&AROUND_EACH, &columns)? {
            let number = usize::try_from(<dyn Row>::int(&row, WIDTH)?).unwrap_or_default();
            let Some((seed, at, id)) = number.checked_sub(1).and_then(|number| asked.get(number)) else { continue };
            ahead.insert(*seed, Self { at: *at, around: read_surroundings(&row, at, *id)? });
        }
        Ok(ahead)
    }
}

/// The turn that a function appends and the id its node gets, if it says so.
fn asked_by(work: &dyn QueuedWrite, now: Millis) -> Option<([u8; 16], NewTurnAt, NodeId)> {
    let Some(LockTarget::Turn { owner, conversation, parent }) = work.about() else { return None };
    let at = NewTurnAt { conversation, parent, participant: ActorId::from(owner) };
    Some((*work.seed(), at, NodeId::new(now, entropy_of(work.seed(), DRAW_AHEAD))))
}

impl Tx<'_> {
    /// Reads what appending a turn after `parent` rests on, and delays what it writes until the end of the transaction. A
    /// function calls it first, and holds the trees of the conversation's owner.
    pub fn prefetch_append(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        parent: NodeId,
    ) -> Result<(), StoreError> {
        let at = NewTurnAt { conversation, parent, participant: ActorId::from(viewer.owner()) };
        // A function before this one may have written in the conversation; its row is known then.
        let is_unchanged = self.row_cache.conversation(conversation).is_none();
        let found = match self.turn_ahead.take().filter(|ahead| is_unchanged && ahead.at == at) {
            Some(ahead) => Some(ahead.around),
            None => self.read_around(&at)?,
        };
        if let Some(found) = found.filter(|found| viewer.may_write(found.conversation.owner)) {
            self.row_cache.fill(found);
        }
        Ok(())
    }

    fn read_around(&mut self, at: &NewTurnAt) -> Result<Option<ParentSurroundings>, StoreError> {
        let id = NodeId::new(self.id_time(), self.entropy());
        let read = |row: &dyn Row| read_surroundings(row, at, id);
        // Rows of a conversation that wait to be written come with a change of its row; where others of the participant are
        // is known.
        let key = ("conversations", &at.conversation.as_bytes()[..]);
        at.ask(id, |bound| {
            if self.row_cache.is_filled() {
                self.first_about(key, &AROUND, bound, read)
            } else {
                self.first(&AROUND, bound, read)
            }
        })
    }
}

fn read_surroundings(row: &dyn Row, at: &NewTurnAt, id: NodeId) -> Result<ParentSurroundings, SqlError> {
    let conversation = read_conversation(row)?;
    let (of_node, beside) = (OffsetRow(row, CONVERSATION_WIDTH), OffsetRow(row, CONVERSATION_WIDTH + NODE_WIDTH));
    let (of_node, beside): (&dyn Row, &dyn Row) = (&of_node, &beside);
    let found = of_node.optional_array::<16>(0)?.map(|_| read_node(of_node)).transpose()?;
    let parent = found.filter(|node| node.conversation == conversation.id);
    let owner: UserId = conversation.owner;
    let known = KnownFrame { owner, conversation: beside.optional_array(4)?.map(ConversationId::from_bytes) };
    let project = conversation.project.filter(|_| beside.optional_array::<16>(3).is_ok_and(|found| found.is_some()));
    Ok(ParentSurroundings {
        cursor: beside.optional_array(0)?.map(NodeId::from_bytes),
        parent_is_selected: beside.optional_int(1)? == Some(1),
        parent_is_continued: beside.int(2)? == 1,
        frame: project.map(|project| ((project, at.participant), known)),
        next: NextNode { id, conversation: conversation.id, taken: taken_names(beside, id)?, is_given: false },
        conversation,
        parent,
        path: at.path(),
    })
}

/// The likely names of a node that others of the conversation have.
fn taken_names(beside: &dyn Row, id: NodeId) -> Result<Vec<String>, SqlError> {
    let bare = id.bare();
    let taken = |(at, name): (usize, &str)| Ok((beside.int(5 + at)? == 1).then(|| name.to_owned()));
    likely_names(&bare).into_iter().enumerate().filter_map(|named| taken(named).transpose()).collect()
}
