//! Determines the episodes a query may see: by its place, and by its filters.

use std::collections::HashSet;
use std::sync::Arc;

use skein_core::garden::cursor::Cursor;
use skein_core::garden::project::Project;
use skein_core::memory::episode::EpisodeSource;
use skein_core::tree::actor::ActorId;
use skein_core::tree::node_place::NodeLabel;
use skein_core::{ConversationId, Millis, NodeId, PathId, RecordId, ReferenceField, Viewer};
use skein_recall::{Filter, Visibility, VisibleBranches, Weights};
use skein_store::memory::VisibleBranch;
use skein_store::tree::conversations::ConversationQuery;
use skein_store::{StoreError, Tx};

use crate::catalog::load_named;
use crate::memory::main_paths::{Paths, range};

/// What a question names.
const NODE: ReferenceField = ReferenceField::new("Z34", "nodeId", "node");
const CONVERSATION: ReferenceField = ReferenceField::new("Z34", "conversationId", "conversation");
const WITHIN: ReferenceField = ReferenceField::new("Z34", "within", "conversation");
const PROJECT: ReferenceField = ReferenceField::new("Z34", "projectId", "project");
/// Conversations of a project that a question is narrowed to.
const PROJECT_CONVERSATIONS_MAX: usize = 10_000;

/// What is asked, and from where.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct RecallQuery {
    /// Plain words; nothing in them is syntax.
    pub text: String,
    /// The end of the path one stands on.
    pub node: Option<NodeId>,
    /// Where its owner stands in a conversation, unless a node is named.
    pub conversation: Option<ConversationId>,
    /// Whether the path one stands on is left out, because it is known already.
    pub elsewhere: bool,
    /// Whether branches that no path shows are searched too.
    pub all_branches: bool,
    /// Only what was said in one of these.
    pub within: Vec<ConversationId>,
    /// Only what was said in a conversation of this project.
    pub project: Option<RecordId>,
    /// Only what one of these said.
    pub actors: Vec<ActorId>,
    /// Only what is of one of these kinds.
    pub sources: Vec<EpisodeSource>,
    /// Said at or after.
    pub from: Option<Millis>,
    /// Said at or before.
    pub until: Option<Millis>,
    /// Only what had been said by then.
    pub as_of: Option<Millis>,
    /// Only what had become known here by then.
    pub known_at: Option<Millis>,
    /// Whether what was said lately is preferred.
    pub recent: bool,
    /// Whether what merely stands beside something that was found is left out.
    pub strict: bool,
    /// The answer is to know everything up to here; it is waited for a little.
    pub at_least: Option<Cursor>,
    /// How much each way of finding counts.
    pub weights: Weights,
    /// How many results to pass over.
    pub skip: usize,
    /// How many are told at most.
    pub limit: usize,
}

/// What one question may see (decision Z8).
#[derive(Debug, Clone, Default)]
pub(super) struct QueryScope {
    /// Where one stands.
    pub(super) conversation: Option<ConversationId>,
    pub(super) node: Option<NodeId>,
    /// The path that leads there, through forks.
    path: Vec<VisibleBranch>,
    /// Those of its conversations in which one thing may stand in several versions.
    buffers: HashSet<ConversationId>,
    /// Whether branches that no path shows are seen.
    pub(super) is_whole: bool,
    pub(super) visibility: Visibility,
    pub(super) filter: Filter,
}

impl QueryScope {
    /// `paths` is what is known of main paths; without it only what is on the path itself is worked out.
    pub(super) fn of(
        tx: &mut Tx<'_>,
        viewer: &Viewer,
        query: &RecallQuery,
        paths: Option<&Paths>,
    ) -> Result<Self, StoreError> {
        let (conversation, node) = standing(tx, viewer, query)?;
        let path = node.map(|node| tx.ancestry(viewer, node)).transpose()?.unwrap_or_default();
        let is_whole = query.all_branches;
        // A conversation nobody lists is seen whole.
        let visibility = match paths.filter(|_| !is_whole) {
            Some(paths) => visibility(paths.of(tx, viewer)?, query, conversation, &path),
            None => Visibility::default(),
        };
        let filter = filter(tx, viewer, query)?;
        let mut led: Vec<ConversationId> = path.iter().map(|seen| seen.conversation).collect();
        led.dedup();
        let mut buffers = HashSet::new();
        for conversation in led {
            if tx.conversation(viewer, conversation)?.is_buffer() {
                buffers.insert(conversation);
            }
        }
        Ok(Self { conversation, node, path, buffers, is_whole, visibility, filter })
    }

