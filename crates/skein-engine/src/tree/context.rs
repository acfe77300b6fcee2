//! Assembles the context a model would be sent at a node, and accounts for each part.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;

use serde_json::{Value, json};
use skein_core::tree::actor::Actor;
use skein_core::tree::content::{Block, Content};
use skein_core::tree::context::{
    ContextExtra, ContextNode, ContextOptions, ContextSource, ContextWindow, FoldedBranch, FourCharacters, Message,
    MessagePiece, PINNED, PathNode, Prompt, Strategy, assemble,
};
use skein_core::tree::conversation::Conversation;
use skein_core::tree::node::{Source, SourceRole};
use skein_core::tree::short_text::Instructions;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ConversationId, ItemId, NodeId, PathId, RecordId, Viewer};
use skein_store::tree::read::{NODES_PER_PAGE_MAX, SeenNode};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::StoredEntry;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::tree::{conversations, show_conversation};

/// Tokens of a window where neither the conversation nor the asker says how many.
const BUDGET_DEFAULT: usize = 32_768;
/// Most nodes of a path that are looked at, counted from its end, and most bytes of what they say.
const PATH_NODES_MAX: usize = 20_000;
const PATH_BYTES_MAX: usize = 64 << 20;
/// Most sources of these nodes that are looked at; their bytes count with those of the path, each time one is cited: so often
/// it is laid out.
const SOURCES_MAX: usize = 20_000;
/// Most pinned nodes of one owner that are known, the newest.
const PINNED_MAX: usize = 10_000;
/// Most folded branches of one conversation that are looked at.
const FOLDED_MAX: usize = 1_000;

/// How a window is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextQuery {
    /// Tokens of the whole window; the conversation's own budget unless it is named.
    pub budget: Option<usize>,
    /// What to do when the path does not fit.
    pub strategy: Option<Strategy>,
    /// Who is asked: their prompt comes first.
    pub actor: Option<RecordId>,
    /// What feeds the answer beside the node.
    pub sources: Vec<Source>,
    /// Whether the model that is asked accepts images.
    pub accepts_images: bool,
}

/// A window, and how far up the path was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownContext {
    /// What is sent, and what became of every part.
    pub window: ContextWindow,
    /// The oldest node that was looked at, where the path goes on above it.
    pub looked_from: Option<NodeId>,
    /// The actor it was made for.
    pub actor: Option<RecordId>,
}

impl ShownContext {
    /// As a step of a process gets it: messages, and what became of every part.
    pub(crate) fn to_output(&self) -> Value {
        let mut messages: Vec<Value> = match &self.window.prompt {
            Prompt::Chat(messages) => messages.iter().map(spelled).collect(),
            Prompt::Text { system, text } => {
                let system = system.iter().map(|system| json!({ "role": "system", "content": system }));
                system.chain([json!({ "role": "user", "content": text, "continue": true })]).collect()
            }
        };
        // The call that sends them adds no prompt of its own.
        if let (Some(actor), Some(first)) = (self.actor, messages.first_mut()) {
            first["actorId"] = json!(actor);
        }
        json!({ "messages": messages, "report": self.window.report })
    }
}

/// A message as processes spell it: a text, or a list of content blocks where there are images.
fn spelled(message: &Message) -> Value {
    let content = match &message.pieces[..] {
        [MessagePiece::Text(text)] => json!(text),
        pieces => pieces.iter().map(block).collect(),
    };
    json!({ "role": message.role, "content": content })
}

fn block(piece: &MessagePiece) -> Value {
    match piece {
        MessagePiece::Text(text) => Block::Text(text.clone()),
        MessagePiece::Image(image) => Block::Image(image.clone()),
    }
    .to_document()
}

impl Engine {
    /// What a model would be shown at a node.
    pub async fn context_at(
        &self,
        caller: &Caller,
        node: NodeId,
        query: ContextQuery,
    ) -> Result<ShownContext, EngineError> {
        self.context_with(caller, node, query, Vec::new()).await
    }

