//! Conversations: begun, written in, turned about in, forked, folded and reopened.
//!
//! A use case loads what an act is about, lets `skein_core::tree` judge, and writes facts; the rows that answer questions
//! the store keeps in step. Start at [`conversations`] for a conversation as a whole, at [`turns`] for what is said in it.

mod actors;
mod compare;
mod context;
mod conversations;
mod export;
mod media;
mod model_images;
mod naming;
mod nodes;
pub(crate) mod projects;
mod proof;
pub(crate) mod summaries;
pub(crate) mod summary_input;
mod thumbnail;
mod turns;

use serde_json::{Value, json};
use skein_core::garden::record::Record;
use skein_core::tree::content::Content;
use skein_core::tree::conversation::Conversation;
use skein_core::tree::node_status::{CacheStatus, ParentStatus, display_order};
use skein_core::{ConversationId, NodeId, PathId, RecordId, TurnId, Viewer};
use skein_store::timeline::items::Page;
use skein_store::tree::alternative_status::AlternativeStatus;
use skein_store::tree::read::SeenNode;
use skein_store::tree::{ConversationRow, NodeRow, PathChange, TurnRow};
use skein_store::{StoreError, Tx};
use std::collections::HashMap;

use crate::catalog::StoredEntry;
use crate::request::Outcome;
use crate::tree::naming::{Name, NameCache};

pub(crate) use crate::jobs::summaries::work as summarise_growth;
pub use crate::memory::word_search::{FoundText, SearchQuery};
pub use compare::{ComparedNodes, ComparedPaths, PathDifference};
pub use context::{ContextQuery, ShownContext};
pub(crate) use conversations::usable_hint;
pub use conversations::{Folding, Forking};
pub use export::Export;
pub use model_images::SentImage;
pub(crate) use model_images::{PreparedImages, SentImages};
pub use nodes::{Edit, Marking, NodeQuery, TaggedNode, TextDiff};
pub use projects::{FrameMove, ShownFrame};
pub use proof::{ProvenanceChain, ProvenanceLink, VerificationScope};
pub(crate) use summaries::Growth;
pub use summaries::{ShownSummary, Subject};
pub use thumbnail::THUMBNAIL_MEDIA_TYPE;
pub use turns::{NewAlternative, NewTurn};
pub(crate) use turns::{PARENT, PARENT_TURN, alternative_of, follow_answer, named_alternative};

/// Alternatives of a turn that are shown beside something else.
const ALTERNATIVES_USUAL: usize = 100;

/// A conversation with what its tree says about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownConversation {
    /// As its record says.
    pub shown: StoredEntry<Conversation>,
    /// As its tree says.
    pub row: ConversationRow,
    /// How it is called.
    pub title: String,
    /// Where its owner stands in it.
    pub cursor: Option<NodeId>,
}

impl Outcome for ShownConversation {
    fn reference(&self) -> Value {
        self.shown.reference()
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let record = Record::recall(tx, viewer, reference)?;
        show_conversation(tx, viewer, record)
    }
}

/// A node as its reader sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownNode {
    /// What is kept of it.
    pub seen: SeenNode,
    /// Whether it still answers what is selected above it.
    pub cache: CacheStatus,
    /// Whether it and all it descends from is selected.
    pub on_path: bool,
    /// Whether an episode was made of it. Only reading looks: whoever says something does not wait for what follows.
    pub is_remembered: bool,
}

/// A position with its alternatives, the selected one first, then the newest.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownTurn {
    /// The position.
    pub turn: TurnRow,
    /// What was said there: a page of it, and before which number the next begins.
    pub alternatives: Page<ShownNode, i64>,
    /// How many alternatives there are in all.
    pub count: i64,
}

/// What came of saying something or of turning to something.
#[derive(Debug, Clone, PartialEq)]
pub struct AppendResult {
    /// The node.
    pub node: ShownNode,
    /// Its turn; a remark has none.
    pub turn: Option<ShownTurn>,
    /// The turns that show another node now, and those that follow them (decision Z3).
    pub affected: Vec<AffectedTurn>,
    /// The turns that show another node now.
    changed: Vec<TurnId>,
}

/// A turn that is affected by a change of the path.
#[derive(Debug, Clone, PartialEq)]
pub struct AffectedTurn {
    /// Which one.
    pub turn: TurnId,
    /// How its alternatives stand, in the order they are shown.
    pub alternatives: Vec<ShownStanding>,
}

