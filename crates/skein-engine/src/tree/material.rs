//! What a summary is made from, read in one transaction, and what is asked with it.
//!
//! A model outside is asked in the words of `skein_core::tree::summary`. The built-in model quotes, so it is given the same
//! in the form it understands: what came before as instructions, what is to be summarised as an attachment.

use serde_json::{Map, json};
use skein_connect::llm::chat::{Attachment, ChatRequest, Message, Part};
use skein_connect::offline;
use skein_core::catalog::entry::Description;
use skein_core::tree::context::FourCharacters;
use skein_core::tree::node::TreeSummary;
use skein_core::tree::summary::{
    Earlier, NODE_TOKENS_MAX, NodeSubject, TREE_SENTENCES, TREE_TOKENS_MAX, TreeSubject, is_node_due, node_context,
    node_prompt, tree_prompt, trim_to_sentence, trim_to_tree_summary,
};
use skein_core::{ConversationId, NodeId, PathId, Viewer};
use skein_store::tree::read::SeenNode;
use skein_store::{StoreError, Tx};

use crate::catalog::Question;
use crate::tree::summaries::Subject;
use crate::tree::{conversations, text_of};

/// How much of the main path a summary of the tree looks at, from its end.
const TREE_NODES_MAX: usize = 100;
/// How many nodes beside it that were answered in more than one way.
const BRANCH_POINTS_MAX: usize = 20;
/// A node, what it answers, and what that answers.
const NODE_AND_BEFORE: usize = 3;

/// What a summary is made from.
#[derive(Debug, Clone)]
pub(super) struct Material {
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
    pub(super) fn of(tx: &mut Tx<'_>, viewer: &Viewer, subject: Subject) -> Result<Option<Self>, StoreError> {
        match subject {
            Subject::Node(node) => of_node(tx, viewer, node),
            Subject::Tree(conversation) => of_tree(tx, viewer, conversation),
        }
    }

    /// What a model outside is asked.
    pub(super) fn question(&self) -> Question {
        let max_tokens = if self.node.is_some() { NODE_TOKENS_MAX } else { TREE_TOKENS_MAX };
        let about = json!({ "conversationId": self.conversation, "nodeId": self.node });
        Question {
            prompt: self.prompt.clone(),
            max_tokens: u32::try_from(max_tokens).unwrap_or(u32::MAX),
            about: about.as_object().cloned().unwrap_or_else(Map::new),
            why: "summarising what was said",
            session: self.conversation.to_string(),
        }
    }

    /// What a model said, as much of it as a summary may be; nothing if it said nothing.
    pub(super) fn told_by(&self, model: &str, answer: &str) -> Option<TreeSummary> {
        let text = match self.node {
            Some(_) => trim_to_sentence(answer, &FourCharacters),
            None => trim_to_tree_summary(answer, &FourCharacters),
        }?;
        let (conversation_id, node_id, nodes) = (self.conversation, self.node, self.nodes);
        Some(TreeSummary { conversation_id, node_id, text, model: model.to_owned(), nodes })
    }