    /// What a model would be shown at a node, with what was found elsewhere as far as there is room.
    pub(crate) async fn context_with(
        &self,
        caller: &Caller,
        node: NodeId,
        query: ContextQuery,
        memory: Vec<String>,
    ) -> Result<ShownContext, EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| gather(tx, &viewer, node, &query)?.assemble(&query, &memory);
        let shown = self.parts().store.read(look).await?;
        Ok(self.with_readable_images(caller, shown).await)
    }

    /// Images whose bytes cannot be sent become text, and the report says so.
    async fn with_readable_images(&self, caller: &Caller, mut shown: ShownContext) -> ShownContext {
        let Prompt::Chat(messages) = &mut shown.window.prompt else { return shown };
        let wanted = messages.iter().flat_map(Message::images).map(|image| image.blob).collect();
        let readable = self.images_to_send(caller.user, wanted).await;
        for message in messages {
            let unreadable: Vec<ItemId> =
                message.images().map(|image| image.blob).filter(|item| !readable.contains_key(item)).collect();
            for item in &unreadable {
                shown.window.report.note_unreadable(*item);
            }
            let pieces = std::mem::take(&mut message.pieces);
            let whole = Message { role: message.role, pieces };
            *message = whole.without(|image| unreadable.contains(&image.blob));
        }
        shown
    }
}

/// All that may be shown, as it was read.
struct ContextCandidates {
    conversation: Conversation,
    agent_prompt: Option<String>,
    path: Vec<LoadedNode>,
    /// What fed a node beside its parent.
    feeds: Feeds,
    /// What feeds the answer beside the last node.
    next: Vec<(SourceRole, Arc<LoadedNode>)>,
    folded: Vec<(ItemId, String, String)>,
    looked_from: Option<NodeId>,
}

/// A node as far as a window is concerned.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own that a node has or has not")]
struct LoadedNode {
    id: ItemId,
    speaker: Option<Speaker>,
    blocks: Vec<Block>,
    is_tool_output: bool,
    excluded: bool,
    pruned: bool,
    pinned: bool,
}

impl LoadedNode {
    fn of(seen: &SeenNode, is_cut_off: bool) -> Self {
        Self {
            id: seen.row.id.into(),
            speaker: seen.spoken.map(|(speaker, _)| speaker),
            blocks: blocks_of(seen),
            is_tool_output: matches!(seen.spoken, Some((_, TurnType::ToolResult))),
            excluded: seen.row.excluded,
            pruned: seen.row.pruned || is_cut_off,
            pinned: false,
        }
    }

    fn said(&self) -> ContextNode<'_> {
        let speaker = self.speaker.unwrap_or(Speaker::User);
        let Self { id, is_tool_output, excluded, pruned, pinned, .. } = *self;
        ContextNode { id, speaker, blocks: &self.blocks, is_tool_output, excluded, pruned, pinned }
    }
}

/// What a node says; nothing where it was destroyed.
fn blocks_of(seen: &SeenNode) -> Vec<Block> {
    let content = seen.content.as_ref().and_then(|content| Content::parse(content).ok());
    content.map(|content| content.blocks().to_vec()).unwrap_or_default()
}