    /// Whether a node whose place is on the path is what the path shows there, and not another version of it.
    pub(super) fn is_shown(
        &self,
        tx: &mut Tx<'_>,
        conversation: ConversationId,
        label: NodeLabel,
        node: NodeId,
    ) -> Result<bool, StoreError> {
        let Some(end) = self.node.filter(|_| self.buffers.contains(&conversation)) else { return Ok(true) };
        Ok(tx.version_on(&self.path, end, label)? == Some(node))
    }

    /// Whether a place is on the path one stands on.
    pub(super) fn is_on_path(&self, conversation: ConversationId, label: NodeLabel) -> bool {
        let covers = |seen: &VisibleBranch| {
            seen.conversation == conversation && seen.branch == label.branch && label.depth <= seen.down_to
        };
        self.path.iter().any(covers)
    }
}

/// The path one stands on, and of other conversations their main paths.
fn visibility(
    shared: Arc<VisibleBranches>,
    query: &RecallQuery,
    own: Option<ConversationId>,
    path: &[VisibleBranch],
) -> Visibility {
    let mut listed: VisibleBranches = own.into_iter().map(|own| (own, Vec::new())).collect();
    for seen in path.iter().filter(|_| !query.elsewhere) {
        let others = shared.get(&seen.conversation).filter(|_| Some(seen.conversation) != own);
        if Some(seen.conversation) == own || others.is_some() {
            let ranges = listed.entry(seen.conversation).or_insert_with(|| others.cloned().unwrap_or_default());
            ranges.push(range(*seen));
        }
    }
    Visibility { listed, shared, ..Visibility::default() }
}

fn standing(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    query: &RecallQuery,
) -> Result<(Option<ConversationId>, Option<NodeId>), StoreError> {
    match (query.node, query.conversation) {
        (Some(node), _) => {
            let row = tx.node(viewer, node).map_err(|error| error.of_reference(NODE, node))?;
            Ok((Some(row.conversation), Some(node)))
        }
        (None, Some(conversation)) => {
            let row = tx.conversation(viewer, conversation);
            row.map_err(|error| error.of_reference(CONVERSATION, conversation))?;
            let node = tx.path_cursor(viewer, conversation, PathId::main_of(conversation))?;
            Ok((Some(conversation), node))
        }
        (None, None) => Ok((None, None)),
    }
}

fn filter(tx: &mut Tx<'_>, viewer: &Viewer, query: &RecallQuery) -> Result<Filter, StoreError> {
    let mut within: Option<HashSet<ConversationId>> = None;
    if !query.within.is_empty() {
        for conversation in &query.within {
            tx.conversation(viewer, *conversation).map_err(|error| error.of_reference(WITHIN, conversation))?;
        }
        within = Some(query.within.iter().copied().collect());
    }
    if let Some(project) = query.project {
        let of_project = of_project(tx, viewer, project)?;
        within = Some(within.map_or(of_project.clone(), |within| within.intersection(&of_project).copied().collect()));
    }
    let kinds: Vec<String> = query.sources.iter().map(|source| source.as_str().to_owned()).collect();
    Ok(Filter {
        conversations: within,
        actors: (!query.actors.is_empty()).then(|| query.actors.iter().copied().collect()),
        kinds: (!kinds.is_empty()).then_some(kinds),
        valid_from: query.from,
        valid_until: query.until,
        ..Filter::default()
    })
}

fn of_project(tx: &mut Tx<'_>, viewer: &Viewer, project: RecordId) -> Result<HashSet<ConversationId>, StoreError> {
    load_named::<Project>(tx, viewer, PROJECT, project)?;
    let mut found = HashSet::new();
    for archived in [false, true] {
        let mut after = None;
        loop {
            let query = ConversationQuery { project: Some(project), archived, after, limit: 1_000 };
            let page = tx.conversations(viewer, &query)?;
            found.extend(page.rows.into_iter().map(|row| row.id));
            after = page.next;
            if after.is_none() || found.len() >= PROJECT_CONVERSATIONS_MAX {
                break;
            }
        }
    }
    Ok(found)
}
