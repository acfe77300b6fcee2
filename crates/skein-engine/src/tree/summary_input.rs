//! Reads the input of a summary in one transaction, and writes its prompt.
//!
//! A model outside is asked in the words of `skein_core::tree::summary`. The built-in model quotes, so it is given the same
//! in the form it understands: what came before as instructions, what is to be summarised as an attachment.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, json};
use skein_connect::llm::chat::{Attachment, ChatRequest, Message, Part};
use skein_connect::offline;
use skein_core::catalog::entry::Description;
use skein_core::tree::context::FourCharacters;
use skein_core::tree::node::TreeSummary;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::tree::summary::{
    EarlierNode, NODE_TOKENS_MAX, NodeSubject, TREE_SENTENCES, TREE_TOKENS_MAX, TreeSubject, is_node_due, node_context,
    node_prompt, tree_prompt, trim_to_sentence, trim_to_tree_summary,
};
use skein_core::{ConversationId, NodeId, PathId, Viewer};
use skein_store::tree::ConversationRow;
use skein_store::tree::read::SeenNode;
use skein_store::tree::summaries::{DraftSummary, NodeWithContent};
use skein_store::{StoreError, Tx};

use crate::catalog::ModelPrompt;
use crate::tree::summaries::Subject;
use crate::tree::{ShownConversation, conversations, plain_text, text_of};

/// How much of the main path a summary of the tree looks at, from its end.
const TREE_NODES_MAX: usize = 100;
/// How many nodes beside it that were answered in more than one way.
const BRANCH_POINTS_MAX: usize = 20;
/// A node, what it answers, and what that answers.
const NODE_AND_BEFORE: usize = 3;

/// What a summary is made from.
#[derive(Debug, Clone)]
pub(crate) struct Material {
    conversation: ConversationId,
    /// Nothing for the tree as a whole.
    node: Option<NodeId>,
    /// How many nodes the tree has.
    nodes: i64,
    title: String,
    /// What a model is asked.
    prompt: String,
    /// What came before, for the built-in model.
    before: String,
    /// What is summarised, for the built-in model.
    text: String,
    /// The nodes whose words are in it.
    used: Vec<NodeId>,
}

impl Material {
    /// Gathers it; nothing where there is nothing to say.
    pub(crate) fn of(tx: &mut Tx<'_>, viewer: &Viewer, subject: Subject) -> Result<Option<Self>, StoreError> {
        match subject {
            Subject::Node(node) => of_node(tx, viewer, node),
            Subject::Tree(conversation) => of_tree(tx, viewer, conversation),
        }
    }

    /// What a model outside is asked.
    pub(crate) fn question(&self) -> ModelPrompt {
        let max_tokens = if self.node.is_some() { NODE_TOKENS_MAX } else { TREE_TOKENS_MAX };
        let about = json!({ "conversationId": self.conversation, "nodeId": self.node });
        ModelPrompt {
            prompt: self.prompt.clone(),
            max_tokens: u32::try_from(max_tokens).unwrap_or(u32::MAX),
            about: about.as_object().cloned().unwrap_or_else(Map::new),
            why: "summarising what was said",
            session: self.conversation.to_string(),
        }
    }

    /// What a model said, as much of it as a summary may be; nothing if it said nothing.
    pub(crate) fn told_by(&self, model: &str, answer: &str) -> Option<TreeSummary> {
        let text = match self.node {
            Some(_) => trim_to_sentence(answer, &FourCharacters),
            None => trim_to_tree_summary(answer, &FourCharacters),
        }?;
        let (conversation_id, node_id, nodes) = (self.conversation, self.node, self.nodes);
        Some(TreeSummary { conversation_id, node_id, text, model: model.to_owned(), nodes })
    }

    /// What the built-in model says; what it finds nothing to quote of is cut short.
    pub(crate) fn built_in(&self) -> Option<TreeSummary> {
        let quoted = match self.node {
            Some(_) => self.quoted("Summarize the following message in one sentence.", "message", 1),
            None => self.quoted("Summarize this conversation in two sentences.", &self.title, TREE_SENTENCES),
        };
        let quoted = quoted.and_then(|answer| self.told_by(offline::MODEL, &answer));
        quoted.or_else(|| self.told_by(offline::MODEL, &self.text))
    }

    /// The first passages the built-in model quotes.
    fn quoted(&self, asked: &str, called: &str, sentences: usize) -> Option<String> {
        let attached = Attachment { title: called.to_owned(), source: None, text: self.text.clone() };
        let message = Message::User(vec![Part::Text(asked.to_owned()), Part::Attached(attached)]);
        let before = (!self.before.is_empty()).then(|| Message::system(self.before.clone()));
        let request = ChatRequest::new(offline::MODEL, before.into_iter().chain([message]).collect());
        let answer = offline::answer(&request).ok()?;
        let body: serde_json::Value = serde_json::from_slice(&answer.raw.body).ok()?;
        let quotes = body.get("quotes")?.as_array()?.iter().filter_map(|quote| quote.get("text")?.as_str());
        let chosen: Vec<&str> = quotes.take(sentences).collect();
        (!chosen.is_empty()).then(|| chosen.join(" "))
    }