impl ContextCandidates {
    fn assemble(&self, query: &ContextQuery, memory: &[String]) -> Result<ShownContext, StoreError> {
        let own = self.conversation.context_budget.map(skein_core::tree::conversation::ContextBudget::tokens);
        let options = ContextOptions {
            budget: query.budget.or(own).unwrap_or(BUDGET_DEFAULT),
            strategy: query.strategy.unwrap_or(Strategy::TruncateMiddle),
            buffer_system_context: self.conversation.shows_system_context(),
            accepts_images: query.accepts_images,
        };
        let path: Vec<PathNode<'_>> = self.path.iter().map(|spoken| self.node(spoken)).collect();
        let folded: Vec<FoldedBranch<'_>> = self
            .folded
            .iter()
            .map(|(origin, title, summary)| FoldedBranch { origin: *origin, title, summary })
            .collect();
        let extras: Vec<ContextExtra<'_>> =
            memory.iter().map(|text| ContextExtra { kind: "memory", reason: "found by a search", text }).collect();
        let next: Vec<(SourceRole, ContextNode<'_>)> =
            self.next.iter().map(|(role, fed)| (*role, fed.said())).collect();
        let source = ContextSource {
            mode: self.conversation.mode,
            agent_prompt: self.agent_prompt.as_deref(),
            system_context: self.conversation.system_context.as_ref().map(Instructions::as_str),
            path: &path,
            next_sources: &next,
            folded: &folded,
            extras: &extras,
            working_buffer: None,
        };
        let window = assemble(&source, options, &FourCharacters)?;
        Ok(ShownContext { window, looked_from: self.looked_from, actor: query.actor })
    }

    fn node<'a>(&'a self, spoken: &'a LoadedNode) -> PathNode<'a> {
        let feeds = self.feeds.get(&spoken.id).into_iter().flatten();
        let sources = feeds.map(|(role, fed)| (*role, fed.said())).collect();
        PathNode { said: spoken.said(), is_annotation: spoken.speaker.is_none(), sources }
    }
}

fn gather(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    node: NodeId,
    query: &ContextQuery,
) -> Result<ContextCandidates, StoreError> {
    let row = tx.node(viewer, node)?;
    let conversation = conversations::load(tx, viewer, row.conversation)?.entry;
    let actor = query.actor.map(|id| tx.record(viewer, id).and_then(StoredEntry::<Actor>::try_from)).transpose()?;
    let agent_prompt = actor.and_then(|actor| actor.entry.configuration.system_prompt);
    let mut sources = Sources { room: ReadBudget(PATH_BYTES_MAX), known: BTreeMap::new() };
    // What is asked for by name comes first, the path gets the room it leaves.
    let next = query.sources.iter().map(|source| Ok((source.role, sources.named(tx, viewer, source.node_id)?)));
    let next = next.collect::<Result<Vec<_>, StoreError>>()?;
    let PathScan { nodes, feeds, oldest: looked_from } = path(tx, viewer, node, sources)?;
    let folded = folded(tx, viewer, &nodes)?;
    let pinned = tx.ids_tagged(viewer, PINNED, PINNED_MAX)?;
    let mut is_cut_off = false;
    let path = nodes
        .iter()
        .map(|seen| {
            is_cut_off |= seen.row.pruned;
            LoadedNode { pinned: pinned.contains(&seen.row.id), ..LoadedNode::of(seen, is_cut_off) }
        })
        .collect();
    let agent_prompt = agent_prompt.map(|prompt| prompt.as_str().to_owned());
    Ok(ContextCandidates { conversation, agent_prompt, path, feeds, next, folded, looked_from })
}

/// How many bytes of what is said may still be looked at.
struct ReadBudget(usize);

impl ReadBudget {
    /// Whether there was room for so many bytes.
    fn take(&mut self, bytes: usize) -> bool {
        let is_room = self.0 >= bytes;
        self.0 = self.0.saturating_sub(bytes);
        is_room
    }
}

/// Bytes of what a node says.
fn bytes_of(seen: &SeenNode) -> usize {
    seen.content.as_ref().map_or(0, |content| content.to_string().len())
}

/// Nodes that are cited. Each is read and kept once, and takes room each time.
struct Sources {
    room: ReadBudget,
    known: BTreeMap<NodeId, (Arc<LoadedNode>, usize)>,
}

impl Sources {
    /// A source that is wanted whether or not there is room.
    fn named(&mut self, tx: &mut Tx<'_>, viewer: &Viewer, node: NodeId) -> Result<Arc<LoadedNode>, StoreError> {
        let (spoken, bytes) = self.load(tx, viewer, node)?;
        self.room.take(bytes);
        Ok(spoken)
    }

    /// A source, if there is room for it.
    fn cited(&mut self, tx: &mut Tx<'_>, viewer: &Viewer, node: NodeId) -> Result<Option<Arc<LoadedNode>>, StoreError> {
        let (spoken, bytes) = self.load(tx, viewer, node)?;
        Ok(self.room.take(bytes).then_some(spoken))
    }