    /// What the built-in model says; what it finds nothing to quote of is cut short.
    pub(super) fn built_in(&self) -> Option<TreeSummary> {
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
    pub(super) fn is_still_there(&self, tx: &mut Tx<'_>, viewer: &Viewer) -> Result<bool, StoreError> {
        for node in &self.used {
            let main = PathId::main_of(tx.node(viewer, *node)?.conversation);
            if tx.seen_node(viewer, main, *node)?.content.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// AG-SUM-002: the title, what the node answers, and for a short node what that answers.
fn of_node(tx: &mut Tx<'_>, viewer: &Viewer, node: NodeId) -> Result<Option<Material>, StoreError> {
    let conversation = tx.node(viewer, node)?.conversation;
    let mut path = tx.path_to(viewer, PathId::main_of(conversation), node, NODE_AND_BEFORE)?;
    let Some(seen) = path.pop() else { return Ok(None) };
    let text = text_of(&seen).unwrap_or_default();
    if !is_node_due(seen.row.status, &text, None) {
        return Ok(None);
    }
    let parent = said(tx, viewer, path.pop())?;
    let grandparent = said(tx, viewer, path.pop())?;
    let shown = conversations::shown(tx, viewer, conversation)?;
    let subject = NodeSubject {
        tree_title: &shown.title,
        parent: parent.as_ref().map(Said::earlier),
        grandparent: grandparent.as_ref().map(Said::earlier),
        text: &text,
    };
    let (prompt, before) = (node_prompt(&subject, &FourCharacters), node_context(&subject, &FourCharacters));
    let used = [Some(node), parent.as_ref().map(|said| said.node), grandparent.as_ref().map(|said| said.node)];
    let used = used.into_iter().flatten().collect();
    let (nodes, title) = (shown.row.nodes, shown.title.clone());
    Ok(Some(Material { conversation, node: Some(node), nodes, title, prompt, before, text, used }))
}

/// Something that was said before.
struct Said {
    node: NodeId,
    summary: Option<String>,
    text: String,
}

impl Said {
    fn earlier(&self) -> Earlier<'_> {
        Earlier { summary: self.summary.as_deref(), text: &self.text }
    }
}

/// What a node said, with the summary it has; nothing once it was destroyed.
fn said(tx: &mut Tx<'_>, viewer: &Viewer, seen: Option<SeenNode>) -> Result<Option<Said>, StoreError> {
    let Some(seen) = seen else { return Ok(None) };
    let Some(text) = text_of(&seen) else { return Ok(None) };
    let summary = tx.summary(viewer, seen.row.conversation, Some(seen.row.id))?.map(|summary| summary.text);
    Ok(Some(Said { node: seen.row.id, summary, text }))
}

/// AG-SUM-004: the description, what the main path says, and where it was answered in more than one way.
fn of_tree(tx: &mut Tx<'_>, viewer: &Viewer, conversation: ConversationId) -> Result<Option<Material>, StoreError> {
    let shown = conversations::shown(tx, viewer, conversation)?;
    let main = PathId::main_of(conversation);
    let Some(end) = shown.cursor.or(shown.row.root_node) else { return Ok(None) };
    let path = tx.path_to(viewer, main, end, TREE_NODES_MAX)?;
    let (branch_points, beside) = tx.branch_points(viewer, conversation, BRANCH_POINTS_MAX)?;
    let mut gists: Vec<(NodeId, String)> = Vec::new();
    for seen in path {
        gists.extend(gist(tx, viewer, seen)?);
    }
    for node in beside {
        if gists.iter().all(|(known, _)| *known != node) {
            let seen = tx.seen_node(viewer, main, node)?;
            gists.extend(gist(tx, viewer, seen)?);
        }
    }
    let description = shown.shown.entry.description.as_ref().map(Description::as_str);
    let summaries: Vec<&str> = gists.iter().map(|(_, text)| text.as_str()).collect();
    let branch_points = usize::try_from(branch_points).unwrap_or_default();
    let prompt = tree_prompt(&TreeSubject { description, node_summaries: &summaries, branch_points });
    let text = description.into_iter().chain(summaries).collect::<Vec<_>>().join("\n\n");
    let used = gists.iter().map(|(node, _)| *node).collect();
    let (nodes, before, title) = (shown.row.nodes, String::new(), shown.title);
    Ok(Some(Material { conversation, node: None, nodes, title, prompt, before, text, used }))
}

/// What a node adds to the summary of its tree: its own summary, else its first sentence; nothing once it was destroyed.
fn gist(tx: &mut Tx<'_>, viewer: &Viewer, seen: SeenNode) -> Result<Option<(NodeId, String)>, StoreError> {
    let Some(Said { node, summary, text }) = said(tx, viewer, Some(seen))? else { return Ok(None) };
    Ok(summary.or_else(|| trim_to_sentence(&text, &FourCharacters)).map(|text| (node, text)))
}