    /// Whether nothing of what it was gathered from was destroyed since.
    pub(crate) fn is_still_there(&self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        Ok(tx.without_content(&self.used)?.is_empty())
    }

    /// Whether a model would be asked the same about a node now. Its question quotes the title of the tree and earlier summaries,
    /// which may tell what nodes further up said: one that was destroyed since changed them.
    pub(crate) fn is_asked_alike(&self, tx: &mut Tx<'_>, viewer: &Viewer) -> Result<bool, StoreError> {
        let Some(node) = self.node else { return Ok(true) };
        let now = Self::of(tx, viewer, Subject::Node(node))?;
        Ok(now.is_some_and(|now| now.prompt == self.prompt))
    }

    /// The summary the built-in model writes, and the nodes it rests on.
    pub(crate) fn draft(self) -> Option<DraftSummary> {
        self.built_in().map(|summary| DraftSummary { summary, used: self.used })
    }
}

/// Nodes of one conversation, with those before them where they were read together.
struct Nodes {
    read: HashMap<NodeId, NodeWithContent>,
    summaries: HashMap<NodeId, TreeSummary>,
    /// Whether the node before another is the one it was appended to: no version can stand in its place, no fork above it.
    is_plain: bool,
}

impl Nodes {
    /// Reads these nodes and, where they are known by their ids alone, the two before each.
    fn read(tx: &mut Tx<'_>, viewer: &Viewer, of: &ConversationRow, nodes: &[NodeId]) -> Result<Self, StoreError> {
        let is_plain = !of.is_buffer() && of.origin.is_none();
        let (mut read, mut unread) = (HashMap::new(), nodes.to_vec());
        for _ in 0..if is_plain { NODE_AND_BEFORE } else { 1 } {
            let found = tx.node_contents(viewer, &unread)?;
            unread = found.iter().filter_map(|node| node.row.parent).collect();
            read.extend(found.into_iter().map(|node| (node.row.id, node)));
            unread.retain(|node| !read.contains_key(node));
        }
        let ids: Vec<NodeId> = read.keys().copied().collect();
        let summaries = tx.summaries_of(viewer, &ids)?;
        Ok(Self { read, summaries, is_plain })
    }

    /// A node and at most two before it, in the order of their path.
    fn path_to(&self, tx: &mut Tx<'_>, viewer: &Viewer, node: NodeId) -> Result<Vec<Told>, StoreError> {
        let Some(last) = self.read.get(&node) else { return Ok(Vec::new()) };
        if !self.is_plain {
            return path_to(tx, viewer, last.row.conversation, node);
        }
        let before =
            |node: &&NodeWithContent| node.row.place.and(node.row.parent).and_then(|parent| self.read.get(&parent));
        let mut path: Vec<Told> =
            std::iter::successors(Some(last), before).take(NODE_AND_BEFORE).map(Told::of).collect();
        path.reverse();
        Ok(path)
    }
}

/// A node as far as a summary rests on it.
struct Told {
    node: NodeId,
    status: GenerationStatus,
    /// Nothing once it was destroyed.
    text: Option<String>,
}

impl Told {
    fn of(node: &NodeWithContent) -> Self {
        Self { node: node.row.id, status: node.row.status, text: node.content.as_ref().and_then(plain_text) }
    }
}

/// A node and at most two before it, as the main path of a conversation shows them.
fn path_to(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    node: NodeId,
) -> Result<Vec<Told>, StoreError> {
    let path = tx.path_to(viewer, PathId::main_of(conversation), node, NODE_AND_BEFORE)?;
    let told = |seen: SeenNode| Told { node: seen.row.id, status: seen.row.status, text: text_of(&seen) };
    Ok(path.into_iter().map(told).collect())
}

/// What summaries of several nodes of one conversation are made from.
pub(crate) fn drafts(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    nodes: &[NodeId],
) -> Result<Vec<DraftSummary>, StoreError> {
    let shown = conversations::shown(tx, viewer, conversation)?;
    let mut read = Nodes::read(tx, viewer, &shown.row, nodes)?;
    let mut drafts = Vec::new();
    for node in nodes {
        let path = read.path_to(tx, viewer, *node)?;
        let Some(draft) = of_path(path, &read.summaries, &shown).and_then(Material::draft) else { continue };
        // A node after it is summarised with it.
        read.summaries.insert(*node, draft.summary.clone());
        drafts.push(draft);
    }
    Ok(drafts)
}