/// How an alternative stands now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownStanding {
    /// Which one.
    pub id: NodeId,
    /// Whether its turn shows it.
    pub is_selected: bool,
    /// Whether it still answers what is selected above it.
    pub cache: CacheStatus,
    /// Whether it and all it descends from is selected.
    pub on_path: bool,
}

impl AppendResult {
    /// Right after the path was led to `node`, or something was said aside: what is selected in a turn that changed is on
    /// the path, and so is what answers it.
    pub(crate) fn now(tx: &mut Tx<'_>, viewer: &Viewer, node: &NodeRow, moved: PathChange) -> Result<Self, StoreError> {
        let path = PathId::main_of(node.conversation);
        let seen = tx.seen_node(viewer, path, node.id)?;
        let on_path = seen.is_selected;
        let node = shown(seen, on_path);
        let turn = turn_of(tx, viewer, path, &node, moved.turns.is_empty())?;
        Self::of(tx, viewer, path, (node, turn), moved.turns)
    }

    /// Right after the path was led to a node that was there before: what else was said at its turn nobody asked for.
    pub(crate) fn moved(
        tx: &mut Tx<'_>,
        viewer: &Viewer,
        node: &NodeRow,
        moved: PathChange,
    ) -> Result<Self, StoreError> {
        let path = PathId::main_of(node.conversation);
        let node = shown(tx.seen_node(viewer, path, node.id)?, true);
        Self::of(tx, viewer, path, (node, None), moved.turns)
    }

    fn of(
        tx: &mut Tx<'_>,
        viewer: &Viewer,
        path: PathId,
        (node, turn): (ShownNode, Option<ShownTurn>),
        changed: Vec<TurnId>,
    ) -> Result<Self, StoreError> {
        let affected = affected(tx, viewer, node.seen.row.conversation, path, &changed)?;
        Ok(Self { node, turn, affected, changed })
    }
}

impl Outcome for AppendResult {
    fn reference(&self) -> Value {
        json!({ "node": self.node.seen.row.id, "turns": self.changed })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let lost = || StoreError::Damaged("an operation does not say what it grew".to_owned());
        let read = |name: &str| reference.get(name).cloned().ok_or_else(lost);
        let node = serde_json::from_value(read("node")?).map_err(|_| lost())?;
        let changed = serde_json::from_value(read("turns")?).map_err(|_| lost())?;
        let path = PathId::main_of(tx.node(viewer, node)?.conversation);
        let node = show_node(tx, viewer, path, node)?;
        let turn = turn_of(tx, viewer, path, &node, false)?;
        let mut grown = Self::of(tx, viewer, path, (node, turn), changed)?;
        // The path may have been led elsewhere since.
        for standing in grown.affected.iter_mut().flat_map(|turn| &mut turn.alternatives) {
            standing.on_path = standing.is_selected && tx.is_on_path(viewer, path, standing.id)?;
        }
        Ok(grown)
    }
}

/// The turn of a node that was just made; `is_alone` says that nothing else can have been said there.
fn turn_of(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    path: PathId,
    node: &ShownNode,
    is_alone: bool,
) -> Result<Option<ShownTurn>, StoreError> {
    match node.seen.row.place {
        Some(place) if place.ordinal == 1 && is_alone => {
            let alternatives = Page { rows: vec![node.clone()], next: None };
            Ok(Some(ShownTurn { turn: tx.turn(viewer, place.turn)?, alternatives, count: 1 }))
        }
        Some(place) => show_turn(tx, viewer, path, place.turn, (None, ALTERNATIVES_USUAL)).map(Some),
        None => Ok(None),
    }
}

/// A node as the path of its conversation's owner sees it.
pub(crate) fn show_node(tx: &mut Tx<'_>, viewer: &Viewer, path: PathId, id: NodeId) -> Result<ShownNode, StoreError> {
    let seen = tx.seen_node(viewer, path, id)?;
    let on_path = seen.is_selected && tx.is_on_path(viewer, path, id)?;
    Ok(shown(seen, on_path))
}