    fn load(&mut self, tx: &mut Tx<'_>, viewer: &Viewer, node: NodeId) -> Result<(Arc<LoadedNode>, usize), StoreError> {
        let unknown = match self.known.entry(node) {
            Entry::Occupied(known) => return Ok(known.get().clone()),
            Entry::Vacant(unknown) => unknown,
        };
        let main = PathId::main_of(tx.node(viewer, node)?.conversation);
        let seen = tx.seen_node(viewer, main, node)?;
        let spoken = LoadedNode::of(&seen, tx.is_pruned(viewer, node)?);
        Ok(unknown.insert((Arc::new(spoken), bytes_of(&seen))).clone())
    }
}

/// The path to a node from the root's side on, with what fed its nodes, as far up as the limits allow; the last node is
/// always there.
fn path(tx: &mut Tx<'_>, viewer: &Viewer, node: NodeId, mut sources: Sources) -> Result<PathScan, StoreError> {
    let main = PathId::main_of(tx.node(viewer, node)?.conversation);
    let (mut nodes, mut end, mut is_full) = (Vec::new(), Some(node), false);
    while let Some(last) = end.filter(|_| !is_full) {
        // One more than is taken: the next piece begins with it, in the version that is shown.
        let mut piece = tx.path_to(viewer, main, last, NODES_PER_PAGE_MAX + 1)?;
        end = (piece.len() > NODES_PER_PAGE_MAX).then(|| piece.remove(0).row.id);
        for seen in piece.into_iter().rev() {
            is_full |= !sources.room.take(bytes_of(&seen)) || nodes.len() >= PATH_NODES_MAX;
            if is_full && !nodes.is_empty() {
                break;
            }
            nodes.push(seen);
        }
    }
    let is_cut = is_full || end.is_some();
    let (feeds, kept) = feeds(tx, viewer, &nodes, sources)?;
    let is_cut = is_cut || kept < nodes.len();
    nodes.truncate(kept);
    nodes.reverse();
    let oldest = nodes.first().filter(|_| is_cut).map(|first| first.row.id);
    Ok(PathScan { nodes, feeds, oldest })
}

/// A source that several nodes cite is kept once.
type Feeds = BTreeMap<ItemId, Vec<(SourceRole, Arc<LoadedNode>)>>;

/// What was looked at of a path.
struct PathScan {
    nodes: Vec<SeenNode>,
    feeds: Feeds,
    /// The oldest of the nodes, where the path goes on above it.
    oldest: Option<NodeId>,
}

/// What fed these nodes, the nearest first, and of how many of them all of it: limits hold for it as for what is said.
fn feeds(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    nodes: &[SeenNode],
    mut sources: Sources,
) -> Result<(Feeds, usize), StoreError> {
    let mut feeds = Feeds::new();
    let Some(end) = nodes.first() else { return Ok((feeds, 0)) };
    let found = tx.path_feeds(viewer, end.row.id, nodes.len(), SOURCES_MAX + 1)?;
    for (number, (target, source, role)) in found.into_iter().enumerate() {
        let spoken = if number < SOURCES_MAX { sources.cited(tx, viewer, source)? } else { None };
        let Some(spoken) = spoken else {
            let kept = nodes.iter().position(|node| node.row.id == target).unwrap_or(nodes.len());
            feeds.remove(&target.into());
            return Ok((feeds, kept.max(1)));
        };
        feeds.entry(target.into()).or_default().push((role, spoken));
    }
    Ok((feeds, nodes.len()))
}

/// What came of branches that left the path and were folded.
fn folded(tx: &mut Tx<'_>, viewer: &Viewer, path: &[SeenNode]) -> Result<Vec<(ItemId, String, String)>, StoreError> {
    let on_path: BTreeSet<NodeId> = path.iter().map(|seen| seen.row.id).collect();
    let through: BTreeSet<ConversationId> = path.iter().map(|seen| seen.row.conversation).collect();
    let mut found = Vec::new();
    for conversation in through {
        for row in tx.folded_forks(viewer, conversation, FOLDED_MAX)? {
            let Some(origin) = row.origin.filter(|origin| on_path.contains(origin)) else { continue };
            let record = tx.record(viewer, row.id.into())?;
            let shown = show_conversation(tx, viewer, record)?;
            // A summary that was redacted says nothing.
            if let Some(summary) = shown.shown.entry.summary.filter(|summary| !summary.text.is_empty()) {
                found.push((origin.into(), shown.title, summary.text));
            }
        }
    }
    Ok(found)
}