/// AG-SUM-002: the title, what the node answers, and for a short node what that answers.
fn of_node(tx: &mut Tx<'_>, viewer: &Viewer, node: NodeId) -> Result<Option<Material>, StoreError> {
    let conversation = tx.node(viewer, node)?.conversation;
    let path = path_to(tx, viewer, conversation, node)?;
    let ids: Vec<NodeId> = path.iter().map(|told| told.node).collect();
    let summaries = tx.summaries_of(viewer, &ids)?;
    let shown = conversations::shown(tx, viewer, conversation)?;
    Ok(of_path(path, &summaries, &shown))
}

/// What a summary of the last node of a path is made from.
fn of_path(
    mut path: Vec<Told>,
    summaries: &HashMap<NodeId, TreeSummary>,
    shown: &ShownConversation,
) -> Option<Material> {
    let Told { node, status, text } = path.pop()?;
    let (conversation, text) = (shown.row.id, text.unwrap_or_default());
    if !is_node_due(status, &text, None) {
        return None;
    }
    let mut earlier = || path.pop().and_then(|told| said(told, summaries));
    let (parent, grandparent) = (earlier(), earlier());
    let subject = NodeSubject {
        tree_title: &shown.title,
        parent: parent.as_ref().map(PriorMessage::earlier),
        grandparent: grandparent.as_ref().map(PriorMessage::earlier),
        text: &text,
    };
    let (prompt, before) = (node_prompt(&subject, &FourCharacters), node_context(&subject, &FourCharacters));
    let used = [Some(node), parent.as_ref().map(|said| said.node), grandparent.as_ref().map(|said| said.node)];
    let used = used.into_iter().flatten().collect();
    let (nodes, title) = (shown.row.nodes, shown.title.clone());
    Some(Material { conversation, node: Some(node), nodes, title, prompt, before, text, used })
}

/// Something that was said before.
struct PriorMessage {
    node: NodeId,
    summary: Option<String>,
    text: String,
}

impl PriorMessage {
    fn earlier(&self) -> EarlierNode<'_> {
        EarlierNode { summary: self.summary.as_deref(), text: &self.text }
    }
}

/// What a node said, with the summary it has; nothing once it was destroyed.
fn said(told: Told, summaries: &HashMap<NodeId, TreeSummary>) -> Option<PriorMessage> {
    let summary = summaries.get(&told.node).map(|summary| summary.text.clone());
    Some(PriorMessage { node: told.node, summary, text: told.text? })
}

/// AG-SUM-004: the description, what the main path says, and where it was answered in more than one way.
fn of_tree(tx: &mut Tx<'_>, viewer: &Viewer, conversation: ConversationId) -> Result<Option<Material>, StoreError> {
    let shown = conversations::shown(tx, viewer, conversation)?;
    let Some(end) = shown.cursor.or(shown.row.root_node) else { return Ok(None) };
    let mut nodes = tx.path_ids(viewer, end, TREE_NODES_MAX)?;
    let (branch_points, beside) = tx.branch_points(viewer, conversation, BRANCH_POINTS_MAX)?;
    let on_path: HashSet<NodeId> = nodes.iter().copied().collect();
    nodes.extend(beside.into_iter().filter(|node| !on_path.contains(node)));
    let gists = gists(tx, viewer, &nodes)?;
    let description = shown.shown.entry.description.as_ref().map(Description::as_str);
    let told: Vec<&str> = gists.iter().map(|(_, text)| text.as_str()).collect();
    let branch_points = usize::try_from(branch_points).unwrap_or_default();
    let prompt = tree_prompt(&TreeSubject { description, node_summaries: &told, branch_points });
    let text = description.into_iter().chain(told).collect::<Vec<_>>().join("\n\n");
    let used = gists.iter().map(|(node, _)| *node).collect();
    let (nodes, before, title) = (shown.row.nodes, String::new(), shown.title);
    Ok(Some(Material { conversation, node: None, nodes, title, prompt, before, text, used }))
}

/// What these nodes add to the summary of their tree, in their order: each its own summary, else its first sentence; nothing
/// once it was destroyed.
fn gists(tx: &mut Tx<'_>, viewer: &Viewer, nodes: &[NodeId]) -> Result<Vec<(NodeId, String)>, StoreError> {
    let (summaries, destroyed) = (tx.summaries_of(viewer, nodes)?, tx.without_content(nodes)?);
    let mut texts: HashMap<NodeId, String> =
        summaries.into_iter().map(|(node, summary)| (node, summary.text)).collect();
    let rest: Vec<NodeId> = nodes.iter().filter(|node| !texts.contains_key(node)).copied().collect();
    for node in tx.node_contents(viewer, &rest)? {
        let text = node.content.as_ref().and_then(plain_text);
        let sentence = text.and_then(|text| trim_to_sentence(&text, &FourCharacters));
        texts.extend(sentence.map(|sentence| (node.row.id, sentence)));
    }
    let there = nodes.iter().filter(|node| !destroyed.contains(node));
    Ok(there.filter_map(|node| texts.remove(node).map(|text| (*node, text))).collect())
}