/// Nodes as the own paths of their conversations see them.
pub(crate) fn show_nodes(tx: &mut Tx<'_>, nodes: Vec<SeenNode>) -> Result<Vec<ShownNode>, StoreError> {
    let on_path = tx.on_own_paths(&nodes)?;
    let show = |seen: SeenNode| {
        let on_path = on_path.contains(&seen.row.id);
        shown(seen, on_path)
    };
    Ok(nodes.into_iter().map(show).collect())
}

/// Nodes of one path, from the root's side on.
pub(crate) fn show_path(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    path: PathId,
    nodes: Vec<SeenNode>,
) -> Result<Vec<ShownNode>, StoreError> {
    let Some(first) = nodes.first() else { return Ok(Vec::new()) };
    let own = PathId::main_of(first.row.conversation);
    // What leads to where the path stands is on it.
    let end = nodes.last().unwrap_or(first);
    let ends_there = tx.path_cursor(viewer, end.row.conversation, path)? == Some(end.row.id);
    let mut on_path = ends_there || tx.is_on_path(viewer, own, first.row.id)?;
    let mut all = Vec::with_capacity(nodes.len());
    for mut seen in nodes {
        // A fork's path runs on into the conversation it came from, which is read, not turned about in.
        let is_of_path = PathId::main_of(seen.row.conversation) == path;
        if !is_of_path {
            (seen.is_selected, seen.answers_selected) = (true, true);
        }
        on_path = if is_of_path { on_path && seen.is_selected } else { true };
        all.push(shown(seen, on_path));
    }
    Ok(all)
}

fn shown(seen: SeenNode, on_path: bool) -> ShownNode {
    let above = parent(seen.row.parent.is_some(), seen.answers_selected);
    let cache = match seen.spoken {
        Some((speaker, _)) => CacheStatus::derive(speaker, seen.row.author_type, seen.row.status, above),
        None => CacheStatus::Valid,
    };
    ShownNode { seen, cache, on_path, is_remembered: false }
}

/// Notes which of these have an episode (decision A23).
pub(crate) fn note_remembered<'a>(
    tx: &mut Tx<'_>,
    nodes: impl IntoIterator<Item = &'a mut ShownNode>,
) -> Result<(), StoreError> {
    let mut nodes: Vec<&mut ShownNode> = nodes.into_iter().collect();
    let ids: Vec<NodeId> = nodes.iter().map(|node| node.seen.row.id).collect();
    let remembered = tx.remembered_nodes(&ids)?;
    for node in &mut nodes {
        node.is_remembered = remembered.contains(&node.seen.row.id);
    }
    Ok(())
}

/// A turn with its alternatives before one of them, in the order they are shown: the selected one first, however old it is,
/// then the others, newest first. `limit` is at least 1.
pub(crate) fn show_turn(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    path: PathId,
    turn: TurnId,
    (before, limit): (Option<i64>, usize),
) -> Result<ShownTurn, StoreError> {
    let count = tx.alternatives_count(viewer, turn)?;
    let selected = tx.selected_node(viewer, path, turn)?;
    let is_first = before.is_none();
    // What is shown comes first and only there, and takes a place of the first page.
    let others = if is_first { limit - 1 } else { limit };
    let (turn, mut page) = tx.alternatives(viewer, path, turn, Some(selected), before, others.max(1))?;
    if others == 0 {
        page = Page { rows: Vec::new(), next: (count > 1).then_some(i64::MAX) };
    }
    let mut rows: Vec<ShownNode> = page.rows.into_iter().map(|node| shown(node, false)).collect();
    if is_first {
        rows.push(show_node(tx, viewer, path, selected)?);
    }
    rows.sort_by_key(|node| {
        let sequence = node.seen.row.place.map_or(0, |place| place.ordinal);
        display_order(node.seen.is_selected, sequence)
    });
    Ok(ShownTurn { turn, alternatives: Page { rows, next: page.next }, count })
}

/// Z3: the turns whose selection changed, and the turns that follow them. An alternative is taken to be on the path when
/// its turn shows it and it answers what is shown. Of a turn with very many alternatives the newest are told.
fn affected(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    path: PathId,
    changed: &[TurnId],
) -> Result<Vec<AffectedTurn>, StoreError> {
    let alternative_statuses = tx.alternative_statuses(viewer, conversation, path, changed)?;
    let show = |(turn, mut alternatives): (TurnId, Vec<AlternativeStatus>)| {
        alternatives.sort_by_key(|node| display_order(node.is_selected, node.ordinal));
        alternatives.truncate(ALTERNATIVES_USUAL);
        AffectedTurn { turn, alternatives: alternatives.iter().map(show_standing).collect() }
    };
    Ok(alternative_statuses.into_iter().map(show).collect())
}

fn show_standing(node: &AlternativeStatus) -> ShownStanding {
    let above = parent(node.has_parent, node.answers_selected);
    ShownStanding {
        id: node.id,
        is_selected: node.is_selected,
        cache: CacheStatus::derive(node.speaker, node.author_type, node.status, above),
        on_path: node.is_selected && node.answers_selected,
    }
}

fn parent(is_there: bool, is_selected: bool) -> ParentStatus {
    match (is_there, is_selected) {
        (false, _) => ParentStatus::None,
        (true, true) => ParentStatus::Selected,
        (true, false) => ParentStatus::NotSelected,
    }
}

/// A conversation as it is shown, from its record.
pub(crate) fn show_conversation(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    record: Record,
) -> Result<ShownConversation, StoreError> {
    let (mut shown, name) = show_unnamed(tx, viewer, record, &mut ConversationLookups::default())?;
    let mut titles = naming::titles(tx, viewer, vec![name])?;
    shown.title = titles.pop().unwrap_or_default();
    Ok(shown)
}

/// Conversations as they are shown.
pub(crate) fn show_conversations(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    rows: &[ConversationRow],
) -> Result<Vec<ShownConversation>, StoreError> {
    let (mut all, mut parts, mut known) = (Vec::with_capacity(rows.len()), Vec::new(), ConversationLookups::default());
    for row in rows {
        let record = tx.record(viewer, row.id.into())?;
        let (shown, name) = show_unnamed(tx, viewer, record, &mut known)?;
        all.push(shown);
        parts.push(name);
    }
    let titles = naming::titles(tx, viewer, parts)?;
    Ok(all.into_iter().zip(titles).map(|(shown, title)| ShownConversation { title, ..shown }).collect())
}

/// What conversations of one page share.
#[derive(Default)]
struct ConversationLookups {
    /// Which processes may be offered.
    usable: HashMap<RecordId, bool>,
    names: NameCache,
}

/// A conversation whose title is still to be filled in, and what that is made of.
fn show_unnamed(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    record: Record,
    known: &mut ConversationLookups,
) -> Result<(ShownConversation, Name), StoreError> {
    let mut shown: StoredEntry<Conversation> = record.try_into()?;
    let id = conversation_id(shown.id);
    let row = tx.conversation(viewer, id)?;
    // A process that was disabled since is not offered until it is enabled again (rule BR-CONV-001).
    if let Some(process) = shown.entry.process_id {
        let before = known.usable.get(&process).copied();
        let is_usable =
            before.map_or_else(|| usable_hint(tx, row.owner, process).map(|found| found == Some(true)), Ok)?;
        known.usable.insert(process, is_usable);
        shown.entry.process_id = Some(process).filter(|_| is_usable);
    }
    if let Some(summary) = &mut shown.entry.summary
        && let Some(item) = summary.text_item
    {
        summary.text = tx.fold_text(viewer, item)?.unwrap_or_default();
    }
    let cursor = tx.path_cursor(viewer, id, PathId::main_of(id))?;
    let name = known.names.of(tx, viewer, &shown.entry, &row)?;
    Ok((ShownConversation { shown, row, title: String::new(), cursor }, name))
}

/// What a node says, as plain text, unless it was destroyed.
pub(crate) fn text_of(node: &SeenNode) -> Option<String> {
    node.content.as_ref().and_then(plain_text)
}

/// The words of a content, if it can be read.
pub(crate) fn plain_text(content: &Value) -> Option<String> {
    Some(Content::parse(content).ok()?.plain_text().into_owned())
}

/// What a node says in words.
pub(crate) fn text_at(tx: &mut Tx<'_>, viewer: &Viewer, node: NodeId) -> Result<String, StoreError> {
    let path = PathId::main_of(tx.node(viewer, node)?.conversation);
    Ok(text_of(&tx.seen_node(viewer, path, node)?).unwrap_or_default())
}

/// The conversation that a record is.
pub fn conversation_id(record: RecordId) -> ConversationId {
    ConversationId::from_bytes(*record.as_bytes())
}
